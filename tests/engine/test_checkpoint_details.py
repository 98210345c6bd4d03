"""utils.checkpoint: what only one variant has, warnings, memory, random numbers, observers."""

import contextlib
import weakref

import numpy as np
import pytest
from functions import square
from test_checkpoint import checkpointing, leaf, noting
from twins import outcome, outcome_and_warnings
from watching import collector_off, watched

import minigrad


def changing(L, first, later):
    """A function that does one thing first and another later."""
    runs = []

    def function(a):
        runs.append(1)
        return (first if len(runs) == 1 else later)(a).sum()

    return function


CHANGES = {
    "shape": (lambda L, a: a.exp() * L.tensor([1.0, 1.0]), lambda L, a: a.exp() * L.tensor([[1.0], [1.0]])),
    "dtype": (
        lambda L, a: a.exp() * L.tensor([1.0, 1.0]),
        lambda L, a: a.exp() * L.tensor([1.0, 1.0], dtype=L.float64),
    ),
    "fewer": (lambda L, a: a.exp().exp(), lambda L, a: a.exp()),
    "more": (lambda L, a: a.exp(), lambda L, a: a.exp().exp()),
    "values": (lambda L, a: a.exp() * a, lambda L, a: a.exp() * (a + 1)),
}


@pytest.mark.parametrize("how", [{}, {"determinism_check": "none"}, {"early_stop": False}], ids=str)
@pytest.mark.parametrize("change", CHANGES)
def test_a_function_that_is_not_the_same_again(L, note, change, how):
    first, later = CHANGES[change]
    x = leaf(L)
    function = changing(L, lambda a: first(L, a), lambda a: later(L, a))
    out = checkpointing(L).checkpoint(function, x, use_reentrant=False, **how)
    found = outcome(out.backward)
    if found is not None:
        found = found[0], found[1].replace("minigrad.", "torch.")
    note(found, x.grad)


def test_early_stop(L, note):
    module = checkpointing(L)

    def function(a):
        y = a.exp()
        note("first")
        z = y.exp()
        note("second")
        return (z * 2).sum()

    for outer in (True, False, None):
        for own in (True, False):
            x = leaf(L)
            with module.set_checkpoint_early_stop(outer):
                out = module.checkpoint(function, x, use_reentrant=False, early_stop=own)
            note(outer, own)
            out.backward()
            note(x.grad)


def test_sequential(L, note):
    module = checkpointing(L)
    steps = [
        lambda a: note("1") or a.exp(),
        lambda a: note("2") or a * a,
        lambda a: note("3") or a.exp(),
        lambda a: note("4") or a.sum(),
    ]
    for segments in (1, 2, 3, 4):
        for reentrant in (False, True):
            x = leaf(L)
            out = module.checkpoint_sequential(steps, segments, x, use_reentrant=reentrant)
            note(out)
            out.backward()
            note(x.grad)
    note.error(lambda: module.checkpoint_sequential(steps, 2, leaf(L), use_reentrant=False, other=1))


def test_contexts(L, note):
    @contextlib.contextmanager
    def named(name):
        note("enter", name)
        yield
        note("leave", name)

    x = leaf(L)
    out = checkpointing(L).checkpoint(
        noting(L, note), x, use_reentrant=False, context_fn=lambda: (named("first"), named("later"))
    )
    out.backward()
    note(x.grad)


def test_contexts_that_swallow_errors(L, note):
    def contexts():
        return contextlib.suppress(ZeroDivisionError), contextlib.nullcontext()

    checkpoint = checkpointing(L).checkpoint
    note.error(lambda: checkpoint(lambda a: 1 / 0, leaf(L), use_reentrant=False, context_fn=contexts))


def test_backward_inside_the_function(L, note):
    for stop in (True, False):
        for keep in (True, False):

            def function(a, keep=keep):
                y = a.exp()
                z = y.exp()
                note("inside")
                (g,) = L.autograd.grad(z.sum(), a, retain_graph=keep)
                note(g)
                return (a.exp() * g).sum()

            x = leaf(L)
            out = checkpointing(L).checkpoint(function, x, use_reentrant=False, early_stop=stop)
            out.backward()
            note(x.grad)


