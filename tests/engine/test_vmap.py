"""`vmap` beside PyTorch's: PyTorch runs the function once on a batch, minigrad on the first example."""

import collections
import copy
import functools
import itertools

import numpy as np
import pytest
from functions import square_apart
from hypothesis import given, settings
from hypothesis import strategies as st
from op_case import results_of
from op_table import CASES
from tiers import examples
from trees import values
from twins import dialect, numbers, outcome

import minigrad
from minigrad.func import pytree
from minigrad.func.batching import Tape

pytestmark = pytest.mark.quick
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


def test_input_dimensions(L, note):
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


def test_nested_inputs(L, note):
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


def test_output_dimensions(L, note):
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


def test_options(L, note):
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


def test_refused_inside(L, note):
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


def test_in_place(L, note):
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


def test_gradients_of_examples(L, note):
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


def test_backward_outside(L, note):
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


def test_vmap_in_vmap(L, note):
    x, y = batch(L, 3, 2), batch(L, 2, 4)
    vmap = L.vmap
    run(note, vmap(vmap(double)), x)
    run(note, vmap(vmap(times), in_dims=(None, 1)), x[0], y)
    run(note, vmap(vmap(times, in_dims=(0, None)), in_dims=(None, 1)), y.sum(0), y)
    run(note, vmap(lambda r: vmap(lambda s: r.sum() + s)(x)), y)
    run(note, vmap(lambda r: vmap(lambda s: r.sum() + s, out_dims=-1)(x), out_dims=2), y)
    run(note, vmap(vmap(vmap(double, out_dims=0), in_dims=1), in_dims=2), batch(L, 2, 3, 4))
    run(note, vmap(lambda r: vmap(lambda s: (s, r), out_dims=(0, None))(x)), y)


def test_custom_functions(L, note):
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


def test_after_an_error(L, note):
    def fails(x):
        raise KeyError("in the function")

    x = batch(L, 3, 2)
    run(note, L.vmap(fails), x)
    run(note, L.vmap(lambda r: L.vmap(fails)(r)), x)
    x.requires_grad_()
    (x * x).sum().backward()
    note(x.grad)


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


@pytest.mark.quick
def test_an_effect_happens_once(torch):
    for library in (minigrad, torch):
        seen = []
        library.vmap(lambda x, seen=seen: (seen.append(x.shape), x)[1])(library.ones(3, 2))
        library.vmap(library.func.grad(lambda x, seen=seen: (seen.append(1), x.sum())[1]))(library.ones(3, 2))
        assert seen == [(2,), 1]


REPEATED = {  # what is done for each example, as it is more than ops
    "write in place": lambda L, x: x.clone().mul_(2),
    "write to a part": lambda L, x: fill_first(L, x * 1),
    "random numbers": lambda L, x: x * L.rand(2),
    "derivatives on arrays": lambda L, x: L.autograd.grad((W * x).sum(), W)[0],
    "a hook": lambda L, x: L.func.grad(lambda t: tripled(t * 2).sum())(x),
    "a custom Function": lambda L, x: SquareOfExamples.apply(x),
    "forward mode": lambda L, x: L.func.jvp(lambda t: t**3, (x,), (x,))[1],
    "other memory": lambda L, x: L.as_strided(x, (2,), (0,)),
    "the same memory": lambda L, x: x.data * 2,
    "a shape that numbers decide": lambda L, x: x.masked_select(x > 1).sum(),
    # numbers that the library reads
    "a tensor of them": lambda L, x: L.tensor([x[0], x[1]]),
    "a copy": lambda L, x: L.tensor(x) * 2,
    "a deep copy": lambda L, x: copy.deepcopy(x) * 2,
    "a parameter": lambda L, x: L.nn.Parameter(x) * 2,
    "filled with one": lambda L, x: L.full((2,), x[0]),
    "steps from one": lambda L, x: L.linspace(x[0], 9, 2),
    "used as an index": lambda L, x: L.arange(9)[x[0].long()],
    "used as counts": lambda L, x: L.arange(2).repeat_interleave((x * 0 + 2).long()),
    "compared": lambda L, x: x * L.equal(x, x.new_ones(2)),
    "close": lambda L, x: x * L.allclose(x, L.ones(2)),
    "checked": lambda L, x: L.linalg.inv(L.diag(x)),
    "a condition of bytes": lambda L, x: L.where((x > 2).byte(), x, -x),
    "printed": lambda L, x: x * len(str(x)),
}
W = minigrad.ones(2, requires_grad=True)


class SquareOfExamples(square_apart(minigrad)):
    generate_vmap_rule = True


def fill_first(L, x):
    x[0] = x[1]
    return x


def tripled(t):
    t.register_hook(lambda g: g * 3)
    return t


