"""The derivative of a node as a formula and as numbers, from the node's own vjp run on symbols.

The op is found by the node's name and its values by the names under which they were saved, so PyTorch's
nodes are explained as well. See Note [The formula cannot drift] in `symbols`. `BORROWED` has vjps of
PyTorch's nodes that minigrad's ops do not leave, for their formulas alone.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from minigrad.observing import F, all_ops, vjp_arguments

from ..number_text import is_in_formulas
from .symbols import ARRAY, FUNCTION, GIVEN, NAME, NUMBER, Symbol, Unwritable, sum_to
from .textbook import TEXTBOOK

OLD_NAMES = {  # what PyTorch 1.4 called nodes; others only had no 0 at the end
    "CloneBackward": ("CloneBackward0", "CopyBackwards"),
    "FillBackward0": ("FillBackward2",),
    "SqueezeBackward3": ("SqueezeBackward4",),
}
MANY = ("tensors",)  # the input of an op that takes any number of tensors
FLOATS = ("float16", "float32", "float64")
FAULTS = (
    Unwritable, TypeError, AttributeError, ValueError, IndexError, KeyError, RuntimeError,
    OverflowError,  # PyTorch notes a dimension of -1 as the largest unsigned integer
)  # fmt: skip


class SavedTensor(NamedTuple):
    """A saved tensor: its numbers (None if they were too many to keep) and its shape."""

    value: Any
    shape: tuple[int, ...]


class VjpRule(NamedTuple):
    """How one op is differentiated: the vjp of each differentiable input, in the order of the edges. The
    parameters in `free` are None where nothing was saved. The gradients of an op that `broadcasts` are summed
    to the shapes of its inputs."""

    inputs: tuple[str, ...]
    vjps: Mapping[str, Any]
    elementwise: bool
    free: Collection[str] = ()
    broadcasts: bool = False


@functools.cache
def rules() -> dict[str, list[VjpRule]]:
    """The rules by the name of the node in PyTorch 2 (`a + b` and `a + alpha·b` share one), those that save
    most first."""
    all_ops()  # loads those that nobody has used
    found: dict[str, list[tuple[int, VjpRule]]] = {}
    for entry in vars(F).values():
        op = getattr(entry, "op", None)
        if op is not None and not (op.several or op.listed):
            rule = VjpRule(op.inputs, op.vjps, op.elementwise, op.free, op.broadcasts)
            found.setdefault(op.node.__name__, []).append((-len(op.saved), rule))
    table = {name: [rule for _, rule in sorted(pairs, key=lambda p: p[0])] for name, pairs in found.items()}
    for name, (elementwise, vjps) in BORROWED.items():
        table.setdefault(name, []).append(VjpRule(tuple(vjps), vjps, elementwise))
    for name, book in TEXTBOOK.items():
        table.setdefault(name, []).insert(0, VjpRule(tuple(book.vjps), book.vjps, False, book.free))
    return table | {old: [rule for name in new for rule in table[name]] for old, new in OLD_NAMES.items()}


def rules_of(node: str, edges: int | None = None) -> list[VjpRule]:
    """The rules for a node by its name in either dialect; those for that number of edges."""
    found = rules().get(node) or rules().get(node + "0") or []
    if edges is not None and found and found[0].inputs == MANY:
        return [found[0]._replace(inputs=MANY * edges)]
    return [rule for rule in found if edges is None or len(rule.inputs) == edges] or found


def is_elementwise(node: str, edges: int | None = None) -> bool:
    """Whether a node belongs to an op that works element by element."""
    return any(rule.elementwise for rule in rules_of(node, edges))


def local_derivative(
    node: str, input: int, saved: Mapping[str, Any], names: Mapping[str, str], dtype: str = "",
    conjugated: bool = False,
) -> Symbol | None:  # fmt: skip
    """∂output/∂input of an elementwise op, element by element; None where there is no formula.

    `node` is the node's name in either dialect, `input` the number of the edge, `saved` the values it saved
    by name (`SavedTensor` or NumPy data for tensors, Python values else), `names` how saved tensors are
    called in the cell and `dtype` the output's (by default that of a saved tensor); `conjugated` takes the
    conjugates of complex values, as the gradient of an op does that is holomorphic.
    """
    tensors = [v.value.dtype for v in map(saved_tensor, saved.values()) if v and v.value is not None]
    kinds = [k for k in ([np.dtype(dtype)] if dtype in FLOATS else tensors) if k.name in FLOATS]
    one = Symbol(NUMBER, value=(kinds[0] if kinds else np.dtype(np.float32)).type(1))
    return run(node, input, saved, names, one, None, "", conjugated)


def vjp(
    node: str, input: int, saved: Mapping[str, Any], names: Mapping[str, str], received: SavedTensor,
    shape: tuple[int, ...], dtype: str, name: str = "y", conjugated: bool = False,
) -> Symbol | None:  # fmt: skip
    """The gradient of an input of any other op: its formula with `received` as the gradient of the output,
    which is called `name`; None where there is none. `shape` and `dtype` are the input's."""
    given = Symbol(GIVEN, value=received.value, shape=received.shape, text=name)
    return run(node, input, saved, names, given, shape, dtype, conjugated)


