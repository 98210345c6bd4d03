"""Layers, losses and initialization, written in the public API."""

from __future__ import annotations

from ..left_out import refusing as _refusing
from . import functional, init, modules, parallel, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Parameter, UninitializedBuffer, UninitializedParameter

__getattr__ = _refusing("nn")
