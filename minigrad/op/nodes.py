"""The node class of an op: its saved values and how it is applied.

Note [Written-out functions]
    What runs for every node of a large graph is written out as text for each op and compiled when it is first
    called: without loops over inputs and names it is twice as fast. `apply_general` is the plain form of the
    same, and what runs whenever memory is shared, a constant tensor was saved, or saved values were released.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any

from ..graph import RELEASED, AccumulateGrad, Node, sum_to
from ..tensor_base import TensorBase, attach
from .registry import CALLS, KERNELS, F, Op, arguments
from .saved import CONSTANTS, saved, unpack, wanted


def make_node(op: Op, name: str) -> type[Node]:
    """The Node class of an op: a slot per saved name, `_saved_<name>` properties, and how to apply it."""
    members: dict[str, Any] = {
        "__slots__": tuple("_raw_" + n for n, _ in op.saved),
        "__module__": __name__,
        "op": op,
        "apply": late(op, "apply", write_apply),
        "apply_tensors": late(op, "apply_tensors", write_apply_tensors),
        "release": make_release(op),
    }
    for n in (n for n, _ in op.saved if not n.endswith("_scalar_type")):
        members["_saved_" + n] = property(partial(saved, name=n), doc=f"The value saved as `{n}`.")
    return type(name, (Node,), members)


def late(op: Op, name: str, write: Any) -> Any:
    """A method that, on its first call, is compiled and put in its own place on the node class."""

    def first(*args: Any) -> Any:
        text, scope = write(op)
        exec(text, scope)
        setattr(op.node, name, scope[name])
        return scope[name](*args)

    return first


def bound(vjp: Any, names: Any) -> Any:
    """A vjp whose `F` is another registry. See Note [One text, three kinds]."""
    scope = {**vjp.__globals__, "F": names}
    return FunctionType(vjp.__code__, scope, vjp.__name__, vjp.__defaults__, vjp.__closure__)


def must_look(op: Op) -> str:
    """The condition under which saved values need looking after: released, saved at a later version, or
    shared.
    """
    names = [n for n, _ in op.saved if n in op.tensors]
    conditions = ["node._check is not None and node._check is not CONSTANTS"] if names else []
    for i, n in enumerate(op.inputs):
        if n in names:
            conditions.append(f"(n{i} is not None and n{i}._storage is not None)")
    if "result" in names:
        conditions.append("node._storage is not None")
    return " or ".join(conditions) or "False"


APPLY = """\
def apply(node, g):
    __tracebackhide__ = True
    {targets}, = node._next
    if {look}:
        return apply_general(node, g)
{values}
    if node._cast is not None:
        return uncast(node, [{gradients}])
    return ({gradients},)
"""

CONSTANT = """\
    if v_{name}.__class__ is TENSOR:
        if v_{name}._storage is not None:
            return apply_general(node, g)
        v_{name} = v_{name}._data
"""


def write_apply(op: Op) -> tuple[str, dict[str, Any]]:
    """`Node.apply`: from the raw gradient of the output those of the inputs."""
    values = [f"    v_{n} = node._raw_{n}" for n, _ in op.saved]
    values += [CONSTANT.format(name=n) for n in constants(op)]
    gradients = ", ".join(vjp_call(op, i) for i in range(len(op.inputs)))
    text = APPLY.format(
        targets=targets(op), look=must_look(op), values="\n".join(values), gradients=gradients
    )
    return text, vjps(op, KERNELS) | {"TENSOR": TensorBase.result_class}


def constants(op: Op) -> list[str]:
    """The saved names in whose place the tensor itself may stand."""
    return [n for n, _ in op.saved if n in op.inputs and len(op.inputs) > 1]


def targets(op: Op) -> str:
    """The names of the nodes behind a node's edges."""
    return ", ".join(f"n{i}" for i in range(len(op.inputs)))


def vjp_call(op: Op, i: int) -> str:
    """The gradient of input `i`, None if it needs none."""
    names = ["g", *("v_" + a for a in arguments(op.vjps[op.inputs[i]]))]
    return f"None if n{i} is None else vjp{i}({', '.join(names)})"


def by_name(op: Op) -> list[int]:
    """The inputs in alphabetical order, in which PyTorch takes their gradients: nodes then have its ages."""
    return sorted(range(len(op.inputs)), key=op.inputs.__getitem__)


def vjps(op: Op, names: Any) -> dict[str, Any]:
    """The names that all of these functions use."""
    scope: dict[str, Any] = {f"vjp{i}": bound(vjp, names) for i, vjp in enumerate(op.vjps.values())}
    return scope | {"apply_general": apply_general, "uncast": uncast, "CONSTANTS": CONSTANTS}


