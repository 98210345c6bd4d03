"""Kullback–Leibler divergences of two distributions."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from ..left_out import refusing as _refusing
from ..nn.functional import softplus
from ..tensor import Tensor
from .bernoulli import Bernoulli
from .categorical import Categorical
from .distribution import Distribution
from .independent import Independent, sum_rightmost
from .normal import Normal

__all__ = ["kl_divergence", "register_kl"]

_registered: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}


def register_kl(type_p: type, type_q: type) -> Any:
    """Return a decorator that registers the divergence of two classes and of their subclasses."""

    def register(function: Callable[[Any, Any], Tensor]) -> Callable[[Any, Any], Tensor]:
        _registered[type_p, type_q] = function
        return function

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback–Leibler divergence KL(p ‖ q), the mean under p of log p(x) - log q(x).

    Args:
        p: a distribution.
        q: a distribution.

    Shape: the batch shape.

    Returns:
        A differentiable function of the parameters of both.

    Raises:
        NotImplementedError: there is no formula for these two classes.

    Example:
        >>> Normal = torch.distributions.Normal
        >>> torch.distributions.kl_divergence(Normal(1.0, 1.0), Normal(0.0, 1.0))
        tensor(0.5000)

    Source: PyTorch's page `torch.distributions`.
    """
    for type_p in type(p).__mro__:
        for type_q in type(q).__mro__:
            if (type_p, type_q) in _registered:
                return _registered[type_p, type_q](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(Normal, Normal)
def kl_normal_normal(p: Normal, q: Normal) -> Tensor:
    """½ (σ_p²/σ_q² + (μ_p - μ_q)²/σ_q² - 1 - log σ_p²/σ_q²)."""
    variances = (p.scale / q.scale).pow(2)
    distance = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (variances + distance - 1 - variances.log())


@register_kl(Bernoulli, Bernoulli)
def kl_bernoulli_bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    """Σ p (log p - log q) over 1 and 0, whose logarithms are those of `softplus` of the logits."""
    of_one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    of_one[q.probs == 0] = inf
    of_one[p.probs == 0] = 0
    of_zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    of_zero[q.probs == 1] = inf
    of_zero[p.probs == 1] = 0
    return of_one + of_zero


@register_kl(Categorical, Categorical)
def kl_categorical_categorical(p: Categorical, q: Categorical) -> Tensor:
    """Σ p (log p - log q)."""
    terms = p.probs * (p.logits - q.logits)
    terms[(q.probs == 0).expand_as(terms)] = inf
    terms[(p.probs == 0).expand_as(terms)] = 0
    return terms.sum(-1)


@register_kl(Independent, Independent)
def kl_independent_independent(p: Independent, q: Independent) -> Tensor:
    """The sum of the divergences of the parts."""
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


__getattr__ = _refusing("distributions.kl")
