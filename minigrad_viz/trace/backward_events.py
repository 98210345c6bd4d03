"""What happens in a backward call, as plain data: events of `events`."""

from __future__ import annotations

from typing import NamedTuple

from ..fields import (
    CallId,
    CallKind,
    Count,
    HookKind,
    MaybeCallId,
    MaybeNodeId,
    NewCallId,
    NewNodeId,
    NodeId,
    TensorId,
)
from ..protocol import Value
from .graph import Saved
from .where import Span


class NodeState(NamedTuple):
    """A node as it stood when a backward call started. `edges` has per input (node id, output number) or
    None; `variable` is the leaf of an AccumulateGrad; `hooks` counts the user's hooks that the library
    tells of. `sequence` is the rank of the node's sequence number among the nodes of the call, by which the
    engine runs them (an AccumulateGrad's is the highest); `code` is where the backward of a custom Function
    stands in the source, if it does, and `methods` says the same of its other methods, by their names.
    `memory` is that of the leaf of an AccumulateGrad, in the numbers of `Saved.memory`."""

    id: NewNodeId
    name: str
    saved: tuple[Saved, ...]
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
        """Whether what it sent has ids."""
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
    """An op that the backward of a custom Function ran: values of its inputs (text for what is no tensor)
    and of its output."""

    call: CallId
    node: NodeId
    op: str
    inputs: tuple[Value | str, ...]
    output: Value
    span: Span | None


class Packed(NamedTuple):
    """A saved-tensor hook packed what a node saved as `name`; `kept` tells in words what it became."""

    call: MaybeCallId
    node: NodeId
    name: str
    value: Value | None
    kept: str


class Unpacked(NamedTuple):
    """A saved-tensor hook unpacked it again, to `value`."""

    call: MaybeCallId
    node: NodeId
    name: str
    kept: str
    value: Value | None


class Recomputed(NamedTuple):
    """A checkpoint ran its function again, because `node` needed what had not been kept ("" where unknown);
    `ops` are what it computed."""

    call: MaybeCallId
    node: MaybeNodeId
    ops: tuple[Inside, ...]


class Deposited(NamedTuple):
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
