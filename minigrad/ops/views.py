"""Views that show some elements: parts of a dimension, diagonals, windows.

The in-place forms, which turn a tensor itself (`t_()`, `unsqueeze_()`, …), have nodes of their own. They are
declared here; `inplace.in_place_view` runs them.
"""

from __future__ import annotations

import math
import operator
import sys
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as numpy_as_strided

from ..core import RAW, F, calls, composite, dialect, differentiable, is_symbol
from ..core.call import check_edges
from ..core.dtypes import of
from ..core.guards import check_length
from ..core.public import public
from ..core.storage import Geometry, address, root
from ..core.storage import strided_part as strided
from ..core.tensor_state import TensorBase, numbers, share, wrap
from . import shapes as shape
from .copies import dtype_of_value
from .kernels import linear_op, view_op
from .reductions import over
from .shapes import after_rows, place

# ─── Selecting parts of a tensor as views: `select`, `slice` and `as_strided`


ALL = np.s_[:]
END = sys.maxsize  # where a slice ends that goes up to the end, as PyTorch notes it


@view_op(self=calls("select_backward", "self_sym_sizes", "dim", "index"))
def select(self, dim, index):
    """Select `index` along `dim` and remove that dimension."""
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    front = place(dim, self.ndim)
    n = self.shape[front]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {front}"
        )
    return self[(ALL,) * front + (index, ...)] if front else self[index, ...]


@linear_op(grad_output=lambda g, dim, index: F.select(g, dim, index))
def select_backward(grad_output, input_sizes, dim, index):
    """Return zeros of shape `input_sizes` with `grad_output` at `index` along `dim`."""
    out = np.zeros(input_sizes, grad_output.dtype)
    out[(ALL,) * (dim % out.ndim) + (index,)] = grad_output
    return out


@view_op(
    self=lambda g, self_sym_sizes, dim, start, end, step: F.slice_backward(
        g, self_sym_sizes, dim, start or 0, END if end is None else end, step
    ),
    rows={
        "self": lambda g, self_sym_sizes, dim, start, end, step: F.slice_backward(
            g, (len(g), *self_sym_sizes), after_rows(dim), start, end, step
        )
    },
)
def slice(self, dim, start, end, step):
    """Return every `step`-th part from `start` up to `end` along `dim`."""
    return self[(ALL,) * place(dim, self.ndim) + (np.s_[start:end:step],)]


@linear_op(
    grad_output=lambda g, dim, start, end, step: F.slice(g, dim, start, end, step),
    rows={"grad_output": lambda g, dim, start, end, step: F.slice(g, after_rows(dim), start, end, step)},
)
def slice_backward(grad_output, input_sizes, dim, start, end, step):
    """Return zeros of shape `input_sizes` with `grad_output` in the slice."""
    out = np.zeros(input_sizes, grad_output.dtype)
    out[(ALL,) * (dim % out.ndim) + (np.s_[start:end:step],)] = grad_output
    return out


@view_op(
    self=calls(
        "as_strided_backward", "self_sym_sizes", "self_sym_strides", "size", "stride", "storage_offset"
    )
)
def as_strided(self, size, stride, storage_offset):
    """Return the part of the tensor's memory that has this shape, these strides and this offset, all in
    elements.

    The offset counts from the tensor's first element; None stands for 0.
    """
    return strided(self, Geometry(tuple(size), tuple(stride), storage_offset or 0))


for hidden in ("sizes", "strides"):  # PyTorch's node does not show them
    delattr(as_strided.op.node, "_saved_self_sym_" + hidden)


def reach(size: Any, stride: Any) -> int:
    """How many elements of memory an array needs from its first element on."""
    return 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if prod(size) else 0


def overlaps(dims: list[tuple[int, int]]) -> bool:
    """Whether elements along dimensions of these (size, stride) may share a place, as PyTorch decides it."""
    last = 0
    for n, step in sorted(dims, key=operator.itemgetter(1)):
        if step <= last:
            return True
        last += step * (n - 1)
    return False


