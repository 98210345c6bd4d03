"""The core: ops, the graph, and the backward pass.

Ops: `op` has `Op`, the plan of an op, and `F`. `vjps` reads what a vjp takes. `declare` has the decorator
`differentiable`. `call` runs any op on tensors (`operands` checks and promotes its arguments), and
`elementwise` runs plain elementwise ops, `ordinary` all others in the plain case. `saved` reads what a node
saved (`saved_hooks` does so under saved-tensor hooks), and `apply` calls the vjps (`node_class` those of
common ops). `public` has the names that users call.

Graph and backward: `tensor_state` has the state of a tensor, `node` the nodes, `node_class` the node class of
an op. `backward_pass` has the state of one pass. `engine` has the plain backward loop, and `node_by_node` the
loop for hooks and observers. `hook_calls` calls hooks, `deposit` adds to `.grad`.

Forward mode: `forward`, `jvps` and `tangents`.

Below all of them: `dtypes`, `devices`, `modes`, `observers`, `dialect`, `storage`.
"""

from __future__ import annotations

from . import forward
from .declare import calls, differentiable, itself, rename
from .op import RAW, F, Op, all_ops, composite, is_symbol, jointly, zeros
from .operands import check_broadcast

__all__ = [
    "F", "Op", "RAW", "all_ops", "calls", "check_broadcast", "composite", "differentiable", "forward",
    "is_symbol", "itself", "jointly", "rename", "zeros",
]  # fmt: skip
