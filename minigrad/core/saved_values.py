"""Saved values: what a node saves for its vjps, how it is read again, and hooks for saved tensors.

Note [Saved-tensor hooks]
    A pack hook receives the tensor that a node saves, under `no_grad`, and may return anything. The node
    keeps that as a `Packed`, together with the tensor's place in the graph. The unpack hook turns it into a
    tensor again each time it is read. Versions are not compared then, because only the hook knows what it
    kept.

    The node of an op sets `extra.unpacks`, so that the engine runs it where user code may run. An output is
    saved without a reference to the node that saved it, which would be a cycle. A pack hook that keeps the
    output itself makes a cycle nevertheless, as in PyTorch.

Note [Reading saved values]
    `read` has the only rule for what a saved value is now. A leaf's value is read from the leaf, because
    `.data` may have replaced its memory; the value of a result or an inner tensor is what was saved, or the
    array that its scalar has become since. Its version belongs to the storage of whatever it comes from, and
    must be the version at which it was saved. `raw_values` and `tensor_values` read all values of a node for
    vjps on raw arrays and on tensors. They do not ask `read` for what nobody shares, which takes a half of
    the time.

Under saved-tensor hooks each saved tensor goes through `pack` and is read by `unpack_entry`; see
`saved_hooks`.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from . import dialect, dtypes, modes, tangents
from .modes import Within
from .node import RELEASED, AccumulateGrad, Node
from .op import ARGUMENT, INPUT, RAW, RESULT
from .storage import SameCounter, Storage
from .tangents import put_tangent, tangent_of
from .tensor_state import (
    TensorBase,
    Tensors,
    alias,
    attach,
    check_can_require_grad,
    edge,
    keep_together,
    operand,
    share,
    wrap,
)
from .view_path import refuse_write

# ─── Hooks for saved tensors: `saved_tensors_hooks` and `_raw_saved_<name>.register_hooks`


MODIFIES = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot "
    "be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if "
    "you need to perform in-place operations on the input to a pack hook."
)
FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
    "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
    "backward through the graph a second time or if you need to access saved variables after calling "
    "backward."
)
TWICE = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of "
    "hooks is allowed at a time."
)
PAIR = "arg0: collections.abc.Callable, arg1: collections.abc.Callable"
DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
    "supported, please use out-of-place `.detach()` instead"
)


NOTHING = object()  # what is stored before the pack hook was called


class PackedValue:
    """What a pack hook made of a saved tensor (`kept`), and how it becomes a tensor again.

    `carrier` and `nr` are its place in the graph: the node that made it, or a leaf's AccumulateGrad; None for
    a tensor that needs no gradient. An output (`is_output`) is made by the node that saved it. For a view
    that an in-place op modified, the node with which it was regenerated is stored weakly. With `is_number` it
    is the Python number of `x * 2`, which vjps take as a number.
    """

    __slots__ = (
        "__weakref__",
        "_tangent",
        "carrier",
        "is_number",
        "is_output",
        "kept",
        "nr",
        "unpack_hook",
    )

    def __init__(self, tensor: TensorBase, unpack_hook: Any, is_output: bool) -> None:
        self.unpack_hook = unpack_hook
        self.is_number = False
        self.is_output = is_output
        fn: Any = edge(tensor)
        if is_output:
            fn = weakref.ref(fn) if hasattr(fn, "__weakref__") else None
        self.carrier = fn
        self.nr = tensor._nr
        self.kept: Any = NOTHING
        self._tangent: TensorBase | None = None
        tangent, carrier = tangent_of(tensor), self  # type: Any, Any
        if tangent is not None:
            put_tangent(carrier, tangent)


def default_hooks() -> tuple[Any, Any] | None:
    """Return the innermost (pack, unpack) that is active in this thread."""
    hooks = modes.state.saved_hooks if modes.active else ()
    return hooks[-1] if hooks else None


def pack(
    node: Node | None, name: str, tensor: TensorBase, hooks: tuple[Any, Any], is_output: bool | None = None
) -> PackedValue:
    """Pass `tensor`, which `node` saves as `name`, to the pack hook of `hooks`.

    RuntimeError with PyTorch's text if the hook modifies it. Errors that the hook raises pass through.
    """
    if is_output is None:
        is_output = node is not None and tensor._fn is node
    entry = PackedValue(tensor, hooks[1], is_output)
    fill_slots(entry, node, name, tensor, hooks[0])
    return entry


def fill_slots(entry: PackedValue, node: Node | None, name: str, tensor: TensorBase, pack_hook: Any) -> None:
    """Store in `entry` what `pack_hook(tensor)` returns."""
    version = tensor._version
    with Within(grad_enabled=False):
        entry.kept = pack_hook(tensor)
    if tensor._version != version:
        raise RuntimeError(MODIFIES)
    if node is not None:
        modes.notify("packed", node, name, tensor, entry.kept)


def unpack_entry(node: Node | None, name: str, entry: PackedValue) -> Any:
    """Return the tensor that the unpack hook returns, with the history of the saved one: the same grad_fn, or
    for a leaf the same AccumulateGrad. A tensor that needs no gradient is returned unchanged.

    Raises TypeError with PyTorch's text if the hook returns no tensor.
    """
    given = entry.unpack_hook(entry.kept)
    if not isinstance(given, TensorBase):
        raise TypeError(
            f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
            f"{type(given).__name__}"
        )
    if node is not None:
        modes.notify("unpacked", node, name, entry.kept, given)
    carrier = entry.carrier
    if carrier is None and entry._tangent is None and not (entry.is_output or given.requires_grad):
        return given  # a constant has no place in the graph
    result: Any = alias(given, given._data)
    result._apart = True
    if entry.is_output:
        carrier = (None if carrier is None else carrier()) or node
    if carrier.__class__ is AccumulateGrad:
        check_can_require_grad(result._data)
        result._acc = weakref.ref(carrier)
    elif carrier is not None:
        result._fn, result._nr = carrier, entry.nr
    if entry._tangent is not None and modes.is_forward():
        put_tangent(result, entry._tangent)
    return result


def must_be_callable(function: str, types: str, args: tuple[Any, ...], shown: tuple[Any, ...]) -> None:
    """Raise TypeError with PyTorch's text unless both `args` are callable."""
    if len(args) == 2 and all(callable(f) for f in args):
        return
    raise TypeError(
        f"{function}(): incompatible function arguments. The following argument types are supported:\n"
        f"    1. ({types}) -> None\n\nInvoked with: {', '.join(map(repr, shown))}"
    )


