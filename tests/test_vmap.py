"""`vmap` beside PyTorch's: PyTorch runs the function once on a batch, minigrad once for each example."""

from __future__ import annotations

import collections
import functools

import pytest
from functions import square_apart
from hypothesis import given, settings
from hypothesis import strategies as st
from sample import examples
from trees import values
from twins import Programs, assert_same_diary, dialect, outcome

import minigrad
from minigrad.func import pytree

programs = Programs()
Pair = collections.namedtuple("Pair", "a b")


def batch(L, *shape, learn=False):
    count = 1
    for n in shape:
        count *= n
    return L.linspace(1, 2, count).reshape(shape).detach().requires_grad_(learn)


def run(note, function, *args, **kwargs):
    note(values(outcome(lambda: function(*args, **kwargs))))


def double(x):
    return x * 2


def times(x, y):
    return x * y


@programs
def input_dimensions(L, note):
    x, y, v = batch(L, 3, 2), batch(L, 2, 3), batch(L, 3)
    vmap = L.vmap
    for dims in (0, 1, -1, -2, 2, -3, (0,), (1,), (0, 0), (None,), None, [0], ("a",), (1.5,), 1.5, ((0,),)):
        run(note, vmap(double, in_dims=dims), x)
    for dims in (0, (None, None), (0, 1), (1, 0), (1, 1), (0, (0,)), (0,)):
        run(note, vmap(times, in_dims=dims), x, y)
    for dims in ((0, None), (None, 0)):
        run(note, vmap(times, in_dims=dims), x[0], x[0])
    run(note, vmap(times, in_dims=(0, 0)), x, v)
    run(note, vmap(times), x, y)
    run(note, vmap(times, in_dims=(0, None)), x, 3)
    run(note, vmap(times), x, 3)
    run(note, vmap(double), 3)
    run(note, vmap(double), "a")
    run(note, vmap(double), L.tensor(1.0))
    run(note, vmap(double))
    run(note, vmap(lambda k, x: x, in_dims=(None, 0)), {"n": 3}, x)
    run(note, vmap(functools.partial(times, y=3), in_dims=[1]), x)
    run(note, vmap(functools.partial(times, y=3)), x)
    run(note, vmap(double, in_dims=(0, 0)), [x, x])


@programs
def nested_inputs(L, note):
    x, y = batch(L, 3, 2), batch(L, 2, 3)
    vmap = L.vmap
    run(note, vmap(lambda d: d["x"] * d["y"]), {"x": x, "y": x})
    run(note, vmap(lambda d: d["x"] * d["y"], in_dims=({"x": 0, "y": 1},)), {"x": x, "y": y})
    run(note, vmap(lambda d: d["x"] * d["y"], in_dims=({"x": 0, "y": None},)), {"x": x, "y": x[0]})
    run(note, vmap(lambda d: d["x"] * d["y"], in_dims=({"x": 0, "z": None},)), {"x": x, "y": x[0]})
    run(note, vmap(lambda d: d["x"], in_dims={"x": 0}), {"x": x})
    run(note, vmap(lambda p, q: p.a * p.b + q[0], in_dims=(Pair(0, None), [1])), Pair(x, x[0]), [y])
    run(note, vmap(lambda p: p[0] * p[1], in_dims=((0, None),)), [x, x[0]])
    run(note, vmap(lambda p: p[0] * p[1], in_dims=([0, (1,)],)), [x, y])
    run(note, vmap(lambda p: p[0] * p[1][0], in_dims=([0, (1,)],)), [x, (y,)])


