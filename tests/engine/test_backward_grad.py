"""`backward` and `grad` against PyTorch: every argument, every error, and what becomes of gradients."""

import types

import pytest
from functions import leaf
from twins import outcome_and_warnings

pytestmark = pytest.mark.quick


def test_what_is_no_root(L, note):
    x, c = leaf(L, 1.0, 2.0), L.tensor([1.0, 2.0])
    for roots in ([], 3, [3], None, "ab", x[:0] * 2, c, c.sum(), [x.sum(), c.sum()], L.tensor(3)):
        note.error(L.autograd.backward, roots)
        note.error(L.autograd.grad, roots, x)
    note.error(L.autograd.backward, c, c)
    note.error(L.autograd.backward, [x.sum(), c.sum()], [None, None])
    note.error(L.autograd.grad, L.autograd.grad((x * x).sum(), x)[0].sum(), x)


def test_gradients_to_start_from(L, note):
    x, c = leaf(L, 1.0, 2.0), L.tensor([1.0, 2.0])

    def attempt(roots, *given):
        x.grad = None
        note.error(L.autograd.backward, roots, *given)
        note(x.grad)

    attempt([x * 2, x * 3], [c])
    attempt([x * 2], [c, c])
    attempt([x * 2, x * 3], c)
    attempt([x * 2, x * 3], [c, c])
    for given in ([3], 3, "a", [1.0, 2.0], [None], (None, None), [c.tolist()]):
        attempt([x * 2], given)
        attempt([x.sum()], given)
    attempt([x.sum(), x.sum()], None)
    attempt([x.sum(), x.sum()], [L.tensor(3.0), None])
    attempt(x * 2)
    attempt((x * 2).sum().view(1, 1))


def test_shapes_and_dtypes_of_gradients(L, note):
    x = leaf(L, 1.0, 2.0)
    for given in (
        L.ones(3),
        L.ones(1),
        L.ones(1, 2),
        L.ones(2, dtype=L.int64),
        L.ones(2, dtype=L.float64),
        L.ones(2, dtype=L.bool),
        L.ones(2, dtype=L.complex64),
    ):
        x.grad = None
        note.error(L.autograd.backward, x * 2, given)
        note(x.grad)
    note.error(L.autograd.backward, x.sum(), L.ones(1))
    note.error(L.autograd.backward, x.sum() * 1j)


def test_inputs_of_backward(L, note):
    x, c, unused = leaf(L, 1.0, 2.0), L.tensor([1.0, 2.0]), leaf(L, 1.0, 1.0)
    for inputs in (
        [],
        {},
        x,
        (x,),
        [x, x],
        {"x": x},
        types.MappingProxyType({"x": x}),
        c,
        [3],
        3,
        [None],
        unused,
    ):
        x.grad = None
        note.error(lambda i=inputs: L.autograd.backward((x * 2).sum(), inputs=i))
        note(x.grad, unused.grad)
    note.error(lambda: (x * 2).sum().backward(inputs=[c]))


def test_roots_and_results_among_the_inputs(L, note):
    x = leaf(L, 1.0, 2.0)
    y = x * 2
    s = y.sum()
    L.autograd.backward(s, inputs=[s, y, x])
    note(s.grad, y.grad, x.grad)
    L.autograd.backward(x, L.tensor([1.0, 2.0]), inputs=[x])
    note(x.grad)
    y = x * x
    z = y * y
    L.autograd.backward(z, L.ones(2), inputs=[y])  # y's node runs as well, and frees what it saved
    note(y.grad)
    note.error(lambda: y.backward(L.ones(2)))


def test_inputs_of_grad(L, note):
    x, c, unused = leaf(L, 1.0, 2.0), L.tensor([1.0, 2.0]), leaf(L, 1.0, 1.0)
    for inputs in (
        [],
        {},
        x,
        [x, x],
        {"x": x, "y": x},
        types.MappingProxyType({"x": x}),
        c,
        3,
        [3],
        [None],
        None,
    ):
        note.error(lambda i=inputs: L.autograd.grad((x * 2).sum(), i))
    for how in (
        {},
        {"allow_unused": True},
        {"allow_unused": False},
        {"allow_unused": None},
        {"allow_unused": 1},
        {"materialize_grads": True},
        {"materialize_grads": True, "create_graph": True},
        {"materialize_grads": True, "allow_unused": True},
        {"materialize_grads": True, "allow_unused": False},
    ):
        note.error(lambda how=how: L.autograd.grad((x * x).sum(), [unused, x], **how))
    note.error(lambda: L.autograd.grad((x * 2).sum(), {"u": unused}, allow_unused=True))
    note.error(lambda: L.autograd.grad((x * 2).sum(), c, allow_unused=True))
    note(x.grad, unused.grad)


def test_flags(L, note):
    x = leaf(L, 1.0, 2.0)
    for how in (
        {"retain_graph": "a"},
        {"retain_graph": 0},
        {"create_graph": None},
        {"create_graph": "a"},
        {"create_graph": 1},
    ):
        x.grad = None
        note.error(lambda how=how: L.autograd.backward((x * x).sum(), **how))
        note(x.grad)
        note.error(lambda how=how: L.autograd.grad((x * x).sum(), x, **how))