APPLY_TENSORS = """\
def apply_tensors(node, g):
    __tracebackhide__ = True
    {targets}, = node._next
    if {look}:
        return apply_general(node, g, True)
{values}
{gradients}
    return ({results},) if node._cast is None else uncast(node, [{results}])
"""

SHARED_CONSTANT = """\
    if v_{name}.__class__ is TENSOR and v_{name}._storage is not None:
        return apply_general(node, g, True)
"""


def write_apply_tensors(op: Op) -> tuple[str, dict[str, Any]]:
    """`Node.apply_tensors`: the same on tensors, recorded."""
    values = []
    for n, _ in op.saved:
        value = f"node._raw_{n}"
        if n == "result":
            value = f"None if {value} is None else attach({value}, node)"
        elif n in op.inputs:
            i = op.inputs.index(n)
            value = f"{value} if n{i} is None or {value} is None else rebuild({value}, node, {i})"
        values.append(f"    v_{n} = {value}")
    values += [SHARED_CONSTANT.format(name=n) for n in constants(op)]
    text = APPLY_TENSORS.format(
        targets=targets(op),
        look=must_look(op),
        values="\n".join(values),
        gradients="\n".join(f"    g{i} = {vjp_call(op, i)}" for i in by_name(op)),
        results=", ".join(f"g{i}" for i in range(len(op.inputs))),
    )
    return text, vjps(op, CALLS) | {"TENSOR": TensorBase.result_class, "attach": attach, "rebuild": rebuild}


def rebuild(data: Any, node: Node, i: int) -> Any:
    """The tensor that was saved as the input of edge `i`."""
    carrier: Any = node._next[i]
    if carrier.__class__ is AccumulateGrad:
        return carrier.variable
    return attach(data, carrier, node._nrs[i] if node._nrs else 0)


def apply_general(node: Any, g: Any, tensors: bool = False) -> tuple[Any, ...]:
    """`apply` (or `apply_tensors`) with every saved value checked. See Note [Written-out functions]."""
    __tracebackhide__ = True
    op = node.op
    values = {}
    for name in wanted(node):
        values[name] = saved(node, name, wrapped=False) if tensors else raw_value(node, name)
    gradients: list[Any] = [None] * len(op.inputs)
    for i in by_name(op):
        if node._next[i] is not None:
            vjp = op.vjps[op.inputs[i]]
            gradients[i] = vjp(g, *(values[n] for n in arguments(vjp)))
    return tuple(gradients) if node._cast is None else uncast(node, gradients)


def raw_value(node: Any, name: str) -> Any:
    """A saved value as raw data, 0-dim arrays as scalars."""
    __tracebackhide__ = True
    data, _ = unpack(node, name)
    return data[()] if name in node.op.tensors and getattr(data, "ndim", None) == 0 else data


def uncast(node: Any, gradients: list[Any]) -> tuple[Any, ...]:
    """Bring gradients back to the shapes and dtypes of the inputs that were broadcast or promoted."""
    for i, kind in enumerate(node._cast):
        g = gradients[i]
        if kind is None or g is None:
            continue
        shape, dtype = kind
        if isinstance(g, TensorBase):
            if g._data.shape != shape:
                g = F.sum_to(g, shape)
            gradients[i] = g if g._data.dtype == dtype else F.to(g, dtype)
        else:
            if g.shape != shape:
                g = sum_to(g, shape)
            gradients[i] = g if g.dtype == dtype else g.astype(dtype)
    return tuple(gradients)


RELEASE = """\
def release(node):
    if {kept}:
        {forget}
        node._check = RELEASED
"""


def make_release(op: Op) -> Any:
    """`Node.release`: forget the saved tensors; a node that saved none stays usable.

    The number of `x * 2` counts as one, as in PyTorch, where Python's operators wrap it in a tensor; an
    argument that can only be a number, such as the exponent of `x ** 3`, stays.
    """
    names = [n for n, _ in op.saved if n in op.tensors]
    if not names:
        return release_nothing
    kept, forget = [], []
    for n in names:
        slot = "node._raw_" + n
        if n in op.inputs or n == "result":
            kept.append(f"{slot} is not None")
            forget.append(f"{slot} = None")
        else:
            kept.append(f"isinstance({slot}, TensorBase)")
            forget.append(f"{slot} = None if isinstance({slot}, TensorBase) else {slot}")
    text = RELEASE.format(kept=" or ".join(kept), forget="; ".join(forget))
    return late(op, "release", lambda op: (text, {"RELEASED": RELEASED, "TensorBase": TensorBase}))


def release_nothing(node: Node) -> None:
    """There is nothing to forget."""
