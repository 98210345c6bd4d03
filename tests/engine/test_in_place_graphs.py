"""What in-place ops leave: which are refused, whose history changes, second derivatives, hooks, versions."""

import pytest
from calls import assert_same_ends
from functions import made
from twins import ages, graph

pytestmark = pytest.mark.quick


def four(L):
    return L.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)


def six(L):
    return L.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)


def kind(t):
    return t.requires_grad, t.is_leaf, t._is_view(), t._version, t.output_nr, t.grad_fn, t.tolist()


def test_several_views_of_one_op(L, note):
    for split in (
        lambda t: t.unbind(),
        lambda t: t.split(2),
        lambda t: t.split([1, 3]),
        lambda t: t.chunk(2),
        lambda t: list(t),
    ):
        y = four(L) * 1
        parts = split(y)
        note([kind(p) for p in parts])
        for p in (parts[1], parts[1].view(-1), parts[0][None]):
            note.error(p.add_, 1)
        y.add_(1)
        for use in (lambda p: p.grad_fn, lambda p: p * 2, lambda p: p.is_leaf):
            note.error(use, parts[1])
        note(parts[1].requires_grad, str(parts[1]), parts[1].detach())
        c = L.zeros(4)
        p = split(c)[1]
        note(p.add_(1), c)
        note.error(p.mul_, four(L)[0])
    y = four(L) * 1
    a = y[2:]
    note(a.add_(1), y)
    y = four(L) * 1
    with L.no_grad():
        a, b = y.split(2)
        a.add_(1)
    note.error(b.add_, 1)
    note.error(lambda: a.grad_fn)


def test_views_without_grad_mode(L, note):
    x = four(L)
    with L.no_grad():
        v = x[0]
        w = v.view(1)
    note(kind(v), kind(w), kind(v.view(1)), (v * 2).grad_fn.next_functions)
    (v * 2).backward()
    note(x.grad)
    note.error(v.add_, 1)
    note.error(v.view(1).add_, 1)
    with L.no_grad():
        x.add_(1)
    for use in (lambda: v.grad_fn, lambda: v * 2, lambda: v.clone(), lambda: v[None], v.backward):
        note.error(use)
    note(v.requires_grad, str(v), v.detach(), v.data)
    with L.no_grad():
        note(v * 2)
    y = four(L) * 1
    v = y[0]
    with L.no_grad():
        v.add_(1)
        y.add_(1)
    note(kind(v), kind(y), v.grad_fn.next_functions)


def test_a_constant_that_becomes_a_result(L, note):
    c = L.zeros(4)
    v = c[:2]
    with L.no_grad():
        u = c[2:]
    c.add_(four(L))
    note(kind(v), v.grad_fn.next_functions, u.requires_grad)
    note.error(lambda: u * 2)
    c = L.zeros(4)
    v = c[:2]
    v.mul_(four(L)[:2])
    note(kind(c), kind(v), c.grad_fn.next_functions)
    c = L.zeros(4)
    v = c[0]
    c.requires_grad_()
    note(kind(v), (v * 2).grad_fn.next_functions)
    note.error(v.add_, 1)
    c = L.zeros(4)
    v = c[0]
    v.requires_grad_()
    note(kind(v), c.requires_grad, (v * 2).grad_fn.next_functions)
    note.error(v.add_, 1)
    c.mul_(four(L))
    note(kind(v))


def test_views_of_custom_functions(L, note):
    flat = made(L, lambda ctx, a: a.view(-1), lambda ctx, g: g.reshape(2, 3))
    rows = made(L, lambda ctx, a: (a[0], a[1]), lambda ctx, g, h: L.stack([g, h]))
    y = six(L) * 1
    v = flat.apply(y)
    note(kind(v), v._base is y)
    note.error(v.add_, 1)
    y.add_(1)
    note.error(lambda: v * 2)
    y = six(L) * 1
    a, b = rows.apply(y)
    note(kind(a), kind(b))
    note.error(b.add_, 1)
    c = L.zeros(2, 3)
    v = flat.apply(c)
    note(v.add_(1), c)
    note.error(v.mul_, four(L)[0])


