"""`func.grad` and `grad_and_value` beside PyTorch's."""

import collections
import threading

import pytest
from functions import square, square_apart
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import examples
from trees import run, spelled, tensors
from twins import dialect, graph

import minigrad

pytestmark = pytest.mark.quick
Pair = collections.namedtuple("Pair", "a b")


def test_arguments(L, note):
    x, y, _ = tensors(L)
    grad = L.func.grad

    def f(x, y):
        return (x * y * y).sum()

    for argnums in (0, 1, -1, True, (0,), (1, 0), (0, -1)):
        run(note, grad(f, argnums=argnums), x, y)
    for argnums in (2, -3, (0, 0), (0, -2), (), "a", [0], (0, "a"), None, 1.0):
        run(note, grad(f, argnums=argnums), x, y)
    run(note, grad(lambda x, scale=2.0: (scale * x * x).sum()), x, scale=3.0)
    run(note, grad(lambda x, k: (k * x).sum()), x, 3)
    run(note, grad(f), x)
    note(grad(f).__name__, L.func.grad_and_value(f).__name__)


def test_structures(L, note):
    x, y, _ = tensors(L)
    grad = L.func.grad
    run(note, grad(lambda d: (d["a"] * d["b"][0]).sum()), {"a": x, "b": [y]})
    run(note, grad(lambda p: (p.a * p.b**2).sum()), Pair(x, y))
    run(note, grad(lambda t: (t[0] * t[1] ** 2).sum()), (x, y))
    run(note, grad(lambda d: d["z"].sum()), collections.OrderedDict(z=x, a=y))
    run(note, grad(lambda d: d["z"].sum()), collections.defaultdict(list, z=x))
    run(note, grad(lambda d: (d[0] * d[1]).sum()), collections.deque([x, y]))
    run(note, grad(lambda d, e: (d["a"] * e).sum(), argnums=(0, 1)), {"a": x}, y)
    run(note, grad(lambda d: x.sum()), [])
    for wrong in (1.0, None, {"a": x, "b": 2}, [x, "s"], L.tensor([1, 2]), (x, L.tensor([True]))):
        run(note, grad(lambda d: x.sum()), wrong)


def test_what_the_function_returns(L, note):
    x, _, w = tensors(L)
    returns = [
        lambda x: x,
        lambda x: 1.0,
        lambda x: None,
        lambda x: (x.sum(),),
        lambda x: x.sum().reshape(1),
        lambda x: L.tensor(2.0),
        lambda x: w.sum(),
        lambda x: x[0],
        lambda x: x.sum().long(),
        lambda x: x.sum().double(),
    ]
    for f in returns:
        run(note, L.func.grad(f), x)
        run(note, L.func.grad_and_value(f), x)
    run(note, L.func.grad_and_value(lambda x: x), L.tensor(2.0, requires_grad=True))
    run(note, L.func.grad_and_value(lambda x: x), L.tensor(2.0))


def test_auxiliary_results(L, note):
    x, y, w = tensors(L)
    for f in (
        lambda x: ((x**2).sum(), x * 3),
        lambda x: ((x**2).sum(), {"twice": x * 2, "itself": x, "outer": [w, w * x]}),
        lambda x: ((x**2).sum(), ()),
        lambda x: ((x**2).sum(), Pair(x, w)),
        lambda x: ((x**2).sum(), 3),
        lambda x: ((x**2).sum(), None),
        lambda x: (x**2).sum(),
        lambda x: ((x**2).sum(), x, x),
        lambda x: [(x**2).sum(), x],
    ):
        for at in (x, y):
            run(note, L.func.grad(f, has_aux=True), at)
            run(note, L.func.grad_and_value(f, has_aux=True), at)
            run(note, lambda f, at: L.func.vjp(f, at, has_aux=True)[::2], f, at)
    itself = L.func.grad(lambda x: ((x**2).sum(), x), has_aux=True)(x)[1]
    note(itself is x)


