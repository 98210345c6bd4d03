"""What the functions of `F` are on symbols: see Note [The formula cannot drift] in `symbols`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.observing import F, Op

from .symbols import (
    CALL,
    FUNCTION,
    FUNCTIONS,
    MATMUL,
    NUMBER,
    RELATIONS,
    TRANSPOSE,
    Symbol,
    Unwritable,
    above,
    chosen,
    holds,
    kind_of,
    lift,
    matrix_product,
    quotient,
    relation,
    transposed,
    unmasked,
    unwrap,
)  # fmt: skip

SAME = ("clone", "alias", "to", "squeeze_result", "copy")  # what leaves the numbers as they are
RESHAPES = ("reshape", "view", "unsqueeze", "squeeze_dim", "expand", "sum_to", "reshape_alias", "unsafe_view")
SPELLED = {"view": "reshape", "unsafe_view": "reshape", "reshape_alias": "reshape", "squeeze_dim": "squeeze",
           "sum_dim": "sum", "sum_all": "sum", "mean_dim": "mean", "mean_all": "mean"}  # fmt: skip
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "mul": operator.mul, "mul_scalar": operator.mul, "div": operator.truediv, "div_scalar": operator.truediv,
    "add": operator.add, "add_scalar": operator.add, "sub": operator.sub, "sub_scalar": operator.sub,
    "pow_scalar": operator.pow, "pow_tensor": operator.pow, "pow_base": operator.pow,
}  # fmt: skip
UNARY = ("log", "exp", "sqrt", "sin", "cos", "tanh", "sigmoid", "abs", "sgn", "sign", "logical_not")

WRITTEN_OUT: dict[str, Callable[..., Any]] = {  # derivatives with a name of their own, as learners write them
    "_softmax_backward_data": lambda g, y, dim: y * (g - F.sum_dim(g * y, (dim,), True)),
    "_log_softmax_backward_data": lambda g, y, dim: g - F.exp(y) * F.sum_dim(g, (dim,), True),
    "leaky_relu_backward": lambda g, x, slope, is_result: F.where(F.gt(x, 0), g, g * slope),
    "softplus_backward": lambda g, x, beta, threshold: g * F.sigmoid(lift(x) * beta),
    "mse_loss_backward": lambda g, x, y, reduction: shared(g * 2 * (lift(x) - lift(y)), reduction, x.shape),
    "div_rounded": lambda x, y, mode: (F.floor if mode == "floor" else F.trunc)(x / y),
    "fill": lambda x, value: lift(value),
    "xlogy": lambda x, y: x * F.log(lift(y)),
}


def shared(gradient: Any, reduction: int, shape: tuple[int, ...]) -> Any:
    """A gradient of each of the losses of this shape: divided by their number if their mean was taken."""
    return gradient / math.prod(shape) if reduction == 1 and shape else gradient


OWN: dict[str, Callable[..., Any]] = {  # what has a form of its own; the kernel comes first
    "neg": lambda kernel, x: -lift(x),
    "where": lambda kernel, condition, a, b: chosen(condition, lift(a), lift(b)),
    "masked_fill": lambda kernel, x, mask, value: unmasked(mask, lift(x), lift(value)),
    "zeros_like": lambda kernel, *given: Symbol(NUMBER, value=0),
    "threshold_backward": lambda kernel, g, y, least: g * above(lift(y), least, kind_of(g, y)),
    "tanh_backward": lambda kernel, *given: kernel(*given),  # plain arithmetic, which symbols understand
    "sigmoid_backward": lambda kernel, *given: kernel(*given),
    "reciprocal": lambda kernel, x: quotient(lift(1), lift(x)),
    "rsqrt": lambda kernel, x: quotient(lift(1), F.sqrt(lift(x))),
    "isfinite": lambda kernel, *given: holds(called("isfinite", kernel, given), kind_of(given[0])),
    "t": lambda kernel, x: transposed(lift(x)),
    "transpose": lambda kernel, x, *dims: transposed(lift(x), *dims),
}
OWN |= dict.fromkeys(("mm", "mv", "bmm"), lambda kernel, a, b: matrix_product(lift(a), lift(b), kernel))


def of_op(name: str, kernel: Any, args: tuple[Any, ...]) -> Any:
    """What `F.<name>(*args)` is on symbols; `kernel` computes it on numbers."""
    if name in BINARY:
        return BINARY[name](lift(args[0]), lift(args[1]))
    if name in RELATIONS:
        return relation(name, *args)
    if name in OWN:
        return OWN[name](kernel, *args)
    if name in WRITTEN_OUT:
        return WRITTEN_OUT[name](*args)
    if name == "conj_view" and args[0].value is not None and not np.iscomplexobj(args[0].value):
        return args[0]
    if name in UNARY:
        x = lift(args[0])
        return Symbol(FUNCTION, (x,), None if x.value is None else kernel(x.value), x.shape, name)
    return called(name, kernel, args)


def called(name: str, kernel: Any, args: tuple[Any, ...]) -> Symbol:
    """Any other function, by its name: its first argument is a tensor, the others are numbers, shapes ….

    Where the values were not recorded, the shape is still available if the function keeps it or has it as an
    argument.
    """
    x = lift(args[0])
    if any(isinstance(a, Symbol) for a in args[1:]):
        raise Unwritable(name)
    value = None if x.value is None else kernel(*map(unwrap, args))
    shape = np.shape(value) if value is not None else shape_of(name, x, args[1:])
    if name in SAME or (name in RESHAPES and shape == x.shape):
        return x
    if name == "expand" and x.head == CALL and x.text == "unsqueeze" and not x.args[0].shape:
        x = x.args[0]
    return Symbol(CALL, (x, *args[1:]), value, shape, SPELLED.get(name, name.removeprefix("special_")))


def shape_of(name: str, x: Symbol, args: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape of a function's result, where that is easily told."""
    if name in SAME or name == "zeros_like":
        return x.shape
    if name in ("expand", "sum_to", "reshape", "view", "select_backward", "slice_backward"):
        size = tuple(args[0])
        if name not in ("reshape", "view") or math.prod(size) == math.prod(x.shape):
            return size
    if name == "permute":
        return tuple(x.shape[d] for d in args[0])
    if name == "unsqueeze":
        dim = args[0] % (len(x.shape) + 1)
        return (*x.shape[:dim], 1, *x.shape[dim:])
    raise Unwritable(f"the shape of {name}")


