"""Helpers for parameters and their gradients."""

from __future__ import annotations

from typing import NoReturn as _NoReturn

from ...left_out import missing as _missing
from . import parametrizations, parametrize, rnn
from .clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from .convert_parameters import parameters_to_vector, vector_to_parameters


def __getattr__(name: str) -> _NoReturn:
    raise _missing("nn.utils", name)
