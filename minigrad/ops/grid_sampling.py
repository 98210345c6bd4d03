"""Images and volumes sampled at the points of a grid, and affine grids.

An element of the result is a weighted sum of the elements of the input around its place, the taps:

    y = Σ w(place) x

where w is a product of weights, one for each dimension. So the gradient of the input adds `w · ȳ` at each
tap, and that of the grid sums `w' · x · ȳ` over taps and channels, w' being the slope of w with respect to a
coordinate.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..core import calls, differentiable
from .arguments import refuse, same_dtype
from .kernels import by_one_op, in_float32, linear_op, second_refusal

BILINEAR, NEAREST = range(2)
ZEROS, BORDER = range(2)


def pixel_index(x: Any) -> Any:
    """Places as integers; those that are none lie outside."""
    return np.where(np.abs(x) < 2**31, x, -100).astype(np.int64)


def taps_of(
    at: Any, n: int, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> list[tuple[Any, Any, Any]]:
    """Return (place, weight, slope of the weight) of the taps of one dimension; -1 and 1 are the ends."""
    half = at.dtype.type(0.5)
    x = (at + 1) * half * (n - 1) if align_corners else ((at + 1) * n - 1) * half
    speed: Any = 1
    if padding_mode == BORDER:
        speed = ((x > 0) & (x < n - 1)).astype(x.dtype)
        # what is no number is the first place, as in PyTorch
        x = np.fmin(np.fmax(x, 0), n - 1).astype(x.dtype)
    if interpolation_mode == NEAREST:
        return [(pixel_index(np.rint(x)), np.ones_like(x), np.zeros_like(x))]
    low = np.floor(x)
    slope = speed * at.dtype.type(((n - 1) if align_corners else n) / 2)
    return [(pixel_index(low), low + 1 - x, -slope), (pixel_index(low) + 1, x - low, slope)]


def all_taps(grid: Any, size: Any, how: Any) -> Any:
    """For each tap: the places in the flattened input, shape (N, 1, places), what is inside, the weights, and
    their slopes with respect to each coordinate, x first.
    """
    k = len(size)
    flat = grid.reshape((len(grid), prod(grid.shape[1:-1]), k))
    along = [taps_of(flat[..., k - 1 - d], n, *how) for d, n in enumerate(size)]
    for taps in product(*along):
        places = [place for place, _, _ in taps]
        index = np.ravel_multi_index(places, size, mode="clip")
        inside = np.all([(place >= 0) & (place < n) for place, n in zip(places, size)], axis=0)
        weights = [weight for _, weight, _ in taps]
        slopes = [
            prod((*weights[:d], slope, *weights[d + 1 :]))
            for d, (_, _, slope) in reversed([*enumerate(taps)])
        ]
        yield index[:, None], inside[:, None], prod(weights)[:, None], slopes


def sample_grid(x: Any, grid: Any, how: Any) -> Any:
    """Return the weighted sums of all taps: shape (N, C, places…)."""
    flat = x.reshape((*x.shape[:2], prod(x.shape[2:])))
    total: Any = np.zeros((*x.shape[:2], prod(grid.shape[1:-1])), x.dtype)
    for index, inside, weight, _ in all_taps(grid, x.shape[2:], how):
        total += np.where(inside, np.take_along_axis(flat, index, 2), 0) * weight
    return total.reshape((*x.shape[:2], *grid.shape[1:-1]))


def input_gradient(g: Any, x: Any, grid: Any, how: Any) -> Any:
    """Return the gradient of the input, the transpose of `sample_grid`."""
    planes, size = prod(g.shape[:2]), prod(x.shape[2:])
    out: Any = np.zeros(planes * size, g.dtype)
    starts = np.arange(planes).reshape((*g.shape[:2], 1)) * size
    flat = g.reshape((*g.shape[:2], prod(g.shape[2:])))
    for index, inside, weight, _ in all_taps(grid, x.shape[2:], how):
        np.add.at(out, (starts + index).ravel(), np.where(inside, flat * weight, 0).ravel())
    return out.reshape(x.shape)


def grid_gradient(g: Any, x: Any, grid: Any, how: Any) -> Any:
    """Return the gradient of the grid."""
    flat_x = x.reshape((*x.shape[:2], prod(x.shape[2:])))
    flat_g = g.reshape((*g.shape[:2], prod(g.shape[2:])))
    total: Any = 0
    for index, inside, _, slopes in all_taps(grid, x.shape[2:], how):
        seen = np.where(inside, np.take_along_axis(flat_x, index, 2), 0)
        total = total + np.stack(slopes, -1) * np.add.reduce(flat_g * seen, axis=1)[..., None]
    return total.reshape(grid.shape)


def check_grid(x: Any, grid: Any, k: int) -> None:
    """PyTorch's errors for shapes and dtypes that do not go together."""
    fits = x.ndim == grid.ndim == k + 2 and len(x) == len(grid) and grid.shape[-1] == k
    if not fits or 0 in x.shape[2:]:
        raise RuntimeError(
            f"grid_sampler(): expected an input (N, C, …) of {k + 2} dimensions, the last {k} not empty, and "
            f"a grid (N, …, {k}), but got sizes {list(x.shape)} and {list(grid.shape)}"
        )
    refuse(x, "biuc", "grid_sampler_2d_cpu_kernel_impl" if k == 2 else "grid_sampler3d_cpu")
    same_dtype(x, grid, "expected scalar type {0.title} but found {1.title}")


