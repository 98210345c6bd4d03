"""`func.vjp` beside PyTorch's."""

import pytest
from trees import run, spelled, tensors

pytestmark = pytest.mark.quick


def test_vjp_products(L, note):
    x, y, w = tensors(L)
    for at in (x, y):
        out, vjp_fn = L.func.vjp(lambda t: (w * t**2, {"sum": t.sum()}), at)
        note(spelled(out))
        for mode in (L.enable_grad, L.no_grad):
            with mode():
                run(note, vjp_fn, (x, {"sum": L.tensor(1.0)}))
                run(note, vjp_fn, (w, {"sum": L.tensor(1.0)}))
        run(note, vjp_fn, (x, {"sum": L.tensor(1.0)}), create_graph=False)
        run(note, vjp_fn, x)
        run(note, vjp_fn, (x, {"other": L.tensor(1.0)}))
        run(note, vjp_fn, [x, {"sum": L.tensor(1.0)}])
        run(note, vjp_fn, (L.ones(3), {"sum": L.tensor(1.0)}))
        run(note, vjp_fn, (x, {"sum": 1.0}))
    out, vjp_fn = L.func.vjp(lambda a, b: (a * b).sum(), x, {"b": y}["b"])
    note(out, spelled(vjp_fn(L.tensor(2.0))))
    out, vjp_fn = L.func.vjp(lambda d: d["a"] * d["b"], {"a": x, "b": y})
    note(out, spelled(vjp_fn(x)))
    note(L.func.vjp(lambda t: t, x)[0] is x)


def test_vjp_refuses(L, note):
    x, _, _ = tensors(L)
    for f in (
        lambda x: (),
        lambda x: None,
        lambda x: (x, 1),
        lambda x: [],
        lambda x: 2.0,
        lambda x: x.long(),
        lambda x: x > 1,
    ):
        run(note, L.func.vjp, f, x)
    run(note, L.func.vjp, lambda x: x, 1.0)
    run(note, L.func.vjp, lambda x: x, L.tensor([1]))
    run(note, L.func.vjp, lambda x: x, x, has_aux=True)


def test_second_order_through_vjp(L, note):
    x, y, w = tensors(L)
    for at in (x, y):
        _, vjp_fn = L.func.vjp(lambda t: w * t**3, at)
        once = vjp_fn(x)[0]
        note(once, *L.autograd.grad(once.sum(), (w, y), allow_unused=True, retain_graph=True))
        note(L.func.grad(lambda c, back: (back(c)[0] ** 2).sum())(x, vjp_fn))
        note(L.func.grad(lambda t: (L.func.vjp(lambda u: w * u**3, t)[1](x)[0] ** 2).sum())(at))
