"""Functions of one element: what PyTorch's table of ops does not show."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from calls import assert_same_ends
from twins import dialect, dtype_of, numbers

import minigrad

INF, NAN = float("inf"), float("nan")
EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, -2.5, 1e-300, 1e10, 30.5, -30.5, 5.0, INF, -INF, NAN]

FUNCTIONS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "tan", "sinh", "cosh"),
    *("exp2", "expm1", "log1p", "log2", "log10", "rsqrt", "square", "logit", "erf", "erfc", "erfinv"),
    *("lgamma", "digamma", "ceil", "floor", "trunc", "round", "frac", "nan_to_num"),
)
SPECIAL = ("ndtr",)
KINDS = ("isfinite", "isinf", "isnan", "isreal")


def both(torch, call):
    """What a call gives in each library: its result, or the class and first line of its error."""
    found = []
    for library in (minigrad, torch):
        try:
            found.append(call(library))
        except Exception as error:
            found.append((type(error).__name__, str(error).split("\n")[0].partition(", but expected")[0]))
    return found


def assert_same(ours, theirs):
    if isinstance(theirs, tuple) and isinstance(theirs[0], str):
        assert ours == theirs
        return
    for a, b in zip(ours, theirs, strict=True) if isinstance(theirs, tuple) else [(ours, theirs)]:
        assert dtype_of(a) == dtype_of(b)
        np.testing.assert_allclose(numbers(a), numbers(b), 1e-12 if dtype_of(b) != "float32" else 1e-5, 1e-14)


@pytest.mark.quick(20)
@pytest.mark.parametrize("name", (*FUNCTIONS, *KINDS))
def test_at_the_edges(torch, name):
    assert_same(*both(torch, lambda L: getattr(L, name)(L.tensor(EDGES, dtype=L.float64))))


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_at_the_edges(torch, name):
    assert_same(*both(torch, lambda L: getattr(L.special, name)(L.tensor(EDGES, dtype=L.float64))))


def test_polygamma_at_the_edges(torch):
    assert_same(*both(torch, lambda L: L.polygamma(0, L.tensor(EDGES, dtype=L.float64))))


# PyTorch has no derivative of these in place; its trigamma has nine digits
NOT_IN_PLACE = ("acosh", "asinh", "atanh", "digamma")


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in NOT_IN_PLACE])
def test_in_place(torch, name):
    def call(L):
        x = L.tensor([0.25, 0.75], dtype=L.float64, requires_grad=True)
        y = x * 1
        version = y._version
        out = getattr(y, name + "_")()
        assert out is y and y._version == version + 1
        y.sum().backward()
        nodes.append(y.grad_fn.name())
        return y.detach(), x.grad

    nodes: list[str] = []
    with dialect("2"):
        assert_same(*both(torch, call))
    assert nodes[0] == nodes[1]


@pytest.mark.parametrize("name", ["tril_", "triu_", "nan_to_num_", "logit_"])
@pytest.mark.parametrize("named", [False, True])
def test_defaults_in_place(torch, name, named):
    """Arguments that were left out have their defaults in place as well, with and without a graph."""

    def call(L):
        x = L.tensor([[0.25, 0.75], [0.5, 0.125]], dtype=L.float64, requires_grad=True)
        given = {"tril_": {"diagonal": -1}, "triu_": {"diagonal": 1}, "logit_": {"eps": 0.3}}
        y = getattr(x * 1, name)(**(given.get(name, {"nan": 2.0}) if named else {}))
        plain = getattr(x.detach().clone(), name)()
        y.sum().backward()
        return y.detach(), plain, x.grad

    assert_same(*both(torch, call))


IN_PLACE = """
t.logit_(0.3) | t.round_(decimals=1) | t.polygamma_(2) | t.nan_to_num_(1.0, posinf=2) | t.fix_()
t.arctanh_()
"""


def test_in_place_with_arguments(torch):
    assert_same_ends(torch, IN_PLACE, lambda L: {"t": L.tensor([0.25, 0.875], dtype=L.float64)})


@pytest.mark.parametrize("name", ("ceil", "floor", "trunc", "round", "nan_to_num"))
def test_whole_numbers_stay_in_memory_of_their_own(torch, name):
    whole = minigrad.tensor([1, 2])
    result = getattr(whole, name)()
    assert result.dtype is minigrad.int64 and result.data_ptr() != whole.data_ptr()


SHARED = "round erf erfc digamma erfinv exp2 expm1 log1p logit polygamma"


def test_aliases():
    special = minigrad.special
    pairs = [
        *((getattr(minigrad, f"arc{f}"), getattr(minigrad, f"a{f}")) for f in ("cos", "sin", "tan")),
        *((getattr(minigrad, f"arc{f}h"), getattr(minigrad, f"a{f}h")) for f in ("cos", "sin", "tan")),
        (minigrad.fix, minigrad.trunc),
        (minigrad.negative, minigrad.neg),
        (special.psi, minigrad.digamma),
        (special.gammaln, minigrad.lgamma),
        (special.expit, minigrad.sigmoid),
        *((getattr(special, n), getattr(minigrad, n)) for n in SHARED.split() if n != "round"),
    ]
    for alias, function in pairs:  # each has a name of its own for its errors
        assert inspect.unwrap(alias) is inspect.unwrap(function)


WRONG = """
L.ceil(L.tensor([1j])) | L.round(L.tensor([1j])) | L.frac(L.tensor([1j])) | L.erf(L.tensor([1j]))
L.floor(L.tensor([True])) | L.round(L.tensor([True])) | L.trunc(L.tensor([True])) | L.frac(L.tensor([True]))
L.acos(2.0) | L.square(2.0) | L.lgamma(2.0) | L.isnan(2.0) | L.special.ndtr(2.0) | L.frac(L.tensor([1]))
L.round(L.tensor([1.0]), decimals=1.5) | L.round(L.tensor([1]), decimals=1) | L.logit(L.tensor([0.5]), 'a')
L.polygamma(-1, L.tensor([1.0])) | L.polygamma(1.5, L.tensor([1.0])) | L.polygamma(1, 2.0)
L.polygamma(0, L.tensor([1j])) | L.polygamma(1, L.tensor([1j])) | L.polygamma(2, L.tensor([1j]))
L.tensor([1]).exp2_() | L.tensor([1]).logit_() | L.tensor([1]).polygamma_(2) | L.polar(L.tensor([1.0]), 2)
L.complex(2, L.tensor([1.0])) | L.ones(2, dtype=L.complex64).abs_() | L.abs_(L.ones(2, dtype=L.complex64))
L.ones(2, dtype=L.complex64).polygamma_(2) | L.ones(2).polygamma_(0.5) | L.sin_(L.ones(2), 2) | L.sin_(2)
L.nan_to_num_(L.ones(2), (2, 2)) | L.argwhere([1])
"""


def test_errors(torch):
    assert_same_ends(torch, WRONG)