def declare_grid_sampler(k: int, title: str, gradient: str) -> None:
    """Declare sampling of `k` dimensions, and its gradients."""
    no_second = second_refusal(gradient)

    names = "input grid interpolation_mode padding_mode align_corners"

    @differentiable(name=title, **by_one_op(gradient, "input grid", names))
    def forward(input, grid, interpolation_mode, padding_mode, align_corners):
        """Return the input at the places of a grid, whose coordinates go from -1 to 1, x first."""
        check_grid(input, grid, k)
        return sample_grid(input, grid, (interpolation_mode, padding_mode, align_corners))

    @differentiable(name=gradient, grad_output=no_second, input=no_second, grid=no_second, several=True)
    def backward(grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask):
        """Return the gradients of input and grid, nothing instead of what `output_mask` does not ask for."""
        how = (interpolation_mode, padding_mode, align_corners)
        return tuple(
            compute(grad_output, input, grid, how) if asked else np.empty(0, grad_output.dtype)
            for compute, asked in zip((input_gradient, grid_gradient), output_mask)
        )


declare_grid_sampler(2, "grid_sampler_2d", "grid_sampler_2d_backward")
declare_grid_sampler(3, "grid_sampler_3d", "grid_sampler_3d_backward")


def base(size: Any, align_corners: bool, dtype: Any) -> Any:
    """The places of all elements of a picture from -1 to 1, x first, and a 1: (places, dimensions + 1)."""
    lines = []
    for n in size:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        lines.append(line if align_corners or n <= 1 else line * (n - 1) / n)
    places = np.meshgrid(*lines, indexing="ij")[::-1]
    return np.stack([*(p.ravel() for p in places), np.ones(places[0].size)], -1).astype(dtype)


@linear_op(theta=calls("affine_grid_generator_backward", "size", "align_corners"))
@in_float32
def affine_grid_generator(theta, size, align_corners):
    """Return the places (N, …, dimensions) to which affine maps `theta` (N, dimensions, dimensions + 1) move
    those of a picture of `size` (N, C, …), whose coordinates go from -1 to 1.
    """
    if len(size) not in (4, 5) or tuple(theta.shape[::2]) != (size[0], len(size) - 1):
        told = f"{tuple(size)} and maps of size {list(theta.shape)}"
        raise RuntimeError(f"AffineGridGenerator needs 4d or 5d sizes (N, C, …) and N maps, but got {told}")
    grid = base(size[2:], align_corners, theta.dtype) @ np.swapaxes(theta, 1, 2)
    return grid.reshape((size[0], *size[2:], len(size) - 2))


@linear_op(grad=calls("affine_grid_generator", "size", "align_corners"))
@in_float32
def affine_grid_generator_backward(grad, size, align_corners):
    """Return the gradient of the maps of `affine_grid_generator`."""
    places = base(size[2:], align_corners, grad.dtype)
    return np.swapaxes(grad.reshape((size[0], len(places), len(size) - 2)), 1, 2) @ places
