"""Grad mode against PyTorch: as context and decorator, around generators and classes, per thread."""

import asyncio
import inspect
import threading
import warnings

import pytest
from functions import leaf
from watching import watched

import minigrad
from minigrad.core import modes

pytestmark = pytest.mark.quick


def test_contexts(L, note):
    x = leaf(L)
    with L.no_grad():
        note(L.is_grad_enabled(), x * 2, L.tensor(1.0, requires_grad=True), x.clone())
        with L.enable_grad():
            note(L.is_grad_enabled(), x * 2)
        note(L.is_grad_enabled())
        with L.set_grad_enabled(True):
            note(L.is_grad_enabled())
        with L.set_grad_enabled(False):
            note(L.is_grad_enabled())
    note(L.is_grad_enabled())
    mode = L.set_grad_enabled(False)
    note(L.is_grad_enabled(), str(mode), repr(mode), mode.mode, mode.prev)
    L.set_grad_enabled(True)
    for wrong in ("on", 1, None):
        note.error(L.set_grad_enabled, wrong)
        note.error(L.autograd.set_multithreading_enabled, wrong)
    note(L.is_grad_enabled())


def test_one_context_entered_twice(L, note):
    once = L.no_grad()
    with once:
        with once:
            note(L.is_grad_enabled())
        note(L.is_grad_enabled())
    note(L.is_grad_enabled())  # what `once` remembers is the state inside
    L.set_grad_enabled(True)
    switch = L.set_grad_enabled(False)
    with switch:
        with switch:
            note(L.is_grad_enabled())
        note(L.is_grad_enabled())
    note(L.is_grad_enabled())


def test_decorated_functions(L, note):
    @L.no_grad
    def bare(x):
        """Twice."""
        return x * 2, L.is_grad_enabled()

    @L.no_grad()
    def called(x, *, by=3):
        return x * by, L.is_grad_enabled()

    @L.set_grad_enabled(False)
    def switched(x):
        return x * 2, L.is_grad_enabled()

    @L.no_grad()
    def outer(x):
        return inner(x), x * 2

    @L.enable_grad()
    def inner(x):
        return x * 2

    x = leaf(L)
    note(L.is_grad_enabled(), bare(x), called(x, by=4), switched(x), outer(x), L.is_grad_enabled())
    note(bare.__name__, bare.__doc__, bare.__wrapped__ is not None, called.__name__)
    recursive = L.no_grad()(lambda n: (L.is_grad_enabled(), recursive(n - 1)) if n else None)
    note(recursive(3), L.is_grad_enabled())


def test_decorated_generators(L, note):
    @L.no_grad()
    def numbers():
        try:
            sent = yield L.is_grad_enabled()
            note("sent", sent, L.is_grad_enabled())
            while True:
                try:
                    yield L.is_grad_enabled()
                except KeyError as error:
                    note("thrown", str(error), L.is_grad_enabled())
                    with L.enable_grad():
                        yield L.is_grad_enabled()
        finally:
            note("closed", L.is_grad_enabled())

    g = numbers()
    note(next(g), L.is_grad_enabled())
    note(g.send(5), L.is_grad_enabled())
    note(g.throw(KeyError("x")), L.is_grad_enabled())
    note(next(g), L.is_grad_enabled())
    note(g.close(), L.is_grad_enabled())

    @L.enable_grad()
    def returning():
        yield 1
        return L.is_grad_enabled()

    def delegating():
        result = yield from returning()
        note("returned", result, L.is_grad_enabled())

    with L.no_grad():
        note(list(delegating()))

    @L.no_grad()
    def failing():
        yield 1
        raise ValueError("in the generator")

    note.error(lambda: list(failing()))
    g = numbers()
    next(g)
    note.error(lambda: g.throw(ZeroDivisionError("not caught")))
    note(L.is_grad_enabled(), inspect.isgeneratorfunction(numbers))


def test_decorated_coroutines(L, note):
    @L.no_grad()
    async def later():
        return L.is_grad_enabled()

    with L.no_grad():
        made = later()
    note(asyncio.run(made), L.is_grad_enabled())  # only the call was in the mode


def test_decorated_classes(L, note):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")

        @L.no_grad()
        class Decorated:
            def __init__(self):
                self.mode = L.is_grad_enabled()

            def method(self):
                return L.is_grad_enabled()

    note([(w.category.__name__, str(w.message), w.filename == __file__) for w in seen])
    made = Decorated()
    note(made.mode, made.method(), L.is_grad_enabled())


def test_threads_have_modes_of_their_own(L, note):
    seen = []
    with L.no_grad(), L.inference_mode():

        def look():
            seen.append((L.is_grad_enabled(), L.is_inference_mode_enabled()))
            L.set_grad_enabled(False)

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    note(seen, L.is_grad_enabled())


def test_multithreading(L, note):
    x = leaf(L)
    with L.autograd.set_multithreading_enabled(False):
        (x * x).sum().backward()
    L.autograd.set_multithreading_enabled(True)
    note(x.grad)


def test_multithreading_is_remembered():
    assert modes.state.multithreading
    with minigrad.autograd.set_multithreading_enabled(False):
        assert not modes.state.multithreading
    with minigrad.inference_mode():
        assert not modes.state.multithreading
    assert modes.state.multithreading


def test_observers_are_told():
    with watched("mode_changed") as told:
        with minigrad.no_grad(), minigrad.no_grad():
            pass
        with minigrad.inference_mode(), minigrad.inference_mode(False):
            pass
    assert [event[1:] for event in told] == [
        *[("grad", False), ("grad", True)],
        *[("inference", on) for on in (True, False, True, False)],
    ]
