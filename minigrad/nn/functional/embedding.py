"""Embeddings and windows."""

from __future__ import annotations

from typing import Any

from ...core.guards import check_tensor
from ...creation import arange
from ...inplace.in_place import in_place
from ...left_out import without
from ...ops import convolution as windows
from ...ops import embedding as tables
from .losses import expand

__all__ = ["embedding", "embedding_bag", "fold", "one_hot", "unfold"]


def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    """Return the rows of the matrix `weight` at the indices `input`.

    Row `padding_idx` receives no gradient. `max_norm` shortens rows in use with a larger norm, in place.
    `sparse` is ignored: gradients are dense.
    """
    check_tensor("embedding", weight, 1, "weight")
    check_tensor("embedding", input, 2, "indices")
    rows = weight._data.shape[0] if weight._data.ndim else 0
    unknown = AssertionError("Padding_idx must be within num_embeddings")
    padding_idx = row_of_padding(padding_idx, rows, unknown)
    shorten(weight, input, max_norm, norm_type)
    return tables.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def shorten(weight: Any, input: Any, max_norm: float | None, norm_type: float) -> None:
    """Shorten, in place, the rows in use whose norm is larger than `max_norm`, if it is given."""
    if max_norm is not None:
        in_place(tables.embedding_renorm.op, weight.detach(), input, max_norm, norm_type)


MODES = {"sum": tables.SUM, "mean": tables.MEAN}


def embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: Any = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """Return the mean or sum (`mode`) of the rows of `weight` at the indices of each bag.

    Bags are the rows of a two-dimensional `input`, or parts of a vector that begin at `offsets`; with
    `include_last_offset` the last offset is an end. An empty bag gives zeros. Rows of `padding_idx` do not
    count. For the other arguments see `embedding`. NotImplementedError for the mode "max" and for
    `per_sample_weights`.
    """
    if mode == "max" or per_sample_weights is not None:
        raise without("embedding_bag", "mode='max'" if mode == "max" else "per_sample_weights")
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                f"length sequences. However, found offsets of type {type(offsets)}"
            )
        offsets = arange(0, input.numel(), input.shape[1], dtype=input.dtype)
        include_last_offset, input = False, input.reshape(-1)
    elif input.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    elif offsets is None or offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor" + " but got None" * (offsets is None))
    if mode not in MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    shorten(weight, input, max_norm, norm_type)
    rows = weight.shape[0]
    unknown = RuntimeError(
        f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got "
        f"{padding_idx}"
    )
    return tables.embedding_bag(
        weight, input, offsets, scale_grad_by_freq, MODES[mode], sparse, None, include_last_offset,
        row_of_padding(padding_idx, rows, unknown),
    )[0]  # fmt: skip


def row_of_padding(padding_idx: int | None, rows: int, unknown: Exception) -> int:
    """Return the row that does not count, -1 for none; raise `unknown` if there is no such row."""
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise unknown
    return padding_idx % rows


one_hot = tables.one_hot


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Return the windows of images (N, C, H, W) as columns: (N, C · kernel elements, windows)."""
    given = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return windows.im2col(input, *(expand(name, value, 2, "window") for name, value in given.items()))


def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Add windows, given as columns, at their positions in images of size `output_size`."""
    given = {"output_size": output_size, "kernel_size": kernel_size, "dilation": dilation, "padding": padding,
             "stride": stride}  # fmt: skip
    return windows.col2im(input, *(expand(name, value, 2, "window") for name, value in given.items()))
