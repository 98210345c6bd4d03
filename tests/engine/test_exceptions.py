"""Errors out of user code: what had been done before them, and that everything works after them, against
PyTorch."""

import weakref

import pytest
from functions import leaf, made, square
from twins import outcome
from watching import collector_off

import minigrad
from minigrad.core import modes


def refuse(*_):
    raise ValueError("refused")


def interrupt(*_):
    raise KeyboardInterrupt


def ending(function):
    """How a call ends, also by what is no Exception."""
    try:
        return outcome(function)
    except BaseException as error:
        return type(error).__name__


def afterwards(L, note, *leaves):
    """The state of the library, and that it works."""
    note(L.is_grad_enabled(), L.is_inference_mode_enabled(), L.is_anomaly_enabled())
    note([x.grad for x in leaves], [x._version for x in leaves])
    for x in leaves:
        x.grad = None
    y = leaf(L, 3.0, 4.0)
    (square(L).apply(y) * y).sum().backward()
    note(y.grad)


def two_paths(L):
    """Two leaves; the newer path is run first, so `b` has its gradient when `a`'s path fails."""
    a, b = leaf(L), leaf(L)
    old = a * 2
    new = b * 3
    return a, b, old, new, (old * new).sum()


def fails_and_goes_on(L, note, handle, a, b, z):
    """Run backward with what `handle` registered, and then without it."""
    note(ending(lambda: z.backward(retain_graph=True)))
    afterwards(L, note, a, b)
    handle.remove()
    z.backward()
    afterwards(L, note, a, b)


def test_tensor_hooks(L, note):
    for wrong in (refuse, interrupt):
        for where in range(4):
            a, b, old, new, z = two_paths(L)
            handle = (a, b, old, new)[where].register_hook(wrong)
            fails_and_goes_on(L, note, handle, a, b, z)


def test_node_hooks(L, note):
    for wrong in (refuse, interrupt):
        for register in ("register_hook", "register_prehook"):
            for where in (
                lambda a, old, z: old.grad_fn,
                lambda a, old, z: z.grad_fn,
                lambda a, old, z: old.grad_fn.next_functions[0][0],
            ):
                a, b, old, _new, z = two_paths(L)
                handle = getattr(where(a, old, z), register)(wrong)
                fails_and_goes_on(L, note, handle, a, b, z)


def test_the_first_of_several_hooks(L, note):
    x = leaf(L)
    y = x * 2
    y.register_hook(lambda g: note("before"))
    handle = y.register_hook(refuse)
    y.register_hook(lambda g: note("after"))
    y.retain_grad()
    note(ending(lambda: y.sum().backward()))
    afterwards(L, note, x)
    note(y.grad)
    handle.remove()
    (y * 1).sum().backward()
    note(y.grad, x.grad)


def test_post_accumulate_hooks(L, note):
    for wrong in (refuse, interrupt):
        a, b, _old, _new, z = two_paths(L)
        handle = b.register_post_accumulate_grad_hook(wrong)
        fails_and_goes_on(L, note, handle, a, b, z)


def test_functions_backward(L, note):
    for wrong in (refuse, interrupt):
        a, b = leaf(L), leaf(L)
        bad = made(L, lambda ctx, x: x * 2, wrong)
        old, new = a * 2, b * 3
        z = (bad.apply(old) * new).sum()
        for call in (z.backward, lambda z=z, b=b: L.autograd.grad(z, b)):
            note(ending(call))
            afterwards(L, note, a, b)


def test_functions_forward(L, note):
    for wrong in (refuse, interrupt):
        x = leaf(L)
        fails, late = made(L, wrong), made(L, lambda a: a, setup_context=wrong)
        note(ending(lambda f=fails, x=x: f.apply(x)))
        note(ending(lambda f=late, x=x: f.apply(x)))
        with L.no_grad():
            note(ending(lambda f=fails, x=x: f.apply(x)))
            note(L.is_grad_enabled())
        afterwards(L, note, x)


def test_functions_that_leave_a_mode_changed(L, note):
    def backward(ctx, g):
        with L.enable_grad():
            refuse()

    x = leaf(L)
    note(ending(lambda: made(L, lambda ctx, a: a * 2, backward).apply(x).sum().backward()))
    afterwards(L, note, x)


def test_a_graph_half_run(L, note):
    x = leaf(L)
    y = square(L).apply(x)
    w = y * y
    handle = y.register_hook(refuse)
    z = (w * w).sum()
    note(ending(z.backward))
    handle.remove()
    note(ending(z.backward))
    note(ending(w.sum().backward))
    note(ending(y.sum().backward))
    afterwards(L, note, x)


def test_under_create_graph(L, note):
    x = leaf(L)
    y = x * x
    handle = y.register_hook(refuse)
    z = (y * x).sum()
    note(ending(lambda: L.autograd.grad(z, x, create_graph=True)))
    afterwards(L, note, x)
    handle.remove()
    (g,) = L.autograd.grad(z, x, create_graph=True)
    x.register_hook(refuse)
    note(ending(lambda: g.sum().backward()))
    afterwards(L, note, x)


def test_errors_in_a_backward_inside_backward(L, note):
    inner = leaf(L)

    def run_another(g):
        with L.enable_grad():
            y = inner * 2
            y.register_hook(refuse)
            y.sum().backward()

    x = leaf(L)
    y = x * 2
    y.register_hook(run_another)
    note(ending(lambda: (y * y).sum().backward()))
    afterwards(L, note, x, inner)


