"""Forward mode among the other modes, with backward, and what it leaves: side by side with PyTorch."""

import threading
import weakref

import pytest
from twins import tangent
from watching import collector_off, watched

import minigrad
from minigrad.core import modes, tangents

# PyTorch compiles its own formulas when the first dual tensor is made.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")


# -------------------------------------------------------------------------------------------------- modes


def test_with_grad_off(L, note):
    fw = L.autograd.forward_ad
    x = L.tensor([1.0, 2.0], requires_grad=True)
    t = L.tensor([3.0, 4.0], requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, t)
        with L.no_grad():
            for y in (d * 2, d.exp(), d[0], fw.make_dual(x, t) * 3):
                note(y, tangent(L, y))
        y = d * 2
        note(y, tangent(L, y))
    with L.no_grad(), fw.dual_level():
        y = fw.make_dual(x, t) * x
        note(y, tangent(L, y))


def test_in_inference_mode(L, note):
    fw = L.autograd.forward_ad
    x = L.tensor([1.0, 2.0])
    with fw.dual_level():
        d = fw.make_dual(x, L.tensor([3.0, 4.0]))
        with L.inference_mode():
            note(fw._is_fwd_grad_enabled())
            for y in (d, d * 2):
                note(y, tangent(L, y))
            with L.inference_mode(False):
                note(fw._is_fwd_grad_enabled(), tangent(L, d), tangent(L, d * 2))
        note(tangent(L, d), fw._is_fwd_grad_enabled())
    with L.inference_mode(), fw.dual_level():
        d = fw.make_dual(x, L.tensor([3.0, 4.0]))
        note(tangent(L, d))


def test_switched_off(L, note):
    fw = L.autograd.forward_ad
    x = L.tensor([1.0, 2.0])
    note(fw._is_fwd_grad_enabled())
    with fw.dual_level():
        d = fw.make_dual(x, L.tensor([3.0, 4.0]))
        with fw._set_fwd_grad_enabled(False):
            note(fw._is_fwd_grad_enabled(), tangent(L, d))
            y, late = d * 2, fw.make_dual(x, L.tensor([1.0, 1.0]))
            note(tangent(L, y), tangent(L, late))
            v = d[1:]
            with fw._set_fwd_grad_enabled(True):
                note(tangent(L, d))
            note(tangent(L, d))
        note(tangent(L, d), tangent(L, y), tangent(L, late), tangent(L, v))
    fw._set_fwd_grad_enabled(False)
    note(fw._is_fwd_grad_enabled())
    fw._set_fwd_grad_enabled(True)


def test_a_level_holds_for_all_threads(L, note):
    fw = L.autograd.forward_ad
    lines = []

    def elsewhere(a):
        lines.append((tangent(L, a), tangent(L, a * 2)))
        try:
            fw.enter_dual_level()
        except RuntimeError as error:
            lines.append(str(error))
        with fw._set_fwd_grad_enabled(False):
            lines.append(tangent(L, a))

    with fw.dual_level():
        a = fw.make_dual(L.tensor([1.0, 2.0]), L.tensor([3.0, 4.0]))
        thread = threading.Thread(target=elsewhere, args=(a,))
        thread.start()
        thread.join()
        note(tangent(L, a))
    note(lines)


# ---------------------------------------------------------------------------------------------- with backward


