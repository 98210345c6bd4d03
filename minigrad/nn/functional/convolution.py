"""Convolutions and their transposes; padding."""

from __future__ import annotations

from typing import Any

from ...core import F
from ...core.dtypes import kind_name
from ...core.public import public
from ...left_out import refuse
from ...ops.checks import must_be_tensor
from .checks import expand

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "pad"]

Numbers = int | tuple[int, ...]


def batched(input: Any, dims: int, name: str) -> tuple[Any, bool]:
    """Return the input as a batch and whether it was one; raise PyTorch's RuntimeError for other shapes."""
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got input of "
            f"size: {list(input.shape)}"
        )
    is_batch = input.ndim == dims + 2
    return (input if is_batch else input.unsqueeze(0)), is_batch


def check_ranks(input: Any, weight: Any, gap: str) -> None:
    """Raise PyTorch's RuntimeError unless input and weight have the same number of dimensions."""
    if weight.ndim != input.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight{gap}"
            f"{list(weight.shape)}, but got {input.ndim}-dimensional input of size "
            f"{list(input.shape)} instead"
        )


def real_and_imaginary(t: Any) -> tuple[Any, Any]:
    """Return the real and the imaginary part as views."""
    return tuple(F.select(F.view_as_real(t), t.ndim, i) for i in (0, 1))


def run(dims: int, input: Any, weight: Any, bias: Any, *how: Any) -> Any:
    """Convolve a batch or one example; `how` are the further arguments of `convolved`."""
    input, is_batch = batched(input, dims, f"conv{'_transpose' if len(how) > 4 else ''}{dims}d")
    out = complex_convolution(input, weight, bias, *how)
    return out if is_batch else out.squeeze(0)


def complex_convolution(input: Any, weight: Any, bias: Any, *how: Any) -> Any:
    """Run a convolution; compute a complex one with three real ones, as PyTorch does."""
    if not (input.is_complex() and weight.is_complex()):
        return convolved(input, weight, bias, *how)
    (x, x_i), (w, w_i) = real_and_imaginary(input), real_and_imaginary(weight)
    b: Any
    b_i: Any
    b, b_i = (None, None) if bias is None else real_and_imaginary(bias)
    real = convolved(x, w, b, *how)
    imaginary = convolved(x_i, w_i, None, *how)
    both = convolved(x + x_i, w + w_i, None if bias is None else b + b_i, *how)
    return real - imaginary + (both - real - imaginary) * 1j


def convolved(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int,
    transposed: bool = False, output_padding: Any = 0,
) -> Any:  # fmt: skip
    """Run the op with its settings expanded to all dimensions of the weight."""
    dims = weight.ndim - 2
    if padding == "same":
        check_ranks(input, weight, "")
        input, padding = same(input, weight, stride, dilation)
    elif isinstance(padding, str):
        if padding != "valid":
            raise RuntimeError(f"Invalid padding string: '{padding}'")
        padding = 0
    if dims < 1:
        raise RuntimeError("weight should have at least three dimensions")
    check_ranks(input, weight, " ")
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "output_padding": output_padding}
    *how, more = (expand(name, value, dims, "convolution") for name, value in settings.items())
    sizes = (0,) if bias is None else tuple(bias.shape)
    return F.convolution(input, weight, bias, *how, transposed, more, groups, sizes)