@composite
def as_strided_backward(g: Any, sizes: Any, strides: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    """Zeros of shape `sizes`, lying as `strides` says, with `g` added to the part that `as_strided` shows; in
    the ops PyTorch uses. Where elements of the whole lie in one place, each gets an equal share.
    """
    if is_symbol(g):
        return g.__minigrad_symbol__(as_strided_backward, (g, sizes, strides, size, stride, storage_offset))
    if 0 in g.shape or 0 in sizes:
        return F.zeros_of(g, sizes)
    start, begin = max(0, -(storage_offset or 0)), max(0, storage_offset or 0)
    length = max(start + reach(sizes, strides), begin + reach(size, stride), 1)
    kept: list[tuple[int, int]] = []
    for i in reversed(range(len(size))):
        if size[i] == 1:
            g = F.squeeze_dim(g, i)
        elif stride[i] == 0:
            g = F.sum_dim(g, (i,), False)
        else:
            kept.insert(0, (size[i], stride[i]))
    part = Geometry(tuple([n for n, _ in kept]), tuple([s for _, s in kept]), begin)
    whole = Geometry(tuple(sizes), tuple(strides), start)
    is_raw, memory = isinstance(g, RAW), F.zeros_of(g, (length,))
    if overlaps(kept):
        places = strided(np.arange(length), part).flatten()
        where, flat = places if is_raw else wrap(places), F.reshape(g, (-1,))
        memory = F.into_zeros(g, (length,), "index_add", 0, where, flat, 1)
    elif is_raw:
        strided(memory, part)[...] = g
    else:
        F.in_place(F.copy.op, F.as_strided(memory, *part), g)
    if overlaps([(n, s) for n, s in zip(sizes, strides, strict=True) if n > 1]):
        count = np.bincount(strided(np.arange(length), whole).flatten(), minlength=length)
        count = count.astype(dtype_of_value(g))
        memory = memory / count if is_raw else F.in_place(F.div.op, memory, wrap(count))
    return F.as_strided(memory, *whole)


# ─── Views that show some elements, or the same elements in another order: diagonals, windows, complex
# parts


def diagonal_of(self: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Return the diagonal as a writable array on the same memory."""
    first, second = place(dim1, self.ndim), place(dim2, self.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    rows, columns = self.shape[first], self.shape[second]
    n = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    cut: list[Any] = [np.s_[:]] * self.ndim
    if n:
        cut[first], cut[second] = np.s_[max(0, -offset) :], np.s_[max(0, offset) :]
    part = np.moveaxis(self[tuple(cut)], (first, second), (-2, -1))
    step = part.strides[-2] + part.strides[-1]
    return numpy_as_strided(part, (*part.shape[:-2], n), (*part.strides[:-2], step))


diagonal_vjp = calls("diagonal_backward", "self_sym_sizes", "offset", "dim1", "dim2")


@view_op(self=diagonal_vjp, kernel=diagonal_of, forms="function method", out="")
def diagonal(self, offset=0, dim1=0, dim2=1):
    """Return the elements whose index in `dim2` is that in `dim1` plus `offset`, along a new last
    dimension.
    """


@linear_op(self=diagonal_vjp, node="DiagonalBackward0_copy")
def diagonal_copy(self, offset=0, dim1=0, dim2=1):
    """Return a copy of `diagonal`, which is what `diag` gives of a matrix."""
    return diagonal_of(self, offset, dim1, dim2).copy()


@linear_op(grad_output=calls("diagonal", "offset", "dim1", "dim2"))
def diagonal_backward(grad_output, input_sizes, offset, dim1, dim2):
    """Return zeros of shape `input_sizes` with `grad_output` on the diagonal."""
    out = np.zeros(input_sizes, grad_output.dtype)
    diagonal_of(out, offset, dim1, dim2)[...] = grad_output
    return out


@linear_op(self=calls("diagonal", "offset", "dim1", "dim2"), forms="function method", out="")
def diag_embed(self, offset=0, dim1=-2, dim2=-1):
    """Return matrices with the last dimension on their diagonal and zeros elsewhere."""
    n = self.ndim + 1
    first, second = place(dim1, n), place(dim2, n)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = self.shape[-1] + abs(offset)
    rest = iter(self.shape[:-1])
    out = np.zeros([size if d in (first, second) else next(rest) for d in range(n)], self.dtype)
    diagonal_of(out, offset, dim1, dim2)[...] = self
    return out


def windows(self: Any, dimension: int, size: int, step: int) -> Any:
    """All windows along a dimension as a writable array on the same memory."""
    dim = place(dimension, self.ndim)
    length = self.shape[dim] if self.ndim else 1
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if not self.ndim:
        return numpy_as_strided(self, (size,), (self.itemsize,))
    shape, strides = list(self.shape), list(self.strides)
    shape[dim] = (length - size) // step + 1
    strides[dim] *= step
    return numpy_as_strided(self, (*shape, size), (*strides, self.strides[dim]))


@view_op(self=calls("unfold_backward", "self_sym_sizes", "dimension", "size", "step"), kernel=windows)
def unfold(self, dimension, size, step):
    """Return all windows of `size` along `dimension`, `step` apart, their elements along a new last
    dimension.
    """


@linear_op(grad_in=calls("unfold", "dim", "size", "step"))
def unfold_backward(grad_in, input_sizes, dim, size, step):
    """Return zeros of shape `input_sizes` to which every window of `grad_in` is added in its place."""
    out = np.zeros(input_sizes, grad_in.dtype)
    np.add.at(windows(out, dim, size, step), (), grad_in)
    return out


def unsqueeze_dims(g: Any, dims: Any, sizes: tuple[int, ...]) -> Any:
    """Return the gradient of a squeeze: with the removed dimensions of `dims` put back."""
    for d in sorted(d % len(sizes) for d in dims) if sizes else ():
        if sizes[d] == 1:
            g = F.unsqueeze(g, d)
    return g


@view_op(self=lambda g, self_sym_sizes, dim: unsqueeze_dims(g, dim, self_sym_sizes), node="SqueezeBackward2")
def squeeze_dims(self, dim):
    """Remove those of several dimensions whose size is 1."""
    return np.squeeze(self, tuple(d for d in over(dim, self.ndim) if self.shape[d] == 1) if dim else ())


def parts_of_complex(self: np.ndarray) -> np.ndarray:
    """Return a complex array as a real one with a last dimension of 2."""
    real = of(np.empty(0, self.dtype.type(0).real.dtype)).numpy
    shape, strides = (*self.shape, 2), (*self.strides, real.itemsize)
    return numpy_as_strided(self[..., None][..., :1].view(real), shape, strides)


def complex_of_parts(self: np.ndarray) -> np.ndarray:
    """Return a real array whose last dimension is 2 as a complex one; RuntimeError in PyTorch's words."""
    kind = {"float16": None, "float32": np.complex64, "float64": np.complex128}.get(self.dtype.name)
    if kind is None:
        raise RuntimeError(
            f"view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            f"scalar type: {of(self).title}"
        )
    if self.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if not self.size:
        return np.empty(self.shape[:-1], kind)
    if self.strides[-1] != self.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s // self.itemsize % 2 for s, n in zip(self.strides[:-1], self.shape) if n):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if (address(self) - address(root(self))) % (2 * self.itemsize):
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return self.view(kind)[..., 0]


@view_op(
    self=lambda g, self_sym_sizes, dim: unsqueeze_dims(g, (dim,), self_sym_sizes),
    node="SqueezeBackward1",
)
def squeeze_dim(self, dim):
    """Remove dimension `dim` if its size is 1."""
    dim = place(dim, self.ndim)
    return self.squeeze(dim) if self.ndim and self.shape[dim] == 1 else np.asarray(self)


@linear_op(
    self=lambda g, self_sym_sizes, dim: unsqueeze_dims(g, (dim,), self_sym_sizes), node="SqueezeBackward4"
)
def squeeze_result(self, dim):
    """Return `squeeze_dim` in place."""
    return squeeze_dim.op.kernel(self, dim)


@view_op(
    self=lambda g, self_sym_sizes: unsqueeze_dims(g, range(len(self_sym_sizes)), self_sym_sizes),
    node="SqueezeBackward0",
)
def squeeze_all(self):
    """Return the tensor without its dimensions of size 1."""
    return np.squeeze(self)


@view_op(self=lambda g: g, jvp=lambda self_t: self_t)
def alias(self):
    """Return the same tensor once more: `t[...]`."""
    return self[...] if isinstance(self, np.ndarray) else self


@differentiable(self=lambda g: g, node="Identity", view=True)
def fw_primal(self):
    """Return the same tensor without its tangent: what `forward_ad.unpack_dual` gives as primal."""
    return self[...] if isinstance(self, np.ndarray) else self


def in_place_form(name: str, call: Any, node: str, kernel: Any = None) -> Any:
    """Return the in-place form of a view op, with a node of its own."""
    op = call.op
    return view_op(name=name, node=node, kernel=kernel or op.kernel, **op.vjps)(call.__wrapped__).op


def transpose_matrix(self: Any) -> Any:
    """Return a matrix transposed; the error names the op in place."""
    if self.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


t_ = in_place_form("t_", shape.t, "TBackward1", transpose_matrix)
transpose_ = in_place_form("transpose_", shape.transpose, "TransposeBackward1")
unsqueeze_ = in_place_form("unsqueeze_", shape.unsqueeze, "UnsqueezeBackward1")
squeeze_ = in_place_form("squeeze_", squeeze_all, "SqueezeBackward3")
squeeze_dim_ = squeeze_result.op
squeeze_dims_ = in_place_form("squeeze_dims_", squeeze_dims, "SqueezeBackward5")
as_strided_ = in_place_form("as_strided_", as_strided, "AsStridedBackward1")


# ─── Functions and methods that show a tensor's memory in another way, made of the ops in `ops.shapes` and
# `ops.views`


def whole_of(x: Any) -> Any:
    """Return an index given as a tensor, as a number."""
    if isinstance(x, TensorBase) and not x._data.ndim and x._data.dtype.kind in "iu":
        return int(numbers(x))
    return x


@public()
def narrow(input: Any, dim: int, start: Any, length: int) -> Any:
    """Return the part of length `length` along `dim` that begins at `start`.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
        start: the first index.
        length: how many.
    Shape: that of `input` with size `length` at `dim`.
    Returns: a view: it shares its memory with `input`.
    Raises: RuntimeError if the part leaves the dimension.
    Derivative: `g` in this part, else 0.
    Source: torch.narrow

    >>> torch.tensor([1, 2, 3, 4]).narrow(0, 1, 2)
    tensor([2, 3])
    """
    data = input._data
    start = whole_of(start)
    if isinstance(start, TensorBase):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    if not data.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    check_length(length)
    n = data.shape[place(dim, data.ndim)]
    if not -n <= start <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {start})")
    start += n if start < 0 else 0
    if start + length > n:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return F.slice(input, dim, start, start + length, 1)


@public()
def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Return the tensor with two dimensions exchanged: `transpose`, with NumPy's names for its parameters.

    Args:
        input: a tensor.
        axis0, axis1: the dimensions to exchange.
    Shape: that of `input` with the two sizes exchanged.
    Returns: a view.
    Raises: IndexError if a dimension is out of range.
    Source: torch.swapaxes

    >>> torch.zeros(2, 3).swapaxes(0, 1).shape
    torch.Size([3, 2])
    """
    return shape.transpose(input, axis0, axis1)


@public(also="moveaxis")
def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Return some dimensions moved to other places, the rest in their order."""
    n = input._data.ndim
    sources, targets = ([x] if isinstance(x, int) else list(x) for x in (source, destination))
    if len(sources) != len(targets):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({sources} dims) should contain the same "
            f"number of dims as destination ({targets} dims)"
        )
    taken, put = [place(d, n) for d in sources], [place(d, n) for d in targets]
    for name, given, dims in (("source", sources, taken), ("destination", targets, put)):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({given})")
    if not n:
        return F.alias(input)
    order = dict(zip(put, taken))
    rest = iter(d for d in range(n) if d not in taken)
    return shape.permute(input, tuple(order[d] if d in order else next(rest) for d in range(n)))


