"""What becomes of a custom Function's outputs, against PyTorch: inputs and views returned, in-place
Functions, outputs apart, other things than tensors."""

from functions import exponential, leaf, made, square
from twins import graph


def kinds(L):
    """Tensors of every standing."""
    x = leaf(L)
    return (x, x * 1, x[0], (x * 1)[0], L.ones(2), L.ones(2)[1:], leaf(L, 3.0), leaf(L).detach())


def standing(t):
    return t._is_view(), t._base is None, t.requires_grad, t.is_leaf, t.output_nr, t._version


def test_an_input_as_it_is(L, note):
    same = made(L, lambda ctx, a: a, lambda ctx, g: g * 2)
    for x in kinds(L):
        z = same.apply(x)
        note(z, z is x, z._base is x, standing(z), standing(x))
        if z.requires_grad:
            note(graph(z), L.autograd.grad(z.sum(), x))
        with L.no_grad():
            z = same.apply(x)
            note(z, z is x, standing(z))


def test_a_view_of_an_input(L, note):
    view = made(L, lambda ctx, a: a.view(-1)[:1], lambda ctx, g: g * 2)
    for x in kinds(L):
        z = view.apply(x)
        note(z, standing(z), standing(x), z._base is (x if x._base is None else x._base))
        if z.requires_grad:
            note(graph(z))
        with L.no_grad():
            note(standing(view.apply(x)))


def test_views_are_not_to_be_written_to(L, note):
    for forward in (lambda ctx, a: a, lambda ctx, a: a[:1], lambda ctx, a: (a[:1], a * 2)):
        f = made(L, forward, lambda ctx, *g: None)
        for x in (leaf(L), leaf(L) * 1):
            z = f.apply(x)
            z = z[0] if isinstance(z, tuple) else z
            note.error(lambda z=z: z.mul_(2))
            note.error(lambda z=z: z.__setitem__(0, 3.0))
            with L.no_grad():
                z.mul_(2)
            note.error(lambda z=z: z.grad_fn)
        z = f.apply(L.ones(2))
        note.error(lambda z=z: (z[0] if isinstance(z, tuple) else z).mul_(2))


def test_the_base_is_written_to_after(L, note):
    for forward in (lambda ctx, a: a, lambda ctx, a: a[:1]):
        x = leaf(L)
        y = x * 1
        z = made(L, forward, lambda ctx, g: (g * 10).sum().expand(2)).apply(y)
        y.mul_(3)
        note.error(lambda z=z: z.grad_fn)
        note.error(lambda z=z: z * 2)
        note(y, z._version)
        y.sum().backward()
        note(x.grad)


def test_an_output_twice(L, note):
    def twice(ctx, a):
        b = a * 2
        return b, b

    x = leaf(L)
    f = made(L, twice, lambda ctx, g, h: (note(g, h), g + h)[1])
    a, b = f.apply(x)
    note(a is b, a, a.output_nr, b.output_nr)
    (a + b * 3).sum().backward()
    note(x.grad)
    same = made(L, lambda ctx, a: (a, a), lambda ctx, g, h: (note(g, h), g + h)[1])
    a, b = same.apply(x)
    note(a is b, standing(a), standing(b))
    (a * 2 + b * 3).sum().backward()
    note(x.grad)


def test_other_things_than_tensors(L, note):
    x = leaf(L)

    def backward(ctx, *g):
        note(*g)
        return x.detach() * 1

    for result in (3, None, "word", [1, 2], {"a": 1}, ()):
        f = made(L, lambda ctx, a, r=result: r, backward)
        note(f.apply(x))
        f = made(L, lambda ctx, a, r=result: (a * 2, r, None), backward)
        first, *rest = f.apply(x)
        note(first, rest, first.output_nr)
        first.sum().backward()
    listed = made(L, lambda ctx, a: [a * 2, a * 3], backward).apply(x)
    note(type(listed).__name__, *listed)


def test_outputs_of_other_dtypes(L, note):
    def forward(ctx, a):
        return a.long(), a > 1, a.double(), a * 1

    outs = made(L, forward, lambda ctx, *g: (note(*g), g[3])[1]).apply(leaf(L))
    note(*outs)
    note([o.output_nr for o in outs])
    outs[2].sum().backward(retain_graph=True)
    note.error(lambda: outs[0].requires_grad_())


def test_marked_as_not_differentiable(L, note):
    def forward(ctx, a, b):
        c, d, e = a * 2, a[:1], b
        ctx.mark_non_differentiable(c, d, e)
        return a * 3, c, d, e

    x, y = leaf(L), leaf(L) * 1
    outs = made(L, forward, lambda ctx, *g: (note(*g), (g[0], None))[1]).apply(x, y)
    note(*outs)
    for o in outs:
        note(standing(o), o is y)
    outs[0].sum().backward()
    note(x.grad)
    alone = made(L, lambda ctx, a: (ctx.mark_non_differentiable(a), a)[1]).apply(x)
    note(alone, alone is x, standing(alone))
    plain = L.ones(2)
    alone = made(L, lambda ctx, a, b: (ctx.mark_non_differentiable(b), b)[1]).apply(x, plain)
    note(alone, alone is plain, standing(alone))


def test_marked_as_not_differentiable_with_a_history(L, note):
    def forward(ctx, a):
        with L.enable_grad():
            b = a.detach().requires_grad_() * 2
            c = b[:1]
        ctx.mark_non_differentiable(b, c)
        return b, c, a * 2

    b, c, _ = made(L, forward, lambda ctx, *g: g[2]).apply(leaf(L))
    note(b, c, b.requires_grad, c.requires_grad)


def test_outputs_are_written_to_after(L, note):
    x = leaf(L)
    z = exponential(L).apply(x)
    z.mul_(2)
    note.error(lambda: z.sum().backward())
    z = square(L).apply(x)
    z.mul_(2)
    z.sum().backward()
    note(x.grad, graph(z))
