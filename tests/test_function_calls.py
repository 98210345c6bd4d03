"""How custom Functions are called, against PyTorch: arguments, `setup_context`, modes, inheritance."""

from __future__ import annotations

import copy

import pytest
from functions import exponential, leaf, made, square
from twins import Programs, assert_same_diary, told

programs = Programs()


@programs
def functions_are_not_objects(L, note):
    f = square(L)
    made_one, warned = told(f)
    note([(kind, text.partition(">")[2]) for kind, text in warned], isinstance(made_one, f))
    note.error(made_one, leaf(L))
    legacy = type("Legacy", (L.autograd.Function,), {"forward": lambda self, a: a * 2})
    note.error(lambda: legacy()(leaf(L)))
    note.error(lambda: legacy.apply(leaf(L)))
    note(L.autograd.function.InplaceFunction(inplace=True).inplace)


@programs
def keyword_arguments(L, note):
    def forward(ctx, a, b=3, *rest):
        return a * b

    f = made(L, forward, lambda ctx, g: (g, None)[: len(ctx.needs_input_grad)])
    x = leaf(L)
    note(f.apply(x), f.apply(x, b=4), f.apply(a=x), f.apply(b=2, a=x), f.apply(a=x).grad_fn.needs_input_grad)
    note(f.apply(x, b=L.ones(2)).grad_fn.next_functions)
    for args, kwargs in (((x,), {"c": 4}), ((x,), {"a": 4}), ((), {"b": 4}), ((x, 2, 3), {"b": 1}), ((), {})):
        note.error(lambda a=args, k=kwargs: f.apply(*a, **k))


@programs
def keyword_arguments_with_setup_context(L, note):
    class F(L.autograd.Function):
        @staticmethod
        def forward(a, b=3, c=None):
            return a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            note(inputs, output, ctx.needs_input_grad, output.requires_grad, output.grad_fn)

        @staticmethod
        def backward(ctx, g):
            return g, None, None

    x = leaf(L)
    note(F.apply(x), F.apply(x, c=5), F.apply(b=2, a=x))
    for args, kwargs in (((x,), {"d": 4}), ((x,), {"a": 4}), ((), {}), ((x, 1, 2, 3), {})):
        note.error(lambda a=args, k=kwargs: F.apply(*a, **k))


@programs
def setup_context_that_goes_wrong(L, note):
    def refuse(ctx, inputs, output):
        raise ValueError("refused")

    note.error(made(L, lambda a: a * 2, setup_context=refuse).apply, leaf(L))
    note.error(made(L, lambda ctx, a: a * 2, setup_context=lambda ctx, i, o: None).apply, leaf(L))
    note.error(made(L, lambda a: a, setup_context=lambda ctx, i, o: ctx.save_for_backward(o)).apply, leaf(L))
    note.error(made(L, lambda a: a, setup_context=lambda ctx, i, o: ctx.save_for_forward(*i)).apply, leaf(L))
    note.error(
        made(L, lambda a: a, setup_context=lambda ctx, i, o: ctx.save_for_backward(*i)).apply, L.ones(2)
    )
    view = made(L, lambda a: a.view_as(a), setup_context=lambda ctx, i, o: ctx.save_for_backward(o))
    note(view.apply(leaf(L)).grad_fn.saved_tensors)


@programs
def vmap_attributes(L, note):
    f = L.autograd.Function
    note(f.generate_vmap_rule)
    note.error(f.vmap, None, None)
    note.error(f.jvp, None)
    note.error(f.backward, None)
    note.error(f.forward)
    note.error(f.setup_context, None, None, None)


@programs
def both_names_of_backward(L, note):
    both = made(L, lambda ctx, a: a * 2, vjp=lambda ctx, g: g)
    note.error(lambda: both.apply(leaf(L)).sum().backward())


@programs
def inherited_functions(L, note):
    class Base(L.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    class Child(Base):
        @staticmethod
        def backward(ctx, g):
            return Base.backward(ctx, g) * 10

    x = leaf(L)
    z = Child.apply(x)
    z.sum().backward()
    note(x.grad, z, Base.apply(x))


@programs
def nothing_is_recorded_without_grad_mode(L, note):
    def forward(ctx, a):
        note(ctx.next_functions, ctx.needs_input_grad, L.is_grad_enabled())
        ctx.save_for_backward(a)
        return a * 2

    f, x = made(L, forward), leaf(L)
    with L.no_grad():
        note(f.apply(x))
    note(f.apply(L.ones(2)), f.apply(x))


@programs
def grad_mode_inside_forward(L, note):
    inner = []

    def forward(ctx, a):
        with L.enable_grad():
            b = a.detach().requires_grad_()
            inner.append((b * b).sum())
        inner[0].backward()
        note(b.grad, a.requires_grad, (a * 2).requires_grad)
        return a * b.grad.detach()

    x = leaf(L)
    z = made(L, forward).apply(x)
    note(z, L.is_grad_enabled())
    z.sum().backward()
    note(x.grad)


@programs
def a_result_with_a_history_of_its_own(L, note):
    w = leaf(L)

    def forward(ctx, a):
        with L.enable_grad():
            return w * a.detach()

    x = leaf(L)
    z = made(L, forward).apply(x)
    note(z, z.grad_fn.next_functions)
    z.sum().backward()
    note(x.grad, w.grad)


@programs
def a_global_leaf_as_result(L, note):
    w = leaf(L)
    z = made(L, lambda ctx, a: w).apply(leaf(L))
    note(z is w, w, w.is_leaf)


@programs
def copies_of_what_a_function_made(L, note):
    z = square(L).apply(leaf(L))
    note.error(copy.deepcopy, z)
    e = exponential(L).apply(leaf(L))
    note(e.grad_fn.saved_tensors[0] is e, e.grad_fn.saved_tensors[0], e.detach())


@pytest.mark.parametrize("program", programs, ids=programs.titles)
def test_as_in_pytorch(torch, program):
    assert_same_diary(program, torch)
