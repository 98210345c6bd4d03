"""gradcheck: what passes, what fails and in which words, and that it leaves nothing behind."""

from __future__ import annotations

import warnings

import pytest
from twins import dialect, outcome

import minigrad


def double(L, value):
    return L.tensor(value, dtype=L.float64, requires_grad=True)


def wrong(L, factor=3.0):
    class Wrong(L.autograd.Function):
        @staticmethod
        def forward(ctx, a, *rest):
            ctx.count = len(rest)
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g * factor, *[None] * ctx.count

    return Wrong.apply


PASSING = {
    "power": lambda L: (lambda a: a**3, (double(L, 2.0),)),
    "vector": lambda L: (lambda a, b: a * b.sum(), (double(L, [1.0, 2.0]), double(L, [[3.0], [4.0]]))),
    "matrix": lambda L: (lambda a, b: a @ b, (double(L, [[1.0, 2.0]]), double(L, [[3.0], [4.0]]))),
    "several outputs": lambda L: (lambda a: (a * 2, a.exp()), (double(L, [1.0, 2.0]),)),
    "an input that learns nothing": lambda L: (lambda a, b: a * b, (double(L, 2.0), L.tensor(3.0))),
    "an input that is no tensor": lambda L: (lambda a, k: a * k, (double(L, 2.0), 3)),
    "an unused input": lambda L: (lambda a, b: a * 2, (double(L, 2.0), double(L, 3.0))),
    "one tensor": lambda L: (lambda a: a.tanh(), double(L, [0.5, 1.0])),
}
FAILING = {
    "number": lambda L: (wrong(L), (double(L, 2.0),)),
    "vector": lambda L: (wrong(L), (double(L, [1.0, 2.0]),)),
    "second input": lambda L: (lambda a, b: a + wrong(L)(b), (double(L, [1.0, 2.0]), double(L, [3.0, 4.0]))),
    "second output": lambda L: (lambda a: (a * 2, wrong(L)(a)), (double(L, 2.0),)),
    "nothing to learn": lambda L: (lambda a: a * 2, (L.tensor(2.0),)),
}


@pytest.mark.parametrize("name", PASSING)
def test_passes(torch, name):
    for library in (minigrad, torch):
        function, inputs = PASSING[name](library)
        assert library.autograd.gradcheck(function, inputs) is True


@pytest.mark.parametrize("name", FAILING)
def test_fails_in_pytorchs_words(torch, name):
    ours, theirs = (
        outcome(library.autograd.gradcheck, *FAILING[name](library)) for library in (minigrad, torch)
    )
    assert ours[1].replace("minigrad.", "torch.") == theirs[1]


@pytest.mark.parametrize("name", ["number", "vector"])
def test_can_say_false_instead(torch, name):
    for library in (minigrad, torch):
        assert library.autograd.gradcheck(*FAILING[name](library), raise_exception=False) is False


@pytest.mark.parametrize(("name", "error"), [("1.4", RuntimeError), ("2", minigrad.autograd.GradcheckError)])
def test_class_of_the_error(name, error):
    with dialect(name), pytest.raises(RuntimeError, match="Jacobian mismatch") as caught:
        minigrad.autograd.gradcheck(*FAILING["number"](minigrad))
    assert type(caught.value) is error


def test_warns_of_single_precision(torch):
    texts = []
    for library in (minigrad, torch):
        x = library.tensor(2.0, requires_grad=True)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            library.autograd.gradcheck(lambda a: a * 2, (x,), eps=1e-2, atol=1e-2)
        texts.append([str(w.message) for w in seen])
    assert texts[0] == texts[1] and len(texts[0]) == 1


def test_leaves_its_inputs_alone():
    x = double(minigrad, [1.0, 2.0])
    minigrad.autograd.gradcheck(lambda a: a.exp(), (x,))
    assert (x.tolist(), x.grad, x._version) == ([1.0, 2.0], None, 0)
    assert minigrad.is_grad_enabled()


def test_a_backward_that_varies_is_found():
    calls = []

    class Unsteady(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            calls.append(1)
            return g * (1 + 1e-9 * len(calls))

    with pytest.raises(RuntimeError, match="not reentrant"):
        minigrad.autograd.gradcheck(Unsteady.apply, (double(minigrad, 2.0),))
