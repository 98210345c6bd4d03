"""Ops: how one is declared, what its node saves, and what happens when it is called.

`registry` holds `Op` and `F`, `saved` what nodes keep, `nodes` how they are applied, `calls` how an op runs
on tensors and `declare` the decorator `differentiable` that ties them together.
"""

from __future__ import annotations

from .calls import check_broadcast, connect_views, prepare, record
from .declare import composite, differentiable
from .registry import OPS, RAW, F, Op
from .saved import modified

__all__ = [
    "F",
    "OPS",
    "Op",
    "RAW",
    "check_broadcast",
    "composite",
    "connect_views",
    "differentiable",
    "modified",
    "prepare",
    "record",
]
