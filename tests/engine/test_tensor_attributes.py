"""What autograd keeps on a tensor: grad, requires_grad, data, detach and their kin, against PyTorch."""

import copy
import weakref

import pytest
from functions import leaf
from twins import outcome, outcome_and_warnings

import minigrad

pytestmark = pytest.mark.quick

DTYPES = ("float16", "float64", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64", "complex128")


def test_requires_grad_takes_bools(L, note):
    x = leaf(L)
    for value in (1, 0, None, "yes", 2.0):
        note.error(setattr, x, "requires_grad", value)
        note.error(x.requires_grad_, value)
    note.error(delattr, x, "requires_grad")
    note(x.requires_grad, x.requires_grad_(False) is x, x.requires_grad, x.requires_grad_() is x)
    note(x.requires_grad_(requires_grad=False).requires_grad)


def test_requires_grad_of_integers(L, note):
    for i in (L.tensor([1, 2]), L.tensor(True), L.tensor([1, 2]) == 1):
        note.error(setattr, i, "requires_grad", True)
        note.error(i.requires_grad_)
        note.error(setattr, i, "requires_grad", False)
        note.error(i.requires_grad_, False)
        note(i.requires_grad)


def test_requires_grad_of_results(L, note):
    y = leaf(L) * 2
    note.error(setattr, y, "requires_grad", False)
    note.error(y.requires_grad_, False)
    note.error(setattr, y, "requires_grad", True)
    note(y.requires_grad_() is y, y.is_leaf, y)
    with L.no_grad():
        z = y * 2
        note(z.requires_grad_(), z.is_leaf)
        note.error(setattr, y, "requires_grad", False)
    v = z[0]
    note(v)


def test_switching_a_leaf_off_and_on(L, note):
    x = leaf(L)
    y = (x * x).sum()
    x.requires_grad = False
    note(x, (x * 2).requires_grad, x.is_leaf, y)
    y.backward()
    note(x.grad)
    x.requires_grad = True
    (x * 3).sum().backward()
    note(x.grad)


def test_what_cannot_be_written(L, note):
    x = leaf(L)
    for name in (
        "grad_fn",
        "is_leaf",
        "retains_grad",
        "_version",
        "output_nr",
        "shape",
        "dtype",
        "_base",
        "ndim",
    ):
        note(name, outcome(setattr, x, name, None)[0], outcome(delattr, x, name)[0])
    note.error(delattr, x, "data")


def test_grad_is_checked(L, note):
    x = leaf(L)
    for value in (
        3,
        "word",
        [1.0, 2.0],
        *(L.ones(2, dtype=getattr(L, d)) for d in DTYPES),
        L.ones(3),
        L.ones(2, 1),
        L.tensor(1.0),
        x,
        None,
    ):
        note.error(setattr, x, "grad", value)
        note(x.grad)


def test_grad_is_the_very_tensor(L, note):
    x = leaf(L)
    g = L.ones(2)
    x.grad = g
    note(x.grad is g, x.grad._version)
    (x * 2).sum().backward()
    note(x.grad is g, g, g._version)
    x.grad = None
    note(x.grad)
    x.grad = g
    del x.grad
    note(x.grad, g)
    del x.grad
    other = leaf(L)
    x.grad = other * 2
    note(x.grad)
    x.grad = other
    note(x.grad, x.grad is other)


def test_grad_of_a_view_of_other_memory(L, note):
    x = leaf(L)
    flat = L.zeros(4)
    x.grad = flat[1:3]
    (x * 3).sum().backward()
    note(flat, x.grad, flat._version)
    (x * 3).sum().backward()
    note(flat, x.grad)


def test_grad_of_results(L, note):
    y = leaf(L) * 2
    note(*outcome_and_warnings(lambda: y.grad))
    y.grad = L.ones(2)
    note(*outcome_and_warnings(lambda: y.grad))
    note.error(setattr, y, "grad", L.ones(3))
    del y.grad
    note(*outcome_and_warnings(lambda: y.grad))
    y.retain_grad()
    note(*outcome_and_warnings(lambda: y.grad))


def test_grad_of_tensors_that_need_none(L, note):
    x = L.tensor([1.0, 2.0])
    note(x.grad)
    x.grad = L.ones(2)
    note(x.grad, x.requires_grad)
    note.error(x.backward)


def test_retained_gradients(L, note):
    x = leaf(L)
    note(x.retains_grad, x.retain_grad(), x.retains_grad)
    note.error(L.ones(2).retain_grad)
    note(L.ones(2).retains_grad)
    y = x * 2
    note(y.retains_grad, y.retain_grad(), y.retain_grad(), y.retains_grad)
    (y * y).sum().backward(retain_graph=True)
    note(y.grad, x.grad)
    first = y.grad
    (y * y).sum().backward()
    note(y.grad, first, y.grad is first, x.grad)
    with L.no_grad():
        note((x * 2).retains_grad)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward(create_graph=True)
    note(y.grad, x.grad)


def test_detach_shares_memory_and_version(L, note):
    for x in (leaf(L), leaf(L) * 2, (leaf(L) * 2)[0], L.tensor(3.0, requires_grad=True)):
        d = x.detach()
        note(d, d._is_view(), d._base, d.requires_grad, d.is_leaf, d is x, d._version, d.grad_fn)
        d.add_(1)
        note(x, d, x._version, d._version)
        d.requires_grad_()
        note((d * 2).requires_grad)


def test_detached_leaves_have_no_gradient(L, note):
    x = leaf(L)
    x.sum().backward()
    note(x.detach().grad, x.data.grad)


def test_views_and_their_base(L, note):
    x = leaf(L)
    y = x * 2
    v = y[0]
    w = y.view(2, 1)[0]
    note(v._is_view(), v._base is y, w._base is y, y._is_view(), y._base, x._is_view(), x._base)
    note(x[0]._base is x, v.detach()._is_view(), v.data._is_view(), (v * 1)._is_view())
    with L.no_grad():
        note(x[0]._is_view(), x[0]._base is x)


def test_detach_in_place(L, note):
    x = leaf(L)
    y = x * 2
    note(y.detach_() is y, y, y.is_leaf, y.output_nr)
    note(x.detach_() is x, x)
    y = leaf(L) * 2
    v = y[0]
    note.error(v.detach_)
    note.error(L.ones(2)[0].detach_)
    z = y * 3
    y.detach_()
    z.sum().backward()
    note(z, y, y.grad)
    y = leaf(L) * 2
    y.retain_grad()
    y.detach_()
    note(y.retains_grad, y.grad, y.requires_grad_())


def test_data_has_a_version_of_its_own(L, note):
    x = leaf(L)
    d = x.data
    note(d, d is x.data, d._version, d.is_leaf)
    y = (x * x).sum()
    d.mul_(10)
    note(x, x._version, d._version)
    y.backward()
    note(x.grad)
    s = L.tensor(2.0, requires_grad=True)
    z = s * s
    s.data += 1
    note(s, s._version)
    z.backward()
    note(s.grad)


def test_data_can_be_replaced(L, note):
    x = leaf(L)
    new = L.tensor([5.0, 6.0])
    old = x.data
    x.data = new
    note(x, x._version, x.requires_grad, x.is_leaf)
    new.zero_()
    note(x, old, x._version)
    x.data.fill_(4)
    note(x, new)
    for value in (3, None, [1.0], "word"):
        note.error(setattr, x, "data", value)
    note.error(setattr, x, "data", L.tensor([1, 2]))
    x.data = L.zeros(3)
    note(x)
    x.sum().backward()
    note(x.grad)
    x.grad = None
    x.data = L.ones(2, dtype=L.float64)
    note(x)
    i = L.tensor([1, 2])
    i.data = L.tensor([1.5])
    note(i)


def test_data_of_results_can_be_replaced(L, note):
    x = leaf(L)
    y = x * 2
    y.data = L.tensor([7.0, 8.0])
    note(y, y._version, y.grad_fn)
    y.sum().backward()
    note(x.grad)


def test_data_of_a_saved_tensor_is_replaced(L, note):
    x = leaf(L)
    y = (x * x).sum()
    x.data = L.tensor([7.0, 8.0])
    y.backward()
    note(x.grad)


def test_versions(L, note):
    x = L.tensor([1.0, 2.0])
    v = x[0]
    note(x._version, v._version)
    x.add_(1)
    v.mul_(2)
    x[1] = 3.0
    note(x._version, v._version, x.detach()._version, x.data._version, x)
    with L.no_grad():
        x.zero_()
    note(x._version)
    y = leaf(L)
    (y * 2).sum().backward()
    (y * 2).sum().backward()
    note(y._version, y.grad._version)


def test_attributes_of_ones_own(L, note):
    x = leaf(L)
    x.label = "weights"
    x.parts = [1, 2]
    note(x.label, x.__dict__, (x * 2).__dict__, x.detach().__dict__)
    note(hasattr(copy.copy(x), "label"), copy.copy(x).parts is x.parts)
    d = copy.deepcopy(x)
    note(d.label, d.parts, d.parts is x.parts)
    del x.label
    note(hasattr(x, "label"))


def test_identity_and_hash(L, note):
    x, y = leaf(L), leaf(L)
    note(hash(x) == hash(x), hash(x) == hash(y), len({x, y, x}), x == y, x != y)
    note({x: 1}[x], x in {x: 1}, y in {x: 1})
    note.error(lambda: x in [y])
    note.error(lambda: bool(x == y))
    note(L.tensor(1.0) in [L.tensor(1.0)], x is x.requires_grad_())


def test_weak_references(L, note):
    x = leaf(L)
    y = x * 2
    refs = [weakref.ref(x), weakref.ref(y), weakref.ref(x.detach())]
    note([r() is None for r in refs])
    del y
    note([r() is None for r in refs])
    z = x * x
    del x
    note([r() is None for r in refs])
    del z
    note([r() is None for r in refs])


def test_gradients_of_results_warn_at_the_user():
    before = minigrad.get_dialect()
    minigrad.set_dialect("2")
    try:
        y = leaf(minigrad) * 2
        with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf") as caught:
            assert y.grad is None
        assert caught[0].filename == __file__
    finally:
        minigrad.set_dialect(before)
