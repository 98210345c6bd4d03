"""How an op is declared.

    @differentiable(self=lambda g, self: g / self, elementwise=True)
    def log(self):
        '''Return the natural logarithm of each element.'''
        return np.log(self)

The decorated function is the kernel: NumPy data in, NumPy data out. Each keyword is an input that can be
differentiated, under PyTorch's argument name, with its vector-Jacobian product (vjp). A vjp receives the
upstream gradient `g` and whatever its other parameters name: an input, `result`, `<input>_sym_sizes` (its
shape), `<input>_sym_numel`, `<input>_scalar_type` (its dtype), or a non-tensor argument. Exactly those are
saved, only if that input needs a gradient, and can be read as `_saved_<name>` of the node. `<input>_info` is
the shape where PyTorch's node does not show it.

Note [One text, three kinds]
    A vjp is written once, with operators, `.mT` and `F`. It runs on raw arrays (an ordinary backward pass),
    on tensors (`create_graph=True`: it leaves a graph, hence every higher derivative) and on symbols (a
    formula for the reader). `F.name` checks which kind its arguments are. Broadcasting and dtype promotion
    are undone afterwards, once, for all ops (`uncast`), so vjps ignore them. An operator with a Python number
    is Python's (`t * 2` is MulBackward0); `F.mul_scalar(t, 2)` is the overload that PyTorch's own formulas
    call (MulBackward1). Where PyTorch has a named backward op, the vjp is a call of that op.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .apply import make_node
from .elementwise import binary, ordinary, unary
from .guards import check_of
from .op import OPS, F, Op, is_symbol, parameters
from .public import ALL, publish
from .tensor_state import TensorBase

FLAGS = frozenset(  # what a declaration may say
    flag for flag, x in vars(Op).items() if flag[0] != "_" and not (callable(x) or isinstance(x, property))
)
RAW_GRADIENTS = frozenset((np.ndarray, np.float32, np.float64))  # with them all other values are raw
ARRAYS = frozenset((np.ndarray, np.float32, np.float64, int, float, tuple, bool, type(None)))


def camel(name: str) -> str:
    """Return the name of a node as PyTorch writes it: `log_softmax` → `LogSoftmax`, `conv2d` → `Conv2D`."""
    return re.sub(r"(?<![a-zA-Z])[a-z]", lambda letter: letter[0].upper(), name).replace("_", "")


def itself(g: Any) -> Any:
    """The vjp of the first input of an op that is its own transpose: the op once more, of `g`."""
    raise TypeError("a declaration replaces this by the op")


def calls(name: str, *names: str) -> Any:
    """Return the vjp `F.name(g, …)` that takes these values; of several gradients `g` is the first."""

    def vjp(g: Any, *values: Any) -> Any:
        g = g[0] if g.__class__ is list else g
        function = getattr(F, name)
        return (function.kernel if g.__class__ in RAW_GRADIENTS else function)(g, *values)

    vjp.names = names  # type: ignore[attr-defined]
    return vjp


def differentiable(
    *,
    name: str = "",
    node: str | None = None,
    kernel: Any = None,
    complexes: dict[str, Any] | bool = False,
    forms: str | None = None,
    out: str = "cast",
    also: str = "",
    **vjps: Any,
) -> Callable[[Any], Any]:
    """Declare an op. See the docstring of this module.

    `name` is the op's name if it is not the function's, and `node` the node's if it is not `<Name>Backward0`.
    `kernel` replaces the body of the decorated function, which then only documents the op. `complexes` are
    vjps for complex numbers, or True if `vjps` are written for them (see Note [Complex numbers] in `apply`).
    A vjp may be an op of `F`, of which the parameters after the first name what it takes, or `itself`.
    `forms`, `out` and `also` say under which names users can call the op (see `public`); an elementwise op
    has all forms, unless `forms=""`.

    The rest are vjps by input, and flags, such as `elementwise=True`: see `Op`. With `view=True` the result
    shares memory with `self`. With `promotes=False` the operands of an elementwise op keep their dtypes, and
    with `numbers=False` all of them must be tensors.
    """
    flags = {flag: vjps.pop(flag) for flag in FLAGS.intersection(vjps)}

    def declare(function: Any) -> Any:
        title = name or function.__name__
        written = inspect.unwrap(function)  # under decorators of the kernel
        others = parameters(written)[1:]
        own = {k: calls(title, *others) if vjp is itself else vjp for k, vjp in vjps.items()}
        if complexes:
            flags["complexes"] = own if complexes is True else complexes
        if flags.get("elementwise"):
            flags.setdefault("check", check_of(title))
        op = Op(title, kernel or function, written, own, flags)
        op.node = make_node(op, node or camel(title) + "Backward0")
        OPS[op.node.__name__] = op
        call = make_call(op)
        call.__name__ = call.__qualname__ = title
        call.__doc__ = function.__doc__
        call.op, op.call = op, call
        call.__wrapped__ = written
        setattr(F, title, make_polymorphic(op, call))
        if forms or (forms is None and op.elementwise):
            publish(call, title, forms or ALL, out, also)
        return call

    return declare


def rename(call: Any, name: str) -> None:
    """Give an op the name by which users know it. It may be the name of a composite around the op."""
    op: Op = call.op
    if name not in vars(F):
        setattr(F, name, getattr(F, op.name))
    op.name = name
    getattr(F, name).op = op


def make_call(op: Op) -> Any:
    """Return the function that runs an op on tensors."""
    if op.is_plain_elementwise:
        return unary(op) if len(op.params) == 1 else binary(op)
    return ordinary(op)


def make_polymorphic(op: Op, call: Any) -> Any:
    """Return the op for `F`. It runs the kernel on raw arrays and the op on tensors; symbols decide
    themselves.
    """
    kernel, listed = op.kernel, op.listed

    def polymorphic(*args: Any) -> Any:
        for x in args if not listed else args[0]:
            if x.__class__ in ARRAYS:
                continue
            if isinstance(x, TensorBase):
                return call(*args)
            if is_symbol(x):
                return x.__minigrad_symbol__(op, args)
        return kernel(*args)

    def of_one(x: Any) -> Any:
        if x.__class__ in ARRAYS:
            return kernel(x)
        return call(x) if isinstance(x, TensorBase) else polymorphic(x)

    def of_two(x: Any, y: Any) -> Any:
        if x.__class__ in ARRAYS and y.__class__ in ARRAYS:
            return kernel(x, y)
        return call(x, y) if isinstance(x, TensorBase) else polymorphic(x, y)

    plain = not (listed or op.defaults) and len(op.params) <= 2  # then two fifths of the time on arrays
    chosen: Any = (of_one, of_two)[len(op.params) - 1] if plain else polymorphic
    chosen.__name__ = op.name
    chosen.op, chosen.kernel = op, kernel
    return chosen