TURNS = {
    "t_": lambda t: t.t_(),
    "transpose_": lambda t: t.transpose_(0, 1),
    "unsqueeze_": lambda t: t.unsqueeze_(0),
    "squeeze_": lambda t: t.squeeze_(),
    "squeeze_ 0": lambda t: t.squeeze_(0),
    "squeeze_ 0, 1": lambda t: t.squeeze_((0, 1)),
    "as_strided_": lambda t: t.as_strided_((2, 2), (1, 1), 0),
    "detach_": lambda t: t.detach_(),
}


def test_turned_tensors(L, note):
    for turn in TURNS.values():
        x = six(L)
        y = x * 1
        v = y.view(3, 2)
        note(turn(y) is y)
        note(kind(y), kind(v), graph(y), y.shape)
        if y.requires_grad:
            (y * y).sum().backward()
            note(x.grad)
        note.error(turn, six(L))
        c = six(L).detach()
        note(kind(turn(c)), c.shape)
        x = six(L)
        y = x * 1
        v, w = y[:1], y.view(6)
        note.error(turn, v)
        note(kind(v), graph(v), graph(y), kind(y), kind(w))
        with L.no_grad():
            x = six(L)
            note(kind(turn(x)), x.shape)
    note.error(lambda: L.zeros(2, 2, 2).t_())


def test_hooks_and_kept_gradients(L, note):
    x = four(L)
    y = x * 1
    y.register_hook(lambda g: note("before", g))
    y.retain_grad()
    y.mul_(3)
    y.register_hook(lambda g: note("after", g))
    y.sum().backward()
    note(y.grad, y.retains_grad, x.grad)
    for write in (lambda y, v: v.mul_(3), lambda y, v: y.mul_(3)):
        y = four(L) * 1
        v = y[:2]
        v.register_hook(lambda g: note("view", g))
        v.retain_grad()
        y.retain_grad()
        write(y, v)
        note(v.grad_fn, v.retains_grad)
        (v.sum() + y.sum()).backward()
        note(v.grad, y.grad)


def test_versions_of_what_was_saved(L, note):
    def attempt(write, use=lambda y: y * y):
        y = four(L) * 1
        z = use(y).sum() + y.sin().sum()
        write(y)
        note.error(z.backward)

    for write in (
        lambda y: y.add_(1),
        lambda y: y[0].mul_(2),
        lambda y: y.view(2, 2).t().zero_(),
        lambda y: y.detach().add_(1),
        lambda y: y.__setitem__(1, 0.0),
        lambda y: y.data.add_(1),
        lambda y: y.detach_(),
    ):
        attempt(write)
        attempt(write, lambda y: y[:2] * y[2:])
        attempt(write, lambda y: y.split(2)[0] * 2)
    y = four(L).exp()
    with L.no_grad():
        y.add_(1)
    note.error(y.sum().backward)
    y = four(L).tanh()
    y[:1].exp_()
    note.error(y.sum().backward)


REFUSED = """
a.add_(a.t()) | a.t().add_(a) | a.copy_(a.t()) | a[:2].add_(a[1:]) | a[0].add_(a[1]) | a.add_(a)
a.data[0].add_(a) | a.expand(2, 3, 3).add_(1) | a.expand(2, 3, 3).zero_() | a.add_(L.ones(2, 3))
a.add_(L.ones(2, 3, 3)) | a.fill_(L.ones(3)) | L.tensor([1, 2]).add_(1.5) | L.tensor([1, 2]).div_(2)
L.tensor([1, 2]).copy_(L.tensor([1.7, 2.7])) | L.tensor([True]).add_(1)
"""


def test_refused_operands(torch):
    assert_same_ends(torch, REFUSED, lambda L: {"a": L.ones(3, 3)})