def test_backward_of_dual_tensors(L, note):
    fw = L.autograd.forward_ad
    x = L.tensor([1.0, 2.0], requires_grad=True)

    def d():
        return fw.make_dual(x, L.tensor([3.0, 4.0]))

    def both(t):
        note(t, tangent(L, t))

    with fw.dual_level():
        (d() ** 3).sum().backward()
        both(x.grad)
        first = x.grad
        (d() ** 3).sum().backward()
        both(x.grad)
        note(x.grad._version, x.grad is first)
        for create_graph in (False, True):
            y = d()
            (g,) = L.autograd.grad((y**3).sum(), x, create_graph=create_graph)
            both(g)
        y = d()
        (g,) = L.autograd.grad((y * y * y).sum(), y)
        both(g)
        (g,) = L.autograd.grad(tangent(L, (d() ** 3).sum()), x)
        both(g)
        start = fw.make_dual(L.tensor([1.0, 1.0]), L.tensor([1.0, 0.0]))
        (g,) = L.autograd.grad(x * 2, x, start)
        both(g)
        leaf = fw.make_dual(L.tensor([1.0, 2.0]), L.tensor([3.0, 4.0])).requires_grad_()
        (leaf**2).sum().backward()
        both(leaf.grad)
        y = d()
        y.retain_grad()
        (y**2).sum().backward()
        both(y.grad)
    both(x.grad)


def test_hooks_see_tangents(L, note):
    fw = L.autograd.forward_ad
    x = L.tensor([1.0, 2.0], requires_grad=True)

    def look(g):
        note(g, tangent(L, g), L.is_grad_enabled())

    with fw.dual_level():
        y = fw.make_dual(x, L.tensor([3.0, 4.0]))
        y.register_hook(look)
        y.register_hook(lambda g: g * 2)
        s = (y**3).sum()
        s.grad_fn.next_functions[0][0].register_hook(lambda gi, go: [look(g) for g in (*gi, *go)] and None)
        s.backward()
        note(x.grad)


def test_saved_values_keep_tangents(L, note):
    fw = L.autograd.forward_ad
    x = L.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        y = fw.make_dual(x, L.tensor([3.0, 4.0]))
        e, m = y.exp(), y * y
        for s in (e.grad_fn._saved_result, m.grad_fn._saved_self, m.grad_fn._saved_other):
            note(s, tangent(L, s))
    for s in (e.grad_fn._saved_result, m.grad_fn._saved_self):
        note(s, tangent(L, s))
    (e + m).sum().backward()
    note(x.grad)


# ------------------------------------------------------------------------------------------ what is left


def test_the_level_is_left_as_it_was():
    fw = minigrad.autograd.forward_ad
    before = modes.snapshot()
    with fw.dual_level():
        assert modes.snapshot() != before
        with pytest.raises(RuntimeError):
            fw.make_dual(minigrad.tensor(1.0), minigrad.tensor([1.0])) * 2
    assert modes.snapshot() == before


@pytest.mark.parametrize("learns", [False, True])
def test_everything_is_freed_without_the_collector(learns):
    fw = minigrad.autograd.forward_ad
    with collector_off():
        with fw.dual_level():
            x = minigrad.tensor([1.0, 2.0], requires_grad=learns)
            a = fw.make_dual(x, minigrad.tensor([3.0, 4.0], requires_grad=learns))
            y = a.exp().tanh() * a
            y.mul_(a[0])
            seen = [weakref.ref(t) for t in (a, y, tangent(minigrad, y), tangent(minigrad, a))]
        del a, y
        assert [r() for r in seen] == [None] * 4


def test_what_is_dropped_inside_a_level_is_freed():
    fw = minigrad.autograd.forward_ad
    with fw.dual_level():
        a = fw.make_dual(minigrad.tensor([1.0]), minigrad.tensor([1.0]))
        known = len(tangents._carriers)
        for _ in range(100):
            a * 2
        assert len(tangents._carriers) == known
    assert not tangents._carriers


def test_observers_are_told_of_the_users_ops_only():
    fw = minigrad.autograd.forward_ad
    with watched("mode_changed", "forward", "mutated") as told, fw.dual_level():
        a = fw.make_dual(minigrad.tensor(2.0), minigrad.tensor(1.0))
        ((a * a).exp() / a).add_(a)
        fw.unpack_dual(a)
    names = [
        getattr(what, "name", what) for _, what, *_ in told if isinstance(what, str) or hasattr(what, "vjps")
    ]
    assert names == ["forward_ad", "mul", "exp", "div", "add", "forward_ad"]
