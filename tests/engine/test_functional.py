"""`autograd.functional` beside PyTorch's: values, structure, graphs and errors."""

import functools

import pytest
from calls import assert_same_ends
from functions import made
from twins import ages, graph, is_tensor, noted, outcome

pytestmark = pytest.mark.quick

# name: (function of the library and its inputs, sizes of the inputs)
VECTORS = {
    "exp_sum": (lambda L: lambda x: (x.exp() * x).sum(1), [(2, 3)]),
    "adder": (lambda L: lambda x, y: 2 * x * y + 3 * y * y, [(2,), (2,)]),
    "two_outputs": (lambda L: lambda x, y: (x * y, (x * x).sum()), [(2,), (2,)]),
    "tuple_of_one": (lambda L: lambda x: (x**3,), [(2,)]),
    "independent": (lambda L: lambda x, y: x**2, [(2,), (3,)]),
    "linear": (lambda L: lambda x: 2 * x, [(3,)]),
    "constant": (lambda L: lambda x: L.ones(2), [(2,)]),
    "partly_constant": (lambda L: lambda x: (x * x, L.ones(2)), [(2,)]),
    "matrix": (lambda L: lambda a, b: a @ b, [(2, 3), (3, 2)]),
    "number": (lambda L: lambda x: x.sin() * x, [()]),
    "identity": (lambda L: lambda x: x, [(2,)]),
    "empty": (lambda L: lambda x: x * x, [(0,)]),
}
SCALARS = {
    "cubes": (lambda L: lambda x: (x**3).sum(), [(2, 2)]),
    "mixed": (lambda L: lambda x, y: (x * y * y).sum() + (x * x).sum(), [(2,), (2,)]),
    "unused": (lambda L: lambda x, y: (x**3).sum(), [(2,), (2,)]),
    "linear": (lambda L: lambda x: (2 * x).sum(), [(2,)]),
    "square": (lambda L: lambda x: x * x, [()]),
    "one_element": (lambda L: lambda x: x**4, [(1,)]),
    "constant": (lambda L: lambda x: L.tensor(1.0), [(2,)]),
    "identity": (lambda L: lambda x: x, [()]),
    "vector": (lambda L: lambda x: x**2, [(2,)]),
    "tuple": (lambda L: lambda x: ((x**2).sum(),), [(2,)]),
    "number": (lambda L: lambda x: 1.0, [(2,)]),
}


def tensors(L, sizes, requires_grad, dtype="float64", start=1.0):
    made = []
    for n, size in enumerate(sizes):
        count = 1
        for k in size:
            count *= k
        t = L.linspace(start + n, start + n + 0.7, count, dtype=getattr(L, dtype)).reshape(size)
        made.append(t.detach().requires_grad_(requires_grad))
    return made


def comparable(result):
    """A result as data that can be compared: nested, with the autograd attributes of each tensor."""
    if is_tensor(result):
        return noted(result), result.is_leaf
    if isinstance(result, (tuple, list)):
        return type(result).__name__, [comparable(part) for part in result]
    return result


def leaves(result):
    if is_tensor(result):
        return [result]
    return [t for part in result for t in leaves(part)] if isinstance(result, (tuple, list)) else []


def run(note, function, *args, **options):
    """Note what a call returned or raised, and, for a result, its graphs."""
    result = outcome(lambda: function(*args, **options))
    note(comparable(result), *((graph(t), ages(t)) for t in leaves(result)))


def single(tensors):
    """A tuple of inputs, or the one that there is."""
    return tuple(tensors) if len(tensors) > 1 else tensors[0]


def kinds(result):
    """The containers of a result; PyTorch gives lists where it works by columns."""
    return "" if is_tensor(result) else [type(result).__name__, *map(kinds, result)]


OPTIONS = [{"create_graph": graph, "strict": strict} for graph in (False, True) for strict in (False, True)]


