"""Symbols: what a vjp is run on to see its formula. They write down what is computed, as a tree, and
compute it as well.

Note [The formula cannot drift]
    A vjp is written in operators and `F`, so it also runs on `Symbol`s. With 1 as the incoming gradient the
    tree of an elementwise op is the formula of ∂output/∂input; with the gradient itself it is the vjp. The
    numbers come from the same run of the same code that the engine ran. Branches (`F.where`) follow the
    numbers. What a Symbol cannot do raises, and then no formula is shown. `typeset` writes trees down.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.observing import F, Op

# ─── Symbols: what a vjp is run on to see its formula


# What stands at a node of the tree, by the method of `Typesetter` that writes it. GIVEN is the gradient that
# came in, CALL any function of `F` by its name.
NAME, NUMBER, ARRAY, GIVEN, CALL = "name", "number", "value", "given", "call"
ADD, SUB, MUL, DIV, POW, NEG = "add", "sub", "mul", "div", "pow", "neg"
MATMUL, TRANSPOSE, FUNCTION, BRACKET, RELATION = "matmul", "transpose", "function", "bracket", "relation"
ELEMENT, TOTAL = "element", "total"  # `x[u+i, v+j]`, and a sum over indices; see `textbook`
RELATIONS = {"eq": "=", "ne": "≠", "gt": ">", "ge": "≥", "lt": "<", "le": "≤", "logical_and": "∧",
             "logical_or": "∨"}  # fmt: skip


class Unwritable(Exception):
    """A vjp asked for something that has no formula here."""


def both_ways(make: Callable[[Any, Any], Any]) -> Any:
    """An operator between a symbol and something else, and between something else and a symbol."""
    return (lambda self, other: make(self, lift(other))), (lambda self, other: make(lift(other), self))


FUNCTIONS: list[
    Callable[[Any, tuple[Any, ...]], Any]
] = []  # `symbol_ops` puts the one in that knows them all


class Symbol:
    """A formula with its value: `head` says what it is, `args` its parts, `text` a name or an operator.

    `value` is a number or an array, or None where only the `shape` was recorded.
    `given` says that the incoming gradient is part of it.
    """

    __slots__ = ("args", "given", "head", "shape", "text", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        head: str,
        args: tuple[Any, ...] = (),
        value: Any = None,
        shape: tuple[int, ...] | None = None,
        text: str = "",
    ) -> None:
        self.head = head
        self.args = args
        self.value = value
        self.shape: tuple[int, ...] = np.shape(value) if shape is None else tuple(shape)
        self.text = text
        self.given: bool = head == GIVEN or any(isinstance(a, Symbol) and a.given for a in args)

    def is_number(self, number: int) -> bool:
        """True for this written number."""
        return self.head == NUMBER and bool(self.value == number)

    __mul__, __rmul__ = both_ways(lambda a, b: product(a, b))
    __truediv__, __rtruediv__ = both_ways(lambda a, b: quotient(a, b))
    __add__, __radd__ = both_ways(lambda a, b: binary(ADD, operator.add, a, b))
    __sub__, __rsub__ = both_ways(lambda a, b: binary(SUB, operator.sub, a, b))
    __pow__, __rpow__ = both_ways(lambda a, b: power(a, b))

    def __neg__(self) -> Symbol:
        if self.head == NEG:
            return self.args[0]
        return Symbol(NEG, (self,), None if self.value is None else -self.value, self.shape)

    def __gt__(self, other: Any) -> Symbol:
        return relation("gt", self, other)

    def __eq__(self, other: object) -> Symbol:  # type: ignore[override]
        return relation("eq", self, other)

    def __bool__(self) -> bool:
        if self.value is None or np.size(self.value) != 1:
            raise Unwritable("which way a branch goes")
        return bool(self.value)

    @property
    def mT(self) -> Symbol:
        """The matrix transposed."""
        return transpose(self)

    def __minigrad_symbol__(self, op: Any, args: tuple[Any, ...]) -> Any:
        """What a function of `F` makes of symbols: an `Op`, or a composite of ops that has a formula."""
        return FUNCTIONS[0](op, args)


def lift(x: Any) -> Symbol:
    """A Python number as a Symbol."""
    if isinstance(x, Symbol):
        return x
    if isinstance(x, bool | int | float | complex | np.bool_ | np.number):
        return Symbol(NUMBER, value=x)
    raise Unwritable(type(x).__name__)


def binary(head: str, function: Callable[[Any, Any], Any], a: Symbol, b: Symbol, text: str = "") -> Symbol:
    """Two symbols, element by element."""
    known = a.value is not None and b.value is not None
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError as problem:
        raise Unwritable(str(problem)) from None
    return Symbol(head, (a, b), function(a.value, b.value) if known else None, shape, text)


def product(a: Symbol, b: Symbol) -> Symbol:
    """`3x²`, `q·x`, `y²`; a number goes first, 1 is left out; a condition counts as 1 or 0."""
    if a.head == RELATION:
        a = holds(a, first_dtype(b))
    if b.head == RELATION:
        b = holds(b, first_dtype(a))
    whole = binary(MUL, operator.mul, a, b)
    for one, kept in ((a, b), (b, a)):
        if one.is_number(1) and (kept.given or kept.shape == whole.shape):
            return kept
    for minus, kept in ((a, b), (b, a)):
        if minus.head == NUMBER and minus.is_number(-1):
            return -kept
    if a.head == b.head == NAME and a.text == b.text:
        return Symbol(POW, (a, lift(2)), whole.value, whole.shape)
    if a.head == NEG and b.head != NEG and not (b.head == NUMBER and b.value < 0):
        return -product(a.args[0], b)
    if b.head == NEG and a.head != NEG and not (a.head == NUMBER and a.value < 0):
        return -product(a, b.args[0])
    if b.head == NUMBER and a.head != NUMBER:
        whole.args = (b, a)
    return whole


def quotient(a: Symbol, b: Symbol) -> Symbol:
    """`1/y`, `1/(2x)`; `(x/y)/y` is `x/y²`."""
    whole = binary(DIV, operator.truediv, a, b)
    if b.is_number(1):
        return a
    if a.head == DIV and a.args[1].head == b.head == NAME and a.args[1].text == b.text:
        return Symbol(DIV, (a.args[0], product(b, b)), whole.value, whole.shape)
    return whole


def power(base: Symbol, exponent: Symbol) -> Symbol:
    """`x²`, `x^q`, `x^(q − 1)`."""
    if exponent.is_number(1):
        return base
    whole = binary(POW, operator.pow, base, exponent)
    if exponent.is_number(0) and whole.value is not None:
        return Symbol(NUMBER, value=whole.value) if not whole.shape else whole
    return whole


def relation(name: str, a: Any, b: Any) -> Symbol:
    """`y > 0`, with True or False for each element as its value."""
    return binary(RELATION, getattr(F, name).op.kernel, lift(a), lift(b), RELATIONS[name])


def select_where(condition: Any, a: Symbol, b: Symbol) -> Symbol:
    """`F.where`: one of the two where the condition says the same everywhere, else `[condition]·a + …`."""
    known = unwrap(condition)
    if known is None:
        raise Unwritable("which way a branch goes")
    whole = np.broadcast_shapes(np.shape(known), a.shape, b.shape)
    for side, holds in ((a, np.all(known)), (b, not np.any(known))):
        if holds and (side.given or side.shape in (whole, ())):
            return side
    kind = next(v.dtype.type for v in (a.value, b.value, np.float32(0)) if isinstance(v, RAW))
    mark = Symbol(BRACKET, (condition,), np.asarray(known).astype(kind), text="")
    opposite = Symbol(BRACKET, (condition,), np.asarray(~np.asarray(known)).astype(kind), text="not")
    shares = [product(m, side) for m, side in ((mark, a), (opposite, b)) if not side.is_number(0)]
    total = shares[0] if len(shares) == 1 else shares[0] + shares[1]
    total.value = np.where(known, unwrap(a), unwrap(b))  # a 0 stays 0 beside an infinity
    return total


def fill_masked(mask: Any, x: Symbol, value: Symbol) -> Symbol:
    """`F.masked_fill`: `x` where `mask` does not hold, without saying "not" twice."""
    if isinstance(mask, Symbol) and mask.head == FUNCTION and mask.text == "logical_not":
        return select_where(mask.args[0], x, value)
    return select_where(mask, value, x)


def above(y: Symbol, threshold: Any, kind: Any) -> Symbol:
    """`[y > 0]`, 1 or 0; NaN is not above, but let through as well: `[¬(y ≤ 0)]`."""
    below = relation("le", y, threshold)
    value = None if below.value is None else np.asarray(~np.asarray(below.value), kind)[()]
    if y.value is not None and np.isnan(y.value).any():
        return Symbol(BRACKET, (below,), value, below.shape, "not")
    return Symbol(BRACKET, (relation("gt", y, threshold),), value, below.shape)


def holds(condition: Symbol, kind: Any) -> Symbol:
    """`[isfinite(x)]`: 1 where a condition holds, else 0."""
    value = None if condition.value is None else np.asarray(condition.value, kind)[()]
    return Symbol(BRACKET, (condition,), value, condition.shape)


RAW = (np.ndarray, np.generic)


def transpose(x: Symbol, *dims: int) -> Symbol:
    """`Wᵀ`: the last two dimensions exchanged; other exchanges go by their name."""
    n = len(x.shape)
    if n < 2 and not dims:
        return x
    if not dims and n > 2:
        dims = (-2, -1)
    if dims and {d % n for d in dims} != {n - 2, n - 1}:
        return Symbol(CALL, (x, *dims), None if x.value is None else np.swapaxes(x.value, *dims),
                      np.empty(x.shape, bool).swapaxes(*dims).shape, "transpose")  # fmt: skip
    if x.head == TRANSPOSE:
        return x.args[0]
    if x.head == MATMUL and x.args[0].head == TRANSPOSE and len(x.args[1].shape) == 2:  # (Aᵀ B)ᵀ = Bᵀ A
        return matrix_product(transpose(x.args[1]), x.args[0].args[0], operator.matmul)
    if x.head == MATMUL and x.args[1].head == TRANSPOSE and len(x.args[0].shape) == 2:  # (A Bᵀ)ᵀ = B Aᵀ
        return matrix_product(x.args[1].args[0], transpose(x.args[0]), operator.matmul)
    value = None if x.value is None else np.swapaxes(x.value, -1, -2)
    return Symbol(TRANSPOSE, (x,), value, (*x.shape[:-2], x.shape[-1], x.shape[-2]))


def matrix_product(a: Symbol, b: Symbol, kernel: Any) -> Symbol:
    """`A B`, also of batches and with a vector."""
    if not a.shape or not b.shape or a.shape[-1] != b.shape[-2 if len(b.shape) > 1 else -1]:
        raise Unwritable("shapes do not match")
    known = a.value is not None and b.value is not None
    shape = (*a.shape[:-1], *(b.shape[-1:] if len(b.shape) > 1 else ()))
    return Symbol(MATMUL, (a, b), kernel(a.value, b.value) if known else None, shape)


def unwrap(x: Any) -> Any:
    """The value of a Symbol; anything else as it is."""
    return x.value if isinstance(x, Symbol) else x


def first_dtype(*symbols: Any) -> Any:
    """The dtype of the first value that has one."""
    return next((v.dtype for v in map(unwrap, symbols) if isinstance(v, RAW)), np.dtype(np.float32))


# ─── What the functions of `F` are on symbols


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
    "mse_loss_backward": lambda g, x, y, reduction: share_of_losses(
        g * 2 * (lift(x) - lift(y)), reduction, x.shape
    ),
    "div_rounded": lambda x, y, mode: (F.floor if mode == "floor" else F.trunc)(x / y),
    "fill": lambda x, value: lift(value),
    "xlogy": lambda x, y: x * F.log(lift(y)),
}


def share_of_losses(gradient: Any, reduction: int, shape: tuple[int, ...]) -> Any:
    """A gradient of each of the losses of this shape: divided by their number if their mean was taken."""
    return gradient / math.prod(shape) if reduction == 1 and shape else gradient


OWN: dict[str, Callable[..., Any]] = {  # what has a form of its own; the kernel comes first
    "neg": lambda kernel, x: -lift(x),
    "where": lambda kernel, condition, a, b: select_where(condition, lift(a), lift(b)),
    "masked_fill": lambda kernel, x, mask, value: fill_masked(mask, lift(x), lift(value)),
    "zeros_like": lambda kernel, *given: Symbol(NUMBER, value=0),
    "threshold_backward": lambda kernel, g, y, least: g * above(lift(y), least, first_dtype(g, y)),
    "tanh_backward": lambda kernel, *given: kernel(*given),  # plain arithmetic, which symbols understand
    "sigmoid_backward": lambda kernel, *given: kernel(*given),
    "reciprocal": lambda kernel, x: quotient(lift(1), lift(x)),
    "rsqrt": lambda kernel, x: quotient(lift(1), F.sqrt(lift(x))),
    "isfinite": lambda kernel, *given: holds(function_call("isfinite", kernel, given), first_dtype(given[0])),
    "t": lambda kernel, x: transpose(lift(x)),
    "transpose": lambda kernel, x, *dims: transpose(lift(x), *dims),
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
    return function_call(name, kernel, args)


def function_call(name: str, kernel: Any, args: tuple[Any, ...]) -> Symbol:
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
    """The shape of a function's result, where that is easy to find."""
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
    return function_call("reshape", lambda a, n: np.reshape(a, n)[()], (x, tuple(size)))


