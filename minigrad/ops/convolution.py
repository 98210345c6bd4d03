"""Convolution in one to three dimensions, and its transpose, as products of matrices of windows.

With x̂ the windows of the padded input x, as columns, and W the weight, a row for each output channel:

    y = W x̂,   x̄ = put_together(Wᵀ ȳ),   W̄ = ȳ x̂ᵀ

for each group of channels. The transposed convolution is the map from ȳ to x̄.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..dtypes import of
from ..op import F, differentiable
from .halves import not_implemented, wide
from .masking import WRITTEN
from .sliding import padded, put_together, reach, seen

# ── the three products
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def columns(x: Any, kernel: Any, count: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """The windows of `x` as columns: shape (N, groups, channels · kernel elements, windows)."""
    whole = tuple(
        max(n + 2 * p, r + s * (c - 1))
        for n, p, r, s, c in zip(x.shape[2:], padding, reach(kernel, dilation), stride, count)
    )
    windows = seen(padded(x, padding, whole), kernel, stride, dilation, count)
    return windows.reshape((len(x), groups, x.shape[1] // groups * prod(kernel), prod(count)))


def grouped(y: Any, groups: int) -> Any:
    """Channels by groups, the places of windows in one dimension."""
    return y.reshape((len(y), groups, y.shape[1] // groups, prod(y.shape[2:])))


@wide
def product(a: Any, b: Any) -> Any:
    """A matrix product, rounded once."""
    return a @ b


def rows(weight: Any, groups: int) -> Any:
    """The weight as a matrix for each group."""
    return weight.reshape((groups, len(weight) // groups, prod(weight.shape[1:])))


def places(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """How many places windows have along each dimension."""
    return tuple(
        (n + 2 * p - r) // s + 1
        for n, p, r, s in zip(x.shape[2:], padding, reach(weight.shape[2:], dilation), stride)
    )


def slid(x: Any, weight: Any, count: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """y: the weight at the first `count` places of the input."""
    kernel = weight.shape[2:]
    made = rows(weight, groups) @ columns(x, kernel, count, stride, padding, dilation, groups)
    return made.reshape((len(x), len(weight), *count))


def spread(y: Any, weight: Any, size: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """x̄, its last dimensions of `size`: each element of ȳ times the weight, put where the window was."""
    parts = product(np.swapaxes(rows(weight, groups), -1, -2), grouped(y, groups))
    channels, kernel = weight.shape[1] * groups, weight.shape[2:]
    parts = parts.reshape((len(y), channels, *kernel, *y.shape[2:]))
    return put_together(parts, size, kernel, stride, padding, dilation)


def correlated(x: Any, y: Any, shape: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """W̄, of `shape`: how input and ȳ go together."""
    seen_by = columns(x, shape[2:], y.shape[2:], stride, padding, dilation, groups)
    return np.add.reduce(grouped(y, groups) @ np.swapaxes(seen_by, -1, -2), axis=0).reshape(shape)


# ── checks
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_settings(stride: Any, padding: Any, dilation: Any, output_padding: Any, groups: int) -> None:
    """RuntimeError with PyTorch's text for numbers that no convolution has."""
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(output_padding) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) < 0:
        raise RuntimeError("dilation should be greater than zero")
    if not min(dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")


def check_shapes(x: Any, weight: Any, bias: Any, transposed: bool, groups: int) -> None:
    """RuntimeError with PyTorch's text for shapes that do not go together."""
    shape = list(weight.shape)
    if len(weight) < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight "
            f"of size {shape} instead"
        )
    if len(weight) % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
            f"weight of size [{shape}] instead"
        )
    wanted = shape[0] if transposed else shape[1] * groups
    if x.shape[1] != wanted:
        raise RuntimeError(
            f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {shape}, expected "
            f"input{list(x.shape)} to have {wanted} channels, but got {x.shape[1]} channels instead"
        )
    made = shape[1] * groups if transposed else shape[0]
    if bias is not None and tuple(bias.shape) != (made,):
        told = f"transposed=1, weight of size {shape}" if transposed else f"weight of size {shape}"
        raise RuntimeError(
            f"Given {told}, expected bias to be 1-dimensional with {made} elements, but got bias of size "
            f"{list(bias.shape)} instead"
        )


