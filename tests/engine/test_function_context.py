"""What `ctx` offers a custom Function, against PyTorch: saving, marking, flags, attributes, calling."""

import weakref

import pytest
from functions import leaf, made, square
from twins import outcome

import minigrad

pytestmark = pytest.mark.quick


def test_saving_inputs_outputs_intermediaries_and_none(L, note):
    def forward(ctx, a, b, k):
        middle = a * k
        out = middle * b + a
        ctx.save_for_backward(a, middle, None, out, b)
        note(ctx.to_save is not None, len(ctx.to_save), outcome(lambda: len(ctx.saved_tensors)))
        return out

    def backward(ctx, g):
        a, middle, nothing, out, b = ctx.saved_tensors
        note(a, middle, nothing, out, b, a is x, b is y, out is z, ctx.to_save)
        return g * (b * 3 + 1), g * middle, None

    f = made(L, forward, backward)
    x, y = leaf(L), leaf(L)
    z = f.apply(x, y, 3)
    note(z.grad_fn.saved_tensors, z.grad_fn.to_save)
    z.sum().backward()
    note(x.grad, y.grad)


def test_the_last_call_of_save_for_backward_counts(L, note):
    def forward(ctx, a, b):
        ctx.save_for_backward(a, 3)
        ctx.save_for_backward(b)
        return a * b

    f = made(L, forward, lambda ctx, g: (g * ctx.saved_tensors[0], len(ctx.saved_tensors) * g))
    x, y = leaf(L), leaf(L, 3.0, 4.0)
    f.apply(x, y).sum().backward()
    note(x.grad, y.grad)


def test_saving_what_is_no_tensor(L, note):
    x = leaf(L)
    for things in ((x, 3), ("word",), ([x],), (None, 2.0), ((x,), x)):
        steps = []

        def forward(ctx, a, things=things, steps=steps):
            ctx.save_for_backward(*things)
            steps.append("went on")
            return a * 2

        f = made(L, forward)
        note.error(f.apply, x)
        with L.no_grad():
            note.error(f.apply, x)
        note(steps, outcome(f.apply, L.ones(2)))


def test_old_attributes(L, note):
    def wrong(name, value):
        def forward(ctx, a):
            setattr(ctx, name, value)
            return a * 2

        return made(L, forward)

    x = leaf(L)
    for name in ("to_save", "dirty_tensors", "non_differentiable", "saved_for_forward"):
        for value in ((x,), [x], 3, None):
            note(name, outcome(wrong(name, value).apply, leaf(L)))
    for name in ("dirty_tensors", "non_differentiable"):
        note(name, outcome(wrong(name, (3,)).apply, x))
        note(name, outcome(wrong(name, (None,)).apply, x))


def test_requests_are_forgotten(L, note):
    names = ("to_save", "dirty_tensors", "non_differentiable", "saved_for_forward", "needs_input_grad")

    def forward(ctx, a):
        note([getattr(ctx, n) for n in names], ctx.metadata, len(ctx.next_functions), ctx.name())
        ctx.save_for_backward(a)
        b = a * 3
        ctx.mark_non_differentiable(b)
        note([getattr(ctx, n) is None for n in names])
        return a * 2, b

    z, _ = made(L, forward).apply(leaf(L))
    note([getattr(z.grad_fn, n) for n in names])


def test_saved_for_forward_needs_tensors(L, note):
    for things in ((3,), ("word", None)):
        f = made(L, lambda ctx, a, t=things: ctx.save_for_forward(*t))
        note.error(f.apply, leaf(L))

    def forward(ctx, a):
        ctx.save_for_forward(a, None)
        ctx.save_for_backward(a)
        note(ctx.saved_tensors)
        return a * 2

    z = made(L, forward, lambda ctx, g: (note(ctx.saved_tensors), g)[1]).apply(leaf(L))
    note(z.grad_fn.saved_tensors)
    z.sum().backward()


def test_freed_values(L, note):
    x = leaf(L)
    z = square(L).apply(x).sum()
    z.backward(retain_graph=True)
    note(z.grad_fn.next_functions[0][0].saved_tensors)
    z.backward()
    node = z.grad_fn.next_functions[0][0]
    note.error(lambda: node.saved_tensors)
    note.error(lambda: node._raw_saved_tensors)
    note.error(z.backward)
    note(node.needs_input_grad, node.next_functions, x.grad)


def test_nothing_saved_can_run_again(L, note):
    x = leaf(L)
    z = made(L, lambda ctx, a: a * 2, lambda ctx, g: g * 2).apply(x).sum()
    z.backward()
    node = z.grad_fn.next_functions[0][0]
    note.error(lambda: node.saved_tensors)
    w = made(L, lambda ctx, a: a * 2, lambda ctx, g: g * 2).apply(leaf(L, 1.0))
    w.backward()
    w.backward()
    note(x.grad, w)
    reads = made(L, lambda ctx, a: a * 2, lambda ctx, g: (note(ctx.saved_tensors), g)[1]).apply(leaf(L, 1.0))
    reads.backward()
    note.error(reads.backward)


