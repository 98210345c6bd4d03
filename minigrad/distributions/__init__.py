"""Probability distributions and their divergences, written in the public API."""

from __future__ import annotations

from ..left_out import refusing as _refusing
from . import constraints
from .bernoulli import Bernoulli
from .categorical import Categorical
from .distribution import Distribution
from .independent import Independent
from .kl import kl_divergence, register_kl
from .normal import Normal

__all__ = [
    "Bernoulli", "Categorical", "Distribution", "Independent", "Normal", "kl_divergence", "register_kl",
]  # fmt: skip

__getattr__ = _refusing("distributions")
