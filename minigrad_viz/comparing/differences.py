"""What two runs did, their first difference, and the sentence about it.

An `Action` is what one event of a trace says, without what is not part of the computation: ids, lines and
names differ between two cells that do the same.

Note [What counts as the same]
    Two runs are read side by side, in the order of time. Two actions are the same if the op, its inputs, its
    arguments, its nodes and its numbers are. Inputs are the same if what made
    them was. Numbers are the same if they agree as far as the less precise dtype of both can say: a float32
    and a float64 that differ by rounding count as equal, and so do minigrad and PyTorch. Two libraries may
    use the parameters of a layer in another order: what no line of the cell made comes first in both. After
    the first difference the runs may go different ways; what follows is matched op by op, to draw both alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

from ..model.fold import main_part
from ..model.scene import Scene, Scenes
from ..number_text import one_line
from ..protocol import Value
from ..trace.events import (
    BackwardEnded,
    BackwardStarted,
    CellFailed,
    Event,
    Forward,
    GradAccumulated,
    GradSet,
    HookRan,
    InPlaceWrite,
    NodeRan,
    NumbersReturned,
    OptimizerStepped,
    RequiresGradSet,
    TensorCreated,
    TensorDetached,
    TensorState,
    Trace,
)
from ..trace.graph import Graph
from ..trace.source_positions import Span
from ..words import clean, shorten, text

# ─── What a run did, one thing after the other, in a form in which two runs can be compared


CREATED, RAN, WROTE, STEPPED, ASKED = "created", "ran", "wrote", "stepped", "asked"
STARTED, PASSED, HOOKED, ADDED, SET = "started", "passed", "hooked", "added", "set"
RETURNED, FAILED = "returned", "failed"
UNSEEN = ("…",)  # the inputs of an op that nobody saw
NUMBERED = re.compile(r"\d+$")  # PyTorch 2 numbers its nodes, minigrad does so on request only


class Action(NamedTuple):
    """One thing that a run did: its `kind` and the `op` that did it, on the tensors `inputs` and with
    `arguments` that are none; the tensors that it made or wrote, and the resulting `values`. Of a node
    that ran, these are the gradients that it received, `received` of them, and those that it passed on.
    `detail` is the text of an error, or the whole name of a node."""

    time: int
    kind: str
    op: str = ""
    inputs: tuple[str | None, ...] = ()
    arguments: tuple[str | None, ...] = ()
    outputs: tuple[TensorState, ...] = ()
    values: tuple[Value | None, ...] = ()
    span: Span | None = None
    call: int = 0
    received: int = 0
    detail: str = ""

    @property
    def tensors(self) -> tuple[str, ...]:
        """What it is about: the tensors that it made, or those that it was done to."""
        return tuple(state.id for state in self.outputs) or tuple(id for id in self.inputs if id is not None)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes of what it made, without their numbers; "" for none."""
        return tuple(NUMBERED.sub("", state.grad_fn or "") for state in self.outputs)