def test_saved_values_read_outside(L, note):
    x = leaf(L)
    out = checkpointing(L).checkpoint(noting(L, note), x, use_reentrant=False)
    node = out.grad_fn.next_functions[0][0]
    note(node, node._saved_self, node._saved_self)
    out.backward()
    note(x.grad)


def test_functions_inside(L, note):
    Once = square(L)

    class Twice(Once):
        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] * ctx.saved_tensors[0]

    for cls in (Once, Twice):
        x = leaf(L)
        out = checkpointing(L).checkpoint(lambda a, cls=cls: cls.apply(a.exp()), x, use_reentrant=False)
        note.error(lambda out=out: out.sum().backward())
        note(x.grad)


def test_hooks_disabled(L, note):
    def call():
        with L.autograd.graph.disable_saved_tensors_hooks("not here"):
            return checkpointing(L).checkpoint(noting(L, note), leaf(L), use_reentrant=False)

    note.error(call)


def test_warnings(L, note):
    module, x = checkpointing(L), leaf(L)
    for call in (
        lambda: module.checkpoint(lambda a: a.exp(), x),
        lambda: module.checkpoint(lambda a: a.exp(), x.detach(), use_reentrant=True),
        lambda: module.checkpoint(lambda a: a.exp(), x.detach(), use_reentrant=False),
        lambda: module.checkpoint_sequential([lambda a: a.exp()], 1, x),
        lambda: module.checkpoint_sequential([lambda a: a.exp(), lambda a: a * a], 2, x),
        lambda: module.check_backward_validity([1, x.detach()]),
    ):
        note(*outcome_and_warnings(call))


@pytest.mark.quick
def test_random_numbers_come_again():
    """A mask drawn from NumPy's global numbers is the same again, and the numbers go on as if nothing was."""
    x = leaf(minigrad)
    for reentrant in (False, True):
        masks = []

        def drop(a, masks=masks):
            masks.append(np.random.rand(2).astype(np.float32))
            return (a.exp() * minigrad.tensor(masks[-1])).exp().sum()

        np.random.seed(3)
        out = minigrad.utils.checkpoint.checkpoint(drop, x, use_reentrant=reentrant)
        following = np.random.get_state()[1].tolist(), np.random.get_state()[2]
        out.backward()
        assert masks[0].tolist() == masks[1].tolist()
        assert (np.random.get_state()[1].tolist(), np.random.get_state()[2]) == following
        out = minigrad.utils.checkpoint.checkpoint(drop, x, use_reentrant=reentrant, preserve_rng_state=False)
        out.backward()
        assert masks[2].tolist() != masks[3].tolist()


def test_memory_is_given_back():
    """Intermediate values are not kept after the first run, nor after backward."""
    kept = []

    def function(a):
        y = a.exp()
        z = y.exp()
        kept.extend(map(weakref.ref, (y, z)))
        return z.sum()

    with collector_off():
        x = leaf(minigrad)
        for keep in (True, False):
            out = minigrad.utils.checkpoint.checkpoint(function, x, use_reentrant=False)
            assert [r() for r in kept] == [None] * len(kept)
            out.backward(retain_graph=keep)
            assert [r() for r in kept] == [None] * len(kept)
        reference = weakref.ref(out)
        del out
        assert reference() is None


def test_debug_is_refused():
    for reentrant in (False, True):
        with pytest.raises(NotImplementedError, match=r"^minigrad's checkpoint has no debug \(see docs/ops"):
            minigrad.utils.checkpoint.checkpoint(
                lambda a: a.exp(), leaf(minigrad), use_reentrant=reentrant, debug=True
            )


@pytest.mark.parametrize("reentrant", [False, True])
def test_observers_are_told(reentrant):
    with watched("recomputed", "mode_changed") as told:
        minigrad.utils.checkpoint.checkpoint(
            lambda a: a.exp().sum(), leaf(minigrad), use_reentrant=reentrant
        ).backward()
    assert told == [("recomputed", True), ("recomputed", False)]
