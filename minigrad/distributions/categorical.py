"""The categorical distribution."""

from __future__ import annotations

from math import nan
from typing import Any, ClassVar

from ..creation import arange, full, multinomial
from ..ops.joining import broadcast_tensors
from ..tensor import Size, Tensor
from ..tensor.properties import finfo
from . import constraints
from .distribution import OfProbabilities, check_one_given

__all__ = ["Categorical"]


class Categorical(OfProbabilities):
    """The distribution of the integers 0 … K-1, by their probabilities or logarithms of them.

    Both are normalized: `probs` are divided by their sum, and of `logits` the log-sum-exp is subtracted.

    Args:
        probs: weights of the integers along the last dimension.
        logits: logarithms of weights.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: both or none of `probs` and `logits` are given; they have no dimension; a weight
            is negative.

    Example:
        >>> policy = torch.distributions.Categorical(torch.tensor([1.0, 3.0]))
        >>> policy.probs, policy.log_prob(torch.tensor(1))
        (tensor([0.2500, 0.7500]), tensor(-0.2877))

    Source: PyTorch's page `torch.distributions`.
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        check_one_given(probs, logits)
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = probs / probs.sum(-1, keepdim=True)
        elif logits is not None:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        super().__init__(self.param_shape[:-1], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Categorical, batch_shape, _instance)

    @property
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def _num_events(self) -> int:
        """The number of integers."""
        return self.param_shape[-1]

    @property
    def mean(self) -> Tensor:
        """NaN: the integers stand for categories."""
        return full(self._extended_shape(), nan, dtype=self.probs.dtype)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        """NaN: the integers stand for categories."""
        return full(self._extended_shape(), nan, dtype=self.probs.dtype)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        sample_shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        drawn = multinomial(rows, sample_shape.numel(), True)
        return drawn.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        index, log_probs = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return log_probs.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(
            min=finfo(self.logits.dtype).min
        )  # of -inf: its product with 0 would be NaN
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(self._num_events).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