class ActionReader:
    """Reads a trace into actions; knows by then which tensor each node belongs to."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.at: dict[str, str] = {}  # the tensor of a node
        self.names: dict[str, str] = {}  # of nodes
        self.calls: dict[int, Span | None] = {}  # where each backward call stands

    def actions(self) -> Iterator[Action]:
        """The actions in the order in which they happened."""
        for time, event in enumerate(self.trace.events):
            self.note(event)
            action = self.read(event)
            if action is not None:
                yield action._replace(time=time)

    def note(self, event: Event) -> None:
        """Remember the nodes of an event."""
        for state in states_of(event):
            if state.node is not None:
                self.at.setdefault(state.node, state.id)
        if isinstance(event, BackwardStarted):
            self.calls[event.call] = event.span
            for node in event.nodes:
                self.names[node.id] = node.name
                if node.variable is not None:
                    self.at[node.id] = node.variable

    def read(self, event: Event) -> Action | None:
        """What an event tells; None if that is not an action."""
        span, call = event.span, event.call
        flowed: dict[str, Any] = {"span": self.calls.get(call), "call": call}
        match event:
            case TensorCreated(tensor=made) if made.grad_fn:
                # The result of a custom Function of PyTorch's, whose inputs nobody recorded.
                op = NUMBERED.sub("", made.grad_fn).removesuffix("Backward")
                return Action(0, RAN, op, UNSEEN, (), (made,), (made.value,), span)
            case TensorCreated(tensor=made, gradient_of=leaf):
                return Action(0, CREATED, "", (leaf,) if leaf else (), (), (made,), (made.value,), span)
            case Forward(op=op, inputs=inputs, outputs=made):
                values = tuple(state.value for state in made)
                return Action(0, RAN, op, inputs, event.arguments, made, values, span, call)
            case TensorDetached() | NumbersReturned():
                return Action(0, RAN, event.how, event.read, (), (event.tensor,), (event.tensor.value,), span)
            case RequiresGradSet(tensor=state):
                return Action(0, ASKED, str(state.requires_grad), (state.id,), span=span)
            case InPlaceWrite(tensor=made):
                inputs = (event.before, *event.inputs)
                return Action(0, WROTE, event.op, inputs, (), (made,), (made.value,), span)
            case OptimizerStepped(rows=rows):
                settings = dict.fromkeys(f"{name}={value:g}" for row in rows for name, value in row.settings)
                tensors = tuple(row.tensor for row in rows)
                return Action(0, STEPPED, event.kind, tensors, tuple(settings), span=span)
            case BackwardStarted():
                graph = (f"create_graph={event.create_graph}",)
                return Action(0, STARTED, event.kind, event.roots, graph, (), event.gradients, span, call)
            case NodeRan(node=node, received=received):
                values, at = (*received, *event.sent), (self.at.get(node),)
                name = self.names.get(node, "")
                op, flowed["received"] = NUMBERED.sub("", name), len(received)
                return Action(0, PASSED, op, at, values=values, detail=name, **flowed)
            case HookRan():
                return Action(0, HOOKED, event.kind, (self.at.get(event.node),), values=event.after, **flowed)
            case GradAccumulated():
                return Action(0, ADDED, "", (event.tensor,), values=(event.after,), **flowed)
            case BackwardEnded(captured=captured, error=None) if captured:
                ids, values = zip(*captured, strict=True)
                return Action(0, RETURNED, "", ids, values=values, **flowed)
            case GradSet():
                return Action(0, SET, event.how, (event.tensor,), values=(event.after,), span=span)
            case CellFailed(error=error):  # also that of a backward call
                return Action(0, FAILED, error.partition(":")[0], span=span, detail=error)
        return None


def states_of(event: Event) -> tuple[TensorState, ...]:
    """The tensors that an event made or wrote."""
    if isinstance(event, Forward):
        return event.outputs
    made = getattr(event, "tensor", None)
    return (made,) if isinstance(made, TensorState) else ()


# ─── The first thing that two runs did not do alike, and which tensors of both are the same


# What differs: what was done, on what, with what, the node that it left, or the numbers.
ACTION, INPUTS, ARGUMENTS, NODE, VALUE = "deed", "inputs", "arguments", "node", "value"
DIGITS = {"float16": 2, "bfloat16": 1, "float32": 5, "complex64": 5, "float64": 10, "complex128": 10}
MATCHED = 4000  # actions of both runs; of longer runs what follows the first difference is not matched
EXTRA, RESUMED = 12, 3  # actions that one run may have more; actions after them that have to be the same
FORM = re.compile(r"_(scalar|tensor|self|other)$")  # of one op in one library, by the kind of its arguments
KIND = re.compile(r"\d+$")


class Difference(NamedTuple):
    """The first difference: the actions of both runs (None where one of them had ended), `what` differs, and
    of a difference in numbers which of the `values` (`at`). `extra` is the run, "A" or "B", that does
    something that the other leaves out, if that is the only difference: what the other does there, it does
    later."""

    what: str
    a: Action | None
    b: Action | None
    at: int = 0
    extra: str = ""


class Alignment(NamedTuple):
    """Two runs: `alike` actions at the beginning are the same, then comes the `difference`, if there is one.
    `pairs` has for tensors of the first run those of the second."""

    alike: int
    difference: Difference | None
    pairs: dict[str, str]


class Pairs:
    """Which tensor of the second run is which of the first."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}
        self.taken: set[str] = set()

    def take(self, x: Action, y: Action) -> None:
        """What two actions made is the same, unless one of it is known as another."""
        for mine, other in zip(x.outputs, y.outputs, strict=False):
            if mine.id not in self.of and other.id not in self.taken:
                self.of[mine.id] = other.id
                self.taken.add(other.id)

    def same(self, mine: str | None, other: str | None) -> bool:
        """Whether two inputs are the same; so they are taken to be where nobody saw how they were made."""
        if mine is None or other is None:
            return mine is other
        return self.of.get(mine) == other or (mine not in self.of and other not in self.taken)


