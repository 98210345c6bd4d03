"""Pooling in one, two and three dimensions, with windows or into a given number of parts."""

from __future__ import annotations

from typing import Any

from ...core import F
from ...core.public import public
from .checks import expand

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
]  # fmt: skip

Numbers = int | tuple[int, ...]


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
