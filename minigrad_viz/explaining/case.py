"""An error that a trace holds, what is known about it, and how its rule is found by its text."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar, overload

from ..model.naming import plain_name
from ..model.provenance import numbers_taken
from ..model.scene import Scenes
from ..model.views import Stage, quoted_span
from ..trace.events import BackwardStarted, CellFailed, Event, Kind, TensorState, of_kinds
from ..trace.graph import GUILTY, Explanation, Mark, Station
from ..trace.source_positions import SourceText, Span
from ..trace.statements import nodes_of, parse_expression
from ..words import InventedName, clean, fix_of, text

# ─── An error that a trace holds, and what is known about it


Values = dict[str, Any]  # what the sentences of an explanation are filled with
LISTED = 4  # names that are listed in a sentence
T = TypeVar("T")


class Sentence(str):
    """A sentence as it is shown."""

    __slots__ = ()


class Uncertain(Exception):
    """Something that a rule must know is not known, or the error is another one after all."""


def require(found: T | None) -> T:
    """What was found; Uncertain if nothing was."""
    if found is None:
        raise Uncertain
    return found


def name_list(names: Iterable[str]) -> str:
    """Names in a sentence; of many only the first ones."""
    every = list(names)
    return ", ".join(every[:LISTED]) + ", …" * (len(every) > LISTED)


def need(*facts: object) -> None:
    """Go on only if all of this is so."""
    if not all(facts):
        raise Uncertain


class Case:
    """What is explained of a trace: an error, or a possible mistake without one (then `error` is "").

    `error` is the class and text of the error ("RuntimeError: …"), word for word. `call` is the backward call
    that this is about (0 if about none), `span` the place in the source, `time` when it occurred: the number
    of the event that reports it (without an error, the end). `failed` is the event if it ended the cell.
    `scene` is the picture that the marks are in: that of the call, or the last of the cell.
    """

    def __init__(
        self, scenes: Scenes, call: int, span: Span | None, lang: str | None = None, time: int | None = None
    ) -> None:
        self.scenes, self.trace, self.lang = scenes, scenes.trace, lang
        self.time = len(self.trace.events) if time is None else time
        event = None if time is None else self.trace.events[time]
        self.failed = event if isinstance(event, CellFailed) else None
        self.error: str = getattr(event, "error", None) or ""
        self.call: int = getattr(event, "call", call)
        self.scene = scenes.of(self.call)
        self.started = self.scene.now.started if self.call else None
        self.span: Span | None = self.started.span if self.started else getattr(event, "span", span)

    @property
    def by_hand(self) -> bool:
        """Whether the cell itself raised the error."""
        return self.span is not None and self.span.text.startswith("raise")

    @functools.cached_property
    def raised_at(self) -> Span | None:
        """Where the error was raised, if it is the one that ended the cell: that may be in a hook or in the
        backward of a custom Function."""
        later = self.trace.events[self.time + 1 :]
        if of_kinds(later, BackwardStarted):
            return None
        failed = (event for event in of_kinds(later, CellFailed) if event.error == self.error)
        return next((event.span for event in failed), None)

    @functools.cached_property
    def before(self) -> tuple[Event, ...]:
        """What happened before the error, in order."""
        return tuple(self.trace.events[: self.time])

    @overload
    def earlier(self, kind: type[Kind], /) -> tuple[Kind, ...]: ...
    @overload
    def earlier(self, /, *kinds: type) -> tuple[Event, ...]: ...
    def earlier(self, /, *kinds: type) -> tuple[Event, ...]:
        """What happened before the error, of these kinds."""
        return of_kinds(self.before, *kinds)

    @functools.cached_property
    def numbers(self) -> dict[int, list[str]]:
        """The tensors whose numbers are in the expression of an event, by its id."""
        return numbers_taken(self.trace)

    # ── the picture ─────────────────────────────────────────────────────────────────────────────────────────

    @functools.cached_property
    def stage(self) -> Stage:
        """What the picture shows, where, and what to call it."""
        return Stage(self.scene, self.scene.graph, self.lang)

    @property
    def guilty(self) -> str | None:
        """The node that was running when the call failed, or was to run; None if none was, or none is
        certain."""
        return self.scene.guilty if self.call else None

    def card(self, tensor: str, kind: str = GUILTY, label: str = "") -> tuple[Mark, ...]:
        """A mark on the card of a tensor; none if it is not in the picture."""
        where = self.scene.at.get(tensor)
        station = None if where is None else self.stage.station(where[0])
        if where is None or station is None or where[1] >= len(station.cards):
            return ()
        return (Mark(f"{station.id}-c{where[1]}", kind, label),)

    def deck(self, node: str, kind: str = GUILTY, label: str = "") -> tuple[Mark, ...]:
        """A mark on the deck of a node; none if it is not in the picture."""
        station = self._station(node)
        return () if station is None else (Mark(f"{station.id}-d", kind, label),)

    def _station(self, node: str) -> Station | None:
        """The station on which the deck of a node is."""
        station = self.stage.station(self.stage.place_of(node))
        mine = station is not None and station.deck is not None and station.deck.id == node
        return station if mine else None

    def stopped(self, node: str) -> tuple[Mark, ...]:
        """A mark on the deck of the node at which the call stopped."""
        return self.deck(node, label=self.words("stopped_here"))

    def chip(self, node: str, name: str, kind: str = GUILTY, label: str = "") -> tuple[Mark, ...]:
        """A mark on what a node saved as `name`; none if it is not in the picture."""
        station = self._station(node)
        if station is None or station.deck is None:
            return ()
        found = [k for k, saved in enumerate(station.deck.saved) if saved.name == name]
        return tuple(Mark(f"{station.id}-k{k}", kind, label) for k in found[:1])

    def arrow(self, source: str, target: str, kind: str = GUILTY, label: str = "") -> tuple[Mark, ...]:
        """A mark on the arrow from tensor `source` to the op that made tensor `target`."""
        ends = [self.scene.at.get(id) for id in (source, target)]
        if ends[0] is None or ends[1] is None:
            return ()
        for route in self.scene.graph.routes:
            if (route.source, route.target) == (ends[0][0].id, ends[1][0].id) and route.card == ends[0][1]:
                return (Mark(route.id, kind, label),)
        return ()

    # ── words ───────────────────────────────────────────────────────────────────────────────────────────────

    def name(self, tensor: str) -> str:
        """What to call a tensor in a sentence: its variable, its expression, or its number in the picture;
        `InventedName` where that is not a name of the reader's code."""
        return self.checked(self.stage.name(tensor))

    def checked(self, name: str) -> str:
        """A name, which is `InventedName` unless it is a variable of the source or what one holds."""
        tree: ast.AST | None = parse_expression(name)
        while isinstance(tree, ast.Attribute | ast.Subscript):
            tree = tree.value
        if isinstance(tree, ast.Name) and tree.id in self.variables:
            return name
        return InventedName(name, text("gradient_of", self.lang, name=name))

    @functools.cached_property
    def variables(self) -> frozenset[str]:
        """The variables of the source and of its namespace."""
        written = (getattr(part, "id", None) or getattr(part, "arg", None) for part in self.syntax())
        held = (re.split(r"[.\[]", name, maxsplit=1)[0] for _, name in self.trace.names)
        return frozenset(filter(None, (*written, *held)))

    def state(self, tensor: str) -> TensorState | None:
        """A tensor as it is in the picture."""
        return self.scene.state(tensor)

    def made(self, tensor: str) -> TensorState | None:
        """A tensor as it was made."""
        return self.scene.index.state(tensor)

    def words(self, key: str, **values: Any) -> Sentence:
        """A sentence of the catalogue; a place in the source is quoted with its line, and code that is not
        known is left out."""
        places = {name: self.place(value) for name, value in values.items() if isinstance(value, Span | None)}
        places |= {"code": ""} if values.get("code", "") is None else {}
        return Sentence(clean(text(key, self.lang, **{**values, **places})))

    def names(self, tensors: Iterable[str]) -> str:
        """What to call several tensors; of many only the first ones are listed."""
        return name_list(dict.fromkeys(map(self.plain, tensors)))

    def plain(self, tensor: str) -> str:
        """The variable of a tensor, without the number that distinguishes it from others of that name."""
        return self.checked(plain_name(self.stage.name(tensor)))

    def place(self, span: Span | None) -> str:
        """An expression of the source as a sentence quotes it, with its line if it is in the cell."""
        if span is None:
            return self.words("unseen_here")
        line, source = self.line(span), quoted_span(span)
        return source if line is None else self.words("source_at", source=source, line=line)

    def titled(self, node: str) -> str:
        """A node as a sentence names it, with the tensor above it."""
        place, name = self.stage.place_of(node), self.scene.nodes[node].name
        return name if place is None else self.words("stopped", node=name, name=self.name(place.states[0].id))

    def line(self, span: Span | None) -> int | None:
        """The line of the cell in which something is; None outside the cell."""
        return span.line if span is not None and not span.origin else None

    @functools.cached_property
    def source(self) -> SourceText:
        """The text of the cell."""
        return SourceText(self.trace.source)

    def in_loop(self, span: Span | None) -> bool:
        """Whether an expression of the cell is in a loop."""
        line = self.line(span)
        loops: list[ast.For | ast.While] = [*self.executed(ast.For), *self.executed(ast.While)]
        bodies = (loop.body for loop in loops)
        return line is not None and any(
            body[0].lineno <= line <= (body[-1].end_lineno or 0) for body in bodies
        )

    def syntax(self) -> Iterator[ast.AST]:
        """All parts of the cell's syntax tree, be it known that they ran or not; nothing if it has none."""
        tree = self.source.tree
        return iter(()) if tree is None else iter(nodes_of(tree))

    def executed(self, kind: type[T]) -> Iterator[T]:
        """The parts of one kind that are known to have run; see Note [What ran]."""
        return (part for part in self.syntax() if isinstance(part, kind) and self.ran(part))

    def ran(self, part: Any) -> bool:
        """Whether a part of the cell is known to have run."""
        return self.scenes.index.execution.ran(part)

    def explain(
        self,
        why: str = "",
        fix: str = "",
        marks: tuple[Mark, ...] = (),
        cause: Span | None = None,
        key: str = "",
        **values: Any,
    ) -> Explanation:
        """The explanation of this error. `why` and `fix` are sentences, or keys of sentences that are filled
        with `values`; without a `fix` it is what is below the sentence `why` in the catalogue. `key` is
        for an explanation that has another key than its rule."""
        fix = fix or fix_of(why)
        why, fix = (
            each if not each or isinstance(each, Sentence) else self.words(each, **values)
            for each in (why, fix)
        )
        return Explanation(key, self.error, str(why), str(fix), marks, self.call, self.span, cause)

    def note(
        self,
        key: str,
        why: str = "",
        fix: str = "",
        marks: tuple[Mark, ...] = (),
        cause: Span | None = None,
        of_cell: bool = False,
        time: int = 0,
        **values: Any,
    ) -> Explanation:
        """A note: about the call, or (`of_cell`) about the whole cell, certain since an event (`time`); `why`
        if it is not the text `key`."""
        told = self.explain(why or key, fix, marks, cause, key, **values)
        return told._replace(call=0 if of_cell else told.call, time=time)


