"""The node class of an op: a slot for each saved value, a property to read it, and the function that applies
it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .apply import apply, apply_nothing, apply_rows, apply_tensors, release
from .apply_closures import apply_of
from .node import Node
from .op import Op
from .saved import raw_saved, saved

MODULE = "builtins"  # so that type(t.grad_fn) is shown as PyTorch shows it: <class 'MulBackward0'>


def make_node(op: Op, name: str) -> type[Node]:
    """Return the Node class of an op: a slot and a `_saved_<name>` property per saved name, and `apply`."""
    members: dict[str, Any] = {
        "__slots__": tuple("_raw_" + n for n in op.names)
        + (("_outputs",) if op.several else ())
        + (("__weakref__",) if op.name == "as_strided" else ()),
        "__module__": MODULE,
        "op": op,
        "is_complex": False,
        "_plain": not op.several,
        "apply": apply_of(op),
        "apply_rows": apply_rows,
        "_apply_tensors": apply_tensors,
        "apply_nothing": apply_nothing,
        "_release": release,
    }
    for i, n in enumerate(op.names):
        if n.endswith("_scalar_type") or (op.listed and "_sym_" in n):
            continue
        members["_saved_" + n] = property(partial(saved, n=i), doc=f"The value saved as `{n}`.")
        if n in op.tensors:
            members["_raw_saved_" + n] = property(
                partial(raw_saved, name=n), doc=f"`{n}`, to register hooks on."
            )
    return type(name, (Node,), members)


def complex_node(op: Op) -> type[Node]:
    """Return the second Node class of an op. See Note [Complex numbers] in `apply`."""
    if op.complex_node is None:
        members = {"__slots__": (), "__module__": MODULE, "is_complex": True, "apply": apply}
        op.complex_node = type(op.node.__name__, (op.node,), members)
    return op.complex_node
