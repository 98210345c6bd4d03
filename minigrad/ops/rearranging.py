"""Elements in other places, or several times: flips, rotations, repetitions, triangles, and borders: of one
number, of the tensor's own elements mirrored, or of its outermost ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, calls, differentiable, itself, zeros
from .checks import check_images, refuse
from .copy import fitting
from .kernels import linear_op
from .reduction import over
from .shape import place

# ── turned round
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@linear_op(self=itself)
def flip(self, dims):
    """Return a copy with the elements in reverse order along `dims`."""
    return np.flip(self, over(dims, self.ndim) if dims else ()).copy()


@linear_op(self=lambda g, shifts, dims: F.roll(g, tuple(-n for n in reversed(shifts)), tuple(reversed(dims))))
def roll(self, shifts, dims):
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
        if not self.ndim:
            raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
        place(d, self.ndim)
    return np.roll(self, shifts, dims) if dims else np.roll(self, shifts[0])


@linear_op(self=lambda g, k, dims: F.rot90(g, -k, dims))
def rot90(self, k, dims):
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


@linear_op(self=repeat_vjp)
def repeat(self, repeats):
    """Return a copy in which the whole tensor stands `repeats` times along each dimension, new ones
    in front.
    """
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    shape = (1,) * (len(repeats) - self.ndim) + self.shape
    sizes = [n * m for n, m in zip(repeats, shape)]
    if min(sizes, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {sizes}")
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
        if n + min(before, 0) + min(after, 0) < 0:  # it is cut before it grows
            raise RuntimeError("narrow(): length must be non-negative.")


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


def mirrored(n: int, before: int, after: int) -> Any:
    """Return the places that fill a border like a mirror at the outermost element, which is not repeated."""
    places = np.abs(np.arange(-before, n + after))
    return n - 1 - np.abs(n - 1 - places)


def outermost(n: int, before: int, after: int) -> Any:
    """Return the places that fill a border with the outermost element."""
    return np.clip(np.arange(-before, n + after), 0, n - 1)


WAYS = {"reflection": mirrored, "replication": outermost}


def places(way: Any, shape: Any, padding: Any) -> tuple[Any, ...]:
    """Return the NumPy index of what stands where after padding the last dimensions of `shape`."""
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
    refuse(self, "b", name)
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
    if min(sizes) < 0:
        shape = [*self.shape[:-k], *sizes]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {shape}")


def declare(word: str, k: int) -> None:
    """Declare padding of the last `k` dimensions, and what gathers its gradients."""
    way, title = WAYS[word], f"{word}_pad{k}d"
    vjp = calls(title + "_backward", "self", "padding")

    # the numbers of `self` do not matter, so they are not conjugated
    @linear_op(name=title, self=vjp, complexes=True)
    def pad(self, padding):
        """Return the tensor with borders that are filled with its own elements."""
        check_filled(self, padding, title, word == "reflection")
        return np.ascontiguousarray(self[places(way, self.shape, padding)])

    @linear_op(name=title + "_backward", grad_output=calls(title, "padding"), self=zeros)
    def backward(grad_output, self, padding):
        """Return the gradient: each number added to the element that stands in its place."""
        out = np.zeros(self.shape, grad_output.dtype)
        np.add.at(out, places(way, self.shape, padding), grad_output)
        return out


for word in WAYS:
    for k in (1, 2, 3):
        declare(word, k)
