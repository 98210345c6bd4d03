"""The local derivative of a node as a formula and as a number, from the node's own vjp.

Note [The formula cannot drift]
    A vjp is written in operators and `F`, so it also runs on `Symbol`s, which write down what is computed
    and compute it as well. With 1 as the incoming gradient the text is the formula of ∂output/∂input and
    the value its number, from the same run of the same code that the engine ran. Branches (`F.where`)
    follow the numbers. What a Symbol cannot do raises, and then nothing is shown.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from minigrad.op import F

from .numbers import number

SUM, PRODUCT, POWER, ATOM = range(4)  # how tightly a text holds together
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
LETTER = re.compile(r"[^\W\d]\w?[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]*")  # what a number may stand before without a dot: 3x²
CALL = re.compile(r"[\w.]+\([^()]*\)")  # sqrt(w): holds together by itself
FUNCTIONS = {"log": "ln", "sqrt": "√", "sgn": "sgn", "sigmoid": "σ"}
SAME = {
    "reshape",
    "view",
    "expand",
    "sum_to",
    "clone",
    "to",
    "squeeze_dim",
    "unsqueeze",
}  # of one number: itself


class Unwritable(Exception):
    """A vjp asked for something that has no formula here."""


class Symbol:
    """A formula with its value: `text`, how tightly it holds together (`level`), and the number it stands
    for."""

    __slots__ = ("level", "text", "value")

    def __init__(self, text: str, value: Any, level: int = ATOM) -> None:
        self.text = text
        self.value = value
        self.level = level

    def within(self, level: int) -> str:
        """The text as part of something that holds together at `level`."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def is_one(self) -> bool:
        """True for the number 1, which a product leaves out."""
        return self.text == "1"

    @property
    def is_number(self) -> bool:
        """True for a written number."""
        return self.text.replace(".", "", 1).replace("−", "", 1).isdigit()

    def __mul__(self, other: Any) -> Symbol:
        return product(self, lift(other, self))

    def __rmul__(self, other: Any) -> Symbol:
        return product(lift(other, self), self)

    def __truediv__(self, other: Any) -> Symbol:
        return quotient(self, lift(other, self))

    def __rtruediv__(self, other: Any) -> Symbol:
        return quotient(lift(other, self), self)

    def __add__(self, other: Any) -> Symbol:
        b = lift(other, self)
        return Symbol(f"{self.text} + {b.within(SUM)}", self.value + b.value, SUM)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Symbol:
        b = lift(other, self)
        return Symbol(f"{self.text} − {b.within(PRODUCT)}", self.value - b.value, SUM)

    def __rsub__(self, other: Any) -> Symbol:
        return lift(other, self) - self

    def __pow__(self, exponent: Any) -> Symbol:
        return power(self, lift(exponent, self))

    def __rpow__(self, base: Any) -> Symbol:
        return power(lift(base, self), self)

    def __neg__(self) -> Symbol:
        return Symbol("−" + self.within(PRODUCT), -self.value, PRODUCT)

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > lift(other, self).value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == lift(other, self).value)

    __hash__ = None  # type: ignore[assignment]

    def __minigrad_symbol__(self, op: Any, args: tuple[Any, ...]) -> Any:
        return of_op(op, args, self)


def lift(x: Any, like: Symbol) -> Symbol:
    """A Python number as a Symbol."""
    if isinstance(x, Symbol):
        return x
    if isinstance(x, bool | int | float | np.floating | np.integer):
        return Symbol(written(x), type(like.value)(x), ATOM if x >= 0 else PRODUCT)
    raise Unwritable(type(x).__name__)


def written(x: Any) -> str:
    """A number as a formula has it: `3`, `0.5`, `−2`."""
    short = number(float(x), "float64").rstrip(".")
    return short.replace("-", "−")


def product(a: Symbol, b: Symbol) -> Symbol:
    """`3x²`, `q·x`, `y²`; a number goes first, 1 is left out."""
    value = a.value * b.value
    if a.is_one or b.is_one:
        kept = b if a.is_one else a
        return Symbol(kept.text, value, kept.level)
    if b.is_number and not a.is_number:
        a, b = b, a
    if a.text == b.text:
        return Symbol(f"{a.within(ATOM)}²", value, POWER)
    if a.text == "−1":
        return Symbol("−" + b.within(PRODUCT), value, PRODUCT)
    close = a.is_number and LETTER.fullmatch(b.text)
    return Symbol(f"{a.within(PRODUCT)}{'' if close else '·'}{b.within(PRODUCT)}", value, PRODUCT)


def quotient(a: Symbol, b: Symbol) -> Symbol:
    """`1/y`, `1/(2x)`."""
    value = a.value / b.value
    if b.is_one:
        return Symbol(a.text, value, a.level)
    return Symbol(f"{a.within(PRODUCT)}/{b.within(POWER)}", value, PRODUCT)


