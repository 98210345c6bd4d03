"""Copies and pickles of tensors; Parameters; subclasses of Tensor; against PyTorch."""

import copy
import pickle

import pytest
from functions import leaf
from twins import outcome, outcome_and_warnings

import minigrad

pytestmark = pytest.mark.quick


def loaded(t, protocol=pickle.DEFAULT_PROTOCOL):
    return pickle.loads(pickle.dumps(t, protocol))


def attributes_of(t):
    return t, type(t).__name__, t.is_leaf, t.grad, t._version, t.stride(), t.storage_offset(), t._base


def test_copies(L, note):
    x = leaf(L)
    x.sum().backward()
    c = copy.copy(x)
    note(c, c is x, c.grad, c.is_leaf, c._version)
    c.detach().add_(1)
    note(x, c)
    d = copy.deepcopy(x)
    note(d, d.grad, d.grad is x.grad, d.is_leaf, d._version)
    d.detach().add_(1)
    note(x, d)
    note(type(d).__name__)


def test_deep_copies_of_results(L, note):
    y = leaf(L) * 2
    note.error(copy.deepcopy, y)
    note.error(copy.deepcopy, [y])
    note(copy.deepcopy(y.detach()))
    with L.no_grad():
        note(copy.deepcopy(leaf(L) * 2))


def test_deep_copies_of_containers(L, note):
    x = leaf(L)
    shared = {"a": x, "b": [x, x.detach()], "view": x.detach()[1:]}
    d = copy.deepcopy(shared)
    note(d["a"] is d["b"][0], d["a"] is x, d["b"][1], d["view"], d["view"]._is_view())
    d["a"].detach().zero_()
    note(d["a"], d["b"][1], d["view"], x)


def test_deep_copies_of_views(L, note):
    base = L.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for v in (base[0], base[:, 1], base.t(), base[1, 2], base.view(6)[1:5]):
        d = copy.deepcopy(v)
        note(d, d._is_view(), d._base, d.stride(), d.storage_offset(), d.is_contiguous())


def test_leaves_in_all_protocols(L, note):
    for t in (leaf(L), L.tensor(3.0, requires_grad=True), L.ones(2, 3), L.tensor([1, 2]), L.tensor(True)):
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            note(*attributes_of(loaded(t, protocol)))


def test_empty_tensors(L, note):
    for t in (L.ones(0), L.ones(2, 0), L.ones(3)[1:1]):
        note(loaded(t), copy.copy(t), copy.deepcopy(t))


def test_gradients_are_not_pickled(L, note):
    x = leaf(L)
    x.sum().backward()
    note(loaded(x), loaded(x).grad, loaded(x.grad))


def test_results(L, note):
    y = leaf(L) * 2
    note(*attributes_of(loaded(y)))
    note(*attributes_of(loaded(y.detach())))
    note(*attributes_of(copy.copy(y)))


def test_views(L, note):
    base = L.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for v in (
        base[0],
        base[:, 1],
        base.t(),
        base[1, 2],
        base.view(6)[1:5],
        base[:, ::2],
        L.ones(1).expand(3),
    ):
        for made in (loaded(v), copy.copy(v), copy.deepcopy(v)):
            note(*attributes_of(made))
            made.add_(1) if v.stride() != (0,) else None
            note(v, made, made._version, v._version)
    note(base)


def test_conjugates_and_negatives(L, note):
    z = L.tensor([1 + 2j, 3 - 1j])
    for t in (z.conj(), z.conj().imag, z.imag):
        for made in (loaded(t), copy.copy(t), copy.deepcopy(t)):
            note(made.is_conj(), made.is_neg())
            note(L.view_as_real(made.resolve_conj()) if made.is_complex() else made)


def test_several_at_once(L, note):
    x = leaf(L)
    d = loaded({"x": x, "again": x, "list": [x, x * 2]})
    note(d["x"] is d["again"], d["list"][0] is d["x"], d["list"][1], d["x"])


