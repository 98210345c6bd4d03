"""`Distribution`: what all distributions have, and the checks of their arguments."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np

from ..autograd import no_grad
from ..core.modes import hidden_from_observers
from ..core.tensor_state import numbers
from ..tensor import Size, Tensor
from .constraints import Constraint
from .utils import lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Distribution"]


class Distribution:
    """A probability distribution, or a batch of them.

    A sample has the shape `sample_shape + batch_shape + event_shape`: `batch_shape` is that of the
    parameters, `event_shape` that of a single event. A subclass defines `arg_constraints`, `support`,
    `log_prob`, and `sample` or `rsample`.

    Args:
        batch_shape: shape of the batch.
        event_shape: shape of an event.
        validate_args: whether parameters and values are checked; None for the default, which is True.

    Raises:
        ValueError: a parameter is outside its constraint.

    Source: PyTorch's page `torch.distributions`.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check their arguments if `validate_args` is not given."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    # ─── Shapes and parameters

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one event."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, Constraint]:
        """The constraint of each parameter, by its name."""
        raise NotImplementedError

    @property
    def support(self) -> Constraint | None:
        """The constraint of the samples."""
        raise NotImplementedError

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distribution with its parameters expanded to another batch shape, as views."""
        raise NotImplementedError

    def _expanded(self, cls: type[Distribution], batch_shape: Any, _instance: Any) -> Any:
        """Return `expand`'s result for a class whose constructor only stores the parameters."""
        new = self._get_checked_instance(cls, _instance)
        batch_shape = Size(batch_shape)
        for name, constraint in self.arg_constraints.items():
            if name in vars(self):
                value = vars(self)[name]
                event = value.shape[value.dim() - constraint.event_dim :]
                setattr(new, name, value.expand(batch_shape + event))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls: type[Distribution], _instance: Any = None) -> Any:
        """Return `_instance` or a new, empty one; NotImplementedError if its constructor is another one."""
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    # ─── Statistics

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def entropy(self) -> Tensor:
        """Return the entropy."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return the exponential of the entropy."""
        return self.entropy().exp()

    # ─── Samples and probabilities

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Return samples that are differentiable functions of the parameters (Kingma and Welling, 2013)."""
        raise NotImplementedError

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the logarithm of the probability or density of a value."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """Return the probability of all that is not greater than a value."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Return the inverse of `cdf`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all possible values along a new first dimension."""
        raise NotImplementedError

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        """Return the shape of samples."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    # ─── Checks

    def _validate_parameters(self) -> None:
        """Raise ValueError for a parameter outside its constraint. Parameters that are computed from others
        are not checked.
        """
        try:
            constraints = self.arg_constraints
        except NotImplementedError:
            constraints = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for name, constraint in constraints.items():
            if name not in vars(self) and isinstance(getattr(type(self), name), cached_property):
                continue
            value = getattr(self, name)
            if not holds(constraint, value):
                raise ValueError(
                    f"Expected parameter {name} ({class_and_shape(value)}) of distribution {self!r} to "
                    f"satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def _validate_sample(self, value: Tensor) -> None:
        """Raise ValueError for a value that cannot be a sample."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, expected = value.shape, self._extended_shape()
        if shape[len(shape) - len(self._event_shape) :] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}."
            )
        if any(i != 1 and j != 1 and i != j for i, j in zip(shape[::-1], expected[::-1], strict=False)):
            raise ValueError(
                f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}."
            )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                stacklevel=2,
            )
            return
        assert support is not None, "support is unexpectedly None"
        if not holds(support, value):
            raise ValueError(
                f"Expected value argument ({class_and_shape(value)}) to be within the support ({support!r}) "
                f"of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        found = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        shown = (f"{name}: {t if t.numel() == 1 else t.size()}" for name, t in found.items())
        return f"{type(self).__name__}({', '.join(shown)})"


def holds(constraint: Constraint, value: Tensor) -> bool:
    """Return whether all events satisfy a constraint. The check is not part of the user's program; in
    `func.vmap` it is done for each example.
    """
    with hidden_from_observers(False):
        valid = constraint.check(value)
    return bool(np.all(numbers(valid)))


def class_and_shape(value: Tensor) -> str:
    """Return the class and the shape of a tensor, for an error."""
    return f"{type(value).__name__} of shape {tuple(value.shape)}"


def check_one_given(probs: Any, logits: Any) -> None:
    """Raise PyTorch's ValueError unless one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class OfProbabilities(Distribution):
    """A distribution that is given by probabilities or by logits; each follows from the other. With
    `is_binary` these are the probability of 1 and its log-odds, else those of all integers.
    """

    is_binary = False

    @lazy_property
    def logits(self) -> Tensor:
        """The logits."""
        return probs_to_logits(self.probs, self.is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits, self.is_binary)

    @property
    def _param(self) -> Tensor:
        """The parameter, in one of its two forms."""
        return vars(self)["probs" if "probs" in vars(self) else "logits"]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter."""
        return self._param.shape
