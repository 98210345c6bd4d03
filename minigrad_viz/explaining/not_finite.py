"""Where nan or inf first appeared in a cell, without anomaly mode, with the values that made it and what
avoids it."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..model.naming import plain_name
from ..model.scene import Scenes
from ..number_text import number, one_line
from ..protocol import Value, op_of
from ..trace.events import (
    BackwardEnded,
    BackwardStarted,
    Forward,
    GradAccumulated,
    GradSet,
    InPlaceWrite,
    NodeRan,
    NumbersReturned,
    TensorCreated,
    TensorDetached,
    TensorState,
    of_kinds,
)
from ..trace.graph import CAUSE, Explanation, Mark
from ..trace.source_positions import Span
from .case import Case, Sentence, Values, require
from .finite_causes import Facts, cause_of, nan_of_infinite
from .syntax import before_dot_source, written_as

# ─── Where nan or inf first appeared in a cell, without anomaly mode


Maker = Any  # the event of an op, of a write or of a node that ran, or that of a tensor that was created
Edge = tuple[str, int]


class Origin(NamedTuple):
    """The event that made nan or inf ("what"), when it did, and the values of its inputs, by id. `meant` says
    that the cell wrote such a number itself, as in `masked_fill(mask, -inf)`."""

    event: Maker
    time: int
    what: str
    inputs: tuple[tuple[str, Value], ...]
    meant: bool = False

    @property
    def backward(self) -> bool:
        """Whether a node made it as it ran."""
        return isinstance(self.event, NodeRan)


class Symptom(NamedTuple):
    """What a learner sees of it: a root, or the gradient of a leaf (`grad`), that is not finite."""

    origin: Origin
    tensor: str
    call: int
    grad: bool
    time: int


def first_symptom(scenes: Scenes) -> Symptom | None:
    """The first root or gradient that is not finite although the cell did not write such a number itself; of
    a cell without one the first variable that is nan in the end."""
    return Search(scenes).found


class Search:
    """One reading of the events: which tensors and gradients are not finite now, and why."""

    def __init__(self, scenes: Scenes) -> None:
        self.scenes = scenes
        self.now: dict[str, Value] = {}
        self.bad: dict[str, Origin] = {}
        self.grads: dict[str, Origin] = {}  # of leaves: what made their `.grad` what it is
        self.arriving: dict[Edge, Origin] = {}  # in the running call
        self.edges: dict[str, tuple[Edge | None, ...]] = {}
        self.leaves: dict[str, str] = {}
        self.found: Symptom | None = None
        for self.time, event in enumerate(scenes.trace.events):
            self.read(event)
            if self.found is not None:
                return
        self.in_the_end()

    def read(self, event: object) -> None:
        """Take one event in."""
        match event:
            case TensorCreated():
                known = self.grads.get(event.gradient_of) if event.gradient_of else None
                self.stands(event.tensor, known, event, ())
            case Forward():
                inputs = [id for id in event.inputs if id is not None]
                meant = any("inf" in (text or "") or "nan" in (text or "") for text in event.arguments)
                for state in event.outputs:
                    self.stands(state, None, event, inputs, meant)
            case InPlaceWrite():
                inputs = [event.before, *(id for id in event.inputs if id is not None)]
                for state in event.states:
                    self.stands(state, None, event, inputs)
            case TensorDetached() | NumbersReturned():
                known = next((self.bad[id] for id in event.read if id in self.bad), None)
                self.stands(event.tensor, known, None, event.read)
            case GradSet():
                self.grads.pop(event.tensor, None)
            case _:
                self.backward(event)

    def stands(
        self,
        state: TensorState,
        known: Origin | None,
        event: Maker | None,
        inputs: Iterable[str],
        meant: bool = False,
    ) -> None:
        """A tensor has a value."""
        if state.value is None:
            return
        what, given = state.value.special, self.values(inputs)
        self.now[state.id] = state.value
        if not what:
            self.bad.pop(state.id, None)
            return
        known = known or self.inherited((id for id, _ in given), what)
        if known is None and event is not None:
            meant = meant or (isinstance(event, TensorCreated) and what == "inf" and not event.gradient_of)
            known = Origin(event, self.time, what, given, meant)
        if known is not None:
            self.bad[state.id] = known

    def inherited(self, inputs: Iterable[str], what: str) -> Origin | None:
        """The origin of what an op used; none if it made nan of an infinity that was meant."""
        origins = [self.bad[id] for id in inputs if id in self.bad]
        accidents = [each for each in origins if not each.meant]
        if accidents:
            return min(accidents, key=lambda each: each.time)
        return next((each for each in origins if each.what == what or what == "inf"), None)

    def values(self, ids: Iterable[str]) -> tuple[tuple[str, Value], ...]:
        """Tensors with their values now, each once."""
        return tuple((id, self.now[id]) for id in dict.fromkeys(ids) if id in self.now)

    def backward(self, event: object) -> None:
        """What happens in backward calls."""
        match event:
            case BackwardStarted():
                self.arriving, self.edges = {}, {node.id: node.edges for node in event.nodes}
                for root in event.roots:
                    self.seen(self.bad.get(root), root, event.call, grad=False)
            case NodeRan():
                self.ran(event)
            case GradAccumulated():
                origin = self.arriving.get((event.node, 0))
                if event.after.special and origin is not None:
                    self.grads[event.tensor] = origin
                    self.seen(origin, event.tensor, event.call, grad=True)
            case BackwardEnded():
                for tensor, value in event.captured:
                    if value is not None and value.special:
                        ends = [self.scenes.index.accumulators.get(tensor), self.node_of(tensor)]
                        came = (self.arriving.get((end, 0)) for end in ends if end is not None)
                        self.seen(next(filter(None, came), None), tensor, event.call, grad=True)

    def node_of(self, tensor: str) -> str | None:
        """The node that made a tensor."""
        state = self.scenes.index.state(tensor)
        return None if state is None else state.node

    def ran(self, event: NodeRan) -> None:
        """A node passed gradients on."""
        place = self.scenes.index.by_node.get(event.node)
        near = [] if place is None else [*(place.inputs or ()), *(state.id for state in place.states)]
        inputs = [id for id in near if id is not None]
        for value, edge in zip(event.sent, self.edges.get(event.node, ()), strict=False):
            if value is None or edge is None or not value.special:
                continue
            came = (self.arriving.get((event.node, nr)) for nr in range(len(event.received)))
            origin = next(filter(None, came), None) or self.inherited(inputs, value.special)
            own = Origin(event, self.time, value.special, self.values(inputs))
            self.arriving.setdefault(edge, origin or own)

    def seen(self, origin: Origin | None, tensor: str, call: int, grad: bool) -> None:
        """Something that matters is not finite."""
        if origin is not None and not origin.meant and self.time >= self.scenes.begin and self.found is None:
            self.found = Symptom(origin, tensor, call, grad, self.time)

    def in_the_end(self) -> None:
        """A variable that is nan when the cell has ended."""
        for id, _ in self.scenes.trace.names:
            origin = self.bad.get(id)
            if origin is None or origin.time < self.scenes.begin:
                continue
            if isinstance(origin.event, Forward) and self.now[id].special == "nan":
                self.seen(origin, id, 0, grad=False)


# ── updates that diverge ────────────────────────────────────────────────────────────────────────────────────

GROWN = 1e4  # times that a tensor grew before it counts as diverging
RATES = ("lr", "learning_rate", "step_size", "eta", "alpha", "rate")


class Divergence(NamedTuple):
    """The `tensor`, called `name`, grew from `first` to `last` by `updates`, the last of which is at
    `span`, written as `line`. `rate` is the learning rate as it is written (None where that is not certain),
    `better` one that would converge, estimated from how the first update changed the gradient."""

    tensor: str
    name: str
    first: str
    last: str
    updates: int
    line: str
    span: Span | None
    rate: str | None
    better: str | None


def divergence_of(case: Case, time: int) -> Divergence | None:
    """What grew by updates up to an event of the trace; None if nothing did."""
    series: dict[str, list[Value]] = {}
    line = {}
    for event in of_kinds(case.trace.events[: time + 1], TensorCreated, InPlaceWrite):
        value = event.tensor.value
        if value is None or value.special:
            continue
        if isinstance(event, TensorCreated):
            series[event.tensor.id] = [value]
        elif case.scene.asks(event.before) and event.before == event.tensor.id:
            series.setdefault(event.before, []).append(value)
            line[event.before] = event.span
    for tensor, values in series.items():
        sizes = [size for value in values if (size := largest_magnitude(value)) is not None]
        if len(values) < 3 or len(sizes) != len(values) or sizes[-1] < GROWN * max(sizes[0], 1.0):
            continue
        name, dtype = plain_name(case.name(tensor)), values[0].dtype
        rate = rate_of(case)
        first, last = (number(sizes[i], dtype, 3) for i in (0, -1))
        better = None if rate is None else better_rate(case, tensor, float(rate))
        updates = case.call - 1 if case.trace.skipped else len(values) - 1  # not all of them were kept
        span = line[tensor]
        return Divergence(tensor, name, first, last, updates, case.place(span), span, rate, better)
    return None


def largest_magnitude(value: Value) -> float | None:
    """The largest absolute value."""
    if value.low is None or value.high is None:
        return None
    return max(abs(value.low), abs(value.high))


def rate_of(case: Case) -> str | None:
    """The learning rate as the cell writes it: the only one that it gives by name, or in an update."""
    found: list[str] = []
    for part in case.executed(ast.AST):
        if isinstance(part, ast.keyword) and part.arg == "lr":
            found += numbers_in(case, part.value)
        elif isinstance(part, ast.Assign | ast.AugAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            named = any(ast.unparse(target) in RATES for target in targets)
            if named or ".grad" in ast.unparse(part.value):
                found += numbers_in(case, part.value)
    return found[0] if len(set(found)) == 1 else None


def numbers_in(case: Case, tree: ast.expr) -> list[str]:
    """The numbers in an expression, as they are written."""
    parts = (part for part in ast.walk(tree) if isinstance(part, ast.Constant))
    return [written_as(case, each) for each in parts if type(each.value) in (int, float)]


Steps = list[tuple[np.ndarray, np.ndarray]]


def gradient_history(case: Case, tensor: str) -> Steps:
    """What a tensor and the gradient that was added were at each backward call; nothing where that is not
    known."""
    found: Steps = []
    now: Value | None = None
    for event in case.trace.of(TensorCreated, InPlaceWrite, GradAccumulated):
        if not isinstance(event, GradAccumulated):
            now = event.tensor.value if event.tensor.id == tensor else now
        elif event.tensor == tensor:
            if now is None or now.items is None or event.added.items is None:
                return []
            found.append((np.array(now.items, float), np.array(event.added.items, float)))
    return found


FAR = 1000  # times too large; a step that far says something of where it began only on a bowl


def better_rate(case: Case, tensor: str, rate: float) -> str | None:
    """A rate below 1 over the change of the gradient per change of the tensor at the first step that moved
    it: with it gradient descent on a bowl does not grow. Later steps are already those of the
    divergence. None where the numbers do not show it, or where the first step went far and the
    second, as on a bowl, does not show the same.
    """
    slopes = []
    with np.errstate(all="ignore"):
        for (x, g), (y, h) in itertools.pairwise(gradient_history(case, tensor)):
            moved, changed = np.abs(y - x).max(), np.abs(h - g).max()
            if moved > 0:
                slopes.append(float(changed / moved))
    steep = slopes[0] if slopes else 0.0
    if not math.isfinite(steep) or rate * steep <= 1:
        return None
    is_bowl = len(slopes) > 1 and math.isclose(*slopes[:2], rel_tol=0.1)
    if rate * steep > FAR and not is_bowl:
        return None
    most = 1.001 / steep  # as the differences are rounded
    size = 10.0 ** math.floor(math.log10(most))
    return f"{math.floor(most / size) * size:.1g}"


def diverging(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """The note that updates make a tensor and its gradient grow, before anything is nan or inf."""
    if scenes.trace.error or len(scenes.calls) < 3:
        return []
    case = Case(scenes, scenes.calls[-1], None, lang)
    grown = divergence_of(case, len(scenes.trace.events) - 1)
    steps = [] if grown is None else gradient_history(case, grown.tensor)
    if grown is None or not steps or np.abs(steps[-1][1]).max() <= np.abs(steps[0][1]).max():
        return []
    why = case.words("first_nan_diverges", **grown._asdict())
    fix = case.words("first_nan_fix_rate", rate=grown.rate or "", better=grown.better or "")
    return [case.note("lr_large", why, fix, case.card(grown.tensor, CAUSE), grown.span, of_cell=True)]


# ─── A note at the op where nan or inf first appeared, with the values that made it and what avoids it


def not_finite(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """The note about the first nan or inf of a cell, if there is one."""
    found = first_symptom(scenes)
    if found is None:
        return diverging(scenes, lang)
    if scenes.trace.skipped and found.origin.time < first_call(scenes) and not from_data(scenes, found):
        return [unkept_start(scenes, found, lang)]
    origin = found.origin
    span = span_of(scenes, origin)
    case = Case(scenes, found.call, span, lang)
    if isinstance(origin.event, TensorCreated) or (scenes.trace.skipped and from_data(scenes, found)):
        return [in_the_data(case, found, span)]
    told = [made_backward(case, origin) if origin.backward else made_forward(case, origin)]
    if not is_it(scenes, found):
        name = case.plain(found.tensor)
        told.append(case.words("first_nan_root", name=f"{name}.grad" if found.grad else name))
    facts = facts_of(case, origin, span)
    cause, grown = cause_of(case, facts), divergence_of(case, origin.time)
    fix = cause.fix
    if grown is not None:
        told.insert(0, case.words("first_nan_diverges", **grown._asdict()))
        fix = case.words("first_nan_fix_rate", rate=grown.rate or "", better=grown.better or "")
    else:
        told[1:1] = [cause.why, nan_of_infinite(case, facts, found.time)]
    why = Sentence(" ".join(filter(None, told)))
    marks = marks_of(case, origin)
    return [case.note("first_nan", why, fix, marks, span, of_cell=True, time=found.time)]


def in_the_data(case: Case, found: Symptom, span: Span | None) -> Explanation:
    """A tensor held it from the start."""
    event = found.origin.event
    (data,) = {state.id for state in event.states[:1]}
    values: Values = {"data": case.plain(data), "name": case.plain(found.tensor)}
    marks = () if case.trace.error else case.card(data, CAUSE, "nan")
    return case.note("first_nan", "first_nan_data", "", marks, span, True, found.time, **values)


def from_data(scenes: Scenes, found: Symptom) -> bool:
    """Whether a tensor without gradients held it before the loop whose first rounds are not kept."""
    event, span = found.origin.event, span_of(scenes, found.origin)
    if not isinstance(event, TensorCreated | InPlaceWrite) or event.tensor.requires_grad or span is None:
        return False
    return not Case(scenes, found.call, None).in_loop(span)


def first_call(scenes: Scenes) -> int:
    """When the first backward call that was kept began."""
    started = scenes.trace.of(BackwardStarted)
    return scenes.trace.events.index(started[0]) if started else 0


def unkept_start(scenes: Scenes, found: Symptom, lang: str | None) -> Explanation:
    """It appeared in a round that is not kept: what is certain."""
    span = span_of(scenes, found.origin)
    case = Case(scenes, found.call, None, lang)
    values: Values = {
        "name": case.plain(found.tensor),
        "count": scenes.trace.skipped,
        "what": found.origin.what,
    }
    return case.note("first_nan", "first_nan_unkept", "", (), span, True, found.time, **values)


def span_of(scenes: Scenes, origin: Origin) -> Span | None:
    """Where in the source the op is that made it, forward or backward."""
    if not origin.backward:
        span: Span | None = origin.event.span
        return span
    place = scenes.index.by_node.get(origin.event.node)
    return None if place is None else place.span


def is_it(scenes: Scenes, found: Symptom) -> bool:
    """Whether what is seen is what the op made."""
    event = found.origin.event
    return isinstance(event, Forward) and found.tensor in [state.id for state in event.outputs]


def marks_of(case: Case, origin: Origin) -> tuple[Mark, ...]:
    """The op in the picture."""
    event = origin.event
    if case.trace.error:
        return ()
    label = origin.what
    if origin.backward:
        return case.deck(event.node, CAUSE, label)
    return case.card(event.states[0].id, CAUSE, label)


# ── the values that made it ─────────────────────────────────────────────────────────────────────────────────


def made_forward(case: Case, origin: Origin) -> str:
    """What an op, or a write, made of which numbers."""
    event = origin.event
    state = event.states[0]
    at = place_in(state.value, origin.what)
    named = [part(case, id, value, at, state.value) for id, value in origin.inputs]
    what = what_at(state.value, at) or origin.what
    values: Values = {"what": what, "place": event.span, "inputs": ", ".join(named[:3])}
    return case.words("first_nan_forward", **values)


def made_backward(case: Case, origin: Origin) -> str:
    """What a node made of which numbers."""
    event = origin.event
    sent = next(value for value in event.sent if value is not None and value.special)
    at = place_in(sent, origin.what)
    named = [part(case, id, value, at, sent) for id, value in origin.inputs]
    took = next((value for value in event.received if value is not None), None)
    values: Values = {
        "what": what_at(sent, at) or origin.what,
        "node": case.titled(event.node),
        "inputs": ", ".join(named[:3]),
        "took": "" if took is None else element(took, at, sent),
        "made": span_of(case.scenes, origin),
    }
    return case.words("first_nan_backward", **values)


def place_in(value: Value | None, what: str) -> int | None:
    """The first number that is not finite, by its place."""
    items = () if value is None or value.items is None else value.items
    return next((i for i, n in enumerate(items) if isinstance(n, float) and not math.isfinite(n)), None)


def what_at(value: Value | None, at: int | None) -> str:
    """The number that is not finite: nan, inf or -inf; "" where it is not known."""
    if value is None or value.items is None or at is None:
        return ""
    return str(value.items[at])


def facts_of(case: Case, origin: Origin, span: Span | None) -> Facts:
    """The facts about the op that made it, at the first element where it appeared."""
    event, received = origin.event, None
    if origin.backward:
        made = next(value for value in event.sent if value is not None and value.special)
        at = place_in(made, origin.what)
        received = item_at(next((v for v in event.received if v is not None), None), at, made)
        place = case.scenes.index.by_node.get(event.node)
        outputs = () if place is None else tuple(state.id for state in place.states)
        own = [pair for pair in origin.inputs if pair[0] not in outputs] or list(origin.inputs)
    else:
        made, outputs = require(event.states[0].value), tuple(state.id for state in event.states)
        at, own = place_in(made, origin.what), list(origin.inputs)
    given = tuple((id, item_at(value, at, made), value) for id, value in own)
    number_made = None if made.items is None or at is None else made.items[at]
    op = op_at(case, origin)
    return Facts(op, span, origin.backward, given, received, number_made, origin.time, outputs)


def item_at(value: Value | None, at: int | None, made: Value) -> float | None:
    """The number of a value at a place of what was made, if it has the same shape or one number; None if that
    is not known."""
    if value is None or value.items is None:
        same = value is not None and value.low == value.high and not value.special
        return value.low if value is not None and same else None
    if value.shape == made.shape and at is not None:
        return value.items[at]
    if value.size == 1:
        return value.items[0]
    lead = len(value.shape) and value.shape == made.shape[-len(value.shape) :] and at is not None
    return value.items[(at or 0) % value.size] if lead else None


def op_at(case: Case, origin: Origin) -> str:
    """The op that made it, in plain letters."""
    event = origin.event
    if origin.backward:
        name = op_of(case.scene.nodes[event.node].name if event.node in case.scene.nodes else "")
        return name.replace("_", "")
    return getattr(event, "op", "").replace("_", "")


def part(case: Case, id: str, value: Value, at: int | None, made: Value | None) -> str:
    """An input at that time: the number at the same place if the shapes are the same, else all of it."""
    name = case.plain(id)
    fits = made is not None and value.shape == made.shape and at is not None and value.items is not None
    if fits and value.size > 1:
        index = []
        rest = at or 0
        for size in reversed(value.shape):
            index.append(str(rest % size))
            rest //= size
        name = f"{before_dot_source(name)}[{', '.join(reversed(index))}]"
    return f"{name} = {element(value, at, made)}"


def element(value: Value, at: int | None, made: Value | None) -> str:
    """The number of a value at a place, if it has the same shape as what was made; else all of it, or its
    extremes."""
    if value.items is not None and made is not None and value.shape == made.shape and at is not None:
        return number(value.items[at], value.dtype)
    if value.items is None and value.low is not None and value.high is not None:
        return f"{number(value.low, value.dtype)} … {number(value.high, value.dtype)}"
    return one_line(value)
