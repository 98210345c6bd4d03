"""What the fields of a trace may hold, beyond their Python types.

A type checker sees the plain types. A saved trace, which may be damaged, is held to all of this when it is
read (`trace.json_format`).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple


class Bounds(NamedTuple):
    """A number between two others, both included."""

    low: int
    high: int


class OneOf(NamedTuple):
    """One of some words."""

    words: tuple[str, ...]


class Id(NamedTuple):
    """The id of a thing of this `kind`, or what stands for `none`. It refers to a thing that came before, but
    for these roles."""

    kind: str
    role: str = ""
    none: tuple[str | int, ...] = ()


NEW = "new"  # it stands in a record of the thing itself
ONCE = "once"  # the same, where a thing has one record
LAST = "last"  # afterwards there is no such thing any more
LATER = "later"  # the thing may come later, or not at all

EXACT = 2**53  # up to it every reader of JSON takes a number for what it is
Count = Annotated[int, Bounds(0, EXACT)]
CountOrUnknown = Annotated[int, Bounds(-1, EXACT)]  # -1: nobody knows
Line = Annotated[int, Bounds(1, EXACT)]

TENSOR, NODE, CALL, MODULE_CALL = "tensor", "node", "backward call", "module call"
UNKNOWN = "…"  # the input of an op of which only the node is known
TensorId = Annotated[str, Id(TENSOR)]  # an event says by `born` which tensors are new
LaterTensorId = Annotated[str, Id(TENSOR, LATER)]
InputId = Annotated[str, Id(TENSOR, none=(UNKNOWN,))]
MaybeTensorId = Annotated[str, Id(TENSOR, none=("",))]
NodeId = Annotated[str, Id(NODE, LATER)]  # or it is one of very many, and was left out
NewNodeId = Annotated[str, Id(NODE, NEW)]
MaybeNodeId = Annotated[str, Id(NODE, none=("",))]
CallId = Annotated[int, Id(CALL)]
NewCallId = Annotated[int, Id(CALL, ONCE)]
MaybeCallId = Annotated[int, Id(CALL, none=(0,))]
NewModuleCallId = Annotated[int, Id(MODULE_CALL, ONCE)]
LastModuleCallId = Annotated[int, Id(MODULE_CALL, LAST)]

Beyond = Annotated[str, OneOf(("", "nan", "inf"))]
Library = Annotated[str, OneOf(("", "minigrad", "torch"))]
Mode = Annotated[str, OneOf(("grad", "inference", "anomaly", "saved_tensors_hooks", "forward_ad"))]
Moment = Annotated[str, OneOf(("before", "after", "end", "again"))]
CallKind = Annotated[str, OneOf(("backward", "grad"))]
HookKind = Annotated[str, OneOf(("tensor", "pre", "post", "post_accumulate", "multi"))]
Detaching = Annotated[str, OneOf(("detach", "data"))]
Leaving = Annotated[str, OneOf(("numpy", "item", "tensor"))]
Setting = Annotated[str, OneOf(("zero", "none", "empty", "assigned", "written"))]
