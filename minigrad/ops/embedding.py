"""Rows of a table by index: `embedding`, sums and means of rows (`embedding_bag`), and `one_hot`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import of
from .indexing import LONG, WHOLE, add_rows, check_inside, first_out_of_bounds
from .kernels import as_float32, linear_op, only_first, second_refusal
from .shapes import show_sizes


def index_error(where: str, name: str, kinds: str, given: str) -> RuntimeError:
    """PyTorch's error for an argument of a dtype that it does not take."""
    return RuntimeError(
        f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: {kinds}; but "
        f"got {given} instead (while checking arguments for {where})"
    )


def check_whole(where: str, **tensors: Any) -> None:
    """The same error for tensors of indices that are not integers."""
    for name, x in tensors.items():
        if x.dtype not in WHOLE:
            raise index_error(where, name, "Long, Int", of(x).type_name)


def add_to_rows(rows: Any, places: Any, count: int) -> Any:
    """Return a table of `count` rows to which `rows` are added at `places`."""
    out = np.zeros((count, rows.shape[-1]), rows.dtype)
    add_rows(out, (places,), rows)
    return out


@linear_op(
    weight=lambda g, weight_sym_sizes, indices, padding_idx, scale_grad_by_freq, sparse: (
        F.embedding_dense_backward(g, indices, weight_sym_sizes[0], padding_idx, scale_grad_by_freq)
    )
)
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Return the rows of the matrix `weight` at `indices`; the gradient leaves out row `padding_idx`."""
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    check_whole("embedding", indices=indices)
    check_inside(indices, 0, len(weight), "index out of range in self")
    return weight[indices]


show_sizes(embedding, "weight", 0)


def embedding_double_backward(g, indices, padding_idx):
    """Return the gradient of `embedding_dense_backward`: the rows again, 0 for those of `padding_idx`."""
    flat = F.reshape(indices, (-1,))
    rows = F.index_select(g, 0, flat)
    if padding_idx >= 0:
        rows = F.masked_fill(rows, F.unsqueeze(F.eq(flat, padding_idx), 1), 0)
    return F.reshape(rows, (*indices.shape, g.shape[1]))


@linear_op(grad_output=lambda g, indices, padding_idx: embedding_double_backward(g, indices, padding_idx))
def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    """Return a table of `num_weights` rows to which the rows of `grad_output` are added at `indices`, except
    `padding_idx`; with `scale_grad_by_freq` each is divided by how often its index occurs.
    """
    flat, rows = indices.reshape(-1), grad_output.reshape(indices.size, grad_output.shape[-1])
    if padding_idx >= 0:
        taken = flat != padding_idx
        flat, rows = flat[taken], rows[taken]
    if scale_grad_by_freq:
        rows = rows / np.bincount(flat, minlength=num_weights)[flat, None].astype(rows.dtype)
    return add_to_rows(rows, flat, num_weights)


@differentiable()
def embedding_renorm(weight, indices, max_norm, norm_type):
    """Return the matrix with those of its rows `indices` shortened whose norm is greater than `max_norm`."""
    out = weight.copy()
    for i in np.unique(indices):
        norm = np.linalg.norm(out[i], norm_type)
        if norm > max_norm:
            out[i] *= out.dtype.type(max_norm / (norm + 1e-7))
    return out


@differentiable()
def one_hot(self, num_classes=-1):
    """Return a row for each class: 1 at the class and 0 elsewhere.

    The result is integer, so no gradient can flow through it.

    Args:
        input: classes, int64.
        num_classes: length of a row; −1 takes the largest class plus 1.

    Shape:
        (*) → (*, num_classes).

    Returns:
        The rows, int64.

    Raises:
        RuntimeError: a class is negative or not below num_classes.

    Example:
        >>> F.one_hot(torch.tensor([1, 0]), 3).tolist()
        [[0, 1, 0], [1, 0, 0]]

    Source: PyTorch's page `torch.nn.functional.one_hot`.
    """
    check_classes(self, num_classes)
    count = int(self.max()) + 1 if num_classes == -1 else num_classes
    return (np.asarray(self)[..., None] == np.arange(count)).astype(np.int64)


def check_classes(classes: Any, count: int) -> None:
    """RuntimeError with PyTorch's text unless these are classes; `count` is their number, -1 if unknown."""
    if classes.dtype not in LONG:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not classes.size and count <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if classes.size and classes.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if classes.size and count != -1 and classes.max() >= count:
        raise RuntimeError("Class values must be smaller than num_classes.")


