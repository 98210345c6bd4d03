"""How a node of an op is applied: its saved values are read, then its vjps are called one after the other.

Note [Complex numbers]
    Gradients are PyTorch's: for a real function L of z = a + ib the gradient is ∂L/∂a + i ∂L/∂b. Nearly all
    ops are holomorphic with real coefficients. Their gradient is the vjp as it is written, run on the
    conjugates of the saved values: g · conj(f'(z)) = g · f'(conj z). So a vjp need not mention complex
    numbers. A node of an op on complex numbers belongs to a second class of the op
    (`node_class.complex_node`), which conjugates what it reads. Ops that are not
    holomorphic have their own formulas (`complexes`). The gradient of a real input is the real part
    (`uncast`). PyTorch conjugates some derivatives instead of the saved values: the numbers are the same.

Nodes of common ops are applied by closures that do what `apply` does, and ask less: `single` is for ops with
one input, `linear` and `product` are for sums and products of two. In graphs of scalars the loops of the
general path would take a third of the backward pass.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from .accumulate import as_gradient, as_tensor
from .modes import hidden_from_observers
from .node import RELEASED, Node, join_rows, output_of, rows_of
from .op import INPUT, NUMBER_CLASSES, RAW, RESULT, F, Op, arguments
from .operands import sum_to
from .saved_values import (
    HELD,
    READY,
    needed_values,
    raw_saved_tensor,
    raw_value,
    raw_values,
    read,
    saved_numbers_needed,
    saved_value,
    tensor_values,
)
from .tensor_state import TensorBase, Tensors, wrap

# ─── How a node of an op is applied: its saved values are read, then its vjps are called one after the
# other


def apply(node: Any, g: Any, keep: bool = True) -> tuple[Any, ...]:
    """Return the gradients of the inputs from `g`, the gradient of the output, as raw arrays. Release the
    saved values unless `keep`.
    """
    __tracebackhide__ = True
    if node._extra is not None and node._extra.unpacks:
        sent = apply_unpacked(node, g)
    else:
        sent = pull(node, g, raw_values(node))
    if not keep:
        release(node)
    return sent


def apply_rows(node: Any, g: Any) -> tuple[Any, ...]:
    """`Node.apply_rows` of an op. The vjps of an elementwise op broadcast over rows; other ops have vjps for
    rows, or theirs are called for one row after the other.
    """
    __tracebackhide__ = True
    op = node.op
    if op.elementwise and not (node._cast or node.is_complex):
        return node.apply(g)
    values = raw_values(node)
    if not op.rows or node._cast or node.is_complex:
        return join_rows([pull(node, row, values) for row in rows_of(g)])
    gradients: list[Any] = [None] * len(node._next)
    for i, vjp, names in op.rows:
        if node._next[i] is not None:
            gradients[i] = vjp(g, *map(values.__getitem__, names))
    return tuple(gradients)


def apply_tensors(node: Any, g: Any, runs: Any = None) -> tuple[Any, ...]:
    """`Node._apply_tensors` of an op. With `runs`, compute no gradient for a node for which `runs(node)` is
    False: observers or hooks would see more than in PyTorch.
    """
    __tracebackhide__ = True
    if node._extra is None and runs is None:
        return pull(node, g, tensor_values(node))
    sent = pull(node, g, needed_values(node), runs)
    return fit_gradients(node, sent) if node._extra is not None and node._extra.unpacks else sent


def pull(node: Any, g: Any, values: list[Any], runs: Any = None) -> tuple[Any, ...]:
    """Call the vjps of a node on `g` and the saved `values`, only for the nodes for which `runs` returns
    True. The order is alphabetical by input, as in PyTorch, so that nodes which the vjps make get PyTorch's
    sequence numbers.
    """
    __tracebackhide__ = True
    op, targets, gradients = node.op, node._next, None
    if op.several and node._outputs == 1:
        g = [g]
    if op.listed or op.together is not None or node.is_complex:
        gradients = pull_specially(node, g, values, runs)
    if gradients is None:
        gradients = [None] * len(targets)
        for i, vjp, pick in op.pulls:
            if targets[i] is not None and (runs is None or runs(targets[i])):
                gradients[i] = vjp(g, *pick(values))
    return tuple(gradients) if node._cast is None else uncast(node._cast, gradients)


def pull_specially(node: Any, g: Any, values: list[Any], runs: Any) -> list[Any] | None:
    """Return the gradients of a list of tensors, of inputs whose gradients come from one function, or for
    complex numbers (see Note [Complex numbers]). None if the node has one vjp per input.
    """
    op, targets = node.op, node._next
    if op.listed:
        sent = op.pulls[0][1](g, *op.pulls[0][2](values))
        return [None if n is None else x for n, x in zip(targets, sent, strict=True)]
    received = g if g.__class__ is list else (g,)
    if op.together is not None and runs is None and not any(isinstance(x, TensorBase) for x in received):
        asked = tuple([n is not None for n in targets])
        made = op.together(g, asked, *op.pulls[0][2](values))
        return [x if needed else None for x, needed in zip(made, asked)]
    if not node.is_complex:
        return None
    gradients: list[Any] = [None] * len(targets)
    for i, vjp, names, conjugates in op.complex_pulls:
        if targets[i] is not None and (runs is None or runs(targets[i])):
            given = [values[n] for n in names]
            if conjugates:
                tensor = isinstance(g, TensorBase)
                inputs = [op.saved[n].what is INPUT for n in names]
                given = [conjugate(v, tensor and is_input) for v, is_input in zip(given, inputs)]
            gradients[i] = vjp(g, *given)
    return gradients


def conjugate(value: Any, tensor: bool) -> Any:
    """Return the conjugate of a saved value, or the value itself if it is not complex. With `tensor`, a
    Python number becomes a tensor, as in PyTorch, because this affects the precision of what is computed with
    it.
    """
    if isinstance(value, (TensorBase, *RAW)):
        return F.conj(value)
    if not isinstance(value, complex):
        return value
    return wrap(np.complex128(value.conjugate())) if tensor else value.conjugate()


def apply_unpacked(node: Any, g: Any) -> tuple[Any, ...]:
    """Do what `apply` does where hooks return the saved values: always on tensors, and without assumptions
    about their shapes and dtypes.
    """
    __tracebackhide__ = True
    values = needed_values(node)
    with hidden_from_observers(False):
        g = [as_tensor(False, x) for x in g] if g.__class__ is list else as_tensor(False, g)
        return tuple([as_gradient(False, x) for x in fit_gradients(node, pull(node, g, values))])


def fit_gradients(node: Any, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return gradients in the shapes and dtypes of the inputs."""
    sent = list(gradients)
    for i, (target, nr) in enumerate(node.next_functions):
        made = None if target is None else output_of(target, nr)
        if sent[i] is not None and made is not None:
            sent[i] = sum_gradient_to(node.name(), i, sent[i], made[0])
            sent[i] = F.to(sent[i], made[1]) if sent[i]._data.dtype != made[1] else sent[i]
    return tuple(sent)


