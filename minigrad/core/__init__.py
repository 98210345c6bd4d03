"""The core: ops, the graph, and the backward pass.

Ops: `op` has `Op`, the plan of an op, and `F`. `declare` has the decorator `differentiable`. `call` runs any
op on tensors (`operands` checks and promotes its arguments), and `elementwise` runs what is plain.
`saved_values` saves what a vjp takes and reads it again, and `apply` calls the vjps. `public` has the names
that users call, `guards` PyTorch's errors.

Graph and backward: `tensor_state` has the state of a tensor, `node` the nodes, `nested_passes` the state of
one pass. `engine` has the backward loops. `accumulate` calls hooks and adds to `.grad`.

Forward mode: `forward` and `tangents`.

Below all of them: `dtypes`, `devices`, `modes`, `dialect`, `storage`.
"""

from __future__ import annotations

from . import forward
from .declare import calls, differentiable, itself, rename
from .guards import check_broadcast
from .op import RAW, F, Op, all_ops, composite, is_symbol, jointly, zeros

__all__ = [
    "F", "Op", "RAW", "all_ops", "calls", "check_broadcast", "composite", "differentiable", "forward",
    "is_symbol", "itself", "jointly", "rename", "zeros",
]  # fmt: skip
