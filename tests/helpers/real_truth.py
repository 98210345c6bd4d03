"""What the leaves of a program hold after each of its lines, and what a player shows of them."""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
from types import FrameType
from typing import Any

from minigrad_viz.protocol import KEPT, Value, is_tensor, value_of
from minigrad_viz.shell.report import Report

Pair = tuple[Value | None, Value | None]
PARAMETERS = 12  # of a module that are looked at


def leaves(names: dict[str, Any]) -> dict[str, Any]:
    """The small leaves that variables and the modules among them lead to."""
    found: dict[str, Any] = {}
    for name, thing in names.items():
        if is_tensor(thing):
            found[name] = thing
        elif hasattr(thing, "named_parameters") and not isinstance(thing, type):
            some = itertools.islice(thing.named_parameters(), PARAMETERS)
            found |= {f"{name}.{path}": parameter for path, parameter in some}
    return {name: t for name, t in found.items() if t.is_leaf and t.requires_grad and t.numel() <= KEPT}


class LineByLine:
    """Runs a program and notes after each line how its leaves stand."""

    def __init__(self, source: str, torch: Any) -> None:
        self.held: dict[str, list[Pair]] = {}
        self.names: dict[str, Any] = {"torch": torch, "__name__": "__main__"}
        code = compile(source, "<program>", "exec")
        before = sys.gettrace()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            sys.settrace(self.enter)
            try:
                exec(code, self.names)
            finally:
                sys.settrace(before)
        self.look()

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Only the program's own lines are followed."""
        return self.line if frame.f_code.co_filename == "<program>" else None

    def line(self, frame: FrameType, event: str, argument: Any) -> Any:
        """A line is about to run: the one before is over."""
        if event in ("line", "return"):
            sys.settrace(None)
            self.look()
            sys.settrace(self.enter)
        return self.line

    def look(self) -> None:
        """Note what has changed."""
        for name, tensor in leaves(self.names).items():
            pair = value_of(tensor), None if tensor.grad is None else value_of(tensor.grad)
            known = self.held.setdefault(name, [])
            if not known or known[-1] != pair:
                known.append(pair)


def values_in_steps(report: Report) -> list[dict[str, list[Pair]]]:
    """For every call, by variable, what its steps show one after the other."""
    return [of_act(act.picture.graph, act.frames) for act in report.acts]


def of_act(graph: Any, frames: Any) -> dict[str, list[Pair]]:
    """What the steps of one call show."""
    found: dict[str, list[Pair]] = {}
    cards = {f"{s.id}-c{i}": card for s in graph.stations for i, card in enumerate(s.cards)}
    for fold in graph.folds:
        last = len(graph.station(fold.station).cards) - 1
        inside = enumerate(fold.parameters)
        cards |= {f"{fold.station}-c{last}-p{i}": card for i, (_, card) in inside}
    for step in frames:
        for part, number in step.shows:
            card = cards[part]
            known = found.setdefault((card.name or "").rstrip("₀₁₂₃₄₅₆₇₈₉"), [])
            if not known or known[-1] != card.stood[number]:
                known.append(card.stood[number])
    return found


def untrue(report: Report, held: dict[str, list[Pair]]) -> list[str]:
    """What a step shows although no line of the program left it so, or not in this order."""
    wrong = []
    for act in values_in_steps(report):
        for name in act.keys() & held.keys():
            rest = iter(held[name])
            wrong += [f"{name}: {pair}" for pair in act[name] if not any(pair == then for then in rest)]
    return wrong
