"""`func.jvp`, `linearize`, `jacrev`, `jacfwd` and `hessian` beside PyTorch's.

PyTorch batches the rows and columns of a Jacobian, so the ways to these results differ: values, dtypes,
structure and `requires_grad` are compared, and what derivatives come from them.
"""

import collections
import importlib

import pytest
from functions import square_apart
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import examples
from trees import spelled, tensors, values
from twins import dialect, outcome

import minigrad

pytestmark = pytest.mark.quick
Pair = collections.namedtuple("Pair", "a b")


def run(note, function, *args, **kwargs):
    note(values(outcome(lambda: function(*args, **kwargs))))


def test_jvp_arguments(L, note):
    x, y, w = tensors(L)
    jvp, o = L.func.jvp, L.ones(2)
    sin = L.sin
    for primals, tangents in [
        ((x,), (o,)), ((y,), (o,)), ((x,), (w,)), (x, o), ((x,), o), ((x,), [o]), ((x,), (L.ones(3),)),
        ((x,), (L.ones(2, 1),)), ((), ()), ((1.0,), (1.0,)), ((x,), (1.0,)), ((x,), (o, o)),
        ((L.tensor([1]),), (L.tensor([1]),)), ((x,), (L.tensor([1, 1]),)), ([x], [o]),
    ]:  # fmt: skip
        run(note, jvp, sin, primals, tangents)
    run(note, jvp, lambda d: d["a"] * d["b"], ({"a": x, "b": y},), ({"a": o, "b": x},))
    run(note, jvp, lambda p: p.a * p.b, (Pair(x, y),), (Pair(o, o),))
    run(note, jvp, lambda d: d["a"], ({"a": x},), ({"b": x},))
    run(note, jvp, lambda a, b: (a * b, {"b": b * b}), (x, y), (o, o))
    run(note, jvp, L.sin, (x,), (o.double(),))


def test_jvp_outputs(L, note):
    x, y, w = tensors(L)
    o = L.ones(2)
    for f in (
        lambda x: 1.0,
        lambda x: (x, 1),
        lambda x: None,
        lambda x: (),
        lambda x: w,
        lambda x: (x, w),
        lambda x: {"a": x * x, "b": [x]},
        lambda x: x,
        lambda x: (x * 2).long(),
    ):
        for strict in (False, True):
            for at in (x, y):
                run(note, L.func.jvp, f, (at,), (o,), strict=strict)
    for f in (
        lambda x: (x * x, x * 3),
        lambda x: (x * x, {"w": w, "x": [x]}),
        lambda x: x * x,
        lambda x: (x, 1),
        lambda x: (x, None),
        lambda x: (x, x, x),
    ):
        run(note, L.func.jvp, f, (x,), (o,), has_aux=True)
        run(note, L.func.jvp, f, (y,), (o,), has_aux=True)


def test_jvp_graphs(L, note):
    """The nodes at the end of results, and derivatives through them."""
    x, y, w = tensors(L)
    o = L.ones(2)
    note(*L.func.jvp(L.sin, (y,), (o,)), *L.func.jvp(lambda x: w * x * x, (x,), (o,)))
    for at in (x, y):
        out, tangent = L.func.jvp(lambda t: w * t**3, (at,), (w,))
        note(out, tangent, *L.autograd.grad((out * tangent).sum(), (w, y), allow_unused=True))
    with L.no_grad():
        note(*L.func.jvp(L.sin, (y,), (o,)), *L.func.jvp(L.sin, (x,), (w,)))
    with L.inference_mode():
        note(*(t.clone() for t in L.func.jvp(L.sin, (x,), (o,))))


def test_jvp_ignores_no_grad_inside(L, note):
    x, y, _ = tensors(L)

    def f(x):
        with L.no_grad():
            return x * x

    run(note, L.func.jvp, f, (x,), (L.ones(2),))
    run(note, L.func.jvp, f, (y,), (L.ones(2),))


