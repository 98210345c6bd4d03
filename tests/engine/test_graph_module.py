"""`autograd.graph` against PyTorch: edges as roots and inputs, hooks on several tensors, versions."""

import weakref

import pytest
from functions import leaf
from test_watched_engine import observed
from watching import collector_off

import minigrad

pytestmark = pytest.mark.quick


def test_what_an_edge_is(L, note):
    graph = L.autograd.graph
    x = leaf(L, 1.0, 2.0)
    y = x * 2
    edge = graph.get_gradient_edge(y)
    note(edge.node is y.grad_fn, edge.output_nr, edge.ownership_token, len(edge), edge._fields)
    note(graph.get_gradient_edge(x).node is y.grad_fn.next_functions[0][0])
    note(graph.get_gradient_edge(leaf(L, 1.0)).node.name())
    a, b = leaf(L, 1.0, 2.0).unbind(0)
    note(graph.get_gradient_edge(b).output_nr, graph.get_gradient_edge(b).node is a.grad_fn)
    note.error(lambda: graph.get_gradient_edge(L.tensor(1.0)))
    note(graph.GradientEdge(y.grad_fn, 0) == edge, isinstance(edge, tuple))


def test_edges_as_roots(L, note):
    edge_of = L.autograd.graph.get_gradient_edge
    x = leaf(L, 1.0, 2.0)
    y = x * x
    s = y.sum()

    def attempt(*args, **how):
        x.grad = None
        note.error(lambda: L.autograd.backward(*args, retain_graph=True, **how))
        note(x.grad)

    attempt(edge_of(s))
    attempt(edge_of(y))
    attempt(edge_of(y), L.ones(2))
    attempt(edge_of(y), L.ones(3))
    attempt(edge_of(y), L.ones(2, dtype=L.float64))
    attempt(edge_of(y), L.ones(2, dtype=L.complex64))
    attempt([edge_of(s), y], [None, L.ones(2)])
    attempt(edge_of(x), L.ones(2))
    attempt(edge_of(x))
    attempt(L.autograd.graph.GradientEdge(y.grad_fn, 0), L.ones(2))
    note(L.autograd.grad(edge_of(s), x, retain_graph=True))
    note(L.autograd.grad([s, edge_of(y)], [x], [None, L.ones(2)], retain_graph=True))
    note.error(lambda: L.autograd.grad(edge_of(y), x, L.ones(3, 2), is_grads_batched=True, retain_graph=True))
    note.error(lambda: L.autograd.grad(edge_of(y), x, L.ones(3, 3), is_grads_batched=True))
    (g,) = L.autograd.grad(edge_of(y), x, L.ones(2), create_graph=True)
    note(g)
    note.error(lambda: L.autograd.backward(edge_of((x.double() * 1j).sum())))


def test_edges_as_inputs(L, note):
    edge_of = L.autograd.graph.get_gradient_edge
    x, unused = leaf(L, 1.0, 2.0), leaf(L, 3.0)
    y = x * x
    s = y.sum()
    note(L.autograd.grad(s, [edge_of(y), x, edge_of(x)], retain_graph=True))
    note(L.autograd.grad(edge_of(s), edge_of(x), retain_graph=True))
    note(L.autograd.grad(s, {"y": edge_of(y)}, retain_graph=True))
    L.autograd.backward(s, inputs=[edge_of(y)], retain_graph=True)
    note(x.grad)
    L.autograd.backward(s, inputs=edge_of(x), retain_graph=True)
    note(x.grad)
    for how in ({}, {"allow_unused": True}, {"materialize_grads": True}):
        note.error(lambda how=how: L.autograd.grad(s, [edge_of(unused), x], retain_graph=True, **how))
    GradientEdge = L.autograd.graph.GradientEdge
    for wrong in (GradientEdge(None, 0), GradientEdge("a", 0), [(y.grad_fn, 0)], [y.grad_fn]):
        note.error(lambda wrong=wrong: L.autograd.grad(s, wrong, retain_graph=True))


def test_an_edge_keeps_the_graph(L, note):
    x = leaf(L, 1.0, 2.0)
    edge = L.autograd.graph.get_gradient_edge((x * x).exp())
    L.autograd.backward(edge, L.ones(2))
    note(x.grad)


def test_counting_writes(L, note):
    increment = L.autograd.graph.increment_version
    a = L.ones(2)
    increment(a)
    note(a._version)
    increment([a, a])
    note(a._version)
    increment(t for t in (a,))
    increment(())
    note(a._version)
    view = a[:1]
    increment(view)
    note(a._version, view._version, a.detach()._version)
    for wrong in (3, None, [3], [a, None]):
        note.error(increment, wrong)
    note(a._version)
    x = leaf(L, 1.0, 2.0)
    y = x * x
    increment(x)
    note.error(y.backward, L.ones(2))
    z = (x * 1).exp()
    w = z.sum()
    increment(z)
    note.error(w.backward)
    s = leaf(L, 3.0)
    t = s * s
    increment(s)
    note(s._version)
    note.error(t.backward)


def test_increment_in_inference_mode(L, note):
    with L.inference_mode():
        a = L.ones(2)
        L.autograd.graph.increment_version(a)
    L.autograd.graph.increment_version([a])
    note.error(lambda: a._version)


