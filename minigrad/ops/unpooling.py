"""The way back from pooling: elements put where the greatest ones were, zeros elsewhere."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..dtypes import of
from ..op import differentiable
from .halves import not_implemented
from .pooling import taken


def check(x: Any, indices: Any, k: int, output_size: Any, stride: Any) -> None:
    """PyTorch's errors for arguments that do not fit."""
    if indices.dtype != np.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {of(indices).title}")
    if len(output_size) != k:
        told = "two elements (height, width)" if k == 2 else "three elements (depth, height, width)"
        raise RuntimeError(
            f"There should be exactly {told} in output_size, but got {len(output_size)} elements."
        )
    if x.ndim not in (k + 1, k + 2):
        raise RuntimeError(
            f"Input to max_unpooling{k}d should be a {k + 1}d or {k + 2}d Tensor, but got a tensor with "
            f"{x.ndim} dimensions."
        )
    if x.shape != indices.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(x.shape)}) but got "
            f"indices tensor with shape: {list(indices.shape)}"
        )
    if min(stride, default=1) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")
    for i in range(1, x.ndim):
        if not x.shape[i]:
            raise RuntimeError(
                f"max_unpooling{k}d_forward_out_cpu(): Expected input to have non-zero size for non-batch "
                f"dimensions, but got {list(x.shape)} with dimension {i} being empty."
            )
    if x.dtype.kind != "f":
        raise not_implemented(f"max_unpool{k}d", of(x))
    bad = indices[(indices < 0) | (indices >= prod(output_size))]
    if bad.size:
        sizes = "x".join(map(str, output_size))
        raise RuntimeError(f"Found an invalid max index: {bad[-1]} (output volumes are of size {sizes})")


def put(x: Any, indices: Any, k: int, output_size: Any) -> Any:
    """Zeros of `output_size`, with the elements of each plane at their places."""
    lead = x.shape[:-k]
    out: Any = np.zeros((prod(lead), prod(output_size)), x.dtype)
    flat = (len(out), prod(x.shape[-k:]))
    np.put_along_axis(out, indices.reshape(flat), x.reshape(flat), 1)
    return out.reshape((*lead, *output_size))


@differentiable(self=lambda g, indices: taken(g, indices, 2), linear=True, node="MaxUnpool2DBackward0")
def max_unpool2d(self, indices, output_size):
    """Images of `output_size` with the elements at `indices`, the places that pooling gave; 0 elsewhere."""
    check(self, indices, 2, output_size, ())
    return put(self, indices, 2, output_size)


@differentiable(self=lambda g, indices: taken(g, indices, 3), linear=True, node="MaxUnpool3DBackward0")
def max_unpool3d(self, indices, output_size, stride, padding):
    """Volumes of `output_size` with the elements at `indices`, the places that pooling gave; 0 elsewhere."""
    check(self, indices, 3, output_size, stride)
    return put(self, indices, 3, output_size)
