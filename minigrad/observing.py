"""What a viewer needs of minigrad beyond the public API: the viewer imports `minigrad` and this module only.

A graph is read through `next_functions`, `name()`, `variable` and `_saved_*`, as PyTorch's is. Here are also

    observers    `Observer`, `add_observer`, `remove_observer`, `observers`, `unobserved`
    ops          `F`, `Op`, `Tensors`, `all_ops`, `dispatch`, `vjp_arguments`, `ghost_name`
    modes        `has_plain_results`, `in_saved_hook`, `is_forward`, `is_recording`, `quiet`
    nodes        `AccumulateGrad`, `LAST`, `gradient_node`, `is_released`, `is_running`, `is_untouched`
    tensors      `numbers`, `memory`, `tangent`, `wrap`, `is_differentiable`
    printing     `DIALECTS`, `CPP_NAMES`, `retains_grad_unset`

Observers that note thousands of ops also read the attributes that `Node` and `TensorBase` document, such as
`node._seq` and `tensor._data`, because a function call for each would double the time of recording.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from .core import F, Op, all_ops
from .core import saved_values as saved_hooks
from .core.dialect import DIALECTS, node_name, retains_grad_unset
from .core.dtypes import C_NAMES, DIFFERENTIABLE
from .core.elementwise import dispatch
from .core.modes import (
    Observer,
    Within,
    add_observer,
    is_forward,
    is_recording,
    observers,
    quiet,
    remove_observer,
    state,
)
from .core.nested_passes import here
from .core.node import LAST, RELEASED, AccumulateGrad
from .core.op import arguments
from .core.tensor_state import Tensors, edge, wrap
from .core.tensor_state import operand as numbers

__all__ = [
    "AccumulateGrad",
    "CPP_NAMES",  # dtypes as the error of an assigned gradient spells them: "float32" is "float"
    "DIALECTS",  # the names of all dialects
    "F",  # every op by name, for arrays, tensors and symbols
    "LAST",  # the sequence number of every AccumulateGrad
    "Observer",
    "Op",
    "Tensors",  # tensors that an op takes as one argument
    "add_observer",
    "all_ops",  # every op by the name of its node in PyTorch 2
    "dispatch",  # runs an op on one argument for each parameter
    "ghost_name",
    "gradient_node",
    "has_plain_results",
    "in_saved_hook",
    "is_differentiable",
    "is_forward",  # whether results of ops get tangents
    "is_recording",  # whether ops record a graph
    "is_released",
    "is_running",
    "is_untouched",
    "memory",
    "numbers",  # the values of a tensor as NumPy data, conjugated or negated where that is pending
    "observers",  # those of this thread
    "quiet",  # runs a function of arrays without NumPy's warnings, and leaves no setting behind
    "remove_observer",
    "retains_grad_unset",  # `retains_grad` of a tensor on which `retain_grad()` was not called
    "tangent",
    "hidden_from_observers",
    "vjp_arguments",
    "wrap",  # a tensor on NumPy data
]

CPP_NAMES = {**C_NAMES, "bool": "bool"}
vjp_arguments: Callable[[Any], tuple[str, ...]] = arguments  # what a vjp names besides the gradient
gradient_node: Callable[[Any], Any] = edge  # the node that receives the gradient of a tensor, or None


def hidden_from_observers() -> AbstractContextManager[None]:
    """Return a context in which no observer of this thread is called."""
    return Within(observers=())


def ghost_name(op: Op) -> str:
    """Return the name of the node that `op` leaves when it is recorded; "" for an op without a derivative."""
    return node_name(op.node.__name__) if op.inputs else ""


def has_plain_results() -> bool:
    """Return whether ops give plain tensors: no inference mode, saved-tensor hook or forward mode is on."""
    return not (state.inference or state.saved_hooks or state.dual_level)


def in_saved_hook() -> bool:
    """Return whether a saved-tensor hook is running on this thread."""
    frame: Any = sys._getframe(1) if state.saved_hooks else None
    while frame is not None:
        if frame.f_globals is vars(saved_hooks):
            return True
        frame = frame.f_back
    return False


def is_running() -> bool:
    """Return whether code of the user's runs inside a backward pass of this thread."""
    return here.task is not None


def is_released(node: Any) -> bool:
    """Return whether backward has freed what `node` saved."""
    return node._check is RELEASED


def is_untouched(node: Any) -> bool:
    """Return whether an op's node has all that it saved, in memory that nothing else shares or writes to."""
    return node._check is None and type(node).op is not None and node._storage is None


def memory(tensor: Any) -> Any:
    """Return the memory of a tensor as NumPy data, to be read only; a scalar where nothing shares it."""
    return tensor._data


def tangent(tensor: Any) -> Any:
    """Return the tangent of a dual tensor; None for any other."""
    return tensor._tangent


def is_differentiable(dtype: Any) -> bool:
    """Return whether gradients are computed for tensors of this NumPy dtype."""
    return dtype in DIFFERENTIABLE
