"""Ops that make tensors of tensors, and random numbers. See `op_case`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_case import Case


def random(name: str, function: Callable[..., Any], *inputs: Any, **how: Any) -> Case:
    """A case whose random numbers are those of a seed; its derivative is 0 whatever they are."""

    def seeded(L: Any, *a: Any) -> Any:
        L.manual_seed(3)
        return function(L, *a)

    return Case(name, seeded, inputs, smooth=False, **how)


VECTOR, MATRIX = (3,), (2, 3)

CREATION: list[Case] = [
    Case("meshgrid ij", lambda L, a, b: L.meshgrid(a, b, indexing="ij"), ((3,), (2,))),
    Case("meshgrid xy", lambda L, a, b: L.meshgrid(a, b, indexing="xy"), ((3,), (2,))),
    random("uniform_", lambda L, a: a.clone().uniform_(-1, 2), MATRIX),
    random("normal_", lambda L, a: a.clone().normal_(1, 2), MATRIX),
    random("random_", lambda L, a: a.clone().random_(), MATRIX, numbers="real"),
    random("random_ to", lambda L, a: a.clone().random_(9), MATRIX, numbers="real"),
    random("random_ from", lambda L, a: a.clone().random_(-3, 9), MATRIX, numbers="real"),
    random("exponential_", lambda L, a: a.clone().exponential_(2), MATRIX, numbers="real"),
    random("bernoulli_", lambda L, a: a.clone().bernoulli_(0.3), MATRIX, numbers="real"),
    random("bernoulli_ tensor", lambda L, a, p: a.clone().bernoulli_(p / 3), MATRIX, VECTOR, numbers="real"),
    random("bernoulli", lambda L, a: L.bernoulli(a / 3), MATRIX, numbers="real"),
    random("normal of means", lambda L, a: L.normal(a, 0.5), MATRIX, numbers="real"),
    random("normal of spreads", lambda L, a: L.normal(2.0, a), MATRIX, numbers="real"),
    random("normal of both", lambda L, a, b: L.normal(a, b), MATRIX, VECTOR, numbers="real"),
]