def sum_gradient_to(name: str, i: int, gradient: Any, shape: tuple[int, ...]) -> Any:
    """Return gradient number `i` of a node, summed to the shape of the input. RuntimeError with PyTorch's
    text if a sum cannot reach it.
    """
    got = gradient._data.shape
    if got == shape:
        return gradient
    pairs = zip(reversed(shape), reversed(got), strict=False)
    if len(shape) > len(got) or not all(a in (1, b) for a, b in pairs):
        raise invalid_gradient(name, i, got, shape)
    return F.sum_to(gradient, shape)


def invalid_gradient(name: str, i: int, got: Any, shape: Any) -> RuntimeError:
    """Return PyTorch's error for a gradient of a wrong shape."""
    return RuntimeError(
        f"Function {name} returned an invalid gradient at index {i} - got {list(got)} but expected shape "
        f"compatible with {list(shape)}"
    )


def apply_nothing(node: Any) -> tuple[None, ...]:
    """`Node.apply_nothing` of an op."""
    for n in saved_numbers_needed(node):
        read(node, n)
    return (None,) * len(node._next)


def release(node: Any) -> None:
    """Release the saved tensors. A node that saved no tensor stays usable.

    The number in `x * 2` counts as a tensor, as in PyTorch, where Python's operators wrap it in one. An
    argument that can only be a number, such as the exponent of `x ** 3`, stays.
    """
    for slot, is_argument in node.op.releases:
        value = getattr(node, slot)
        if value is not None and not (is_argument and value.__class__ in NUMBER_CLASSES):
            if is_argument and not isinstance(value, HELD):
                continue
            node._check = RELEASED  # first, so that another thread does not read None as a saved value
            setattr(node, slot, None)


def uncast(cast: Any, gradients: list[Any]) -> tuple[Any, ...]:
    """Bring gradients back to the shapes and dtypes of the inputs that were broadcast or promoted."""
    for i, (kind, g) in enumerate(zip(cast, gradients)):
        if kind is None or g is None:
            continue
        shape, dtype = kind
        if isinstance(g, TensorBase):
            if dtype.kind == "f" and g._data.dtype.kind == "c":
                g = F.real(g)
            if g._data.shape != shape:
                g = F.sum_to(g, shape)
            gradients[i] = g if g._data.dtype == dtype else F.to(g, dtype)
        else:
            if dtype.kind == "f" and g.dtype.kind == "c":
                g = g.real
            if g.shape != shape:
                g = sum_to(g, shape)
            gradients[i] = g if g.dtype == dtype else g.astype(dtype)
    return tuple(gradients)