def test_transforms_inside_each_other(L, note):
    """Forward over reverse, reverse over forward, forward over forward; nothing is mixed up."""
    F = L.func
    x, y, w = tensors(L)
    o = L.ones(2)

    def f(x):
        return (w * x**3 * x.sin()).sum()

    def along(g, t):
        return F.jvp(g, (t,), (L.ones_like(t),))[1]

    for at in (x, y):
        run(note, F.jvp, F.grad(f), (at,), (o,))
        run(note, F.grad(lambda t: along(f, t)), at)
        run(note, along, lambda t: along(f, t), at)
        run(note, along, lambda t: along(lambda u: along(f, u), t), at)
        run(note, F.grad(lambda t: along(lambda u: along(f, u), t)), at)
        run(note, along, lambda t: F.grad(lambda u: along(f, u))(t), at)
        run(note, along, F.grad(lambda t: (F.grad(f)(t) ** 2).sum()), at)
        run(note, along, lambda t: t * along(lambda u: t * u, L.ones(2)), at)
        run(note, along, lambda t: t * along(lambda u: u.sum() * t, t), at)
        run(note, F.jvp, lambda t: F.vjp(f, t)[1](t.sum())[0], (at,), (o,))
        second = along(lambda t: along(f, t), at)
        run(note, L.autograd.grad, second, (w, y), allow_unused=True)
    run(note, lambda: F.jvp(lambda t: F.jvp(f, (t,), (L.ones(3),)), (x,), (o,)))
    run(note, lambda: F.jvp(lambda t: F.jvp(lambda u: (f(u), w), (t,), (o,), strict=True), (x,), (o,)))
    run(note, lambda: F.jvp(lambda t: F.jvp(lambda u: (f(u), u), (t,), (o,), has_aux=True)[1:], (x,), (o,)))


def test_within_a_dual_level(L, note):
    x, _, w = tensors(L)
    forward_ad = importlib.import_module(L.__name__ + ".autograd.forward_ad")
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, L.tensor([1.0, -1.0]))
        run(note, L.func.jvp, L.sin, (x,), (L.ones(2),))
        gradient = L.func.grad(lambda t: (w * t**3).sum())(dual)
        primal, tangent = forward_ad.unpack_dual(gradient)
        note(values(primal), values(tangent))
        gradient = L.func.grad(lambda t: (t * dual).sum())(x)
        note(values(tuple(forward_ad.unpack_dual(gradient))))


def test_linearized(L, note):
    x, y, w = tensors(L)
    o = L.ones(2)
    for at in (x, y):
        out, jvp_fn = L.func.linearize(lambda t: w * t**3, at)
        note(values(out))
        for tangent in (o, w, x, L.ones(3), L.ones(2).double(), L.ones(2, 2)):
            run(note, jvp_fn, tangent)
        run(note, jvp_fn, o, o)
        run(note, jvp_fn, [o])
    out, jvp_fn = L.func.linearize(lambda a, b: {"ab": a * b["c"], "n": 3, "w": L.ones(2)}, x, {"c": y})
    note(values((out["ab"], out["n"])), values(jvp_fn(o, {"c": x})))


def test_jacobians(L, note):
    x, y, w = tensors(L)
    for transform in (L.func.jacrev, L.func.jacfwd):
        for at in (x, y, w):
            run(note, transform(lambda t: t * t.sum()), at)
            run(note, transform(lambda t: w * t * t.sum()), at)
            run(note, transform(lambda t: (t * t).sum()), at)
            run(note, transform(lambda t: {"a": t * t, "b": [t.sum(), w]}), at)
            run(note, transform(lambda t: (t * t, w * t), has_aux=True), at)
            run(note, transform(lambda t: t * y), at)
        f = lambda a, b: (a * b, {"b": b.sum()})  # noqa: E731
        for argnums in (0, 1, (0, 1), (1,), (1, 0), 2, (0, 0), (), "a", [0], (0, "b")):
            run(note, transform(f, argnums=argnums), x, y)
        run(note, transform(lambda d: d["a"] * d["b"]), {"a": x, "b": y})
        run(note, transform(lambda d, e: d["a"] * e, argnums=(0, 1)), {"a": x}, y)
        run(note, transform(lambda p: p.a * p.b, argnums=(0,)), Pair(x, y))
        run(note, transform(L.sin), L.tensor(1.0))
        run(note, transform(lambda t: t @ L.ones(2, 3)), L.ones(3, 2))
        run(note, transform(lambda t: t.double() * 2), x)
        run(note, transform(lambda t: L.ones(3)), x)
        note(transform(f).__name__)
    run(note, lambda: L.func.jacfwd(lambda t, u: t * u, argnums=None)(x, y))
    run(note, L.func.jacrev(f, argnums=-1), x, y)