def align_runs(a: Sequence[Action], b: Sequence[Action]) -> Alignment:
    """Where two runs first differ."""
    pairs = Pairs()
    for i, (x, y) in enumerate(zip_longest(a, b)):
        found = (ACTION, 0) if x is None or y is None else action_difference(x, y, pairs)
        if found is None or found[0] != ACTION:
            pairs.take(x, y)
        if found is not None:
            follow(a[i:], b[i:], pairs)
            extra = extra_run(a[i:], b[i:]) if found[0] == ACTION else ""
            return Alignment(i, Difference(found[0], x, y, found[1], extra), pairs.of)
    return Alignment(len(a), None, pairs.of)


def extra_run(a: Sequence[Action], b: Sequence[Action]) -> str:
    """Which of two runs, "A" or "B", goes on as the other one once it has done a few actions more; "" if none
    does, or both do."""
    found = []
    for run, longer, shorter in (("A", a, b), ("B", b, a)):
        for n in range(1, min(EXTRA + 1, len(longer))):
            pairs = list(zip(longer[n : n + RESUMED], shorter, strict=False))
            if pairs and all(x.kind == y.kind and same_op(x, y) for x, y in pairs):
                found.append((n, run))
                break
    few = [run for n, run in found if n == min(found)[0]]
    return few[0] if len(few) == 1 else ""


def given_first(actions: Sequence[Action]) -> tuple[Action, ...]:
    """Deeds with those first by which tensors were found that no line made, in the order of their numbers."""
    given: list[Action] = []
    others: list[Action] = []
    for action in actions:
        found = action.kind == CREATED and action.span is None and not action.inputs
        (given if found else others).append(action)
    given.sort(key=lambda action: repr([(v.shape, v.items, v.low) for v in action.values if v]))
    return (*given, *others)


def follow(a: Sequence[Action], b: Sequence[Action], pairs: Pairs) -> None:
    """Match what follows the first difference, by what was done alone."""
    if len(a) + len(b) > MATCHED:
        return
    keys = [[(action.kind, base_op_name(action.op)) for action in run] for run in (a, b)]
    for i, j, count in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks():
        for x, y in zip(a[i : i + count], b[j : j + count], strict=True):
            pairs.take(x, y)


def action_difference(x: Action, y: Action, pairs: Pairs) -> tuple[str, int] | None:
    """What differs between two actions, and which of their numbers; None if they are the same."""
    if x.kind != y.kind or not same_op(x, y):
        return ACTION, 0
    if base_op_name(x.op) == base_op_name(y.op) and UNSEEN not in (x.inputs, y.inputs):
        if len(x.inputs) != len(y.inputs) or not all(map(pairs.same, x.inputs, y.inputs)):
            return INPUTS, 0
        if [*map(argument_number, x.arguments)] != [*map(argument_number, y.arguments)]:
            return ARGUMENTS, 0
    asking = [[state.requires_grad for state in action.outputs] for action in (x, y)]
    if x.nodes != y.nodes or asking[0] != asking[1]:
        return NODE, 0
    seen = UNSEEN not in (x.inputs, y.inputs)  # else nobody may have seen what came of it, either
    values = enumerate(zip_longest(x.values, y.values))
    return next(((VALUE, i) for i, (p, q) in values if (seen or (p and q)) and not same_numbers(p, q)), None)


def same_op(x: Action, y: Action) -> bool:
    """Whether two actions are of one op. Two libraries may call an op differently, with other arguments; then
    its node tells, and without a node its source."""
    if base_op_name(x.op) == base_op_name(y.op):
        return True
    text = [action.span and action.span.flat for action in (x, y)]
    same = all(x.nodes) or (x.kind == RAN and not any(x.nodes) and text[0] is not None and text[0] == text[1])
    return bool(x.outputs) and x.nodes == y.nodes and same


