"""Pooling that takes parts instead of windows, the way back from pooling, and pooling by norms."""

from __future__ import annotations

import math
from typing import Any

from ...creation import rand
from ...op import F
from .activations import relu
from .pooling import (
    Numbers,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    check_one,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    parts_of,
    several,
)

# ── a given number of parts
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def chosen(made: Any, return_indices: bool) -> Any:
    """The values, with their places if these are asked for."""
    return tuple(made) if return_indices else made[0]


def adaptive_max_pool1d(input: Any, output_size: Numbers, return_indices: bool = False) -> Any:
    """The greatest of each of `output_size` parts of `input` ([N,] C, L), as even as can be; with
    `return_indices` also where they were.
    """
    if output_size is None:
        raise TypeError(
            "adaptive_max_pool1d(): argument 'output_size' (position 2) must be tuple of ints, not NoneType"
        )
    check_one(input, "adaptive_max_pool1d", output_size=output_size)
    if not input.shape[-1] or (input.ndim == 3 and not input.shape[1]):
        raise RuntimeError(
            "adaptive_max_pool1d(): Expected input to have non-zero size for non-batch dimensions, but input "
            f"has sizes {list(input.shape)} with dimension {list(input.shape).index(0, 1)} being empty"
        )
    (count,) = several(output_size, 1, "")
    made = F.adaptive_max_pool2d(input.unsqueeze(-2), (1, count))
    return chosen([t.squeeze(-2) for t in made], return_indices)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest of each of `output_size` parts of `input` ([N,] C, H, W), as even as can be; None keeps a
    size; with `return_indices` also where they were, as places in the flattened image.
    """
    return chosen(F.adaptive_max_pool2d(input, parts_of(input, 2, output_size)), return_indices)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """The greatest of each of `output_size` parts of `input` ([N,] C, D, H, W), as even as can be; None keeps
    a size; with `return_indices` also where they were, as places in the flattened volume.
    """
    return chosen(F.adaptive_max_pool3d(input, parts_of(input, 3, output_size)), return_indices)


# ── windows at random places
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def fractional(
    dims: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any
) -> Any:
    """`fractional_max_pool2d` and `fractional_max_pool3d`: the values and their places."""
    name = f"fractional_max_pool{dims}d"
    if output_size is None:
        if output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if dims == 2 and len(output_ratio) > 2:
            raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
        output_size = [int(n * ratio) for n, ratio in zip(input.shape[-dims:], output_ratio)]
    if input.ndim <= dims:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [-{input.ndim}, {input.ndim - 1}], but got "
            f"{-dims - 1})"
        )
    if samples is None:
        count = 1 if input.ndim == dims + 1 else len(input)
        samples = rand(count, input.shape[-dims - 1], dims, dtype=input.dtype)
    sizes = (
        (value,) * dims if isinstance(value, int) else tuple(value) for value in (kernel_size, output_size)
    )
    return getattr(F, name)(input, *sizes, samples)


def fractional_max_pool2d(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
    return_indices: bool = False, _random_samples: Any = None,
) -> Any:  # fmt: skip
    """The greatest of `output_size` windows at random places of `input` ([N,] C, H, W), or of as many as
    `output_ratio` says; with `return_indices` also where they were.
    """
    how = (kernel_size, output_size, output_ratio, _random_samples)
    return chosen(fractional(2, input, *how), return_indices)


def fractional_max_pool3d(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
    return_indices: bool = False, _random_samples: Any = None,
) -> Any:  # fmt: skip
    """The greatest of `output_size` windows at random places of `input` ([N,] C, D, H, W), or of as many as
    `output_ratio` says; with `return_indices` also where they were.
    """
    how = (kernel_size, output_size, output_ratio, _random_samples)
    return chosen(fractional(3, input, *how), return_indices)


# ── the way back
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def unpooled_size(input: Any, kernel: Any, stride: Any, padding: Any, output_size: Any) -> tuple[int, ...]:
    """The size before pooling; ValueError with PyTorch's text for one that cannot be."""
    k = len(kernel)
    usual = [(n - 1) * s + size - 2 * p for n, s, size, p in zip(input.shape[-k:], stride, kernel, padding)]
    if output_size is None:
        output_size = usual
    else:
        if len(output_size) == k + 2:
            output_size = output_size[2:]
        if len(output_size) != k:
            raise ValueError(
                f"output_size should be a sequence containing {k} or {k + 2} elements, but it has a length "
                f"of '{len(output_size)}'"
            )
        for d, (n, middle, s) in enumerate(zip(output_size, usual, stride)):
            if not middle - s < n < middle + s:
                raise ValueError(
                    f'invalid output_size "{output_size}" (dim {d} must be between {middle - s} and '
                    f"{middle + s})"
                )
    for d, n in enumerate(output_size):
        if n < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{d}]={n}"
            )
    return tuple(output_size)


