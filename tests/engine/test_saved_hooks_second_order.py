"""Saved-tensor hooks and graphs of second order; every program runs in both libraries."""

import contextlib

from twins import graph


def test_second_derivatives(L, note):
    """Under create_graph unpacked tensors stand in the graph where the saved ones stood."""
    a = L.tensor([1.0, 2.0], requires_grad=True)
    b = a * 2
    with L.autograd.graph.saved_tensors_hooks(
        lambda t: t.detach().clone(), lambda t: note("unpack", L.is_grad_enabled()) or t
    ):
        y = (a * b).exp() * b
    (g,) = L.autograd.grad(y.sum(), a, create_graph=True)
    note(g)
    (h,) = L.autograd.grad(g.sum(), a)
    note(h)


def test_hooks_in_force_during_backward(L, note):
    """A backward under hooks with create_graph packs what it saves itself."""
    a = L.tensor([1.0, 2.0], requires_grad=True)
    y = (a * a).exp()
    with L.autograd.graph.saved_tensors_hooks(lambda t: note("pack", t) or t.detach(), lambda t: t):
        (g,) = L.autograd.grad(y.sum(), a, create_graph=True)
    g.sum().backward()
    note(a.grad)


def test_outputs_of_several(L, note):
    """One of several results of a node keeps its number."""
    a = L.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        x, y = a.unbind()
        z = x * y
    for name in ("_saved_self", "_saved_other"):
        saved = getattr(z.grad_fn, name)
        note(saved, saved.output_nr, saved.grad_fn is x.grad_fn)
    (g,) = L.autograd.grad(z.sum(), a, create_graph=True)
    note(g, L.autograd.grad(g.sum(), a))


def test_in_place_on_a_view(L, note):
    """An in-place op on a view saves its result; unpacking it gives a new view of the base."""
    for hooked in (True, False):
        a = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
        b = a * 1
        pair = (lambda t: t.detach().clone(), lambda t: t)
        with L.autograd.graph.saved_tensors_hooks(*pair) if hooked else contextlib.nullcontext():
            b[0].mul_(a[1])
            b[1:].exp_()
        (g,) = L.autograd.grad((b * b).sum(), a, create_graph=True)
        note(graph(g), g)
        note(L.autograd.grad(g.sum(), a))


def test_what_was_unpacked_is_saved_again(L, note):
    """In a graph of second order the unpacked tensor counts, not the one that was written to since."""
    a = L.tensor([1.0, -2.0], requires_grad=True)
    b = a * 1
    with L.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y, z = a.abs() * a, b * b * b
    with L.no_grad():
        a.mul_(2)
        b.mul_(2)
    (g,) = L.autograd.grad(y.sum() + z.sum(), a, create_graph=True)
    note(g)
    note.error(lambda: L.autograd.grad(g.sum(), a))


def test_limited_passes_compute_what_is_asked_for(L, note):
    """Hooks in force do not see products of gradients that nobody asked for."""
    a = L.tensor([1.0, 2.0], requires_grad=True)
    b = a * 1
    c = L.tensor([3.0, 4.0], requires_grad=True)
    z = c / b
    with L.autograd.graph.saved_tensors_hooks(lambda t: note("pack", t) or t.detach(), lambda t: t):
        for wanted in ([c], [b], [a], [a, c]):
            note(L.autograd.grad(z.sum(), wanted, create_graph=True))
