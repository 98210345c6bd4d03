"""Elements gathered and scattered by tensors of indices, and chosen by masks."""

from __future__ import annotations

from typing import Any

from ..core import F, check_broadcast
from ..core.dtypes import of, result_type
from ..core.public import public
from ..core.tensor_state import TensorBase, Tensors, numbers, wrap
from ..inplace.in_place import in_place
from ..left_out import without
from ..ops import copy as copies
from ..ops import index as indexing
from ..ops import indexing_along
from ..ops.checks import NUMBERS, choice, must_be_tensor
from .indexing import refuse_batched

# ── the op that PyTorch takes
# ─────────────────────────────────────────────────────────────────────────────────────────────────


ASK = "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."


def filler(name: str, value: Any, of_number: Any, of_tensor: Any) -> Any:
    """Return the op that fills with a number, or that which fills with a tensor of one."""
    if isinstance(value, NUMBERS):
        return of_number
    if value._data.ndim:
        raise RuntimeError(
            f"{name}_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._data.ndim} dimension(s)."
        )
    return of_tensor


def scatterer(src: Any, value: Any, reduce: Any) -> tuple[Any, Any]:
    """Return the op of `scatter`, and its last argument."""
    if reduce is not None:
        raise without("scatter", "reduce")
    given = value if src is None else src
    op = indexing_along.scatter_src if isinstance(given, TensorBase) else indexing_along.scatter_value
    return op, given


def checked(result: Any, index: Any, src: Any) -> Any:
    """`result`; the gradient of a `src` that is larger than `index` does not fit it, which is found out when
    it is sent.
    """
    node = result._fn
    if isinstance(src, TensorBase) and node is not None and src._data.shape != index._data.shape:
        node._extra_made.unpacks = True
    return result


def listed(indices: Any) -> Tensors:
    """The indices of `index_put`; TypeError unless they are a list of tensors."""
    if not isinstance(indices, (tuple, list)) or not all(isinstance(i, TensorBase) for i in indices):
        raise TypeError("indices must be a tuple of tensors")
    return Tensors(indices)


# ── functions
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public("function method function_ method_")
@choice
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Return a copy with `values`, broadcast, at `indices` (a tuple of tensors), or with them added there."""
    return indexing.index_put, (input, listed(indices), values, accumulate)


@public("function method method_", out="same")
@choice
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Return a copy with `alpha` times the parts of `source` along `dim` added at the places `index`."""
    return indexing_along.index_add, (input, dim, index, source, alpha)


@public("function method method_")
@choice
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """Return a copy with `value` in the parts along `dim` at the places `index`."""
    call = filler("index_fill", value, indexing_along.index_fill, indexing_along.index_fill_tensor)
    return call, (input, dim, index, value)


@public("function method method_")
@choice
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """Return a copy of `input` with `value` where `mask` is true.

    Args:
        input: a tensor of any shape.
        mask: a boolean tensor that broadcasts with `input`.
        value: a number or a 0-dim tensor.
    Shape: the broadcast shape of `input` and `mask`.
    Returns: a new tensor.
    Raises: RuntimeError if `mask` is not boolean or does not broadcast.
    Derivative: `g` where `mask` is false, else 0; `value` receives the sum of the rest.
    Source: torch.masked_fill

    >>> torch.tensor([1.0, 2.0]).masked_fill(torch.tensor([True, False]), 0.0)
    tensor([0., 2.])
    """
    call = filler("masked_fill", value, copies.masked_fill, copies.masked_fill_tensor)
    return call, (input, mask, value)


@public(out="same")
def scatter(
    input: Any, dim: int, index: Any, src: Any = None, value: Any = None, *, reduce: str | None = None
) -> Any:
    """Return a copy in which `src` or `value` is written at `index` along `dim`.

    Args:
        input: a tensor of any shape.
        dim: the dimension to index.
        index: an int64 tensor with as many dimensions as `input`.
        src: a tensor at least as large as `index`.
        value: a number to write, if there is no `src`.
        reduce: "add" or "multiply" to combine old and new elements.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if an index is out of range or the sizes do not fit.
    Derivative: `g` with 0 at `index` for `input`, `g.gather(dim, index)` for `src`.
    Source: torch.scatter

    >>> torch.zeros(1, 3).scatter(1, torch.tensor([[2, 0]]), 5.0)
    tensor([[5., 0., 5.]])
    """
    op, given = scatterer(src, value, reduce)
    return checked(op(input, dim, index, given), index, given)