def windows(dims: int, kernel_size: Any, stride: Any, padding: Any) -> list[tuple[int, ...]]:
    """Size, steps and padding of windows, a number for each dimension."""
    given = (kernel_size, kernel_size if stride is None else stride, padding)
    return [(n,) * dims if isinstance(n, int) else tuple(n) for n in given]


def max_unpool1d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """`input` ([N,] C, L) put where the greatest elements were before pooling, at `indices`; 0 elsewhere."""
    kernel, steps, around = windows(1, kernel_size, stride, padding)
    size = unpooled_size(input, kernel, steps, around, output_size)
    return F.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1)).squeeze(-1)


def max_unpool2d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """`input` ([N,] C, H, W) put where the greatest elements were before pooling, at `indices`; 0
    elsewhere.
    """
    kernel, steps, around = windows(2, kernel_size, stride, padding)
    return F.max_unpool2d(input, indices, unpooled_size(input, kernel, steps, around, output_size))


def max_unpool3d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """`input` ([N,] C, D, H, W) put where the greatest elements were before pooling, at `indices`; 0
    elsewhere.
    """
    kernel, steps, around = windows(3, kernel_size, stride, padding)
    size = unpooled_size(input, kernel, steps, around, output_size)
    return F.max_unpool3d(input, indices, size, steps, around)


# ── norms
# ─────────────────────────────────────────────────────────────────────────────────────────────────

GREATEST = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}
MEANS = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}


def norms(dims: int, input: Any, p: Any, kernel_size: Any, stride: Any, ceil_mode: bool) -> Any:
    """`lp_pool1d`, `lp_pool2d` and `lp_pool3d`, in PyTorch's steps."""
    if p in (math.inf, -math.inf):
        sign = 1 if p > 0 else -1
        size = input.abs()
        greatest = GREATEST[dims](size if sign > 0 else -size, kernel_size, stride, 0, 1, ceil_mode)
        return greatest if sign > 0 else -greatest
    count = math.prod(kernel_size) if not isinstance(kernel_size, int) else kernel_size**dims
    mean = MEANS[dims](input.pow(p), kernel_size, stride, 0, ceil_mode)
    return (F.sign(mean) * relu(mean.abs())).mul(count).pow(1.0 / p)


def lp_pool1d(
    input: Any, norm_type: float, kernel_size: Numbers, stride: Numbers | None = None, ceil_mode: bool = False
) -> Any:
    """The `norm_type`-norm of each window of `input` ([N,] C, L), from the powers' sum."""
    return norms(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Any, norm_type: float, kernel_size: Numbers, stride: Numbers | None = None, ceil_mode: bool = False
) -> Any:
    """The `norm_type`-norm of each window of `input` ([N,] C, H, W), from the powers' sum."""
    return norms(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Any, norm_type: float, kernel_size: Numbers, stride: Numbers | None = None, ceil_mode: bool = False
) -> Any:
    """The `norm_type`-norm of each window of `input` ([N,] C, D, H, W), from the powers' sum."""
    return norms(3, input, norm_type, kernel_size, stride, ceil_mode)
