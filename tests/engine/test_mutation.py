"""allow_mutation_on_saved_tensors: saved tensors are copied before they are written to."""

import weakref

import pytest
from functions import made
from watching import collector_off

import minigrad

pytestmark = pytest.mark.quick


def leaf(L):
    return L.tensor([1.0, 2.0, 3.0], requires_grad=True)


def leaf_and_clone(L):
    a = leaf(L)
    return a, a.clone()


def run(note, context, out, a):
    """What is kept when backward begins, and the gradient."""
    note(counts(context))
    out.backward()
    note(a.grad)


def counts(context):
    """How many tensors are kept as copies, as they are, and at all."""
    return [len(list(kept.items())) for kept in (context.cloned, context.original, context.tid_to_weakhandle)]


def allowed(L):
    return L.autograd.graph.allow_mutation_on_saved_tensors()


def test_as_documented(L, note):
    with allowed(L) as context:
        a, b = leaf_and_clone(L)
        out = (b**2).sum()
        note(counts(context))
        note(b.exp_())
        note(counts(context))
        out.backward()
        note(a.grad, counts(context))


def test_without_it(L, note):
    _, b = leaf_and_clone(L)
    out = (b**2).sum()
    b.exp_()
    note.error(out.backward)


def test_a_view_that_starts_where_its_base_does(L, note):
    with allowed(L) as context:
        a, b = leaf_and_clone(L)
        view = b[:1]
        out = (b**2).sum()
        view.mul_(10)
        note(counts(context), b)
        out.backward()
        note(a.grad)
        a, b = leaf_and_clone(L)
        view = b[:]
        out = (view**2).sum()
        b.mul_(2)
        out.backward()
        note(a.grad)


def test_results(L, note):
    with allowed(L) as context:
        a = leaf(L)
        b = a.exp()
        out = b.sum()
        b.mul_(2)
        run(note, context, out, a)


def test_without_gradients(L, note):
    """Writing under no_grad, through `.data` and through `detach()` counts as well."""
    with allowed(L) as context:
        a = leaf(L)
        b = a * 2
        out = (a * b).sum()
        with L.no_grad():
            a.mul_(10)
            b.zero_()
        run(note, context, out, a)
    with allowed(L) as context:
        a = leaf(L)
        out = (a * a).sum()
        a.data.mul_(10)
        note(counts(context))
        a.detach().mul_(2)
        out.backward()
        note(a.grad)


def test_several_times(L, note):
    with allowed(L) as context:
        a, b = leaf_and_clone(L)
        first = (b**2).sum()
        b.mul_(2)
        second = (b**2).sum()
        b.mul_(2)
        note(counts(context))
        (first + second).backward()
        note(a.grad)


def test_every_way_of_writing(L, note):
    with allowed(L):
        for write in (
            lambda b, a: b.add_(1),
            lambda b, a: b.copy_(a),
            lambda b, a: b.zero_(),
            lambda b, a: b.fill_(2.0),
            lambda b, a: b.__setitem__(0, 5.0),
            lambda b, a: b.__setitem__(slice(None), a),
            lambda b, a: b.__imul__(3),
        ):
            a, b = leaf_and_clone(L)
            out = (b * b).sum()
            write(b, a)
            out.backward()
            note(a.grad)


def test_gradients_that_are_added_to(L, note):
    """Backward adds to `.grad` in place: that is writing too."""
    with allowed(L) as context:
        a = leaf(L)
        (a * a).sum().backward()
        w = L.tensor([1.0, 1.0, 1.0], requires_grad=True)
        out = (a.grad * w).sum()
        (a * a).sum().backward()
        note(a.grad, counts(context))
        out.backward()
        note(w.grad)


def test_second_derivatives(L, note):
    with allowed(L) as context:
        a, b = leaf_and_clone(L)
        out = (b**3).sum()
        b.exp_()
        (g,) = L.autograd.grad(out, a, create_graph=True)
        note(g, counts(context))
        note(L.autograd.grad(g.sum(), a))


def test_functions(L, note):
    def forward(ctx, t):
        out = t * t
        ctx.save_for_backward(t, out)
        return out

    def backward(ctx, g):
        note(*ctx.saved_tensors)
        return g * 2 * ctx.saved_tensors[0]

    with allowed(L) as context:
        a, b = leaf_and_clone(L)
        out = made(L, forward, backward).apply(b)
        b.mul_(3)
        out.mul_(2)
        note(counts(context))
        out.sum().backward()
        note(a.grad)


def test_outside(L, note):
    with allowed(L):
        a = leaf(L)
        out = (a * a).sum()
    note.error(out.backward)
    with allowed(L):
        note.error(out.backward)
    note(a.grad)


def test_nested(L, note):
    def twice():
        with allowed(L), allowed(L):
            note("not reached")

    note.error(twice)
    with allowed(L) as context:
        a = leaf(L)
        (a * a).sum().backward()
        note(a.grad, counts(context))


def test_disabled(L, note):
    def enter():
        with L.autograd.graph.disable_saved_tensors_hooks("no hooks"), allowed(L):
            note("not reached")

    note.error(enter)
    with allowed(L):
        note("works again")


def test_errors_inside(L, note):
    def fail():
        with allowed(L) as context:
            a = leaf(L)
            kept.append((context, a * a))
            raise ValueError("inside")

    kept = []
    note.error(fail)
    note(counts(kept[0][0]))
    b = leaf(L)
    c = b.clone()
    out = (c * c).sum()
    c.zero_()
    note.error(out.backward)
    with allowed(L):
        note.error(lambda: b.mul_(2))


def test_cleared_at_the_end(L, note):
    with allowed(L) as context:
        _, b = leaf_and_clone(L)
        kept = b * b
        b.zero_()
        note(counts(context))
    note(counts(context), kept)


@pytest.mark.parametrize("saved", ["base", "view"])
def test_views_that_start_elsewhere(saved):
    """PyTorch compares where tensors start, and takes the changed numbers here without a word."""
    with minigrad.autograd.graph.allow_mutation_on_saved_tensors():
        a = minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
        b = a.clone()
        view = b[1:]
        out = ((b if saved == "base" else view) ** 2).sum()
        (view if saved == "base" else b).mul_(10)
        out.backward()
    assert a.grad.tolist() == ([2.0, 4.0, 6.0] if saved == "base" else [0.0, 4.0, 6.0])


def test_a_tensor_with_the_id_of_one_that_died():
    """What was copied before is not taken for it, nor for a tensor that was written to through `.data`."""
    with minigrad.autograd.graph.allow_mutation_on_saved_tensors():
        kept, leaves = [], []
        for i in range(50):
            leaves.append(minigrad.tensor([float(i)], requires_grad=True))
            b = leaves[-1].clone()
            kept.append((b * b).sum())
            b.zero_()
            del b
        for out in kept:
            out.backward()
        assert [leaf.grad.tolist() for leaf in leaves] == [[2.0 * i] for i in range(50)]
        a = minigrad.tensor([3.0], requires_grad=True)
        first = (a * a).sum()
        a.data.mul_(2)
        second = (a * a).sum()
        (first + second).backward()
        assert a.grad.tolist() == [6.0 + 12.0]


def test_copies_die_with_the_graph():
    with collector_off(), minigrad.autograd.graph.allow_mutation_on_saved_tensors() as context:
        a = minigrad.tensor([1.0, 2.0], requires_grad=True)
        b = a.clone()
        out = (b * b).sum()
        b.zero_()
        (copy,) = [weakref.ref(t) for t in context.cloned.values()]
        assert copy() is not None
        out.backward()
        assert copy() is None
