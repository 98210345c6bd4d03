"""How a node of an op is applied: its saved values are read, then its vjps are called one after the other.

Note [Complex numbers]
    Gradients are PyTorch's: for a real function L of z = a + ib the gradient is ∂L/∂a + i ∂L/∂b. Nearly all
    ops are holomorphic with real coefficients. Their gradient is the vjp as it is written, run on the
    conjugates of the saved values: g · conj(f'(z)) = g · f'(conj z). So a vjp need not mention complex
    numbers. A node of an op on complex numbers belongs to a second class of the op
    (`node_class.complex_node`), which conjugates what it reads. Ops that are not
    holomorphic have their own formulas (`complexes`). The gradient of a real input is the real part
    (`uncast`). PyTorch conjugates some derivatives instead of the saved values: the numbers are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .hook_calls import as_gradient, as_tensor
from .modes import unobserved
from .node import RELEASED, join_rows, output_of, rows_of
from .op import ARGUMENT, INPUT, NUMBER_CLASSES, RAW, RESULT, F
from .operands import sum_to
from .saved import READY, is_current, raw_value, saved, unpack, wanted
from .saved_hooks import Packed
from .tensor_state import TensorBase, Tensors, attach, wrap

HELD = (TensorBase, Tensors, Packed)


def apply(node: Any, g: Any, keep: bool = True) -> tuple[Any, ...]:
    """Return the gradients of the inputs from `g`, the gradient of the output, as raw arrays. Release the
    saved values unless `keep`.
    """
    __tracebackhide__ = True
    if node._extra is not None and node._extra.unpacks:
        sent = apply_unpacked(node, g)
    else:
        sent = pull(node, g, read(node))
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
    values = read(node)
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
        return pull(node, g, read_tensors(node))
    sent = pull(node, g, read_saved(node), runs)
    return fitted(node, sent) if node._extra is not None and node._extra.unpacks else sent


def read(node: Any) -> list[Any]:
    """Return all values that a node saved, raw."""
    __tracebackhide__ = True
    op, targets = node.op, node._next
    values = [getattr(node, slot) for slot, _, _ in op.reads] if op.values is None else [*op.values(node)]
    for n, what, k in op.checks:
        x = values[n]
        carrier = targets[k] if what is INPUT else node if what is RESULT else None
        if x.__class__ in READY:
            if carrier is None or carrier._storage is None:
                continue
        elif x is None:
            if node._check is not RELEASED:
                continue
        elif isinstance(x, TensorBase) and x._storage is None and x._fn is None:
            values[n] = x._data  # a constant that nobody shares
            continue
        if what is not ARGUMENT or x is None or isinstance(x, HELD):
            values[n] = raw_value(node, n)
    return values


def read_tensors(node: Any) -> list[Any]:
    """Return all values that a node saved, as tensors of its graph."""
    __tracebackhide__ = True
    op, targets, check, values = node.op, node._next, node._check, []
    if check is RELEASED:
        return read_saved(node)
    for n, (slot, what, k) in enumerate(op.reads):
        x = getattr(node, slot)
        carrier: Any = targets[k] if what is INPUT else node if what is RESULT and not op.several else None
        if carrier is None or x.__class__ not in READY:
            if what is INPUT or what is RESULT or isinstance(x, HELD):
                x = saved(node, n, wrapped=False)
        else:
            version = 0 if check is None else check[n]
            variable = getattr(carrier, "variable", None)
            storage = carrier._storage if variable is None else variable._storage
            if version if storage is None else not is_current(storage, version):
                x = saved(node, n, wrapped=False)
            elif variable is not None:
                x = variable
            else:
                if storage is not None and storage.array is not None and x.__class__ is not np.ndarray:
                    x = storage.array  # what the scalar has become
                x = attach(x, carrier, node._nrs[k] if node._nrs and carrier is not node else 0)
                x._storage = storage
        values.append(x)
    return values


def read_saved(node: Any) -> list[Any]:
    """Do the same, and check each value. The values are read in PyTorch's order, because hooks may see it."""
    __tracebackhide__ = True
    found = {n: saved(node, n, wrapped=False) for n in wanted(node)}
    return [found.get(n) for n in range(len(node.op.saved))]


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
                inputs = [op.saved[n][0] in op.inputs for n in names]
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
    values = read_saved(node)
    with unobserved(False):
        g = [as_tensor(False, x) for x in g] if g.__class__ is list else as_tensor(False, g)
        return tuple([as_gradient(False, x) for x in fitted(node, pull(node, g, values))])


def fitted(node: Any, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return gradients in the shapes and dtypes of the inputs."""
    sent = list(gradients)
    for i, (target, nr) in enumerate(node.next_functions):
        made = None if target is None else output_of(target, nr)
        if sent[i] is not None and made is not None:
            sent[i] = summed(node.name(), i, sent[i], made[0])
            sent[i] = F.to(sent[i], made[1]) if sent[i]._data.dtype != made[1] else sent[i]
    return tuple(sent)


def summed(name: str, i: int, gradient: Any, shape: tuple[int, ...]) -> Any:
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
    for n in wanted(node):
        unpack(node, n)
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
