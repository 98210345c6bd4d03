"""Ops: how one is declared, what its node saves, and what happens when it is called.

`registry` holds `Op` and `F`, `keeping` what nodes keep and `saved` how that is read (`packed`, where hooks
keep it), `nodes` their classes and `applying` how they are applied in general, `calls` how an op runs on
tensors, `written_calls` and `written_ops` the same as text that is compiled (`late`), and `declare` the
decorator `differentiable` that ties them together. `forward`, `jvps` and `tangents` are forward mode.
"""

from __future__ import annotations

from ..later import late_modules
from .applying import uncast
from .calls import check_broadcast, connect_views, prepare, record
from .declare import composite, differentiable, rename
from .registry import RAW, F, Op, all_ops, connect_modules, jointly
from .replay import path_of, replay, replay_array
from .saved import modified, pack_inputs, pack_result
from .elementwise import operator_of, set_result_class

forward = late_modules(__name__, "forward jvps")[0]

__all__ = [
    "F",
    "Op",
    "RAW",
    "all_ops",
    "check_broadcast",
    "composite",
    "connect_modules",
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
