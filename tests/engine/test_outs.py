"""`out=`: results written into tensors that are there already, against PyTorch."""

import re
import warnings

import own_texts
import pytest
from calls import each
from opinfo_checks import words
from twins import dialect

import minigrad

CALLS = """
add(x, 1, out=f(0)) | add(x, 1, out=f(2, 3)) | add(x, 1, out=f(3)) | add(x, 1, out=n(0))
add(x, 1, out=d(0)) | add(x, i, alpha=2, out=f(0)) | exp(g, out=f(0)) | exp(x, out=g) | exp(x, out=None)
exp(x, out=3) | exp(x, out=(f(0),)) | exp(x, f(0)) | mul(x, x, out=x) | eq(g, g, out=f(0))
argmax(g, out=n(0)) | relu(x, out=f(0)) | sum(x, 0, out=d(0)) | sum(x, 0, dtype=L.float64, out=f(0))
mean(x, 0, out=d(0)) | mean(i, 0, out=d(0)) | prod(x, 0, out=n(0)) | cumsum(x, 0, out=d(0))
cumsum(x, 0, out=n(0)) | std(x, 0, out=d(0)) | matmul(x, x.mT, out=f(0)) | matmul(x, x.mT, out=d(0))
mm(x, x.mT, out=n(0)) | dot(x[0], x[0], out=f(0)) | addmm(x[:, :2], x, x.mT, out=f(0))
outer(x[0], x[0], out=d(0)) | bmm(x[None], x.mT[None], out=f(0)) | cat([x, x], out=f(0))
cat([x, x], out=n(0)) | cat([x, x], out=d(0)) | stack([x, x], out=d(0)) | stack([x, x], out=n(0))
arange(5, out=f(0)) | arange(5.5, out=n(0)) | arange(5, out=f(0), dtype=L.int64) | zeros(3, out=n(0))
ones(3, out=n(0), dtype=L.float32) | full((2,), 1.5, out=n(0)) | eye(2, out=n(0))
linspace(0, 1, 3, out=d(0)) | rand(2, out=d(0)) | randn(2, out=d(0)) | randint(5, (2,), out=f(0))
randperm(3, out=f(0)) | ones(2, 3, out=f(0), requires_grad=True) | rand(2, out=n(0))
sort(x, out=(f(0), n(0))) | sort(x, out=(d(0), n(0))) | sort(x, out=(f(0), f(0))) | sort(x, out=f(0))
topk(x, 2, out=(f(0), n(0))) | max(x, 0, out=(f(0), n(0))) | max(x, 0, out=(f(0), f(0)))
max(x, x, out=f(0)) | max(x, out=f(0)) | median(x, 0, out=(f(0), n(0)))
argmax(x, 0, out=f(0)) | amax(x, 0, out=d(0)) | isfinite(x, out=f(0)) | where(x > 0, x, x, out=f(0))
gather(x, 0, i * 0, out=f(0)) | gather(x, 0, i * 0, out=d(0)) | add(x[0, :2], 1, out=x[0, 1:])
any(x > 0, out=f(0)) | div(i, 2, out=f(0)) | div(i, 2, out=n(0)) | clamp(x, 0, 2, out=f(0))
sigmoid(i, out=n(0)) | softmax(x, 0, out=d(0)) | nonzero(x, out=n(0)) | tril(x, out=f(0))
norm(x, 2, 0, out=f(0)) | take(x, i * 0, out=f(0))
einsum('ij->i', x, out=f(0)) | add(x, 1, out=w[1:]) | add(x, 1, out=w.mT[:, :3])
"""


def ended(library, call):
    """What a call returns, or its error, and the warnings on the way."""
    given = {
        "L": library,
        "x": library.tensor([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]),
        "i": library.tensor([[3, 1, 2], [4, 6, 5]]),
        "g": library.ones(2, 3, requires_grad=True),
        "w": library.zeros(3, 3),
        "f": library.empty,
        "n": lambda *size: library.empty(*size, dtype=library.int64),
        "d": lambda *size: library.empty(*size, dtype=library.float64),
    }
    with warnings.catch_warnings(record=True) as caught, dialect("2"):
        warnings.simplefilter("always")
        library.manual_seed(0)
        try:
            result = re.sub("minigrad", "torch", repr(eval("L." + call, given)))
        except Exception as error:
            result = f"{type(error).__name__}: {words(error)}"
    return result, given["w"].tolist(), [str(w.message).partition(" (Triggered")[0] for w in caught]


@pytest.mark.quick
def test_as_in_pytorch(torch):
    for call in each(CALLS):
        ours, theirs = ended(minigrad, call), ended(torch, call)
        assert own_texts.alike(ours, theirs), (call, ours, theirs)


def test_the_very_tensor(L, note):
    x, out = L.arange(4.0), L.empty(4)
    before = out
    note(L.exp(x, out=out) is before, out, out._version, out.is_leaf)
    view = L.zeros(2, 4)
    L.add(x, 1, out=view[1])
    note(view, view._version)
    values, indices = L.empty(0), L.empty(0, dtype=L.int64)
    pair = L.sort(x, descending=True, out=(values, indices))
    note(pair.values is values, pair[1] is indices, values, indices)


def test_outside_the_graph(L, note):
    w = L.ones(3, requires_grad=True)
    with L.no_grad():
        L.mul(w, 2, out=w)
        note(w, w.grad_fn, L.exp(w, out=L.empty(3)))
    note.error(lambda: L.mul(w, 2, out=L.empty(3)))
    note.error(lambda: L.mul(w.detach(), 2, out=(w * 1)))


def test_resizing(L, note):
    t = L.arange(6.0)
    note(t.resize_(2, 2) is t, t, t._version, t.resize_(6), t.resize_(8)[:6], t.resize_([2]).stride())
    part = L.arange(6.0)[2:]
    note(part.resize_(2), part.resize_(3, 1), L.empty(0).resize_(2, 0).shape)
    g = L.ones(2, requires_grad=True)
    for t in (g, g * 2):
        note.error(lambda t=t: t.resize_(3))
    note.error(lambda: L.ones(2).resize_("a"))
    note.error(lambda: L.ones(2).resize_())
