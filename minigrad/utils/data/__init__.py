"""Datasets, samplers and DataLoader."""

from __future__ import annotations

from ...left_out import refusing as _refusing
from .dataloader import *
from .dataset import *
from .sampler import *

__getattr__ = _refusing("utils.data")
