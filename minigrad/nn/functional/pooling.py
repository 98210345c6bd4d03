"""Pooling: the largest element or the mean of each window."""

from __future__ import annotations

from typing import Any

from ...core import F
from ...core.public import public
from ...ops.half_precision import not_implemented

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool1d", "avg_pool2d",
    "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip

Numbers = int | tuple[int, ...]
WORDS = {1: "one", 2: "two", 3: "three"}


def several(value: Any, dims: int, text: str) -> tuple[int, ...]:
    """Return a number for each dimension; RuntimeError with `text` if there are too many or too few."""
    numbers = (value,) if isinstance(value, int) else tuple(value)
    if len(numbers) not in (1, dims):
        raise RuntimeError(text)
    return numbers * dims if len(numbers) == 1 else numbers


def steps(stride: Any, dims: int, text: str) -> tuple[int, ...]:
    """Return `several`, nothing being the size of the window."""
    if stride is None or (not isinstance(stride, int) and not len(stride)):
        return ()
    return several(stride, dims, text)


# ── the largest
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def greatest(
    dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    """Return `max_pool2d` and `max_pool3d`: the values and their places."""
    many = f"a tuple of {WORDS[dims]} ints"
    name = f"max_pool{dims}d"
    kernel_size = several(kernel_size, dims, f"{name}: kernel_size must either be a single int, or {many}")
    stride = steps(stride, dims, f"{name}: stride must either be omitted, a single int, or {many}")
    padding = several(padding, dims, f"{name}: padding must either be a single int, or {many}")
    dilation = several(dilation, dims, f"{name}: dilation must be either a single int, or {many}")
    run = F.max_pool2d_with_indices if dims == 2 else F.max_pool3d_with_indices
    return run(input, kernel_size, stride, padding, dilation, ceil_mode)


def only(value: Any, name: str, text: str) -> int:
    """Return the one number; RuntimeError with PyTorch's text for more."""
    if isinstance(value, int):
        return value
    if len(value) != 1:
        raise RuntimeError(f"max_pool1d() {name} must be {text} of size 1 but got size {len(value)}")
    return value[0]


def check_lines(input: Any) -> None:
    """RuntimeError with PyTorch's text unless the input is ([N,] C, L), of some elements each."""
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(input.shape)}"
        )


def check_line(
    input: Any, kernel_size: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> None:
    """PyTorch's errors for windows on a line, where no places are asked for."""
    for name, n in (("kernel_size", kernel_size), ("stride", stride)):
        if n <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {n}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel_size // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={padding} and "
            f"kernel_size={kernel_size}"
        )
    if dilation <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")
    room = input.shape[-1] + 2 * padding - dilation * (kernel_size - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if count <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
    if not input.is_floating_point():
        raise not_implemented("max_pool1d_impl", input.dtype)


def max_pool1d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the largest element of each window of `input` ([N,] C, L); with `return_indices` also where
    they were.
    """
    ints = "an int, list of ints or tuple of ints"
    k = only(kernel_size, "kernel_size", ints)
    s = only(k if stride is None or not (isinstance(stride, int) or stride) else stride, "stride",
             "None, an int, list of ints, or tuple of ints")  # fmt: skip
    p, d = only(padding, "padding", ints), only(dilation, "dilation", ints)
    check_lines(input)
    if not return_indices:
        check_line(input, k, s, p, d, ceil_mode)
    flat = input.unsqueeze(-2)
    made = F.max_pool2d_with_indices(flat, (1, k), (1, s), (0, p), (1, d), ceil_mode)
    values, indices = (t.squeeze(-2) for t in made)
    return (values, indices) if return_indices else values


def max_pool2d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the maximum of each window of an image.

    Args:
        input: images of shape (C, H, W) or (N, C, H, W).
        kernel_size: the size of a window, a number or two.
        stride: the distance between windows; `kernel_size` if None.
        padding: the width of the border of minus infinity.
        dilation: the distance between the elements of a window.
        ceil_mode: whether windows that cross the end count.
        return_indices: whether to return the indices in the flattened image as well.
    Shape: (…, H, W) → (…, (H + 2 * padding - dilation * (k - 1) - 1) // stride + 1, the same for W).
    Returns: a tensor, or the pair (values, indices).
    Raises: RuntimeError if the sizes do not fit.
    Derivative: `g` at each maximum, else 0.
    Source: torch.nn.functional.max_pool2d

    >>> F.max_pool2d(torch.arange(4.0).reshape(1, 2, 2), 2)
    tensor([[[3.]]])
    """
    made = greatest(2, input, kernel_size, stride, padding, dilation, ceil_mode)
    return tuple(made) if return_indices else made[0]


def max_pool3d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the largest element of each window of `input` ([N,] C, D, H, W); with `return_indices` also
    where they were, as places in the flattened volume.
    """
    made = greatest(3, input, kernel_size, stride, padding, dilation, ceil_mode)
    return tuple(made) if return_indices else made[0]


# ── the mean
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_one(input: Any, name: str, **numbers: Any) -> None:
    """RuntimeError with PyTorch's text for what a pooling along a line does not take."""
    for key, value in numbers.items():
        if value is not None and not isinstance(value, int) and len(value) != 1:
            raise RuntimeError(f"{name}() argument '{key}' should contain one int (got {len(value)})")
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 'self' "
            f"(while checking arguments for {name})"
        )


