"""Custom Functions that write to their inputs, against PyTorch."""

import pytest
from functions import leaf, made, square
from test_function_outputs import standing
from twins import ages, graph, outcome_and_warnings

import minigrad

pytestmark = pytest.mark.quick


def doubled(L, *returns):
    """Doubles its first input in place."""

    def forward(ctx, a, *rest):
        a.mul_(2)
        ctx.mark_dirty(a)
        return a

    return made(L, forward, lambda ctx, g, *rest: (g * 2, *[None] * (len(ctx.needs_input_grad) - 1)))


def test_in_place_on_results(L, note):
    x = leaf(L)
    y = x * 3
    before = y.grad_fn
    z = doubled(L).apply(y)
    note(z is y, y, standing(y), y.grad_fn is before)
    note(graph(y))
    (y * y).sum().backward()
    note(x.grad)


def test_in_place_on_leaves(L, note):
    x = leaf(L)
    note.error(doubled(L).apply, x)
    note(x, x._version)
    with L.no_grad():
        z = doubled(L).apply(x)
        note(z, z is x, standing(z), x._version)
    plain = L.ones(2)
    z = doubled(L).apply(plain)
    note(z is plain, z, standing(z))
    z = doubled(L).apply(plain, x)
    note(z is plain, z, standing(z))
    note(graph(z))


def test_in_place_without_grad_mode(L, note):
    y = leaf(L) * 3
    with L.no_grad():
        z = doubled(L).apply(y)
        note(z is y, z, standing(z), y, y._version)


def test_in_place_clears_hooks_and_gradient(L, note):
    x = leaf(L)
    y = x * 3
    y.register_hook(lambda g: note("before", g))
    y.retain_grad()
    y.grad = L.ones(2)
    doubled(L).apply(y)
    note(y.retains_grad, y.grad)
    y.register_hook(lambda g: note("after", g))
    (y * y).sum().backward()
    note(y.grad, x.grad)


def test_in_place_on_views(L, note):
    x = leaf(L)
    y = x * 3
    v = y[1:]
    z = doubled(L).apply(v)
    note(z is v, v, y, standing(v), standing(y))
    note(graph(v))
    note(graph(y))
    (y * y).sum().backward()
    note(x.grad)


def test_in_place_on_views_of_leaves(L, note):
    x = leaf(L)
    note.error(doubled(L).apply, x[1:])
    base = L.ones(2)
    v = base[1:]
    z = doubled(L).apply(v, leaf(L))
    note(z is v, base, v)
    note(graph(base))
    base.sum().backward()


def test_in_place_on_views_with_more_outputs(L, note):
    def forward(ctx, a):
        a.mul_(2)
        ctx.mark_dirty(a)
        return a, a * 2

    f = made(L, forward, lambda ctx, g, h: g * 2 + h * 4)
    y = leaf(L) * 3
    note.error(f.apply, y[1:])
    x = leaf(L)
    y = x * 3
    a, b = f.apply(y)
    note(a is y, a, b, a.output_nr, b.output_nr)
    (a * b).sum().backward()
    note(x.grad)


def test_wrong_gradients_of_in_place_on_views(L, note):
    def forward(ctx, a, b):
        ctx.mark_dirty(a)
        return a.mul_(2)

    x = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
    for result in (
        lambda g: (g.sum(), None),
        lambda g: (L.ones(7), None),
        lambda g: (L.ones(2, 2), None),
        lambda g: (L.ones(1), None),
        lambda g: (L.ones(1, 2), None),
        lambda g: (None, g),
        lambda g: (g, L.ones(7)),
        lambda g: (g.double(), L.ones(3).double()),
        lambda g: (g, L.ones(2, 3)),
    ):
        y = x * 1
        made(L, forward, lambda ctx, g, r=result: r(g)).apply(y[1:], x)
        note.error(L.autograd.grad, y.sum(), x, None, True)
        note.error(lambda y=y: L.autograd.grad(y.sum(), x, create_graph=True))


def test_in_place_second_order(L, note):
    x = leaf(L)
    y = x * x
    doubled(L).apply(y)
    (g,) = L.autograd.grad((y * y).sum(), x, create_graph=True)
    note(g, L.autograd.grad(g.sum(), x))
    y = x * x
    doubled(L).apply(y[1:])
    (g,) = L.autograd.grad((y * y).sum(), x, create_graph=True)
    note(g, L.autograd.grad(g.sum(), x))


def test_a_view_taken_anew_as_an_input(L, note):
    x = leaf(L)
    y = x * 3
    v = y[1:]
    y.mul_(2)
    z = square(L).apply(v)
    note(graph(z), ages(z))
    z.backward(inputs=[x])
    note(x.grad)


def test_dirty_but_not_returned(L, note):
    def forward(ctx, a):
        a.mul_(2)
        ctx.mark_dirty(a)
        return a * 1

    note.error(made(L, forward).apply, leaf(L) * 1)
    note.error(made(L, forward).apply, L.ones(2))


def test_dirty_but_no_input(L, note):
    def forward(ctx, a):
        b = a * 2
        ctx.mark_dirty(b)
        return b

    z, warned = outcome_and_warnings(made(L, forward).apply, leaf(L))
    note(z, warned, z._version)


def test_written_but_not_marked(L, note):
    x = leaf(L)
    y = x * 1
    z = made(L, lambda ctx, a: a.mul_(2), lambda ctx, g: g * 2).apply(y)
    note(z is y, z, y, standing(z), standing(y))
    z.sum().backward()
    note(x.grad)


def test_saved_before_it_was_written(L, note):
    x = leaf(L)
    y = x * 1
    w = (y * y).sum()
    doubled(L).apply(y)
    note.error(w.backward)


def test_saving_what_was_written(L, note):
    def forward(ctx, a):
        ctx.save_for_backward(a)
        ctx.mark_dirty(a)
        a.exp_()
        return a

    def backward(ctx, g):
        note(*ctx.saved_tensors)
        return g * ctx.saved_tensors[0]

    for part in (lambda y: y, lambda y: y[1:]):
        x = leaf(L)
        y = x * 1
        z = made(L, forward, backward).apply(part(y))
        note(z.grad_fn, z)
        (z * z).sum().backward()
        note(x.grad)
        z = made(L, forward, backward).apply(part(x * 1))
        z.mul_(2)
        note.error(lambda z=z: z.sum().backward())


def test_a_dirty_output_warns_at_the_users_line():
    def forward(ctx, a):
        b = a * 2
        ctx.mark_dirty(b)
        return b

    f = made(minigrad, forward)
    with pytest.warns(UserWarning, match="received a tensor that was not an input") as caught:
        f.apply(leaf(minigrad))
    assert caught[0].filename == __file__