@programs
def output_dimensions(L, note):
    x = batch(L, 3, 2)
    v = L.ones(2)
    for dims in (0, 1, -1, -2, 2, -3, (1,), (0, 1), [0], None, "a", 1.5, ("a",), (None,), {"a": 0}):
        run(note, L.vmap(double, out_dims=dims), x)

    def several(x):
        return x, {"sum": x.sum(), "twice": [x * 2]}

    for dims in (0, (1, 0), (1, {"sum": 0, "twice": [1]}), (1, {"sum": 0}), (0,), [0, 0], (0, None)):
        run(note, L.vmap(several, out_dims=dims), x)
    for f in (
        lambda x: (x, v * 2),
        lambda x: (x, v),
        lambda x: (x, 3),
        lambda x: (x, None),
        lambda x: (x, x.detach()),
        lambda x: (x, x.shape[0]),
    ):
        run(note, L.vmap(f, out_dims=(0, None)), x)
    run(note, L.vmap(lambda x: v), x)
    run(note, L.vmap(lambda x: v, out_dims=None), x)
    for f in (lambda x: 1.0, lambda x: None, lambda x: (x, 1), lambda x: [x, "s"], lambda x: x.shape):
        run(note, L.vmap(f), x)
    run(note, L.vmap(lambda x: ()), x)
    run(note, L.vmap(lambda x: Pair(x, x * x)), x)
    run(note, L.vmap(lambda x: x > 1.5), x)
    run(note, L.vmap(lambda x: x.long()), x)


@programs
def options(L, note):
    x = batch(L, 5, 2)
    for size in (None, 1, 2, 3, 5, 9, 0, -1):
        run(note, lambda n: L.vmap(times, in_dims=(0, None), chunk_size=n)(x, x[0]), size)
    for randomness in ("error", "same", "different", "loud", None):
        run(note, lambda how: L.vmap(double, randomness=how)(x), randomness)
    run(note, L.vmap(lambda x, y=1: x * y), x, y=x[0])
    run(note, L.vmap(lambda x, y=1: x * y), x)
    note(L.vmap(double).__name__)
    run(note, L.vmap(double), batch(L, 0, 3))
    run(note, L.vmap(lambda x: (x.sum(), x > 0), out_dims=(0, 1)), batch(L, 0, 3))


@programs
def refused_inside(L, note):
    x = batch(L, 3, 2)
    v = L.ones(2)
    for f in (
        lambda x: x.sum().item(),
        lambda x: float(x.sum()),
        lambda x: int(x.sum()),
        lambda x: x if x.sum() > 1 else -x,
        lambda x: x if (x > 0).sum() else -x,
        lambda x: x.numpy(),
        lambda x: x.sum().tolist(),
        lambda x: x.tolist(),
        lambda x: x * v.sum().item(),
        lambda x: x if v.sum() > 1 else -x,
        lambda x: x * float(v[0]),
        lambda x: x.requires_grad_(),
        lambda x: (x.sum().backward(), x)[1],
        lambda x: x.detach().sum().item(),
        lambda x: L.func.grad(lambda t: (t * t).sum())(x).sum().item(),
        lambda x: L.func.jacrev(lambda t: t * t)(x).sum().item(),
        lambda x: L.func.vjp(lambda t: t * t, x)[1](x)[0].sum().item(),
    ):
        run(note, L.vmap(f), x)
    run(note, lambda: L.vmap(lambda x: L.vmap(lambda y: y * x.sum().item())(x))(x))
    run(note, lambda: L.vmap(lambda x: L.vmap(lambda y: x * 2, out_dims=None)(x))(x))
    run(note, lambda: L.vmap(lambda x: L.vmap(lambda y: x * y, out_dims=None)(x))(x))
    for f in (lambda y: y * y if y > 0 else y, lambda y: y * y.item(), lambda y: y * y.tolist()):
        run(note, L.vmap(lambda x, f: L.func.grad(f)(x.sum()), in_dims=(0, None)), x, f)
        run(note, L.vmap(lambda x, f: L.func.jvp(f, (x.sum(),), (x.sum(),)), in_dims=(0, None)), x, f)
        run(note, L.func.grad(lambda x, f: L.vmap(lambda y: f(y.sum()))(x).sum()), x, f)
    note(x.sum().item() > 0, bool(v.sum() > 1))


@programs
def in_place(L, note):
    x, y = batch(L, 3, 2), batch(L, 3, 2)

    def own(x):
        t = x * 2
        t += x
        t[0] = x[1]
        t.mul_(3)
        return t

    run(note, L.vmap(own), x)
    run(note, L.vmap(lambda x: x.add_(1)), x)
    run(note, L.vmap(lambda x, y: x.mul_(y)), x, y)
    run(note, L.vmap(lambda x, y: x.mul_(y), in_dims=(0, None)), x, y[0])
    note(x, x._version > 0)
    for name in ("add_", "sub_", "mul_", "div_"):
        shared = L.ones(2)
        f = functools.partial(lambda name, x, t: getattr(t, name)(x * 2), name)
        run(note, L.vmap(f, in_dims=(0, None)), x, shared)
        note(shared, shared._version)

    def fills(x):
        t = L.zeros(2)
        t[0] = x[0]
        return t

    run(note, L.vmap(fills), x)