@pytest.mark.parametrize("title", REPEATED)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_more_than_ops_is_done_for_each_example(title):
    seen, x = [], minigrad.tensor([[1.0, 1.0], [3.0, 2.0], [5.0, 6.0]])

    def f(x):
        seen.append(x)
        return REPEATED[title](minigrad, x)

    minigrad.manual_seed(0)
    found = minigrad.vmap(f, randomness="different")(x)
    assert len(seen) == 3
    minigrad.manual_seed(0)
    expected = minigrad.stack([REPEATED[title](minigrad, row.detach().clone()) for row in x])
    assert found.tolist() == expected.tolist()
    # … and in one around it
    outer = minigrad.vmap(lambda y: minigrad.vmap(f, randomness="different")(x * y), randomness="different")
    assert outer(minigrad.ones(2)).shape == (2, *found.shape)


def test_an_op_that_fails_for_a_later_example():
    """Its error is that of the example."""
    labels = minigrad.tensor([0, 1, 9])
    with pytest.raises(IndexError, match="Target 9 is out of bounds"):
        minigrad.vmap(minigrad.nn.functional.cross_entropy)(minigrad.ones(3, 4), labels)


def test_examples_must_agree_in_structure():
    shapes = iter([1, 2])
    with pytest.raises(ValueError, match="the structure of the outputs differs between examples"):
        minigrad.vmap(lambda x: [x.clone().add_(1)] * next(shapes))(minigrad.ones(2))


def outputs_of(case, *inputs):
    """The tensors that an op of the tables returns."""
    return tuple(t for t in results_of(case.function(minigrad, *inputs)) if isinstance(t, minigrad.Tensor))


def total(case, *inputs):
    """A number that depends on all of them."""
    parts = [
        t.real.sin() + t.imag if t.is_complex() else t.sin()
        for t in outputs_of(case, *inputs)
        if t.requires_grad
    ]
    return sum((t.sum() for t in parts), minigrad.zeros((), dtype=minigrad.float64))


@pytest.mark.quick(40)
@pytest.mark.sample(120)
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.filterwarnings("ignore")
def test_every_op_for_all_examples_at_once(case, monkeypatch):
    """Results and gradients are those of a loop over the examples, and so are the errors."""
    dtype = "complex128" if case.numbers == "complex" else "float64"
    arrays = case.arrays(dtype)
    if not arrays:
        pytest.skip("it has no inputs")
    single = [minigrad.tensor(a) for a in arrays]
    batches = [minigrad.stack([t * (1 + 0.01 * k * (i + 1)) for k in range(3)]) for i, t in enumerate(single)]
    every = tuple(range(len(single)))
    calls = [functools.partial(outputs_of, case), minigrad.func.grad(functools.partial(total, case), every)]
    for f, dims in itertools.product(calls, {(0,) * len(single), (0, *[None] * len(single[1:]))}):
        inputs = [b if d == 0 else t for b, t, d in zip(batches, single, dims)]
        together = outcome(lambda f=f, d=dims, x=inputs: minigrad.vmap(f, d)(*x))
        with monkeypatch.context() as patch:
            patch.setattr(Tape, "knows", lambda *_: False)
            apart = outcome(lambda f=f, d=dims, x=inputs: minigrad.vmap(f, d)(*x))
        if isinstance(apart[0], str) or isinstance(together[0], str):
            assert together == apart
            continue
        for a, b in zip(together, apart, strict=True):
            assert a.dtype is b.dtype and np.allclose(numbers(a), numbers(b), 1e-9, 1e-11, equal_nan=True)


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
    leaves, spec = pytree.flatten_tree(tree)
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
    assert pytree.broadcast_prefix(dims, pytree.flatten_tree(tree)[1]) == expected
    same = theirs.tree_flatten(dims)[1] == theirs.tree_flatten(tree)[1]
    assert (pytree.flatten_tree(dims)[1] == pytree.flatten_tree(tree)[1]) == same


def test_what_a_level_saved_is_each_examples_own(torch):
    """A derivative inside a derivative: what is constant outside of the inner one depends on the example."""
    results = []
    for library in (minigrad, torch):
        x = library.tensor([[0.5, -0.3], [1.0, -0.6], [1.5, -0.9]], dtype=library.float64)
        y = library.tensor([0.7, 1.2], dtype=library.float64)
        inner = library.func.jacrev(lambda x, y: x * x * y)
        outer = library.func.grad(lambda x, y, inner=inner: (inner(x, y) ** 2).sum() * x.sum(), argnums=1)
        results.append(library.vmap(outer, in_dims=(0, None))(x, y).tolist())
    assert np.allclose(*results, rtol=1e-12)


@pytest.mark.parametrize("call", ["max(0)", "min(0)", "median(0)", "sort()", "topk(1)", "sort(stable=True)"])
def test_a_choice_of_one_element_has_its_own_memory(library, call):
    x = library.tensor([0.5, -2.0])
    values, _ = eval(f"x[0].{call}", {"x": x})
    values.zero_()
    assert x.tolist() == [0.5, -2.0]
