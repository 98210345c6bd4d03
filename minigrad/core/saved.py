"""How the values that a node saved for its vjps (see `call.keep`) are read again. See Note [Saved values] in
`node`.

Under saved-tensor hooks each saved tensor goes through `pack` and is read by `unpack_entry`; see
`saved_hooks`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dialect, dtypes, modes, tangents
from .node import RELEASED, AccumulateGrad, Node
from .op import INPUT, RAW, RESULT
from .saved_hooks import DETACHED, Packed, SavedTensor, default_hooks, pack, saved_tensor, unpack_entry
from .storage import SameCounter, Storage
from .tensor_state import TensorBase, Tensors, attach, keep_together, operand, share, wrap
from .view_path import refuse_write

# The classes of saved values that are used unchanged, if the memory of their tensor was not modified.
READY = frozenset((np.ndarray, np.float16, np.float32, np.float64, np.complex64, np.complex128, int, float))
COUNTED: Any = frozenset((Storage, SameCounter))  # classes of a Storage that has a version


def check_versions(tensors: Tensors) -> None:
    """Raise RuntimeError with PyTorch's text if one of several saved tensors was modified since."""
    given = [t for t in tensors if isinstance(t, TensorBase)]  # hooks check what they packed
    for t, expected in zip(given, tensors.versions or (0,) * len(given), strict=True):
        if t._version != expected:
            raise RuntimeError(modified(t._data, t.grad_fn, t._nr, t._version, expected))


def kept_apart(tensor: TensorBase) -> Tensors:
    """Save a tensor outside any node, through the current hooks, for `unpack_each`."""
    hooks = default_hooks()
    alone = Tensors([tensor])
    return keep_together(alone) if hooks is None else Tensors([pack(None, "", tensor, hooks, False)])


def unpack_each(node: Any, name: str, tensors: Tensors, checked: bool = True) -> Tensors:
    """Return several tensors that were saved as one argument."""
    if checked:
        check_versions(tensors)
    return Tensors(unpack_entry(node, name, t) if isinstance(t, Packed) else t for t in tensors)


def wanted(node: Any) -> list[int]:
    """Return the numbers of the saved values that the vjps to run take, in the order in which PyTorch reads
    them.
    """
    targets = node._next
    return [n for n, k in enumerate(node.op.keeps) if k.user is None or targets[k.user] is not None]


def unpack(node: Any, n: int, checked: bool = True) -> tuple[Any, Any]:
    """Return saved value number `n` of a node, raw, and its tensor if the node saved the tensor itself.

    RuntimeError with PyTorch's text if it was freed, or (with `checked`) modified since it was saved.
    """
    check = node._check
    slot, _, what, _, _, derive = node.op.plan[n]
    value = getattr(node, slot)
    if value.__class__ is Tensors:
        return unpack_each(node, slot[5:], value, checked), None
    if value.__class__ is Packed:
        tensor = unpack_entry(node, slot[5:], value)
        return (tensor._data.item(), None) if value.is_number else (operand(tensor), tensor)
    if derive is not None or not isinstance(value, (TensorBase, *RAW)):
        if value is None and check is RELEASED and derive is None and n in wanted(node):
            raise RuntimeError(dialect.second_backward_error())
        return value, None
    expected = check[n] if check.__class__ is tuple else 0
    if isinstance(value, TensorBase):
        storage, carrier, nr = value._storage, value._fn, value._nr
        data = operand(value)
    else:
        carrier, nr = carrier_of(node, n)
        variable = getattr(carrier, "variable", None)
        storage = carrier._storage_of(nr) if variable is None else variable._storage
        data = value if variable is None else variable._data
        if storage is not None and storage.array is not None and not isinstance(data, np.ndarray):
            data = storage.array  # the scalar has become this array, and may have been modified
        elif isinstance(storage, SameCounter) and any(data is memory for memory in storage.before):
            data = storage.now
    of_input = what is not RESULT
    if checked and storage is not None and node._seq < storage.detached and of_input and is_detached(carrier):
        raise RuntimeError(DETACHED)
    if checked and storage is not None and storage.version != expected:
        writer = storage.writer if of_input else None
        if isinstance(value, TensorBase):
            carrier, nr, writer = value.grad_fn, value._nr, None
        elif hasattr(carrier, "variable"):
            writer = None
        elif of_input and is_view(carrier):
            refuse_write(creation_of(carrier), carrier, nr, True)
            writer = "AsStridedBackward0"  # because the view would be regenerated with this node
        raise RuntimeError(modified(data, carrier, nr, storage.version, expected, writer))
    return data, value if isinstance(value, TensorBase) else None