def test_errors_that_are_caught_inside(L, note):
    x, inner = leaf(L), leaf(L)

    def tries(g):
        y = inner * 2
        note(y.requires_grad)
        with L.enable_grad():
            y = inner * 2
        y.register_hook(refuse)
        note(ending(lambda: y.sum().backward()))
        return g * 2

    y = x * 2
    y.register_hook(tries)
    (y * y).sum().backward()
    afterwards(L, note, x, inner)


def test_pack_and_unpack_hooks(L, note):
    graph = L.autograd.graph
    x = leaf(L)
    for wrong in (refuse, interrupt):
        with graph.saved_tensors_hooks(wrong, lambda t: t):
            note(ending(lambda: x * x))
            note(ending(lambda: square(L).apply(x)))
            note(ending(lambda: x.exp()))
        note(x * x)
        with graph.saved_tensors_hooks(lambda t: t, wrong):
            y, z = x * x, square(L).apply(x)
        for t in (y, z):
            note(ending(lambda t=t: t.sum().backward()))
        note(ending(lambda y=y: y.grad_fn._saved_self), ending(lambda z=z: z.grad_fn.saved_tensors))
        afterwards(L, note, x)


def test_in_place_ops_whose_pack_hook_fails(L, note):
    x = leaf(L)
    y = x * 1
    with L.autograd.graph.saved_tensors_hooks(refuse, lambda t: t):
        note(ending(lambda: y.mul_(x)))
    afterwards(L, note, x)


def test_modes_as_contexts(L, note):
    for context in (
        L.no_grad,
        L.enable_grad,
        L.inference_mode,
        lambda: L.set_grad_enabled(False),
        L.autograd.detect_anomaly,
        lambda: L.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        lambda: L.autograd.graph.disable_saved_tensors_hooks("no hooks"),
        L.autograd.forward_ad.dual_level,
        L.autograd.graph.save_on_cpu,
    ):
        for wrong in (refuse, interrupt):

            def block(context=context, wrong=wrong):
                with context():
                    wrong()

            note(ending(block))
            afterwards(L, note, leaf(L))


def test_modes_around_functions_and_generators(L, note):
    for mode in (L.no_grad(), L.inference_mode(), L.set_grad_enabled):
        decorate = mode if not isinstance(mode, type) else mode(True)

        @decorate
        def fails():
            note(L.is_grad_enabled(), L.is_inference_mode_enabled())
            refuse()

        @decorate
        def generates():
            try:
                yield L.is_grad_enabled(), L.is_inference_mode_enabled()
                refuse()
            except ValueError:
                yield L.is_grad_enabled()
            raise KeyError("at the end")

        note(ending(fails))
        steps = generates()
        note(next(steps), L.is_grad_enabled(), next(steps), L.is_grad_enabled())
        note(ending(lambda s=steps: next(s)))
        thrown = generates()
        note(next(thrown), ending(lambda t=thrown: t.throw(ValueError("thrown"))), L.is_grad_enabled())
        note(thrown.close(), L.is_grad_enabled(), L.is_inference_mode_enabled())


def test_errors_of_the_engine_itself(L, note):
    a, b, old, _, z = two_paths(L)
    old.register_hook(lambda g: g.double())
    note(ending(z.backward))
    afterwards(L, note, a, b)
    a, b, old, _new, z = two_paths(L)
    old.detach().add_(1)
    note(ending(z.backward))
    afterwards(L, note, a, b)
    bad = made(L, lambda ctx, x: x * 2, lambda ctx, g: L.ones(7))
    x = leaf(L)
    note(ending(lambda: bad.apply(x).sum().backward()))
    afterwards(L, note, x)


def test_multi_grad_hooks(L, note):
    a, b, old, new, z = two_paths(L)
    handle = L.autograd.graph.register_multi_grad_hook((old, new), refuse)
    note(ending(lambda: z.backward(retain_graph=True)))
    afterwards(L, note, a, b)
    handle.remove()
    z.backward()
    afterwards(L, note, a, b)


@pytest.mark.parametrize("wrong", [refuse, interrupt])
def test_modes_and_memory_after_an_error(wrong):
    """Nothing of the failed pass is kept, and no mode has changed."""
    before = modes.snapshot()
    with collector_off():
        x = leaf(minigrad)
        y = made(minigrad, lambda ctx, a: (ctx.save_for_backward(a), a * 2)[1], wrong).apply(x)
        z = (y * y).exp().sum()
        alive = [weakref.ref(t) for t in (x, y, z, y.grad_fn)]
        assert ending(z.backward) in (("ValueError", "refused"), "KeyboardInterrupt")
        assert modes.snapshot() == before
        del x, y, z
        assert [ref() for ref in alive] == [None] * 4


def test_the_error_is_the_users_own():
    """The very exception, with the user's line at the end of its traceback."""
    error = ValueError("the very one")

    def fail(g):
        raise error

    x = leaf(minigrad)
    y = x * 2
    y.register_hook(fail)
    with pytest.raises(ValueError, match="the very one") as caught:
        y.sum().backward()
    assert caught.value is error
    assert caught.traceback[-1].path.name == "test_exceptions.py"
