"""Promotion against PyTorch for all dtype pairs and kinds of operands, and what a dtype says of itself."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from twins import dtype_of, outcome

import minigrad
from minigrad.core import half_tables

pytestmark = pytest.mark.quick

NAMES = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")
KINDS = {"n-d": [1, 1], "0-d": 1, "one element": [1]}
NUMBERS = {"bool": True, "int": 2, "float": 2.0}
OPS = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "eq": lambda a, b: a == b,
    "lt": lambda a, b: a < b,
}


def result(function, *operands):
    """dtype, shape and values, or the class of the error."""
    made = outcome(function, *operands)
    return made[0] if isinstance(made, tuple) else (dtype_of(made), list(made.shape), made.tolist())


def make(library, value, name):
    return library.tensor(value, dtype=getattr(library, name))


@pytest.mark.parametrize("op", OPS)
def test_two_tensors(torch, op):
    for (a, b), (k, m) in itertools.product(itertools.product(NAMES, NAMES), itertools.product(KINDS, KINDS)):
        ours, theirs = (
            result(OPS[op], make(library, KINDS[k], a), make(library, KINDS[m], b))
            for library in (minigrad, torch)
        )
        assert ours == theirs, f"{a} {k} {op} {b} {m}"


@pytest.mark.parametrize("op", OPS)
def test_a_tensor_and_a_number(torch, op):
    for a, k, (name, number) in itertools.product(NAMES, KINDS, NUMBERS.items()):
        for swap in (False, True):
            ours, theirs = (
                result(OPS[op], *((number, t) if swap else (t, number)))
                for t in (make(library, KINDS[k], a) for library in (minigrad, torch))
            )
            assert ours == theirs, f"{a} {k} {op} {name}{' swapped' if swap else ''}"


@pytest.mark.parametrize("op", ["exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "reciprocal"])
def test_functions_with_a_floating_result(torch, op):
    for name, kind in itertools.product(NAMES, KINDS):
        ours, theirs = (
            result(lambda t: getattr(t, op)().double(), make(library, KINDS[kind], name))
            for library in (minigrad, torch)
        )
        assert ours[:2] == theirs[:2], f"{op} of {name} {kind}"
        kept, expected = (
            dtype_of(getattr(make(library, KINDS[kind], name), op)()) for library in (minigrad, torch)
        )
        assert kept == expected, f"{op} of {name} {kind}"


@pytest.mark.parametrize("op", ["abs", "relu", "neg", "sum", "clone", "sign"])
def test_functions_that_keep_the_dtype(torch, op):
    for name, kind in itertools.product(NAMES, KINDS):
        ours, theirs = (
            result(lambda t: getattr(t, op)(), make(library, KINDS[kind], name))
            for library in (minigrad, torch)
        )
        assert ours == theirs, f"{op} of {name} {kind}"


@pytest.mark.parametrize("op", ["add_", "mul_", "sub_", "div_", "copy_"])
def test_in_place(torch, op):
    for a, b in itertools.product(NAMES, NAMES):
        for k, m in (("n-d", "n-d"), ("n-d", "0-d"), ("0-d", "0-d")):
            ours, theirs = (
                outcome(
                    lambda s, t: (dtype_of(getattr(s, op)(t)), s.tolist()),
                    make(library, KINDS[k], a),
                    make(library, KINDS[m], b),
                )
                for library in (minigrad, torch)
            )
            assert ours == theirs, f"{a} {k} {op} {b} {m}"


@pytest.mark.parametrize("name", NAMES)
def test_attributes(torch, name):
    ours, theirs = getattr(minigrad, name), getattr(torch, name)
    for attribute in ("is_floating_point", "is_complex", "itemsize"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert repr(ours) == repr(theirs)


def test_gradients_keep_the_dtype_of_their_leaf(torch):
    for a, b in itertools.product(("float16", "float32", "float64"), repeat=2):
        grads = []
        for library in (minigrad, torch):
            x = library.tensor([1.0, 2.0], dtype=getattr(library, a), requires_grad=True)
            y = library.tensor(3.0, dtype=getattr(library, b), requires_grad=True)
            (x * y + x / y).sum().backward()
            grads.append([(dtype_of(t.grad), t.grad.double().sum().item()) for t in (x, y)])
        for (kind, value), (expected, number) in zip(*grads, strict=True):
            assert kind == expected
            assert value == pytest.approx(number, rel=1e-2)


def test_the_default_dtype():
    assert minigrad.get_default_dtype() is minigrad.float32
    try:
        minigrad.set_default_dtype(minigrad.float64)
        assert minigrad.tensor(1.5).dtype is minigrad.float64
        assert (minigrad.tensor([1, 2]) / 2).dtype is minigrad.float64
        assert minigrad.ones(2).dtype is minigrad.float64
    finally:
        minigrad.set_default_dtype(minigrad.float32)
    for wrong in (minigrad.int64, "float32", 3):
        with pytest.raises(TypeError, match="floating-point"):
            minigrad.set_default_dtype(wrong)


HALVES = {  # elementwise ops on one array of float16, which look results up where it is large
    "product": lambda L, x: x * 0.3,
    "sum": lambda L, x: x + 2,
    "quotient": lambda L, x: 1 / x,
    "by 0": lambda L, x: x / 0.0,
    "by -0": lambda L, x: x / -0.0,
    "power": lambda L, x: x**3,
    "comparison": lambda L, x: x > 0.5,
    "relu": lambda L, x: L.relu(x),
    "gelu": lambda L, x: L.nn.functional.gelu(x),
    "tanh gelu": lambda L, x: L.nn.functional.gelu(x, approximate="tanh"),
    "clamp": lambda L, x: x.clamp(-1, 2),
    "sigmoid": lambda L, x: x.sigmoid(),
    "round": lambda L, x: x.round(decimals=1),
    "isfinite": lambda L, x: x.isfinite(),
}


@pytest.mark.parametrize("name", HALVES)
def test_many_halves_give_what_few_give(name):
    """For every float16 there is, bit by bit."""
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    many = minigrad.from_numpy(np.tile(every, half_tables.LARGE // 2**16).reshape(2, -1))
    few = minigrad.from_numpy(every)
    with np.errstate(all="raise"):
        found, expected = (HALVES[name](minigrad, x) for x in (many, few))
    assert found.dtype is expected.dtype and found.shape == many.shape
    assert found.numpy().tobytes() == np.tile(expected.numpy(), half_tables.LARGE // 2**16).tobytes()


def test_gradients_of_many_halves():
    x = minigrad.ones(half_tables.LARGE, dtype=minigrad.float16).requires_grad_()
    (minigrad.relu(x) * 3).sum().backward()
    assert set(x.grad.tolist()) == {3.0}


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_dtypes_stay_themselves(how):
    assert how(minigrad.float32) is minigrad.float32
