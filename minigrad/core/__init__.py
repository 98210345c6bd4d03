"""The engine: dtypes, modes, nodes, the backward pass, how ops are declared and what happens when one runs.

`op` holds `Op`, the plan of an op, and `F`; `save` is what nodes keep and `saved` how that is read
(`saved_hooks`, where hooks keep it), `node_class` their classes and `apply` how they are applied, `call` how
any op runs on tensors, `dispatch` how it does in any mode and `elementwise` how plain elementwise ones do,
and `declare` the decorator `differentiable` that ties them together. `forward`, `jvps` and `tangents` are
forward mode.
"""

from __future__ import annotations

from . import forward
from .apply import uncast
from .call import check_broadcast, prepare, record
from .declare import differentiable, rename
from .elementwise import operator_of, set_result_class
from .op import RAW, F, Op, all_ops, composite, jointly
from .saved import modified, pack_inputs, pack_result
from .view_path import path_of, replay, replay_array

__all__ = [
    "F",
    "Op",
    "RAW",
    "all_ops",
    "check_broadcast",
    "composite",
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