class Fix(NamedTuple):
    """What to do, and the place in the source that this is about, if it is another than the failing one."""

    text: Sentence
    cause: Span | None = None


# ─── How a known error is recognized by its text, and what of that its rule is given


Explain = Callable[..., Explanation | None]  # of a case and what the pattern of a rule found
F = TypeVar("F", bound=Callable[..., Any])


class Rule(NamedTuple):
    """How a known error is recognized and explained. `key` is that of the explanation, one of `patterns` is
    found in the error's class and text, and `explain` is given the case and the groups of that pattern. It
    returns what is certain; None, or Uncertain: it is another error after all."""

    key: str
    explain: Explain
    patterns: tuple[re.Pattern[str], ...]

    def apply(self, case: Case) -> Explanation | None:
        """The explanation of an error; None for one that this rule does not know."""
        match = next(filter(None, (pattern.search(case.error) for pattern in self.patterns)), None)
        if match is None:
            return None
        try:
            found = self.explain(
                case, **{name: group_value(text) for name, text in match.groupdict().items()}
            )
        except Uncertain:
            return None
        return found and found._replace(key=found.key or self.key)


RULES: dict[str, list[Rule]] = {}  # by module, in the order of its source
SLOT = re.compile(r"\{(\w+)\}")


def rule(key: str, *patterns: str) -> Callable[[F], F]:
    """A function that explains errors in whose text one of `patterns` is found. In a pattern, `{name}` stands
    for a number, a shape or a word, which the function is given by that name."""

    def declare(explain: F) -> F:
        written = (SLOT.sub(r"(?P<\1>\[[-\\d, ]*\]|[-\\w]+(?:\\.\\w+)*)", pattern) for pattern in patterns)
        known = Rule(key, explain, tuple(re.compile(pattern, re.DOTALL) for pattern in written))
        RULES.setdefault(explain.__module__, []).append(known)
        return explain

    return declare


def group_value(text: str | None) -> Any:
    """What a group of a pattern found: a whole number, a shape as `[4, 2]` or `4x2`, or text."""
    if text is not None and re.fullmatch(r"-?\d+", text):
        return int(text)
    return numbers(text) if text is not None and re.fullmatch(r"\[[-\d, ]*\]|\d+(x\d+)+", text) else text


def numbers(text: str) -> tuple[int, ...]:
    """The whole numbers in a text, as a shape."""
    return tuple(int(number) for number in re.findall(r"-?\d+", text))
