"""Images at other sizes (`interpolate`), and sampled at the points of a grid (`grid_sample`).

Every result is a weighted sum of a few elements, the taps. For another size, their indices and their weights
are arrays of shape (elements, results), for each dimension. At a point of a grid,

    y = Σ w(place) x

where w is a product of weights, one for each dimension. So the gradient of the input adds `w · ȳ` at each
tap, and that of the grid sums `w' · x · ȳ` over taps and channels, w' being the slope of w with respect to a
coordinate.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..core import F, calls, differentiable
from ..core.guards import check_same_dtype, refuse
from .kernels import by_one_op, in_float32, linear_op, second_refusal

# ─── Other sizes, each dimension for itself


# ── taps
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def step_of(n: int, count: int, align_corners: bool, scale: float | None, kind: Any) -> Any:
    """How far the results lie apart, in elements."""
    if align_corners:
        return kind(n - 1) / kind(count - 1) if count > 1 else kind(0)
    return kind(1 / scale) if scale is not None and scale > 0 else kind(n) / kind(count)


def nearest(n: int, count: int, align_corners: bool, scale: float | None, kind: Any) -> tuple[Any, Any]:
    """One element without a weight: that in which a result begins. PyTorch rounds to float32, which decides
    between two.
    """
    step = float(step_of(n, count, False, scale, kind))
    at = (np.arange(count) * step).astype(np.float32)
    return np.minimum(np.floor(at), n - 1).astype(np.int64)[None], (None,)


def neighbours(n: int, count: int, align_corners: bool, scale: float | None, kind: Any) -> tuple[Any, Any]:
    """Return the two elements around each result; those beyond the border are the outermost."""
    step = step_of(n, count, align_corners, scale, kind)
    at = np.arange(count, dtype=kind)
    if n != count:
        at = at * step if align_corners else (at + kind(0.5)) * step - kind(0.5)
    at = np.maximum(at, 0)
    low = np.minimum(np.floor(at), n - 1)
    part, place = np.clip(at - low, 0, 1), low.astype(np.int64)
    return (place, np.minimum(place + 1, n - 1)), (1 - part, part)


# what makes the taps
WAYS: dict[str, Any] = {"nearest": nearest, "linear": neighbours}


def all_taps(
    way: str, size: Any, output_size: Any, align_corners: bool, scales: Any, kind: Any
) -> list[tuple[Any, Any]]:
    """Return the taps of every dimension."""
    return [
        WAYS[way](n, count, align_corners, scale, kind)
        for n, count, scale in zip(size, output_size, scales or (None,) * len(size))
    ]


# ── sums of taps
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def weigh(x: Any, weights: Any, axis: int) -> Any:
    """`x` times weights along an axis, if there are any."""
    return x if weights is None else x * weights.reshape((-1, *(1,) * (x.ndim - axis - 1)))


def gather_taps(x: Any, axis: int, places: Any, weights: Any) -> Any:
    """Return the weighted sums along an axis."""
    return reduce(np.add, (weigh(np.take(x, p, axis), w, axis) for p, w in zip(places, weights)))


def scatter_taps(g: Any, axis: int, n: int, places: Any, weights: Any) -> Any:
    """Return the transpose of `gather_taps`. Slice by slice it takes a fifth of the time of `np.add.at`."""
    slices = np.ascontiguousarray(np.moveaxis(g, axis, 0))
    out = np.zeros((n, *slices.shape[1:]), g.dtype)
    sums = list(out)  # views of it
    for where, w in zip(places, weights):
        for place, part in zip(where.tolist(), weigh(slices, w, 0)):
            sums[place] += part
    return np.moveaxis(out, 0, axis)


@in_float32
def resample(x: Any, way: str, output_size: Any, align_corners: bool, scales: Any) -> Any:
    """`x` at another size along its last dimensions."""
    k = len(output_size)
    kind = np.float64 if x.dtype == np.float64 else np.float32
    taps = all_taps(way, x.shape[-k:], output_size, align_corners, scales, kind)
    for axis in reversed(range(x.ndim - k, x.ndim)):
        x = gather_taps(x, axis, *taps[axis - x.ndim + k])
    return np.ascontiguousarray(x)


@in_float32
def sent_back(g: Any, way: str, input_size: Any, align_corners: bool, scales: Any) -> Any:
    """Return the transpose of `resample`."""
    k = g.ndim - 2
    size = input_size[-k:]
    taps = all_taps(way, size, g.shape[-k:], align_corners, scales, g.dtype.type)
    for axis in range(2, g.ndim):
        g = scatter_taps(g, axis, size[axis - 2], *taps[axis - 2])
    return np.ascontiguousarray(g)


# ── the ops
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_resampling(x: Any, output_size: Any, title: str) -> None:
    """PyTorch's errors for sizes and dtypes that cannot be resampled."""
    if 0 in x.shape[1:] or min(output_size) <= 0:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(x.shape)} output "
            f"{list(output_size)}"
        )
    refuse(x, title)


def scale_at(i: int, k: int) -> Any:
    """What reads the scale of dimension `i` of `k` from a node."""
    return lambda node: (node._raw_scales or (None,) * k)[i]


def show_settings(node: Any, k: int, has_corners: bool) -> None:
    """PyTorch's nodes show the scales one by one, and `align_corners` only where it counts."""
    del node._saved_scales
    for i, letter in enumerate("dhw"[3 - k :]):
        name = "_saved_scales" + (f"_{letter}" if k > 1 else "")
        setattr(node, name, property(scale_at(i, k)))
    if not has_corners:
        del node._saved_align_corners