@public()
def unflatten(input: Any, dim: int, sizes: Any) -> Any:
    """Return the tensor with one dimension split into several.

    Args:
        input: a tensor of any shape.
        dim: the dimension.
        sizes: the new sizes; one of them may be -1.
    Shape: `sizes` instead of the size at `dim`.
    Returns: a view: it shares its memory with `input`.
    Raises: RuntimeError if the sizes do not multiply to the old one.
    Derivative: `g` in the shape of `input`.
    Source: torch.unflatten

    >>> torch.arange(4).unflatten(0, (2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    data = input._data
    if not len(sizes):
        raise RuntimeError("unflatten: sizes must be non-empty")
    d = place(dim, data.ndim)
    n = data.shape[d] if data.ndim else 1
    known = math.prod(k for k in sizes if k != -1)
    if list(sizes).count(-1) > 1:
        raise RuntimeError("unflatten got an unexpected error:\nonly one dimension can be inferred")
    if (known != n) if -1 not in sizes else (not known or n % known):
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} ({n}) in the "
            "input tensor"
        )
    inner = [n // known if k == -1 else k for k in sizes]
    return shape.view(input, (*data.shape[:d], *inner, *data.shape[d + 1 :]))


@public()
def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Return the tensor with the dimensions from `start_dim` to `end_dim` merged into one.

    Args:
        input: a tensor of any shape.
        start_dim: the first of them.
        end_dim: the last of them.
    Shape: one size, the product, instead of theirs.
    Returns: a view where that is possible, else a copy; the tensor itself if there is nothing to merge.
    Raises: RuntimeError if `end_dim` lies before `start_dim`.
    Derivative: `g` in the shape of `input`.
    Source: torch.flatten

    >>> torch.flatten(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    sizes = input._data.shape
    first, last = place(start_dim, len(sizes)), place(end_dim, len(sizes))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not sizes:
        return shape.reshape(input, (1,))
    if first == last:
        return input
    return shape.reshape(input, (*sizes[:first], math.prod(sizes[first : last + 1]), *sizes[last + 1 :]))


@public()
def ravel(input: Any) -> Any:
    """Return the tensor as a vector.

    Args:
        input: a tensor of any shape.
    Shape: (n,) for n elements.
    Returns: a view where that is possible, else a copy.
    Raises: TypeError if `input` is not a tensor.
    Derivative: `g` in the shape of `input`.
    Source: torch.ravel

    >>> torch.tensor([[1, 2], [3, 4]]).ravel()
    tensor([1, 2, 3, 4])
    """
    return shape.view(input.contiguous(), (-1,))


def origin(t: Any) -> Any:
    """Return the array in whose memory `t` lies."""
    data = t._data if t._view is None else t._view.base._data
    return data if t._storage is None else root(data)


def offset_of(t: Any) -> int:
    """How many elements of the memory come before the first of `t`."""
    if not isinstance(t._data, np.ndarray):
        return 0
    return (address(t._data) - address(origin(t))) // t._data.itemsize if t._data.size else 0


@public("function method", name="as_strided")
def as_strided_view(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """Return a part of the memory by shape, strides and offset, all in elements."""
    return F.as_strided(input, *strided_place(input, size, stride, storage_offset))


def strided_place(input: Any, size: Any, stride: Any, storage_offset: int | None) -> tuple[Any, ...]:
    """Return the arguments of `as_strided`, checked; the offset from the first element of `input` on."""
    size, stride = tuple(size), tuple(stride)
    share(input)
    own = offset_of(input)
    start = own if storage_offset is None else storage_offset
    if len(size) != len(stride) or min((start, *size, *stride)) < 0:
        raise RuntimeError(
            "as_strided: expected as many sizes as strides, and nothing negative, got "
            f"sizes={list(size)}, strides={list(stride)}, offset={start}"
        )
    try:
        strided(origin(input), Geometry(size, stride, start))
    except RuntimeError:
        check_edges([input])
        raise
    return size, stride, None if storage_offset is None else start - own


def matrices(t: Any, name: str) -> bool:
    """Whether `t` has matrices to transpose: False, with a warning, for a number; an error for a vector."""
    n = t._data.ndim
    if n == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    if n == 0:
        kind = "adjoint()" if name == "adjoint()" else f"Tensor.{name}"
        rest = "This function is the identity in these cases." if name == "mT" else "Consider using x.conj()."
        dialect.warn_of_dialect(f"{kind} is deprecated on 0-D tensors. {rest}")
    return n > 0


@public()
def adjoint(input: Any) -> Any:
    """Return matrices transposed and conjugated."""
    return F.conj(shape.transpose(input, -2, -1) if matrices(input, "adjoint()") else input)


def linalg_diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Return the diagonals of the matrices in the last two dimensions."""
    return diagonal(A, offset, dim1, dim2)
