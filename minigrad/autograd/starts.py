"""Where a backward call starts and what it is asked for: its arguments checked, with PyTorch's errors."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core import F, dtypes
from ..core.node import AccumulateGrad, Node, output_of
from ..core.tensor_state import TensorBase, edge, numbers, wrap
from .graph import GradientEdge

NO_GRAPH = "element {} of tensors does not require grad and does not have a grad_fn"
WRONG_SHAPE = "Mismatch in shape: grad_output[{0}] has a shape of {1} and output[{0}] has a shape of {2}."
WRONG_BATCH = (
    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
    "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
    "output, but a mismatch was detected: grad_output[{0}] has a shape of {1} and output[{0}] has a shape of "
    "{2}. If you only want some tensors in `grad_output` to be considered batched, consider using vmap."
)
ONES = {t: t(1) for t in dtypes.FAST_SCALARS}  # the gradient to start from, for a 0-dim root


def as_tuple(value: Any) -> tuple[Any, ...]:
    """One tensor or GradientEdge, or a sequence of them, as a tuple; TypeError with Python's text for
    anything else.
    """
    return (value,) if isinstance(value, (TensorBase, GradientEdge)) else tuple(value)


def wanted_inputs(value: Any, function: str) -> tuple[Any, ...]:
    """What `inputs=` asks for; the values of a dict."""
    if isinstance(value, TensorBase):
        return (value,)
    if type(value) is dict:
        wanted = tuple(value.values())
    elif not isinstance(value, (list, tuple)) and isinstance(value, Mapping):
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(value).__name__}. Other Mapping "
            "types are not supported."
        )
    else:
        wanted = as_tuple(value)
    if not wanted:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return wanted


def flags(retain_graph: Any, create_graph: Any) -> tuple[bool, bool]:
    """Both flags as bools, the first like the second if it is None; TypeError with Python's text for what is
    neither bool nor integer.
    """
    create = create_graph if create_graph.__class__ is bool else bool(operator.index(create_graph))
    if retain_graph is None:
        return create, create
    return bool(operator.index(retain_graph)), create


def start_gradients(roots: Sequence[Any], given: Any, batched: bool = False) -> list[Any]:
    """Each root's gradient: what was given (None, a tensor or a sequence), checked, or 1 for a root of one
    element.

    Gradients beyond the number of roots are left out, as in PyTorch; too few are an error.
    """
    result: list[Any] = []
    gradients = (None,) * len(roots) if given is None else as_tuple(given)
    for i, (root, gradient) in enumerate(zip(roots, gradients)):
        if isinstance(gradient, TensorBase):
            check_gradient(i, root, *gradient_kind(root), gradient, batched)
        elif gradient is not None:
            gradient_kind(root)
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        elif isinstance(root, TensorBase):
            ready = ONES.get(root._data.__class__)
            if root.requires_grad:
                gradient = wrap(ready) if ready is not None else one(*gradient_kind(root))
        else:
            gradient = one(*gradient_kind(root))
        result.append(gradient)
    if len(result) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(result)} gradients")
    return result


def gradient_kind(root: Any) -> tuple[Any, Any]:
    """Shape and NumPy dtype of a root."""
    if isinstance(root, TensorBase):
        return root._data.shape, root._data.dtype
    if not isinstance(root, GradientEdge):
        raise AssertionError("Expected output to be a torch.Tensor")
    kind = output_of(*slot_of(root))
    if kind is None:
        raise RuntimeError("the shape of this GradientEdge is not known; use get_gradient_edge(tensor)")
    return kind


def one(shape: tuple[int, ...], dtype: Any) -> Any:
    """The gradient of a root of one element when none is given."""
    if math.prod(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if dtype.kind != "f":
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but got "
            f"{dtype_name(dtypes.of(dtype.type(0)))}"
        )
    return wrap(np.ones(shape, dtype)[()])


def check_gradient(i: int, root: Any, shape: Any, dtype: Any, gradient: Any, batched: bool) -> None:
    """RuntimeError with PyTorch's text where a given gradient does not fit its root."""
    size = type(gradient.shape)
    given = gradient[0].shape if batched else gradient.shape
    if given != shape:
        if batched and isinstance(root, GradientEdge):
            raise RuntimeError("Batched grads are not supported with GradientEdge")
        text, given = (WRONG_BATCH, given[1:]) if batched else (WRONG_SHAPE, given)
        raise RuntimeError(text.format(i, size(given), size(shape)))
    ours, theirs = dtypes.of(dtype.type(0)), dtypes.of(gradient._data)
    if ours.is_complex != theirs.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{i}] has a dtype of {dtype_name(theirs)} and output[{i}] has a "
            f"dtype of {dtype_name(ours)}."
        )


