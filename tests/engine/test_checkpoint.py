"""utils.checkpoint, both variants, as PyTorch documents it; every program runs in both libraries."""

import functools
import importlib

import pytest
from functions import made

pytestmark = pytest.mark.quick


def checkpointing(L):
    """`L.utils.checkpoint`, the module."""
    return importlib.import_module(f"{L.__name__}.utils.checkpoint")


def leaf(L):
    return L.tensor([0.5, 1.0], requires_grad=True)


def both_ways(program):
    """Run a program `(L, note, checkpoint)` with each variant."""

    @pytest.mark.parametrize("reentrant", [False, True])
    def test(L, note, reentrant):
        program(L, note, functools.partial(checkpointing(L).checkpoint, use_reentrant=reentrant))

    return test


def noting(L, note):
    """A function that notes how it is called."""

    def function(a, b=None, scale=1):
        note("runs", a.requires_grad, a.is_leaf, L.is_grad_enabled())
        y = a.exp()
        note("goes on")
        z = y * (a if b is None else b)
        return (z * scale).sum()

    return function


@both_ways
def test_plain(L, note, checkpoint):
    x = leaf(L)
    out = checkpoint(noting(L, note), x)
    note(out)
    out.backward()
    note(x.grad)


@both_ways
def test_arguments(L, note, checkpoint):
    x, y = leaf(L), L.tensor([2.0, 3.0])
    out = checkpoint(noting(L, note), x, y, 3)
    out.backward()
    note(x.grad, y.grad)
    note.error(lambda: checkpoint(noting(L, note), x, scale=3).backward())
    note(x.grad)
    checkpoint(noting(L, note), x, preserve_rng_state=False).backward()
    note(x.grad)


@both_ways
def test_nothing_needs_a_gradient(L, note, checkpoint):
    out = checkpoint(noting(L, note), L.tensor([1.0, 2.0]))
    note(out)
    with L.no_grad():
        note(checkpoint(noting(L, note), leaf(L)))


@both_ways
def test_through_grad(L, note, checkpoint):
    x = leaf(L)
    note.error(lambda: L.autograd.grad(checkpoint(noting(L, note), x), x))
    note.error(lambda: checkpoint(noting(L, note), x).backward(inputs=[x]))
    note(x.grad)


@both_ways
def test_inside_a_limited_pass(L, note, checkpoint):
    """A backward inside a pass that is limited to inputs counts as limited as well."""

    def backward(ctx, g):
        with L.enable_grad():
            x = leaf(L)
            note.error(lambda: checkpoint(lambda a: a.exp().sum(), x).backward())
            note(x.grad)
        return g

    inner = made(L, lambda ctx, t: t * 1, backward)
    x = leaf(L)
    L.autograd.grad(inner.apply(x).sum(), x)
    inner.apply(x).sum().backward()
    note(x.grad)


@both_ways
def test_twice_through_the_graph(L, note, checkpoint):
    x = leaf(L)
    out = checkpoint(noting(L, note), x)
    out.backward(retain_graph=True)
    out.backward()
    note(x.grad)
    note.error(out.backward)
    note(x.grad)


@both_ways
def test_second_derivatives(L, note, checkpoint):
    x = leaf(L)
    out = checkpoint(noting(L, note), x)
    note.error(lambda: out.backward(create_graph=True))
    note(x.grad)
    x = leaf(L)
    out = checkpoint(noting(L, note), x)

    def twice():
        (g,) = L.autograd.grad(out, x, create_graph=True)
        return g, L.autograd.grad(g.sum(), x)

    note.error(twice)


@both_ways
def test_nested(L, note, checkpoint):
    def inner(a):
        note("inner")
        return a.exp() * a

    def outer(a):
        note("outer")
        b = checkpoint(inner, a)
        note("between")
        return checkpoint(inner, b * a * 0.1).exp().sum()

    x = leaf(L)
    checkpoint(outer, x).backward()
    note(x.grad)


@both_ways
def test_several_results(L, note, checkpoint):
    x = leaf(L)
    a, b = checkpoint(lambda t: (t * 2, t.exp()), x)
    note(a, b)
    b.sum().backward()
    note(x.grad)


@both_ways
def test_a_result_without_gradient(L, note, checkpoint):
    x = leaf(L)
    out = checkpoint(lambda t: t.detach() * 2, x)
    note(out)
    note.error(lambda: out.sum().backward())


@both_ways
def test_no_tensor_given(L, note, checkpoint):
    x = leaf(L)
    out = checkpoint(lambda: (x * x).sum())
    note(out)
    note.error(out.backward)
    note(x.grad)


@both_ways
def test_errors_in_the_function(L, note, checkpoint):
    x, runs = leaf(L), []

    def function(a):
        runs.append(1)
        y = a.exp()
        if len(runs) in fail_at:
            raise ValueError("failed")
        return (y * a).sum()

    fail_at = [1]
    note.error(lambda: checkpoint(function, x))
    note(L.is_grad_enabled())
    fail_at = [3]
    out = checkpoint(function, x)
    note.error(out.backward)
    note(x.grad, L.is_grad_enabled())
    note.error(out.backward)
    note(x.grad)


@both_ways
def test_an_input_that_was_written_to(L, note, checkpoint):
    x = leaf(L)
    a = x * 1
    out = checkpoint(noting(L, note), a)
    a.mul_(2)
    note.error(out.backward)


@both_ways
def test_other_errors(L, note, checkpoint):
    x = leaf(L)
    note.error(lambda: checkpoint(noting(L, note), x, determinism_check="no"))
    note.error(lambda: checkpoint(noting(L, note), x, context_fn=lambda: 1))
    note.error(lambda: checkpointing(L).detach_variable([x]))
