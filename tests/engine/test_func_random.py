"""Random functions under random transforms, one inside the other, beside PyTorch: values, `requires_grad` and
the gradients that flow out to what the function uses."""

import random

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tiers import examples
from twins import dialect, numbers, outcome

import minigrad

TERMS = (
    "x * y", "x ** 3", "y.sin()", "(x * x).exp()", "x / (y * y + 1)", "x.tanh() * w", "w * x * y",
    "x.sum() * y", "x.detach() * x", "unrecorded(x) * x", "in_place(x, y)", "x[0] * y",
    "x.reshape(2, 1).sum(1) * w", "(x @ y) * x", "x.sigmoid()", "(x * x + 1).sqrt()", "(x * x + 1).log() * y",
)  # fmt: skip
WAYS = ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "vmap")
IMMUTABLE = "ZeroTensors are immutable"  # PyTorch cannot write in place into a tangent that is zero


def function(L, terms, w):
    def unrecorded(x):
        with L.no_grad():
            return x * x

    def in_place(x, y):
        t = x * 2
        t[0] = y[1] * x[0]
        t.mul_(y)
        return t

    scope = {"unrecorded": unrecorded, "in_place": in_place, "w": w}
    return eval("lambda x, y: " + " + ".join(terms), scope)


def transformed(L, f, way, n):
    """A function of two vectors again, made of `f` and a derivative by argument `n`."""

    def total(x, y):
        return f(x, y).sum()

    def step(x, y):
        if way == "grad":
            return L.func.grad(total, argnums=n)(x, y)
        if way == "grad_and_value":
            gradient, value = L.func.grad_and_value(total, argnums=n)(x, y)
            return gradient * value
        if way == "vjp":
            out, vjp_fn = L.func.vjp(f, x, y)
            return vjp_fn(out * 2)[n]
        if way == "jvp":
            out, tangent = L.func.jvp(f, (x, y), (y, x))
            return out.sum() * x + tangent.sum() * y
        if way == "vmap":
            return L.vmap(lambda row: f(row, y))(L.stack([x, y * 2, x * y])).sum(0)
        return getattr(L.func, way)(f, argnums=n)(x, y).sum(0)

    return step


def run(L, seed):
    """What a random program gives: which results have a graph, and the numbers.

    Of a jvp inside a jvp only the numbers: see Note [Nested jvp] in `func.grad`. What `jacfwd` makes of
    `no_grad` inside of its function, where that is differentiated again, is not PyTorch's: see Note [Columns]
    in `func.jacobians`.
    """
    choose = random.Random(seed)
    learns = [choose.random() < 0.4 for _ in range(3)]
    start = ([0.5, -0.3], [0.7, 0.2], [1.3, -0.4])
    x, y, w = (L.tensor(v, dtype=L.float64, requires_grad=g) for v, g in zip(start, learns))
    terms = [choose.choice(TERMS) for _ in range(choose.randint(1, 3))]
    f = function(L, terms, w)
    ways = [choose.choice(WAYS) for _ in range(choose.randint(1, 3))]
    nested = ways.count("jvp") + ways.count("jacfwd") > 1
    again = "jacfwd" in ways and (len(ways) > 1 or any(learns))
    assume(not ((nested or again) and "unrecorded(x) * x" in terms))
    for way in ways:
        f = transformed(L, f, way, choose.randint(0, 1))
    result = f(x, y)
    leaves = [t for t in (x, y, w) if t.requires_grad]
    found = [None] * len(leaves)
    if result.requires_grad:
        found = L.autograd.grad((result**2).sum(), leaves, allow_unused=True)
    arrays = [np.zeros(2) if g is None else numbers(g + 0) for g in found]
    kinds = None if nested else (result.requires_grad, [g is None for g in found])
    return kinds, [numbers(result), *arrays]


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 10**6))
def test_random_transforms(torch, seed):
    with dialect("2"):
        theirs = outcome(run, torch, seed)
        assume(not str(theirs[1]).startswith(IMMUTABLE))
        kinds, arrays = run(minigrad, seed)
    assert kinds == theirs[0]
    for ours, other in zip(arrays, theirs[1], strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-7, atol=1e-9 * max(1.0, np.abs(other).max()))
