"""How custom Functions are called, against PyTorch: arguments, `setup_context`, modes, inheritance."""

import copy

from functions import exponential, leaf, made, square
from twins import outcome_and_warnings


def test_functions_are_not_objects(L, note):
    f = square(L)
    made_one, warned = outcome_and_warnings(f)
    note([(kind, text.partition(">")[2]) for kind, text in warned], isinstance(made_one, f))
    note.error(made_one, leaf(L))
    legacy = type("Legacy", (L.autograd.Function,), {"forward": lambda self, a: a * 2})
    note.error(lambda: legacy()(leaf(L)))
    note.error(lambda: legacy.apply(leaf(L)))
    note(L.autograd.function.InplaceFunction(inplace=True).inplace)


def test_keyword_arguments(L, note):
    def forward(ctx, a, b=3, *rest):
        return a * b

    f = made(L, forward, lambda ctx, g: (g, None)[: len(ctx.needs_input_grad)])
    x = leaf(L)
    note(f.apply(x), f.apply(x, b=4), f.apply(a=x), f.apply(b=2, a=x), f.apply(a=x).grad_fn.needs_input_grad)
    note(f.apply(x, b=L.ones(2)).grad_fn.next_functions)
    for args, kwargs in (((x,), {"c": 4}), ((x,), {"a": 4}), ((), {"b": 4}), ((x, 2, 3), {"b": 1}), ((), {})):
        note.error(lambda a=args, k=kwargs: f.apply(*a, **k))


def test_keyword_arguments_with_setup_context(L, note):
    def setup(ctx, inputs, output):
        note(inputs, output, ctx.needs_input_grad, output.requires_grad, output.grad_fn)

    apply = made(L, lambda a, b=3, c=None: a * b, lambda ctx, g: (g, None, None), setup_context=setup).apply
    x = leaf(L)
    note(apply(x), apply(x, c=5), apply(b=2, a=x))
    for args, kwargs in (((x,), {"d": 4}), ((x,), {"a": 4}), ((), {}), ((x, 1, 2, 3), {})):
        note.error(lambda a=args, k=kwargs: apply(*a, **k))


def test_setup_context_that_goes_wrong(L, note):
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


def test_vmap_attributes(L, note):
    f = L.autograd.Function
    note(f.generate_vmap_rule)
    note.error(f.vmap, None, None)
    note.error(f.jvp, None)
    note.error(f.backward, None)
    note.error(f.forward)
    note.error(f.setup_context, None, None, None)


def test_both_names_of_backward(L, note):
    both = made(L, lambda ctx, a: a * 2, vjp=lambda ctx, g: g)
    note.error(lambda: both.apply(leaf(L)).sum().backward())


def test_inherited_functions(L, note):
    Base = made(L, lambda ctx, a: a * 2, lambda ctx, g: g * 2)

    class Child(Base):
        @staticmethod
        def backward(ctx, g):
            return Base.backward(ctx, g) * 10

    x = leaf(L)
    z = Child.apply(x)
    z.sum().backward()
    note(x.grad, z, Base.apply(x))


def test_nothing_is_recorded_without_grad_mode(L, note):
    def forward(ctx, a):
        note(ctx.next_functions, ctx.needs_input_grad, L.is_grad_enabled())
        ctx.save_for_backward(a)
        return a * 2

    f, x = made(L, forward), leaf(L)
    with L.no_grad():
        note(f.apply(x))
    note(f.apply(L.ones(2)), f.apply(x))


def test_grad_mode_inside_forward(L, note):
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


def test_a_result_with_a_history_of_its_own(L, note):
    w = leaf(L)

    def forward(ctx, a):
        with L.enable_grad():
            return w * a.detach()

    x = leaf(L)
    z = made(L, forward).apply(x)
    note(z, z.grad_fn.next_functions)
    z.sum().backward()
    note(x.grad, w.grad)


def test_copies_of_what_a_function_made(L, note):
    z = square(L).apply(leaf(L))
    note.error(copy.deepcopy, z)
    e = exponential(L).apply(leaf(L))
    note(e.grad_fn.saved_tensors[0] is e, e.grad_fn.saved_tensors[0], e.detach())


def test_both_forms(L, note):
    def forward(ctx, a, b, k):
        ctx.save_for_backward(a, b)
        ctx.k = k
        note("forward", L.is_grad_enabled(), ctx.needs_input_grad, a.requires_grad)
        return a * b * k

    def setup(ctx, inputs, output):
        a, b, ctx.k = inputs
        ctx.save_for_backward(a, b)
        note("setup", len(inputs), output)

    def backward(ctx, g):
        a, b = ctx.saved_tensors
        note("backward", L.is_grad_enabled(), ctx.needs_input_grad, g, a, b)
        return g * b * ctx.k, g * a * ctx.k, None

    for f in (made(L, forward, backward), made(L, lambda a, b, k: a * b * k, backward, setup_context=setup)):
        x, y = leaf(L, 2.0), leaf(L, 3.0)
        z = f.apply(x, y, 4)
        note(z, z.grad_fn.name(), z.grad_fn.next_functions, z.grad_fn.needs_input_grad)
        note(z.grad_fn.saved_tensors[0] is x, z.grad_fn.k)
        z.backward()
        note(x.grad, y.grad)
        note.error(z.backward)
        note.error(lambda z=z: z.grad_fn.saved_tensors)
        note(f.apply(x, L.tensor(1.0), 2).grad_fn.next_functions)
        note(f.apply(L.tensor(1.0), L.tensor(1.0), 2))
        with L.no_grad():
            note(f.apply(x, y, 2))


def test_missing_methods(L, note):
    x = leaf(L)
    note.error(lambda: made(L, lambda ctx, a: a * 2, None).apply(x).sum().backward())
    note.error(lambda: made(L, None).apply(x))
    made(L, lambda ctx, a: a * 2, None, vjp=lambda ctx, g: g * 5).apply(x).sum().backward()
    note(x.grad)
