"""Tables of vectors that are looked up by number."""

from __future__ import annotations

from typing import Any

from .. import functional, init
from ..parameter import Parameter
from .linear import empty
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


class Table(Module):
    """A matrix `weight` of `num_embeddings` vectors, which begin normally distributed; that of `padding_idx`
    is zero and does not learn. `max_norm` shortens, in place, the vectors used that are longer.
    """

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
        """Draw the vectors anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.data[self.padding_idx])

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, **settings: Any) -> Any:
        """A table on the memory of a matrix, which does not learn unless `freeze` is False; `settings` are
        those of the class.
        """
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        make: Any = cls
        table = make(*embeddings.shape, _weight=embeddings, **settings)
        table.weight.requires_grad = not freeze
        return table


class Embedding(Table):
    """A table of `num_embeddings` vectors, looked up by number: see `functional.embedding`."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False, _weight: Any = None, _freeze: bool = False, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._learn(num_embeddings, embedding_dim, padding_idx, _weight, dtype)
        if _freeze:
            self.weight.requires_grad = False

    def forward(self, input: Any) -> Any:
        """The vectors of the numbers in `input`, of shape (*, embedding_dim)."""
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """The sizes, and what is not as usual."""
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        usual["sparse"] = False
        told = [f"{n}={getattr(self, n)}" for n, value in usual.items() if getattr(self, n) != value]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *told])


class EmbeddingBag(Table):
    """The mean, sum or maximum (`mode`) of the vectors of each bag of numbers."""

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

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """A vector for each bag, of shape (bags, embedding_dim)."""
        return functional.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """The sizes and the mode, and what is not as usual."""
        usual = {
            "max_norm": None,
            "norm_type": 2,
            "scale_grad_by_freq": False,
            "mode": "",
            "padding_idx": None,
        }
        told = [f"{n}={getattr(self, n)!r}" for n, value in usual.items() if getattr(self, n) != value]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *told])