def same(input: Any, weight: Any, stride: Any, dilation: Any) -> tuple[Any, list[int]]:
    """Return the padding that keeps the size, and the input, which has one more zero at the end of a
    dimension where the padding cannot be the same on both sides.
    """
    dims = weight.ndim - 2
    if any(n != 1 for n in expand("stride", stride, dims, "convolution")):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for k, d in zip(weight.shape[2:], expand("dilation", dilation, dims, "convolution"))]
    if any(n % 2 for n in total):
        input = F.constant_pad_nd(input, tuple(x for n in reversed(total) for x in (0, n % 2)), 0)
    return input, [n // 2 for n in total]


@public("function")
def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers | str = 0,
    dilation: Numbers = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Return the one-dimensional cross-correlation of `input` ([N,] C, L) with kernels, plus `bias`.

    `weight` has the shape (channels out, channels in / groups, k); `padding` is a number, "same" or
    "valid".
    """
    return run(1, input, weight, bias, stride, padding, dilation, groups)


@public("function")
def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers | str = 0,
    dilation: Numbers = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Return the two-dimensional cross-correlation of an image with kernels.

    y[n, o, i, j] = b[o] + Σ_c Σ_k Σ_l W[o, c, k, l] · x[n, c, i · stride + k · dilation − padding, …]. The
    derivative with respect to x is a transposed convolution of the upstream gradient with the same kernels;
    with respect to W it is the cross-correlation of x with the upstream gradient.

    Args:
        input: image or batch of images.
        weight: kernels.
        bias: one number for each kernel, or None.
        stride: step from one window to the next, one number or two; so for the next two.
        padding: number of rows and columns of zeros on each side, or "same" or "valid".
        dilation: distance between the elements of a kernel.
        groups: number of groups of channels that are convolved separately.

    Shape:
        input (N, C, H, W) or (C, H, W), weight (O, C / groups, h, w), bias (O) → (N, O, Hₒ, Wₒ) or (O, Hₒ,
        Wₒ); for the sizes see `nn.Conv2d`.

    Returns:
        The cross-correlation.

    Raises:
        RuntimeError: the shapes do not fit, or the padding is an unknown text.

    Example:
        >>> F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2)).tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]

    Source: PyTorch's page `torch.nn.functional.conv2d`.
    """
    return run(2, input, weight, bias, stride, padding, dilation, groups)


@public("function")
def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers | str = 0,
    dilation: Numbers = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Return the three-dimensional cross-correlation of `input` ([N,] C, D, H, W) with kernels, plus `bias`.

    `weight` has the shape (channels out, channels in / groups, kd, kh, kw); `padding` is one number or
    three, "same" or "valid".
    """
    return run(3, input, weight, bias, stride, padding, dilation, groups)


@public("function")
def conv_transpose1d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers = 0,
    output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
) -> Any:  # fmt: skip
    """Return the transposed convolution: each element of `input` times `weight`, summed where windows
    overlap.

    `weight` has the shape (channels in, channels out / groups, k).
    """
    return run(1, input, weight, bias, stride, padding, dilation, groups, True, output_padding)


@public("function")
def conv_transpose2d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers = 0,
    output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
) -> Any:  # fmt: skip
    """Return the transposed convolution: each element of `input` times `weight`, summed where windows
    overlap.

    `weight` has the shape (channels in, channels out / groups, kh, kw).
    """
    return run(2, input, weight, bias, stride, padding, dilation, groups, True, output_padding)


@public("function")
def conv_transpose3d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers = 0,
    output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
) -> Any:  # fmt: skip
    """Return the transposed convolution: each element of `input` times `weight`, summed where windows
    overlap.

    `weight` has the shape (channels in, channels out / groups, kd, kh, kw).
    """
    return run(3, input, weight, bias, stride, padding, dilation, groups, True, output_padding)


FILLED = {"reflect": "reflection", "replicate": "replication"}


def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Add borders to `input`; `pad` has their widths before and after along the last dimension, then the one
    before.

    `mode` fills them with `value` ("constant"), by mirroring ("reflect") or with the outermost
    element ("replicate"). The last two support one to three dimensions.
    """
    must_be_tensor("pad", input)
    if not isinstance(pad, (list, tuple)):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {kind_name(pad)}")
    pad = tuple(pad)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return F.constant_pad_nd(input, pad, 0.0 if value is None else value)
    if value not in (None, 0):
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    k = len(pad) // 2
    if k not in (1, 2, 3) or input.ndim not in (k + 1, k + 2):
        raise NotImplementedError(f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.")
    refuse("pad", circular=mode == "circular")
    if mode not in FILLED:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return getattr(F, f"{FILLED[mode]}_pad{k}d")(input, pad)