def test_filled_with_a_tensor(L, note):
    x = four(L)
    y = x * 1
    y.fill_(x[1])
    note(kind(y), graph(y))
    y.sum().backward()
    note(x.grad)
    x.grad = None
    y = x * 1
    y[:2] = x[3]
    y[2:] = x[None, :2]
    note(graph(y))
    (y * y).sum().backward()
    note(x.grad)


SECOND = {
    "mul_": lambda L, x, y, w: y[1:].mul_(w),
    "copy_": lambda L, x, y, w: y[1:].copy_(w),
    "exp_": lambda L, x, y, w: y[1:].exp_(),
    "sqrt_": lambda L, x, y, w: y.view(-1).sqrt_(),
    "tanh_": lambda L, x, y, w: y[::2].tanh_(),
    "broadcast": lambda L, x, y, w: y[1:].add_(w[0]),
    "twice": lambda L, x, y, w: y[1:].mul_(2) * y[0].mul_(w[0]),
    "view of a view": lambda L, x, y, w: y[1:].view(-1, 1)[0].pow_(3),
    "expanded": lambda L, x, y, w: y[:1].expand(2) * y.mul_(2)[0],
    "windows": lambda L, x, y, w: y.unfold(0, 2, 1) * y.mul_(x)[0],
    "with size 1": lambda L, x, y, w: y[:1].mul_(w[1]),
    "zero_": lambda L, x, y, w: y[1:].zero_(),
    "on the base": lambda L, x, y, w: y.mul_(x).exp_(),
}


def test_second_derivatives(L, note):
    for change in SECOND.values():
        x = L.tensor([1.0, 2.0, 3.0], dtype=L.float64, requires_grad=True)
        w = L.tensor([2.0, 3.0], dtype=L.float64, requires_grad=True)
        y = x * x
        view = y[:2]
        change(L, x, y, w)
        root = (y * y * y).sum() + (view * view).sum()
        grads = L.autograd.grad(root, [x, w], create_graph=True, allow_unused=True)
        grads = [g for g in grads if g is not None]
        note(grads, graph(*grads), ages(*grads))
        again = L.autograd.grad([g.sum() for g in grads], [x, w], create_graph=True, allow_unused=True)
        again = [g for g in again if g is not None and g.requires_grad]
        note(again, graph(*again), ages(*again))


def test_a_stale_view_twice_differentiated(L, note):
    for take in (
        lambda y: y.view(3, 2),
        lambda y: y[:, :1],
        lambda y: y.unfold(1, 2, 1),
        lambda y: y[0].expand(2, 3),
        lambda y: y.diagonal(),
    ):
        x = L.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=L.float64, requires_grad=True)
        y = x * x
        v = take(y)
        y.mul_(2)
        (g,) = L.autograd.grad((v * v).sum(), x, create_graph=True)
        note(g, graph(g), ages(g))
        (h,) = L.autograd.grad((g * g).sum(), x, create_graph=True)
        note(h, graph(h), L.autograd.grad(h.sum(), x))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_integers_are_counted_in_place(L, note, dtype):
    """What is left of a table of integers after writes in place, with its version."""
    t = L.zeros((3, 3), dtype=getattr(L, dtype))
    t[0, 1] += 1
    t[0, 1] += 100
    t[0, 1] += 100  # more than int8 has
    t[2] -= 3
    t *= 3
    t += t
    t[1, 1], t[0] = t[2, 2], t[2]
    row = t[1]
    row += 127
    s = L.tensor(5, dtype=getattr(L, dtype))
    s *= 2
    note(t, t._version, row._version, s, s._version)


def test_new_memory_is_modified_in_place(L, note):
    """Results that nobody wrote to before, modified outside the graph, and one by a number in a tensor."""
    w = L.ones(3, requires_grad=True)
    y, s = w * 2, L.tensor(1.0)
    with L.no_grad():
        y.mul_(2).add_(L.tensor(1.0))
    alias = s.add_(1).detach()
    s.mul_(L.tensor(3.0))
    note(y, y._version, alias, s._version)