class SavedTensor:
    """One saved tensor of a node, as `_raw_saved_<name>` returns it: hooks can be set for it alone.

    Subclasses implement how their kind of node stores it. `_entry()` returns the raw value (None if there is
    none any more), `_set(packed)` replaces it with a `PackedValue`, `_tensor(checked)` returns the tensor,
    checked or not.
    """

    __slots__ = ("__weakref__", "_name", "_node")

    _node: Any
    _name: str
    _entry: Any
    _set: Any
    _tensor: Any
    _is_output: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @property
    def data(self) -> Any:
        """What is stored: the result of the pack hook, or the tensor; None once freed."""
        entry = self._entry()
        if isinstance(entry, PackedValue):
            return entry.kept
        if entry is None:
            return None
        tensor = self._tensor(False)
        return alias(tensor, tensor._data) if self._is_output() else tensor

    @property
    def unpack_hook(self) -> Any:
        """The unpack hook, if hooks were set."""
        entry = self._entry()
        return entry.unpack_hook if isinstance(entry, PackedValue) else None

    def unpack(self) -> Any:
        """Return the tensor as `_saved_<name>` does. RuntimeError for an output, which only its node can
        return.
        """
        if self._entry() is None and self._node._check is RELEASED:
            raise RuntimeError(dialect.second_backward_error())
        if self._is_output():
            raise RuntimeError(DETACHED)
        return self._tensor(True)

    def register_hooks(self, *hooks: Any) -> None:
        """Pass the saved tensor to `pack_hook(tensor)` now, and read it from `unpack_hook(packed)` from now
        on.

        RuntimeError if it has hooks already, was freed, or is None.
        """
        types = f"self: torch._C._autograd.SavedTensor, {PAIR}"
        must_be_callable("register_hooks", types, hooks, (self, *hooks))
        entry = self._entry()
        if isinstance(entry, PackedValue):
            raise RuntimeError(TWICE)
        if entry is None:
            raise RuntimeError(
                FREED
                if self._node._check is RELEASED
                else "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        tensor = self._tensor(False)
        packed = PackedValue(tensor, hooks[1], self._is_output())
        try:
            fill_slots(packed, self._node, self._name, alias(tensor, tensor._data), hooks[0])
        finally:
            if packed.kept is not NOTHING:
                self._set(packed)

    def __repr__(self) -> str:
        return f"<torch._C._autograd.SavedTensor object at 0x{id(self):012x}>"


_handed_out: weakref.WeakValueDictionary[tuple[int, str], SavedTensor] = weakref.WeakValueDictionary()


def saved_tensor(kind: type[SavedTensor], node: Node, name: str) -> SavedTensor:
    """Return the SavedTensor of `node` for `name`: the same object as long as somebody refers to it."""
    found = _handed_out.get((id(node), name))
    if found is None:
        found = object.__new__(kind)
        found._node, found._name = node, name
        _handed_out[id(node), name] = found
    return found


# ─── How the values that a node saved for its vjps (see `call.keep`) are read again. See Note [Saved
# values] in `node`


# The classes of saved values that are used unchanged, if the memory of their tensor was not modified.
READY = frozenset((np.ndarray, np.float16, np.float32, np.float64, np.complex64, np.complex128, int, float))
HELD = (TensorBase, Tensors, PackedValue)  # and of those that are not


def check_versions(tensors: Tensors) -> None:
    """Raise RuntimeError with PyTorch's text if one of several saved tensors was modified since."""
    given = [t for t in tensors if isinstance(t, TensorBase)]  # hooks check what they packed
    for t, expected in zip(given, tensors.versions or (0,) * len(given), strict=True):
        if t._version != expected:
            raise RuntimeError(modification_error(t._data, t.grad_fn, t._nr, t._version, expected))


def kept_apart(tensor: TensorBase) -> Tensors:
    """Save a tensor outside any node, through the current hooks, for `unpack_each`."""
    hooks = default_hooks()
    alone = Tensors([tensor])
    return keep_together(alone) if hooks is None else Tensors([pack(None, "", tensor, hooks, False)])


def unpack_each(node: Any, name: str, tensors: Tensors, checked: bool = True) -> Tensors:
    """Return several tensors that were saved as one argument."""
    if checked:
        check_versions(tensors)
    return Tensors(unpack_entry(node, name, t) if isinstance(t, PackedValue) else t for t in tensors)


def saved_numbers_needed(node: Any) -> list[int]:
    """Return the numbers of the saved values that the vjps to run take, in the order in which PyTorch reads
    them.
    """
    targets = node._next
    return [n for n, s in enumerate(node.op.saved) if s.user is None or targets[s.user] is not None]


def read(node: Any, n: int, checked: bool = True) -> tuple[Any, Any, Any, int, Any]:
    """Return saved value number `n` of a node: its raw data now, the tensor if the node saved the tensor
    itself, and the node, output number and storage that the value comes from. These four are None (and 0)
    where there are none, as for a number. See Note [Reading saved values].

    RuntimeError with PyTorch's text if it was freed, or (with `checked`) modified since it was saved.
    """
    slot, _, what, position, k, _ = node.op.plan[n]
    value = getattr(node, slot)
    if (what is INPUT or what is RESULT) and isinstance(value, RAW):
        if what is RESULT:
            carrier, nr = node, position
        else:
            carrier, nr = node._next[k], node._nrs[k] if node._nrs else 0
        if carrier.__class__ is AccumulateGrad:
            leaf, data, tensor = carrier.variable, carrier.variable._data, None
            storage = leaf._storage
            if leaf._bits:
                data = operand(leaf)
        else:
            data, tensor, storage = value, None, carrier._storage_of(nr)
            if storage is not None and storage.array is not None and value.__class__ is not np.ndarray:
                data = storage.array  # the scalar has become this array, and may have been modified
    elif isinstance(value, TensorBase):
        data, tensor, carrier, nr, storage = operand(value), value, value._fn, value._nr, value._storage
    else:
        return read_other(node, n, value, checked)
    if storage is not None:
        check = node._check
        version = check[n] if check.__class__ is tuple else 0
        if not is_current(storage, version):
            if isinstance(storage, SameCounter) and any(data is memory for memory in storage.before):
                data = storage.now
            if checked:
                check_unmodified(node, data, tensor, carrier, nr, storage, version, what is not RESULT)
    return data, tensor, carrier, nr, storage


def read_other(node: Any, n: int, value: Any, checked: bool) -> tuple[Any, Any, None, int, None]:
    """Do what `read` does for what is not a single tensor's memory: a list, what a pack hook returned, a
    number, or nothing.
    """
    slot, _, _, _, _, derive = node.op.plan[n]
    if value.__class__ is Tensors:
        return unpack_each(node, slot[5:], value, checked), None, None, 0, None
    if value.__class__ is PackedValue:
        tensor = unpack_entry(node, slot[5:], value)
        if value.is_number:
            return tensor._data.item(), None, None, 0, None
        return operand(tensor), tensor, None, 0, None
    if value is None and derive is None and node._check is RELEASED and n in saved_numbers_needed(node):
        raise RuntimeError(dialect.second_backward_error())
    return value, None, None, 0, None


def check_unmodified(
    node: Any, data: Any, tensor: Any, carrier: Any, nr: int, storage: Any, expected: int, of_input: bool
) -> None:
    """Raise RuntimeError with PyTorch's text if the memory of a saved value, which was saved at the version
    `expected`, was written to since, or its tensor taken out of the graph. The rest is what `read` found.
    """
    if node._seq < storage.detached and of_input and is_detached(carrier):
        raise RuntimeError(DETACHED)
    if storage.version == expected:
        return
    writer = storage.writer if of_input else None
    if tensor is not None:
        carrier, nr, writer = tensor.grad_fn, tensor._nr, None
    elif hasattr(carrier, "variable"):
        writer = None
    elif of_input and is_view(carrier):
        refuse_write(creation_of(carrier), carrier, nr, True)
        writer = "AsStridedBackward0"  # because the view would be regenerated with this node
    raise RuntimeError(modification_error(data, carrier, nr, storage.version, expected, writer))


def raw_value(node: Any, n: int) -> Any:
    """Return saved value number `n` for a vjp on raw arrays; RuntimeError as in `read`."""
    __tracebackhide__ = True
    slot, _, what, _, k, _ = node.op.plan[n]
    carrier = node._next[k] if what is INPUT else None
    if carrier.__class__ is AccumulateGrad and getattr(node, slot).__class__ in READY:
        leaf, check = carrier.variable, node._check  # mostly a parameter that was updated
        storage, version = leaf._storage, check[n] if check.__class__ is tuple else 0
        if not leaf._bits and (storage is None or is_current(storage, version)):  # a third of the time
            return leaf._data if leaf._data.ndim else leaf._data[()]
    data = read(node, n)[0]
    return data[()] if data.__class__ is np.ndarray and not data.ndim else data


def raw_values(node: Any) -> list[Any]:
    """Return all values that a node saved, for vjps on raw arrays."""
    __tracebackhide__ = True
    targets, values = node._next, [*node.op.fetch(node)]
    for n, what, k in node.op.checks:
        x = values[n]
        if x.__class__ in READY:
            carrier = targets[k] if what is INPUT else node if what is RESULT else None
            if carrier is None or carrier._storage is None:
                continue
        elif isinstance(x, TensorBase) and x._storage is None and x._fn is None:
            values[n] = x._data  # a constant that nobody shares
            continue
        if what is not ARGUMENT or x is None or isinstance(x, HELD):
            values[n] = raw_value(node, n)
    return values


def tensor_values(node: Any) -> list[Any]:
    """Return all values that a node saved, for vjps on tensors, which leave a graph."""
    __tracebackhide__ = True
    targets, values, plain = node._next, [*node.op.fetch(node)], node._check is None and node._extra is None
    for n, what, k in node.op.checks:
        x = values[n]
        if plain and x.__class__ in READY and what is not ARGUMENT:
            carrier: Any = targets[k] if what is INPUT else node
            if carrier is None:
                continue  # a number
            if carrier.__class__ is AccumulateGrad:
                if carrier.variable._storage is None:
                    values[n] = carrier.variable
                    continue
            elif carrier._storage is None and carrier._outputs == 1:
                values[n] = attach(x, carrier)
                continue
        if what is not ARGUMENT or x is None or isinstance(x, HELD):
            values[n] = saved_value(node, n, wrapped=False)
    return values


def needed_values(node: Any) -> list[Any]:
    """Return the values that the vjps to run take, as tensors, and None for the others. They are read in
    PyTorch's order, because hooks may see it.
    """
    __tracebackhide__ = True
    found = {n: saved_value(node, n, wrapped=False) for n in saved_numbers_needed(node)}
    return [found.get(n) for n in range(len(node.op.plan))]


def is_current(storage: Any, version: int) -> bool:
    """Return whether memory has a version, and there is nothing else to check, as where `x.data = y` has
    replaced the memory of a result.
    """
    plain = storage.__class__ is Storage or (storage.__class__ is SameCounter and storage.now is None)
    return plain and storage.version == version and not storage.detached


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


def modification_error(
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


def saved_value(node: Any, n: int, wrapped: bool = True, checked: bool = True) -> Any:
    """Return saved value number `n` of a node, as a tensor of its graph or a plain Python value.

    A Python number that stands for a tensor is returned as a tensor to readers (`wrapped`) and as a number to
    vjps. For `checked` see `read`.
    """
    data, tensor, carrier, nr, storage = read(node, n, checked)
    if tensor is not None:
        return tensor
    if carrier is None:
        what = node.op.plan[n][2]
        is_number = wrapped and what is INPUT and data is not None and data.__class__ is not Tensors
        return wrap(np.array(data)[()]) if is_number else data
    if carrier.__class__ is AccumulateGrad:
        return carrier.variable
    t = attach(data, carrier, nr)
    t._storage = storage
    if wrapped and storage is None and not isinstance(data, np.ndarray):
        share(t)  # so that the reader sees later changes of the scalar
    if node._extra is not None:
        name = node.op.plan[n][0][5:]
        if name in node._extra.tangents:
            tangents.put_tangent(t, node._extra.tangents[name])
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
            store(node, name, pack(node, name, value, hooks, False))
        elif isinstance(value, Tensors):
            each = (None if t is None else pack(node, name, t, hooks, False) for t in value)
            store(node, name, Tensors(each))


def pack_result(node: Any, result: TensorBase, name: str = "result") -> None:
    """Do the same for a result of the op, once it has its place in the graph."""
    hooks = default_hooks()
    kept = getattr(node, "_raw_" + name, None)
    if hooks is not None and kept is not None:
        store(node, name, pack(node, name, result, hooks, not isinstance(kept, TensorBase)))


def store(node: Any, name: str, packed: PackedValue | Tensors) -> None:
    """Save `packed` in `node` as `name`."""
    node._check = node._check or tuple(0 for _ in node.op.saved)
    node._extra_made.unpacks = True
    setattr(node, "_raw_" + name, packed)


class OpSavedTensor(SavedTensor):
    """A saved tensor of a node of an op."""

    __slots__ = ()

    def _entry(self) -> Any:
        return getattr(self._node, "_raw_" + self._name)

    def _set(self, packed: PackedValue) -> None:
        packed.is_number = not isinstance(self._entry(), (TensorBase, *RAW))
        store(self._node, self._name, packed)

    def _tensor(self, checked: bool) -> Any:
        return saved_value(self._node, self._node.op.names.index(self._name), checked=checked)

    def _is_output(self) -> bool:
        kept = self._entry()
        return self._name in self._node.op.results and not isinstance(kept, TensorBase)


def raw_saved_tensor(node: Any, name: str) -> SavedTensor:
    """Return the SavedTensor of a tensor that `node` saved; AttributeError for a value that can only be a
    number.
    """
    kept = getattr(node, "_raw_" + name)
    is_tensor = name in (*node.op.inputs, *node.op.results) or isinstance(kept, (TensorBase, PackedValue))
    if not is_tensor and (kept is not None or node._check is not RELEASED):
        raise AttributeError(f"{type(node).__name__!r} object has no attribute '_raw_saved_{name}'")
    return saved_tensor(OpSavedTensor, node, name)
