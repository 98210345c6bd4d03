"""What happened in a cell, as plain data: frozen events in the order they happened.

A `Trace` holds numbers, shapes, names and source positions, never a live tensor or node, so what happens
later cannot rewrite it. Tensors are `t0, t1, …`, nodes `n0, n1, …`, in the order in which they were first
seen; backward calls are counted from 1. `to_json` gives plain lists, strings and numbers (non-finite
numbers as strings).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .graph import Saved
from .protocol import Value
from .where import Span


class TensorState(NamedTuple):
    """A tensor as it stood at one moment. `grad_fn` is the name of its node, `node` that node's id;
    `value` is None for a tensor that nobody has any more."""

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


class NodeState(NamedTuple):
    """A node as it stood when a backward call started. `edges` has per input (node id, output number) or
    None; `variable` is the leaf of an AccumulateGrad; `hooks` counts the user's hooks that the library
    tells of."""

    id: str
    name: str
    saved: tuple[Saved, ...]
    edges: tuple[tuple[str, int] | None, ...]
    variable: str | None
    hooks: int


class Created(NamedTuple):
    """A tensor came into the cell: made from data there (`span` says where) or brought along from before."""

    tensor: TensorState
    span: Span | None
    name: str | None


class Forward(NamedTuple):
    """An op ran. `inputs` are tensor ids (None for an argument that is no tensor, whose text is in
    `arguments`); `call` is the backward call inside which it ran (0 outside): then it belongs to the graph
    of the gradient. Where only the node of such an op is known, `inputs` are those of its edges, and an
    unknown one is "…"."""

    op: str
    inputs: tuple[str | None, ...]
    arguments: tuple[str | None, ...]
    outputs: tuple[TensorState, ...]
    grad_enabled: bool
    span: Span | None
    name: str | None
    call: int


class Detached(NamedTuple):
    """`detach()` gave `tensor`, which shares memory with `source` outside its graph."""

    source: str
    tensor: TensorState
    span: Span | None
    name: str | None


class Mutated(NamedTuple):
    """An op wrote into a tensor, whose id was `before`; `tensor.id` is another if it has a new history."""

    op: str
    before: str
    tensor: TensorState
    inputs: tuple[str | None, ...]
    span: Span | None


class BackwardStarted(NamedTuple):
    """`backward()` or `grad()` was called; `nodes` is the graph it found, roots first."""

    call: int
    kind: str
    roots: tuple[str, ...]
    gradients: tuple[Value | None, ...]
    gradient_ids: tuple[str | None, ...]
    create_graph: bool
    nodes: tuple[NodeState, ...]
    span: Span | None


class NodeRan(NamedTuple):
    """A node ran: the gradients of its outputs that it received, those of its inputs that it sent
    (`sent_ids` where these are tensors of the trace themselves, under `create_graph`)."""

    call: int
    node: str
    received: tuple[Value | None, ...]
    sent: tuple[Value | None, ...]
    sent_ids: tuple[str | None, ...]


class Deposited(NamedTuple):
    """An AccumulateGrad added to a leaf's `.grad`."""

    call: int
    node: str
    tensor: str
    before: Value | None
    added: Value
    after: Value


class BackwardEnded(NamedTuple):
    """The call ended, with `error` ("RuntimeError: …") if it failed. `freed` are the nodes whose saved
    values are gone; `captured` the gradients that `grad()` returned, by tensor id."""

    call: int
    error: str | None
    freed: tuple[str, ...]
    captured: tuple[tuple[str, Value | None], ...]


class Snapshot(NamedTuple):
    """All named tensors at one moment: `when` is "before" or "after" the `call`-th backward call, or
    "end", when the cell ended."""

    when: str
    call: int
    rows: tuple[tuple[str, TensorState], ...]


Event = (
    Created | Forward | Detached | Mutated | BackwardStarted | NodeRan | Deposited | BackwardEnded | Snapshot
)


class Trace(NamedTuple):
    """A recorded cell: its source, what happened, the error that ended it (or None), the names of tensors
    at the end, and the nodes that no backward call reached."""

    source: str
    events: tuple[Event, ...]
    error: str | None
    names: tuple[tuple[str, str], ...]
    nodes: tuple[NodeState, ...]

    def to_json(self) -> dict[str, Any]:
        """The trace in JSON's types; every event has its class name under "event"."""
        return {
            "source": self.source,
            "error": self.error,
            "names": [list(pair) for pair in self.names],
            "nodes": [plain(node) for node in self.nodes],
            "events": [{"event": type(event).__name__, **plain(event)} for event in self.events],
        }


def plain(value: Any) -> Any:
    """`value` in JSON's types."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, Saved | Span):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value
