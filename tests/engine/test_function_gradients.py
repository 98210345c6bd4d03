"""What a custom Function's backward returns, and graphs of it, against PyTorch."""

import pytest
from functions import exponential, leaf, made, of_inputs, square
from twins import ages, graph

pytestmark = pytest.mark.quick


def test_wrong_results(L, note):
    x, y = leaf(L), leaf(L, 3.0, 4.0)
    results = (
        lambda g: g,
        lambda g: (g, g, g),
        lambda g: (g, g, None, None),
        lambda g: (g,),
        lambda g: (),
        lambda g: None,
        lambda g: (None, None),
        lambda g: (3, g),
        lambda g: (g.tolist(), g),
        lambda g: (L.ones(3), g),
        lambda g: (g, L.ones(3)),
        lambda g: (L.ones(2, 2), g),
        lambda g: (L.ones(2, 3), g),
        lambda g: (L.ones(1), g),
        lambda g: (L.tensor(1.0), g),
        lambda g: (g.double(), g.long()),
        lambda g: (g > 0, g),
        lambda g: [g, g],
        lambda g: {"a": g},
        lambda g: "gg",
    )
    for create_graph in (False, True):
        for result in results:
            x.grad = y.grad = None
            z = made(L, lambda ctx, a, b: a * b, lambda ctx, g, r=result: r(g)).apply(x, y)
            note.error(lambda z=z, c=create_graph: z.sum().backward(create_graph=c))
            note(x.grad, y.grad)
            x.grad = y.grad = None


def test_gradients_for_what_is_no_tensor(L, note):
    x = leaf(L)
    for args in ((2.0, x), (x, 2.0), (x, None), ("word", x), (x, L.tensor(3))):
        for result in (lambda g: (g, g), lambda g: (None, g), lambda g: (g, None)):
            f = made(L, lambda ctx, *a: x.detach() * 2, lambda ctx, g, r=result: r(g))
            note.error(lambda f=f, a=args: f.apply(*a).sum().backward())
            note(x.grad)


def test_gradients_that_nobody_asked_for(L, note):
    x, plain = leaf(L), L.ones(2)
    for bad in (lambda g: L.ones(7), lambda g: 3, lambda g: g.double()):
        f = made(L, lambda ctx, a, b: a * b, lambda ctx, g, bad=bad: (g, bad(g)))
        note.error(lambda f=f: f.apply(x, plain).sum().backward())
        note(x.grad)


def test_indices_count_tensors_only(L, note):
    x, y = leaf(L), leaf(L)
    f = made(L, lambda ctx, k, a, j, b: a * b, lambda ctx, g: (None, g, None, L.ones(5)))
    note.error(lambda: f.apply(1, x, 2, y).sum().backward())


def test_promoted_inputs(L, note):
    f = made(L, lambda ctx, a, b: a * b, lambda ctx, g: (g, g))
    x, y = leaf(L), leaf(L, dtype=L.float64)
    f.apply(x, y).sum().backward()
    note(x.grad, y.grad)
    row, s = leaf(L), leaf(L, 2.0)
    f.apply(row, s).sum().backward()
    note(row.grad, s.grad)


def test_one_input_twice(L, note):
    x = leaf(L)
    f = made(L, lambda ctx, a, b: a * b, lambda ctx, g: (g * 2, g * 3))
    z = f.apply(x, x)
    note(graph(z))
    z.sum().backward()
    note(x.grad)


def test_no_inputs(L, note):
    f = made(L, lambda ctx, *a: L.ones(2), lambda ctx, g: None)
    note(f.apply(), f.apply(3))


def test_a_backward_that_writes_to_its_gradient(L, note):
    x = leaf(L)
    f = made(L, lambda ctx, a: a * 1, lambda ctx, g: g.mul_(3))
    y = f.apply(x)
    (y * 2).sum().backward()
    note(x.grad)
    z = f.apply(x) * 2
    start = L.ones(2)
    z.backward(start)
    note(x.grad, start)


def test_a_backward_that_returns_saved_values(L, note):
    x, w = leaf(L), L.tensor([5.0, 6.0])
    f = made(L, lambda ctx, a: a * w, lambda ctx, g: w)
    f.apply(x).sum().backward()
    note(x.grad, x.grad is w)
    f.apply(x).sum().backward()
    note(x.grad, w)


def second_orders(L, note, f, *inputs):
    """First and second order through `f`, with graphs and ages."""
    z = f(*inputs)
    first = L.autograd.grad(z.sum(), inputs, create_graph=True, allow_unused=True)
    note(*first)
    for g in first:
        if g is not None and g.requires_grad:
            note(graph(g), ages(g))
            note(L.autograd.grad((g * g).sum(), inputs, allow_unused=True, retain_graph=True))


def test_saved_inputs_in_second_order(L, note):
    second_orders(L, note, square(L).apply, leaf(L))
    second_orders(L, note, square(L).apply, leaf(L, 1.5))
    second_orders(L, note, lambda x: square(L).apply(x * 2), leaf(L))
    second_orders(L, note, lambda x: square(L).apply(square(L).apply(x)), leaf(L))


def test_saved_outputs_in_second_order(L, note):
    second_orders(L, note, exponential(L).apply, leaf(L))
    second_orders(L, note, exponential(L).apply, leaf(L, 1.5))
    second_orders(L, note, lambda x: exponential(L).apply(x * x) * x, leaf(L))


def test_intermediaries_recomputed_in_second_order(L, note):
    sinh = of_inputs(L, lambda x: (x.exp() - (-x).exp()) / 2, lambda g, x: g * (x.exp() + (-x).exp()) / 2)
    second_orders(L, note, sinh.apply, leaf(L))


