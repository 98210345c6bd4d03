"""The node class of an op: its saved values and how it is applied.

Note [Complex numbers]
    Gradients are PyTorch's: of a real function L of z = a + ib it is ∂L/∂a + i ∂L/∂b. Where an op is
    holomorphic with real coefficients, as nearly all are, its gradient is the vjp as it is written, run on
    the conjugates of the saved values: g · conj(f'(z)) = g · f'(conj z). So a vjp says nothing of complex
    numbers; a node of an op that works on them is of a second class of the op (`complex_node`), which
    conjugates what it reads. Ops that are not holomorphic, and those for which PyTorch conjugates something
    else than the saved values, which shows in the graph, say their own formulas (`complexes`). The gradient
    of a real input is the real part (`uncast`).

Note [Written-out functions]
    What runs for every node of a large graph is written out as text for each op and compiled when it is first
    called: without loops over inputs and names it is twice as fast. `applying` has the plain form of the
    same, which runs whenever memory is shared, a constant tensor was saved, or saved values were released.
"""

from __future__ import annotations

from functools import partial, partialmethod
from types import FunctionType
from typing import Any

from ..graph import RELEASED, AccumulateGrad, Node
from ..tensor_base import TensorBase, Tensors, attach
from .applying import apply_general, apply_limited, apply_nothing, by_name, uncast
from .keeping import CONSTANTS
from .packed import Packed
from .registry import CALLS, KERNELS, F, Op, arguments
from .saved import may_be_whole, must_look, raw_saved, saved

GENERAL = {
    "apply": apply_general,
    "apply_once": Node.apply_once,
    "_apply_tensors": partialmethod(apply_general, tensors=True),
}
MODULE = "builtins"  # so that type(t.grad_fn) is shown as PyTorch shows it: <class 'MulBackward0'>


def make_node(op: Op, name: str) -> type[Node]:
    """The Node class of an op: a slot per saved name, `_saved_<name>` properties, and how to apply it."""
    members: dict[str, Any] = {
        "__slots__": tuple("_raw_" + n for n, _ in op.saved)
        + (("_outputs",) if op.several else ())
        + (("__weakref__",) if op.name == "as_strided" else ()),
        "__module__": MODULE,
        "op": op,
        "is_complex": False,
        "_plain": not op.several,
        "apply": late(op, "apply", write_apply),
        "apply_once": late(op, "apply_once", write_apply_once),
        "_apply_tensors": late(op, "_apply_tensors", write_apply_tensors),
        "apply_nothing": apply_nothing,
        "apply_limited": apply_limited,
        "_release": make_release(op),
    }
    if op.listed or (op.several and not op.is_named):
        members |= GENERAL
    elif op.several:
        members["_apply_tensors"] = GENERAL["_apply_tensors"]
    for n in (n for n, _ in op.saved if not n.endswith("_scalar_type") and not (op.listed and "_sym_" in n)):
        members["_saved_" + n] = property(partial(saved, name=n), doc=f"The value saved as `{n}`.")
        if n in op.tensors:
            members["_raw_saved_" + n] = property(
                partial(raw_saved, name=n), doc=f"`{n}`, to register hooks on."
            )
    return type(name, (Node,), members)


def complex_node(op: Op) -> type[Node]:
    """The second Node class of an op. See Note [Complex numbers]."""
    if op.complex_node is None:
        members = {
            "__slots__": (),
            "__module__": MODULE,
            "is_complex": True,
            **GENERAL,
        }
        op.complex_node = type(op.node.__name__, (op.node,), members)
    return op.complex_node


Written = tuple[str, dict[str, Any]]  # the text of a function, and the names that it uses


def late(op: Op, name: str, write: Any) -> Any:
    """A method that, on its first call, is compiled and put in its own place on the node class."""

    def first(*args: Any) -> Any:
        text, scope = write(op)
        scope["__name__"] = __name__
        exec(text, scope)
        setattr(op.node, name, scope[name])
        return scope[name](*args)

    return first


