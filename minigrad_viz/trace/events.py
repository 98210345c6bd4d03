"""What happened in a cell, as plain data: frozen events in the order they happened.

A `Trace` holds numbers, shapes, names and source positions, never a live tensor or node, so what happens
later cannot rewrite it. Tensors are `t0, t1, …`, nodes `n0, n1, …`, in the order in which they were first
seen; backward calls are counted from 1. `to_json` writes it as JSON (non-finite and complex numbers as
strings), from which `from_json` makes the same trace again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, get_args

from ..protocol import Value
from .graph import Saved
from .jsonable import made, plain
from .where import Span


class TensorState(NamedTuple):
    """A tensor as it stood at one moment. `grad_fn` is the name of its node, `node` that node's id;
    `value` is None for a tensor that nobody has any more; `tangent` is that of a dual tensor (forward
    mode)."""

    id: str
    value: Value | None
    grad: Value | None
    requires_grad: bool
    is_leaf: bool
    retains_grad: bool | None
    grad_fn: str | None
    node: str | None
    version: int
    parameter: bool = False
    tangent: Value | None = None


class NodeState(NamedTuple):
    """A node as it stood when a backward call started. `edges` has per input (node id, output number) or
    None; `variable` is the leaf of an AccumulateGrad; `hooks` counts the user's hooks that the library
    tells of. `sequence` is the rank of the node's sequence number among the nodes of the call, by which the
    engine runs them (an AccumulateGrad's is the highest); `code` is where the backward of a custom Function
    stands in the source, if it does, and `methods` says the same of its other methods, by their names.
    `memory` is that of the leaf of an AccumulateGrad, in the numbers of `Saved.memory`."""

    id: str
    name: str
    saved: tuple[Saved, ...]
    edges: tuple[tuple[str, int] | None, ...]
    variable: str | None
    hooks: int
    sequence: int = 0
    code: Span | None = None
    methods: tuple[tuple[str, Span], ...] = ()
    memory: int | None = None


class Statement(NamedTuple):
    """A statement of the cell ran. All statements at the top level are reported in order; inside a loop or a
    function only those that did something with tensors."""

    span: Span


class ModeChanged(NamedTuple):
    """A mode was switched on or off: "grad" (by `no_grad`, `enable_grad` or `set_grad_enabled`), "inference",
    "anomaly", "saved_tensors_hooks" or "forward_ad" (a level of forward mode). One that was not as usual
    before the cell has no `span`."""

    mode: str
    enabled: bool
    span: Span | None


class Created(NamedTuple):
    """A tensor came into the cell: made from data there (`span` says where) or brought along from before.
    Of one that a backward call computed, `gradient_of` is the tensor whose gradient it is, and `call` the
    call whose `grad()` returned it (0: it was the `.grad` of that tensor). Of one
    that was found in a finished graph, `shares` is the tensor whose memory it uses."""

    tensor: TensorState
    span: Span | None
    name: str | None
    gradient_of: str = ""
    call: int = 0
    shares: str = ""


class Forward(NamedTuple):
    """An op ran. `inputs` are tensor ids (None for an argument that is no tensor, whose text is in
    `arguments`); `call` is the backward call inside which it ran (0 outside): then it belongs to the graph
    of the gradient. Where only the node of such an op is known, `inputs` are those of its edges, and an
    unknown one is "…". `shares` is the input whose memory the outputs use ("" if they have their own);
    `ghost` the name of the node that the op would have left with the grad mode on ("" where unknown)."""

    op: str
    inputs: tuple[str | None, ...]
    arguments: tuple[str | None, ...]
    outputs: tuple[TensorState, ...]
    grad_enabled: bool
    span: Span | None
    name: str | None
    call: int
    shares: str = ""
    ghost: str = ""


class Called(NamedTuple):
    """A module was called: what follows, up to the `Returned` of the same `number`, ran inside it.

    `path` is its place in the model that a variable stands for (`model.0`; "" where no variable leads to it),
    `kind` its class, `about` its sizes (`2→4`; "" where it has none). `parameters` are its own, by name;
    `inputs` are the tensors that it received."""

    number: int
    path: str
    kind: str
    about: str
    parameters: tuple[tuple[str, str], ...]
    inputs: tuple[str, ...]
    span: Span | None


class Returned(NamedTuple):
    """A module returned `outputs`, or raised an error (then it has none)."""

    number: int
    outputs: tuple[str, ...]


class Detached(NamedTuple):
    """`detach()` gave `tensor`, which shares memory with `source` outside its graph; `how` is "detach" or
    "data". After `detach_()` the two are one."""

    source: str
    tensor: TensorState
    span: Span | None
    name: str | None
    how: str = "detach"


class Left(NamedTuple):
    """Numbers of the `sources` left the library and came back as `tensor`, which no graph leads to. `how`
    they went: as an array ("numpy"), as Python numbers ("item"), or straight into a new tensor ("tensor").
    `shares` is the source whose memory the tensor uses ("" if it has its own)."""

    sources: tuple[str, ...]
    how: str
    tensor: TensorState
    span: Span | None
    name: str | None
    shares: str = ""


class Asked(NamedTuple):
    """The cell set `requires_grad` of a tensor, by `requires_grad_()` or by assignment."""

    tensor: TensorState
    span: Span | None


class Mutated(NamedTuple):
    """An op wrote into a tensor, whose id was `before` and whose version was `version`; `tensor.id` is
    another if it has a new history. `also` are tensors that use the same memory and keep their history, as
    they stand now."""

    op: str
    before: str
    tensor: TensorState
    inputs: tuple[str | None, ...]
    span: Span | None
    version: int = 0
    also: tuple[TensorState, ...] = ()


class Stepping(NamedTuple):
    """The state that an optimizer has for one parameter: its `settings` (`lr`, `momentum` …) and the
    optimizer's tensors, each before the step (None: there was none) and after it."""

    tensor: str
    settings: tuple[tuple[str, float], ...]
    state: tuple[tuple[str, Value | None, Value | None], ...]


class OptimizerStepped(NamedTuple):
    """An optimizer of class `kind` took a step. A `Mutated` by the op "step" follows for each parameter that
    has a gradient. The ops inside the step are not reported."""

    kind: str
    rows: tuple[Stepping, ...]
    span: Span | None


class BackwardStarted(NamedTuple):
    """`backward()` or `grad()` was called; `nodes` is the graph it found, roots first. `wanted` are the
    tensors whose gradients were asked for (None: all leaves); `batched`: the gradients that were given are
    many, one behind the other."""

    call: int
    kind: str
    roots: tuple[str, ...]
    gradients: tuple[Value | None, ...]
    gradient_ids: tuple[str | None, ...]
    create_graph: bool
    nodes: tuple[NodeState, ...]
    span: Span | None
    wanted: tuple[str, ...] | None = None
    batched: bool = False


class NodeRan(NamedTuple):
    """A node ran: the gradients of its outputs that it received, those of its inputs that it sent
    (`sent_ids` where these are tensors of the trace themselves, under `create_graph`)."""

    call: int
    node: str
    received: tuple[Value | None, ...]
    sent: tuple[Value | None, ...]
    sent_ids: tuple[str | None, ...]


class HookRan(NamedTuple):
    """A hook of the user's ran. `kind` is "tensor" (a hook of output `index` of the node; of the leaf for an
    AccumulateGrad), "pre", "post", "post_accumulate" or "multi" (one of several tensors, with all of their
    gradients; `node` is where it ran); `name` is the hook's own, "" where unknown. `after` equals `before`
    when the hook left the gradients as they were; `gave` says whether it returned anything but None (None
    where that is not known)."""

    call: int
    node: str
    kind: str
    name: str
    index: int  # type: ignore[assignment]
    before: tuple[Value | None, ...]
    after: tuple[Value | None, ...]
    gave: bool | None = None


class Inside(NamedTuple):
    """An op that the backward of a custom Function ran: values of its inputs (text for what is no tensor)
    and of its output."""

    call: int
    node: str
    op: str
    inputs: tuple[Value | str, ...]
    output: Value
    span: Span | None


class Packed(NamedTuple):
    """A saved-tensor hook packed what a node saved as `name`; `kept` tells in words what it became."""

    call: int
    node: str
    name: str
    value: Value | None
    kept: str


class Unpacked(NamedTuple):
    """A saved-tensor hook unpacked it again, to `value`."""

    call: int
    node: str
    name: str
    kept: str
    value: Value | None


class Recomputed(NamedTuple):
    """A checkpoint ran its function again, because `node` needed what had not been kept ("" where unknown);
    `ops` are what it computed."""

    call: int
    node: str
    ops: tuple[Inside, ...]


class Freed(NamedTuple):
    """A node let go of the values that it had saved under `names`."""

    call: int
    node: str
    names: tuple[str, ...]


class Deposited(NamedTuple):
    """An AccumulateGrad added to a leaf's `.grad`."""

    call: int
    node: str
    tensor: str
    before: Value | None
    added: Value
    after: Value


class GradSet(NamedTuple):
    """The cell changed a tensor's `.grad` itself. `how` is "zero" (`x.grad.zero_()`), "none" (`x.grad =
    None`), "assigned" (another tensor), or "written" (any other in-place op)."""

    tensor: str
    how: str
    before: Value | None
    after: Value | None
    span: Span | None


class BackwardEnded(NamedTuple):
    """The call ended, with `error` ("RuntimeError: …") if it failed. `freed` are the nodes whose saved
    values are gone; `captured` the gradients that `grad()` returned, by tensor id; `nested` counts the
    backward calls inside it, from hooks or custom Functions, which are not recorded otherwise. `stopped` is
    the node that was running when it failed, if a traceback shows that."""

    call: int
    error: str | None
    freed: tuple[str, ...]
    captured: tuple[tuple[str, Value | None], ...]
    nested: int = 0
    stopped: str | None = None


AGAIN = "again"


class Snapshot(NamedTuple):
    """All named tensors at one moment: `when` is "before" or "after" the `call`-th backward call, "end", when
    the cell ended, or AGAIN, when backward calls are recorded again after some that were only counted."""

    when: str
    call: int
    rows: tuple[tuple[str, TensorState], ...]


class Compared(NamedTuple):
    """What a gradcheck compared that failed: two Jacobians with a row for each element of the input and a
    column for each of the output, the numerical one with a step of `eps`. An element may differ by
    `atol + rtol · |numerical|`."""

    numerical: Value
    analytical: Value
    eps: float
    atol: float
    rtol: float


class Failed(NamedTuple):
    """The error ("RuntimeError: …") that ended the cell, and where the cell stood. `named` are the tensors
    that the expression there names, with the text by which it does, as they stood then; `compared` what a
    gradcheck compared, if it was one."""

    error: str
    span: Span | None
    named: tuple[tuple[str, TensorState], ...] = ()
    compared: Compared | None = None


Event = (
    Created
    | Forward
    | Called
    | Returned
    | Detached
    | Left
    | Asked
    | Mutated
    | OptimizerStepped
    | Statement
    | ModeChanged
    | BackwardStarted
    | NodeRan
    | HookRan
    | Inside
    | Packed
    | Unpacked
    | Recomputed
    | Freed
    | Deposited
    | GradSet
    | BackwardEnded
    | Snapshot
    | Failed
)
KINDS = {kind.__name__: kind for kind in get_args(Event)}


class Later(Sequence[Any]):
    """Events that are made when they are first looked at. Equal to a tuple of them."""

    def __init__(self, make: Callable[[], Iterable[Any]]) -> None:
        self._make: Callable[[], Iterable[Any]] | None = make
        self._made: tuple[Any, ...] = ()

    def all(self) -> tuple[Any, ...]:
        """The events themselves."""
        if self._make is not None:
            self._made = tuple(self._make())
            self._make = None
        return self._made

    def __getitem__(self, which: Any) -> Any:
        return self.all()[which]

    def __len__(self) -> int:
        return len(self.all())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.all())

    def __eq__(self, other: object) -> bool:
        return self.all() == (other.all() if isinstance(other, Later) else other)

    def __hash__(self) -> int:
        return hash(self.all())

    def __repr__(self) -> str:
        return repr(self.all())

    def __reduce__(self) -> Any:
        return tuple, (self.all(),)