@pytest.mark.quick(2)
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("case", VECTORS)
@pytest.mark.parametrize("product", ["vjp", "jvp"])
def test_products_with_jacobians(L, note, product, case, options, requires_grad):
    make, sizes = VECTORS[case]
    inputs, f = tensors(L, sizes, requires_grad), make(L)
    like = inputs if product == "jvp" else f(*inputs)
    v = tensors(
        L, [t.shape for t in (like if isinstance(like, (tuple, list)) else (like,))], False, start=3.0
    )
    if case in ("constant", "partly_constant") and product == "vjp":
        v = [t.float() for t in v]
    v = tuple(v) if case == "tuple_of_one" and product == "vjp" else single(v)
    run(note, getattr(L.autograd.functional, product), f, single(inputs), v, **options)


@pytest.mark.quick(2)
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("case", SCALARS)
@pytest.mark.parametrize("product", ["vhp", "hvp"])
def test_products_with_hessians(L, note, product, case, options, requires_grad):
    make, sizes = SCALARS[case]
    inputs, v = single(tensors(L, sizes, requires_grad)), single(tensors(L, sizes, False, start=3.0))
    run(note, getattr(L.autograd.functional, product), make(L), inputs, v, **options)


@pytest.mark.quick(16)
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("case", VECTORS)
def test_jacobian(L, note, case, options, requires_grad):
    make, sizes = VECTORS[case]
    run(note, L.autograd.functional.jacobian, make(L), single(tensors(L, sizes, requires_grad)), **options)


@pytest.mark.quick(2)
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("case", [c for c in VECTORS if c != "empty"])
@pytest.mark.parametrize("how", [{}, {"create_graph": True}, {"strategy": "forward-mode"}], ids=str)
def test_jacobian_vectorized(L, note, case, how, requires_grad):
    """Equal in values, structure and `requires_grad`; how rows are batched shows in the graph only."""
    make, sizes = VECTORS[case]
    inputs = tuple(tensors(L, sizes, requires_grad))
    found = L.autograd.functional.jacobian(make(L), inputs, vectorize=True, **how)
    note(kinds(found), [(t.detach(), t.requires_grad) for t in leaves(found)])


@pytest.mark.quick(12)
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("case", SCALARS)
def test_hessian(L, note, case, options, requires_grad):
    make, sizes = SCALARS[case]
    run(note, L.autograd.functional.hessian, make(L), single(tensors(L, sizes, requires_grad)), **options)


@pytest.mark.quick(2)
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("case", ["cubes", "mixed", "unused", "linear", "square", "one_element", "vector"])
@pytest.mark.parametrize("outer", ["reverse-mode", "forward-mode"])
def test_hessian_vectorized(L, note, case, outer, requires_grad):
    make, sizes = SCALARS[case]
    inputs, how = tuple(tensors(L, sizes, requires_grad)), {"outer_jacobian_strategy": outer}
    found = outcome(lambda: L.autograd.functional.hessian(make(L), inputs, vectorize=True, **how))
    note(kinds(found) if leaves(found) else found, [t.detach() for t in leaves(found)])


def test_wrong_vectors(L, note):
    F = L.autograd.functional
    x, y = L.ones(2), L.ones(3)
    one = L.ones(1)
    for product in (F.vjp, F.jvp):
        note.error(product, lambda x: x * 2, x)
        note.error(product, lambda x: x * 2, one)
        note.error(product, lambda x: x * 2, x, y)
        note.error(product, lambda x: x * 2, x, (x, x))
        note.error(product, lambda x: (x * 2,), (x,), (x, x))
        note.error(product, lambda x: (x * 2,), (x,), y)
        note.error(product, lambda x, y: (x, y), (x, y), (x, x))
        note.error(product, lambda x, y: (x, y), (x, y))
        note.error(product, lambda x: x * 2, x, 1.0)
        note.error(product, lambda x: x * 2, x, (x, 1.0))
        note.error(product, lambda x: x * 2, x, [x])
    for product in (F.vhp, F.hvp):
        note.error(product, lambda x: x.sum(), x)
        note.error(product, lambda x: (x * x).sum(), one)
        note.error(product, lambda x: x.sum(), x, y)
        note.error(product, lambda x: x.sum(), (x,), (x, x))
        note.error(product, lambda x: x.sum(), x, "v")


