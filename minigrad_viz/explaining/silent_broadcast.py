"""A note about a loss that compares every prediction with every target: a column minus a row.

Note [When a broadcast is a mistake]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
`x[:, None] - y` is often meant: pairs of points, a kernel. So a note is given only where n×1 meets n (or the
other way round), one of them requires gradients and the other is data, the difference is squared or its
absolute value is taken, and the root of a backward call comes from that. A loss function that takes
predictions and targets says itself what is meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model.births import came_from, sources_of
from ..model.scene import Scenes
from ..model.stage import written
from ..trace.events import Forward
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .case import Case, Values
from .edits import rewritten
from .failed_call import FailedCall
from .operands import Operand
from .syntax import called, node_at, taken

LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
MEASURES = ("pow", "pow_scalar", "square", "abs")


def broadcast_losses(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """The note, if the root of the last backward call comes from such a difference."""
    calls = scenes.index.started
    if not calls or scenes.trace.error or calls[-1].span is None:
        return []
    case = Case(scenes, calls[-1].call, calls[-1].span, lang)
    for event in compared(case, calls[-1].roots):
        pair = column_and_row(case, event)
        if pair is not None:
            return [told(case, event, *pair)]
    return []


def compared(case: Case, roots: tuple[str, ...]) -> Iterator[Forward]:
    """The losses and the measured differences that the roots were computed from."""
    born = case.scene.index.births
    behind = [born[id] for root in roots for id in sources_of(born, root) if id in born]
    for event in behind:
        if not isinstance(event, Forward) or event.span is None or event.span.origin:
            continue
        if event.op in LOSSES:
            yield event
        elif event.op in MEASURES or (event.op == "mul" and len(set(came_from(event))) == 1):
            source = born.get(came_from(event)[0])
            if isinstance(source, Forward) and source.op == "sub" and source.span is not None:
                yield source


def column_and_row(case: Case, event: Forward) -> tuple[Operand, Operand] | None:
    """The two inputs of a comparison, if one is n×1, the other has n elements, and only one of them requires
    gradients."""
    given = [unexpanded(case, id) for id in event.inputs[:2] if id is not None]
    states = [state for id in given if (state := case.state(id) or case.made(id)) is not None and state.value]
    both = [Operand(case.name(s.id), s.value.shape, s.value.dtype, s) for s in states if s.value is not None]
    if len(both) != 2:
        return None
    short, long = sorted((each.shape for each in both), key=len)
    fits = len(short) == 1 and short[0] > 1 and long == (short[0], 1)
    return (both[0], both[1]) if fits and case.scene.asks(both[0].id) != case.scene.asks(both[1].id) else None


def unexpanded(case: Case, tensor: str) -> str:
    """What a tensor was before the loss expanded it."""
    event = case.scene.index.births.get(tensor)
    expanded = isinstance(event, Forward) and event.op == "expand" and came_from(event)
    return came_from(event)[0] if expanded and event is not None else tensor


def told(case: Case, event: Forward, a: Operand, b: Operand) -> Explanation:
    """The note about one comparison."""
    span, failed = event.span, FailedCall(case)
    assert span is not None
    data = 1 if case.scene.asks(a.id) else 0
    code = turned(case, event, data, len((a, b)[data].shape))
    values: Values = {"size": max(a.shape), "source": written(span), "line": span.line, "code": code}
    why = failed.words("broadcast_loss_why", a=a, b=b, **values)
    marks = failed.mark_shapes(a, b, kind=CAUSE)
    return case.note("broadcast_loss", why, "broadcast_loss_fix", marks, span, **values)


def turned(case: Case, event: Forward, place: int, dims: int) -> str | None:
    """The statement with the data in the shape of the predictions."""
    node = node_at(case, event.span)
    trees = node.args if isinstance(node, ast.Call) else list(taken(node))
    if node is None or len(trees) < 2:
        return None
    method = ".unsqueeze(1)" if dims == 1 else ".squeeze(1)"
    return rewritten(case, node, {trees[place]: called(ast.unparse(trees[place])) + method})