def check_window(x: Any, weight: Any, padding: Any, dilation: Any) -> None:
    """RuntimeError with PyTorch's text for a window that is wider than the padded input."""
    have = [n + 2 * p for n, p in zip(x.shape[2:], padding)]
    need = reach(weight.shape[2:], dilation)
    if any(n < k for n, k in zip(have, need)):
        first, second = (" x ".join(map(str, sizes)) for sizes in (have, need))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({first}). Kernel size: ({second}). Kernel size "
            "can't be greater than actual input size"
        )


def check_output_padding(stride: Any, dilation: Any, output_padding: Any) -> None:
    """RuntimeError with PyTorch's text unless output padding is smaller than stride or dilation."""
    if any(o >= s and o >= d for o, s, d in zip(output_padding, stride, dilation)):
        names = ("height", "width") if len(stride) < 3 else ("depth", "height", "width")
        kinds = {"output_padding": output_padding, "stride": stride, "dilation": dilation}
        told = " ".join(
            f"{kind}_{name}: {n}"
            for kind, sizes in kinds.items()
            for name, n in zip(
                names, sizes if len(sizes) > 1 else (1 if kind != "output_padding" else 0, *sizes)
            )
        )
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {told}")


def in_c(x: Any) -> str:
    """The name of an array's dtype in C++."""
    return WRITTEN.get(x.dtype.name, x.dtype.name)


def check_kinds(x: Any, weight: Any, bias: Any, transposed: bool) -> None:
    """PyTorch's errors for dtypes that differ, or that there is no convolution of."""
    if bias is not None and bias.dtype != x.dtype:
        raise RuntimeError(f"Input type ({in_c(x)}) and bias type ({in_c(bias)}) should be the same")
    if weight.dtype != x.dtype:
        raise RuntimeError(f"expected scalar type {of(x).title} but found {of(weight).title}")
    deep = x.ndim == 5
    if transposed and x.dtype.kind in "biu" and x.dtype != np.int64:
        raise not_implemented(f"slow_conv_transpose{3 if deep else 2}d_out_cpu", of(x))
    if x.dtype.kind == "b":
        raise not_implemented("compute_columns3d" if deep else "slow_conv2d_cpu", of(x))


# ── the op
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def convolved(
    x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int, bias_sym_sizes_opt: Any = (0,),
) -> Any:  # fmt: skip
    """The kernel of `convolution`, arguments already checked."""
    if transposed:
        size = grown(x, weight, stride, padding, dilation, output_padding)
        out = spread(x, weight, size, stride, padding, dilation, groups)
    else:
        count = places(x, weight, stride, padding, dilation)
        return biased(x, weight, bias, count, stride, padding, dilation, groups)
    return out if bias is None else out + column(bias, x.ndim)


@wide
def biased(x: Any, weight: Any, bias: Any, count: Any, *how: Any) -> Any:
    """y plus the bias, rounded once."""
    out = slid(x, weight, count, *how)
    return out if bias is None else out + column(bias, x.ndim)


def column(bias: Any, ndim: int) -> Any:
    """The bias in a shape that broadcasts to all places."""
    return bias.reshape((-1, *(1,) * (ndim - 2)))


def grown(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, output_padding: Any) -> Any:
    """The size that a transposed convolution gives."""
    span = reach(weight.shape[2:], dilation)
    return tuple(
        (n - 1) * s - 2 * p + r + o
        for n, s, p, r, o in zip(x.shape[2:], stride, padding, span, output_padding)
    )


def one_gradient(which: int) -> Any:
    """The vjp of an input of `convolution`: the gradients of input, weight and bias come from one op."""
    mask = (which == 0, which == 1, which == 2)

    def vjp(
        g, bias_sym_sizes_opt, dilation, groups, input, output_padding, padding, stride, transposed, weight
    ):
        how = (stride, padding, dilation, transposed, output_padding, groups, mask)
        return F.convolution_backward(g, input, weight, bias_sym_sizes_opt, *how)[which]

    return vjp


