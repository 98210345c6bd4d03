"""Hooks on tensors, against PyTorch: order, replacement, removal and registration on the way, in-place
changes, wrong results."""

import pytest
from functions import leaf

pytestmark = pytest.mark.quick


def run(note, t, *leaves):
    t.sum().backward(retain_graph=True)
    note([x.grad for x in leaves])
    for x in leaves:
        x.grad = None


def test_order_and_replacement(L, note):
    x = leaf(L)
    for t in (x, x * 1):
        t.register_hook(lambda g: note("first", g))
        t.register_hook(lambda g: (note("second", g), g * 2)[1])
        t.register_hook(lambda g: (note("third", g), None)[1])
        t.register_hook(lambda g: (note("fourth", g), g + 1)[1])
        run(note, t * 3, x)


def test_a_hook_sees_the_sum_of_all_paths(L, note):
    x = leaf(L)
    y = x * 1
    x.register_hook(lambda g: note("x", g))
    y.register_hook(lambda g: note("y", g))
    run(note, y * 2 + y * y + x, x)


def test_wrong_results(L, note):
    for make in (lambda x: x, lambda x: x * 1):
        for result in (
            lambda g: 3,
            lambda g: "word",
            lambda g: [g],
            lambda g: (g,),
            lambda g: L.ones(3),
            lambda g: g.sum(),
            lambda g: g.double(),
            lambda g: g.long(),
            lambda g: False,
        ):
            x = leaf(L)
            t = make(x)
            t.register_hook(result)
            note.error(lambda t=t: (t * 1).sum().backward())
            note(x.grad)


def test_named_hooks_in_errors(L, note):
    def changes_shape(g):
        return g[:1]

    class Callable:
        def __call__(self, g):
            return g[:1]

    for hook in (changes_shape, Callable(), lambda g: g[:1]):
        x = leaf(L)
        x.register_hook(hook)
        note.error(lambda x=x: (x * 1).sum().backward())


def test_who_may_have_hooks(L, note):
    note.error(L.ones(2).register_hook, print)
    note.error(L.ones(2).register_post_accumulate_grad_hook, print)
    note.error((leaf(L) * 2).register_post_accumulate_grad_hook, print)
    note.error(leaf(L).detach().register_hook, print)


def test_removal(L, note):
    for make in (lambda x: x, lambda x: x * 1):
        x = leaf(L)
        t = make(x)
        handles = [t.register_hook(lambda g, k=k: (note(k), g * (k + 1))[1]) for k in range(3)]
        run(note, t * 1, x)
        handles[1].remove()
        handles[1].remove()
        run(note, t * 1, x)
        with t.register_hook(lambda g: g * 100) as handle:
            run(note, t * 1, x)
        run(note, t * 1, x)
        note(handle.remove())
        for handle in handles:
            handle.remove()
        run(note, t * 1, x)


def test_removal_and_registration_on_the_way(L, note):
    for make in (lambda x: x, lambda x: x * 1):
        x = leaf(L)
        t = make(x)
        handles = []

        def removes_itself(g, handles=handles):
            note("removes itself")
            handles[0].remove()

        def removes_the_next(g, handles=handles):
            note("removes the next")
            handles[2].remove()

        def registers(g, t=t, handles=handles):
            note("registers")
            handles.append(t.register_hook(lambda g: note("new", g)))

        handles += [t.register_hook(h) for h in (removes_itself, removes_the_next, lambda g: note("third"))]
        run(note, t * 1, x)
        run(note, t * 1, x)
        handles.append(t.register_hook(registers))
        run(note, t * 1, x)
        run(note, t * 1, x)


def test_hooks_registered_before_and_after_the_graph(L, note):
    x = leaf(L)
    x.register_hook(lambda g: note("before"))
    y = x * 2
    x.register_hook(lambda g: note("after"))
    run(note, y, x)
    del y
    run(note, x * 3, x)


def test_hooks_on_several_outputs(L, note):
    x = leaf(L)
    a, b = (x * 2).unbind()
    b.register_hook(lambda g: note("b", g))
    a.register_hook(lambda g: (note("a", g), g * 10)[1])
    run(note, a * 3, x)
    run(note, a * b, x)


def test_hooks_and_in_place_changes_of_views(L, note):
    x = leaf(L)
    y = x * 1
    v = y[0]
    y.register_hook(lambda g: note("base", g))
    v.register_hook(lambda g: note("view", g))
    v.mul_(3)
    y.register_hook(lambda g: note("base after", g))
    v.register_hook(lambda g: note("view after", g))
    run(note, y * 7 + v, x)


def test_hooks_that_write_to_their_gradient(L, note):
    x = leaf(L)
    y = x * 1
    y.register_hook(lambda g: (g.mul_(2), None)[1])
    run(note, y * 3, x)


def test_hooks_that_switch_requires_grad(L, note):
    x, w = leaf(L), leaf(L)
    y = x * w
    w.register_hook(lambda g: note("w", g))
    w.requires_grad = False
    run(note, y, x, w)
    w.requires_grad = True
    run(note, y, x, w)
    run(note, x * w, x, w)


def test_post_accumulate_hooks(L, note):
    x = leaf(L)
    x.register_hook(lambda g: note("tensor", g))
    handle = x.register_post_accumulate_grad_hook(lambda t: note("post", t is x, t.grad, L.is_grad_enabled()))
    second = x.register_post_accumulate_grad_hook(lambda t: note("second"))
    run(note, x * 2 + x * 3, x)
    handle.remove()
    run(note, x * 2, x)
    note(L.autograd.grad((x * 2).sum(), x))
    second.remove()

    def step(t):
        t.detach().sub_(0.1 * t.grad)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 2).sum().backward()
    note(x, x.grad, x._version)


def test_post_accumulate_hooks_with_create_graph(L, note):
    x = leaf(L)
    x.register_post_accumulate_grad_hook(lambda t: note(t.grad, L.is_grad_enabled()))
    (x * x).sum().backward(create_graph=True)
    note(x.grad)


def test_the_dictionary_of_hooks(L, note):
    x = leaf(L)
    note(x._backward_hooks)
    handle = x.register_hook(print)
    note(len(x._backward_hooks), handle.id in x._backward_hooks)
    handle.remove()
    note(len(x._backward_hooks))


def test_retained_leaves(L, note):
    x = leaf(L)
    x.retain_grad()
    x.register_hook(lambda g: g * 2)
    run(note, x * 1, x)
