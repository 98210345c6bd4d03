"""Which values parameters and samples may have: `constraints.positive.check(x)` tests each event."""

from __future__ import annotations

from typing import Any

from ..left_out import refusing as _refusing

__all__ = [
    "Constraint", "boolean", "greater_than", "independent", "integer_interval", "interval", "positive",
    "real", "real_vector", "simplex", "unit_interval",
]  # fmt: skip


class Constraint:
    """A set of values. The last `event_dim` dimensions of a tensor form one event."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """Return for each event whether it is in the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}()"


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    """All numbers; NaN is none."""

    def check(self, value: Any) -> Any:
        return value == value


class _Simplex(Constraint):
    """Vectors of probabilities: no number is negative, and their sum is 1."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _GreaterThan(Constraint):
    """Numbers above a bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return self.lower_bound < value

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}(lower_bound={self.lower_bound})"


class _Interval(Constraint):
    """Numbers from one bound to another, both included."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}(lower_bound={self.lower_bound}, upper_bound={self.upper_bound})"


class _IntegerInterval(_Interval):
    """Integers from one bound to another, both included."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


class _IndependentConstraint(Constraint):
    """Events that consist of several events of another constraint, along the last dimensions."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        valid = self.base_constraint.check(value)
        if valid.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        batch = valid.shape[: valid.dim() - self.reinterpreted_batch_ndims]
        return valid.reshape((*batch, -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


boolean = _Boolean()
real = _Real()
simplex = _Simplex()
greater_than, interval, integer_interval = _GreaterThan, _Interval, _IntegerInterval
independent = _IndependentConstraint
positive = greater_than(0.0)
unit_interval = interval(0.0, 1.0)
real_vector = independent(real, 1)

__getattr__ = _refusing("distributions.constraints")