@public(out="same")
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """Return a copy with the elements of `src` added at the places `index` along `dim`."""
    return checked(indexing_along.scatter_add(input, dim, index, src), index, src)


@public(out="same")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Return the indices of the elements that are not 0.

    Args:
        input: a tensor of any shape.
        as_tuple: whether to return one index tensor for each dimension.
    Shape: (n, d) for n such elements of a tensor of d dimensions.
    Returns: an int64 tensor, or a tuple of d vectors.
    Raises: nothing of its own.
    Source: torch.nonzero

    >>> torch.tensor([0, 3, 0, 4]).nonzero()
    tensor([[1],
            [3]])
    """
    must_be_tensor("nonzero", input)
    refuse_batched(input, f"Attempted to vmap over aten::nonzero. {ASK}")
    if not as_tuple:
        return copies.nonzero(input)
    return F.unbind(copies.nonzero(input if input._data.ndim else F.unsqueeze(input, 0)), 1)


@public()
def argwhere(input: Any) -> Any:
    """Return the places of the elements that are not 0, a row of indices for each."""
    return nonzero(input)


@public("function", out="same")
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Return `input` where `condition` is true, else `other`; of `condition` alone, its indices.

    Args:
        condition: a boolean tensor.
        input: a tensor or a number.
        other: a tensor or a number.
    Shape: the broadcast shape of all three.
    Returns: a new tensor; of `condition` alone a tuple of index tensors, one for each dimension.
    Raises: RuntimeError if `condition` is not boolean or the shapes do not broadcast.
    Derivative: `g` where `condition` is true for `input`, elsewhere for `other`.
    Source: torch.where

    >>> torch.where(torch.tensor([True, False]), torch.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """
    if input is None and other is None:
        refuse_batched(condition, f"Attempted to vmap over aten::where. {ASK}")
        return nonzero(condition, as_tuple=True)
    tensors = [x for x in (input, other) if isinstance(x, TensorBase)]
    condition = held(condition)
    for t in tensors:
        check_broadcast(condition._data.shape, t._data.shape)
    if not tensors:
        number = result_type(input, other).type
        input, other = wrap(number(input)), wrap(number(other))
    return F.where(condition, input, other)


def held(condition: Any) -> Any:
    """Return a condition as bools; RuntimeError with PyTorch's text for other numbers than bytes."""
    kind = of(condition._data)
    if kind.name == "uint8":
        return wrap(numbers(condition) != 0)
    if kind.name != "bool":
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind.title}"
        )
    return condition


# ── methods
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@public("method", name="where")
def where_method(self, condition: Any, other: Any) -> Any:
    """Return the tensor where `condition` is true, else `other`.

    Args:
        condition: a boolean tensor.
        other: a tensor or a number.
    Shape: the broadcast shape of all three.
    Returns: a new tensor.
    Raises: RuntimeError if `condition` is not boolean or the shapes do not broadcast.
    Derivative: `g` where `condition` is true for the tensor, elsewhere for `other`.
    Source: torch.Tensor.where

    >>> torch.tensor([1.0, 2.0]).where(torch.tensor([True, False]), 0.0)
    tensor([1., 0.])
    """
    return where(condition, self, other)


@public("method")
def scatter_(
    self, dim: int, index: Any, src: Any = None, value: Any = None, *, reduce: str | None = None
) -> Any:
    """Write `src` or `value` at `index` along `dim` in place and return the tensor.

    Args:
        dim: the dimension to index.
        index: an int64 tensor with as many dimensions as the tensor.
        src: a tensor at least as large as `index`.
        value: a number to write, if there is no `src`.
        Shape: that of the tensor.
    Returns: the tensor itself.
    Raises: RuntimeError if the tensor is a leaf that requires a gradient. RuntimeError if an index is out
        of range.
    Derivative: `g` with 0 at `index` for the tensor, `g.gather(dim, index)` for `src`.
    Source: torch.Tensor.scatter_

    >>> torch.zeros(1, 3).scatter_(1, torch.tensor([[2, 0]]), 5.0)
    tensor([[5., 0., 5.]])
    """
    op, given = scatterer(src, value, reduce)
    return checked(in_place(op.op, self, dim, index, given), index, given)


@public("method")
def scatter_add_(self, dim: int, index: Any, src: Any) -> Any:
    """Add the elements of `src` at the places `index` along `dim`."""
    return checked(in_place(indexing_along.scatter_add.op, self, dim, index, src), index, src)
