"""Indexing, gathering and scattering against PyTorch: what calls give, their errors, what they leave in the
graph, and what is saved for backward.
"""

import warnings

import numpy as np
import own_texts
import pytest
from calls import assert_same_ends, each
from index_calls import ASSIGNMENTS, CALLS, KEYS, OF_A_NUMBER
from twins import dialect, is_tensor, outcome

import minigrad


def readable(thing):
    """What a call gave: of tensors what can be seen of them, everything else as it is."""
    if is_tensor(thing):
        shape, kind = list(thing.shape), str(thing.dtype).rpartition(".")[2]
        return thing.tolist(), shape, kind, thing._is_view(), thing.grad_fn and thing.grad_fn.name()
    if isinstance(thing, tuple) and any(is_tensor(t) for t in thing):
        return [readable(t) for t in thing]
    return thing


def namespace(L):
    """The tensors that the calls are about."""
    return {
        "L": L,
        "N": L.nn.functional,
        "T": L.tensor,
        "np": np,
        "x": L.arange(12.0).view(3, 4).clone(),
        "n": L.tensor(3.0),
        "s": L.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]),
        "i": L.tensor([2, 0]),
        "g": L.tensor([[0, 1], [2, 3]]),
    }


def both(torch, run):
    """The same in both libraries: equal."""
    with dialect("2"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (readable(outcome(run, namespace(L))) for L in (minigrad, torch))
    assert own_texts.alike(ours, theirs)


@pytest.mark.quick
@pytest.mark.parametrize("learned", [False, True])
def test_part(torch, learned):
    def learning(L):
        names = namespace(L)
        names["x"].requires_grad_(learned)
        return names

    assert_same_ends(torch, "\n".join(f"x[{key}]" for key in each(KEYS)), learning, readable)


def test_part_of_a_number(torch):
    assert_same_ends(torch, "\n".join(f"n[{key}]" for key in each(OF_A_NUMBER)), namespace, readable)


@pytest.mark.quick(30)
@pytest.mark.parametrize("statement", each(ASSIGNMENTS))
@pytest.mark.parametrize("learned", [False, True])
def test_assignment(torch, statement, learned):
    def run(names):
        leaf = names["x"].requires_grad_(learned)
        names["x"] = leaf * 1
        names["s"].requires_grad_(learned)
        exec(statement, names)
        x = names["x"]
        node = x.grad_fn and x.grad_fn.name()
        if learned:
            (x * names["L"].arange(12.0).view(3, 4)).sum().backward()
        sent = [t.grad is not None and t.grad.tolist() for t in (leaf, names["s"])]
        return x.tolist(), node, x._version, sent

    both(torch, run)


@pytest.mark.quick
def test_calls(torch):
    assert_same_ends(torch, CALLS, namespace, readable)


def test_saved_indices(L, note):
    x = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
    i = L.tensor([2, 0])
    y = x[i]
    note([t.tolist() for t in y.grad_fn._saved_indices], y.grad_fn._saved_self_sym_sizes)
    z = x.view(3, 1)[:, None][i]
    note([t.tolist() for t in z.grad_fn._saved_indices], tuple(z.shape))
    y.sum().backward()
    note.error(lambda: y.sum().backward())
    note.error(lambda: y.grad_fn._saved_indices)


def test_changed_indices(L, note):
    x = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
    i = L.tensor([2, 0])
    parts = [x[i], x.gather(0, i), x.index_select(0, i), x.take(i), (x * 1).index_fill_(0, i, 1.0)]
    parts.append((x * 1).index_put((i,), x[0]))
    i.add_(0)
    for part in parts:
        note.error(lambda part=part: part.sum().backward())


def test_hooks_see_indices(L, note):
    x = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
    i = L.tensor([2, 0])

    def pack(t):
        note("packed", t.tolist())
        return t.tolist()

    def unpack(kept):
        note("unpacked", kept)
        return L.tensor(kept)

    with L.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x[i] * 1
        z = x.view(3, 1)[i, L.tensor([0, 0])]
    (y.sum() + z.sum()).backward()
    note(x.grad)


def test_gradients_that_do_not_fit(L, note):
    x = L.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    src = L.tensor([[4.0, 5.0, 6.0]], requires_grad=True)
    g = L.tensor([[0, 1]])
    for y in (x.scatter(1, g, src), x.scatter_add(1, g, src)):
        note(y, y.grad_fn.name())
        note.error(lambda y=y: y.sum().backward())


def test_leaves_are_not_written_to(L, note):
    x = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
    i = L.tensor([2, 0])
    for write in (
        lambda: x.__setitem__(0, 1.0), lambda: x.__setitem__(i, 1.0), lambda: x.index_add_(0, i, x[:2]),
        lambda: x.scatter_(0, i, 1.0), lambda: x.masked_fill_(x > 1, 0.0), lambda: x.put_(i, x[:2]),
    ):  # fmt: skip
        note.error(write)


def test_views_are_written_through(L, note):
    x = L.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    row = y[0]
    row[L.tensor([1])] = 7.0
    y.t()[L.tensor([True, False])] = row.clone()
    note(y, y.grad_fn.name(), row, row.grad_fn.name())
    (y * y).sum().backward()
    note(x.grad)


def test_duals(L, note):
    ad = L.autograd.forward_ad
    i = L.tensor([2, 0])
    with ad.dual_level():
        d = ad.make_dual(L.tensor([1.0, 2.0, 3.0]), L.tensor([1.0, 10.0, 100.0]))
        for change in (
            lambda y: y.__setitem__(i, d[:2]), lambda y: y.__setitem__(y > 1.5, 0.0),
             lambda y: y.index_fill_(0, i, 2.0),
            lambda y: y.index_add_(0, i, d[1:], alpha=3), lambda y: y.masked_scatter_(y > 1.5, d),
        ):  # fmt: skip
            y = d * 1
            change(y)
            note(y.detach(), ad.unpack_dual(y).tangent)
        note(ad.unpack_dual(d[i] * d[d > 1.5]).tangent)


def test_batches(L, note):
    x = L.arange(6.0).view(2, 3)
    places = L.tensor([[0, 2], [1, 1]])
    mask = L.tensor([True, False, True])
    note(L.vmap(lambda t: t[mask])(x), L.vmap(lambda t, k: t[k])(x, places))
    note(L.vmap(lambda t, k: t.gather(0, k))(x, places), L.func.jacrev(lambda t: t[:, mask])(x))
    for f in (lambda t: t[t > 1], lambda t: x[0][t > 1], lambda t: t.nonzero(), lambda t: L.where(t > 1)):
        note.error(lambda f=f: L.vmap(f)(x))


def test_not_a_number(L, note):
    nan = float("nan")
    x = L.tensor([1.0, nan, 3.0])
    note(L.nonzero(x).tolist(), L.where(x > 1, x, 0.0).isnan().tolist())
