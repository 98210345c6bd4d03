"""View ops and their kin against PyTorch: what they give, how it lies in memory, and every error."""

import warnings

import pytest
from calls import assert_same_ends
from twins import dialect, is_tensor, noted
from view_calls import CALLS

import minigrad


def readable(thing):
    """What a call gave: numbers, shapes and strides of tensors, everything else as text."""
    if is_tensor(thing):
        place = list(thing.stride()), thing.storage_offset(), thing.is_contiguous()
        return noted(thing), place if thing.numel() else None
    if isinstance(thing, (tuple, list)) and any(is_tensor(t) for t in thing):
        return [readable(t) for t in thing]
    return list(thing) if type(thing).__name__ == "Size" else thing


def namespace(L):
    """The tensors that the calls are about."""
    return {
        "L": L,
        "s": L.tensor(1.0),
        "a": L.arange(6.0).reshape(2, 3),
        "b": L.arange(24.0).reshape(2, 3, 4),
        "c": L.arange(3.0),
    }


@pytest.mark.quick
def test_calls(torch):
    assert_same_ends(torch, CALLS, namespace, readable)


DEPRECATED = ("s.T", "s.mT", "s.H", "s.mH", "s.adjoint()", "c.T", "b.T")


@pytest.mark.parametrize("call", DEPRECATED)
def test_deprecated_transposes_warn(torch, call):
    """PyTorch warns once in a process, so what it says is looked for in what we say every time."""
    with dialect("2"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        ours = eval(call, namespace(minigrad))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = eval(call, namespace(torch))
    assert noted(ours) == noted(theirs)
    assert [w.category for w in seen] == [UserWarning] and "deprecated" in str(seen[0].message)
    with dialect("1.4"), warnings.catch_warnings():
        warnings.simplefilter("error")
        eval(call, namespace(minigrad))


def test_one_memory(L, note):
    """Every view sees what is written through any other, and counts it."""
    base = L.arange(12.0).reshape(3, 4)
    views = [
        base.t(), base.diagonal(), base.unfold(1, 2, 2), base.narrow(0, 1, 2), base.movedim(0, 1),
        base.ravel(),
        base.unflatten(1, (2, 2)), base.as_strided((2,), (5,), 1), *base.split(2), *base.unbind(1), *base,
        base.view_as(L.zeros(12)), base.squeeze((0,)), base.mT, base.select(1, 2), base.unsafe_split(2)[0],
    ]  # fmt: skip
    for view in views:
        view.mul_(2)
        note(base, view, base._version, view._version, view._is_view(), view._base is base)


def test_several_results(L, note):
    """Results of one node, with their numbers; a node whose gradients come from some of them only."""
    x = L.arange(6.0).reshape(2, 3).requires_grad_()
    p, q, r = x.unbind(1)
    note(p.grad_fn is q.grad_fn, q.grad_fn is r.grad_fn, [t.output_nr for t in (p, q, r)], p.grad_fn)
    (r * 2).sum().backward(retain_graph=True)
    note(x.grad)
    (p * q).sum().backward()
    note(x.grad)
    note.error(lambda: (p * q).sum().backward())
    first, last = x.split([1, 2], 1)
    g = L.autograd.grad([first.sum(), (last**3).sum()], x, create_graph=True)[0]
    note(g, g.grad_fn, [n for n, _ in g.grad_fn.next_functions])
    note(L.autograd.grad(g.sum(), x))


def test_no_graph(L, note):
    """Without gradients results have no node, and are views of their base all the same."""
    x = L.arange(6.0).reshape(2, 3).requires_grad_()
    with L.no_grad():
        parts = x.split(1)
    note([p.requires_grad for p in parts], [p.grad_fn for p in parts], [p._base is x for p in parts])
    whole = L.arange(6).unbind()
    note([t.requires_grad for t in whole], whole[2], L.zeros(0, 2).unbind(), L.zeros(2, 0).unbind(1))
    note(L.cat([L.ones(2), L.zeros(1)]), L.stack([L.ones(2), L.zeros(2)]).requires_grad)


def test_hooks_of_parts(L, note):
    """A hook on one of several results sees its own gradient."""
    x = L.arange(4.0).requires_grad_()
    p, q = x.chunk(2)
    p.register_hook(lambda g: note("p", g))
    q.register_hook(lambda g: g * 10)
    q.retain_grad()
    p.grad_fn.register_prehook(lambda grads: note("before", list(grads)))
    p.grad_fn.register_hook(lambda sent, received: note("after", list(sent), list(received)))
    (p * q).sum().backward()
    note(x.grad, q.grad)


def test_joined_graphs(L, note):
    """`cat` and `stack` send each input its part, also where one is a constant or is joined twice."""
    x, y = L.ones(2, requires_grad=True), L.arange(2.0)
    z = L.cat([x, y, x * 3, x])
    note(z, z.grad_fn, [n for n, _ in z.grad_fn.next_functions])
    z.backward(L.arange(8.0))
    note(x.grad, y.grad)
    w = L.stack((y, x, x), -1)
    note(w, [n for n, _ in w.grad_fn.next_functions], w._is_view())
    g = L.autograd.grad(w, x, L.ones(2, 3), create_graph=True)[0]
    note(g, g.requires_grad)


def test_alpha(L, note):
    """The nodes of sums note a factor also where there is none."""
    x, y = L.ones(2, requires_grad=True), L.ones(2)
    for t in (x + y, x - 1, 2 - x, y + x, x.add(y, alpha=2.5), y.sub(x, alpha=3), x + 1.5):
        note(t.grad_fn, t.grad_fn._saved_alpha)