def base_op_name(op: str) -> str:
    """The name of an op without the form that a library chose by the kind of the arguments."""
    return FORM.sub("", op)


def argument_number(argument: str | None) -> Any:
    """An argument as a number, where it is one: 2 and 2.0 are the same."""
    try:
        return argument if argument is None else float(argument)
    except ValueError:
        return argument


def same_numbers(p: Value | None, q: Value | None) -> bool:
    """Whether two snapshots are the same numbers, as far as the less precise dtype can say."""
    if p is None or q is None:
        return p is q
    if p.shape != q.shape or KIND.sub("", p.dtype) != KIND.sub("", q.dtype):
        return False
    if p == q:
        return True
    mine, other = (list(snapshot_numbers(value)) for value in (p, q))
    tolerance = 10.0 ** -min(DIGITS.get(value.dtype, 15) for value in (p, q))
    largest = max((abs(n) for n in (*mine, *other) if n == n and abs(n) != float("inf")), default=0.0)
    return len(mine) == len(other) and all(
        n == m or (n != n and m != m) or abs(n - m) <= tolerance * max(largest, tolerance)
        for n, m in zip(mine, other, strict=True)
    )


def snapshot_numbers(value: Value) -> Iterator[Any]:
    """The numbers of a snapshot; of a large one the extremes."""
    if value.items is not None:
        yield from value.items
        return
    yield from (n for n in (value.low, value.high) if n is not None)


# ─── What one of two runs did, in words


METHOD = re.compile(r"\.\w+\(\)$")
SOURCE, NUMBERS = 44, 40  # columns of source and of numbers in a sentence
LISTED = 4  # names, settings
FLOWED = {
    HOOKED: "compare_hooked", SET: "compare_set", RETURNED: "compare_returned", ADDED: "compare_added",
}  # fmt: skip


