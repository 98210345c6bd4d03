"""Convolution, padding and pooling."""

from __future__ import annotations

from typing import Any

from ...core import F, guards
from ...core.guards import check_batch, check_integers, check_tensor
from ...core.public import public
from ...left_out import refuse
from .losses import expand

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "pad",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
]


# ─── Convolutions and their transposes; padding


Numbers = int | tuple[int, ...]


def as_batch(input: Any, dims: int, name: str) -> tuple[Any, bool]:
    """Return the input as a batch and whether it was one; raise PyTorch's RuntimeError for other shapes."""
    check_batch(input, dims, name, list(input.shape))
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


def run_convolution(dims: int, input: Any, weight: Any, bias: Any, *how: Any) -> Any:
    """Convolve a batch or one example; `how` are the further arguments of `convolve`."""
    input, is_batch = as_batch(input, dims, f"conv{'_transpose' if len(how) > 4 else ''}{dims}d")
    out = complex_convolution(input, weight, bias, *how)
    return out if is_batch else out.squeeze(0)


def complex_convolution(input: Any, weight: Any, bias: Any, *how: Any) -> Any:
    """Run a convolution; compute a complex one with three real ones, as PyTorch does."""
    if not (input.is_complex() and weight.is_complex()):
        return convolve(input, weight, bias, *how)
    (x, x_i), (w, w_i) = real_and_imaginary(input), real_and_imaginary(weight)
    b: Any
    b_i: Any
    b, b_i = (None, None) if bias is None else real_and_imaginary(bias)
    real = convolve(x, w, b, *how)
    imaginary = convolve(x_i, w_i, None, *how)
    both = convolve(x + x_i, w + w_i, None if bias is None else b + b_i, *how)
    return real - imaginary + (both - real - imaginary) * 1j


def convolve(
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
    return run_convolution(1, input, weight, bias, stride, padding, dilation, groups)


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
    return run_convolution(2, input, weight, bias, stride, padding, dilation, groups)


@public("function")
def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers | str = 0,
    dilation: Numbers = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Return the three-dimensional cross-correlation of `input` ([N,] C, D, H, W) with kernels, plus `bias`.

    `weight` has the shape (channels out, channels in / groups, kd, kh, kw); `padding` is one number or
    three, "same" or "valid".
    """
    return run_convolution(3, input, weight, bias, stride, padding, dilation, groups)


@public("function")
def conv_transpose1d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers = 0,
    output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
) -> Any:  # fmt: skip
    """Return the transposed convolution: each element of `input` times `weight`, summed where windows
    overlap.

    `weight` has the shape (channels in, channels out / groups, k).
    """
    return run_convolution(1, input, weight, bias, stride, padding, dilation, groups, True, output_padding)


@public("function")
def conv_transpose2d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers = 0,
    output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
) -> Any:  # fmt: skip
    """Return the transposed convolution: each element of `input` times `weight`, summed where windows
    overlap.

    `weight` has the shape (channels in, channels out / groups, kh, kw).
    """
    return run_convolution(2, input, weight, bias, stride, padding, dilation, groups, True, output_padding)


@public("function")
def conv_transpose3d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers = 0,
    output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
) -> Any:  # fmt: skip
    """Return the transposed convolution: each element of `input` times `weight`, summed where windows
    overlap.

    `weight` has the shape (channels in, channels out / groups, kd, kh, kw).
    """
    return run_convolution(3, input, weight, bias, stride, padding, dilation, groups, True, output_padding)


FILLED = {"reflect": "reflection", "replicate": "replication"}


def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Add borders to `input`; `pad` has their widths before and after along the last dimension, then the one
    before.

    `mode` fills them with `value` ("constant"), by mirroring ("reflect") or with the outermost
    element ("replicate"). The last two support one to three dimensions.
    """
    check_tensor("pad", input)
    check_integers("pad", "pad", pad, 2)
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


# ─── Pooling in one, two and three dimensions, with windows or into a given number of parts


def expand_all(dims: int, **sizes: Any) -> list[tuple[int, ...]]:
    """Return each size as one number for each dimension; an empty tuple for no stride."""
    return [
        () if name == "stride" and value in (None, (), []) else expand(name, value, dims, "pooling")
        for name, value in sizes.items()
    ]


def check_lines(input: Any, name: str) -> None:
    """Raise PyTorch's RuntimeError unless the input is (C, L) or (N, C, L)."""
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' "
            f"(while checking arguments for {name})"
        )