def reshape(x: Any, size: Any) -> Any:
    """`F.reshape` of a symbol."""
    return called("reshape", lambda a, n: np.reshape(a, n)[()], (x, tuple(size)))


def sum_to(x: Any, shape: Any) -> Any:
    """`F.sum_to` of a symbol: summed over the dimensions along which `shape` was broadcast."""
    return called("sum_to", F.sum_to, (x, tuple(shape)))


def outer(g: Any, vec: Any) -> Any:
    """`F.outer` of symbols: a column times a row, `ȳ vᵀ`."""
    g, vec = lift(g), lift(vec)
    known = g.value is not None and vec.value is not None
    row = Symbol(TRANSPOSE, (vec,), vec.value, vec.shape)
    value = np.multiply.outer(g.value, vec.value) if known else None
    return Symbol(MATMUL, (g, row), value, (*g.shape, *vec.shape))


COMPOSITES: dict[str, Callable[..., Any]] = {"reshape": reshape, "sum_to": sum_to, "outer_product": outer}


def applied(op: Any, args: tuple[Any, ...]) -> Any:
    """A function of `F` on symbols: an `Op`, or a composite of ops that has a formula."""
    if not isinstance(op, Op):
        return COMPOSITES[op.__name__](*args)
    written = op.written(args)
    rest = args[len(written) :]
    return of_op(op.name, (lambda *given: op.kernel(*given, *rest)) if rest else op.kernel, written)


FUNCTIONS.append(applied)