def test_wrong_inputs_and_outputs(L, note):
    F = L.autograd.functional
    x = L.ones(2)
    for function in (F.vjp, F.jvp, F.vhp, F.hvp, F.jacobian, F.hessian):
        note.error(function, lambda x: x.sum(), 1.0)
        note.error(function, lambda x: x.sum(), [x])
        note.error(function, lambda x: x.sum(), (x, 1))
        note.error(function, lambda x: x.sum(), (x, None))
    for function in (F.vjp, F.jvp, F.vhp, F.hvp):
        note.error(function, lambda x: 1.0, x, x)
        note.error(function, lambda x: (x, 1.0), x, x)
        note.error(function, lambda x: [x], x, x)
        note.error(function, lambda x: None, x, x)
    for function in (F.jacobian, F.hessian):
        note.error(function, lambda x: 1.0, x)
        note.error(function, lambda x: [x], x)
        note.error(function, lambda x: (x, None), x)
    note.error(F.jacobian, lambda x: x, L.tensor([1, 2]))
    note.error(F.vjp, lambda x: x, L.tensor([1, 2]), L.tensor([1, 2]))


def test_jacobians_of_outputs_of_all_kinds(L, note):
    """Rows start at the output itself where that is plain; hooks, views and other owners must not notice."""
    F = L.autograd.functional
    x = L.tensor([[0.5, -1.0], [2.0, 0.25]], dtype=L.float64)
    seen = []

    Twice = made(L, lambda ctx, x: x * 2, lambda ctx, g: (seen.append(g.tolist()), g * 2)[1])

    def hooked(x):
        y = x * x
        y.register_hook(lambda g: g + 1)
        y.grad_fn.register_prehook(lambda gs: seen.append([g.tolist() for g in gs]))
        return y

    def written(x):
        y = (x * x)[0]
        y.mul_(x[1])
        return y

    def behind_a_view(x):
        y = x * x
        part = y[0]
        y.mul_(3)
        return part

    def freed(x):
        y = x * x
        y.sum().backward()
        return y

    outputs = {
        "hooked": hooked,
        "custom": lambda x: Twice.apply(x).exp(),
        "custom last": Twice.apply,
        "view": lambda x: (x * x)[0],
        "transposed": lambda x: (x * x).t(),
        "written": written,
        "behind a view": behind_a_view,
        "several": lambda x: x.sort(dim=1)[0],
        "several views": lambda x: (x * x).unbind()[1],
        "half": lambda x: (x * x).half(),
        "added in place": lambda x: x.sin().add_(x),
        "freed": freed,
    }
    for name, f in outputs.items():
        for options in ({}, {"create_graph": True}, {"strict": True}):
            if name == "freed":
                note.error(functools.partial(F.jacobian, f, x, **options))
            else:
                note(name, *options, F.jacobian(f, x, **options))
    note(seen)
    with L.no_grad():
        note(F.jacobian(lambda x: x.exp() * x, x))


OPTIONS_APART = """
A.jacobian(f, x, strategy='sideways') | A.jacobian(f, x, strategy='forward-mode')
A.jacobian(f, x, strategy='forward-mode', create_graph=True)
A.jacobian(f, x, strategy='forward-mode', strict=True, vectorize=True)
A.jacobian(f, x, strict=True, vectorize=True)
A.jacobian(lambda x: 1, x, strategy='forward-mode', vectorize=True)
A.jacobian(lambda x: (x, 1), x, strategy='forward-mode', vectorize=True)
A.jacobian(f, 1.0, strategy='forward-mode', vectorize=True)
A.hessian(lambda x: f(x).sum(), x, outer_jacobian_strategy='sideways')
A.hessian(lambda x: f(x).sum(), x, outer_jacobian_strategy='forward-mode')
A.hessian(lambda x: f(x).sum(), x, create_graph=True, vectorize=True, outer_jacobian_strategy='forward-mode')
"""


