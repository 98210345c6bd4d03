"""Scalars that were modified in place, as the parameters of a first gradient descent are, and scalars beside
arrays. In both libraries.
"""

import minigrad
from minigrad.core import elementwise as calls


def updated(L, value=0.5, dtype=None):
    """A leaf that an optimizer has changed."""
    w = L.tensor(value, requires_grad=True, dtype=dtype)
    with L.no_grad():
        w -= 0.25
    return w


def test_descents(L, note):
    for forget in (lambda t: t.grad.zero_(), lambda t: setattr(t, "grad", None)):
        w, b = L.tensor(0.5, requires_grad=True), L.tensor(0.1, requires_grad=True)
        for _ in range(4):
            loss = 0
            for x, y in ((0.5, 1.0), (-1.0, 2.0), (2.0, 4.0)):
                loss = loss + (w * x + b - y) ** 2 + (b / (w + 3)).exp() - L.sin(w)
            loss.backward()
            with L.no_grad():
                w -= 0.1 * w.grad
                b -= 0.1 * b.grad
            note(w, b, w.grad, b.grad, w._version, b._version)
            forget(w)
            forget(b)


def test_beside_arrays(L, note):
    for w in (L.tensor(0.5, requires_grad=True), updated(L)):
        x = L.tensor([[1.0, 2.0], [3.0, -4.0]], requires_grad=True)
        for call in (
            lambda w, x: w * x + w,
            lambda w, x: x / w - x,
            lambda w, x: w - x,
            lambda w, x: L.maximum(w, x) + L.atan2(x, w),
            lambda w, x: w * L.tensor([1.0, 2.0]),
            lambda w, x: L.ones(0) * w,
        ):
            y = call(w, x)
            y.sum().backward(retain_graph=True)
            note(y, w.grad, x.grad, y.grad_fn.name(), y.grad_fn(L.ones_like(y)))
            (g,) = L.autograd.grad((y * y).sum(), w, create_graph=True)
            note(g, L.autograd.grad(g, w, allow_unused=True))


def test_of_several_dtypes(L, note):
    for mine in (L.float32, L.float64):
        for other in (L.float32, L.float64, L.int64):
            w, x = updated(L, dtype=mine), L.tensor([1, 2], dtype=other)
            for y in (w * x, x * w, w * x[1], w * L.tensor(3, dtype=other), w.double() * w):
                w.grad = None
                y.sum().backward()
                note(y, w.grad)


def test_what_a_node_saved(L, note):
    w, x = updated(L), L.tensor(3.0)
    x += 1
    y = w * x
    z = w * w
    note(y.grad_fn._saved_other, y.grad_fn._saved_self, z.grad_fn._saved_other, z.grad_fn._saved_self)
    y.backward(retain_graph=True)
    note(w.grad)
    with L.no_grad():
        w += 1
    note.error(lambda: z.grad_fn._saved_self)
    y.backward(retain_graph=True)  # it needs x alone
    x += 1
    note.error(y.backward)


def test_written_to_in_between(L, note):
    w, v = updated(L), updated(L, 2.0)
    y = w * v + w.exp()
    with L.no_grad():
        v.mul_(2)
    note.error(y.backward)
    w, v = updated(L), updated(L, 2.0)
    y = w * v
    v.data.mul_(2)  # which is not counted
    y.backward()
    note(w.grad, v.grad)
    w = updated(L)
    y = w * w
    w.data = L.tensor(7.0)
    y.backward()
    note(w.grad)


def test_elements(L, note):
    p = L.tensor([0.5, 0.1, 2.0], requires_grad=True)
    for _ in range(3):
        y = (p[0] - 1) ** 2 + (p[1] - p[0] * p[0]) * p[2] + sum(t * p[2] for t in p)
        y.backward()
        note(y, p.grad)
        with L.no_grad():
            p -= 0.1 * p.grad
        p.grad = None
    x = L.tensor([1.0, 2.0])
    w = updated(L)
    y = sum(w * t for t in x)
    y.backward(retain_graph=True)
    note(w.grad)
    x[0] = 5.0
    note.error(y.backward)
    q = L.tensor([1.0, 2.0], requires_grad=True) * 1
    first = q[0]
    y = first * w
    q[0] = 3.0
    note(first, (first * w).grad_fn.next_functions[0][0].name())
    note.error(y.backward)


def test_second_derivatives(L, note):
    w, v = updated(L), updated(L, 2.0)
    y = w**3 * v + (w / v).tanh() * v
    first = L.autograd.grad(y, (w, v), create_graph=True)
    note(first, first[0].grad_fn.name())
    for g in first:
        note(L.autograd.grad(g, (w, v), retain_graph=True))


def test_arrays_without_dimensions(L, note):
    """What comes from views of numbers."""
    for value in (0.5, -0.5):
        x = L.tensor(value, requires_grad=True)
        y = L.relu(x).permute(())
        (g,) = L.autograd.grad(y, x, L.ones(1)[0], create_graph=True)
        note(y, g, g.grad_fn.name(), L.relu(x.view(())), L.autograd.grad(L.relu(x.view(())), x))


def test_conjugates_and_negatives(L, note):
    c = L.tensor(1 + 2j, requires_grad=True)
    part, x = c.conj().imag, updated(L)
    y = part * x
    note(y, part)
    y.backward()
    note(c.grad, x.grad)


def test_a_descent_goes_no_general_way(monkeypatch):
    """Nor does it after the first step."""
    w, x = updated(minigrad), minigrad.tensor([1.0, 2.0])

    def step():
        loss = ((w * x - 1) * w).sum() + (w * 2 - 1) ** 2 + x[0] * w
        loss.backward()
        with minigrad.no_grad():
            w.sub_(0.1 * w.grad)
        w.grad = None

    step()
    general, compute = [], calls.compute

    def counted(op, values):
        general.append(op.name)
        return compute(op, values)

    monkeypatch.setattr(calls, "compute", counted)
    step()
    assert general == []
    w * minigrad.tensor(2)  # of another dtype
    assert general == ["mul"]
