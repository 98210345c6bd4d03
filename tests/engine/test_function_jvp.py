"""Forward mode of custom Functions, against PyTorch."""

import pytest
from functions import leaf, made
from twins import graph, outcome_and_warnings, tangent

import minigrad

pytestmark = pytest.mark.quick


def dual(L, value, tangent):
    """A dual tensor of two lists of numbers."""
    x = value if L.is_tensor(value) else L.tensor(value)
    return L.autograd.forward_ad.make_dual(x, tangent if L.is_tensor(tangent) else L.tensor(tangent))


def product(L):
    """x·y·k with both derivatives."""

    def forward(ctx, x, y, k):
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        ctx.k = k
        return x * y * k

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return ctx.k * g * y, ctx.k * g * x, None

    def jvp(ctx, x_t, y_t, k_t):
        x, y = ctx.saved_tensors
        return ctx.k * (y * x_t + x * y_t)

    return made(L, forward, backward, jvp=jvp)


def test_as_documented(L, note):
    with L.autograd.forward_ad.dual_level():
        x, y = dual(L, [1.0, 2.0], [1.0, 0.5]), leaf(L, 3.0, 4.0)
        z = product(L).apply(x, y, 4)
        note(z, tangent(L, z), z.grad_fn.name())
        note(tangent(L, product(L).apply(y, x, 2)), tangent(L, product(L).apply(y, y, 2)))
        note(tangent(L, product(L).apply(x, x, 2)))
    note(z, L.autograd.forward_ad.unpack_dual(z))


def test_what_jvp_sees(L, note):
    def forward(ctx, *args):
        ctx.save_for_forward(args[0], None)
        ctx.word = "kept"
        note(L.autograd.forward_ad._is_fwd_grad_enabled(), L.is_grad_enabled())
        note(tangent(L, args[0] * 2))
        return args[0] * 2, 7, args[1].long()

    def jvp(ctx, *tangents):
        note(tangents, ctx.word, ctx.needs_input_grad, ctx.saved_tensors, L.is_grad_enabled())
        note(L.autograd.forward_ad._is_fwd_grad_enabled())
        return tangents[0] * 2, None, None

    f = made(L, forward, lambda ctx, *g: (g[0], None, None, None), jvp=jvp)
    with L.autograd.forward_ad.dual_level():
        x = dual(L, [1.0, 2.0], [1.0, 0.5])
        note([tangent(L, t) if L.is_tensor(t) else t for t in f.apply(x, leaf(L), "text", L.tensor([1, 2]))])
        with L.no_grad():
            z = f.apply(x, L.ones(2), None, L.ones(2))
            note(z, tangent(L, z[0]))


def test_missing_tangents(L, note):
    for flag in (True, False):

        def forward(ctx, a, b, c, flag=flag):
            ctx.set_materialize_grads(flag)
            return a + b

        f = made(L, forward, lambda ctx, g: (g, g, None), jvp=lambda ctx, *t: (note(*t), t[1])[1])
        with L.autograd.forward_ad.dual_level():
            z = f.apply(L.ones(2), dual(L, [1.0, 2.0], [3.0, 4.0]), L.tensor([1, 2]))
            note(z, tangent(L, z))


def test_no_jvp(L, note):
    f = made(L, lambda ctx, a: a * 2)
    with L.autograd.forward_ad.dual_level():
        note.error(f.apply, dual(L, [1.0], [1.0]))
        note(f.apply(L.ones(2)))
        with L.autograd.forward_ad._set_fwd_grad_enabled(False):
            note(f.apply(dual(L, [1.0], [1.0])))
    note(f.apply(L.ones(2)))


def test_wrong_results(L, note):
    results = (
        lambda t: (t, t),
        lambda t: (),
        lambda t: 3,
        lambda t: "word",
        lambda t: [t],
        lambda t: L.ones(3),
        lambda t: L.tensor(1.0),
        lambda t: L.ones(2, 2),
        lambda t: t.double(),
        lambda t: (t,),
    )
    with L.autograd.forward_ad.dual_level():
        for result in results:
            f = made(L, lambda ctx, a: a * 2, jvp=lambda ctx, t, r=result: r(t))
            note.error(lambda f=f: tangent(L, f.apply(dual(L, [1.0, 2.0], [1.0, 0.5]))))


def test_errors_inside(L, note):
    def refuse(ctx, *tangents):
        raise ValueError("refused")

    with L.autograd.forward_ad.dual_level():
        x = dual(L, [1.0, 2.0], [1.0, 0.5])
        note.error(made(L, lambda ctx, a: a * 2, jvp=refuse).apply, x)
        note.error(made(L, refuse, jvp=lambda ctx, t: t).apply, x)
        note(L.autograd.forward_ad._is_fwd_grad_enabled(), tangent(L, x * 2), L.is_grad_enabled())