def bound(vjp: Any, names: Any) -> Any:
    """A vjp whose `F` is another registry. See Note [One text, three kinds]."""
    scope = {**vjp.__globals__, "F": names}
    return FunctionType(vjp.__code__, scope, vjp.__name__, vjp.__defaults__, vjp.__closure__)


def suspicion(op: Op) -> str:
    """The condition under which `must_look` is asked whether saved values need looking after one by one."""
    names = [n for n, _ in op.saved if n in op.tensors]
    conditions = ["node._check is not None and node._check is not CONSTANTS"] if names else []
    for i, n in enumerate(op.inputs):
        if n in names:
            conditions.append(f"n{i} is not None and n{i}._storage is not None")
    if any(n in op.results and n not in op.constants for n in names):
        conditions.append("node._storage is not None")
    condition = " or ".join(conditions)
    return f"({condition}) and must_look(node)" if condition else "False"


APPLY = """\
def {name}(node, g):
    __tracebackhide__ = True
    {targets}, = node._next
    if {look}:
        return {general}
{values}
    sent = ({gradients},) if node._cast is None else uncast(node, [{gradients}])
{release}
    return sent
"""

CONSTANT = """\
    if v_{name}.__class__ is TENSOR:
        if v_{name}._storage is not None and must_look(node):
            return {general}
        v_{name} = v_{name}._data
"""


def write_apply(op: Op) -> Written:
    """`Node.apply`: from the raw gradient of the output those of the inputs."""
    return write_raw(op, "apply", "apply_general(node, g)", "")


def write_apply_once(op: Op) -> Written:
    """`Node.apply_once`: the same, with `_release` written into it."""
    return write_raw(op, "apply_once", "general(node, g)", release_text(op) or "")


def write_raw(op: Op, name: str, general: str, release: str) -> Written:
    """What both have in common."""
    values = [f"    v_{n} = node._raw_{n}" for n, _ in op.saved]
    values += [CONSTANT.format(name=n, general=general) for n in constants(op)]
    gradients = [raw_call(op, i) for i in range(len(op.inputs))]
    whole = together(op)
    if whole is not None:
        masks = "".join(f"n{i} is not None, " for i in range(len(op.inputs)))
        given = "".join(f", v_{a}" for a in arguments(whole)[1:])
        values.append(f"    made = together(g, ({masks}){given})")
        gradients = [f"None if n{i} is None else made[{i}]" for i in range(len(op.inputs))]
    text = APPLY.format(
        name=name,
        targets=targets(op),
        look=suspicion(op),
        general=general,
        values="\n".join(values),
        gradients=", ".join(gradients),
        release=release,
    )
    scope = vjps(op, KERNELS) | {"TENSOR": TensorBase.result_class, "general": Node.apply_once} | HOW
    return text, scope if whole is None else scope | {"together": bound(whole, KERNELS)}


def together(op: Op) -> Any:
    """The function that all vjps of an op call for their own part, if it is one. See `jointly`."""
    functions = {getattr(vjp, "together", None) for vjp in op.vjps.values()}
    return functions.pop() if len(functions) == 1 else None


def constants(op: Op) -> list[str]:
    """The saved names in whose place the tensor itself may stand."""
    return [n for n, _ in op.saved if may_be_whole(op, n)]


def targets(op: Op) -> str:
    """The names of the nodes behind a node's edges."""
    return ", ".join(f"n{i}" for i in range(len(op.inputs)))


def vjp_call(op: Op, i: int) -> str:
    """The gradient of input `i`, None if it needs none."""
    names = ["g", *("v_" + a for a in arguments(op.vjps[op.inputs[i]]))]
    return f"None if n{i} is None else vjp{i}({', '.join(names)})"


# What stands in the text of `apply` instead of a call of such a vjp, which takes longer than to multiply two
# numbers: chains of products are 3 to 4 % faster, the DAG of sums and products 6 %.
SHORT = {
    (vjp.__code__.co_code, vjp.__code__.co_names): text
    for vjp, text in (
        (lambda g: g, "g"),
        (lambda g: F.neg(g), "-g"),
        (lambda g, value: g * value, "g * v_{}"),
        (lambda g, value: g / value, "g / v_{}"),
    )
}


