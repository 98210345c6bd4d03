"""`Independent`: some dimensions of a batch as one event."""

from __future__ import annotations

from typing import Any, ClassVar

from ..tensor import Tensor
from . import constraints
from .distribution import Distribution

__all__ = ["Independent"]


class Independent(Distribution):
    """A distribution of which the last dimensions of the batch belong to the event.

    `log_prob` and `entropy` are sums over these dimensions.

    Args:
        base_distribution: the other distribution.
        reinterpreted_batch_ndims: number of the dimensions.
        validate_args: whether values are checked.

    Raises:
        ValueError: the batch has fewer dimensions.

    Example:
        >>> normal = torch.distributions.Normal(torch.zeros(2, 3), 1.0)
        >>> torch.distributions.Independent(normal, 1).log_prob(torch.zeros(3)).shape
        torch.Size([2])

    Source: PyTorch's page `torch.distributions`.
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        left = len(batch) - reinterpreted_batch_ndims
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        event = batch[left:] + base_distribution.event_shape
        super().__init__(batch[:left], event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._expanded(Independent, batch_shape, _instance)
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        event = self.event_shape[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand(new.batch_shape + event)
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the other distribution has `rsample`."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether all values of an event can be listed."""
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    @property
    def support(self) -> Any:
        base: Any = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return constraints.independent(base, count) if count else base

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


def sum_rightmost(value: Tensor, dims: int) -> Tensor:
    """Return the sums over the last `dims` dimensions."""
    return value.reshape((*value.shape[:-dims], -1)).sum(-1) if dims else value
