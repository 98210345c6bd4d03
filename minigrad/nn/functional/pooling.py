"""Max and average pooling."""

from __future__ import annotations

from typing import Any

from ...core import F
from ...core.public import public
from .pooling_checks import check_line, check_lines, only

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool1d", "avg_pool2d",
    "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip

Numbers = int | tuple[int, ...]
WORDS = {1: "one", 2: "two", 3: "three"}


def several(value: Any, dims: int, text: str) -> tuple[int, ...]:
    """Return a number for each dimension; raise RuntimeError with `text` for another count."""
    numbers = (value,) if isinstance(value, int) else tuple(value)
    if len(numbers) not in (1, dims):
        raise RuntimeError(text)
    return numbers * dims if len(numbers) == 1 else numbers


def steps(stride: Any, dims: int, text: str) -> tuple[int, ...]:
    """Return `several`, or () for no stride, which then is the size of the window."""
    if stride is None or (not isinstance(stride, int) and not len(stride)):
        return ()
    return several(stride, dims, text)


# ── the largest
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def greatest(
    dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    """Compute `max_pool2d` and `max_pool3d`: the values and their indices."""
    many = f"a tuple of {WORDS[dims]} ints"
    name = f"max_pool{dims}d"
    kernel_size = several(kernel_size, dims, f"{name}: kernel_size must either be a single int, or {many}")
    stride = steps(stride, dims, f"{name}: stride must either be omitted, a single int, or {many}")
    padding = several(padding, dims, f"{name}: padding must either be a single int, or {many}")
    dilation = several(dilation, dims, f"{name}: dilation must be either a single int, or {many}")
    run = F.max_pool2d_with_indices if dims == 2 else F.max_pool3d_with_indices
    return run(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the maximum of each window of `input` ([N,] C, L); `return_indices` adds their indices."""
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
    made = greatest(2, input, kernel_size, stride, padding, dilation, ceil_mode)
    return tuple(made) if return_indices else made[0]


def max_pool3d(
    input: Any, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0,
    dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the maximum of each window of `input` ([N,] C, D, H, W).

    `return_indices` adds their indices in the flattened volume.
    """
    made = greatest(3, input, kernel_size, stride, padding, dilation, ceil_mode)
    return tuple(made) if return_indices else made[0]


# ── the mean
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_one(input: Any, name: str, **numbers: Any) -> None:
    """Raise PyTorch's RuntimeError for arguments that pooling along one dimension does not accept."""
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
    """Return the mean of each window of `input` ([N,] C, L); `count_include_pad` counts the padding."""
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
    """Return the mean of each window of `input` ([N,] C, D, H, W); `count_include_pad` counts the padding.

    `divisor_override` divides the sums instead of the number of elements.
    """
    ints = "a single int, or a tuple of three ints"
    k = several(kernel_size, 3, f"avg_pool3d: kernel_size must be {ints}")
    s = steps(stride, 3, f"avg_pool3d: stride must be omitted, {ints}")
    p = several(padding, 3, f"avg_pool3d: padding must be {ints}")
    return F.avg_pool3d(input, k, s, p, ceil_mode, count_include_pad, divisor_override)


# ── the means of a given number of parts
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def parts_of(input: Any, dims: int, output_size: Any) -> tuple[int, ...]:
    """Return the number of parts along each dimension; None keeps its size."""
    sizes = (output_size,) * dims if isinstance(output_size, int) or output_size is None else output_size
    if not isinstance(output_size, int) and input.ndim <= len(sizes):
        raise ValueError(f"Input dimension should be at least {len(sizes) + 1}")
    return tuple(
        n if part is None else part for part, n in zip(sizes, input.shape[-len(sizes) :], strict=False)
    )


@public("function", out=None)
def adaptive_avg_pool1d(input: Any, output_size: Numbers) -> Any:
    """Return the means of `output_size` parts of `input` ([N,] C, L), as equal in size as possible."""
    check_one(input, "adaptive_avg_pool1d", output_size=output_size)
    (count,) = several(output_size, 1, "")
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
    parts = parts_of(input, 2, output_size)
    if parts == (1, 1) and input.ndim > 1:
        return F.mean_dim(input, (-1, -2), True)
    return F._adaptive_avg_pool2d(input, parts)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """Return the means of `output_size` parts of `input` ([N,] C, D, H, W); None keeps a size."""
    parts = parts_of(input, 3, output_size)
    if parts == (1, 1, 1) and input.ndim > 2:
        return F.mean_dim(input, (-1, -2, -3), True)
    return F._adaptive_avg_pool3d(input, parts)