def test_when_all_have_arrived(L, note):
    a, b = leaf(L, 1.0, 2.0), leaf(L, 3.0, 4.0)
    c, d = a * b, a + b
    handle = L.autograd.graph.register_multi_grad_hook((a, b, c, d), lambda grads: note("hook", grads))
    note("c")
    c.sum().backward(retain_graph=True)
    note("c, a only")
    c.sum().backward(inputs=(a,), retain_graph=True)
    note("c + d")
    (c.sum() + (d * d).sum()).backward(retain_graph=True)
    note("c, c only")
    L.autograd.backward(c.sum(), inputs=[c], retain_graph=True)
    note(L.autograd.grad(c.sum(), c, retain_graph=True))
    note.error(lambda: L.autograd.grad(c.sum(), a, retain_graph=True))
    note.error(lambda: L.autograd.grad(c.sum(), [c, a], retain_graph=True))
    (a * 2).sum().backward()
    handle.remove()
    handle.remove()
    c.sum().backward()
    with L.autograd.graph.register_multi_grad_hook((a,), lambda grads: note("inside", grads)):
        (a * 2).sum().backward()
    (a * 2).sum().backward()


def test_when_the_first_has_arrived(L, note):
    a, b = leaf(L, 1.0, 2.0), leaf(L, 3.0, 4.0)
    c = a * b
    hook = L.autograd.graph.register_multi_grad_hook
    handle = hook((a, L.ones(2), c), lambda g: note("hook", g), mode="any")
    for _ in range(2):
        c.sum().backward(retain_graph=True)
    L.autograd.grad(c.sum(), [a], retain_graph=True)
    L.autograd.grad((b * 2).sum(), [b])
    handle.remove()
    c.sum().backward()


def test_wrong_use_of_such_hooks(L, note):
    hook = L.autograd.graph.register_multi_grad_hook
    a, c = leaf(L, 1.0, 2.0), L.ones(2)
    for args, how in (
        (((a,), print), {"mode": "some"}),
        (((c,), print), {}),
        (((3,), print), {}),
        (((3,), print), {"mode": "any"}),
        (((t for t in (a,)), print), {}),
        (((a,), print, "any"), {}),
    ):
        note.error(lambda args=args, how=how: hook(*args, **how) and None)
    hook((a,), lambda grads: "what is returned means nothing")
    hook((a,), lambda grad: 3, mode="any")
    (a * 2).sum().backward()
    note(a.grad)
    hook((), print)
    hook((a, a), lambda grads: 1 // 0)
    for _ in range(2):
        note.error(lambda: (a * 2).sum().backward())
    note(a.grad)


def test_one_tensor_twice_and_a_tensor_for_a_list(L, note):
    a = leaf(L, 1.0, 2.0)
    hook = L.autograd.graph.register_multi_grad_hook
    hook((a, a), lambda grads: note("twice", grads))
    hook(leaf(L, 1.0, 2.0), lambda grads: note("never", grads))
    (a * 2).sum().backward()


def test_such_a_hook_in_nested_passes(L, note):
    a, b = leaf(L, 1.0, 2.0), leaf(L, 3.0, 4.0)
    c = a * b
    root = c.sum()
    calls = []

    def inner(grads):
        note("hook", grads)
        calls.append(1)
        if len(calls) < 3:
            root.backward(retain_graph=True)

    L.autograd.graph.register_multi_grad_hook((c, a), inner)
    root.backward(retain_graph=True)
    note(a.grad)


def test_under_create_graph(L, note):
    a = leaf(L, 1.0, 2.0)
    b = a * a
    L.autograd.graph.register_multi_grad_hook((a, b), lambda grads: note(grads, L.is_grad_enabled()))
    (b * b).sum().backward(create_graph=True)
    (b * b).sum().backward()


def test_what_the_module_has(L, note):
    graph = L.autograd.graph
    for name in (
        "Node",
        "GradientEdge",
        "get_gradient_edge",
        "increment_version",
        "register_multi_grad_hook",
        "saved_tensors_hooks",
        "save_on_cpu",
        "disable_saved_tensors_hooks",
        "allow_mutation_on_saved_tensors",
    ):
        note(name, callable(getattr(graph, name)), name in graph.__all__)


@pytest.mark.parametrize("mode", ["all", "any"])
def test_a_hook_on_several_tensors_leaves_no_cycle(mode):
    class Marked(list):
        pass

    with collector_off():
        a = minigrad.tensor([1.0, 2.0], requires_grad=True)
        b = a * 3
        mark = Marked()
        minigrad.autograd.graph.register_multi_grad_hook((a, b), lambda grads, mark=mark: None, mode=mode)
        b.sum().backward()
        gone = weakref.ref(mark)
        del a, b, mark
        assert gone() is None


def test_observers_are_told():
    a, b = (minigrad.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    c = a * b
    hook = minigrad.autograd.graph.register_multi_grad_hook((a, c), lambda grads: None)
    with observed() as observer:
        told = observer.told
        observer.hook_starts = lambda node, kind, hook, index, grads: told.append((kind, node, len(grads)))
        observer.hook_ended = lambda grads, gave: told.append(("end", len(grads)))
        c.sum().backward()
    accumulator = c.grad_fn.next_functions[0][0]
    hooks = [event for event in told if event[0] in ("tensor", "multi", "end")]
    assert hooks == [
        ("tensor", c.grad_fn, 1),
        ("end", 1),
        ("tensor", accumulator, 1),
        ("multi", accumulator, 2),
        ("end", 2),
        ("end", 1),
    ]
    hook.remove()


def test_an_output_that_is_not_there():
    x = minigrad.tensor(2.0, requires_grad=True)
    y = x * 2
    edge = minigrad.autograd.graph.GradientEdge(y.grad_fn, 1)
    for call in (lambda: minigrad.autograd.backward(edge), lambda: minigrad.autograd.grad(y, edge)):
        with pytest.raises(RuntimeError, match="has no output 1"):
            call()
