"""minigrad's tensors in trees that treescope prints, where it is installed: what autograd records of each,
with its numbers as treescope draws them. Treescope draws PyTorch's tensors by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import minigrad

EVENT = "post_run_cell"


def register_tensors() -> None:
    """Let treescope print minigrad's tensors. ImportError where it is not installed."""
    from treescope import ndarray_adapters, repr_lib, type_registries
    from treescope.external.numpy_support import NumpyArrayAdapter

    arrays = NumpyArrayAdapter()

    class TensorAdapter(ndarray_adapters.NDArrayAdapter[Any]):
        """A tensor as its array, for pictures of arrays."""

        def get_axis_info_for_array_data(self, array: Any) -> Any:
            return arrays.get_axis_info_for_array_data(array.detach().numpy())

        def get_array_data_with_truncation(self, array: Any, mask: Any, edge_items_per_axis: Any) -> Any:
            values = array.detach().numpy()
            return arrays.get_array_data_with_truncation(values, mask, edge_items_per_axis)

        def get_array_summary(self, array: Any, fast: bool) -> Any:
            return arrays.get_array_summary(array.detach().numpy(), fast)

        def get_numpy_dtype(self, array: Any) -> Any:
            return array.detach().numpy().dtype

    def render_tensor(tensor: Any, path: str | None, subtree_renderer: Any) -> Any:
        """What autograd records of a tensor, as a tree."""
        facts = {"data": tensor.detach().numpy(), "requires_grad": tensor.requires_grad}
        if tensor.requires_grad:
            facts["is_leaf"] = tensor.is_leaf
        if tensor.grad_fn is not None:
            facts["grad_fn"] = tensor.grad_fn.name()
        elif tensor.grad is not None:
            facts["grad"] = tensor.grad
        return repr_lib.render_object_constructor(type(tensor), facts, path, subtree_renderer)

    type_registries.NDARRAY_ADAPTER_REGISTRY[minigrad.Tensor] = TensorAdapter()
    type_registries.TREESCOPE_HANDLER_REGISTRY[minigrad.Tensor] = render_tensor


def unregister_tensors() -> None:
    """Take that back, if it was done."""
    if "treescope.type_registries" in sys.modules:
        from treescope import type_registries

        type_registries.NDARRAY_ADAPTER_REGISTRY.pop(minigrad.Tensor, None)
        type_registries.TREESCOPE_HANDLER_REGISTRY.pop(minigrad.Tensor, None)


def follow_treescope(shell: Any, loaded: Callable[[], bool]) -> None:
    """Register as soon as a cell of this shell has imported treescope, which takes time to import; not once
    the extension is no longer `loaded`."""

    def register(_: Any = None) -> None:
        if loaded() and "treescope" in sys.modules:
            register_tensors()
        elif loaded():
            return
        shell.events.unregister(EVENT, register)

    if "treescope" in sys.modules:
        register_tensors()
    else:
        shell.events.register(EVENT, register)
