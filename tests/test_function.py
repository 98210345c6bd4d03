"""Custom Functions against PyTorch."""

from __future__ import annotations

import copy
import pickle

import pytest
from functions import square
from twins import Programs, assert_same_diary

import minigrad

programs = Programs()


def leaf(L, value=2.0):
    return L.tensor(value, requires_grad=True)


def with_backward(L, backward, forward=lambda ctx, *a: a[0] * 2):
    """A Function made of two plain functions."""
    return type(
        "Made", (L.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    )


@programs
def both_forms(L, note):
    class Old(L.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, k):
            ctx.save_for_backward(a, b)
            ctx.k = k
            note("forward", L.is_grad_enabled(), ctx.needs_input_grad, a.requires_grad)
            return a * b * k

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            note("backward", L.is_grad_enabled(), ctx.needs_input_grad, g, a, b)
            return g * b * ctx.k, g * a * ctx.k, None

    class New(L.autograd.Function):
        @staticmethod
        def forward(a, b, k):
            return a * b * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            a, b, ctx.k = inputs
            ctx.save_for_backward(a, b)
            note("setup", len(inputs), output)

        backward = Old.backward

    for cls in (Old, New):
        x, y = leaf(L), leaf(L, 3.0)
        z = cls.apply(x, y, 4)
        note(z, z.grad_fn.name(), z.grad_fn.next_functions, z.grad_fn.needs_input_grad)
        note(z.grad_fn.saved_tensors[0] is x, z.grad_fn.k)
        z.backward()
        note(x.grad, y.grad)
        note.error(z.backward)
        note.error(lambda z=z: z.grad_fn.saved_tensors)
        note(cls.apply(x, L.tensor(1.0), 2).grad_fn.next_functions)
        note(cls.apply(L.tensor(1.0), L.tensor(1.0), 2))
        with L.no_grad():
            note(cls.apply(x, y, 2))


@programs
def wrong_results_of_backward(L, note):
    v = L.tensor([1.0, 2.0], requires_grad=True)
    w = L.tensor([3.0, 4.0], requires_grad=True)
    for backward in (
        lambda ctx, g: g,
        lambda ctx, g: (g, g, g),
        lambda ctx, g: (g, g, None),
        lambda ctx, g: (g,),
        lambda ctx, g: (),
        lambda ctx, g: None,
        lambda ctx, g: (None, None),
        lambda ctx, g: (3, g),
        lambda ctx, g: (g.tolist(), g),
        lambda ctx, g: (L.ones(3), g),
        lambda ctx, g: (L.ones(2, 2), g),
        lambda ctx, g: (L.ones(1), g),
        lambda ctx, g: (L.tensor(1.0), g),
        lambda ctx, g: (g.double(), g * 2),
        lambda ctx, g: (g[0], g),
        lambda ctx, g: [g, g],
    ):
        v.grad = w.grad = None
        f = with_backward(L, backward)
        note.error(lambda f=f: f.apply(v, w).sum().backward())
        note(v.grad, w.grad)


@programs
def arguments_that_are_no_tensors(L, note):
    x = leaf(L)
    f = with_backward(L, lambda ctx, g: (g * 3, g))
    note.error(lambda: f.apply(x, 2.0).backward())
    f = with_backward(L, lambda ctx, g: (g * 3, None))
    note.error(lambda: f.apply(x, "word").backward())
    note(x.grad, f.apply(x, [1]).grad_fn.needs_input_grad)
    note.error(lambda: f.apply(3, 4))


@programs
def missing_methods(L, note):
    x = leaf(L)

    class NoBackward(L.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

    class NoForward(L.autograd.Function):
        @staticmethod
        def backward(ctx, g):
            return g

    class ByVjp(L.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 5

    note.error(lambda: NoBackward.apply(x).backward())
    note.error(lambda: NoForward.apply(x))
    ByVjp.apply(x).backward()
    note(x.grad)


@programs
def several_outputs(L, note):
    class Split(L.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2, a * 3, 7

        @staticmethod
        def backward(ctx, *grads):
            note("got", *grads)
            return sum(g for g in grads if g is not None) * 1

    v = L.tensor([1.0, 2.0], requires_grad=True)
    a, b, c = Split.apply(v)
    note(a, b, c, a.output_nr, b.output_nr, a.grad_fn is b.grad_fn)
    b.sum().backward()
    note(v.grad)
    a, b, _ = Split.apply(v)
    b.register_hook(lambda g: g * 10)
    b.retain_grad()
    (a * b).sum().backward()
    note(v.grad, b.grad, a.grad)
    a, b, _ = Split.apply(v)
    note(L.autograd.grad((a + b).sum(), [a, b, v]))


@programs
def outputs_that_need_no_gradient(L, note):
    class WithIndex(L.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            biggest = a.argmax()
            half = a * 0.5
            ctx.mark_non_differentiable(biggest, half)
            return a * 2, biggest, half

        @staticmethod
        def backward(ctx, g, index, half):
            note("got", g, index, half)
            return g * 2

    v = L.tensor([1.0, 5.0, 2.0], requires_grad=True)
    a, index, half = WithIndex.apply(v)
    note(a, index, half, half.is_leaf)
    a.sum().backward()
    note(v.grad)


@programs
def gradients_that_are_not_made(L, note):
    class Raw(L.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.set_materialize_grads(False)
            return a * 2, a * 3

        @staticmethod
        def backward(ctx, g, h):
            note("got", g, h)
            return g

    x = leaf(L)
    a, _ = Raw.apply(x)
    a.backward()
    note(x.grad)
    _, b = Raw.apply(x)
    b.backward()
    note(x.grad)


@programs
def saved_outputs(L, note):
    class Exp(L.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            out = a.exp()
            ctx.save_for_backward(out, None)
            return out

        @staticmethod
        def backward(ctx, g):
            out, nothing = ctx.saved_tensors
            note("saved", out, nothing, out.grad_fn)
            return g * out

    for value in (1.5, [1.0, 2.0]):
        x = leaf(L, value)
        z = Exp.apply(x)
        note(L.autograd.grad(z.sum(), x, retain_graph=True))
        (g,) = L.autograd.grad(z.sum(), x, create_graph=True)
        (h,) = L.autograd.grad(g.sum(), x, create_graph=True)
        note(g, h)
        z = Exp.apply(x)
        z.detach().zero_()
        note.error(lambda z=z: z.sum().backward())


@programs
def saved_values_that_were_written(L, note):
    Square = square(L)
    x = leaf(L)
    y = x * 3
    z = Square.apply(y)
    y.detach().zero_()
    note.error(z.backward)
    z = Square.apply(x)
    with L.no_grad():
        x.add_(1)
    note.error(z.backward)
    note.error(lambda: Square.apply(x).backward())


@programs
def saving_what_is_no_tensor(L, note):
    x = leaf(L)

    def forward(ctx, a):
        ctx.save_for_backward(a, 3)
        return a * 2

    note.error(lambda: with_backward(L, lambda ctx, g: g, forward).apply(x))


@programs
def double_backward(L, note):
    class Cube(L.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a**3

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            return g * 3 * a**2

    x = leaf(L)
    (g,) = L.autograd.grad(Cube.apply(x), x, create_graph=True)
    (h,) = L.autograd.grad(g, x, create_graph=True)
    (i,) = L.autograd.grad(h, x)
    note(g, h, i)


@programs
def results_that_are_inputs(L, note):
    same = with_backward(L, lambda ctx, g: g * 2, lambda ctx, a: a)
    for x in (leaf(L), leaf(L) * 1, leaf(L, [1.0, 2.0])):
        z = same.apply(x)
        note(z, z is x, z.grad_fn.next_functions)
        note(L.autograd.grad(z.sum(), x))
    plain = L.tensor(1.0)
    note(same.apply(plain) is plain, same.apply(plain))
    view = with_backward(L, lambda ctx, g: g.view(2) * 2, lambda ctx, a: a.view(2, 1))
    v = leaf(L, [1.0, 2.0])
    note(view.apply(v))


@programs
def a_result_of_the_wrong_kind(L, note):
    x = leaf(L)
    for result in (3, None, "word", [1, 2]):
        note.error(lambda r=result: with_backward(L, lambda ctx, g: g, lambda ctx, a: r).apply(x))


@programs
def hooks_on_a_function(L, note):
    f = with_backward(L, lambda ctx, g: g * 3)
    x = leaf(L)
    z = f.apply(x)
    z.grad_fn.register_hook(lambda a, b: note("post", a, b))
    z.grad_fn.register_prehook(lambda g: (g[0] * 10,))
    z.register_hook(lambda g: note("tensor", g))
    z.backward()
    note(x.grad)


@programs
def errors_inside(L, note):
    def refuse(*_):
        raise ValueError("refused")

    x = leaf(L)
    note.error(lambda: with_backward(L, refuse).apply(x).backward())
    note.error(lambda: with_backward(L, lambda ctx, g: g, refuse).apply(x))
    note(L.is_grad_enabled(), x.grad)
    (x * 2).backward()
    note(x.grad)


@programs
def a_function_among_ops(L, note):
    class MyPow(L.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            result = a**b
            ctx.save_for_backward(a, b, result)
            return result

        @staticmethod
        def backward(ctx, g):
            a, b, result = ctx.saved_tensors
            return g * b * a ** (b - 1), g * result * a.log()

    x, q = leaf(L, 5.0), leaf(L, 3.0)
    z = MyPow.apply(x, q).log()
    note(z, z.grad_fn.next_functions)
    z.backward()
    note(x.grad, q.grad)


@pytest.mark.parametrize("program", programs, ids=programs.titles)
def test_as_in_pytorch(torch, program):
    assert_same_diary(program, torch)


def test_saved_inputs_are_the_very_tensors():
    class Keep(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(b, a)
            return a * b

        @staticmethod
        def backward(ctx, g):
            assert ctx.saved_tensors[0] is y and ctx.saved_tensors[1] is x
            return g, g

    x, y = minigrad.tensor(1.0, requires_grad=True), minigrad.tensor(2.0)
    Keep.apply(x, y).backward()
    assert x.grad.item() == 1.0


def test_the_node_is_the_context():
    class Mark(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.note = "kept"
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return g

    z = Mark.apply(minigrad.tensor(1.0, requires_grad=True))
    assert z.grad_fn.note == "kept"
    assert isinstance(z.grad_fn, minigrad.autograd.function.BackwardCFunction)
    assert repr(z) == "tensor(1., grad_fn=<MarkBackward>)"


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda d: pickle.loads(pickle.dumps(d))])
def test_dtypes_stay_themselves(how):
    assert how(minigrad.float32) is minigrad.float32
