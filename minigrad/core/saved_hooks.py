"""Saved tensors in the keeping of hooks: `saved_tensors_hooks` and `_raw_saved_<name>.register_hooks`.

Note [Saved-tensor hooks]
    A pack hook gets the tensor that a node saves, under `no_grad`, and gives anything; the node keeps that,
    with what is needed to give a tensor its old place in the graph, as a `Packed`. The unpack hook turns it
    into a tensor again each time it is read. Versions are not compared then: nobody knows what the hook kept.

    An op's node notes `extra.unpacks`, so that the engine runs it where user code may run. An output is
    saved without a reference to the node that saved it, which would be a cycle. A pack hook that keeps the
    very output makes one nevertheless, as in PyTorch.
"""

from __future__ import annotations

import weakref
from typing import Any

from . import dialect, modes
from .hook_calls import Mode
from .node import AccumulateGrad, Node
from .tangents import put, tangent_of
from .tensor_state import TensorBase, alias, check_can_require_grad, edge

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


NOTHING = object()  # what is kept before the pack hook was called


class Packed:
    """What a pack hook made of a saved tensor (`kept`), and how it becomes a tensor again.

    `carrier` and `nr` are its place in the graph: the node that made it or a leaf's AccumulateGrad; None for
    a tensor that needs no gradient. An output (`is_output`) is made by the node that saved it; of a view that
    an op in place wrote to, the node by which it was taken anew is known, weakly. `is_number`: it is the
    Python number of `x * 2`, which vjps take as a number.
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
            put(carrier, tangent)


def default_hooks() -> tuple[Any, Any] | None:
    """The innermost (pack, unpack) in force in this thread."""
    hooks = modes.state.saved_hooks if modes.active else ()
    return hooks[-1] if hooks else None


def pack(
    node: Node | None, name: str, tensor: TensorBase, hooks: tuple[Any, Any], is_output: bool | None = None
) -> Packed:
    """Hand `tensor`, which `node` saves as `name`, to the pack hook of `hooks`.

    RuntimeError with PyTorch's text if the hook writes to it; what the hook raises passes through.
    """
    if is_output is None:
        is_output = node is not None and tensor._fn is node
    entry = Packed(tensor, hooks[1], is_output)
    fill(entry, node, name, tensor, hooks[0])
    return entry


def fill(entry: Packed, node: Node | None, name: str, tensor: TensorBase, pack_hook: Any) -> None:
    """Let `entry` keep what `pack_hook(tensor)` gives."""
    version = tensor._version
    with Mode(False):
        entry.kept = pack_hook(tensor)
    if tensor._version != version:
        raise RuntimeError(MODIFIES)
    for watcher in modes.observers() if node is not None else ():
        watcher.packed(node, name, tensor, entry.kept)


def unpack_entry(node: Node | None, name: str, entry: Packed) -> Any:
    """The tensor that the unpack hook gives, instead of the saved one: of its node, or a leaf with the
    same AccumulateGrad. What needs no gradient instead of such a tensor is given as it is.

    TypeError with PyTorch's text if it gives no tensor.
    """
    given = entry.unpack_hook(entry.kept)
    if not isinstance(given, TensorBase):
        raise TypeError(
            f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
            f"{type(given).__name__}"
        )
    for watcher in modes.observers() if node is not None else ():
        watcher.unpacked(node, name, entry.kept, given)
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
        put(result, entry._tangent)
    return result


def must_be_callable(function: str, types: str, args: tuple[Any, ...], shown: tuple[Any, ...]) -> None:
    """TypeError with PyTorch's text unless both `args` are callable."""
    if len(args) == 2 and all(callable(f) for f in args):
        return
    raise TypeError(
        f"{function}(): incompatible function arguments. The following argument types are supported:\n"
        f"    1. ({types}) -> None\n\nInvoked with: {', '.join(map(repr, shown))}"
    )


class SavedTensor:
    """One saved tensor of a node, as `_raw_saved_<name>` gives it: hooks can be set for it alone.

    Subclasses know how their kind of node keeps it: `_entry()` is the raw value (None if there is none, or
    no longer), `_set(packed)` puts a `Packed` in its place, `_original()` gives the tensor as it was saved,
    whatever its version, and `_read()` the tensor, checked, for `unpack`.
    """

    __slots__ = ("__weakref__", "_name", "_node")

    _node: Any
    _name: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    def _entry(self) -> Any:
        raise NotImplementedError

    def _set(self, packed: Packed) -> None:
        raise NotImplementedError

    def _original(self) -> Any:
        raise NotImplementedError

    def _read(self) -> Any:
        raise NotImplementedError

    def _is_output(self) -> bool:
        raise NotImplementedError

    def _is_freed(self) -> bool:
        raise NotImplementedError

    @property
    def data(self) -> Any:
        """What is kept: what the pack hook gave, or the tensor; None once freed."""
        entry = self._entry()
        if isinstance(entry, Packed):
            return entry.kept
        if entry is None:
            return None
        tensor = self._original()
        return alias(tensor, tensor._data) if self._is_output() else tensor

    @property
    def unpack_hook(self) -> Any:
        """The unpack hook, if hooks were set."""
        entry = self._entry()
        return entry.unpack_hook if isinstance(entry, Packed) else None

    def unpack(self) -> Any:
        """The tensor as `_saved_<name>` gives it; an output is known by its node only: RuntimeError."""
        if self._entry() is None and self._is_freed():
            raise RuntimeError(dialect.second_backward_error())
        if self._is_output():
            raise RuntimeError(DETACHED)
        return self._read()

    def register_hooks(self, *hooks: Any) -> None:
        """Hand the saved tensor to `pack_hook(tensor)` now and take it from `unpack_hook(packed)` whenever
        it is read.

        RuntimeError if it has hooks already, was freed or is None.
        """
        types = f"self: torch._C._autograd.SavedTensor, {PAIR}"
        must_be_callable("register_hooks", types, hooks, (self, *hooks))
        entry = self._entry()
        if isinstance(entry, Packed):
            raise RuntimeError(TWICE)
        if entry is None:
            raise RuntimeError(
                FREED
                if self._is_freed()
                else "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        tensor = self._original()
        packed = Packed(tensor, hooks[1], self._is_output())
        try:
            fill(packed, self._node, self._name, alias(tensor, tensor._data), hooks[0])
        finally:
            if packed.kept is not NOTHING:
                self._set(packed)

    def __repr__(self) -> str:
        return f"<torch._C._autograd.SavedTensor object at 0x{id(self):012x}>"


_handed_out: weakref.WeakValueDictionary[tuple[int, str], SavedTensor] = weakref.WeakValueDictionary()


def saved_tensor(kind: type[SavedTensor], node: Node, name: str) -> SavedTensor:
    """The SavedTensor of `node` for `name`: the same one as long as somebody keeps it."""
    found = _handed_out.get((id(node), name))
    if found is None:
        found = object.__new__(kind)
        found._node, found._name = node, name
        _handed_out[id(node), name] = found
    return found