# ─── The node class of an op: a slot for each saved value, a property to read it, and the function that
# applies it


# The classes of saved values that are used unchanged where no memory is shared: no tensors, nothing freed.
SIMPLE = READY | {bool, str, tuple, np.dtype}


def single(op: Op) -> Any:
    """Return `apply` for an op with one input and one result, and so one vjp."""
    vjp, names = op.pulls[0][1], arguments(op.pulls[0][1])
    taken = [op.saved[op.names.index(name)] for name in names]
    fetch = attrgetter(*(s.slot for s in taken)) if taken else None
    checked = tuple(n for n, s in enumerate(taken) if s.derive is None)
    tensors = tuple(s.slot for s in taken if s.what in (INPUT, RESULT))
    of_input, of_result = (any(s.what is what for s in taken) for what in (INPUT, RESULT))
    several = len(taken) > 1

    def apply_single(node: Any, g: Any, keep: bool = True) -> tuple[Any, ...]:
        if (
            node._extra is not None
            or (of_input and node._next[0]._storage is not None)
            or (of_result and node._storage is not None)
        ):
            return apply(node, g, keep)
        together = False
        if fetch is None:
            sent = vjp(g)
        else:
            values = fetch(node)
            if several:
                for n in checked:
                    x = values[n]
                    if x.__class__ is Tensors and x.are_untouched:
                        together = not keep
                    elif x.__class__ not in SIMPLE:
                        return apply(node, g, keep)
                sent = vjp(g, *values)
                if together:
                    release(node)
            elif checked and values.__class__ not in SIMPLE:
                return apply(node, g, keep)
            else:
                sent = vjp(g, values)
            if tensors and not keep:
                node._check = RELEASED
                for slot in tensors:
                    setattr(node, slot, None)
        return (sent,) if node._cast is None else uncast(node._cast, [sent])

    return apply_single


def linear_apply(op: Op) -> Any:
    """Return `apply` for a plain elementwise op with two inputs that saves nothing."""
    vjp0, vjp1 = op.vjps.values()

    def apply_linear(node: Any, g: Any, keep: bool = True) -> tuple[Any, ...]:
        if node._extra is not None:
            return apply(node, g, keep)
        n0, n1 = node._next
        sent = None if n0 is None else vjp0(g), None if n1 is None else vjp1(g)
        return sent if node._cast is None else uncast(node._cast, [*sent])

    return apply_linear


def product_apply(op: Op) -> Any:
    """Return `apply` for a plain elementwise op with two inputs, where the vjp of each takes the other."""
    vjp0, vjp1 = op.vjps.values()
    at0, at1 = map(op.names.index, op.inputs)

    def apply_product(node: Any, g: Any, keep: bool = True) -> tuple[Any, ...]:
        if node._extra is not None:
            return apply(node, g, keep)
        n0, n1 = node._next
        g0 = g1 = None
        if n0 is not None:
            b = node._raw_other
            if b.__class__ not in READY or (n1 is not None and n1._storage is not None):
                b = raw_value(node, at1)
            g0 = vjp0(g, b)
        if n1 is not None:
            a = node._raw_self
            if a.__class__ not in READY or (n0 is not None and n0._storage is not None):
                a = raw_value(node, at0)
            g1 = vjp1(g, a)
        if not keep:
            node._check = RELEASED
            node._raw_self = node._raw_other = None
        return (g0, g1) if node._cast is None else uncast(node._cast, [g0, g1])

    return apply_product


def apply_of(op: Op) -> Any:
    """Return the function that applies the nodes of an op to raw arrays."""
    if op.is_single:
        return single(op)
    if not op.is_plain_elementwise or op.inputs != ("self", "other") or op.complexes:
        return apply
    if not op.saved:
        return linear_apply(op)
    return (
        product_apply(op)
        if [arguments(vjp) for vjp in op.vjps.values()] == [("other",), ("self",)]
        else apply
    )


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
        if n.endswith(("_scalar_type", "_info")) or (op.listed and "_sym_" in n):
            continue
        members["_saved_" + n] = property(partial(saved_value, n=i), doc=f"The value saved as `{n}`.")
        if n in op.tensors:
            members["_raw_saved_" + n] = property(
                partial(raw_saved_tensor, name=n), doc=f"`{n}`, to register hooks on."
            )
    return type(name, (Node,), members)


def complex_node(op: Op) -> type[Node]:
    """Return the second Node class of an op. See Note [Complex numbers] in `apply`."""
    if op.complex_node is None:
        members = {"__slots__": (), "__module__": MODULE, "is_complex": True, "apply": apply}
        op.complex_node = type(op.node.__name__, (op.node,), members)
    return op.complex_node