def run(
    node: str, input: int, saved: Mapping[str, Any], names: Mapping[str, str], gradient: Symbol,
    shape: tuple[int, ...] | None, dtype: str, conjugated: bool,
) -> Symbol | None:  # fmt: skip
    """Run the vjp of a node's input on symbols; of an op that works element by element without a `shape`."""
    for rule in rules_of(node, saved.get("edges")):
        if rule.elementwise != (shape is None) or input >= len(rule.inputs):
            continue
        own = rule.inputs[input]
        function = rule.vjps[own]
        wanted = vjp_arguments(function)
        derived = {f"{own}_scalar_type": dtype} if shape is None else input_facts(own, shape, dtype)
        derived |= {name: None for name in rule.free if name not in saved}
        if not all(name in saved or name in derived for name in wanted):
            continue
        values = [symbol(n, saved[n], names) if n in saved else derived[n] for n in wanted]
        values = [conjugate(v) for v in values] if conjugated else values
        try:
            with np.errstate(all="ignore"):
                result = function(gradient, *values)
        except Unwritable:
            continue
        except FAULTS:
            return None
        if not isinstance(result, Symbol):
            return None
        larger = rule.broadcasts and shape is not None and result.shape not in ((), shape)
        return sum_to(result, shape) if larger else result
    return None


def input_facts(own: str, shape: tuple[int, ...], dtype: str) -> dict[str, Any]:
    """What a vjp may ask of its own input instead of its numbers. A formula is the same for every way in
    which the input lies in memory."""
    strides = tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
    return {
        f"{own}_sym_sizes": shape,
        f"{own}_sym_numel": int(np.prod(shape)),
        f"{own}_sym_strides": strides,
        f"{own}_scalar_type": dtype,
    }


def saved_tensor(value: Any) -> SavedTensor | None:
    """A saved tensor; None for anything else."""
    if isinstance(value, SavedTensor):
        return value
    return SavedTensor(value, np.shape(value)) if isinstance(value, np.generic | np.ndarray) else None


def symbol(name: str, value: Any, names: Mapping[str, str]) -> Any:
    """A saved value for a vjp: a tensor as a Symbol, by its name in the cell, or by its numbers if it has
    none; exponents and the like as they are."""
    tensor = saved_tensor(value)
    if tensor is None:
        return value
    if name in names:
        return Symbol(NAME, value=tensor.value, shape=tensor.shape, text=names[name])
    if tensor.value is not None:
        if not tensor.shape:
            return Symbol(NUMBER, value=tensor.value)
        if is_in_formulas(tensor.shape):
            return Symbol(ARRAY, value=tensor.value)
        return Symbol(NAME, value=tensor.value, shape=tensor.shape, text=name)
    return Symbol(NAME, shape=tensor.shape, text=name)


def is_complex(value: Any) -> bool:
    """Whether a saved value, or the numbers of a tensor, are complex."""
    return np.iscomplexobj(value.value if isinstance(value, SavedTensor) else value)


def conjugate(value: Any) -> Any:
    """`conj(x)` for a complex tensor, the conjugate of a number; anything else as it is."""
    if isinstance(value, complex):
        return value.conjugate()
    if not isinstance(value, Symbol) or not is_complex(value.value):
        return value
    if value.head == NUMBER:
        return Symbol(NUMBER, value=np.conj(value.value))
    return Symbol(FUNCTION, (value,), np.conj(value.value), value.shape, "conj")


Table = dict[str, tuple[bool, dict[str, Any]]]


def part(g: Any, tensors_sym_sizes: Any, dim: int, offset: int) -> Any:
    """The part of a gradient that belongs to one of several tensors that were joined."""
    dim = positive_dim(dim, len(tensors_sym_sizes))
    return F.slice(g, dim, offset, offset + tensors_sym_sizes[dim], 1)


def positive_dim(dim: int, n: int) -> int:
    """A dimension counted from the front; PyTorch notes -1 as the largest unsigned integer."""
    return (dim - 2**64 if dim >= 2**63 else dim) % n


BORROWED: Table = {
    "CatBackward0": (False, {"tensors": part}),
    "StackBackward0": (False, {
        "tensors": lambda g, tensors_sym_sizes, dim, position: F.select(
            g, positive_dim(dim, len(tensors_sym_sizes) + 1), position
        ),
    }),
}  # fmt: skip