SUM, MEAN = 0, 1


def check_bags(weight: Any, indices: Any, offsets: Any) -> None:
    """RuntimeError with PyTorch's text for dtypes and places that do not fit."""
    check_whole("embedding_bag", indices=indices, offsets=offsets)
    if weight.dtype.kind != "f":
        kind = of(weight)
        shown = f"CPU{kind.title}Type" if weight.dtype.kind == "c" else kind.type_name
        raise index_error("embedding_bag", "weight", "Half, BFloat16, Float, Double", shown)
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
    wrong = first_out_of_bounds(indices, 0, len(weight))
    if wrong is not None:
        raise RuntimeError(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {wrong}"
        )


def in_bags(indices: Any, bags: Any, padding_idx: int) -> Any:
    """Return which indices count: those in a bag that are not `padding_idx`."""
    return (indices != padding_idx) & (bags >= 0)


def weight_vjp(
    grads, indices, mode, offsets, padding_idx, per_sample_weights, result1, result2, result3,
    scale_grad_by_freq, sparse, weight_sym_sizes,
):  # fmt: skip
    """Return the gradient of the table."""
    return F._embedding_bag_backward(
        grads[0], indices, result1, result2, result3, weight_sym_sizes[0], scale_grad_by_freq, mode,
        per_sample_weights, padding_idx,
    )  # fmt: skip


@differentiable(
    weight=weight_vjp,
    per_sample_weights=lambda grads, weight: None,  # there are none, but PyTorch's node has an edge for them
    **only_first("result0", "result1", "result2", "result3"),
)
def embedding_bag(
    weight, indices, offsets, scale_grad_by_freq=False, mode=SUM, sparse=False, per_sample_weights=None,
    include_last_offset=False, padding_idx=-1,
):  # fmt: skip
    """Return the sum (`mode` 0) or mean (1) of the rows of `weight` at the `indices` of each bag, which begin
    at `offsets`; rows of `padding_idx` do not count. Also the bag of each index, and, for means, the size of
    each bag twice. `per_sample_weights` is None.

    With `include_last_offset` the last offset is where the last bag ends, as PyTorch documents and its kernel
    for sums of float32 does; indices behind it are in no bag (-1). Its other kernels count some of them, each
    in its own way.
    """
    check_bags(weight, indices, offsets)
    starts, end = (offsets[:-1], offsets[-1]) if include_last_offset else (offsets, len(indices))
    bags = np.searchsorted(starts, np.arange(len(indices)), "right").astype(starts.dtype) - 1
    bags[end:] = -1
    used = in_bags(indices, bags, padding_idx)
    own = bags[used]
    sums = add_to_rows(as_float32(weight[indices[used]]), own, len(starts))
    if mode == SUM:
        nothing = np.zeros(len(starts), indices.dtype)
        return sums.astype(weight.dtype), bags, nothing, nothing
    sizes = np.bincount(own, minlength=len(starts)).astype(indices.dtype)
    return (sums / np.maximum(sizes, 1)[:, None]).astype(weight.dtype), bags, sizes, sizes


show_sizes(embedding_bag, "weight", 0)


@differentiable(
    grad=second_refusal("_embedding_bag_backward"),
    per_sample_weights=second_refusal("_embedding_bag_backward"),
)
def _embedding_bag_backward(
    grad, indices, bags, sizes, where, num_weights, scale_grad_by_freq, mode, per_sample_weights=None,
    padding_idx=-1,
):  # fmt: skip
    """Return the gradient of the table of `embedding_bag`."""
    used = in_bags(indices, bags, padding_idx)
    index, bag = indices[used], bags[used]
    rows = grad[bag]
    if mode == MEAN:
        rows = rows / sizes[bag][:, None]
    if scale_grad_by_freq:
        rows = rows / np.bincount(indices, minlength=num_weights)[index][:, None]
    return add_to_rows(rows.astype(grad.dtype, copy=False), index, num_weights)