def test_outputs_without_derivative(L, note):
    def forward(ctx, a):
        b = a * 3
        ctx.mark_non_differentiable(b)
        return a * 2, b, a.long(), "word"

    with L.autograd.forward_ad.dual_level():
        x = dual(L, [1.0, 2.0], [1.0, 0.5])
        for extra in ((None, None, None), ("t", None, None), (None, "t", None), (None, None, "t")):

            def jvp(ctx, t, extra=extra):
                return t * 2, *(None if e is None else t for e in extra)

            note.error(made(L, forward, jvp=jvp).apply, x)


def test_views_and_inputs_as_they_are(L, note):
    forwards = (lambda ctx, a: a, lambda ctx, a: a.view(2, 1), lambda ctx, a: a[:1])
    jvps = (
        lambda ctx, t: t,
        lambda ctx, t: t.view(2, 1),
        lambda ctx, t: t[:1],
        lambda ctx, t: t.view_as(t),
        lambda ctx, t: t * 1,
        lambda ctx, t: (t * 1)[:1],
    )
    with L.autograd.forward_ad.dual_level():
        for forward in forwards:
            for jvp in jvps:
                f = made(L, forward, jvp=jvp)
                x = dual(L, [1.0, 2.0], [1.0, 0.5])
                note.error(lambda f=f, x=x: (f.apply(x), tangent(L, f.apply(x))))
                y = dual(L, [[1.0, 2.0]], [[1.0, 0.5]])
                note.error(lambda f=f, y=y: (f.apply(y[0]), tangent(L, f.apply(y[0]))))


def test_in_place(L, note):
    def forward(ctx, a, b):
        a.mul_(2)
        ctx.mark_dirty(a)
        return a

    jvps = (
        lambda ctx, t, u: t.mul_(2),
        lambda ctx, t, u: t,
        lambda ctx, t, u: t * 2,
        lambda ctx, t, u: (t.mul_(2), t * 1)[1],
        lambda ctx, t, u: None,
    )
    with L.autograd.forward_ad.dual_level():
        for jvp in jvps:
            f = made(L, forward, lambda ctx, g: (g * 2, None), jvp=jvp)
            x = dual(L, [1.0, 2.0], [1.0, 0.5])
            note.error(lambda f=f, x=x: (f.apply(x, None) is x, tangent(L, x)))
            note(x)
        f = made(L, forward, lambda ctx, g: (g * 2, None), jvp=lambda ctx, t, u: u * 5)
        x = L.ones(2)
        z = f.apply(x, dual(L, [1.0, 2.0], [1.0, 0.5]))
        note(z is x, x, tangent(L, x))


def test_dirty_but_no_input(L, note):
    def forward(ctx, a):
        b = a * 2
        ctx.mark_dirty(b)
        return b

    f = made(L, forward, jvp=lambda ctx, t: t * 2)
    with L.autograd.forward_ad.dual_level():
        note(outcome_and_warnings(f.apply, dual(L, [1.0], [1.0]))[0])


def test_forward_over_reverse(L, note):
    f = product(L)
    with L.autograd.forward_ad.dual_level():
        x = leaf(L)
        z = f.apply(dual(L, x, [1.0, 0.5]), leaf(L, 3.0, 4.0), 2)
        t = tangent(L, z)
        note(z, t, graph(t))
        note(L.autograd.grad(t.sum(), x, allow_unused=True))
        y = dual(L, x, [1.0, 0.5])
        z = f.apply(y, y, 2)
        t = tangent(L, z)
        note(t, L.autograd.grad(t.sum(), x))


def test_a_jvp_of_ops_that_saved_nothing(L, note):
    f = made(L, lambda ctx, a: a.exp(), lambda ctx, g: g, jvp=lambda ctx, t: t * 3)
    with L.autograd.forward_ad.dual_level():
        x = dual(L, [0.0, 1.0], [1.0, 2.0])
        z = f.apply(x * 2) * x
        note(z, tangent(L, z))
        note(tangent(L, f.apply(f.apply(x))))


def test_with_setup_context(L, note):
    def setup(ctx, inputs, output):
        ctx.save_for_forward(output)
        ctx.save_for_backward(output)

    def along(ctx, t):
        return t * ctx.saved_tensors[0]

    f = made(L, lambda x: x.exp(), along, jvp=along, setup_context=setup)
    with L.autograd.forward_ad.dual_level():
        x = leaf(L)
        z = f.apply(dual(L, x, [1.0, 0.5]))
        note(z, tangent(L, z), z.grad_fn.saved_for_forward, L.autograd.grad(z.sum(), x))


@pytest.mark.parametrize("wrong", [None, "integers"])
def test_a_tangent_must_be_differentiable(wrong):
    forward_ad = minigrad.autograd.forward_ad
    f = made(minigrad, lambda ctx, a: a * 2, jvp=lambda ctx, t: wrong and t.long())
    with forward_ad.dual_level():
        x = forward_ad.make_dual(minigrad.ones(2), minigrad.ones(2))
        with pytest.raises(RuntimeError, match="Expected both tensor and its forward grad to be floating"):
            f.apply(x)