def sum_to(x: Any, shape: Any) -> Any:
    """`F.sum_to` of a symbol: summed over the dimensions along which `shape` was broadcast."""
    return function_call("sum_to", F.sum_to, (x, tuple(shape)))


def outer(g: Any, vec: Any) -> Any:
    """`F.outer` of symbols: a column times a row, `ȳ vᵀ`."""
    g, vec = lift(g), lift(vec)
    known = g.value is not None and vec.value is not None
    row = Symbol(TRANSPOSE, (vec,), vec.value, vec.shape)
    value = np.multiply.outer(g.value, vec.value) if known else None
    return Symbol(MATMUL, (g, row), value, (*g.shape, *vec.shape))


COMPOSITES: dict[str, Callable[..., Any]] = {"reshape": reshape, "sum_to": sum_to, "outer_product": outer}


def apply_function(op: Any, args: tuple[Any, ...]) -> Any:
    """A function of `F` on symbols: an `Op`, or a composite of ops that has a formula."""
    if not isinstance(op, Op):
        return COMPOSITES[op.__name__](*args)
    written = op.written(args)
    rest = args[len(written) :]
    return of_op(op.name, (lambda *given: op.kernel(*given, *rest)) if rest else op.kernel, written)


FUNCTIONS.append(apply_function)
