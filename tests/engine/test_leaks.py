"""Nothing is left of a graph that is dropped, without the cycle collector: thousands of graphs of every kind.

`backward(create_graph=True)` makes a cycle in PyTorch as well (a leaf, its gradient, the gradient's graph),
so second derivatives are taken with `grad`.
"""

import contextlib
import gc
import itertools
import tracemalloc

import pytest
from functions import exponential, leaf, made, square
from tiers import examples
from watching import collector_off

import minigrad as torch
from minigrad import autograd

GRAPHS = examples(60)  # of each kind and ending: more than 10,000 in all with --full
SQUARE, EXP = square(torch), exponential(torch)
KINDS = {}


def kind(build):
    """Enter a function that makes a 0-dim result of a leaf with two elements."""
    KINDS[build.__name__] = build
    return build


@kind
def ops(x):
    return ((x * 2 + 1).exp().log() ** 2).sum()


@kind
def tensor_hooks(x):
    y = x * 2
    y.register_hook(lambda g: g * 2)
    handle = y.register_hook(lambda g: None)
    handle.remove()
    with (y * 1).register_hook(print):
        return (y * y).sum()


@kind
def node_hooks(x):
    y = x * 2
    y.grad_fn.register_hook(lambda ins, outs: None)
    y.grad_fn.register_prehook(lambda outs: None)
    y.grad_fn.metadata["note"] = [1, 2]
    return (y * y).sum()


@kind
def hooks_on_leaves(x):
    x.register_hook(lambda g: g * 2)
    x.register_post_accumulate_grad_hook(lambda t: None)
    node = (x * 2).grad_fn.next_functions[0][0]
    node.register_hook(lambda ins, outs: None)
    return (x * x).sum()


@kind
def multi_grad_hooks(x):
    y, z = x * 2, x * 3
    autograd.graph.register_multi_grad_hook((y, z), lambda grads: None)
    autograd.graph.register_multi_grad_hook((y, z), lambda grad: None, mode="any")
    return (y * z).sum()


@kind
def retained(x):
    y = x * 2
    y.retain_grad()
    return (y * y).sum()


@kind
def functions_that_save_inputs(x):
    return SQUARE.apply(SQUARE.apply(x)).sum()


@kind
def functions_that_save_outputs(x):
    return EXP.apply(EXP.apply(x * 0.1)).sum()


def middle(ctx, a):
    b, c = a * 2, a * 3
    ctx.save_for_backward(a, b, None, c)
    ctx.shape, ctx.things = a.shape, [b]
    ctx.mark_non_differentiable(b)
    return b, c


MIDDLE = made(torch, middle, lambda ctx, g, h: h * 3 + ctx.saved_tensors[1] * 0)


@kind
def functions_that_save_intermediaries(x):
    return MIDDLE.apply(x)[1].sum()


AS_IT_IS = made(
    torch, lambda ctx, a: (ctx.save_for_backward(a), a)[1], lambda ctx, g: g * ctx.saved_tensors[0]
)


@kind
def functions_that_return_their_input(x):
    return AS_IT_IS.apply(AS_IT_IS.apply(x)).sum()


def doubled(ctx, a):
    a.mul_(2)
    ctx.mark_dirty(a)
    ctx.save_for_backward(a)
    return a


DOUBLED = made(torch, doubled, lambda ctx, g: g * 2 + ctx.saved_tensors[0] * 0)


@kind
def functions_in_place(x):
    y, z = x * 1, x * 2
    return (DOUBLED.apply(y) * DOUBLED.apply(z[1:])).sum()


OUTER = made(
    torch,
    lambda ctx, a: (ctx.save_for_backward(a), a**3)[1],
    lambda ctx, g: g * 3 * SQUARE.apply(ctx.saved_tensors[0]),
)


@kind
def functions_inside_functions(x):
    return OUTER.apply(x).sum()


ONCE = made(torch, lambda ctx, a: a * 2, autograd.function.once_differentiable(lambda ctx, g: g * 2))


@kind
def functions_differentiable_once(x):
    return (ONCE.apply(x) ** 2).sum()


