"""What a node of an op keeps for its vjps, and how that is read again. See Note [Saved values] in `graph`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dialect, dtypes
from ..graph import RELEASED, Node
from ..storage import strides_of
from ..tensor_base import TensorBase, attach, wrap
from .registry import DERIVED, RAW, Op

CONSTANTS: tuple[Any, ...] = ()  # in `Node._check`: constants were saved, all at version 0


def keep(op: Op, name: str, values: list[Any], targets: tuple[Any, ...], out: Any) -> tuple[Any, int | None]:
    """What a node keeps of `name`, and its version (None for what is no tensor)."""
    if name == "result":
        return out, 0
    suffix = next((s for s in DERIVED if name.endswith(s)), None)
    if suffix is not None:
        data = values[op.params.index(name.removesuffix(suffix))]._data
        if suffix == "_sym_sizes":
            return data.shape, None
        return (strides_of(data) if suffix == "_sym_strides" else data.dtype), None
    value = values[op.params.index(name)]
    if not isinstance(value, TensorBase):
        return value, None
    if name in op.inputs and targets[op.inputs.index(name)] is not None:
        return value._data, value._version
    return value, value._version


def constant(node: Any, tensor: TensorBase) -> TensorBase:
    """Save a tensor that belongs to no graph, as it is."""
    node._check = CONSTANTS
    return tensor


def wanted(node: Any) -> list[str]:
    """The saved names that the vjps which will run ask for."""
    targets = node._next
    return [n for n, users in node.op.saved if any(targets[i] is not None for i in users)]


def unpack(node: Any, name: str) -> tuple[Any, Any]:
    """The raw value that `node` saved as `name`, checked, and its tensor if the node kept the tensor itself.

    RuntimeError with PyTorch's text if it was freed, or written to since it was saved.
    """
    op = node.op
    value = getattr(node, "_raw_" + name)
    if name not in op.tensors or not isinstance(value, (TensorBase, *RAW)):
        if value is None and node._check is RELEASED and name in op.tensors:
            raise RuntimeError(dialect.second_backward_error())
        return value, None
    expected = 0
    if type(node._check) is tuple and node._check:
        expected = next(v for (n, _), v in zip(op.saved, node._check, strict=True) if n == name) or 0
    if isinstance(value, TensorBase):
        storage, carrier, nr = value._storage, value._fn, value._nr
        data = value._data
    else:
        carrier, nr = (node, 0) if name == "result" else node.next_functions[op.inputs.index(name)]
        variable = getattr(carrier, "variable", None)
        storage = carrier.storage(nr) if variable is None else variable._storage
        data = value if variable is None else variable._data
        if storage is not None and storage.array is not None and not isinstance(data, np.ndarray):
            data = storage.array  # the scalar has become this array since, and may have been written to
    if storage is not None and storage.version != expected:
        writer = storage.writer if name != "result" else None
        raise RuntimeError(modified(data, carrier, nr, storage.version, expected, writer))
    return data, value if isinstance(value, TensorBase) else None


def modified(
    data: Any, carrier: Node | None, nr: int, version: int, expected: int, writer: str | None = None
) -> str:
    """PyTorch's text for a saved value that was written to; `writer` made what is there now."""
    kind = f"torch.{dtypes.of(data).title}Tensor {list(data.shape)}"
    origin = ""
    if writer is not None:
        origin = f", which is output 0 of {dialect.origin_name(writer)},"
    elif carrier is not None and not hasattr(carrier, "variable"):
        origin = f", which is output {nr} of {dialect.origin_name(type(carrier).__name__)},"
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind}]{origin} is at version {version}; expected version {expected} instead. Hint: enable "
        "anomaly detection to find the operation that failed to compute its gradient, with "
        f"{dialect.anomaly_hint()}."
    )


def saved(node: Any, name: str, wrapped: bool = True) -> Any:
    """The value that `node` saved as `name`, as a tensor of its graph or a plain Python value.

    A Python number in the place of a tensor is given as a tensor to readers (`wrapped`) and as a number to
    vjps.
    """
    op = node.op
    data, tensor = unpack(node, name)
    if tensor is not None:
        return tensor
    if name not in op.tensors or data is None:
        return data
    if not isinstance(data, RAW):
        return wrap(np.array(data)[()]) if wrapped and name in op.inputs else data
    carrier, nr = (node, 0) if name == "result" else node.next_functions[op.inputs.index(name)]
    variable = getattr(carrier, "variable", None)
    if variable is not None:
        return variable
    t = attach(data, carrier, nr)
    t._storage = carrier.storage(nr)
    return t