@programs
def gradients_of_examples(L, note):
    x = batch(L, 3, 2)
    w = batch(L, 2, learn=True)
    grad = L.func.grad

    def loss(w, x):
        return ((w * x).sum() - 1) ** 2

    run(note, L.vmap(grad(loss), in_dims=(None, 0)), w, x)
    run(note, L.vmap(grad(loss, argnums=(0, 1)), in_dims=(None, 0)), w.detach(), x)
    run(note, L.vmap(L.func.grad_and_value(loss), in_dims=(None, 0)), w, x)
    run(note, L.vmap(L.func.jacrev(double)), x)
    run(note, L.vmap(L.func.jacfwd(lambda x: x * x)), x)
    run(note, L.vmap(L.func.hessian(lambda x: (w * x**3).sum())), x)
    run(note, L.vmap(lambda x: L.func.jvp(lambda t: t * t, (x,), (x,))[1]), x)
    run(note, L.vmap(lambda x: L.func.vjp(lambda t: w * t * t, x)[1](x)[0]), x)
    run(note, grad(lambda x: L.vmap(lambda r: (w * r**3).sum())(x).sum()), x)
    run(note, grad(lambda x: (L.vmap(grad(lambda r: (w * r**3).sum()))(x) ** 2).sum()), x)
    run(note, L.func.jacrev(L.vmap(lambda r: (w * r).sum())), x)
    run(note, L.func.jacfwd(L.vmap(lambda r: (w * r).sum())), x)
    run(note, lambda: L.func.jvp(L.vmap(lambda r: w * r * r, out_dims=1), (x,), (x,)))


@programs
def backward_outside(L, note):
    x, w = batch(L, 3, 2, learn=True), batch(L, 2, learn=True)
    for f in (
        L.vmap(lambda r: w * r * r),
        L.vmap(lambda r: (r * r).sum(), in_dims=1),
        L.vmap(L.func.grad(lambda r: (w * r**3).sum())),
        L.vmap(lambda r: w),
        L.vmap(lambda r: r.detach() * w),
    ):
        result = f(x)
        note(values(result), result.is_leaf)
        (result**2).sum().backward()
        note(x.grad, w.grad)
        x.grad = w.grad = None
    with L.no_grad():
        run(note, L.vmap(lambda r: w * r), x)
    run(note, L.vmap(double), L.tensor([1, 2]))


@programs
def vmap_in_vmap(L, note):
    x, y = batch(L, 3, 2), batch(L, 2, 4)
    vmap = L.vmap
    run(note, vmap(vmap(double)), x)
    run(note, vmap(vmap(times), in_dims=(None, 1)), x[0], y)
    run(note, vmap(vmap(times, in_dims=(0, None)), in_dims=(None, 1)), y.sum(0), y)
    run(note, vmap(lambda r: vmap(lambda s: r.sum() + s)(x)), y)
    run(note, vmap(lambda r: vmap(lambda s: r.sum() + s, out_dims=-1)(x), out_dims=2), y)
    run(note, vmap(vmap(vmap(double, out_dims=0), in_dims=1), in_dims=2), batch(L, 2, 3, 4))
    run(note, vmap(lambda r: vmap(lambda s: (s, r), out_dims=(0, None))(x)), y)


@programs
def custom_functions(L, note):
    Plain = square_apart(L)

    class Generated(Plain):
        generate_vmap_rule = True

    class Own(Plain):
        @staticmethod
        def vmap(info, in_dims, x):
            return Own.apply(x), in_dims[0]

    class Both(Own):
        generate_vmap_rule = True

    x = batch(L, 3, 2)
    for cls in (Plain, Generated, Own, Both):
        run(note, L.vmap(cls.apply), x)
        run(note, L.vmap(L.func.grad(lambda r, f: f(r).sum()), in_dims=(0, None)), x, cls.apply)
        run(note, L.func.grad(lambda x, f: L.vmap(f)(x).sum()), x, cls.apply)


