"""What happened in a cell, as plain data: frozen events in the order they happened.

A `Trace` holds numbers, shapes, names and source positions, never a live tensor or node, so what happens
later cannot rewrite it. Tensors are `t0, t1, …`, nodes `n0, n1, …`, in the order in which they were first
seen; backward calls are counted from 1. `to_json` writes it as JSON (non-finite and complex numbers as
strings), from which `from_json` makes the same trace again.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, overload

from ..fields import (
    CallId,
    CallKind,
    Count,
    CountOrUnknown,
    Detaching,
    HookKind,
    InputId,
    LastModuleCallId,
    LaterTensorId,
    Leaving,
    Library,
    MaybeCallId,
    MaybeNodeId,
    MaybeTensorId,
    Mode,
    Moment,
    NewCallId,
    NewModuleCallId,
    NewNodeId,
    NodeId,
    Setting,
    TensorId,
)
from ..protocol import Value
from .graph import SavedChip
from .json_format import LARGEST, TraceReader, parse_json, plain_data
from .source_positions import Span

# ─── What a cell does outside of backward calls, as plain data


Kind = TypeVar("Kind")
COMPILED = "torch.compile"  # the op that stands for a compiled call


class TensorState(NamedTuple):
    """A tensor as it was at one moment. `grad_fn` is the name of its node, `node` that node's id;
    `value` is None for a tensor that nobody has any more; `tangent` is that of a dual tensor (forward
    mode)."""

    id: TensorId
    value: Value | None
    grad: Value | None
    requires_grad: bool
    is_leaf: bool
    retains_grad: bool | None
    grad_fn: str | None
    node: NewNodeId | None
    version: Count
    parameter: bool = False
    tangent: Value | None = None


class ModeChanged(NamedTuple):
    """A mode was switched on or off: "grad" (by `no_grad`, `enable_grad` or `set_grad_enabled`), "inference",
    "anomaly", "saved_tensors_hooks" or "forward_ad" (a level of forward mode). One that was not as usual
    before the cell has no `span`."""

    mode: Mode
    enabled: bool
    span: Span | None


class TensorCreated(NamedTuple):
    """A tensor came into the cell: made from data there (`span` says where) or brought along from before.
    Of one that a backward call computed, `gradient_of` is the tensor whose gradient it is, and `call` the
    call whose `grad()` returned it (0: it was the `.grad` of that tensor). Of one
    that was found in a finished graph, `shares` is the tensor whose memory it uses."""

    tensor: TensorState
    span: Span | None
    name: str | None
    gradient_of: MaybeTensorId = ""
    call: MaybeCallId = 0
    shares: MaybeTensorId = ""

    @property
    def read(self) -> tuple[TensorId, ...]:
        """The tensors that were used."""
        return ()

    @property
    def made(self) -> tuple[TensorState, ...]:
        """The tensors that came to be."""
        return (self.tensor,)

    @property
    def states(self) -> tuple[TensorState, ...]:
        """The tensors that it is about, as they are after it."""
        return (self.tensor,)

    def consistent(self) -> bool:
        """Whether it came from others."""
        return self.tensor.id not in (self.shares, self.gradient_of)


class Forward(NamedTuple):
    """An op ran. `inputs` are tensor ids (None for an argument that is not a tensor, whose text is in
    `arguments`); `call` is the backward call inside which it ran (0 outside): then it belongs to the graph
    of the gradient. Where only the node of such an op is known, `inputs` are those of its edges, and an
    unknown one is "…". `shares` is the input whose memory the outputs use ("" if they have their own);
    `ghost` the name of the node that the op would have left with the grad mode on ("" where unknown).
    A call that is shown as a whole is one op: `counted` says how many ran inside it. Of a compiled call,
    whose `op` is COMPILED, nobody knows that (0)."""

    op: str
    inputs: tuple[InputId | None, ...]
    arguments: tuple[str | None, ...]
    outputs: tuple[TensorState, ...]
    grad_enabled: bool
    span: Span | None
    name: str | None
    call: MaybeCallId
    shares: MaybeTensorId = ""
    ghost: str = ""
    counted: Count = 0

    @property
    def made(self) -> tuple[TensorState, ...]:
        """The tensors that came to be."""
        return self.outputs

    @property
    def states(self) -> tuple[TensorState, ...]:
        """The tensors that it is about, as they are after it."""
        return self.outputs

    @property
    def read(self) -> tuple[TensorId, ...]:
        """The tensors that were used."""
        return tuple(id for id in self.inputs if id is not None and id != "…")

    def consistent(self) -> bool:
        """Whether it has outputs, which came from others, and each argument a text or an id."""
        own = {state.id for state in self.outputs}
        arguments = len(self.inputs) == len(self.arguments)
        return arguments and len(own) == len(self.outputs) > 0 and own.isdisjoint((*self.inputs, self.shares))


def is_whole(event: Forward) -> bool:
    """Whether an op stands for a call with all that ran inside it."""
    return event.op == COMPILED or event.counted > 0


class ModuleCalled(NamedTuple):
    """A module was called: what follows, up to the `ModuleReturned` of the same `number`, ran inside it.

    `path` is its place in the model that a variable stands for (`model.0`; "" where no variable leads to it),
    `kind` its class, `about` its sizes (`2→4`; "" where it has none). `parameters` are its own, by name;
    `inputs` are the tensors that it received."""

    number: NewModuleCallId
    path: str
    kind: str
    about: str
    parameters: tuple[tuple[str, LaterTensorId], ...]
    inputs: tuple[TensorId, ...]
    span: Span | None

    @property
    def read(self) -> tuple[TensorId, ...]:
        """The tensors that were used."""
        return self.inputs


class ModuleReturned(NamedTuple):
    """A module returned `outputs`, or raised an error (then it has none)."""

    number: LastModuleCallId
    outputs: tuple[TensorId, ...]

    @property
    def read(self) -> tuple[TensorId, ...]:
        """The tensors that were used."""
        return self.outputs


class TensorDetached(NamedTuple):
    """`detach()` returned `tensor`, which shares memory with `source` outside its graph; `how` is "detach" or
    "data". After `detach_()` the two are one."""

    source: TensorId
    tensor: TensorState
    span: Span | None
    name: str | None
    how: Detaching = "detach"

    @property
    def made(self) -> tuple[TensorState, ...]:
        """The tensors that came to be."""
        return () if self.tensor.id == self.source else (self.tensor,)

    @property
    def shares(self) -> TensorId:
        """The tensor whose memory it uses."""
        return self.source

    @property
    def changed(self) -> tuple[TensorState, ...]:
        """The tensors that are otherwise since then."""
        return (self.tensor,) if self.tensor.id == self.source else ()

    @property
    def read(self) -> tuple[TensorId, ...]:
        """The tensors that were used."""
        return (self.source,)

    @property
    def states(self) -> tuple[TensorState, ...]:
        """The tensors that it is about, as they are after it."""
        return (self.tensor,)


class NumbersReturned(NamedTuple):
    """Numbers of the `sources` left the library and came back as `tensor`, which no graph leads to. `how`
    they went: as an array ("numpy"), as Python numbers ("item"), or straight into a new tensor ("tensor").
    `shares` is the source whose memory the tensor uses ("" if it has its own)."""

    sources: tuple[TensorId, ...]
    how: Leaving
    tensor: TensorState
    span: Span | None
    name: str | None
    shares: MaybeTensorId = ""

    @property
    def made(self) -> tuple[TensorState, ...]:
        """The tensors that came to be."""
        return (self.tensor,)

    @property
    def states(self) -> tuple[TensorState, ...]:
        """The tensors that it is about, as they are after it."""
        return (self.tensor,)

    @property
    def read(self) -> tuple[TensorId, ...]:
        """The tensors that were used."""
        return self.sources

    def consistent(self) -> bool:
        """Whether it came from others."""
        return self.tensor.id not in (*self.sources, self.shares)


class NumberRead(NamedTuple):
    """A tensor that requires gradients became a Python number, by `item()`, `float()` or
    `math.log()`."""

    tensor: TensorId
    span: Span | None

    @property
    def read(self) -> tuple[TensorId, ...]:
        """The tensors that were used."""
        return (self.tensor,)


class RequiresGradSet(NamedTuple):
    """The cell set `requires_grad` of a tensor, by `requires_grad_()` or by assignment."""

    tensor: TensorState
    span: Span | None

    @property
    def changed(self) -> tuple[TensorState, ...]:
        """The tensors that are otherwise since then."""
        return (self.tensor,)

    @property
    def states(self) -> tuple[TensorState, ...]:
        """The tensors that it is about, as they are after it."""
        return (self.tensor,)


class InPlaceWrite(NamedTuple):
    """An op wrote into a tensor, whose id was `before` and whose version was `version`; `tensor.id` is
    another if it has a new history. `also` are tensors that use the same memory and keep their history, as
    they are now."""

    op: str
    before: TensorId
    tensor: TensorState
    inputs: tuple[TensorId | None, ...]
    span: Span | None
    version: CountOrUnknown = 0
    also: tuple[TensorState, ...] = ()

    @property
    def made(self) -> tuple[TensorState, ...]:
        """The tensors that came to be."""
        return () if self.tensor.id == self.before else (self.tensor,)

    @property
    def changed(self) -> tuple[TensorState, ...]:
        """The tensors that are otherwise since then."""
        return (self.tensor, *self.also)

    @property
    def states(self) -> tuple[TensorState, ...]:
        """The tensors that it is about, as they are after it."""
        return (self.tensor, *self.also)

    @property
    def read(self) -> tuple[TensorId, ...]:
        """The tensors that were used."""
        return tuple(id for id in self.inputs if id is not None)

    def consistent(self) -> bool:
        """Whether a new history comes from others."""
        return self.tensor.id == self.before or self.tensor.id not in self.inputs


class GradSet(NamedTuple):
    """The cell changed a tensor's `.grad` itself. `how` is "zero" (`x.grad.zero_()`), "none" (`x.grad =
    None`), "empty" (the same where it was None already), "assigned" (another tensor), or "written" (any other
    in-place op)."""

    tensor: TensorId
    how: Setting
    before: Value | None
    after: Value | None
    span: Span | None


class Stepping(NamedTuple):
    """The state that an optimizer has for one parameter: its `settings` (`lr`, `momentum` …) and the
    optimizer's tensors, each before the step (None: there was none) and after it."""

    tensor: TensorId
    settings: tuple[tuple[str, float], ...]
    state: tuple[tuple[str, Value | None, Value | None], ...]


class OptimizerStepped(NamedTuple):
    """An optimizer of class `kind` took a step. An `InPlaceWrite` by the op "step" follows for each parameter
    that has a gradient. The ops inside the step are not reported. `idle` are the parameters without a
    gradient, as far as they were used before."""

    kind: str
    rows: tuple[Stepping, ...]
    span: Span | None
    idle: tuple[LaterTensorId, ...] = ()


# ─── What happens in a backward call, as plain data: events of `events`


class NodeState(NamedTuple):
    """A node as it was when a backward call started. `edges` has per input (node id, output number) or
    None; `variable` is the leaf of an AccumulateGrad; `hooks` counts the user's hooks that the library
    reports. `sequence` is the rank of the node's sequence number among the nodes of the call, by which the
    engine runs them (an AccumulateGrad's is the highest); `code` is where the backward of a custom Function
    is in the source, if it does, and `methods` says the same of its other methods, by their names.
    `memory` is that of the leaf of an AccumulateGrad, in the numbers of `SavedChip.memory`."""

    id: NewNodeId
    name: str
    saved: tuple[SavedChip, ...]
    edges: tuple[tuple[NodeId, Count] | None, ...]
    variable: TensorId | None
    hooks: Count
    sequence: Count = 0
    code: Span | None = None
    methods: tuple[tuple[str, Span], ...] = ()
    memory: Count | None = None


class BackwardStarted(NamedTuple):
    """`backward()` or `grad()` was called; `nodes` is the graph it found, roots first. `wanted` are the
    tensors whose gradients were asked for (None: all leaves); `batched`: the gradients that were given are
    many, one behind the other."""

    call: NewCallId
    kind: CallKind
    roots: tuple[TensorId, ...]
    gradients: tuple[Value | None, ...]
    gradient_ids: tuple[TensorId | None, ...]
    create_graph: bool
    nodes: tuple[NodeState, ...]
    span: Span | None
    wanted: tuple[TensorId, ...] | None = None
    batched: bool = False

    @property
    def read(self) -> tuple[TensorId, ...]:
        """The tensors that were used."""
        return self.roots

    def consistent(self) -> bool:
        """Whether each root has its gradient, and each node one state."""
        same = len(self.roots) == len(self.gradients) == len(self.gradient_ids)
        return same and len({node.id for node in self.nodes}) == len(self.nodes)


class NodeRan(NamedTuple):
    """A node ran: the gradients of its outputs that it received, those of its inputs that it sent
    (`sent_ids` where these are tensors of the trace themselves, under `create_graph`)."""

    call: CallId
    node: NodeId
    received: tuple[Value | None, ...]
    sent: tuple[Value | None, ...]
    sent_ids: tuple[TensorId | None, ...]

    def consistent(self) -> bool:
        """Whether the gradients that it sent have ids."""
        return len(self.sent) == len(self.sent_ids)


class HookRan(NamedTuple):
    """A hook of the user's ran. `kind` is "tensor" (a hook of output `index` of the node; of the leaf for an
    AccumulateGrad), "pre", "post", "post_accumulate" or "multi" (one of several tensors, with all of their
    gradients; `node` is where it ran); `name` is the hook's own, "" where unknown. `after` equals `before`
    when the hook left the gradients as they were; `gave` says whether it returned anything but None (None
    where that is not known)."""

    call: CallId
    node: NodeId
    kind: HookKind
    name: str
    index: Count  # type: ignore[assignment]
    before: tuple[Value | None, ...]
    after: tuple[Value | None, ...]
    gave: bool | None = None


class Inside(NamedTuple):
    """An op that the backward of a custom Function ran: values of its inputs (text for what is not a tensor)
    and of its output."""

    call: CallId
    node: NodeId
    op: str
    inputs: tuple[Value | str, ...]
    output: Value
    span: Span | None


class SavedPacked(NamedTuple):
    """A saved-tensor hook packed what a node saved as `name`; `kept` tells in words what it became."""

    call: MaybeCallId
    node: NodeId
    name: str
    value: Value | None
    kept: str


class SavedUnpacked(NamedTuple):
    """A saved-tensor hook unpacked it again, to `value`."""

    call: MaybeCallId
    node: NodeId
    name: str
    kept: str
    value: Value | None


class Recomputation(NamedTuple):
    """A checkpoint ran its function again, because `node` needed what had not been kept ("" where unknown);
    `ops` are what it computed."""

    call: MaybeCallId
    node: MaybeNodeId
    ops: tuple[Inside, ...]


class GradAccumulated(NamedTuple):
    """An AccumulateGrad added to a leaf's `.grad`."""

    call: CallId
    node: NodeId
    tensor: TensorId
    before: Value | None
    added: Value
    after: Value


class BackwardEnded(NamedTuple):
    """The call ended, with `error` ("RuntimeError: …") if it failed. `freed` are the nodes whose saved
    values are gone, each as soon as it had run; `captured` the gradients that `grad()` returned, by tensor
    id. `stopped` is the node that was running when it failed, if a traceback shows that."""

    call: CallId
    error: str | None
    freed: tuple[NodeId, ...]
    captured: tuple[tuple[TensorId, Value | None], ...]
    stopped: NodeId | None = None


# ─── What happened in a cell, as plain data


class Statement(NamedTuple):
    """A statement of the cell ran. All statements at the top level are reported in order; inside a loop or a
    function only those that did something with tensors."""

    span: Span


AGAIN = "again"


class Snapshot(NamedTuple):
    """All named tensors at one moment: `when` is "before" or "after" the `call`-th backward call, "end", when
    the cell ended, or AGAIN, when backward calls are recorded again after some that were only counted."""

    when: Moment
    call: Count
    rows: tuple[tuple[str, TensorState], ...]

    @property
    def states(self) -> tuple[TensorState, ...]:
        """The tensors that it is about, as they are after it."""
        return tuple(state for _, state in self.rows)


class GradcheckComparison(NamedTuple):
    """What a gradcheck compared that failed: two Jacobians with a row for each element of the input and a
    column for each of the output, the numerical one with a step of `eps`. An element may differ by
    `atol + rtol · |numerical|`."""

    numerical: Value
    analytical: Value
    eps: float
    atol: float
    rtol: float


class CellFailed(NamedTuple):
    """The error ("RuntimeError: …") that ended the cell, and where the cell was. `named` are the tensors
    that the expression there names, with the text by which it does, in their state then; `compared` what a
    gradcheck compared, if it was one."""

    error: str
    span: Span | None
    named: tuple[tuple[str, TensorState], ...] = ()
    compared: GradcheckComparison | None = None
    frames: tuple[Span, ...] = ()


# What every event answers: the tensors that it `made`, those that it `changed`, the ids of those that it
# `read`, and the `states` of all that it is about, each as it stands after it; the backward `call` that it is
# part of (0: none), the `span` where it stands in the source, the `name` that was given to what it made, the
# tensor whose memory that `shares`, `how` it was done, and the text of the `error` that it ended with.
ANSWERS = {
    **dict.fromkeys(("made", "changed", "read", "states"), ()),
    **dict.fromkeys(("span", "name", "error")),
    "call": 0,
    "shares": "",
    "how": "",
}
Event = Any  # one of the classes here
FORMER = ("Freed",)  # events of an earlier version, of which others tell now
TAGS = {  # what saved traces call some events: their names in earlier versions
    "TensorCreated": "Created",
    "TensorDetached": "Detached",
    "NumbersReturned": "Left",
    "NumberRead": "Gave",
    "RequiresGradSet": "Asked",
    "InPlaceWrite": "Mutated",
    "ModuleCalled": "Called",
    "ModuleReturned": "Returned",
    "GradcheckComparison": "Compared",
    "CellFailed": "Failed",
    "SavedPacked": "Packed",
    "SavedUnpacked": "Unpacked",
    "Recomputation": "Recomputed",
    "GradAccumulated": "Deposited",
}
KINDS = {TAGS.get(name, name): kind for name, kind in globals().items() if hasattr(kind, "_fields")}
for _kind in KINDS.values():
    for _answer, _nothing in ANSWERS.items() if _kind.__module__ == __name__ else ():
        if not hasattr(_kind, _answer):
            setattr(_kind, _answer, _nothing)


@overload
def of_kinds(events: Iterable[Event], kind: type[Kind], /) -> tuple[Kind, ...]: ...
@overload
def of_kinds(events: Iterable[Event], /, *kinds: type) -> tuple[Event, ...]: ...
def of_kinds(events: Iterable[Event], /, *kinds: type) -> tuple[Event, ...]:
    """Those of some events that are of one of these kinds, in order."""
    return tuple(event for event in events if event.__class__ in kinds)


def tag_of(event: Event) -> str:
    """What a saved trace calls an event of this class."""
    name = type(event).__name__
    return TAGS.get(name, name)


class Later(Sequence[Any]):
    """Events that are made when they are first looked at. Equal to a tuple of them."""

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make: Callable[[], Iterable[Any]] = make

    @functools.cached_property
    def by_kind(self) -> dict[type, tuple[Any, ...]]:
        """The events of each kind."""
        found: dict[type, list[Any]] = {}
        for event in self.all:
            found.setdefault(event.__class__, []).append(event)
        return {kind: tuple(events) for kind, events in found.items()}

    @functools.cached_property
    def all(self) -> tuple[Any, ...]:
        """The events themselves."""
        make, self._make = self._make, tuple  # which lets go of the notes
        return tuple(make())

    def __getitem__(self, which: Any) -> Any:
        return self.all[which]

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.all)

    def __eq__(self, other: object) -> bool:
        return self.all == (other.all if isinstance(other, Later) else other)

    def __hash__(self) -> int:
        return hash(self.all)

    def __repr__(self) -> str:
        return repr(self.all)

    def __reduce__(self) -> Any:
        return tuple, (self.all,)


class Trace(NamedTuple):
    """A recorded cell: its source, what happened, the error that ended it (or None), the names of tensors at
    the end, and the nodes that no backward call reached. `skipped` counts the backward calls of a cell with
    many that are not kept. `events` may be `Later`, which reads like a tuple. One that was not `recorded` has
    what could still be found after an error: that an event is missing means nothing. `deposits` counts those
    of the calls that were skipped, by the id of the leaf. Of a graph that nobody recorded and that was found
    finished, `roots` are the tensors that were asked for (None elsewhere), and `omitted` counts the nodes
    that were left out, as there were too many. The results of `counted` ops need no gradient; there were too
    many of them to record. `rounds` has the value of the root of each backward call, also of those that are
    not kept (None where that is not a finite number), `norms` the norm of all gradients after it; `light`
    calls, among those that were skipped, were only counted. `library` is that of the tensors that variables
    name: "minigrad" or "torch" ("" where there are none). `passed` ops, of any kind, were not recorded
    because the graph had become too large."""

    source: str
    events: Sequence[Event]
    error: str | None
    names: tuple[tuple[TensorId, str], ...]
    nodes: tuple[NodeState, ...]
    skipped: Count = 0
    recorded: bool = True
    deposits: tuple[tuple[TensorId, Count], ...] = ()
    roots: tuple[TensorId, ...] | None = None
    omitted: Count = 0
    counted: Count = 0
    rounds: tuple[float | None, ...] = ()
    norms: tuple[float | None, ...] = ()
    light: Count = 0
    library: Library = ""
    passed: Count = 0

    @overload
    def of(self, kind: type[Kind], /) -> tuple[Kind, ...]: ...
    @overload
    def of(self, /, *kinds: type) -> tuple[Event, ...]: ...
    def of(self, /, *kinds: type) -> tuple[Event, ...]:
        """The events of one kind, or of several, in order."""
        if len(kinds) == 1 and isinstance(self.events, Later):
            return self.events.by_kind.get(kinds[0], ())
        return of_kinds(self.events, *kinds)

    def consistent(self) -> bool:
        """Whether no node leads back to itself."""
        calls = (event.nodes for event in self.of(BackwardStarted))
        edges: dict[str, list[str]] = {}
        for node in itertools.chain(self.nodes, *calls):
            edges.setdefault(node.id, []).extend(edge[0] for edge in node.edges if edge is not None)
        try:
            TopologicalSorter(edges).prepare()
        except CycleError:
            return False
        return True

    def to_json(self) -> str:
        """The trace as JSON; every event has its tag under "event"."""
        data = plain_data(self._replace(events=()))
        data["events"] = [{"event": tag_of(event), **plain_data(event)} for event in self.events]
        return json.dumps(data, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, written: str | bytes) -> Trace:
        """The trace that `to_json` wrote, as text or as UTF-8; `InvalidTrace`, a ValueError that says where
        it is wrong, for anything else. See Note [Reading a saved trace]."""
        return TraceReader(Sequence[Event], KINDS, FORMER).whole(cls, parse_json(written))

    @classmethod
    def load(cls, path: Path) -> Trace:
        """The trace in a file that was saved as .json. OSError if it cannot be read."""
        with path.open("rb") as file:
            return cls.from_json(file.read(LARGEST + 1))
