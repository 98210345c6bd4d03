"""Elements in other positions, or several times: flips, rotations, repetitions, triangles, padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, calls, differentiable, itself, zeros
from ..core.devices import contiguous_format
from ..core.guards import check_has_dimensions, check_images, check_length, check_sizes, refuse
from ..core.public import public, shown_as
from ..core.tensor_state import numbers, wrap
from . import views as vw
from .arguments import fitting
from .kernels import linear_op
from .reductions import over
from .shapes import place
from .views import flatten

# ─── Elements in other places, or several times: flips, rotations, repetitions, triangles, and borders:
# of one number, of the tensor's own elements mirrored, or of its outermost ones


# ── turned round
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@linear_op(name="flip", self=itself)
def flip_op(self, dims):
    """Return a copy with the elements in reverse order along `dims`."""
    return np.flip(self, over(dims, self.ndim) if dims else ()).copy()


@linear_op(
    name="roll",
    self=lambda g, shifts, dims: F.roll(g, tuple(-n for n in reversed(shifts)), tuple(reversed(dims))),
)
def roll_op(self, shifts, dims):
    """Return a copy with the elements moved on by `shifts` along `dims` (of the flattened tensor for ()),
    those that leave at the end coming in at the beginning.
    """
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) == len(dims) == 1 and not self.size:
        return self.copy()
    if len(shifts) != len(dims) and (dims or len(shifts) > 1):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    for d in dims:
        check_has_dimensions(self.ndim, d)
        place(d, self.ndim)
    return np.roll(self, shifts, dims) if dims else np.roll(self, shifts[0])


@linear_op(name="rot90", self=lambda g, k, dims: F.rot90(g, -k, dims))
def rot90_op(self, k, dims):
    """Return a copy turned `k` quarters of a circle, from the first of two dimensions towards the second."""
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    if len(dims) != 2 or len({place(d, self.ndim) for d in dims}) != 2:
        raise RuntimeError(f"expected two different dims to rotate, but got dims = {tuple(dims)}")
    return np.rot90(self, k, dims).copy("K")  # lies as PyTorch's


# ── repeated
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def repeat_vjp(g, self_sym_sizes, repeats):
    """Return the sum over all repetitions."""
    if min(repeats, default=1) < 1:
        return F.zeros_of(g, self_sym_sizes)
    lead = len(repeats) - len(self_sym_sizes)
    for _ in range(lead):
        g = F.sum_dim(g, (0,), False)
    sizes: list[int] = []  # each repetition in a dimension of its own
    repeated: list[int] = []
    for times, n in zip(repeats[lead:], self_sym_sizes, strict=True):
        if times != 1:
            repeated.append(len(sizes))
            sizes.append(times)
        sizes.append(n)
    g = F.reshape(g, tuple(sizes))
    return F.sum_dim(g, tuple(repeated), False) if repeated else g


@linear_op(name="repeat", self=repeat_vjp)
def repeat_op(self, repeats):
    """Return a copy that repeats the whole tensor `repeats` times along each dimension, new ones in
    front.
    """
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    shape = (1,) * (len(repeats) - self.ndim) + self.shape
    check_sizes(tuple(n * m for n, m in zip(repeats, shape)))
    return np.tile(self, np.maximum(repeats, 0))[()]


# ── triangles
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_matrix(self: Any, name: str) -> None:
    """RuntimeError with PyTorch's text for less than two dimensions."""
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@linear_op(self=itself, forms="function method method_", out="same")
def tril(self, diagonal=0):
    """Return the lower triangle of a matrix, or of each matrix in a batch, with 0 above the diagonal.

    Args:
        input: a tensor of at least two dimensions.
        diagonal: 0 for the main diagonal; a positive number lies above it, a negative one below.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError for fewer than two dimensions.
    Derivative: `tril(g, diagonal)`.
    Source: torch.tril

    >>> torch.tril(torch.ones(2, 2))
    tensor([[1., 0.],
            [1., 1.]])
    """
    check_matrix(self, "tril")
    return np.tril(self, diagonal)