class Run:
    """One of two runs that are compared, called `label`."""

    def __init__(self, trace: Trace, label: str, lang: str | None) -> None:
        self.trace, self.label, self.lang = trace, label, lang
        self.scenes = Scenes(trace)
        self.actions = tuple(ActionReader(trace).actions())

    @cached_property
    def names(self) -> dict[str, str]:
        """What tensors are called, by their ids: as variables, else as their source."""
        found: dict[str, str] = {}
        for action in self.actions:
            for state in action.outputs:
                if action.span is not None:
                    found.setdefault(state.id, source_of(action))
        return found | {
            id: name for call in self.scenes.calls for id, name in self.scenes.of(call).named.items()
        }

    def name(self, id: str | None) -> str:
        """What a tensor is called."""
        return self.names.get(id or "", "") or text("compare_unnamed", self.lang)

    def scene(self, action: Action | None) -> Scene:
        """The picture that an action belongs to: that of its backward call, of the one whose gradients it
        used to update something, or of the next one."""
        if action is None:
            return self.scenes.last
        calls = self.scenes.calls
        updated = [u.call for u in self.scenes.index.updates if not set(u.times).isdisjoint(moments(action))]
        call = next(iter(updated), action.call)
        if call:
            later = [each for each in calls if each >= call]
        else:
            begins = self.scenes.index.calls
            later = [each for each in calls if each in begins and begins[each].begin > action.time]
        return self.scenes.of(later[0]) if later else self.scenes.last

    def graph(self, action: Action | None) -> Graph:
        """The graph of that picture: without what has no part in it, unless the action does."""
        scene = self.scene(action)
        shown, _ = main_part(scene, scene.graph)
        there = {card.id for _, card in shown.cards()}
        about = set() if action is None else set(action.tensors)
        return shown if not about or about & there else scene.graph

    # ── in words ────────────────────────────────────────────────────────────────────────────────────────────

    def told(self, action: Action | None, found: Difference | None = None) -> str:
        """What an action did, in a sentence with its line; of a difference, what the other run did not do."""
        what = text("compare_end", self.lang) if action is None else self.what(action, found)
        line = "" if action is None or action.span is None or action.span.origin else action.span.line
        return text("compare_in", self.lang, run=self.label, line=line, what=what)

    def cuts(self, action: Action) -> str | None:
        """The tensor whose gradients an action cuts off: its result requires none, though that does."""
        if action.kind != RAN or any(state.requires_grad for state in action.outputs):
            return None
        index = self.scenes.index
        return next((id for id in action.inputs if id in index.at and index.last(id).requires_grad), None)

    def line(self, action: Action) -> str:
        """What an action did, with its line and without the name of the run."""
        what = self.what(action, None)
        if action.kind == RAN and action.values[0] is not None:
            what = text(
                "compare_computes", self.lang, source=source_of(action), value=number_at(action.values, 0)
            )
        if action.span is None or action.span.origin:
            return what
        return text("compare_line", self.lang, line=action.span.line, what=what)

    def what(self, action: Action, found: Difference | None) -> str:
        """What an action did."""
        lang, source = self.lang, source_of(action)
        what = ACTION if found is None else found.what
        if what == INPUTS and action.kind == RAN:
            return text("compare_uses", lang, source=source, names=self.listed(action.inputs))
        if what == NODE:
            return self.left(action)
        if action.kind == FAILED:
            return text("compare_failed", lang, error=shorten(clean(action.detail), 120))
        if action.kind == STEPPED:
            return text("compare_stepped", lang, kind=action.op, settings=self.settings(action, found))
        if action.kind == PASSED or action.kind in FLOWED:
            return self.flowed(action, found)
        if action.kind in (CREATED, WROTE) or what == VALUE:
            key = "compare_becomes" if action.kind == WROTE else "compare_is"
            index = found.at if found is not None and found.what == VALUE else 0
            return text(key, lang, name=self.name(action.tensors[0]), value=number_at(action.values, index))
        if found is not None and found.a and found.b and source_of(found.a) == source_of(found.b):
            return text("compare_runs_op", lang, source=source, op=action.op)
        return text("compare_runs", lang, source=source)

    def left(self, action: Action) -> str:
        """Which node an op left."""
        name, node = self.name(action.tensors[0]), action.outputs[0].grad_fn
        if node:
            return text("compare_node", self.lang, name=name, node=node)
        key = "compare_no_node" if not action.outputs[0].requires_grad else "compare_leaf"
        return text(key, self.lang, name=name)

    def flowed(self, action: Action, found: Difference | None) -> str:
        """What a gradient came to be."""
        index = found.at if found is not None and found.what == VALUE else action.received
        name, lang = self.name(action.inputs[min(index, len(action.inputs) - 1)]), self.lang
        if action.kind == PASSED:
            passed = "compare_passes" if action.op != "AccumulateGrad" else "compare_runs_node"
            key, name = "compare_receives" if index < action.received else passed, self.name(action.inputs[0])
            return text(key, lang, node=action.detail, name=name, value=number_at(action.values, index))
        value = number_at(action.values, min(index, len(action.values) - 1))
        return text(FLOWED[action.kind], lang, name=name, value=value)

    def settings(self, action: Action, found: Difference | None) -> str:
        """The settings of an optimizer, as far as they differ."""
        other: set[str | None] = set()
        if found is not None and found.what == ARGUMENTS and found.a and found.b:
            other = set(found.a.arguments) & set(found.b.arguments)
        told = [str(each) for each in action.arguments if each not in other] or list(
            map(str, action.arguments)
        )
        return ", ".join(told[:LISTED])

    def listed(self, ids: tuple[str | None, ...]) -> str:
        """The names of some tensors."""
        return ", ".join(self.name(id) for id in ids if id is not None)


def moments(action: Action) -> tuple[int, ...]:
    """When an action happened. An optimizer reports a step just before it writes the first parameter."""
    return (action.time, action.time + 1) if action.kind == STEPPED else (action.time,)


def source_of(action: Action) -> str:
    """The source of an action, in short; the op where that is not known."""
    return action.op if action.span is None else shorten(clean(action.span.flat), SOURCE)


def call_in_short(action: Action) -> str:
    """`.detach()` of `w.detach()`: what was added to the source; else the source."""
    source = source_of(action)
    added = METHOD.search(source)
    return added[0] if added is not None and action.op.rstrip("_") in added[0] else source


def number_at(values: tuple[Value | None, ...], index: int) -> str:
    """One of some numbers as text."""
    value = values[index] if index < len(values) else None
    return "None" if value is None else one_line(value, NUMBERS)