def test_materialized_gradients(L, note):
    for flag in (True, False, None):

        def forward(ctx, a, flag=flag):
            if flag is not None:
                ctx.set_materialize_grads(flag)
            index = a.detach().long()
            return a * 2, a.sum(), index, "text", a.double()

        f = made(L, forward, lambda ctx, *grads: (note(*grads), grads[0])[1])
        x = leaf(L)
        outs = f.apply(x)
        note(*outs)
        outs[1].backward()
        note(x.grad)
    note.error(made(L, lambda ctx, a: ctx.set_materialize_grads(1)).apply, x)
    note.error(made(L, lambda ctx, a: ctx.set_materialize_grads(None)).apply, x)


def test_all_gradients_undefined(L, note):
    for flag in (True, False):

        def forward(ctx, a, flag=flag):
            ctx.set_materialize_grads(flag)
            return a * 2

        f = made(L, forward, lambda ctx, g: (note("got", g), None)[1])
        x = leaf(L)
        f.apply(f.apply(x)).sum().backward()
        note(x.grad)


def test_needs_input_grad(L, note):
    def forward(ctx, *args):
        note(ctx.needs_input_grad, type(ctx.needs_input_grad).__name__)
        return sum(a for a in args if L.is_tensor(a))

    def backward(ctx, g):
        note(ctx.needs_input_grad)
        return tuple(g if n else None for n in ctx.needs_input_grad)

    f = made(L, forward, backward)
    x, y = leaf(L, 1.0), leaf(L, 2.0)
    z = f.apply(x, L.tensor(1.0), 3, y * 2, "word", x.detach())
    L.autograd.grad(z, y, retain_graph=True)
    z.backward(inputs=[x])
    with L.no_grad():
        f.apply(x, y)
    z = f.apply(x, y)
    z.grad_fn.needs_input_grad = (False, True)
    z.backward()
    note(x.grad, y.grad)


def test_attributes_of_ctx(L, note):
    def forward(ctx, a, k):
        ctx.k, ctx.shape, ctx.op, ctx._private = k, a.shape, "op", [1]
        return a * k

    def backward(ctx, g):
        note(ctx.k, list(ctx.shape), ctx.op, ctx._private, ctx.__dict__)
        ctx.later = "yes"
        return g * ctx.k, None

    z = made(L, forward, backward).apply(leaf(L), 3)
    z.sum().backward()
    note(z.grad_fn.later, z.grad_fn.__dict__, z.grad_fn.k)
    note(outcome(setattr, z.grad_fn, "metadata", {})[0], outcome(setattr, z.grad_fn, "next_functions", ())[0])
    z.grad_fn.metadata["key"] = 1
    note(z.grad_fn.metadata)


def test_any_name_is_free(L, note):
    """What a Function keeps on its ctx meets nothing of the library's."""
    names = ["outputs", "op", "extra", "storage", "release", "speaks", "keep", "graph", "node", "inputs"]

    def forward(ctx, x):
        for name in names:
            setattr(ctx, name, name.upper())
        ctx.save_for_backward(x)
        return x * 2, x * 3

    def backward(ctx, g, h):
        note([getattr(ctx, name) for name in names], ctx.saved_tensors[0])
        return g * 2 + h * 3

    x = leaf(L)
    first, second = made(L, forward, backward).apply(x)
    first.register_hook(lambda g: note("hook", g))
    (first * second).sum().backward(retain_graph=True)
    note(first.output_nr, second.output_nr, x.grad, [getattr(first.grad_fn, name) for name in names])
    (g,) = L.autograd.grad((first * second).sum(), x, create_graph=True)
    note(g, g.requires_grad)


def test_the_node(L, note):
    from_class = L.autograd.function
    z = square(L).apply(leaf(L))
    node = z.grad_fn
    note(node.name(), type(node).__name__, [c.__name__ for c in type(type(node)._forward_cls).__mro__])
    note(isinstance(node, from_class.BackwardCFunction), isinstance(node, from_class.FunctionCtx))
    note(type(node)._forward_cls.__name__, type(node)._forward_cls._backward_cls is type(node))
    note(repr(node).partition(" at ")[0], node == z.grad_fn, node is z.grad_fn, len({node, z.grad_fn}))
    note(outcome(node, L.ones(2)), node.apply(L.ones(2)), weakref.ref(node)() is node)
    note([len(node._raw_saved_tensors), hasattr(node, "_saved_x"), hasattr(node, "variable")])
    note(isinstance(square(L), from_class.FunctionMeta), hasattr(from_class, "once_differentiable"))


def test_saved_values_that_were_written(L, note):
    Square = square(L)
    x = leaf(L, 2.0)
    y = x * 3
    z = Square.apply(y)
    y.detach().zero_()
    note.error(z.backward)
    z = Square.apply(x)
    with L.no_grad():
        x.add_(1)
    note.error(z.backward)
    note.error(lambda: Square.apply(x).backward())


def test_the_node_is_the_context():
    z = made(minigrad, lambda ctx, a: setattr(ctx, "note", "kept") or a * 1).apply(leaf(minigrad, 1.0))
    assert z.grad_fn.note == "kept"
    assert isinstance(z.grad_fn, minigrad.autograd.function.BackwardCFunction)
    assert repr(z) == "tensor(1., grad_fn=<MadeBackward>)"
