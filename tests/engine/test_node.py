"""Nodes against PyTorch: names, edges, metadata, calls, hooks and what hooks may return."""

import functools
import re
import weakref

import pytest
from functions import leaf, made
from twins import outcome

pytestmark = pytest.mark.quick


def test_what_a_node_shows(L, note):
    x = leaf(L, 1.0, 2.0)
    y = x * 2
    node, acc = y.grad_fn, y.grad_fn.next_functions[0][0]
    note(node.name(), node.next_functions, acc.name(), acc.next_functions, acc.variable is x)
    note(node is y.grad_fn, node == y.grad_fn, hash(node) == hash(y.grad_fn), node.requires_grad)
    note(str(type(node)))
    note(acc._sequence_nr(), (y * 2).grad_fn._sequence_nr() > node._sequence_nr())
    node._set_sequence_nr(10**9)
    note(node._sequence_nr())
    note.error(lambda: setattr(node, "colour", "red"))
    Node = L.autograd.graph.Node
    note([isinstance(n, Node) for n in (node, acc, x, 3, None)], issubclass(type(node), Node))


def test_metadata(L, note):
    x = leaf(L, 1.0, 2.0)
    y = x * 2
    node, acc = y.grad_fn, y.grad_fn.next_functions[0][0]
    note(node.metadata, node.metadata is node.metadata, acc.metadata)
    node.metadata["key"] = [1, "two"]
    del node
    note(y.grad_fn.metadata)
    y.sum().backward()
    note(y.grad_fn.metadata, (x * 2).grad_fn.metadata)


def test_calling_a_node(L, note):
    x, w = leaf(L, 1.0, 2.0), L.ones(3, 2, requires_grad=True)
    one = L.ones(2)
    node = (x * 2).grad_fn
    for args in ((one,), (one, one), (), (None,), (3,), (L.ones(3),), (one.double(),), ([one],)):
        note.error(lambda args=args: node(*args))
    note.error(lambda: node(one, out=one))
    square = (x * x).grad_fn
    note(square(one))
    with L.no_grad():
        note(square(one))
    note((x * one).grad_fn(L.tensor([3.0, 4.0], requires_grad=True)))
    note((x * w).grad_fn(L.ones(3, 2)), (x.double() * w).grad_fn(L.ones(3, 2, dtype=L.float64)))
    note((w @ x).grad_fn(L.ones(3)), x.sum().grad_fn(L.tensor(2.0)), x.exp().grad_fn(one))
    parts = w.unbind(0)
    note(parts[0].grad_fn(one, None, one))
    note.error(lambda: parts[0].grad_fn(one))
    y = x * 1
    y[0].mul_(5)
    note(y.grad_fn(one))
    s = (x * x).sum()
    s.backward()
    note.error(lambda: s.grad_fn.next_functions[0][0](one))
    note(x.grad)


def test_calling_a_node_runs_no_hooks(L, note):
    x = leaf(L, 1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: note("tensor", g))
    y.grad_fn.register_hook(lambda a, b: note("post", a, b))
    y.grad_fn.register_prehook(lambda a: note("pre", a))
    note(y.grad_fn(L.ones(2)))


def test_calling_an_accumulator(L, note):
    x = leaf(L, 1.0, 2.0)
    acc = (x * 1).grad_fn.next_functions[0][0]
    x.register_hook(lambda g: note("tensor", g))
    x.register_post_accumulate_grad_hook(lambda t: note("deposited", t.grad))
    one = L.ones(2)
    note(acc(one), x.grad)
    first = x.grad
    note(acc(one), x.grad is first, first)
    first = x.grad
    with L.no_grad():
        note(acc(one), x.grad is first, first)
    note(acc(None), x.grad)
    note(acc(L.ones(2, requires_grad=True)), x.grad)
    note.error(lambda: acc())
    note.error(lambda: acc(one, one))


def test_hooks_see_missing_gradients(L, note):
    Nothing = made(L, lambda ctx, a: a * 2, lambda ctx, g: None)
    x = leaf(L, 1.0, 2.0)
    y = x * 3
    y.register_hook(lambda g: note("tensor", g))
    y.retain_grad()
    y.grad_fn.register_prehook(lambda g: note("pre", g))
    y.grad_fn.register_hook(lambda a, b: note("post", a, b))
    x.register_hook(lambda g: note("leaf", g))
    x.register_post_accumulate_grad_hook(lambda t: note("deposited", t.grad))
    acc = y.grad_fn.next_functions[0][0]
    acc.register_prehook(lambda g: note("pre of the leaf", g))
    acc.register_hook(lambda a, b: note("post of the leaf", a, b))
    Nothing.apply(y).backward(L.ones(2))
    note(x.grad, y.grad)
    for register in ("register_hook", "register_prehook"):
        y = x * 3
        getattr(y.grad_fn, register)(lambda *args: tuple(L.ones(2) for _ in args[0]))
        note.error(lambda y=y: Nothing.apply(y).backward(L.ones(2)))
    y = x * 3
    y.register_hook(lambda g: L.ones(2))
    note.error(lambda: Nothing.apply(y).backward(L.ones(2)))


def test_several_outputs(L, note):
    w = L.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    a, b, c = w.unbind(0)
    b.register_hook(lambda g: note("b", g))
    a.register_hook(lambda g: note("a", g))
    a.grad_fn.register_prehook(lambda g: note("pre", g))
    a.grad_fn.register_hook(lambda sent, g: note("post", sent, g))
    (a * 2 + c).sum().backward()
    note(w.grad)
    a, b, c = w.unbind(0)
    a.grad_fn.register_prehook(lambda g: (g[0] * 100, g[1], None))
    (a * 2 + c).sum().backward()
    note(w.grad)


