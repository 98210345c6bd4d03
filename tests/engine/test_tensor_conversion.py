"""From tensors to Python and NumPy and back, against PyTorch."""

import numpy as np
import pytest
from functions import leaf
from twins import outcome

import minigrad

pytestmark = pytest.mark.quick


def test_memory_is_shared_with_numpy(L, note):
    t = L.tensor([1.0, 2.0, 3.0])
    a = t.numpy()
    a[0] = 10.0
    note(t, a.dtype.name, t._version)
    t.add_(1)
    note(a.tolist(), t._version)
    s = L.tensor(2.0)
    b = s.numpy()
    b += 5
    s.mul_(2)
    note(s, b.tolist(), b.shape)
    v = t[1:].numpy()
    v[:] = 7
    note(t)
    c = np.asarray(t)
    c[2] = -1
    note(t, np.array(t).tolist(), np.asarray(t, dtype="int64").tolist())


def test_numpy_of_what_needs_gradients(L, note):
    x = leaf(L)
    for t in (x, x * 2, x[0], leaf(L, 1.0, 2.0)):
        note.error(t.numpy)
        note.error(lambda t=t: np.asarray(t))
        note.error(lambda t=t: t.__array__())
        note(t.numpy(force=True).tolist(), t.detach().numpy().tolist())
    x.detach().numpy()[0] = 9.0
    note(x, x._version)
    note(outcome(x.numpy, True)[0])
    with L.no_grad():
        note.error(x.numpy)
    x.grad = L.ones(2)
    x.grad.numpy()[0] = 5.0
    note(x.grad)


def test_from_numpy_shares(L, note):
    a = np.array([1.0, 2.0, 3.0])
    t = L.from_numpy(a)
    t.mul_(2)
    a[0] = -1
    note(t, a.tolist(), t._version)
    w = L.from_numpy(a[::2])
    w.zero_()
    note(a.tolist(), w.stride(), w)
    t = L.from_numpy(np.array([1.0, 2.0], dtype="float32")).requires_grad_()
    (t * t).sum().backward()
    note(t.grad)
    for wrong in (3, [1.0], np.array(["a"])):
        note(outcome(L.from_numpy, wrong)[0])


def test_numbers(L, note):
    x = leaf(L)
    for t in (x[0], x.detach()[0], L.tensor(2), L.tensor(True), L.tensor([3.0]), L.tensor([[4]])):
        for kind in (float, int, complex, bool, str):
            note(kind.__name__, outcome(kind, t))
        note(t.item(), t.tolist(), type(t.item()).__name__, f"{t}")
    for t in (x, L.ones(0), L.ones(2, 2)):
        for kind in (float, int, complex, bool):
            note(outcome(kind, t))
        note.error(t.item)
        note(t.tolist())


def test_formats(L, note):
    for t in (L.tensor(2.5), L.tensor(3), L.tensor(2.5, requires_grad=True), leaf(L, 2.0) * 2):
        note.error(lambda t=t: f"{t:.1f}")
        note.error(lambda t=t: f"{t}")
        note.error(lambda t=t: f"{t:10}")
        note.error(lambda t=t: f"{t!r}")
        note.error(lambda t=t: "%d" % t)  # noqa: UP031


def test_types(L, note):
    names = ("float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool", "complex64")
    x = leaf(L)
    for name in names:
        t = L.ones(2, dtype=getattr(L, name))
        note(t.type(), t.type(L.float32), L.ones(2).type(getattr(L, name)).type(), t.cpu() is t)
    note(x.type(L.float64), x.type(L.float32) is x, type(x).__name__)


def test_indices(L, note):
    items = ["a", "b", "c"]
    for t in (
        L.tensor(1),
        L.tensor([2]),
        L.tensor(1.0),
        L.tensor([1, 2]),
        L.tensor(True),
        L.tensor(1, dtype=L.uint8),
    ):
        note.error(lambda t=t: items[t])
        note.error(lambda t=t: list(range(t)))


def test_a_float_of_what_needs_a_gradient_warns():
    x = minigrad.tensor(2.0, requires_grad=True)
    before = minigrad.get_dialect()
    try:
        minigrad.set_dialect("2")
        with pytest.warns(
            UserWarning, match="Converting a tensor with requires_grad=True to a scalar"
        ) as caught:
            assert float(x) == 2.0
        assert caught[0].filename == __file__
    finally:
        minigrad.set_dialect(before)
