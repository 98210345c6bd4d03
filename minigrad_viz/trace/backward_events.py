"""What happens in a backward call, as plain data: events of `events`."""

from __future__ import annotations

from typing import NamedTuple

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
    values are gone, each as soon as it had run; `captured` the gradients that `grad()` returned, by tensor
    id. `stopped` is the node that was running when it failed, if a traceback shows that."""

    call: int
    error: str | None
    freed: tuple[str, ...]
    captured: tuple[tuple[str, Value | None], ...]
    stopped: str | None = None