def test_what_hooks_return(L, note):
    one = L.ones(2)
    returned = [
        "a", 3, (one,), (one, one), [one], (), (3,), (None,), (None, None), L.ones(3), (L.ones(3),),
        (L.ones(3), None), one.double(), (one.double(),), (one.double(), None), (one, 3), one, (one, None),
        one.to(L.complex64), (one.to(L.complex64), None), one.long(),
    ]  # fmt: skip

    def attempt(register, value):
        x = leaf(L, 2.0, 3.0)
        y = x * 3

        def named(*args):
            return value

        register(x, y, named)
        note.error(lambda: (y * 1).sum().backward())
        note(x.grad)

    for value in returned:
        attempt(lambda x, y, hook: y.register_hook(hook), value)
        attempt(lambda x, y, hook: y.grad_fn.register_prehook(hook), value)
        attempt(lambda x, y, hook: y.grad_fn.register_hook(hook), value)
        attempt(lambda x, y, hook: y.grad_fn.next_functions[0][0].register_prehook(hook), value)
        attempt(lambda x, y, hook: y.grad_fn.next_functions[0][0].register_hook(hook), value)
        attempt(lambda x, y, hook: x.register_post_accumulate_grad_hook(hook), value)


def test_what_may_be_a_hook(L, note):
    class Hook:
        def __call__(self, *args):
            return L.ones(3)

    for hook in (
        Hook(),
        lambda g: L.ones(3),
        functools.partial(lambda a, g: L.ones(3), 1),
        3,
        lambda a, b, c: None,
    ):
        for register in ("register_hook", "register_prehook"):
            x = leaf(L, 2.0, 3.0)
            y = x * 3
            getattr(y.grad_fn, register)(hook)
            note.error(lambda y=y: y.sum().backward())
        x = leaf(L, 2.0, 3.0)
        x.register_hook(hook)
        note.error(lambda x=x: (x * 2).sum().backward())


def test_hooks_that_come_and_go_while_they_run(L, note):
    x = leaf(L, 2.0, 3.0)
    y = x * 3
    handles = {}

    def first(*args):
        note("first")
        handles["second"].remove()
        handles["third"] = y.grad_fn.register_prehook(lambda g: note("third"))

    y.grad_fn.register_prehook(first)
    handles["second"] = y.grad_fn.register_prehook(lambda g: note("second"))
    y.sum().backward(retain_graph=True)
    handles["third"].remove()
    y.sum().backward(retain_graph=True)
    note(x.grad)


def test_only_what_is_asked_for(L, note):
    x, w = leaf(L, 1.0, 2.0), leaf(L, 3.0, 4.0)
    y = x * w
    z = y.exp()
    y.register_hook(lambda g: note("y", g))
    y.grad_fn.register_prehook(lambda g: note("pre", g))
    y.grad_fn.register_hook(lambda a, b: note("post", a, b))
    x.register_hook(lambda g: note("x"))
    acc = y.grad_fn.next_functions[0][0]
    acc.register_prehook(lambda g: note("pre of x"))
    for inputs in ([y], [x], [y, x], [w], [z]):
        note("backward", len(inputs))
        L.autograd.backward(z, L.ones(2), inputs=inputs, retain_graph=True)
        note("grad")
        note(L.autograd.grad(z, inputs, L.ones(2), retain_graph=True))
    note(x.grad, w.grad)


def test_hooks_of_an_accumulator_live_with_it(L, note):
    x = leaf(L, 1.0, 2.0)
    y = x * 2
    y.grad_fn.next_functions[0][0].register_prehook(lambda g: note("hook"))
    y.sum().backward()
    z = x * 3
    z.sum().backward()
    del y, z
    (x * 4).sum().backward()
    note("no more")
    acc = (x * 5).grad_fn.next_functions[0][0]
    acc.register_prehook(lambda g: note("kept"))
    (x * 6).sum().backward()
    note(x.grad)


def test_order_of_leaves(L, note):
    """Leaves that become ready together, with several roots and inputs."""
    xs = [leaf(L, float(i)) for i in range(1, 8)]

    def watch():
        return [x.register_hook(lambda g, i=i: note(i)) for i, x in enumerate(xs)]

    mix = made(L, lambda ctx, *inputs: sum(inputs) * 1.0, lambda ctx, g: (g,) * 7)
    handles = watch()
    a, b = mix.apply(*xs), mix.apply(*reversed(xs))
    L.autograd.backward([a, b], retain_graph=True)
    note("one")
    L.autograd.backward([*xs, a], retain_graph=True)
    note("two")
    L.autograd.backward([a, b], inputs=[xs[5], xs[1], xs[3]], retain_graph=True)
    note("three")
    L.autograd.grad([b, a], [xs[6], xs[0], xs[3]], retain_graph=True)
    note([x.grad for x in xs], len(handles))


def test_no_weak_references(L, note):
    kind, text = outcome(weakref.ref, (leaf(L, 1.0) * 2).grad_fn)
    note(kind, re.sub(r"'.*?(\w+)'", r"\1", text))


def test_a_custom_node_is_not_called(L, note):
    note.error(made(L, lambda ctx, a: a * 1).apply(leaf(L, 1.0)).grad_fn, L.tensor(1.0))
