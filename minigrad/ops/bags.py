"""Rows of a table by number, in bags: the sum, mean or maximum of each bag."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import of
from .into_zeros import WHOLE, outside
from .underivable import no_derivative, second_refusal

SUM, MEAN, MAX = 0, 1, 2


def check(weight: Any, indices: Any, offsets: Any) -> None:
    """RuntimeError with PyTorch's text for dtypes and places that do not fit."""
    for name, x, kinds in (("indices", indices, "Long, Int"), ("offsets", offsets, "Long, Int")):
        if x.dtype not in WHOLE:
            raise refusal(name, kinds, of(x).type_name)
    if weight.dtype.kind != "f":
        kind = of(weight)
        shown = f"CPU{kind.title}Type" if weight.dtype.kind == "c" else kind.type_name
        raise refusal("weight", "Half, BFloat16, Float, Double", shown)
    if len(offsets) and offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0."
            f" However, got {offsets[0]}\n[ torch.{of(offsets).title}Tensor{{}} ]"
        )
    if len(offsets) and offsets[-1] > len(indices):
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {len(indices)} but got offsets[-1] of "
            f"{offsets[-1]}"
        )
    wrong = outside(indices, 0, len(weight))
    if wrong is not None:
        raise RuntimeError(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {wrong}"
        )


def refusal(name: str, kinds: str, given: str) -> RuntimeError:
    """PyTorch's error for an argument of a dtype that it does not take."""
    return RuntimeError(
        f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: {kinds}; but "
        f"got {given} instead (while checking arguments for embedding_bag)"
    )


def bag_of_each(count: int, offsets: Any) -> Any:
    """Return the bag of each of `count` numbers, given where bags begin."""
    begun = np.zeros(count + 1, offsets.dtype)
    np.add.at(begun, offsets, 1)
    return np.cumsum(begun, dtype=offsets.dtype)[:-1] - 1


def summed(rows: Any, bags: Any, count: int) -> Any:
    """Return the sum of the rows of each bag, in float32 for float16."""
    out = np.zeros((count, rows.shape[1]), np.float32 if rows.dtype == np.float16 else rows.dtype)
    np.add.at(out, bags, rows)
    return out


def greatest(rows: Any, bags: Any, count: int) -> tuple[Any, Any]:
    """Return the maximum of each bag in each column, 0 if it is empty, and in which row it comes first."""
    width = rows.shape[1]
    top = np.full((count, width), -np.inf, rows.dtype)
    np.maximum.at(top, bags, rows)
    first = np.full((count, width), len(rows))
    places = np.where(rows == top[bags], np.arange(len(rows))[:, None], len(rows))
    np.minimum.at(first, bags, places)
    return np.where(first < len(rows), top, rows.dtype.type(0)), first


def weight_vjp(
    grads: Any, indices: Any, mode: int, offsets: Any, padding_idx: int, per_sample_weights: Any,
    result1: Any, result2: Any, result3: Any, scale_grad_by_freq: bool, sparse: bool, weight_sym_sizes: Any,
) -> Any:  # fmt: skip
    """Return the gradient of the table."""
    return F._embedding_bag_backward(
        grads[0], indices, result1, result2, result3, weight_sym_sizes[0], scale_grad_by_freq, mode,
        per_sample_weights, padding_idx,
    )  # fmt: skip


def weights_vjp(
    grads: Any, indices: Any, mode: int, offsets: Any, padding_idx: int, result1: Any, weight: Any
) -> Any:
    """Return the gradient of the weights of the numbers."""
    return F._embedding_bag_per_sample_weights_backward(grads[0], weight, indices, result1, padding_idx)


@differentiable(
    weight=weight_vjp,
    per_sample_weights=weights_vjp,
    several=("result0", "result1", "result2", "result3"),
    constants=("result1", "result2", "result3"),
)
def embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=SUM,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=-1,
):
    """Return the sum (`mode` 0), mean (1) or maximum (2) of the rows of `weight` at the `indices` of each
    bag, which begin at `offsets`; rows of `padding_idx` do not count. Also the bag of each index, and the
    size of each bag and where its maxima are as far as the mode needs them.
    """
    check(weight, indices, offsets)
    starts = offsets[:-1] if include_last_offset else offsets
    count = len(starts)
    bags = bag_of_each(len(indices), starts)
    used = indices != padding_idx
    rows, own = weight[indices[used]], bags[used]
    nothing = np.zeros(count, indices.dtype)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[used][:, None]
    if mode == SUM:
        return summed(rows, own, count).astype(weight.dtype), bags, nothing, nothing
    sizes = np.bincount(own, minlength=count).astype(indices.dtype)
    if mode == MEAN:
        means = summed(rows, own, count) / np.maximum(sizes, 1)[:, None]
        return means.astype(weight.dtype), bags, sizes, sizes
    top, first = greatest(rows, own, count)
    where = np.append(indices[used], indices.dtype.type(0))[first]
    return top, bags, sizes, where


bag_node: Any = embedding_bag.op.node
del bag_node._saved_weight_sym_sizes
bag_node._saved_weight_sym_argsize_0 = property(lambda node: node._raw_weight_sym_sizes[0])


@differentiable(
    grad=second_refusal("_embedding_bag_backward"),
    per_sample_weights=second_refusal("_embedding_bag_backward"),
    node="EmbeddingBagBackwardBackward0",
)
def _embedding_bag_backward(
    grad,
    indices,
    bags,
    sizes,
    where,
    num_weights,
    scale_grad_by_freq,
    mode,
    per_sample_weights=None,
    padding_idx=-1,
):
    """Return the gradient of the table of `embedding_bag`."""
    out = np.zeros((num_weights, grad.shape[1]), grad.dtype)
    if mode == MAX:
        filled = sizes > 0
        np.add.at(out, (where[filled], np.arange(grad.shape[1])), grad[filled])
        return out
    used = indices != padding_idx
    index, bag = indices[used], bags[used]
    rows = grad[bag]
    if mode == MEAN:
        rows = rows / sizes[bag][:, None]
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[used][:, None]
    if scale_grad_by_freq:
        rows = rows / np.bincount(indices, minlength=num_weights)[index][:, None]
    np.add.at(out, index, rows.astype(grad.dtype, copy=False))
    return out


@differentiable(**no_derivative("_embedding_bag_per_sample_weights_backward", "grad", "weight"))
def _embedding_bag_per_sample_weights_backward(grad, weight, indices, bags, padding_idx):
    """Return the gradient of the weights of the numbers of `embedding_bag`."""
    found = np.add.reduce(grad[bags] * weight[indices], axis=1)
    return np.where(indices != padding_idx, found, grad.dtype.type(0)).astype(grad.dtype, copy=False)
