"""What a cell does outside of backward calls, as plain data: events of `events`."""

from __future__ import annotations

from typing import NamedTuple

from ..protocol import Value
from .where import Span

COMPILED = "torch.compile"  # the op that stands for a compiled call


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
    `ghost` the name of the node that the op would have left with the grad mode on ("" where unknown).
    A call that stands as a whole is one op: `counted` says how many ran inside it. Of a compiled call,
    whose `op` is COMPILED, nobody knows that (0)."""

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
    counted: int = 0


def is_whole(event: Forward) -> bool:
    """Whether an op stands for a call with all that ran inside it."""
    return event.op == COMPILED or event.counted > 0


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


class Gave(NamedTuple):
    """A tensor that requires gradients gave Python its number, as `item()`, `float()` and `math.log()` do."""

    tensor: str
    span: Span | None


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


class GradSet(NamedTuple):
    """The cell changed a tensor's `.grad` itself. `how` is "zero" (`x.grad.zero_()`), "none" (`x.grad =
    None`), "assigned" (another tensor), or "written" (any other in-place op)."""

    tensor: str
    how: str
    before: Value | None
    after: Value | None
    span: Span | None


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
