"""The Bernoulli distribution."""

from __future__ import annotations

from math import nan
from typing import Any, ClassVar

from ..autograd import no_grad
from ..creation import arange, bernoulli
from ..nn.functional import binary_cross_entropy_with_logits
from ..tensor import Tensor
from . import constraints
from .distribution import OfProbabilities, check_one_given
from .utils import broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(OfProbabilities):
    """The distribution of 1 and 0, by the probability of 1 or by its log-odds.

    Args:
        probs: probability of 1.
        logits: logarithm of the quotient of the probabilities of 1 and 0.
        validate_args: whether parameters and values are checked.

    Raises:
        ValueError: both or none of `probs` and `logits` are given; a probability is not in [0, 1].

    Example:
        >>> torch.distributions.Bernoulli(0.25).log_prob(torch.tensor(1.0)).exp()
        tensor(0.2500)

    Source: PyTorch's page `torch.distributions`.
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: ClassVar[Any] = constraints.boolean
    has_enumerate_support = is_binary = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        check_one_given(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        super().__init__(self.param_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return self._expanded(Bernoulli, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        """1 or 0, whichever is more probable; NaN if both are equally so."""
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = nan
        return mode

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(2, dtype=self._param.dtype).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
