"""Hooks for saved tensors: `saved_tensors_hooks` and `_raw_saved_<name>.register_hooks`.

Note [Saved-tensor hooks]
    A pack hook receives the tensor that a node saves, under `no_grad`, and may return anything. The node
    keeps that as a `Packed`, together with the tensor's place in the graph. The unpack hook turns it into a
    tensor again each time it is read. Versions are not compared then, because only the hook knows what it
    kept.

    The node of an op sets `extra.unpacks`, so that the engine runs it where user code may run. An output is
    saved without a reference to the node that saved it, which would be a cycle. A pack hook that keeps the
    output itself makes a cycle nevertheless, as in PyTorch.
"""

from __future__ import annotations

import weakref
from typing import Any

from . import dialect, modes
from .modes import Within
from .node import RELEASED, AccumulateGrad, Node
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


NOTHING = object()  # what is stored before the pack hook was called


class Packed:
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
            put(carrier, tangent)


def default_hooks() -> tuple[Any, Any] | None:
    """Return the innermost (pack, unpack) that is active in this thread."""
    hooks = modes.state.saved_hooks if modes.active else ()
    return hooks[-1] if hooks else None


def pack(
    node: Node | None, name: str, tensor: TensorBase, hooks: tuple[Any, Any], is_output: bool | None = None
) -> Packed:
    """Pass `tensor`, which `node` saves as `name`, to the pack hook of `hooks`.

    RuntimeError with PyTorch's text if the hook modifies it. Errors that the hook raises pass through.
    """
    if is_output is None:
        is_output = node is not None and tensor._fn is node
    entry = Packed(tensor, hooks[1], is_output)
    fill(entry, node, name, tensor, hooks[0])
    return entry


def fill(entry: Packed, node: Node | None, name: str, tensor: TensorBase, pack_hook: Any) -> None:
    """Store in `entry` what `pack_hook(tensor)` returns."""
    version = tensor._version
    with Within(grad_enabled=False):
        entry.kept = pack_hook(tensor)
    if tensor._version != version:
        raise RuntimeError(MODIFIES)
    if node is not None:
        modes.notify("packed", node, name, tensor, entry.kept)


def unpack_entry(node: Node | None, name: str, entry: Packed) -> Any:
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
        put(result, entry._tangent)
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
    none any more), `_set(packed)` replaces it with a `Packed`, `_tensor(checked)` returns the tensor,
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
        if isinstance(entry, Packed):
            return entry.kept
        if entry is None:
            return None
        tensor = self._tensor(False)
        return alias(tensor, tensor._data) if self._is_output() else tensor

    @property
    def unpack_hook(self) -> Any:
        """The unpack hook, if hooks were set."""
        entry = self._entry()
        return entry.unpack_hook if isinstance(entry, Packed) else None

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
        if isinstance(entry, Packed):
            raise RuntimeError(TWICE)
        if entry is None:
            raise RuntimeError(
                FREED
                if self._node._check is RELEASED
                else "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        tensor = self._tensor(False)
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
    """Return the SavedTensor of `node` for `name`: the same object as long as somebody refers to it."""
    found = _handed_out.get((id(node), name))
    if found is None:
        found = object.__new__(kind)
        found._node, found._name = node, name
        _handed_out[id(node), name] = found
    return found