@kind
def views(x):
    y = x.view(2, 1)[0] * x[1] + x.detach()[0]
    a, b = x.unbind()
    return (y * a * b).sum()


@kind
def in_place(x):
    y = (x * 2).mul_(x).add_(1)
    v = y[1:]
    v.mul_(x[:1])
    y[0] = x[1] * 3
    v *= 2
    return y.exp_().sum()


@kind
def modes_around(x):
    with torch.no_grad():
        y = x * 2
        with torch.enable_grad():
            z = x * y
    with torch.inference_mode():
        w = x * 2
        w.add_(1)
    return z.sum()


@kind
def saved_tensor_hooks(x):
    with autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        y = SQUARE.apply(x) * x
    with autograd.graph.save_on_cpu():  # not of an op that saves its result: that makes a cycle in PyTorch
        return (y * y).sum()


@kind
def anomaly_mode(x):
    with autograd.detect_anomaly():
        return (SQUARE.apply(x) * x).sum()


@kind
def inside_each_other(x):
    def run_another(g):
        with torch.enable_grad():
            inner = leaf(torch)
            (inner * inner).sum().backward()
        return g * inner.grad

    y = x * 3
    y.register_hook(run_another)
    return (y * y).sum()


def never(x, z):
    """The graph is dropped as it is."""


def backward(x, z):
    z.backward()


def backward_twice(x, z):
    z.backward(retain_graph=True)
    z.backward()


def grad(x, z):
    autograd.grad(z, x)


def kept(x, z):
    autograd.grad(z, x, retain_graph=True)


def graph_of_the_gradient(x, z):
    autograd.grad(z, x, create_graph=True)


def hook_that_fails(x, z):
    z.grad_fn.next_functions[0][0].register_prehook(fail)
    failing(z)


def leaf_hook_that_fails(x, z):
    x.register_hook(fail)
    failing(z)


def fail(*_):
    raise ValueError("refused")


def failing(z):
    with contextlib.suppress(ValueError):
        z.backward()
        raise AssertionError("the hook did not run")


ENDINGS = (
    never,
    backward,
    backward_twice,
    grad,
    kept,
    graph_of_the_gradient,
    hook_that_fails,
    leaf_hook_that_fails,
)
pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Error detected in")


def second_order(x, z):
    (g,) = autograd.grad(z, x, create_graph=True)
    if g.requires_grad:
        autograd.grad(g.sum(), x, allow_unused=True)


def go(build, end, times):
    for _ in range(times):
        x = leaf(torch, 0.5, 1.5)
        end(x, build(x))


@pytest.mark.parametrize("name", KINDS)
def test_no_object_is_left(name):
    build, left = KINDS[name], {}
    with collector_off():
        for end in ENDINGS if name == "functions_differentiable_once" else (*ENDINGS, second_order):
            go(build, end, 5)  # what is made once
            before = len(gc.get_objects())
            go(build, end, GRAPHS)
            left[end.__name__] = (len(gc.get_objects()) - before) / GRAPHS
    # The interpreter may make an object or two of its own meanwhile; a leak is at least one of each graph.
    assert {e: n for e, n in left.items() if n > 0.5} == {}, "objects are left of each graph"


@pytest.mark.full
def test_memory_is_where_it_was():
    """In bytes, which counts what the collector does not know (arrays, numbers, texts). Caches of Python and
    NumPy fill up on the way, so of several rounds the one with the least growth counts.
    """
    pairs = [(build, end) for build in KINDS.values() for end in ENDINGS]
    sizes = []
    with collector_off():
        tracemalloc.start()
        try:
            for _ in range(5):
                for build, end in pairs:
                    go(build, end, 3)
                assert gc.collect() < len(pairs)  # it empties Python's lists of free objects
                sizes.append(tracemalloc.get_traced_memory()[0])
        finally:
            tracemalloc.stop()
    growth = min(b - a for a, b in itertools.pairwise(sizes)) / (3 * len(pairs))
    assert growth < 30, f"{growth:.0f} bytes are left of each graph"
