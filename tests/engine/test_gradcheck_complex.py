"""gradcheck and gradgradcheck of functions of complex numbers, in both libraries."""

import re

import pytest
from test_gradcheck_options import FAST, WAYS, double, ended, function, without_library


def complex_leaf(L, *values):
    return L.tensor(list(values) or [1 + 2j, 2 - 1j, 0.5 + 0.5j], dtype=L.complex128, requires_grad=True)


COMPLEX = {
    "square": lambda L: (lambda a: a * a, (complex_leaf(L),)),
    "exp": lambda L: (lambda a: a.exp() * a, (complex_leaf(L),)),
    "abs": lambda L: (lambda a: a.abs(), (complex_leaf(L),)),
    "conj": lambda L: (lambda a: a.conj(), (complex_leaf(L),)),
    "real to complex": lambda L: (lambda a: a * (1 + 2j), (double(L),)),
    "complex to real": lambda L: (lambda a, b: (a * b).real, (complex_leaf(L), double(L))),
    "mixed": lambda L: (lambda a, b: a * b, (double(L), complex_leaf(L))),
    "several": lambda L: (lambda a: (a.real, a * 2, a.abs()), (complex_leaf(L),)),
    "number": lambda L: (lambda a: a * a, (L.tensor(1 + 2j, dtype=L.complex128, requires_grad=True),)),
}


@pytest.mark.parametrize(
    "how",
    [{}, FAST, {"check_batched_grad": True}, {"check_forward_ad": True}, {"check_forward_ad": True, **FAST}],
)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex(torch, name, how):
    def run(L, check, twice, **how):
        f, inputs = COMPLEX[name](L)
        return check(f, inputs, **how)

    ours, theirs = ended(torch, run, how)
    assert ours == theirs == (True, [])


@pytest.mark.parametrize("name", ["square", "exp", "conj", "mixed", "complex to real"])
def test_complex_twice(torch, name):
    def run(L, check, twice):
        f, inputs = COMPLEX[name](L)
        return twice(f, inputs), twice(f, inputs, fast_mode=True)

    ours, theirs = ended(torch, run, {})
    assert ours == theirs == ((True, True), [])


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", ["both", "second", "real", "number"])
def test_wrong_complex_derivatives(torch, name, how):
    def run(L, check, twice, **how):
        def backward(ctx, g):
            a, b = ctx.kept
            return g * b.conj(), g * a.conj() * 1.1

        f = function(L, backward)
        if name == "second":
            return check(lambda a, b: (a.real, f(a, b)), (complex_leaf(L), complex_leaf(L)), **how)
        if name == "real":
            return check(lambda a, b: f(a, b).real, (complex_leaf(L), complex_leaf(L)), **how)
        if name == "number":
            return check(lambda a: f(a, a).real, complex_leaf(L, 1 + 2j), **how)
        return check(f, (complex_leaf(L), complex_leaf(L)), **how)

    def rounded(ending):
        """Numbers with ten digits: sums of complex numbers are taken in another order."""
        return re.sub(r"\d+\.\d+(e-?\d+)?", lambda m: f"{float(m[0]):.10g}", without_library(ending))

    ours, theirs = ended(torch, run, how)
    assert rounded(ours) == rounded(theirs)
