"""Embedding layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.devices import check_device
from .. import functional, init
from ..parameter import Parameter
from .linear import empty
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


class EmbeddingBase(Module):
    """Base class of embedding layers: a matrix `weight` of `num_embeddings` rows, drawn from the normal
    distribution.

    Row `padding_idx` is zero and does not learn. `max_norm` shortens longer rows in use, in place.
    """

    _shown = "num_embeddings embedding_dim"

    def _learn(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, weight: Any, dtype: Any
    ) -> None:
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError(f"{self._padding_text} must be within num_embeddings")
        self.padding_idx = padding_idx if padding_idx is None else padding_idx % num_embeddings
        if weight is None:
            self.weight = empty(num_embeddings, embedding_dim, dtype=dtype)
            self.reset_parameters()
        elif list(weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = Parameter(weight)

    _padding_text = "Padding_idx"

    def reset_parameters(self) -> None:
        """Fill the vectors with new random numbers."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.data[self.padding_idx])

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, **settings: Any) -> Any:
        """Create a layer whose weight shares memory with a given matrix.

        Args:
            embeddings: matrix (num_embeddings, embedding_dim).
            freeze: True keeps the weight from learning.
            settings: other arguments of the class.

        Shape:
            embeddings: (num_embeddings, embedding_dim).

        Returns:
            The new layer.

        Raises:
            AssertionError: embeddings is not a matrix.

        Example:
            >>> nn.Embedding.from_pretrained(torch.ones(4, 2))(torch.tensor([3])).tolist()
            [[1.0, 1.0]]

        Source: PyTorch's page `torch.nn.Embedding`.
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        make: Any = cls
        table = make(*embeddings.shape, _weight=embeddings, **settings)
        table.weight.requires_grad = not freeze
        return table


class Embedding(EmbeddingBase):
    """Layer that looks up a learned vector for each index.

    y = weight[input]. The gradient of a row of weight is the sum of the upstream gradients of all positions
    that used it. The weight is drawn from the normal distribution.

    Args:
        num_embeddings: number of rows of the weight.
        embedding_dim: size of a row.
        padding_idx: index of a row that starts at 0 and receives no gradient.
        max_norm: if given, rows in use with a larger norm are shortened to it, in place.
        norm_type: p of the p-norm for max_norm.
        scale_grad_by_freq: True divides the gradient of a row by the number of its uses in the batch.
        sparse: accepted and ignored; gradients are dense.
        device: must be the CPU.
        dtype: dtype of the weight; the default dtype if None.

    Shape:
        (*) of integers → (*, embedding_dim).

    Raises:
        IndexError: an index is not in 0 … num_embeddings − 1.
        AssertionError: padding_idx is not a row.

    Example:
        >>> nn.Embedding(10, 3)(torch.tensor([1, 5])).shape
        torch.Size([2, 3])

    Source: PyTorch's page `torch.nn.Embedding`.
    """

    _usual: Mapping[str, Any] = {
        "padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "sparse": False
    }  # fmt: skip

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False, _weight: Any = None, _freeze: bool = False, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        check_device(device)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._learn(num_embeddings, embedding_dim, padding_idx, _weight, dtype)
        if _freeze:
            self.weight.requires_grad = False

    def forward(self, input: Any) -> Any:
        """Return the rows at the indices `input`: (*, embedding_dim)."""
        return functional.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.sparse,
        )  # fmt: skip


class EmbeddingBag(EmbeddingBase):
    """Layer that returns the sum or mean of the learned vectors of each bag of indices.

    The gradient of a row is the sum of the upstream gradients of its bags ("mean": divided by the bag's
    size).

    Args:
        num_embeddings: number of rows of the weight.
        embedding_dim: size of a row.
        max_norm: if given, rows in use with a larger norm are shortened to it, in place.
        norm_type: p of the p-norm for max_norm.
        scale_grad_by_freq: True divides the gradient of a row by the number of its uses in the batch.
        mode: "sum" or "mean".
        sparse: accepted and ignored; gradients are dense.
        include_last_offset: True if the last offset is the end of the last bag.
        padding_idx: index that is left out of every bag.
        device: must be the CPU.
        dtype: dtype of the weight; the default dtype if None.

    Shape:
        (B, n) of integers, or (n) with `offsets` (B) → (B, embedding_dim).

    Raises:
        ValueError: the mode is unknown, or `offsets` is missing for one dimension or given for two.

    Example:
        >>> nn.EmbeddingBag(10, 3)(torch.tensor([[1, 5], [2, 2]])).shape
        torch.Size([2, 3])

    Source: PyTorch's page `torch.nn.EmbeddingBag`.
    """

    _usual: Mapping[str, Any] = {
        "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "mode": "", "padding_idx": None
    }  # fmt: skip
    _padding_text = "padding_idx"

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Any = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.mode, self.sparse = scale_grad_by_freq, mode, sparse
        self.include_last_offset = include_last_offset
        self._learn(num_embeddings, embedding_dim, padding_idx, _weight, dtype)
        check_device(device)  # as in PyTorch, what is wrong with the numbers comes first

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """Return a vector for each bag: (bags, embedding_dim)."""
        return functional.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode,
            self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip
