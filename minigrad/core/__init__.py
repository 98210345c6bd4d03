"""Ops: how one is declared, what its node saves, and what happens when it is called.

`registry` holds `Op`, the plan of an op, and `F`, `keeping` what nodes keep and `saved` how that is read
(`packed`, where hooks keep it), `nodes` their classes and `applying` how they are applied, `calls` how any op
runs on tensors and `elementwise` how plain elementwise ones do, and `declare` the decorator `differentiable`
that ties them together. `forward`, `jvps` and `tangents` are forward mode.
"""

from __future__ import annotations

from . import forward
from .apply import uncast
from .call import check_broadcast, connect_views, prepare, record
from .declare import composite, differentiable, rename
from .elementwise import operator_of, set_result_class
from .op import RAW, F, Op, all_ops, jointly
from .saved import modified, pack_inputs, pack_result
from .view_path import path_of, replay, replay_array

__all__ = [
    "F",
    "Op",
    "RAW",
    "all_ops",
    "check_broadcast",
    "composite",
    "connect_views",
    "differentiable",
    "forward",
    "jointly",
    "modified",
    "operator_of",
    "pack_inputs",
    "pack_result",
    "path_of",
    "prepare",
    "record",
    "rename",
    "replay",
    "replay_array",
    "set_result_class",
    "uncast",
]