def test_jacobians_refuse(L, note):
    x, _, _ = tensors(L)
    for transform in (L.func.jacrev, L.func.jacfwd):
        for f in (lambda t: 1.0, lambda t: None, lambda t: (t, 1), lambda t: (), lambda t: t * 1j):
            run(note, transform(f), x)
        run(note, transform(lambda t: t), L.tensor([1, 2]))
        run(note, transform(lambda t: t), L.tensor([1j]))
        run(note, transform(lambda t: t, has_aux=True), x)
        run(note, transform(lambda t: (t, 3), has_aux=True), x)
    run(note, L.func.jacrev(lambda t: t), 1.0)
    run(note, L.func.jacrev(lambda t: t.long()), x)
    run(note, L.func.jacrev, lambda t: t, chunk_size=0)
    run(note, L.func.jacrev, lambda t: t, chunk_size=-2)
    run(note, lambda: L.func.jacfwd(lambda t: t, randomness="loud")(x))
    run(note, L.func.jacrev(lambda t: t, argnums=None), x)


def test_chunks_make_no_difference(L, note):
    _, y, _ = tensors(L)
    for size in (None, 1, 2, 3, 100):
        run(note, L.func.jacrev(lambda t: (t * t.sum(), t.sum()), chunk_size=size), y)


def test_empty_tensors(L, note):
    x, _, _ = tensors(L)
    run(note, L.func.jacrev(lambda t: t.sum() * L.ones(2, 0)), x)
    run(note, L.func.jacrev(lambda t: t), L.ones(0))
    run(note, L.func.jacrev(lambda t: (t, t.sum())), L.ones(0))


def test_hessians(L, note):
    x, y, w = tensors(L)
    for at in (x, y):
        run(note, L.func.hessian(lambda t: (w * t**3).sum() * t[0]), at)
        run(note, L.func.hessian(lambda t: w * t**3), at)
        for outer in (L.func.jacrev, L.func.jacfwd):
            for inner in (L.func.jacrev, L.func.jacfwd):
                run(note, outer(inner(lambda t: w * t**3 * t.sum())), at)
        found = L.func.hessian(lambda t: (w * t**3).sum())(at)
        note(values(L.autograd.grad((found**2).sum(), (w, y), allow_unused=True)))
    run(note, L.func.hessian(lambda a, b: (a * b * b).sum(), argnums=(0, 1)), x, y)
    run(note, L.func.hessian(lambda d: (d["a"] * d["b"] ** 2).sum()), {"a": x, "b": y})
    run(note, L.func.jacrev(L.func.jacrev(L.func.jacrev(lambda t: t**4))), x)


def test_random_numbers(L, note):
    x, y, _ = tensors(L)
    for f in (lambda t: t * L.rand(2), lambda t: (t * t * L.nn.functional.dropout(t, 0.5)).sum()):
        for at in (x, y):
            run(note, L.func.jacfwd(f), at)
            run(note, L.func.hessian(f), at)
            for randomness in ("same", "different"):
                note(L.func.jacfwd(f, randomness=randomness)(at).shape)
            note(L.func.jacrev(f)(at).shape)


