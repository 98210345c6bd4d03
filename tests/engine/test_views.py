"""Views and writing through them against PyTorch."""

import pytest
from functions import leaf

import minigrad

pytestmark = pytest.mark.quick


def test_writes_through_an_element_arrive(L, note):
    b = L.tensor([1.0, 2.0, 3.0])
    e = b[0]
    e += 10
    b[1].zero_()
    b[2] = 7
    note(b, e, b._version, e._version)
    e.copy_(L.tensor(5.0))
    note(b, b._version)
    x = leaf(L, [1.0, 2.0, 3.0])
    b = x * 2
    e = b[0]
    e.mul_(10)
    note(b, e, b._version, b.grad_fn.next_functions)
    (b * b).sum().backward()
    note(x.grad)


def test_copy_slices(L, note):
    x, v = leaf(L, [1.0, 2.0, 3.0]), leaf(L, [4.0, 5.0])
    b = x * 2
    b[1:] = v * 3
    note(b, b.grad_fn, b.grad_fn.next_functions)
    b[0] = 1.5
    note(b.grad_fn.next_functions)
    (b * b).sum().backward()
    note(x.grad, v.grad)
    z = L.zeros(3)
    z[1] = x[0] * x[1]
    note(z, z.is_leaf, z._version, z.grad_fn.next_functions)
    x.grad = None
    (z * z).sum().backward()
    note(x.grad)


def test_a_view_of_a_view(L, note):
    x = leaf(L, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = x * 1
    r = b[1]
    e = r[2]
    e.mul_(100)
    note(b, r, e, b._version)
    b.t()[0].add_(1)
    b.view(6)[3:5].zero_()
    b[:, 1].exp_()
    note(b, r, b._version)
    (b * b).sum().backward()
    note(x.grad)


def test_setting_parts(L, note):
    t = L.zeros(2, 3)
    t[0] = L.tensor([1.0, 2.0, 3.0])
    t[1, 1:] = 5
    t[:, 0] = L.tensor([7.0, 8.0])
    t[..., -1] = True
    note(t, t._version)
    i = L.zeros(3, dtype=L.int64)
    i[0] = 2.9
    i[1] = L.tensor(3.9)
    note(i)
    for attempt in (
        lambda: t.__setitem__(5, 1.0),
        lambda: t.__setitem__(0, L.ones(2)),
        lambda: t.__setitem__((0, 0, 0), 1),
    ):
        note.error(attempt)


def test_a_saved_view_whose_base_was_written():
    """PyTorch's text calls the node AsStrided, as which it would derive the view again."""
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    b = x * 2
    e = b[0]
    z = e * e
    b.mul_(3)
    with pytest.raises(
        RuntimeError,
        match=r"modified by an inplace operation: \[torch.FloatTensor \[\]\].* version 1; expected",
    ):
        z.backward()


def test_a_filled_view_that_has_one_element_several_times(L, note):
    """It can be filled, but not differentiated."""
    a = L.tensor([[1.0, -0.5]], requires_grad=True) * 1
    a.expand(3, 1, 2).zero_()
    note.error(a.sum().backward)