def test_noted_attributes(L, note):
    x = leaf(L)
    x.label, x.parts = "weights", [1]
    y = loaded(x)
    note(y.label, y.parts, y.parts is x.parts, y)


def test_hooks_stay(L, note):
    x = leaf(L)
    x.register_hook(print)
    y, warned = outcome_and_warnings(loaded, x)
    note(y, warned)
    y, warned = outcome_and_warnings(copy.copy, x)
    note(y, warned)
    y, warned = outcome_and_warnings(copy.deepcopy, x)
    note(y, warned)
    z = x * 2
    z.register_hook(print)
    note(outcome_and_warnings(loaded, z))


def test_dtypes_and_shapes(L, note):
    note(loaded(L.float32) is L.float32, loaded(L.int64) is L.int64, loaded(L.bool) is L.bool)
    size = loaded(L.ones(2, 3).shape)
    note(type(size).__name__, size, size.numel(), copy.deepcopy(L.ones(2).shape), copy.copy(L.ones(2).shape))


def test_parameters(L, note):
    t = L.tensor([1.0, 2.0])
    p = L.nn.Parameter(t)
    note(p, repr(p), type(p).__name__, p.is_leaf, isinstance(p, L.nn.Parameter), isinstance(p, L.Tensor))
    note(p is t)
    t.add_(1)
    note(p, p._version, t._version, p._is_view(), p._base)
    note(L.nn.Parameter(t, False), L.nn.Parameter(t, requires_grad=False), L.nn.Parameter(data=t))
    note(p * 2, type(p * 2).__name__, type(p.detach()).__name__, type(p.data).__name__, type(p[0]).__name__)
    note(type(p.requires_grad_()).__name__, L.is_tensor(p), str(p))
    (p * 2).sum().backward()
    note(p.grad, type(p.grad).__name__)


def test_parameters_of_other_things(L, note):
    note.error(L.nn.Parameter, L.tensor([1, 2]))
    note(L.nn.Parameter(L.tensor([1, 2]), False))
    note(L.nn.Parameter(), L.nn.Parameter().numel())
    x = leaf(L)
    note(L.nn.Parameter(x * 2), L.nn.Parameter(x), L.nn.Parameter(L.nn.Parameter(x)))
    for thing in ([1.0, 2.0], 3.0, "word"):
        note(outcome(L.nn.Parameter, thing))


def test_copies_of_parameters(L, note):
    p = L.nn.Parameter(L.tensor([1.0, 2.0]))
    (p * 3).sum().backward()
    p.label = "weights"
    for made in (copy.copy(p), copy.deepcopy(p), loaded(p)):
        note(made, type(made).__name__, made.grad, made.is_leaf, hasattr(made, "label"), made._version)
        made.detach().add_(1)
        note(p)
    a, b = copy.deepcopy([p, p])
    note(a is b, a is p)
    note(copy.deepcopy(L.nn.Parameter(L.ones(2), False)))


def test_subclasses_of_parameter(L, note):
    class Mine(L.nn.Parameter):
        pass

    p = Mine(L.tensor([1.0, 2.0]))
    note(type(p).__name__, p.requires_grad, isinstance(p, L.nn.Parameter))
    (p * 2).sum().backward()
    note(p.grad, type(copy.deepcopy(p)).__name__)


class Named(minigrad.Tensor):
    """A subclass with a method of its own."""

    def doubled(self):
        return self * 2


def test_subclasses_of_tensor_are_leaves_of_their_class():
    t = Named([1.0, 2.0]).requires_grad_()
    assert type(t) is Named and type(t.doubled()) is minigrad.Tensor
    t.doubled().sum().backward()
    assert t.grad.tolist() == [2.0, 2.0]
    assert type(copy.deepcopy(t)) is Named and copy.deepcopy(t).grad.tolist() == [2.0, 2.0]
    assert type(loaded(t)) is Named and loaded(t).requires_grad
