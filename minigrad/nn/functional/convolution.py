"""Convolutions and their transposes."""

from __future__ import annotations

from typing import Any

from ...core import F
from ...core.public import public

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]

Numbers = int | tuple[int, ...]


def expanded(name: str, value: Any, dims: int) -> tuple[int, ...]:
    """Return a number for each dimension; RuntimeError with PyTorch's text if there are too many or
    too few.
    """
    numbers = (value,) if isinstance(value, int) else tuple(value)
    if len(numbers) not in (1, dims):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dims} values to match the "
            f"convolution dimensions, but got {name}={list(numbers)}"
        )
    return numbers * dims if len(numbers) == 1 else numbers


def batched(input: Any, dims: int, name: str) -> tuple[Any, bool]:
    """Return the input as a batch, and whether it was one; RuntimeError with PyTorch's text for
    other shapes.
    """
    if input.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got input of "
            f"size: {list(input.shape)}"
        )
    is_batch = input.ndim == dims + 2
    return (input if is_batch else input.unsqueeze(0)), is_batch


def check_ranks(input: Any, weight: Any, gap: str) -> None:
    """RuntimeError with PyTorch's text unless input and weight have as many dimensions."""
    if weight.ndim != input.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight{gap}"
            f"{list(weight.shape)}, but got {input.ndim}-dimensional input of size "
            f"{list(input.shape)} instead"
        )


def parts(t: Any) -> tuple[Any, Any]:
    """Return the real and the imaginary part, each by a view of both."""
    return tuple(F.select(F.view_as_real(t), t.ndim, i) for i in (0, 1))


def by_parts(run: Any, input: Any, weight: Any, bias: Any, *how: Any) -> Any:
    """Return a convolution, of complex numbers in three real ones, as PyTorch does it."""
    if not (input.is_complex() and weight.is_complex()):
        return run(input, weight, bias, *how)
    (x, x_i), (w, w_i) = parts(input), parts(weight)
    b: Any
    b_i: Any
    b, b_i = (None, None) if bias is None else parts(bias)
    real = run(x, w, b, *how)
    imaginary = run(x_i, w_i, None, *how)
    both = run(x + x_i, w + w_i, None if bias is None else b + b_i, *how)
    return real - imaginary + (both - real - imaginary) * 1j


def convolved(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int,
    transposed: bool = False, output_padding: Any = 0,
) -> Any:  # fmt: skip
    """Return the op, its settings expanded to all dimensions of the weight."""
    dims = weight.ndim - 2
    if dims < 1:
        raise RuntimeError("weight should have at least three dimensions")
    check_ranks(input, weight, " ")
    how = (
        expanded("stride", stride, dims),
        expanded("padding", padding, dims),
        expanded("dilation", dilation, dims),
        transposed,
        expanded("output_padding", output_padding, dims),
        groups,
    )
    return F.convolution(input, weight, bias, *how, (0,) if bias is None else tuple(bias.shape))


def same(weight: Any, dims: int, stride: Any, dilation: Any) -> list[int]:
    """Return how much "same" pads along each dimension, before and after together."""
    if any(n != 1 for n in expanded("stride", stride, dims)):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    return [d * (k - 1) for k, d in zip(weight.shape[2:], expanded("dilation", dilation, dims))]


def forward(
    dims: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """Return `conv1d`, `conv2d` and `conv3d`."""
    input, is_batch = batched(input, dims, f"conv{dims}d")
    out = by_parts(filled, input, weight, bias, stride, padding, dilation, groups)
    return out if is_batch else out.squeeze(0)


def filled(input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """Return a convolution of a batch whose padding may be a word."""
    if padding == "same":
        dims = weight.ndim - 2
        check_ranks(input, weight, "")
        total = same(weight, dims, stride, dilation)
        if any(n % 2 for n in total):
            input = F.constant_pad_nd(input, tuple(x for n in reversed(total) for x in (0, n % 2)), 0)
        padding = [n // 2 for n in total]
    elif padding == "valid":
        padding = 0
    elif isinstance(padding, str):
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    return convolved(input, weight, bias, stride, padding, dilation, groups)


def backward(
    dims: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any,
    groups: int, dilation: Any,
) -> Any:  # fmt: skip
    """Return `conv_transpose1d`, `conv_transpose2d` and `conv_transpose3d`."""
    input, is_batch = batched(input, dims, f"conv_transpose{dims}d")
    how = (stride, padding, dilation, groups, True, output_padding)
    out = by_parts(convolved, input, weight, bias, *how)
    return out if is_batch else out.squeeze(0)


@public("function", out=None)
def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers | str = 0,
    dilation: Numbers = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Return the kernels of `weight` (channels out, channels in / groups, k) at each place of `input` ([N,]
    C, L), plus `bias`; `padding` is a width, "same" or "valid".
    """
    return forward(1, input, weight, bias, stride, padding, dilation, groups)


@public("function", out=None)
def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers | str = 0,
    dilation: Numbers = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Return the two-dimensional cross-correlation of `input` with the kernels in `weight`, plus `bias`.

    Args:
        input: images of shape (C, H, W) or (N, C, H, W).
        weight: kernels of shape (out, C / groups, kh, kw).
        bias: a vector of length out.
        stride, padding, dilation: a number or two; `padding` may be "same" or "valid".
        groups: into how many groups the channels are divided.
    Shape: (N, C, H, W) → (N, out, (H + 2 * padding - dilation * (kh - 1) - 1) // stride + 1, the same for W).
    Returns: a new tensor.
    Raises: RuntimeError if the channels or the sizes do not fit.
    Derivative: the transposed convolution of `g` for `input`; the correlation of `input` with `g` for
        `weight`.
    Source: torch.nn.functional.conv2d

    >>> F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2))
    tensor([[[[4., 4.],
              [4., 4.]]]])
    """
    return forward(2, input, weight, bias, stride, padding, dilation, groups)


@public("function", out=None)
def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers | str = 0,
    dilation: Numbers = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Return the kernels of `weight` (channels out, channels in / groups, kd, kh, kw) at each place of
    `input` ([N,] C, D, H, W), plus `bias`; `padding` is a width, three of them, "same" or "valid".
    """
    return forward(3, input, weight, bias, stride, padding, dilation, groups)


@public("function", out=None)
def conv_transpose1d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers = 0,
    output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
) -> Any:  # fmt: skip
    """Return the transpose of `conv1d`: each element of `input` times `weight` (channels in, channels out /
    groups, k), added up where the windows lie, plus `bias`.
    """
    return backward(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@public("function", out=None)
def conv_transpose2d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers = 0,
    output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
) -> Any:  # fmt: skip
    """Return the transpose of `conv2d`: each element of `input` times `weight` (channels in, channels out /
    groups, kh, kw), added up where the windows lie, plus `bias`.
    """
    return backward(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@public("function", out=None)
def conv_transpose3d(
    input: Any, weight: Any, bias: Any = None, stride: Numbers = 1, padding: Numbers = 0,
    output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
) -> Any:  # fmt: skip
    """Return the transpose of `conv3d`: each element of `input` times `weight` (channels in, channels out /
    groups, kd, kh, kw), added up where the windows lie, plus `bias`.
    """
    return backward(3, input, weight, bias, stride, padding, output_padding, groups, dilation)