@programs
def after_an_error(L, note):
    def fails(x):
        raise KeyError("in the function")

    x = batch(L, 3, 2)
    run(note, L.vmap(fails), x)
    run(note, L.vmap(lambda r: L.vmap(fails)(r)), x)
    x.requires_grad_()
    (x * x).sum().backward()
    note(x.grad)


@pytest.mark.parametrize("program", programs, ids=programs.titles)
def test_as_in_pytorch(torch, program):
    assert_same_diary(program, torch)


TERMS = ["x * y", "x ** 3", "y.sin()", "x.sum() * y", "x.exp()", "(x * y).sum()", "x[0] * y"]


@settings(max_examples=examples(60))
@given(
    terms=st.lists(st.sampled_from(TERMS), min_size=1, max_size=3),
    in_dims=st.sampled_from([0, (0, None), (None, 0), (1, 0), (0, 1)]),
    learn=st.booleans(),
)
def test_random_functions(torch, terms, in_dims, learn):
    """Values, and the gradient that flows back through the batch."""
    source = eval("lambda x, y: " + " + ".join(terms))

    def found(L):
        x = L.linspace(0.5, 1, 4, dtype=L.float64).reshape(2, 2).detach().requires_grad_(learn)
        y = L.linspace(-1, 1, 4, dtype=L.float64).reshape(2, 2)
        result = L.vmap(source, in_dims=in_dims)(x, y)
        if not result.requires_grad:
            return values(result)
        return values(result), values(L.autograd.grad((result**2).sum(), x, allow_unused=True)[0])

    with dialect("2"):
        ours, theirs = found(minigrad), found(torch)
    assert repr(ours) == repr(theirs)


def test_an_effect_happens_for_each_example():
    seen = []
    minigrad.vmap(lambda x: (seen.append(x.shape), x)[1])(minigrad.ones(3, 2))
    assert seen == [(2,)] * 3


def test_examples_must_agree_in_structure():
    shapes = iter([1, 2])
    with pytest.raises(ValueError, match="the structure of the outputs differs between examples"):
        minigrad.vmap(lambda x: [x] * next(shapes))(minigrad.ones(2))


@pytest.mark.parametrize(
    "tree",
    [
        1, None, (1, 2), [1, (2,)], {"b": 1, "a": [2]}, (None,), Pair(1, [2, 3]), (), [], {}, ({"a": 1}, 2),
        collections.OrderedDict(b=1, a=2), collections.defaultdict(int, z=1), collections.deque([1, 2], 3),
    ],
    ids=repr,
)  # fmt: skip
def test_structures(torch, tree):
    """Leaves, their number and the text of a structure are PyTorch's, and a tree comes back as it was."""
    theirs = torch.utils._pytree
    leaves, spec = pytree.flatten(tree)
    assert (leaves, str(spec)) == (theirs.tree_flatten(tree)[0], str(theirs.tree_flatten(tree)[1]))
    assert pytree.structure_text(spec) == theirs.treespec_pprint(theirs.tree_flatten(tree)[1])
    again = pytree.unflatten(leaves, spec)
    assert again == tree and type(again) is type(tree)
    assert spec.leaves == len(leaves)


def in_order(tree):
    return dict(sorted(tree.items()))


TREES = st.recursive(
    st.integers(0, 9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(in_order)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        .map(in_order)
        .map(collections.OrderedDict)
    ),
    max_leaves=6,
)


@given(dims=TREES, tree=TREES)
def test_spreading(torch, dims, tree):  # where keys come in different orders PyTorch mixes up the leaves
    """A leaf of the one stands for a branch of the other, if their structures agree."""
    theirs = torch.utils._pytree
    expected = theirs._broadcast_to_and_flatten(dims, theirs.tree_flatten(tree)[1])
    assert pytree.broadcast_prefix(dims, pytree.flatten(tree)[1]) == expected
    same = theirs.tree_flatten(dims)[1] == theirs.tree_flatten(tree)[1]
    assert (pytree.flatten(dims)[1] == pytree.flatten(tree)[1]) == same
