"""Helpers for parameters and their gradients."""

from __future__ import annotations

from ...left_out import refusing as _refusing
from . import parametrize, rnn
from .clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_
from .convert_parameters import parameters_to_vector, vector_to_parameters

__getattr__ = _refusing("nn.utils")
