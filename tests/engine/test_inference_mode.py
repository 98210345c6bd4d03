"""Inference mode against PyTorch: what is an inference tensor, and what may be done with it outside."""

import pytest
from functions import made

pytestmark = pytest.mark.quick


def start(L):
    """A leaf, a constant and a result, in normal mode."""
    x = L.tensor([1.0, 2.0], requires_grad=True)
    return x, L.tensor([1.0, 2.0]), x * 1


def kind(t):
    return t.is_inference(), t.requires_grad, t.is_leaf, t._is_view(), t.grad_fn


def test_what_is_made_inside(L, note):
    x, n, y = start(L)
    with L.inference_mode():
        note(L.is_grad_enabled(), L.is_inference_mode_enabled())
        i = L.tensor([1.0, 2.0])
        made = [
            i,
            L.tensor([1.0], requires_grad=True),
            x * 2,
            n.clone(),
            n.double(),
            L.zeros(2),
            i.unbind()[0],
        ]
        made += [i[0], i.view(2, 1), i.detach(), i.data, n + 1, x.sum()]
        kept = [x, n, x[0], y[0], n[0], n.detach(), x.data, n.contiguous(), n.unbind()[0], n.float()]
        note([kind(t) for t in made], [kind(t) for t in kept])
        note([L.is_inference(t) for t in (i, n)])
        note.error(lambda: L.is_inference(3))
    note([kind(t) for t in made])
    note([kind(t) for t in (i[0], i.view(2, 1), i.detach(), i.clone(), i * 2, i.exp(), L.tensor([1.0]))])


def test_nested_modes(L, note):
    x, _, _ = start(L)

    def look():
        note(L.is_grad_enabled(), L.is_inference_mode_enabled(), kind(x * 2))

    with L.inference_mode():
        with L.enable_grad():
            look()
        with L.no_grad():
            look()
        with L.inference_mode(False):
            look()
            with L.no_grad():
                look()
        look()
    with L.no_grad(), L.inference_mode(False):
        look()
    again = L.inference_mode()
    for _ in range(2):
        with again:
            look()
    decorated = [L.inference_mode()(lambda t: t * 2), L.inference_mode(lambda t: t * 2)]
    decorated.append(L.inference_mode(False)(lambda t: t * 2))
    note([kind(f(x)) for f in decorated])
    with L.inference_mode():
        note([kind(f(x)) for f in decorated])


def test_writing(L, note):
    x, n, y = start(L)
    with L.inference_mode():
        i = L.tensor([1.0, 2.0])
        for t in (x, n, y):
            before = t._version
            t.add_(1)
            note(t._version - before, kind(t))
        i.add_(n)
        i[0].mul_(3)
        n.copy_(i)
        note.error(lambda: i._version)
    for write in (i.add_, i.copy_, i[0].add_, lambda t: i.__setitem__(0, 3.0)):
        note.error(write, L.tensor(1.0))
    with L.no_grad():
        note.error(lambda: i.mul_(2))
    note(i.tolist())  # written all the same
    note.error(lambda: i._version)
    n.add_(i)
    note(n, n._version)


def test_saving(L, note):
    x, n, _ = start(L)
    with L.inference_mode():
        i = L.tensor([3.0, 4.0])
    note(i + x, i * n)
    note.error(lambda: i * x)
    note.error(lambda: x * i)
    note.error(lambda: x @ i)
    (x * i.clone()).sum().backward()
    note(x.grad)
    with L.no_grad():
        note(i * x)


def test_requiring_grad(L, note):
    with L.inference_mode():
        i = L.tensor([3.0, 4.0])
        note(kind(i.requires_grad_()), kind(i.requires_grad_(False)))
        learns = L.tensor([1.0, 2.0], requires_grad=True)
        note(kind(learns * 2), kind(learns.add_(1)))
    note.error(lambda: i.requires_grad_())
    note.error(lambda: setattr(i, "requires_grad", True))
    note(kind(i.requires_grad_(False)))
    note(kind(learns * 2), kind(learns.exp()), kind(learns.sum()), kind(learns.view(2, 1)))
    (learns * 2).sum().backward()
    note(learns.grad)


def test_views_made_inside(L, note):
    x, n, y = start(L)
    with L.inference_mode():
        part, whole, constant = y[0], y[:1], n[0]
    note(kind(part), kind(whole), kind(whole.view(1)), kind(constant.add_(1)))
    note.error(lambda: part.add_(1))
    note.error(lambda: whole.view(1).add_(1))
    note.error(lambda: constant.mul_(x[0]))
    y.add_(1)
    for use in (lambda: part.grad_fn, lambda: part.is_leaf, lambda: part * 2, lambda: part.clone()):
        note.error(use)
    note(part.requires_grad, str(part), part.detach())


def test_backward_inside(L, note):
    x, _, y = start(L)
    with L.inference_mode():
        y.backward(L.tensor([1.0, 1.0]))
        note(kind(x.grad), x.grad.tolist())
    z = (x * x).sum()
    note.error(lambda: z.backward())
    x.grad = None
    (x * x).sum().backward()
    note(kind(x.grad), x.grad)
    z = (x * x).sum()
    with L.inference_mode():
        note([kind(g) for g in L.autograd.grad(z, x)])
        note.error(lambda: x.sum().backward())


def test_custom_functions(L, note):
    scale = made(
        L,
        lambda ctx, a, b: (ctx.save_for_backward(b), a * b)[1],
        lambda ctx, g: (g * ctx.saved_tensors[0], None),
    )
    x, n, _ = start(L)
    with L.inference_mode():
        i = L.tensor([3.0, 4.0])
        note(kind(scale.apply(x, n)), kind(scale.apply(x, i)))
    note.error(lambda: scale.apply(x, i))


def test_a_parameter_of_it(L, note):
    with L.inference_mode():
        x = L.ones(2)
        note(L.nn.Parameter(x).is_inference())
    note.error(lambda: L.nn.Parameter(x))
    p = L.nn.Parameter(x, requires_grad=False)
    note(p, p.is_inference(), L.nn.Parameter(x.clone()).is_inference())