def test_options_that_do_not_go_together(torch):
    assert_same_ends(
        torch, OPTIONS_APART, lambda L: {"A": L.autograd.functional, "x": L.ones(2), "f": lambda x: x * x}
    )


def test_strict_texts_of_the_last_stage(L, note):
    """What is found missing only in the second pass."""
    F = L.autograd.functional
    x = L.ones(2, requires_grad=True)
    v = L.ones(2)

    def quadratic(x):
        return (x * x).sum()

    def linear(x):
        return 2 * x

    for create_graph in (False, True):
        for function in (F.vhp, F.hvp):
            note.error(function, quadratic, x, v, create_graph, True)
        note.error(F.hessian, quadratic, x, create_graph, True)
        note.error(F.jacobian, linear, x, create_graph, True)
        note.error(F.jvp, linear, x, v, create_graph, True)
        note.error(F.vjp, linear, x, v, create_graph, True)


def test_nothing_of_the_caller_changes(L, note):
    F = L.autograd.functional
    x = L.tensor([1.0, 2.0], requires_grad=True)
    w = L.tensor([3.0, 4.0], requires_grad=True)
    x.grad = L.ones(2)
    given = []

    def f(t):
        given.append(t)
        note(t is x, t.requires_grad, t.is_leaf, t.grad_fn)
        return (w * t**3).sum()

    for create_graph in (False, True):
        note([F.vjp(f, x, create_graph=create_graph), F.jvp(f, x, L.ones(2), create_graph=create_graph)])
        note(F.vhp(f, x, L.ones(2), create_graph=create_graph))
        note(F.hvp(f, x, L.ones(2), create_graph=create_graph))
        note([F.jacobian(f, x, create_graph=create_graph), F.hessian(f, x, create_graph=create_graph)])
    note(x, x.grad, w.grad, x._version, len(given))
    F.jacobian(f, x, create_graph=True).sum().backward()
    note(x.grad, w.grad)


def test_grad_modes(L, note):
    F = L.autograd.functional
    x = L.tensor([1.0, 2.0], requires_grad=True)
    inside = []

    def f(t):
        inside.append(L.is_grad_enabled())
        return (t**3).sum()

    for mode in (L.no_grad, L.enable_grad):
        for create_graph in (False, True):
            with mode():
                note(F.vjp(f, x, create_graph=create_graph), F.jvp(f, x, x, create_graph=create_graph))
                note(F.vhp(f, x, x, create_graph=create_graph), F.hvp(f, x, x, create_graph=create_graph))
                note(F.jacobian(f, x, create_graph=create_graph), F.hessian(f, x, create_graph=create_graph))
                note(L.is_grad_enabled())
    note(inside)


def test_the_mode_is_restored_after_an_error(L, note):
    F = L.autograd.functional

    def fails(x):
        raise KeyError("in the function")

    for function in (F.vjp, F.jvp, F.vhp, F.hvp, F.jacobian, F.hessian):
        with L.no_grad():
            note.error(function, fails, L.ones(1))
            note(L.is_grad_enabled())


def test_dtypes_of_results(L, note):
    """A Jacobian by rows has the input's dtype, one by columns the output's."""
    F = L.autograd.functional
    x = L.tensor([1.0, 2.0])
    note(F.jacobian(lambda x: x.double() * x, x), F.jacobian(lambda x: x.double() * x, x, vectorize=True))
    note(F.jacobian(lambda x: x.double() * x, x, vectorize=True, strategy="forward-mode"))