# ── the maximum ─────────────────────────────────────────────────────────────────────────────────────────────


def max_pool(
    dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    return_indices: bool,
) -> Any:  # fmt: skip
    """Return the maximum of each window, and its index if asked for."""
    how = expand_all(dims, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation)
    run = F.max_pool2d_with_indices if dims == 2 else F.max_pool3d_with_indices
    return with_indices(run(input, *how, ceil_mode), return_indices)


def max_pool1d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the maximum of each window of `input` ([N,] C, L); `return_indices` adds their indices."""
    check_lines(input, "max_pool1d")
    sizes = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
    (k,), s, (p,), (d,) = expand_all(1, **sizes)
    if not (return_indices or input.requires_grad):  # PyTorch has a kernel of its own for this
        guards.refuse(input._data, "max_pool1d_impl")
    made = F.max_pool2d_with_indices(
        input.unsqueeze(-2), (1, k), (1, *(s or (k,))), (0, p), (1, d), ceil_mode
    )
    return with_indices([t.squeeze(-2) for t in made], return_indices)


def max_pool2d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the maximum of each window of an image.

    The upstream gradient goes to the maximum of each window; the other elements receive 0.

    Args:
        input: image or batch of images.
        kernel_size: height and width of a window, or one number for both; so for the next three.
        stride: step from one window to the next; kernel_size if None.
        padding: number of rows and columns of −∞ added on each side.
        dilation: distance between the elements of a window.
        ceil_mode: True rounds the number of windows up instead of down.
        return_indices: True returns the index of each maximum in its flattened image as well.

    Shape:
        (N, C, H, W) or (C, H, W) → (N, C, Hₒ, Wₒ) or (C, Hₒ, Wₒ); see `nn.MaxPool2d`.

    Returns:
        The maxima, or a pair of maxima and indices.

    Raises:
        RuntimeError: padding is more than half of kernel_size, or no window fits.

    Example:
        >>> F.max_pool2d(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2).tolist()
        [[[4.0]]]

    Source: PyTorch's page `torch.nn.functional.max_pool2d`.
    """
    return max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the maximum of each window of `input` ([N,] C, D, H, W).

    `return_indices` adds their indices in the flattened volume.
    """
    return max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


# ── the mean ────────────────────────────────────────────────────────────────────────────────────────────────


@public("function")
def avg_pool1d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    ceil_mode: bool = False, count_include_pad: bool = True,
) -> Any:  # fmt: skip
    """Return the mean of each window of `input` ([N,] C, L); `count_include_pad` counts the padding."""
    (k,), s, (p,) = expand_all(1, kernel_size=kernel_size, stride=stride, padding=padding)
    check_lines(input, "avg_pool1d")
    flat, s = input.unsqueeze(-2), s or (k,)
    return F.avg_pool2d(flat, (1, k), (1, *s), (0, p), ceil_mode, count_include_pad, None).squeeze(-2)


def avg_pool2d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """Return the mean of each window of an image.

    Each element of a window of n elements receives 1/n of the window's upstream gradient.

    Args:
        input: image or batch of images.
        kernel_size: height and width of a window, or one number for both; so for the next two.
        stride: step from one window to the next; kernel_size if None.
        padding: number of rows and columns of zeros added on each side.
        ceil_mode: True rounds the number of windows up instead of down.
        count_include_pad: False leaves the added zeros out of the mean.
        divisor_override: number that divides each window's sum instead of the number of its elements.

    Shape:
        (N, C, H, W) or (C, H, W) → (N, C, Hₒ, Wₒ) or (C, Hₒ, Wₒ); see `nn.AvgPool2d`.

    Returns:
        The means.

    Raises:
        RuntimeError: padding is more than half of kernel_size, or no window fits.

    Example:
        >>> F.avg_pool2d(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 2).tolist()
        [[[2.5]]]

    Source: PyTorch's page `torch.nn.functional.avg_pool2d`.
    """
    how = expand_all(2, kernel_size=kernel_size, stride=stride, padding=padding)
    input.size(-3)  # PyTorch asks for the channels first
    return F.avg_pool2d(input, *how, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """Return the mean of each window of `input` ([N,] C, D, H, W); `count_include_pad` counts the padding.

    `divisor_override` divides the sums instead of the number of elements.
    """
    how = expand_all(3, kernel_size=kernel_size, stride=stride, padding=padding)
    return F.avg_pool3d(input, *how, ceil_mode, count_include_pad, divisor_override)


# ── a given number of parts ─────────────────────────────────────────────────────────────────────────────────


def parts_of(input: Any, dims: int, output_size: Any) -> tuple[int, ...]:
    """Return the number of parts along each dimension; None keeps its size."""
    sizes = (output_size,) * dims if isinstance(output_size, int) or output_size is None else output_size
    if not isinstance(output_size, int) and input.ndim <= len(sizes):
        raise ValueError(f"Input dimension should be at least {len(sizes) + 1}")
    own = input.size()[-len(sizes) :]
    return tuple(n if part is None else part for part, n in zip(sizes, own, strict=False))


def adaptive_means(input: Any, dims: int, output_size: Any, run: Any) -> Any:
    """Return the mean of each part; of one part the mean of all."""
    parts = parts_of(input, dims, output_size)
    if parts == (1,) * dims and input.ndim >= dims:
        return F.mean_dim(input, tuple(range(-1, -dims - 1, -1)), True)
    return run(input, parts)


@public("function")
def adaptive_avg_pool1d(input: Any, output_size: Numbers) -> Any:
    """Return the means of `output_size` parts of `input` ([N,] C, L), as equal in size as possible."""
    (count,) = expand("output_size", output_size, 1, "pooling")
    check_lines(input, "adaptive_avg_pool1d")
    return adaptive_avg_pool2d(input.unsqueeze(-2), (1, count)).squeeze(-2)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Divide an image into a given number of parts and return the mean of each.

    Each element of a part of n elements receives 1/n of the part's upstream gradient.

    Args:
        input: image or batch of images.
        output_size: Hₒ and Wₒ, or one number for both; None keeps the input's size.

    Shape:
        (N, C, H, W) or (C, H, W) → (N, C, Hₒ, Wₒ) or (C, Hₒ, Wₒ).

    Returns:
        The means.

    Raises:
        ValueError: the input has too few dimensions.

    Example:
        >>> F.adaptive_avg_pool2d(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]), 1).tolist()
        [[[2.5]]]

    Source: PyTorch's page `torch.nn.functional.adaptive_avg_pool2d`.
    """
    return adaptive_means(input, 2, output_size, F._adaptive_avg_pool2d)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """Return the means of `output_size` parts of `input` ([N,] C, D, H, W); None keeps a size."""
    return adaptive_means(input, 3, output_size, F._adaptive_avg_pool3d)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Return the maximum of each of `output_size` parts of `input` ([N,] C, H, W); None keeps a size.

    `return_indices` adds the indices in the flattened image.
    """
    return with_indices(F.adaptive_max_pool2d(input, parts_of(input, 2, output_size)), return_indices)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Return the maximum of each of `output_size` parts of `input` ([N,] C, D, H, W); None keeps a size.

    `return_indices` adds the indices in the flattened volume.
    """
    return with_indices(F.adaptive_max_pool3d(input, parts_of(input, 3, output_size)), return_indices)


def with_indices(made: Any, return_indices: bool) -> Any:
    """Return the values, with their indices if `return_indices`."""
    return tuple(made) if return_indices else made[0]