def declare_resampling(way: str, k: int, title: str, gradient: str) -> None:
    """Declare resampling of `k` dimensions, and its transpose."""
    vjp = calls(gradient, "output_size", "self_sym_sizes", "align_corners", "scales")
    twice = calls(title, "output_size", "align_corners", "scales")

    @linear_op(name=title, self=vjp)
    def forward(self, output_size, align_corners=False, scales=None):
        """Return the last dimensions of (N, C, …) at the size `output_size`, `scales` times as many."""
        check_resampling(self, output_size, title)
        return resample(self, way, output_size, align_corners, scales)

    @linear_op(name=gradient, grad_output=twice)
    def backward(grad_output, output_size, input_size, align_corners=False, scales=None):
        """Return the gradient: each number shared out among the elements it came from."""
        return sent_back(grad_output, way, input_size, align_corners, scales)

    for call in (forward, backward):
        show_settings(call.op.node, k, way != "nearest")


declare_resampling("nearest", 1, "upsample_nearest1d", "upsample_nearest1d_backward")
declare_resampling("nearest", 2, "upsample_nearest2d", "upsample_nearest2d_backward")
declare_resampling("nearest", 3, "upsample_nearest3d", "upsample_nearest3d_backward")
declare_resampling("linear", 1, "upsample_linear1d", "upsample_linear1d_backward")
declare_resampling("linear", 2, "upsample_bilinear2d", "upsample_bilinear2d_backward")
declare_resampling("linear", 3, "upsample_trilinear3d", "upsample_trilinear3d_backward")


# ── channels and neighbors
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_image(self: Any, name: str, *divisors: int) -> None:
    """RuntimeError unless these numbers are positive and divide the last three sizes."""
    fits = self.ndim >= 3 and min(divisors) > 0
    if not fits or any(n % d for n, d in zip(self.shape[-3:], divisors)):
        raise RuntimeError(
            f"{name} expects sizes (…, C, H, W) divisible by {divisors}, but got {list(self.shape)}"
        )


@linear_op(self=lambda g, upscale_factor: F.pixel_unshuffle(g, upscale_factor), forms="function", out="")
def pixel_shuffle(self, upscale_factor):
    """Return images of shape (…, C·r², H, W) as (…, C, H·r, W·r) for the factor r: channels become
    neighbors.
    """
    r = upscale_factor
    check_image(self, "pixel_shuffle", r * abs(r), 1, 1)
    *lead, c, h, w = self.shape
    blocks = self.reshape(*lead, c // r**2, r, r, h, w)
    n = len(lead)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return blocks.transpose(order).reshape(*lead, c // r**2, h * r, w * r).copy()


@linear_op(self=lambda g, downscale_factor: F.pixel_shuffle(g, downscale_factor), forms="function", out="")
def pixel_unshuffle(self, downscale_factor):
    """Return images of shape (…, C, H·r, W·r) as (…, C·r², H, W) for the factor r: neighbors become
    channels.
    """
    r = downscale_factor
    check_image(self, "pixel_unshuffle", 1, r, r)
    *lead, c, h, w = self.shape
    blocks = self.reshape(*lead, c, h // r, r, w // r, r)
    n = len(lead)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return blocks.transpose(order).reshape(*lead, c * r**2, h // r, w // r).copy()


# ─── The points of a grid


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
        # what is not a number is the first place, as in PyTorch
        x = np.fmin(np.fmax(x, 0), n - 1).astype(x.dtype)
    if interpolation_mode == NEAREST:
        return [(pixel_index(np.rint(x)), np.ones_like(x), np.zeros_like(x))]
    low = np.floor(x)
    slope = speed * at.dtype.type(((n - 1) if align_corners else n) / 2)
    return [(pixel_index(low), low + 1 - x, -slope), (pixel_index(low) + 1, x - low, slope)]


def grid_taps(grid: Any, size: Any, how: Any) -> Any:
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
    for index, inside, weight, _ in grid_taps(grid, x.shape[2:], how):
        total += np.where(inside, np.take_along_axis(flat, index, 2), 0) * weight
    return total.reshape((*x.shape[:2], *grid.shape[1:-1]))


def input_gradient(g: Any, x: Any, grid: Any, how: Any) -> Any:
    """Return the gradient of the input, the transpose of `sample_grid`."""
    planes, size = prod(g.shape[:2]), prod(x.shape[2:])
    out: Any = np.zeros(planes * size, g.dtype)
    starts = np.arange(planes).reshape((*g.shape[:2], 1)) * size
    flat = g.reshape((*g.shape[:2], prod(g.shape[2:])))
    for index, inside, weight, _ in grid_taps(grid, x.shape[2:], how):
        np.add.at(out, (starts + index).ravel(), np.where(inside, flat * weight, 0).ravel())
    return out.reshape(x.shape)


def grid_gradient(g: Any, x: Any, grid: Any, how: Any) -> Any:
    """Return the gradient of the grid."""
    flat_x = x.reshape((*x.shape[:2], prod(x.shape[2:])))
    flat_g = g.reshape((*g.shape[:2], prod(g.shape[2:])))
    total: Any = 0
    for index, inside, _, slopes in grid_taps(grid, x.shape[2:], how):
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
    refuse(x, "grid_sampler_2d_cpu_kernel_impl" if k == 2 else "grid_sampler3d_cpu")
    check_same_dtype(x, grid)


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