@public("function", out=None)
def avg_pool1d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    ceil_mode: bool = False, count_include_pad: bool = True,
) -> Any:  # fmt: skip
    """Return the mean of each window of `input` ([N,] C, L), the zeros around it among them if
    `count_include_pad`.
    """
    check_one(input, "avg_pool1d", kernel_size=kernel_size, stride=stride or None, padding=padding)
    k, p = several(kernel_size, 1, ""), several(padding, 1, "")
    s = steps(stride, 1, "") or k
    flat = input.unsqueeze(-2)
    return F.avg_pool2d(flat, (1, *k), (1, *s), (0, *p), ceil_mode, count_include_pad, None).squeeze(-2)


def avg_pool2d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """Return the mean of each window of an image.

    Args:
        input: images of shape (C, H, W) or (N, C, H, W).
        kernel_size: the size of a window, a number or two.
        stride: the distance between windows; `kernel_size` if None.
        padding: the width of the border of zeros.
        ceil_mode: whether windows that cross the end count.
        count_include_pad: whether the zeros of the border count as elements.
        divisor_override: a divisor to use instead of the number of elements.
    Shape: (…, H, W) → (…, (H + 2 * padding - k) // stride + 1, the same for W).
    Returns: a new tensor.
    Raises: RuntimeError if the sizes do not fit.
    Derivative: `g / n` for each of the n elements of a window.
    Source: torch.nn.functional.avg_pool2d

    >>> F.avg_pool2d(torch.arange(4.0).reshape(1, 2, 2), 2)
    tensor([[[1.5000]]])
    """
    ints = "single int, or a tuple of two ints"
    k = several(kernel_size, 2, f"avg_pool2d: kernel_size must either be a {ints}")
    s = steps(stride, 2, f"avg_pool2d: stride must either be omitted, a {ints}")
    p = several(padding, 2, f"avg_pool2d: padding must either be a {ints}")
    if input.ndim < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [-{max(input.ndim, 1)}, "
            f"{max(input.ndim, 1) - 1}], but got -3)"
        )
    return F.avg_pool2d(input, k, s, p, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """Return the mean of each window of `input` ([N,] C, D, H, W), the zeros around it among them if
    `count_include_pad`; or its sum divided by `divisor_override`.
    """
    ints = "a single int, or a tuple of three ints"
    k = several(kernel_size, 3, f"avg_pool3d: kernel_size must be {ints}")
    s = steps(stride, 3, f"avg_pool3d: stride must be omitted, {ints}")
    p = several(padding, 3, f"avg_pool3d: padding must be {ints}")
    return F.avg_pool3d(input, k, s, p, ceil_mode, count_include_pad, divisor_override)


# ── the means of a given number of parts
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def parts_of(input: Any, dims: int, output_size: Any) -> tuple[int, ...]:
    """Return the number of parts along each dimension, None being its size."""
    sizes = (output_size,) * dims if isinstance(output_size, int) or output_size is None else output_size
    if not isinstance(output_size, int) and input.ndim <= len(sizes):
        raise ValueError(f"Input dimension should be at least {len(sizes) + 1}")
    return tuple(
        n if part is None else part for part, n in zip(sizes, input.shape[-len(sizes) :], strict=False)
    )


@public("function", out=None)
def adaptive_avg_pool1d(input: Any, output_size: Numbers) -> Any:
    """Return the means of `output_size` parts of `input` ([N,] C, L), as even as can be."""
    check_one(input, "adaptive_avg_pool1d", output_size=output_size)
    (count,) = several(output_size, 1, "")
    return adaptive_avg_pool2d(input.unsqueeze(-2), (1, count)).squeeze(-2)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Return the means of `output_size` parts of an image, whose sizes differ by as little as possible.

    Args:
        input: images of shape (C, H, W) or (N, C, H, W).
        output_size: a number or two; None keeps a size.
    Shape: (…, H, W) → (…, *output_size).
    Returns: a new tensor.
    Raises: RuntimeError if `input` has another number of dimensions.
    Derivative: `g / n` for each of the n elements of a part.
    Source: torch.nn.functional.adaptive_avg_pool2d

    >>> F.adaptive_avg_pool2d(torch.arange(4.0).reshape(1, 2, 2), 1)
    tensor([[[1.5000]]])
    """
    parts = parts_of(input, 2, output_size)
    if parts == (1, 1) and input.ndim > 1:
        return F.mean_dim(input, (-1, -2), True)
    return F._adaptive_avg_pool2d(input, parts)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """Return the means of `output_size` parts of `input` ([N,] C, D, H, W), as even as can be; None keeps a
    size.
    """
    parts = parts_of(input, 3, output_size)
    if parts == (1, 1, 1) and input.ndim > 2:
        return F.mean_dim(input, (-1, -2, -3), True)
    return F._adaptive_avg_pool3d(input, parts)