def test_intermediaries_as_outputs_in_second_order(L, note):
    def forward(ctx, x):
        result, dx = x**3, 3 * x**2
        ctx.save_for_backward(x, dx)
        return result, dx

    def backward(ctx, g, g_dx):
        x, dx = ctx.saved_tensors
        return g * dx + g_dx * 6 * x

    second_orders(L, note, lambda x: made(L, forward, backward).apply(x)[0], leaf(L))


def test_intermediaries_saved_are_constants(L, note):
    def forward(ctx, x):
        ctx.save_for_backward(x.exp())
        return ctx.to_save[0] * 2

    def backward(ctx, g):
        note(ctx.saved_tensors[0].requires_grad)
        return g * ctx.saved_tensors[0] * 2

    second_orders(L, note, made(L, forward, backward).apply, leaf(L))


def test_a_function_in_the_backward_of_another(L, note):
    outer = of_inputs(L, lambda x: x**3 / 3, lambda g, x: g * square(L).apply(x)).apply
    second_orders(L, note, outer, leaf(L))
    x = leaf(L)
    (g,) = L.autograd.grad(outer(x).sum(), x, create_graph=True)
    (h,) = L.autograd.grad(g.sum(), x, create_graph=True)
    note(h, L.autograd.grad(h.sum(), x))


def test_a_pair_of_functions(L, note):
    slope = of_inputs(L, lambda g, x: g * x.cos(), lambda gg, g, x: (gg * x.cos(), -gg * g * x.sin()))
    sine = of_inputs(L, lambda x: x.sin(), lambda g, x: slope.apply(g, x))
    second_orders(L, note, sine.apply, leaf(L))


def test_grad_mode_inside_backward(L, note):
    f = made(L, lambda ctx, a: a * 1, lambda ctx, g: (note(L.is_grad_enabled(), g.requires_grad), g * 2)[1])
    x = leaf(L)
    f.apply(x).sum().backward()
    L.autograd.grad(f.apply(x).sum(), x, create_graph=True)
    start = leaf(L)
    (g,) = L.autograd.grad(f.apply(x), x, start, create_graph=True)
    note(graph(g))


def test_once_differentiable(L, note):
    once = L.autograd.function.once_differentiable

    def forward(ctx, a, b):
        ctx.save_for_backward(a)
        return a * b, a + b

    @once
    def backward(ctx, g, h):
        note(L.is_grad_enabled(), g, h, *ctx.saved_tensors)
        return g * 2, None

    f = made(L, forward, backward)
    x, y = leaf(L), leaf(L)
    f.apply(x, y)[0].sum().backward()
    note(x.grad, y.grad)
    gs = L.autograd.grad(f.apply(x, y)[0].sum(), (x, y), create_graph=True, allow_unused=True)
    note(gs)
    p, _q = f.apply(x, y)
    gs = L.autograd.grad((p * p).sum(), (x, y), create_graph=True, allow_unused=True)
    note(gs)
    note([(n, len(edges)) for n, edges in graph(gs[0])])
    note.error(lambda: gs[0].sum().backward())
    note.error(lambda: L.autograd.grad(gs[0].sum(), x))
    note(repr(gs[0]), backward.__name__)


def test_once_differentiable_with_other_results(L, note):
    once = L.autograd.function.once_differentiable
    x = leaf(L)
    for result in (
        lambda g: g,
        lambda g: (g, g),
        lambda g: None,
        lambda g: (None, g),
        lambda g: (3, g),
        lambda g: g.long(),
    ):
        f = made(L, lambda ctx, a, b: a * b, once(lambda ctx, g, r=result: r(g)))
        z = f.apply(x, x.detach())
        note.error(lambda z=z: L.autograd.grad((z * z).sum(), x, create_graph=True, allow_unused=True))
        g = leaf(L)
        note.error(once(lambda ctx, g, r=result: r(g)), None, g)


def test_hooks_around_a_function(L, note):
    x = leaf(L)
    a, b = made(
        L, lambda ctx, a: (a * 2, a * 3), lambda ctx, g, h: (note("backward", g, h), g * 2 + h * 3)[1]
    ).apply(x)
    node = a.grad_fn
    node.register_hook(lambda ins, outs: (note("post", ins, outs), (ins[0] * 10,))[1])
    node.register_prehook(lambda outs: (note("pre", outs), (outs[0] * 2, outs[1]))[1])
    a.register_hook(lambda g: (note("a", g), g * 5)[1])
    b.register_hook(lambda g: note("b", g))
    b.retain_grad()
    x.register_hook(lambda g: note("x", g))
    (a.sum() * 1).backward()
    note(x.grad, b.grad)


def test_hooks_see_gradients_that_go_nowhere(L, note):
    x = leaf(L)
    z = made(L, lambda ctx, a, b: a * b, lambda ctx, g: (g * 2, g * 3)).apply(x, L.ones(2))
    z.grad_fn.register_hook(lambda ins, outs: note(ins, outs))
    z.sum().backward()
    note(x.grad)


def test_undefined_gradients_behind_a_function(L, note):
    x, y = leaf(L), leaf(L)
    f = made(L, lambda ctx, a, b: a * b, lambda ctx, g: (None, g))
    f.apply(x * 2, y * 3).sum().backward()
    note(x.grad, y.grad)
    f.apply(square(L).apply(x), y).sum().backward()
    note(x.grad, y.grad)


def test_functions_calling_apply_by_hand(L, note):
    z = square(L).apply(leaf(L))
    note(z.grad_fn.apply(L.ones(2)), z.grad_fn.apply(leaf(L)))
    z.sum().backward()
    note.error(z.grad_fn.apply, L.ones(2))