class Trace(NamedTuple):
    """A recorded cell: its source, what happened, the error that ended it (or None), the names of tensors
    at the end, and the nodes that no backward call reached. `skipped` counts the backward calls of a
    cell with many that are not kept. `events` may be `Later`, which reads like a tuple. One that was not
    `recorded` has what could still be found after an error: that an event is missing means nothing.
    `deposits` counts those of the calls that were skipped, by the id of the leaf. Of a graph that nobody
    recorded and that was found finished, `roots` are the tensors that were asked for (None elsewhere), and
    `omitted` counts the nodes that were left out, as there were too many. The results of `counted` ops need
    no gradient; there were too many of them to record. `rounds` has the value of the root of each
    backward call, also of those that are not kept (None where that is no finite number), `norms` the norm of
    all gradients after it; `light` calls, among those that were skipped, were only counted."""

    source: str
    events: Sequence[Event]
    error: str | None
    names: tuple[tuple[str, str], ...]
    nodes: tuple[NodeState, ...]
    skipped: int = 0
    recorded: bool = True
    deposits: tuple[tuple[str, int], ...] = ()
    roots: tuple[str, ...] | None = None
    omitted: int = 0
    counted: int = 0
    rounds: tuple[float | None, ...] = ()
    norms: tuple[float | None, ...] = ()
    light: int = 0

    def to_json(self) -> str:
        """The trace as JSON; every event has its class name under "event"."""
        data = plain(self._replace(events=()))
        data["events"] = [{"event": type(event).__name__, **plain(event)} for event in self.events]
        return json.dumps(data, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, written: str) -> Trace:
        """The trace that `to_json` wrote; ValueError for any other text."""
        data = json.loads(written)
        try:
            events = tuple(made(KINDS[entry["event"]], entry) for entry in data["events"])
            return made(cls, {**data, "events": ()})._replace(events=events)
        except (KeyError, TypeError, AttributeError) as problem:
            raise ValueError(f"this is no trace: {problem!r}") from problem