def raw_value(node: Any, n: int) -> Any:
    """Return saved value number `n` for a vjp on raw arrays, where it may have been modified or freed, or be
    a tensor. The value of a leaf is read again from the leaf, because `.data` may have replaced it.

    RuntimeError as in `unpack`, which handles all but the plain cases.
    """
    __tracebackhide__ = True
    op, check = node.op, node._check
    slot, what, k = op.reads[n]
    value = getattr(node, slot)
    data: Any = None
    storage: Any = None
    if value is None:
        if check is not RELEASED:
            return None
    elif value.__class__ in READY:
        carrier = node if what is RESULT else node._next[k]
        if carrier.__class__ is AccumulateGrad:
            leaf = carrier.variable
            data, storage = None if leaf._bits else leaf._data, leaf._storage
        else:
            data, storage = value, carrier._storage
            if storage.__class__ in COUNTED and value.__class__ is not np.ndarray:
                data = value if storage.array is None else storage.array  # what the scalar has become
    elif isinstance(value, TensorBase) and not value._bits:
        data, storage = value._data, value._storage
    version = check[n] if check.__class__ is tuple else 0
    if data is not None and (storage is None or is_current(storage, version)):
        return data if data.__class__ is not np.ndarray or data.ndim else data[()]
    data, _ = unpack(node, n)
    return data[()] if getattr(data, "ndim", None) == 0 else data


def is_current(storage: Any, version: int) -> bool:
    """Return whether memory has a version, and there is nothing else to check, as where `x.data = y` has
    replaced the memory of a result.
    """
    plain = storage.__class__ is Storage or (storage.__class__ is SameCounter and storage.now is None)
    return plain and storage.version == version and not storage.detached


def carrier_of(node: Any, n: int) -> Any:
    """Return the node, and the number of its output, that saved value number `n` comes from."""
    _, _, what, place, k, _ = node.op.plan[n]
    return (node, place) if what is RESULT else (node._next[k], node._nrs[k] if node._nrs else 0)


def is_detached(carrier: Any) -> bool:
    """Return whether an input, which the node `carrier` made, was taken out of its graph by `detach_()`: it
    is neither a leaf nor a view.
    """
    return carrier is not None and not (hasattr(carrier, "variable") or is_view(carrier))


def is_view(node: Any) -> bool:
    """Return whether the result of a node is a view: that of a view op that is not in-place."""
    if type(node).op is None:
        return getattr(node, "_creation", None) is not None  # of a custom Function
    return node.op.view and not node.op.name.endswith("_")


def creation_of(node: Any) -> str:
    """Return how the view that `node` made was made, as the graph shows it: see `view_path`."""
    while node is not None and is_view(node):
        if type(node).op is None:
            return node._creation
        if node.op.several:
            return "several"
        node = node._next[0]
    return ""


LOOK_ABOVE = (
    "the backtrace further above shows the operation that failed to compute its gradient. The variable in "
    "question was changed in there or anywhere later. Good luck!"
)


def modified(
    data: Any, carrier: Node | None, nr: int, version: int, expected: int, writer: str | None = None
) -> str:
    """Return PyTorch's text for a saved value that was modified; `writer` made the present value."""
    kind = f"{dtypes.of(data).type_name} {list(data.shape)}"
    origin = ""
    if writer is not None:
        origin = f", which is output 0 of {dialect.origin_name(writer)},"
    elif carrier is not None and not hasattr(carrier, "variable"):
        origin = f", which is output {nr} of {dialect.origin_name(type(carrier).__name__)},"
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind}]{origin} is at version {version}; expected version {expected} instead. Hint: "
        f"{LOOK_ABOVE if modes.anomaly.enabled else dialect.anomaly_hint()}"
    )