def test_inside_the_function(L, note):
    x, y, w = tensors(L)

    def f(x):
        note(x.requires_grad, x.is_leaf, x.grad_fn, x._version)
        cube = x**3
        note(cube.grad_fn.name(), cube.grad_fn.next_functions[0][0].name(), L.is_grad_enabled())
        return cube.sum()

    for at in (x, y, y * 2):
        L.func.grad(f)(at)
    run(note, L.func.grad(lambda x: x.mul_(2).sum()), x)
    run(note, L.func.grad(lambda x: x.mul_(2).sum()), y)
    run(note, L.func.grad(lambda x: x[0].mul_(2).sum()), x)
    run(note, L.func.grad(lambda x: x.clone().mul_(x).sum()), x)
    run(note, L.func.grad(lambda x: x.requires_grad_().sum()), x)
    run(note, L.func.grad(lambda x: (x * L.ones(2).requires_grad_()).sum()), x)

    def retains(x):
        y = x.sin()
        y.retain_grad()
        return y.sum()

    run(note, L.func.grad(retains), x)
    run(note, L.func.vmap(retains), x.reshape(-1, 1))
    run(note, L.func.grad(lambda x: ((x**2).sum().backward(), x.sum())[1]), x)
    run(note, L.func.grad(lambda x: L.autograd.functional.jacobian(lambda t: t * t, x).sum()), x)
    run(note, L.func.grad(lambda x: L.autograd.grad((x**3).sum(), x, create_graph=True)[0].sum()), x)
    run(note, L.func.grad(lambda x: (x.detach() * x).sum()), y)
    run(note, L.func.grad(lambda x: x.sum() if x.sum() > 2 else (x**2).sum()), x)
    run(note, L.func.grad(lambda x: (x * x.sum().item()).sum()), x)
    note(x, x._version, y.grad, w.grad)


def test_in_place_inside(L, note):
    x, y, w = tensors(L)

    def overwritten(x):
        t = x * 2
        t[0] = t[1] * x[0]
        t += w
        return (t * x).sum()

    def written(x):
        t = x * 2
        t[0] = x[1] * x[0]
        t += w
        t[1:].mul_(x[0])
        return (t * x).sum()

    for f in (overwritten, written):
        for at in (x, y):
            run(note, L.func.grad_and_value(f), at)
            run(note, L.func.grad(lambda t, f: (L.func.grad(f)(t) ** 2).sum()), at, f)
    run(note, L.func.grad(L.func.grad(lambda x: x.clone().mul_(x).mul_(x))), L.tensor(3.0))


def test_what_an_op_in_place_saved_may_be_shared(L, note):
    """A copy of what was there: its version is its own, not that of the tensor written to."""
    _, y, w = tensors(L)
    t = y * 2
    t.add_(1)
    t.mul_(w)
    note(t.grad_fn._saved_self.detach())
    t.sum().backward()
    note(y.grad, w.grad)


def test_closures(L, note):
    x, y, w = tensors(L)

    def f(x):
        return (w * x**2).sum()

    for at in (x, y, w):
        gradient, value = L.func.grad_and_value(f)(at)
        note(gradient, value, graph(gradient), graph(value))
        (gradient.sum() + value).backward()
        note(y.grad, w.grad)
        y.grad = w.grad = None
    note(L.func.grad(lambda t: (t * y).sum())(y), L.func.grad(lambda t: (t * t).sum())(y * 2))


def test_graphs_of_higher_order(L, note):
    x, y, w = tensors(L)
    grad = L.func.grad

    def cube(x):
        return (w * x**3).sum()

    for at in (x, y):
        second = grad(lambda t: (grad(cube)(t) ** 2).sum())(at)
        third = grad(lambda u: grad(lambda t: grad(cube)(t).sum())(u).sum())(at)
        for result in (second, third):
            note(result, graph(result))
            note(*L.autograd.grad(result.sum(), (w, y), allow_unused=True))


def test_levels_are_not_confused(L, note):
    """The classical traps: each gradient is by its own variable only."""
    grad = L.func.grad
    x, y = L.tensor(2.0), L.tensor(3.0, requires_grad=True)
    for at in (x, y):
        note(grad(lambda x: x * grad(lambda y: x + y)(L.tensor(1.0)))(at))
        note(grad(lambda x: x * grad(lambda y: x * y)(x))(at))
        note(grad(lambda x: x * grad(lambda x: x * x)(x) * grad(lambda y: x * y**2)(x))(at))
        note(grad(lambda x: grad(lambda y: grad(lambda z: x * y * z**2)(y))(x))(at))
        note(grad(grad(grad(grad(lambda x: x**5))))(at))
        note(grad(lambda x, at: at * x)(at, at), grad(lambda x: y * x)(at))


