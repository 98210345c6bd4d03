"""Rows of a table by number: `embedding`, and `one_hot`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable
from ..core.dtypes import of
from .into_zeros import LONG, WHOLE, check_inside


@differentiable(
    weight=lambda g, weight_sym_sizes, indices, padding_idx, scale_grad_by_freq, sparse: (
        F.embedding_dense_backward(g, indices, weight_sym_sizes[0], padding_idx, scale_grad_by_freq)
    ),
    linear=True,
)
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Return the rows of the matrix `weight` at `indices`; the gradient leaves out row `padding_idx`."""
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.dtype not in WHOLE:
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got {of(indices).type_name} instead (while checking arguments for embedding)"
        )
    check_inside(indices, 0, len(weight), "index out of range in self")
    return weight[indices]


embedding_node: Any = embedding.op.node
del embedding_node._saved_weight_sym_sizes
embedding_node._saved_weight_sym_argsize_0 = property(lambda node: node._raw_weight_sym_sizes[0])


def twice(g: Any, indices: Any, padding_idx: int) -> Any:
    """Return the gradient of `embedding_dense_backward`: the rows again, 0 for those of `padding_idx`."""
    flat = F.reshape(indices, (-1,))
    rows = F.index_select(g, 0, flat)
    if padding_idx >= 0:
        rows = F.masked_fill(rows, F.unsqueeze(F.eq(flat, padding_idx), 1), 0)
    return F.reshape(rows, (*indices.shape, g.shape[1]))


@differentiable(
    grad_output=lambda g, indices, padding_idx: twice(g, indices, padding_idx),
    node="EmbeddingDenseBackwardBackward0",
    linear=True,
)
def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    """Return a table of `num_weights` rows to which the rows of `grad_output` are added at `indices`, but for
    `padding_idx`; with `scale_grad_by_freq` each is divided by how often its index occurs.
    """
    width = grad_output.shape[-1]
    flat, rows = indices.reshape(-1), grad_output.reshape(-1, width)
    out = np.zeros((num_weights, width), grad_output.dtype)
    if padding_idx >= 0:
        taken = flat != padding_idx
        flat, rows = flat[taken], rows[taken]
    if scale_grad_by_freq:
        rows = rows / np.bincount(flat, minlength=num_weights)[flat, None].astype(rows.dtype)
    places = np.multiply(flat[:, None], width, dtype=np.int64) + np.arange(width)
    np.add.at(out.reshape(-1), places.reshape(-1), rows.reshape(-1))  # by numbers is faster than by rows
    return out


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
    if self.dtype not in LONG:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not self.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if self.size and self.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    count = int(self.max()) + 1 if num_classes == -1 else num_classes
    if self.size and self.max() >= count:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (np.asarray(self)[..., None] == np.arange(count)).astype(np.int64)
