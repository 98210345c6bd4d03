"""One line per op: how it is written, in both libraries, and on which inputs it is tried.

`Case(name, function, inputs)`: `function(L, *tensors)` with `L` the library; an input is a shape, filled with
numbers that suit the op (`low`, `high`), or the numbers themselves. `smooth=False`: finite differences do not
tell its derivative. `other_order=True`: the gradient of the second input is the same product taken in another
order, so that its graph differs: pow keeps the order of PyTorch 1.4, on which the last digit of documented
results depends. `twice=False`: no second derivative is finite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    name: str
    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    low: float = 0.5
    high: float = 2.0
    smooth: bool = True
    other_order: bool = False
    twice: bool = True

    def arrays(self, dtype: str) -> list[np.ndarray]:
        """The inputs as arrays: fixed, different numbers between `low` and `high`."""
        made = []
        for k, item in enumerate(self.inputs):
            if isinstance(item, tuple):
                n = int(np.prod(item))
                steps = (np.arange(n) * 7 + 3 * k + 2) % (n + 5)
                made.append(
                    (self.low + (self.high - self.low) * (steps + 0.3) / (n + 5.6))
                    .reshape(item)
                    .astype(dtype)
                )
            else:
                made.append(np.array(item, dtype))
        return made


S: tuple[int, ...] = ()
SHAPES = ((), (3,), (2, 3))
PAIRS = (
    ((), ()),
    ((3,), (3,)),
    ((3,), ()),
    ((), (3,)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((1,), (2, 2)),
    ((2, 3), (2, 3)),
)


def each(name: str, function: Any, low: float = 0.5, high: float = 2.0, **how: bool) -> list[Case]:
    """One input, in every shape."""
    return [Case(f"{name} {list(s)}", function, (s,), low, high, **how) for s in SHAPES]


def pairs(name: str, function: Any, low: float = 0.5, high: float = 2.0, **how: bool) -> list[Case]:
    """Two inputs, in every pair of shapes that broadcasts."""
    return [Case(f"{name} {list(a)} {list(b)}", function, (a, b), low, high, **how) for a, b in PAIRS]


CASES: list[Case] = [
    # arithmetic
    *pairs("add", lambda L, a, b: a + b),
    *pairs("sub", lambda L, a, b: a - b),
    *pairs("mul", lambda L, a, b: a * b),
    *pairs("div", lambda L, a, b: a / b),
    *pairs("pow tensor", lambda L, a, b: a**b, other_order=True),
    *pairs("add alpha", lambda L, a, b: L.add(a, b, alpha=3)),
    *pairs("sub alpha", lambda L, a, b: L.sub(a, b, alpha=0.5)),
    *each("add number", lambda L, a: a + 2),
    *each("number add", lambda L, a: 2.5 + a),
    *each("sub number", lambda L, a: a - 2),
    *each("rsub", lambda L, a: 2 - a),
    *each("mul number", lambda L, a: a * 3),
    *each("number mul", lambda L, a: 1.5 * a),
    *each("div number", lambda L, a: a / 4),
    *each("number div", lambda L, a: 2 / a),
    *each("pow 3", lambda L, a: a**3),
    *each("pow 2", lambda L, a: a**2),
    *each("pow 1", lambda L, a: a**1),
    *each("pow 0", lambda L, a: a**0),
    *each("pow 0.5", lambda L, a: a**0.5),
    *each("pow -1", lambda L, a: a**-1),
    *each("pow -2.5", lambda L, a: L.pow(a, -2.5)),
    *each("number pow", lambda L, a: 2**a),
    *each("zero pow", lambda L, a: 0**a, smooth=False),
    *each("neg", lambda L, a: -a),
    *each("reciprocal", lambda L, a: a.reciprocal()),
    Case("same twice", lambda L, a: a * a, ((3,),)),
    Case(
        "pow at zero",
        lambda L, a, b: a**b,
        ([0.0, 0.0, 2.0, 0.0], [0.0, 2.0, 0.0, 1.0]),
        smooth=False,
        twice=False,
    ),
    Case("pow 2 at zero", lambda L, a: a**2, ([0.0, -1.5],)),
    # functions of one element
    *each("exp", lambda L, a: a.exp()),
    *each("log", lambda L, a: L.log(a)),
    *each("sqrt", lambda L, a: a.sqrt()),
    *each("sin", lambda L, a: L.sin(a), -2, 2),
    *each("cos", lambda L, a: L.cos(a), -2, 2),
    *each("tanh", lambda L, a: a.tanh(), -2, 2),
    *each("sigmoid", lambda L, a: L.sigmoid(a), -2, 2),
    *each("relu", lambda L, a: L.relu(a), -2, 2),
    *each("abs", lambda L, a: abs(a), -2, 2),
    Case("relu at zero", lambda L, a: a.relu(), ([-1.0, 0.0, 1.0],), smooth=False),
    Case("abs at zero", lambda L, a: a.abs(), ([-1.0, 0.0, 1.0],), smooth=False),
    Case("abs of nan", lambda L, a: a.abs(), ([float("nan"), float("inf"), -0.0],), smooth=False),
    Case("relu of nan", lambda L, a: a.relu(), ([float("nan"), float("inf"), -0.0],), smooth=False),
    Case("sigmoid far out", lambda L, a: a.sigmoid(), ([-80.0, -20.0, 0.0, 20.0],)),
    *pairs("where", lambda L, a, b: L.where(a.detach() > 1.0, a, b)),
    Case("where number", lambda L, a: L.where(a.detach() > 1.0, a, 0.0), ((3,),)),
    Case("where other number", lambda L, a: L.where(a.detach() > 1.0, 2.0, a), ((2, 3),)),
    # products
    Case("dot", lambda L, a, b: a.dot(b), ((3,), (3,))),
    Case("dot @", lambda L, a, b: a @ b, ((1,), (1,))),
    Case("mv", lambda L, a, b: a @ b, ((2, 3), (3,))),
    Case("mv method", lambda L, a, b: L.mv(a, b), ((2, 3), (3,))),
    Case("vm", lambda L, a, b: a @ b, ((2,), (2, 3))),
    Case("mm", lambda L, a, b: a @ b, ((2, 3), (3, 4))),
    Case("mm method", lambda L, a, b: L.mm(a, b), ((2, 3), (3, 1))),
    Case("mm of views", lambda L, a, b: a.t() @ b.T, ((3, 2), (4, 3))),
    Case("bmm", lambda L, a, b: a @ b, ((2, 2, 3), (2, 3, 2))),
    Case("bmm broadcast", lambda L, a, b: a @ b, ((2, 1, 2, 3), (3, 3, 2))),
    Case("bmm matrix", lambda L, a, b: a @ b, ((2, 2, 3), (3, 2))),
    Case("matrix bmm", lambda L, a, b: a @ b, ((2, 3), (2, 3, 2))),
    Case("bmm vector", lambda L, a, b: a @ b, ((2, 2, 3), (3,))),
    Case("vector bmm", lambda L, a, b: a @ b, ((3,), (2, 3, 2))),
    # reductions
    *each("sum", lambda L, a: a.sum()),
    *each("mean", lambda L, a: a.mean()),
    Case("sum 0", lambda L, a: a.sum(0), ((2, 3),)),
    Case("sum -1", lambda L, a: a.sum(-1), ((2, 3),)),
    Case("sum keepdim", lambda L, a: a.sum(1, keepdim=True), ((2, 3),)),
    Case("sum dims", lambda L, a: a.sum((0, 2)), ((2, 3, 2),)),
    Case("sum dims keepdim", lambda L, a: L.sum(a, (0, -1), True), ((2, 3, 2),)),
    Case("sum 0-d", lambda L, a: a.sum(0), ((),)),
    Case("mean 0", lambda L, a: a.mean(0), ((2, 3),)),
    Case("mean keepdim", lambda L, a: a.mean(1, keepdim=True), ((2, 3),)),
    Case("mean dims", lambda L, a: L.mean(a, (0, 1)), ((2, 3),)),
    # views and copies
    Case("view", lambda L, a: a.view(3, 2), ((2, 3),)),
    Case("view -1", lambda L, a: a.view(-1), ((2, 3),)),
    Case("view of 0-d", lambda L, a: a.view(1, 1), ((),)),
    Case("view to 0-d", lambda L, a: a.view(()), ((1,),)),
    Case("reshape", lambda L, a: a.reshape(3, 2), ((2, 3),)),
    Case("reshape a view", lambda L, a: a.t().reshape(2, 3), ((2, 3),)),
    Case("reshape viewable", lambda L, a: a[:, 0].reshape(2, 2), ((4, 3),)),
    Case("flatten", lambda L, a: a.flatten(), ((2, 3),)),
    Case("expand", lambda L, a: a.expand(2, 3), ((3,),)),
    Case("expand ones", lambda L, a: a.expand(2, -1, 3), ((2, 1),)),
    Case("expand 0-d", lambda L, a: a.expand(2, 3), ((),)),
    Case("permute", lambda L, a: a.permute(2, 0, 1), ((2, 3, 2),)),
    Case("permute negative", lambda L, a: L.permute(a, (-1, 0, 1)), ((2, 3, 2),)),
    Case("transpose", lambda L, a: a.transpose(0, 1), ((2, 3),)),
    Case("transpose negative", lambda L, a: L.transpose(a, -1, 0), ((2, 3, 2),)),
    Case("t", lambda L, a: a.t(), ((2, 3),)),
    Case("t of a vector", lambda L, a: a.t(), ((3,),)),
    Case("T", lambda L, a: a.T, ((2, 3),)),
    Case("mT", lambda L, a: a.mT, ((2, 2, 3),)),
    Case("squeeze", lambda L, a: a.squeeze(), ((1, 3, 1),)),
    Case("squeeze 0", lambda L, a: a.squeeze(0), ((1, 3),)),
    Case("squeeze -1", lambda L, a: L.squeeze(a, -1), ((3, 1),)),
    Case("squeeze nothing", lambda L, a: a.squeeze(1), ((1, 3),)),
    Case("squeeze 0-d", lambda L, a: a.squeeze(0), ((),)),
    Case("unsqueeze", lambda L, a: a.unsqueeze(0), ((3,),)),
    Case("unsqueeze -1", lambda L, a: a.unsqueeze(-1), ((2, 3),)),
    Case("unsqueeze 0-d", lambda L, a: L.unsqueeze(a, 0), ((),)),
    Case("clone", lambda L, a: a.clone(), ((2, 3),)),
    Case("clone 0-d", lambda L, a: L.clone(a), ((),)),
    Case("contiguous", lambda L, a: a.t().contiguous(), ((2, 3),)),
    Case("float", lambda L, a: a.float() * 2, ((3,),), smooth=False),
    Case("double", lambda L, a: a.double() * 2, ((3,),)),
    Case("to", lambda L, a: a.to(L.float64) * a.to(L.float32), ((),), smooth=False),
    # indexing
    Case("select", lambda L, a: a[1], ((3,),)),
    Case("select negative", lambda L, a: a[-1], ((2, 3),)),
    Case("select twice", lambda L, a: a[1, 2], ((2, 3),)),
    Case("select column", lambda L, a: a[:, 1], ((2, 3),)),
    Case("slice", lambda L, a: a[1:], ((3,),)),
    Case("slice step", lambda L, a: a[::2], ((5,),)),
    Case("slice negative", lambda L, a: a[-2:], ((5,),)),
    Case("slice far", lambda L, a: a[1:100], ((5,),)),
    Case("slice both", lambda L, a: a[0:1, 1:3], ((2, 3),)),
    Case("slice empty", lambda L, a: a[2:1], ((3,),), smooth=False),
    Case("ellipsis", lambda L, a: a[..., 0], ((2, 2, 3),)),
    Case("none", lambda L, a: a[None], ((3,),)),
    Case("none inside", lambda L, a: a[:, None, 1], ((2, 3),)),
    Case("slice of all", lambda L, a: a[0:9, 1], ((2, 3),)),
    Case("slice of all twice", lambda L, a: a[:, :], ((2, 3),)),
    Case("slice negative both", lambda L, a: a[-2:-1], ((3,),)),
    Case("everything", lambda L, a: a[:], ((3,),)),
    Case("ellipsis of 0-d", lambda L, a: a[...], ((),)),
    Case("none of 0-d", lambda L, a: a[None], ((),)),
    # several together
    Case("mixed dtypes", lambda L, a, b: a * b.double(), ((3,), (3,))),
    Case("layer", lambda L, x, w, b: (x @ w + b).tanh().sum(), ((4, 3), (3, 2), (2,)), -1, 1),
    Case("broadcast and dot", lambda L, x, y: (x * L.tensor([2.0, 3.0, 5.0]).to(x.dtype)) @ y, ((), (3,))),
    Case("one over x squared", lambda L, a: 1 / (a * a), ((2, 2),)),
    Case("views in a row", lambda L, a: a.view(3, 2).t()[0].unsqueeze(1).expand(3, 2) * 2, ((2, 3),)),
]

# Ops whose result carries no gradient: dtype and values.
PLAIN: list[Case] = [
    *pairs("eq", lambda L, a, b: a == b),
    *pairs("ne", lambda L, a, b: L.ne(a, b)),
    *pairs("lt", lambda L, a, b: a < b),
    *pairs("le", lambda L, a, b: a <= b),
    *pairs("gt", lambda L, a, b: L.gt(a, b)),
    *pairs("ge", lambda L, a, b: a >= b),
    *each("gt number", lambda L, a: a > 1),
    *each("number gt", lambda L, a: a < 1),
    *each("eq none", lambda L, a: a == a),
    *each("argmax", lambda L, a: a.argmax()),
    *each("zeros_like", lambda L, a: L.zeros_like(a)),
    *each("ones_like", lambda L, a: L.ones_like(a)),
    *each("sign", lambda L, a: a.detach().sign(), -2, 2),
    *each("not", lambda L, a: ~(a > 1)),
    *each("and", lambda L, a: L.logical_and(a > 1, a < 1.5)),
    Case("long", lambda L, a: a.long(), ((3,),)),
]