def test_no_grad_counts_inside_only(L, note):
    x, y, w = tensors(L)

    def f(x):
        with L.no_grad():
            c = w * x**2
        return (w * x - c).sum()

    def g(x):
        with L.no_grad():
            c = L.func.grad(lambda t: (t**3).sum())(x)
        return (x * c).sum()

    for function in (f, g):
        for at in (x, y):
            run(note, L.func.grad_and_value(function), at)
            with L.no_grad():
                run(note, L.func.grad_and_value(function), at)
                run(note, L.func.grad(lambda t, g: (w * L.func.grad(g)(t)).sum()), at, function)
                note(L.is_grad_enabled())
    with L.inference_mode():
        run(note, L.func.grad(lambda x: (x**2).sum()), x)
        note(L.is_grad_enabled(), L.is_inference_mode_enabled())


def test_saved_tensors_hooks(L, note):
    x, _, _ = tensors(L)
    hooks = L.autograd.graph.saved_tensors_hooks

    def inside(x):
        with hooks(lambda t: t, lambda t: t):
            return (x**2).sum()

    with hooks(lambda t: t, lambda t: t):
        run(note, L.func.grad(lambda x: (x**2).sum()), x)
        run(note, L.func.vjp, lambda x: x, x)
    run(note, L.func.grad(inside), x)
    with hooks(lambda t: t * 1, lambda t: t):
        note((x.clone().requires_grad_() ** 2).sum())


def test_custom_functions(L, note):
    Old, New = square(L), square_apart(L)
    x, y, _ = tensors(L)
    run(note, L.func.grad(lambda x: Old.apply(x).sum()), x)
    for at in (x, y):
        run(note, L.func.grad(lambda x: New.apply(x).sum()), at)
        run(note, L.func.grad(lambda t: L.func.grad(lambda x: (New.apply(x) * x).sum())(t).sum()), at)
    third = L.func.grad(L.func.grad(L.func.grad(lambda x: New.apply(x) * New.apply(x))))
    note(third(L.tensor(3.0)), third(L.tensor(3.0, requires_grad=True)))


def test_an_error_in_the_function(L, note):
    x, _, _ = tensors(L)

    def fails(x):
        raise KeyError("in the function")

    with L.no_grad():
        run(note, L.func.grad(fails), x)
        run(note, L.func.vjp, fails, x)
        note(L.is_grad_enabled())
    x.requires_grad_()
    (x * x).sum().backward()
    note(x.grad)


def test_complex_inputs(L, note):
    z = L.tensor([1 + 2j, 3 - 1j])
    run(note, L.func.grad(lambda z: (z * z.conj()).real.sum()), z)
    run(note, L.func.grad(lambda z: (z * z).sum()), z)
    out, vjp_fn = L.func.vjp(lambda z: z * z, z)
    note(out, vjp_fn(z))


def summed(f):
    return lambda x, y: f(x, y).sum()


TERMS = st.lists(
    st.sampled_from(
        ["x * y", "x ** 3", "y.sin()", "(x * x).exp()", "x / (y * y + 1)", "y ** 2 * 3", "x.tanh() * y"]
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=examples(60))
@given(terms=TERMS, order=st.lists(st.sampled_from([0, 1]), min_size=1, max_size=3), learn=st.booleans())
def test_random_functions(torch, terms, order, learn):
    """Repeated gradients of a random function, by one argument or the other."""
    source = eval("lambda x, y: (" + " + ".join(terms) + ").sum()")

    def found(L):
        f = source
        for argnum in order:
            f = summed(L.func.grad(f, argnums=argnum))
        x = L.tensor([0.5, -0.3], dtype=L.float64, requires_grad=learn)
        y = L.tensor([0.7, 0.2], dtype=L.float64)
        result = L.func.grad_and_value(f, argnums=(0, 1))(x, y)
        return spelled(result), [graph(t) for t in (*result[0], result[1])]

    with dialect("2"):
        ours, theirs = found(minigrad), found(torch)
    assert repr(ours) == repr(theirs)


def test_threads_do_not_meet():
    """Each thread is inside its own transforms: modes, refusals and levels are its own."""
    found = []

    def work(scale):
        x = minigrad.tensor([1.0, 2.0])
        for _ in range(20):
            first = minigrad.func.grad(lambda u: (scale * u**3).sum())
            result = minigrad.func.grad(lambda t, f: (f(t) ** 2).sum())(x, first)
            y = minigrad.ones(2, requires_grad=True)
            (y * scale).sum().backward()
            found.append((scale, result.tolist(), y.grad.tolist()))

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    for scale, second, first in found:
        assert second == [36 * scale**2, 288 * scale**2] and first == [scale, scale]