@linear_op(self=itself, forms="function method method_", out="same")
def triu(self, diagonal=0):
    """Return the upper triangle of a matrix, or of each matrix in a batch, with 0 below the diagonal.

    Args:
        input: a tensor of at least two dimensions.
        diagonal: 0 for the main diagonal; a positive number lies above it, a negative one below.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError for fewer than two dimensions.
    Derivative: `triu(g, diagonal)`.
    Source: torch.triu

    >>> torch.triu(torch.ones(2, 2))
    tensor([[1., 1.],
            [0., 1.]])
    """
    check_matrix(self, "triu")
    return np.triu(self, diagonal)


# ── borders of one number
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def borders(pad: Any, ndim: int) -> list[tuple[int, int]]:
    """How much is put before and after along each dimension; `pad` begins with the last one."""
    pairs = list(zip(pad[::2], pad[1::2]))
    return [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]


def check_pad(self: Any, pad: Any) -> None:
    """RuntimeError with PyTorch's text for borders that do not fit."""
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length "
            f"is {len(pad)} while the input has {self.ndim} dimensions."
        )
    for n, (before, after) in zip(self.shape, borders(pad, self.ndim)):
        check_length(n + min(before, 0) + min(after, 0))  # it is cut before it grows


@differentiable(
    self=lambda g, pad: F.constant_pad_nd(g, tuple(-n for n in pad), 0),
    forms="function",
    out="",
)
def constant_pad_nd(self, pad, value=0):
    """Return a copy with borders of `value`: `pad` has the widths before and after along the last dimension,
    then those along the last but one and so on; negative ones cut off.
    """
    check_pad(self, pad)
    around = borders(pad, self.ndim)
    number = np.asarray(fitting(value, self.dtype)).astype(self.dtype)
    out = np.full([n + a + b for n, (a, b) in zip(self.shape, around)], number, self.dtype)
    if out.size:
        inside = (np.s_[max(a, 0) : n - max(b, 0)] for n, (a, b) in zip(out.shape, around))
        kept = (np.s_[max(-a, 0) : n - max(-b, 0)] for n, (a, b) in zip(self.shape, around))
        out[tuple(inside)] = self[tuple(kept)]
    return out[()]


# ── borders of the tensor's own elements
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def mirror_indices(n: int, before: int, after: int) -> Any:
    """Return the places that fill a border like a mirror at the outermost element, which is not repeated."""
    places = np.abs(np.arange(-before, n + after))
    return n - 1 - np.abs(n - 1 - places)


def outermost(n: int, before: int, after: int) -> Any:
    """Return the places that fill a border with the outermost element."""
    return np.clip(np.arange(-before, n + after), 0, n - 1)