def test_written_in_place(L, note):
    x, y, w = tensors(L)

    def f(t):
        u = t * 2
        u[0] = t[1] * w[0]
        u.mul_(t)
        return u

    for at in (x, y):
        for transform in (L.func.jacrev, L.func.jacfwd):
            run(note, transform(f), at)
        run(note, L.func.hessian(lambda t: f(t).sum()), at)


def test_no_grad_around(L, note):
    x, y, w = tensors(L)

    def f(t):
        with L.no_grad():
            c = t * t
        return w * t - c

    for at in (x, y):
        run(note, L.func.jacrev(f), at)
        with L.no_grad():
            run(note, L.func.jacrev(f), at)
            run(note, L.func.jacfwd(lambda t: w * t**2), at)
            run(note, L.func.hessian(lambda t: (w * t**3).sum()), at)


def test_after_an_error(L, note):
    x, _, _ = tensors(L)

    def fails(x):
        raise KeyError("in the function")

    run(note, L.func.jvp, fails, (x,), (x,))
    run(note, L.func.jvp, lambda t: L.func.jvp(fails, (t,), (t,)), (x,), (x,))
    run(note, L.func.jacfwd(fails), x)
    run(note, L.func.hessian(fails), x)
    run(note, L.func.linearize, fails, x)
    run(note, L.func.jvp, L.sin, (x,), (x,))


def test_custom_function_with_jvp(L, note):
    class Square(square_apart(L)):
        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)
            ctx.save_for_backward(*inputs)

        @staticmethod
        def jvp(ctx, t):
            return 2 * t * ctx.saved_tensors[0]

    class NoJvp(Square):
        jvp = L.autograd.Function.jvp

    class Batched(Square):
        generate_vmap_rule = True

    x, y, _ = tensors(L)
    for at in (x, y):
        run(note, L.func.jacfwd(Batched.apply), at)
        run(note, L.func.jacrev(Batched.apply), at)
        run(note, L.func.jvp, Square.apply, (at,), (L.ones(2),))
        run(note, L.func.jvp, NoJvp.apply, (at,), (L.ones(2),))


TERMS = ["x * y", "x ** 3", "y.sin()", "(x * x).exp()", "x / (y * y + 1)", "y ** 2 * 3", "x.sum() * y.tanh()"]


@settings(max_examples=examples(40))
@given(
    terms=st.lists(st.sampled_from(TERMS), min_size=1, max_size=3),
    ways=st.lists(st.sampled_from(["jacrev", "jacfwd"]), min_size=1, max_size=3),
    learn=st.booleans(),
)
def test_random_functions(torch, terms, ways, learn):
    """Jacobians of Jacobians of a random function, by rows and by columns in any order."""
    source = eval("lambda x, y: " + " + ".join(terms))

    def found(L):
        f = source
        for n, way in enumerate(ways):
            f = getattr(L.func, way)(f, argnums=n % 2)
        x = L.tensor([0.5, -0.3], dtype=L.float64, requires_grad=learn)
        y = L.tensor([0.7, 0.2], dtype=L.float64)
        result = f(x, y)
        if ways.count("jacfwd") > 1:  # which formula is used decides whether a gradient is zeros or None
            gradient = L.zeros(2, dtype=L.float64)
            if result.requires_grad:
                found = L.autograd.grad((result**2).sum(), x, allow_unused=True)[0]
                gradient = gradient if found is None else found
            return values(result.detach()), values(gradient)
        if not result.requires_grad:
            return values(result)
        return values(result), values(L.autograd.grad((result**2).sum(), x, allow_unused=True)[0])

    with dialect("2"):
        ours, theirs = found(minigrad), found(torch)
    assert repr(ours) == repr(theirs)


def test_linearize_does_not_run_the_function_again():
    calls = []

    def f(x):
        calls.append(x)
        return x * x

    _, jvp_fn = minigrad.func.linearize(f, minigrad.tensor([1.0, 2.0]))
    assert len(calls) == 2
    assert spelled(jvp_fn(minigrad.tensor([1.0, 1.0]))) == spelled(jvp_fn(minigrad.tensor([1.0, 1.0])))
    assert len(calls) == 2
