"""Lines, images and volumes at other sizes, each dimension for itself.

Every result is a weighted sum of a few elements along a dimension. Where these stand and what they weigh are
arrays of shape (elements, results), the taps.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ..core import F, calls
from .arguments import refuse
from .kernels import in_float32, linear_op

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


def check_resampling(x: Any, k: int, output_size: Any, way: str) -> None:
    """PyTorch's errors for sizes and dtypes that cannot be resampled."""
    if 0 in x.shape[1:] or min(output_size) <= 0:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(x.shape)} output "
            f"{list(output_size)}"
        )
    if x.dtype != np.uint8 or way != "nearest":
        refuse(x, "biuc", f"upsample_{way}{k}d")


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
        check_resampling(self, k, output_size, way)
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
