"""Where the short way of a custom Function's call and backward ends: as in PyTorch on both sides of it."""

from collections import namedtuple

from functions import leaf, made
from twins import graph

Pair = namedtuple("Pair", "a b")


def test_several_outputs(L, note):
    t = L.ones(2)
    for forward in (
        lambda ctx, x: (x * 2, x * 3),
        lambda ctx, x: (t, t),
        lambda ctx, x: Pair(x * 2, x * 3),
        lambda ctx, x: (x * 2, None),
        lambda ctx, x: (x * 2, L.tensor([1, 2])),
        lambda ctx, x: (x * 2, x),
    ):
        x = leaf(L)
        results = made(L, forward, lambda ctx, g, h: g).apply(x)
        note(type(results).__name__, results)
        note([(r.requires_grad, r.output_nr) for r in results if isinstance(r, L.Tensor)])
        note(graph(results[0]), L.autograd.grad(results[0].sum(), x))
    note(made(L, lambda ctx, x: ()).apply(leaf(L)))


def test_a_leaf_from_elsewhere(L, note):
    for grad_mode in (True, False):
        other = leaf(L)
        with L.set_grad_enabled(grad_mode):
            z = made(L, lambda ctx, x, other=other: other).apply(leaf(L))
        note(z is other, z.is_leaf, z.requires_grad)


def test_modes_are_as_before(L, note):
    def forward(ctx, x):
        note(L.is_grad_enabled())
        L.set_grad_enabled(True)
        return x * 2

    def backward(ctx, g):
        note(L.is_grad_enabled())
        L.set_grad_enabled(True)
        return g

    f = made(L, forward, backward)
    with L.no_grad():
        note(f.apply(leaf(L)).requires_grad, L.is_grad_enabled())
    x = leaf(L)
    z = f.apply(f.apply(x))
    note(L.is_grad_enabled(), graph(z))
    z.sum().backward()
    note(L.is_grad_enabled(), x.grad)
    for broken in (made(L, lambda ctx, x: 1 / 0), made(L, lambda ctx, x: x * 2, lambda ctx, g: 1 / 0)):
        note.error(lambda broken=broken: broken.apply(x).sum().backward())
        note(L.is_grad_enabled())


def test_arguments_of_a_function_with_setup_context(L, note):
    def setup(ctx, inputs, output):
        note([i if isinstance(i, int) else "tensor" for i in inputs])

    x = leaf(L)
    for forward in (lambda a, k=3: a * k, lambda *a: a[0] * 2, lambda a, *k: a * 2):
        f = made(L, forward, lambda ctx, *g: (*g, None), setup_context=setup)
        for args in ((x,), (x, 2)):
            note(f.apply(*args))
    note(made(L, lambda a, k=3: a * k, setup_context=setup).apply(x, k=2))


def test_what_backward_gives(L, note):
    for give in (
        lambda ctx, g: g,
        lambda ctx, g: (g, None),
        lambda ctx, g: Pair(g, None),
        lambda ctx, g: (g, None, None, None),
        lambda ctx, g: (None, None),
        lambda ctx, g: (g.double(), None),
        lambda ctx, g: (g.int(), None),
        lambda ctx, g: (g * 1j, None),
        lambda ctx, g: (L.ones(3, 2), None),
        lambda ctx, g: (L.ones(3), None),
        lambda ctx, g: (g, g),
        lambda ctx, g: [g, None],
        lambda ctx, g: (3.0, None),
    ):
        x = leaf(L)
        z = made(L, lambda ctx, x, k: x * k, give).apply(x, 2).sum()
        note.error(z.backward)
        note(x.grad)