def saved(node: Any, n: int, wrapped: bool = True, checked: bool = True) -> Any:
    """Return saved value number `n` of a node, as a tensor of its graph or a plain Python value.

    A Python number that stands for a tensor is returned as a tensor to readers (`wrapped`) and as a number to
    vjps. For `checked` see `unpack`.
    """
    data, tensor = unpack(node, n, checked)
    if tensor is not None:
        return tensor
    slot, _, what, _, _, derive = node.op.plan[n]
    if derive is not None or data is None:
        return data
    if not isinstance(data, RAW):
        return wrap(np.array(data)[()]) if wrapped and what is INPUT else data
    carrier, nr = carrier_of(node, n)
    variable = getattr(carrier, "variable", None)
    if variable is not None:
        return variable
    t = attach(data, carrier, nr)
    t._storage = carrier._storage_of(nr)
    if wrapped and t._storage is None and not isinstance(data, np.ndarray):
        share(t)  # so that the reader sees later changes of the scalar
    if node._extra is not None and slot[5:] in node._extra.tangents:
        tangents.put(t, node._extra.tangents[slot[5:]])
    return t


# ── under hooks
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def pack_inputs(node: Any, values: list[Any]) -> None:
    """Pass the tensors that `node` saved of its op's arguments `values` to the current hooks, if there are
    any.

    The order is alphabetical, as in PyTorch. A Python number beside a tensor is saved unchanged.
    """
    hooks = default_hooks()
    if hooks is None:
        return
    op = node.op
    node._extra_made.unpacks = bool(op.tensors)
    for name in sorted(n for n in op.tensors if n not in op.results):
        value = values[op.params.index(name)]
        if getattr(node, "_raw_" + name) is None:
            continue
        if isinstance(value, TensorBase):
            put(node, name, pack(node, name, value, hooks, False))
        elif isinstance(value, Tensors):
            each = (None if t is None else pack(node, name, t, hooks, False) for t in value)
            put(node, name, Tensors(each))


def pack_result(node: Any, result: TensorBase, name: str = "result") -> None:
    """Do the same for a result of the op, once it has its place in the graph."""
    hooks = default_hooks()
    kept = getattr(node, "_raw_" + name, None)
    if hooks is not None and kept is not None:
        put(node, name, pack(node, name, result, hooks, not isinstance(kept, TensorBase)))


def put(node: Any, name: str, packed: Packed | Tensors) -> None:
    """Save `packed` in `node` as `name`."""
    node._check = node._check or tuple(0 for _ in node.op.saved)
    node._extra_made.unpacks = True
    setattr(node, "_raw_" + name, packed)


class OpSavedTensor(SavedTensor):
    """A saved tensor of a node of an op."""

    __slots__ = ()

    def _entry(self) -> Any:
        return getattr(self._node, "_raw_" + self._name)

    def _set(self, packed: Packed) -> None:
        packed.is_number = not isinstance(self._entry(), (TensorBase, *RAW))
        put(self._node, self._name, packed)

    def _tensor(self, checked: bool) -> Any:
        return saved(self._node, self._node.op.names.index(self._name), checked=checked)

    def _is_output(self) -> bool:
        kept = self._entry()
        return self._name in self._node.op.results and not isinstance(kept, TensorBase)


def raw_saved(node: Any, name: str) -> SavedTensor:
    """Return the SavedTensor of a tensor that `node` saved; AttributeError for a value that can only be a
    number.
    """
    kept = getattr(node, "_raw_" + name)
    is_tensor = name in (*node.op.inputs, *node.op.results) or isinstance(kept, (TensorBase, Packed))
    if not is_tensor and (kept is not None or node._check is not RELEASED):
        raise AttributeError(f"{type(node).__name__!r} object has no attribute '_raw_saved_{name}'")
    return saved_tensor(OpSavedTensor, node, name)