def power(base: Symbol, exponent: Symbol) -> Symbol:
    """`x²`, `x^q`, `x^(q − 1)`."""
    value = base.value**exponent.value
    if exponent.is_one:
        return Symbol(base.text, value, base.level)
    if exponent.text == "0":
        return Symbol("1", value)
    if exponent.text.replace("−", "").isdigit():
        raised = exponent.text.replace("−", "-").translate(SUPERSCRIPTS)
        return Symbol(base.within(ATOM) + raised, value, POWER)
    return Symbol(f"{base.within(ATOM)}^{exponent.within(ATOM)}", value, POWER)


def of_op(op: Any, args: tuple[Any, ...], like: Symbol) -> Any:
    """What `F.<op>(*args)` is on symbols."""
    name = op.name
    if name in SAME:
        return args[0]
    if name == "where":
        return lift(args[1] if bool(unwrap(args[0])) else args[2], like)
    if name in ("eq", "ge", "gt", "lt", "le", "ne", "logical_and", "logical_not"):
        return op.kernel(*(unwrap(a) for a in args))
    if name == "zeros_like":
        return lift(0, like)
    if name == "threshold_backward":
        g, y, threshold = args
        return g * Symbol(
            f"[{lift(y, like).text} > {written(threshold)}]", type(like.value)(lift(y, like) > threshold)
        )
    symbols = [lift(a, like) for a in args]
    binary = BINARY.get(name)
    if binary is not None:
        return binary(*symbols)
    if name == "neg":
        return -symbols[0]
    if name in ("tanh_backward", "sigmoid_backward"):
        return op.kernel(*symbols)  # plain arithmetic, which symbols understand
    if len(symbols) == 1:
        return applied(op, symbols[0])
    raise Unwritable(name)


BINARY = {
    "mul": operator.mul, "mul_scalar": operator.mul, "div": operator.truediv, "div_scalar": operator.truediv,
    "add": operator.add, "add_scalar": operator.add, "sub": operator.sub, "sub_scalar": operator.sub,
    "pow_scalar": operator.pow, "pow_tensor": operator.pow, "pow_base": operator.pow,
}  # fmt: skip


def applied(op: Any, x: Symbol) -> Symbol:
    """A function of one argument: `ln x`, `cos x`, `√w`, `ln(x + 1)`."""
    name = FUNCTIONS.get(op.name, op.name)
    simple = x.level == ATOM and "(" not in x.text
    argument = x.text if simple else f"({x.text})"
    gap = " " if simple and name.isalpha() else ""
    return Symbol(f"{name}{gap}{argument}", op.kernel(x.value), POWER)


def unwrap(x: Any) -> Any:
    """The value of a Symbol; anything else as it is."""
    return x.value if isinstance(x, Symbol) else x


class Local(NamedTuple):
    """A local derivative ∂output/∂input: its formula and its value."""

    formula: str
    value: float


@functools.cache
def ops_by_node() -> dict[str, list[Any]]:
    """All ops by the name of their node in PyTorch 2 (`a + b` and `a + alpha·b` share one), those that save
    most first."""
    found: dict[str, list[Any]] = {}
    for entry in vars(F).values():
        op = getattr(entry, "op", None)
        if op is not None:
            found.setdefault(op.node.__name__, []).append(op)
    for ops in found.values():
        ops.sort(key=lambda op: -len(op.saved))
    return found


def local_derivative(
    node: str, input: int, saved: Mapping[str, Any], names: Mapping[str, str]
) -> Local | None:
    """∂output/∂input of an elementwise op of numbers; None where there is no formula.

    `node` is the node's name in either dialect, `input` the number of the edge, `saved` the values it saved
    by name (NumPy scalars for tensors, Python numbers else) and `names` how saved tensors are called in the
    cell.
    """
    for op in ops_by_node().get(node) or ops_by_node().get(node + "0") or ():
        if op.elementwise and input < len(op.inputs):
            vjp = op.vjps[op.inputs[input]]
            wanted = vjp.__code__.co_varnames[1 : vjp.__code__.co_argcount]
            if all(name in saved for name in wanted):
                return derive(vjp, wanted, saved, names)
    return None


def derive(
    vjp: Any, wanted: tuple[str, ...], saved: Mapping[str, Any], names: Mapping[str, str]
) -> Local | None:
    """Run a vjp on symbols, with 1 as the incoming gradient."""
    kind = next((type(v) for v in saved.values() if isinstance(v, np.generic)), np.float32)
    try:
        with np.errstate(all="ignore"):
            result = vjp(Symbol("1", kind(1)), *(symbol(name, saved[name], names) for name in wanted))
    except (Unwritable, TypeError, AttributeError):
        return None
    if not isinstance(result, Symbol) or np.ndim(result.value):
        return None
    return Local(result.text, float(result.value))


def symbol(name: str, value: Any, names: Mapping[str, str]) -> Any:
    """A saved value for a vjp: tensors and numbers in a tensor's place as Symbols, exponents and the like
    as they are."""
    if isinstance(value, np.generic):
        text = names.get(name)
        return (
            Symbol(text, value, ATOM if text.isidentifier() or CALL.fullmatch(text) else SUM)
            if text
            else Symbol(written(value), value)
        )
    return value