def test_warnings_that_are_given(L, note):
    x = leaf(L, 1.0, 2.0)
    note(outcome_and_warnings(lambda: L.autograd.grad((x * 2).sum(), x, only_inputs=False)))
    note(outcome_and_warnings(lambda: L.autograd.backward(x * 2, grad_variables=L.ones(2))))
    note(outcome_and_warnings(lambda: L.autograd.backward(x * 2, L.ones(2), grad_variables=L.ones(2))))
    always = getattr(L, "set_warn_always", lambda on: None)  # PyTorch gives the next one once per process
    always(True)
    try:
        for root in ((x * 2).sum(), (x * 2)[0], L.tensor(1.0), x * 2):
            ended, warned = outcome_and_warnings(lambda root=root: root.backward(create_graph=True))
            note(ended, [(kind, text.partition(" (Triggered")[0]) for kind, text in warned])
        y = x * 2
        y.register_hook(lambda g: 1 // 0)
        note(len(outcome_and_warnings(lambda: y.sum().backward(create_graph=True))[1]))
    finally:
        always(False)


def test_one_row_at_a_time(L, note):
    x, unused = leaf(L, 1.0, 2.0), leaf(L, 1.0, 1.0)
    rows = L.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 3.0]])

    def attempt(outputs, inputs, *given, **how):
        note.error(lambda: L.autograd.grad(outputs, inputs, *given, is_grads_batched=True, **how))

    attempt(x * x, x, rows)
    attempt([x * x, x * 3], [x], [rows, rows])
    attempt(x * x, {"x": x}, rows)
    attempt(x.sum(), x, L.tensor([1.0, 2.0]))
    attempt(x * x, x, rows.double())
    attempt(x * x, [x, unused], rows)
    attempt(x * x, [x, unused], rows, allow_unused=True)
    attempt(x * x, [x, unused], rows, materialize_grads=True)
    attempt(x * x, x, L.ones(2, 3))
    attempt(x * x, x, L.tensor(1.0))
    attempt(x.sum(), x)
    attempt([x.sum(), x * 3], x, [None, rows])
    attempt([x * x, x * 3], x, [rows, L.ones(4, 2)])
    attempt(x * x, x, L.ones(0, 2))
    attempt(x * x, x, L.ones(3, 2, dtype=L.complex64))
    y = x * x * x
    attempt(y, x, rows)
    attempt(y, x, rows)
    y = x * x * x
    attempt(y, x, rows, retain_graph=True)
    attempt(y, x, rows)


def test_rows_with_a_graph(L, note):
    x = leaf(L, 1.0, 2.0)
    rows = L.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    (g,) = L.autograd.grad(x * x * x, x, rows, is_grads_batched=True, create_graph=True)
    note(g.detach(), g.requires_grad)
    note(L.autograd.grad(g.sum(), [x, rows]))


def test_integers_constants_and_cuts(L, note):
    x = leaf(L, 1.0, 2.0)
    index = L.tensor([1, 0])
    note.error(lambda: L.autograd.backward((x * 2).long().sum()))
    y = (x * 2).detach() * x + index
    note(y, L.autograd.grad(y.sum(), x))
    note.error(lambda: L.autograd.grad(y.sum(), index))
    note.error(lambda: L.autograd.grad((x.detach() * 2).sum(), x))
    with L.no_grad():
        z = x * 3
    note.error(lambda: z.sum().backward())
    w = (x * x).sum()
    with L.no_grad():
        w.backward()
        note(L.autograd.grad((x * 2).sum(), x) if (x * 2).requires_grad else None)
    note(x.grad)


def test_where_a_gradient_is_kept(L, note):
    """In place or out of place, and whose memory."""
    x = leaf(L, 1.0, 2.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 2).sum().backward()
    note(x.grad is first, first, x.grad.requires_grad)
    (x * x).sum().backward(create_graph=True)
    note(x.grad is first, first, x.grad)
    second = x.grad
    (x * 2).sum().backward()
    note(x.grad is second, x.grad.grad_fn is second.grad_fn)
    kept = []
    x.grad = None
    handle = x.register_hook(kept.append)
    (x * 2).sum().backward()
    x.grad.zero_()
    note(kept, x.grad)
    handle.remove()
    x.grad = None
    given = L.tensor([5.0, 6.0])
    x.backward(given)
    x.grad.zero_()
    note(given)
    x.grad = L.tensor([1.0, 1.0])
    mine = x.grad
    (x * 2).sum().backward()
    note(mine, mine._version)


def test_dtype_of_a_gradient(L, note):
    x = L.tensor([1.0, 2.0], dtype=L.float64, requires_grad=True)
    y = leaf(L, 3.0, 4.0)
    (x * y).sum().backward()
    note(x.grad, y.grad)
    (x.float() * y).sum().backward()
    note(x.grad, y.grad)
    note(L.autograd.grad((x * y).float().sum(), [x, y]))


def strides(t):
    return t.stride() if hasattr(t, "stride") else tuple(s // t._data.itemsize for s in t._data.strides)


def test_layout_of_a_gradient(L, note):
    """Like the leaf's if that is without gaps, else row by row."""

    def layouts(make, *gradients):
        for gradient in gradients:
            w = make()
            w.backward(gradient)
            note(strides(w), strides(w.grad))
        w = make()
        (w * 2).sum().backward()
        note(strides(w.grad))
        w = make()
        (w * w).sum().backward(create_graph=True)
        note(strides(w.grad))

    layouts(lambda: L.ones(2, 3).t().requires_grad_(), L.ones(3, 2), L.ones(2, 3).t())
    layouts(lambda: L.ones(2, 3).requires_grad_(), L.ones(2, 3), L.ones(3, 2).t())
    layouts(lambda: L.ones(3, 1).expand(3, 4).requires_grad_(), L.ones(4, 3).t())
    layouts(lambda: L.ones(4, 3)[1:3].t().requires_grad_(), L.ones(3, 2))
    layouts(lambda: L.ones(2, 3)[:, :2].requires_grad_(), L.ones(2, 2).t())
