"""Which writes to a saved tensor backward notices, and what it computes where it notices none: each form of
write and each op, on operands, results and what shares their memory, word for word as in PyTorch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from twins import assert_same_diary, outcome

# By what they save of their operands and result; `product` is taken of matrices and vectors.
OPS = {
    "add": lambda L, a, b: a + b,
    "mul": lambda L, a, b: a * b,
    "div": lambda L, a, b: a / b,
    "pow": lambda L, a, b: a**b,
    "square": lambda L, a, b: a**2,
    "product": lambda L, a, b: a @ b if a.dim() else a * b,
    "atan2": lambda L, a, b: L.atan2(a, b),
    "maximum": lambda L, a, b: L.maximum(a, b),
    "log": lambda L, a, b: a.log(),
    "sin": lambda L, a, b: a.sin(),
    "exp": lambda L, a, b: a.exp(),
    "tanh": lambda L, a, b: a.tanh(),
    "sigmoid": lambda L, a, b: a.sigmoid(),
    "sqrt": lambda L, a, b: a.sqrt(),
    "relu": lambda L, a, b: a.relu(),
    "softmax": lambda L, a, b: a.softmax(-1),
    "prod": lambda L, a, b: a.prod(),
    "sum": lambda L, a, b: a.sum(),
    "lerp": lambda L, a, b: L.lerp(a, b, 0.25),
    "where": lambda L, a, b: L.where(a > b, a, b),
}


def without_grad(change):
    def write(L: Any, t: Any) -> None:
        with L.no_grad():
            change(L, t)

    return write


def minus_equals(L, t):
    t -= 0.125


def data_minus_equals(L, t):
    t.data -= 0.125


def data_assigned(L, t):
    t.data = t.detach() * 2


def set_item(L, t):
    t[...] = 0.75


def stepped(name, **options):
    def write(L: Any, t: Any) -> None:
        optimizer = getattr(L.optim, name)([t], lr=0.125, **options)
        t.grad = L.ones_like(t.detach())
        optimizer.step()
        t.grad = None

    return write


# What is done to a tensor, in most cases to one that requires gradients.
FORMS = {
    "no_grad -=": without_grad(minus_equals),
    "no_grad mul_": without_grad(lambda L, t: t.mul_(2)),
    "no_grad item": without_grad(set_item),
    "no_grad copy_": without_grad(lambda L, t: t.copy_(t.clone() * 2)),
    "no_grad zero_": without_grad(lambda L, t: t.zero_()),
    "no_grad view": without_grad(lambda L, t: t.view(-1).mul_(2)),
    "no_grad part": without_grad(lambda L, t: t.reshape(-1)[:1].add_(1)),
    "no_grad out=": without_grad(lambda L, t: L.add(t.detach(), 1, out=t)),
    "out=": lambda L, t: L.mul(t.detach(), 2, out=t),
    "data -=": data_minus_equals,
    "data mul_": lambda L, t: t.data.mul_(2),
    "data assigned": data_assigned,
    "data view": lambda L, t: t.data.view(-1).add_(1),
    "data out=": lambda L, t: L.add(t.data, 1, out=t.data),
    "detach mul_": lambda L, t: t.detach().mul_(2),
    "detach view": lambda L, t: t.detach().view(-1)[:1].mul_(2),
    "detach out=": lambda L, t: L.add(t.detach(), 1, out=t.detach()),
    "numpy": lambda L, t: t.detach().numpy().__setitem__(..., 0.75),
    "recorded add_": lambda L, t: t.add_(1),
    "recorded view": lambda L, t: t.view(-1).mul_(2),
    "init": lambda L, t: L.nn.init.constant_(t, 0.5),
    "SGD": stepped("SGD"),
    "SGD momentum": stepped("SGD", momentum=0.5),
    "Adam": stepped("Adam"),
    "twice": without_grad(lambda L, t: t.add_(1).sub_(1)),
    "no write": without_grad(lambda L, t: t.add(1)),
    "detached copy": lambda L, t: t.detach().clone().mul_(2),
}
VALUES = {
    0: (0.75, 1.25),
    1: ([0.75, 0.5], [1.25, 0.25]),
    2: ([[0.75, 0.5], [1.5, 2.0]], [[1.25, 0.25], [0.5, 1.75]]),
}
BINARY = ("add", "mul", "div", "pow", "product", "atan2", "maximum", "lerp", "where")
DEVIATING = ("pow", "exp", "tanh", "sigmoid", "sqrt", "softmax", "prod")
KINDS = ("leaf", "inner", "view")
TARGETS = ("self", "other", "result", "elsewhere")


def operands(L: Any, dims: int, kind: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Two leaves; the operands; and what is written to in order to change these."""
    leaves = [L.tensor(v, dtype=L.float64, requires_grad=True) for v in VALUES[dims]]
    if kind == "leaf":
        return leaves, leaves, leaves
    inner = [t * 1 for t in leaves]
    return leaves, [t.view(t.shape) for t in inner] if kind == "view" else inner, inner


def program(L: Any, note: Any, op: str, form: str, dims: int, kind: str, target: str, early: bool) -> None:
    """Write to something before or after an op, and run backward."""
    leaves, (a, b), written = operands(L, dims, kind)
    result = None if early else OPS[op](L, a, b)
    there = {"self": written[0], "other": written[1], "result": result, "elsewhere": a.detach().clone()}
    t = there[target]
    ended = outcome(lambda: FORMS[form](L, t))
    note(ended if isinstance(ended, tuple) else None, [x._version for x in (a, b, t)])
    if early:
        result = OPS[op](L, a, b)
    seed = L.ones_like(result.detach())
    for _ in range(2):
        note.error(lambda: result.backward(seed, retain_graph=True))
        note([leaf.grad for leaf in leaves], result.detach())


def cases(op: str) -> Iterator[tuple[int, str, str]]:
    """Dimensions, kind and target: of ops of one operand the other one is as any tensor elsewhere."""
    targets = ("self", "other", "result") if op in BINARY else ("self", "result")
    yield from itertools.product(VALUES, KINDS, targets)
    yield from itertools.product(VALUES, ["leaf"], ["elsewhere"])


def assert_same(torch: Any, *how: Any) -> None:
    __tracebackhide__ = True
    assert_same_diary(lambda L, note: program(L, note, *how), torch)


@pytest.mark.sample(120)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("op", OPS)
def test_a_write_after_the_op(torch, op, form):
    for dims, kind, target in cases(op):
        if (form, target) != ("data assigned", "result") or op not in DEVIATING:
            assert_same(torch, op, form, dims, kind, target, False)


@pytest.mark.xfail(
    strict=True, reason="the node reads the memory that the result was given, PyTorch's the old one"
)
@pytest.mark.parametrize("op", DEVIATING)
def test_data_assigned_to_a_saved_result(torch, op):
    for dims, kind in itertools.product(VALUES, KINDS):
        assert_same(torch, op, "data assigned", dims, kind, "result", False)


@pytest.mark.parametrize("form", FORMS)
def test_a_write_before_the_op(torch, form):
    for op, dims, kind, target in itertools.product(("mul", "exp"), VALUES, KINDS, ("self", "other")):
        assert_same(torch, op, form, dims, kind, target, True)
