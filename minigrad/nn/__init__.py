"""Layers, losses and initialization, written in the public API."""

from __future__ import annotations

import sys as _sys

from ..left_out import refusing as _refusing
from . import functional, init, modules, parallel, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Parameter, UninitializedBuffer, UninitializedParameter

# Where pickles of an earlier version look for layers and containers.
_EARLIER = """
containers layers layers.activation layers.attention layers.cells layers.class_losses layers.convolution
layers.distance layers.dropout layers.embedding layers.lazy layers.linear layers.loss layers.norm
layers.padding layers.pooling layers.pooling_parts layers.rearranging layers.recurrent layers.resampling
layers.transformer layers.transformer_layers module
"""
_sys.modules.update({f"{__name__}.{path}": modules for path in _EARLIER.split()})
__getattr__ = _refusing("nn")
