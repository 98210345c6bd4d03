"""Rows of a table by number, and windows of images."""

from __future__ import annotations

from typing import Any

from ...inplace import in_place
from ...ops import embedding as tables
from ...ops import windows


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of the matrix `weight` at the whole numbers `input`.

    Row `padding_idx` gets no gradient. `max_norm` shortens, in place, those of the rows used that are longer.
    `sparse` makes no difference here: gradients are dense.
    """
    rows = weight._data.shape[0] if weight._data.ndim else 0
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += rows
    if max_norm is not None:
        in_place(tables.embedding_renorm.op, weight.detach(), input, max_norm, norm_type)
    return tables.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


one_hot = tables.one_hot


def pair(name: str, value: Any) -> tuple[int, int]:
    """One number for both directions, or two; RuntimeError with PyTorch's text for more."""
    if isinstance(value, int):
        return value, value
    if len(value) not in (1, 2):
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(value)}")
    return (value[0], value[-1])


def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The windows of images of shape (N, C, H, W) as columns: (N, C · kernel elements, windows)."""
    given = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return windows.im2col(input, *(pair(name, value) for name, value in given.items()))


def fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Images of size `output_size` to which windows, given as columns, are added in their places."""
    given = {"output_size": output_size, "kernel_size": kernel_size, "dilation": dilation, "padding": padding,
             "stride": stride}  # fmt: skip
    return windows.col2im(input, *(pair(name, value) for name, value in given.items()))