def batch_size(given: list[Any]) -> int:
    """How many rows all gradients have; ValueError with PyTorch's text if there is no such number."""
    for g in given:
        checked_dim("vmap(vjp, in_dims=0, ...)(<inputs>): ", g, 0, "0")
    return common_size([len(g._data) for g in given])


def checked_dim(who: str, leaf: Any, dim: int, least: str = "-{}") -> int:
    """Return the dimension of a batch, counted from the front; ValueError with PyTorch's texts, which call
    `least` the lowest number.
    """
    if not isinstance(leaf, TensorBase):
        raise ValueError(
            f"{who}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    n = leaf._data.ndim
    if not -n <= dim < n:
        raise ValueError(
            f"{who}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {n} so "
            f"expected in_dim to satisfy {least.format(n)} <= in_dim < {n}."
        )
    return dim % n


def common_size(sizes: list[int]) -> int:
    """Return the size of a batch, which all tensors have; ValueError with PyTorch's text if they differ."""
    if len(set(sizes)) != 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def dtype_name(dtype: dtypes.dtype) -> str:
    """A dtype as PyTorch's errors name it."""
    return "torch." + str(dtype).rpartition(".")[2]


def slot_of(given: GradientEdge) -> tuple[Node, int]:
    """Node and output number of a GradientEdge, checked."""
    node, nr = given.node, given.output_nr
    if not isinstance(node, Node):
        raise RuntimeError(
            f"GradientEdge's first object must be an autograd.graph.Node but got {type(node).__name__}"
        )
    if not 0 <= nr < node._outputs:
        raise RuntimeError(f"{node.name()} has no output {nr} for a GradientEdge")
    return node, nr


def root_slots(roots: Sequence[Any]) -> list[tuple[Node, int]]:
    """The node and output number at which backward starts, per root; RuntimeError where there is none."""
    slots = []
    for i, root in enumerate(roots):
        if isinstance(root, TensorBase):
            node = edge(root)
            if node is None:
                raise RuntimeError(NO_GRAPH.format(i))
            slots.append((node, root._nr))
        else:
            slots.append(slot_of(root))
    return slots


def input_slots(inputs: Sequence[Any], accumulate: bool) -> list[tuple[Node, int]]:
    """The node and output number where the gradient of each input arrives; non-leaves keep what is
    accumulated.
    """
    slots = []
    for t in inputs:
        if isinstance(t, TensorBase):
            if accumulate:
                t.retain_grad()  # type: ignore[attr-defined]
            node = edge(t)
            if node is None:
                if not t.requires_grad:
                    raise RuntimeError("One of the differentiated Tensors does not require grad")
                node = AccumulateGrad(t)  # of a view that was made outside the graph: it is never reached
            slots.append((node, t._nr))
        elif isinstance(t, GradientEdge):
            slots.append(slot_of(t))
        else:
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
    return slots


def cast_like(gradient: Any, root: Any, create_graph: bool) -> Any:
    """A gradient in the dtype of its root: the tensor under `create_graph`, else its raw data."""
    if gradient is None:
        return None
    data = numbers(gradient)
    dtype = root._data.dtype if isinstance(root, TensorBase) else gradient_kind(root)[1]
    if data.dtype is not dtype and data.dtype != dtype:
        return F.to(gradient, dtype) if create_graph else data.astype(dtype)
    return gradient if create_graph else data