def convolution_jvp(
    input_t: Any, weight_t: Any, bias_t: Any, input: Any, weight: Any, bias: Any, stride: Any, padding: Any,
    dilation: Any, transposed: Any, output_padding: Any, groups: Any,
) -> Any:  # fmt: skip
    """`x ∗ Ẇ + ḃ + ẋ ∗ W`."""
    how = (stride, padding, dilation, transposed, output_padding, groups)
    moved = F.convolution(input, weight_t, None if bias is None else bias_t, *how)
    return F.convolution(input_t, weight, None, *how) + moved


@differentiable(input=one_gradient(0), weight=one_gradient(1), bias=one_gradient(2), jvp=convolution_jvp)
def convolution(
    input, weight, bias=None, stride=(1,), padding=(0,), dilation=(1,), transposed=False, output_padding=(0,),
    groups=1, bias_sym_sizes_opt=(0,),
):  # fmt: skip
    """The windows of `input` (N, C, …) times `weight` (channels out, C / groups, …) plus `bias`; transposed:
    each element of `input` times `weight` (C, channels out / groups, …), put where its window was.
    """
    check_settings(stride, padding, dilation, output_padding, groups)
    check_shapes(input, weight, bias, transposed, groups)
    if transposed:
        check_output_padding(stride, dilation, output_padding)
    else:
        check_window(input, weight, padding, dilation)
    check_kinds(input, weight, bias, transposed)
    return convolved(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


# ── its gradients
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@wide
def gradients(
    g: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int, output_mask: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """The kernel of `convolution_backward`: nothing in the place of what is not asked for."""
    how = (stride, padding, dilation, groups)
    of_x = of_weight = of_bias = np.empty(0, g.dtype)
    if output_mask[0]:
        of_x = (slid if transposed else spread)(g, weight, x.shape[2:], *how)
    if output_mask[1]:
        pair = (g, x) if transposed else (x, g)
        of_weight = correlated(*pair, weight.shape, *how)
    if output_mask[2]:
        of_bias = np.add.reduce(g, axis=(0, *range(2, g.ndim)))
    return of_x, of_weight, of_bias


def given(g: Any) -> bool:
    """Whether a gradient came, of something that was asked for."""
    return g is not None and g.shape != (0,)


def twice_grad_output(grads, dilation, groups, input, output_padding, padding, stride, transposed, weight):
    """What comes back to ȳ: `x̿ ∗ W + x ∗ W̿ + b̿`."""
    how = (stride, padding, dilation, transposed, output_padding, groups)
    of_input, of_weight, of_bias = grads
    total = None
    if given(of_input):
        bias = of_bias if given(of_bias) else None
        total = F.convolution(of_input, weight, bias, *how)
        if given(of_weight):
            total = total + F.convolution(input, of_weight, None, *how)
    elif given(of_weight):
        bias = of_bias if given(of_bias) else None
        total = F.convolution(input, of_weight, bias, *how)
    elif given(of_bias):
        total = F.convolution(F.zeros_like(input), F.zeros_like(weight), of_bias, *how)
    return total


def twice_input(grads, dilation, grad_output, groups, input, output_padding, padding, stride, transposed):
    """What comes back to x: the gradient of a convolution by W̿."""
    if not given(grads[1]):
        return None
    how = (stride, padding, dilation, transposed, output_padding, groups, (True, False, False))
    return F.convolution_backward(grad_output, input, grads[1], (0,), *how)[0]


def twice_weight(grads, dilation, grad_output, groups, output_padding, padding, stride, transposed, weight):
    """What comes back to W: the gradient of a convolution of x̿."""
    if not given(grads[0]):
        return None
    how = (stride, padding, dilation, transposed, output_padding, groups, (False, True, False))
    return F.convolution_backward(grad_output, grads[0], weight, (0,), *how)[1]


@differentiable(
    grad_output=twice_grad_output,
    input=twice_input,
    weight=twice_weight,
    several=True,
    kernel=gradients,
    node="ConvolutionBackwardBackward0",
)
def convolution_backward(
    grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
    output_mask,
):  # fmt: skip
    """The gradients of input, weight and bias of `convolution`, those that `output_mask` asks for."""