def border_indices(way: Any, shape: Any, padding: Any) -> tuple[Any, ...]:
    """Return the NumPy index of each element after padding the last dimensions of `shape`."""
    around = borders(padding, len(padding) // 2)
    return (..., *np.ix_(*(way(n, a, b) for n, (a, b) in zip(shape[-len(around) :], around))))


TOO_SMALL = {
    1: "input (W: {}) is too small. Calculated output W: {}",
    2: "input (H: {}, W: {}) is too small. Calculated output H: {} W: {}",
    3: "input (D: {} H: {}, W: {}) is too small. Calculated output D: {} H: {} W: {}",
}


def check_filled(self: Any, padding: Any, name: str, is_mirror: bool) -> None:
    """RuntimeError with PyTorch's text for a tensor that is too small for its borders."""
    k = len(padding) // 2
    check_images(self, k)
    refuse(self, name)
    for i in range(k):
        dim, before, after = self.ndim - 1 - i, padding[2 * i], padding[2 * i + 1]
        if is_mirror and max(before, after) >= self.shape[dim]:
            raise RuntimeError(
                f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({before}, {after}) at dimension {dim} of input {list(self.shape)}"
            )
    sizes = [n + a + b for n, (a, b) in zip(self.shape[-k:], borders(padding, k))]
    if max(sizes) < 1:
        raise RuntimeError(TOO_SMALL[k].format(*self.shape[-k:], *sizes))
    check_sizes((*self.shape[:-k], *sizes))


def declare_pad(way: Any, title: str, gradient: str) -> None:
    """Declare padding, and what gathers its gradients."""
    vjp = calls(gradient, "self", "padding")

    # the numbers of `self` do not matter, so they are not conjugated
    @linear_op(name=title, self=vjp, complexes=True)
    def pad(self, padding):
        """Return the tensor with borders that are filled with its own elements."""
        check_filled(self, padding, title, way is mirror_indices)
        return np.ascontiguousarray(self[border_indices(way, self.shape, padding)])

    @linear_op(name=gradient, grad_output=calls(title, "padding"), self=zeros)
    def backward(grad_output, self, padding):
        """Return the gradient: each number added to the element in its place."""
        out = np.zeros(self.shape, grad_output.dtype)
        np.add.at(out, border_indices(way, self.shape, padding), grad_output)
        return out


declare_pad(mirror_indices, "reflection_pad1d", "reflection_pad1d_backward")
declare_pad(mirror_indices, "reflection_pad2d", "reflection_pad2d_backward")
declare_pad(mirror_indices, "reflection_pad3d", "reflection_pad3d_backward")
declare_pad(outermost, "replication_pad1d", "replication_pad1d_backward")
declare_pad(outermost, "replication_pad2d", "replication_pad2d_backward")
declare_pad(outermost, "replication_pad3d", "replication_pad3d_backward")


# ─── Functions and methods that move or repeat elements


@public("function")
def flip(input: Any, dims: Any) -> Any:
    """Return a copy with the elements in reverse order along `dims`.

    Args:
        input: a tensor of any shape.
        dims: the dimensions, a list or tuple.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: IndexError if there is no such dimension.
    Derivative: `g.flip(dims)`.
    Source: torch.flip

    >>> torch.flip(torch.tensor([1, 2, 3]), [0])
    tensor([3, 2, 1])
    """
    return flip_op(input, dims)


@public()
def fliplr(input: Any) -> Any:
    """Return a copy with the second dimension in reverse order; RuntimeError for less than two dimensions."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip_op(input, (1,))


@public()
def flipud(input: Any) -> Any:
    """Return a copy with the first dimension in reverse order; RuntimeError for a number."""
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip_op(input, (0,))


@public()
def roll(input: Any, shifts: Any, dims: Any = ()) -> Any:
    """Return a copy with the elements shifted along `dims`; what leaves at the end comes back at the start.

    Args:
        input: a tensor of any shape.
        shifts: by how many positions, a number or one for each dimension.
        dims: the dimensions; None to shift the flattened tensor.
    Shape: the same as that of `input`.
    Returns: a new tensor.
    Raises: RuntimeError if `shifts` and `dims` have different lengths.
    Derivative: `g.roll(-shifts, dims)`.
    Source: torch.roll

    >>> torch.roll(torch.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    return roll_op(input, shifts, dims or ())


@public()
def rot90(input: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Return a copy turned `k` quarters of a circle in the plane of two dimensions."""
    return rot90_op(input, k, dims)


@public("function")
def tile(input: Any, dims: Any) -> Any:
    """Return a copy that repeats the tensor `dims` times along its last dimensions, or new ones in
    front.
    """
    return repeat_op(input, (1,) * (input.ndim - len(dims)) + dims)


@public()
def repeat_interleave(
    input: Any = None, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Any:
    """Return a copy with each element, or each part along `dim`, repeated.

    Args:
        input: a tensor of any shape; without it, the indices of the parts are repeated.
        repeats: how often, a number or a tensor with one number for each part.
        dim: the dimension; None for the flattened tensor.
        output_size: the size of the result along `dim`, if it is known.
    Shape: longer along `dim`; a vector without `dim`.
    Returns: a new tensor.
    Raises: RuntimeError if `repeats` does not fit the size.
    Derivative: the sum of `g` over the repetitions.
    Source: torch.repeat_interleave

    >>> torch.repeat_interleave(torch.tensor([1, 2]), 2)
    tensor([1, 1, 2, 2])
    """
    if repeats is None or input is None:
        return indices_repeated(input if repeats is None else repeats, output_size)
    if dim is None:
        input, dim = flatten(input), 0
    if isinstance(repeats, int):
        return repeat_each(input, repeats, dim, output_size)
    shape = input._data.shape or (1,)
    counts = F.expand(repeats, (shape[place(dim, len(shape))],))  # one count may stand for all
    return F.index_select(input, dim, indices_repeated(counts, output_size))


def indices_repeated(repeats: Any, output_size: int | None) -> Any:
    """`0` the first number of times, `1` the second, and so on."""
    counts = numbers(repeats)
    refuse(counts, "repeat_interleave_cpu")
    if counts.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")
    check_size(int(counts.sum()), output_size)
    return wrap(np.repeat(np.arange(len(counts), dtype=counts.dtype), counts))


def check_size(size: int, expected: int | None) -> None:
    """RuntimeError with PyTorch's text unless the result is as long as it was said to be."""
    if expected is not None and size != expected:
        raise RuntimeError(f"repeat_interleave: Invalid output_size, expected {size} but got {expected}")


def repeat_each(input: Any, repeats: int, dim: int, output_size: int | None) -> Any:
    """Each part along `dim` the same number of times, by the ops that PyTorch takes."""
    input = input if input.ndim else F.reshape(input, (1,))
    shape, dim = input._data.shape, place(dim, input.ndim)
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    check_size(shape[dim] * repeats, output_size)
    rows = F.expand(F.unsqueeze(input, dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
    return F.view(F.clone(rows, contiguous_format), (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))


@public(out="same")
def diag(input: Any, diagonal: int = 0) -> Any:
    """Return the diagonal of a matrix, or a matrix with a vector on its diagonal.

    Args:
        input: a vector or a matrix.
        diagonal: 0 for the main diagonal; a positive number lies above it, a negative one below.
    Shape: (n,) → (n, n); (n, m) → (min(n, m),) for diagonal 0.
    Returns: a new tensor.
    Raises: RuntimeError for more than two dimensions.
    Derivative: `diag(g, diagonal)`.
    Source: torch.diag

    >>> torch.diag(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    if input.ndim == 1:
        return vw.diag_embed(input, diagonal)
    return vw.diagonal_copy(input, diagonal)


@public()
def diagflat(input: Any, offset: int = 0) -> Any:
    """Return the matrix with all elements, one after the other, on its diagonal."""
    return vw.diag_embed(F.view(input.contiguous(), (-1,)), offset)


@public("method", name="flip")
def flip_method(self, dims: Any) -> Any:
    """Return a copy with the elements in reverse order along `dims`.

    Args:
        dims: the dimensions, one by one or in a list.
    Shape: that of the tensor.
    Returns: a new tensor.
    Raises: IndexError if there is no such dimension.
    Derivative: `g.flip(dims)`.
    Source: torch.Tensor.flip

    >>> torch.tensor([1, 2, 3]).flip(0)
    tensor([3, 2, 1])
    """
    return flip_op(self, dims)


@public("method")
@shown_as(lambda self, *repeats: None)
def repeat(self, repeats: Any) -> Any:
    """Return a copy in which the tensor is repeated along each dimension.

    Args:
        repeats: how often, one number for each dimension; more numbers add dimensions in front.
    Shape: each size multiplied by its number.
    Returns: a new tensor.
    Raises: RuntimeError for fewer numbers than dimensions.
    Derivative: the sum of `g` over the repetitions.
    Source: torch.Tensor.repeat

    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    return repeat_op(self, repeats)


@public("method", name="tile")
def tile_method(self, dims: Any) -> Any:
    """Return a copy in which the tensor is repeated along its last dimensions.

    Args:
        dims: how often, one number for each of the last dimensions.
    Shape: each size multiplied by its number.
    Returns: a new tensor.
    Raises: RuntimeError for a negative number.
    Derivative: the sum of `g` over the repetitions.
    Source: torch.Tensor.tile

    >>> torch.tensor([1, 2]).tile(2)
    tensor([1, 2, 1, 2])
    """
    return tile(self, dims)


@public("method")
@shown_as(lambda self, *size: None)
def sum_to_size(self, size: Any) -> Any:
    """Return the sum over the dimensions along which a tensor of that size would be broadcast to this
    one.
    """
    own = self._data.shape
    lead = len(own) - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, own[lead:])):
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(own)}}}.")
    return self if size == own != () else F.sum_to(self, size)