def raw_call(op: Op, i: int) -> str:
    """`vjp_call` on raw arrays."""
    vjp = op.vjps[op.inputs[i]]
    short = SHORT.get((vjp.__code__.co_code, vjp.__code__.co_names))
    if short is None:
        return vjp_call(op, i)
    return f"None if n{i} is None else {short.format(*arguments(vjp))}"


def vjps(op: Op, names: Any) -> dict[str, Any]:
    """The names that all of these functions use."""
    scope: dict[str, Any] = {f"vjp{i}": bound(vjp, names) for i, vjp in enumerate(op.vjps.values())}
    general = {"apply_general": apply_general, "must_look": must_look}
    return scope | general | {"uncast": uncast, "CONSTANTS": CONSTANTS}


APPLY_TENSORS = """\
def _apply_tensors(node, g):
    __tracebackhide__ = True
    {targets}, = node._next
    if {look}:
        return apply_general(node, g, True)
{values}
{gradients}
    return ({results},) if node._cast is None else uncast(node, [{results}])
"""

SHARED_CONSTANT = """\
    if v_{name}.__class__ is TENSOR and v_{name}._storage is not None and must_look(node):
        return apply_general(node, g, True)
"""


def write_apply_tensors(op: Op) -> Written:
    """`Node._apply_tensors`: the same on tensors, recorded."""
    values = []
    for n, _ in op.saved:
        value = f"node._raw_{n}"
        if n == "result":
            value = f"None if {value} is None else rebuild({value}, node, node, 0)"
        elif n in op.inputs:
            i = op.inputs.index(n)
            value = f"{value} if n{i} is None or {value} is None else rebuild({value}, node, n{i}, {i})"
        values.append(f"    v_{n} = {value}")
    values += [SHARED_CONSTANT.format(name=n) for n in constants(op)]
    text = APPLY_TENSORS.format(
        targets=targets(op),
        look=suspicion(op),
        values="\n".join(values),
        gradients="\n".join(f"    g{i} = {vjp_call(op, i)}" for i in by_name(op)),
        results=", ".join(f"g{i}" for i in range(len(op.inputs))),
    )
    return text, vjps(op, CALLS) | {"TENSOR": TensorBase.result_class, "rebuild": rebuild}


def rebuild(data: Any, node: Node, carrier: Any, i: int) -> Any:
    """The tensor that `node` saved: a result of its own, or what came from `carrier` over edge `i`."""
    if carrier.__class__ is AccumulateGrad or (carrier.op is None and hasattr(carrier, "variable")):
        return carrier.variable
    nr = node._nrs[i] if node._nrs and carrier is not node else 0
    t = attach(data, carrier, nr)
    if carrier._storage is not None:
        t._storage = carrier._storage_of(nr)
    return t


RELEASE = """\
    if {kept}:
        node._check = RELEASED  # first: another thread must not read what is gone for a number
        {forget}
"""
HOW = {"RELEASED": RELEASED, "HELD": (TensorBase, Tensors, Packed)}  # the names that this text uses


def make_release(op: Op) -> Any:
    """`Node.release`: forget the saved tensors; a node that saved none stays usable."""
    text = release_text(op)
    if text is None:
        return release_nothing
    return late(op, "_release", lambda op: (f"def _release(node):\n{text}", dict(HOW)))


def release_text(op: Op) -> str | None:
    """The statements that forget the saved tensors, if there are any.

    The number of `x * 2` counts as one, as in PyTorch, where Python's operators wrap it in a tensor; an
    argument that can only be a number, such as the exponent of `x ** 3`, stays.
    """
    kept, forget = [], []
    for n in (n for n, _ in op.saved if n in op.tensors):
        slot = "node._raw_" + n
        if n in op.inputs or n in op.results:
            kept.append(f"{slot} is not None")
            forget.append(f"{slot} = None")
        else:
            kept.append(f"isinstance({slot}, HELD)")
            forget.append(f"{slot} = None if isinstance({slot}, HELD) else {slot}")
    return RELEASE.format(kept=" or ".join(kept), forget="; ".join(forget)) if kept else None


def release_nothing(node: Node) -> None:
    """There is nothing to forget."""
