"""Values, gradients and errors at the edges: where functions bend, where there is nothing to reduce, where
sizes would be negative. Both libraries do the same.
"""

import subprocess
import sys
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest
from calls import assert_same_ends
from twins import dialect, numbers, outcome

import minigrad

ROOT = Path(__file__).resolve().parents[2]
POINTS = [-2.0, -0.5, 0.0, 0.5, 2.0, nan]

# Two derivatives of each, at POINTS.
BENT = {
    "selu": lambda L, x: L.selu(x),
    "selu_": lambda L, x: L.selu_(x * 1),
    "SELU(inplace=True)": lambda L, x: L.nn.SELU(inplace=True)(x * 1),
    "elu_": lambda L, x: L.nn.functional.elu_(x * 1, 2.0),
    "ELU(inplace=True)": lambda L, x: L.nn.ELU(0.5, inplace=True)(x * 1),
    "elu, infinite": lambda L, x: L.nn.functional.elu(x, inf),
    "leaky_relu_": lambda L, x: L.nn.functional.leaky_relu_(x * 1, 0.25),
    "hardtanh_": lambda L, x: L.nn.functional.hardtanh_(x * 1, -0.5, 0.5),
    "relu6": lambda L, x: L.nn.functional.relu6(x * 3, inplace=True),
    "silu": lambda L, x: L.nn.functional.silu(x * 1, inplace=True),
    "mish": lambda L, x: L.nn.functional.mish(x * 1, inplace=True),
    "softplus": lambda L, x: L.nn.functional.softplus(x, 2.0, 1.0),
    "softplus, flat": lambda L, x: L.nn.functional.softplus(x, 0.0),
    "hardshrink": lambda L, x: L.nn.functional.hardshrink(x),
    "softshrink": lambda L, x: L.nn.functional.softshrink(x),
    "huber_loss": lambda L, x: L.nn.functional.huber_loss(x, x.detach() * 0, reduction="none", delta=0.5),
    "smooth_l1_loss": lambda L, x: L.nn.functional.smooth_l1_loss(x, x.detach() * 0, reduction="none"),
    "polygamma": lambda L, x: L.polygamma(1, x * 2),
    "digamma": lambda L, x: L.digamma(x * 2),
    "lgamma": lambda L, x: L.lgamma(x * 2),
}


def twice(L, function, x):
    """A value and two gradients."""
    y = function(L, x)
    (g,) = L.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = L.autograd.grad((g * g).sum(), x, allow_unused=True) if g.requires_grad else (None,)
    return y, g, h


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BENT)
def test_two_derivatives_where_a_function_bends(L, note, name, dtype):
    note(*twice(L, BENT[name], L.tensor(POINTS, dtype=getattr(L, dtype), requires_grad=True)))


INFINITE = [
    lambda L, x: L.polygamma(1, x),
    lambda L, x: L.polygamma(3, x),
    lambda L, x: L.digamma(x),
    lambda L, x: L.nn.functional.huber_loss(x, x * 0 + 1, reduction="none", delta=inf),
    lambda L, x: L.nn.functional.smooth_l1_loss(x, L.zeros(4), reduction="none", beta=inf),
]


@pytest.mark.parametrize("i", range(len(INFINITE)))
def test_infinite_numbers(L, note, i):
    note(*twice(L, INFINITE[i], L.tensor([inf, -inf, 1.5, nan], requires_grad=True)))


# What each gives or which error it raises; of float16 the bound is rounded to the dtype first.
CALLS = """
F.hardshrink(L.tensor([0.3, -0.3], dtype=L.float16), 0.3) | F.softshrink(L.ones(1), inf)
F.softshrink(L.ones(1, dtype=L.float16), -0.1) | F.softshrink(L.ones(1, dtype=L.float64), nan)
F.smooth_l1_loss(L.ones(1), L.ones(1), beta=nan) | F.huber_loss(L.ones(1), L.ones(1), delta=nan)
L.ones(2).requires_grad_().sum(None) | L.ones(2).requires_grad_().mean(dim=None)
L.ones(2, 3).sum(None, keepdim=True) | L.ones(2).sum(keepdim=True) | L.ones(2).mean(keepdim=True)
L.ones(2).prod(None) | L.ones(2).prod(keepdim=True) | L.ones(2).max(None) | L.ones(2).min(keepdim=True)
L.ones(2).median(None) | L.ones(2).all(0, 1) | L.ones(2).var(0, keepdim=1) | L.logsumexp(L.ones(2), None)
L.fill(L.ones(2).requires_grad_() * 1, 2) | L.fill(L.ones(2), L.ones((), requires_grad=True))
L.ones(2).requires_grad_().mul(1).fill_(2) | L.special.round(L.ones(2, requires_grad=True))
L.broadcast_tensors(L.ones(2, requires_grad=True) * 1, L.ones(1, requires_grad=True))
L.roll(L.arange(4), 1, None) | L.ones(0, 2).repeat(-2, 1) | L.ones(1, 2).repeat(-2, 1) | L.ones(0).tile(-2)
L.add(2, 3) | L.add(2, 3.0, alpha=2) | L.sub(2.0, 3) | L.mul(2.0, 3.0) | L.mul(True, 2) | L.div(2, 3)
L.div(7.0, 2.0, rounding_mode="floor") | L.floor_divide(7, 2) | L.mul(2 + 1j, 3.0) | L.sub(True, False)
L.mul(2.0, "a") | F.conv_transpose1d(L.ones(1, 1, 2), L.ones(1, 1, 1), padding=1)
F.conv_transpose1d(L.ones(1, 1, 2), L.ones(1, 1, 1), padding=3)
F.conv_transpose2d(L.ones(1, 1, 2, 9), L.ones(1, 1, 1, 1), padding=3)
F.conv_transpose1d(L.ones(0, 1, 2), L.ones(1, 1, 1), padding=1).shape
F.conv1d(L.ones(1, 1, 0), L.ones(1, 1, 1), padding=2)
F.conv3d(L.ones(1, 1, 2, 0, 2), L.ones(1, 1, 1, 1, 1), padding=2)
F.conv1d(L.ones(1, 1, 2), L.ones(1, 1, 0)) | F.conv3d(L.ones(1, 1, 2, 2, 2), L.ones(1, 1, 0, 1, 1))
F.conv2d(L.ones(0, 1, 2, 2), L.ones(1, 1, 1, 1)).shape | F.pad(L.ones(1, 1, 2), (-1, -1), "reflect")
F.pad(L.ones(1, 1, 2), (-2, -1), "replicate") | F.pad(L.ones(1, 1, 2, 3), (-3, 0, -3, 1), "reflect")
F.pad(L.ones(1, 1, 2, 3), (-2, -1, 0, 0), "replicate").shape
F.pad(L.ones(1, 1, 2, 2, 2), (-1, -1, -1, -1, -1, -1), "reflect")
F.pad(L.ones(1, 1, 2, 2, 2), (-2, -1, -1, -1, 0, 0), "replicate") | F.pad(L.ones(1, 2), (-4, 3))
F.pad(L.ones(1, 2), (3, -3)) | F.pad(L.ones(1, 2), (-1, 3))
F.adaptive_max_pool2d(L.ones(0, 2, 3, 4), 2).shape | F.adaptive_max_pool3d(L.ones(0, 4, 5, 6), 1).shape
"""


def test_calls_at_the_edge(torch):
    assert_same_ends(torch, CALLS)


NAMES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64"
DTYPES = NAMES.split()
OF_MANY = "sum mean prod all any amax max argmax argmin median std var logsumexp norm cumsum sort"
REDUCTIONS = OF_MANY.split()
NOTHING = ((0,), (0, 3), (3, 0))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_nothing(L, note, name):
    for dtype in DTYPES[: -1 if name in ("max", "argmax", "argmin") else None]:
        for shape in NOTHING:
            for dims in ((), (0,), (1,), (-1, True)):
                x = L.ones(shape, dtype=getattr(L, dtype))
                note(dtype, shape, dims, kind_of_error(outcome(getattr(x, name), *dims)))


def kind_of_error(result):
    """A result, or the class of an error."""
    is_error = isinstance(result, tuple) and isinstance(result[0], str)
    return result[0] if is_error else result if not isinstance(result, tuple) else [*result]


@pytest.mark.parametrize("name", ["std", "var"])
def test_gradients_of_nothing_have_the_dtype_of_the_input(L, note, name):
    for shape in ((0,), (1,)):
        x = L.ones(shape, dtype=L.complex64, requires_grad=True)
        (g,) = L.autograd.grad(getattr(x, name)().sum(), x)
        note(str(g.dtype).rpartition(".")[2], list(g.shape))


@pytest.mark.parametrize("offsets", [[0, 2, 3], [0, 2, 4], [0, 0, 2], [0, 4, 4]])
def test_a_last_offset_ends_the_last_bag(L, note, offsets):
    table = L.arange(6.0).reshape(3, 2)
    bags = L.nn.functional.embedding_bag(
        L.tensor([0, 1, 2, 1]), table, L.tensor(offsets), mode="sum", include_last_offset=True
    )
    note(bags)


def test_indices_behind_the_last_offset_get_no_gradient():
    for mode, expected in (("sum", [1, 1, 0]), ("mean", [0.5, 0.5, 0])):
        table = minigrad.ones(3, 1, requires_grad=True)
        offsets = minigrad.tensor([0, 2])
        minigrad.nn.functional.embedding_bag(
            minigrad.tensor([0, 1, 2, 1]), table, offsets, mode=mode, include_last_offset=True
        ).sum().backward()
        np.testing.assert_array_equal(numbers(table.grad)[:, 0], expected)


@pytest.mark.parametrize("name", ["masked_scatter", "masked_select"])
def test_derivatives_with_a_mask_that_is_broadcast(L, note, name):
    mask = L.tensor([True, False, True, False])
    x = (L.arange(8, dtype=L.float64).reshape(2, 4) / 4 + 0.5).requires_grad_()
    y = x
    for _ in range(3):
        made = L.masked_select(y, mask) if name == "masked_select" else L.masked_scatter(y, mask, y * 2)
        (y,) = L.autograd.grad((made**3).sum(), x, create_graph=True)
        note(y)


def test_every_function_is_there_after_the_import():
    code = (
        "import minigrad as torch; before = set(dir(torch.Tensor)); x = torch.ones(2);"
        "print(x.relu(), x.relu_(), torch.prelu(x, torch.ones(1)));"
        "import minigrad.nn, minigrad.func, minigrad.optim; torch.nn.functional;"
        "print(sorted(set(dir(torch.Tensor)) - before))"
    )
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout == "tensor([1., 1.]) tensor([1., 1.]) tensor([1., 1.])\n[]\n"


def node_names(tensor):
    """The names of all nodes of a graph, sorted; each node counts once."""
    waiting, seen = [tensor.grad_fn], {}
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen[node] = node.name()
            waiting += [target for target, _ in node.next_functions]
    return sorted(seen.values())


def test_each_derivative_of_softplus_has_pytorchs_nodes(torch):
    found = []
    with dialect("2"):
        for library in (minigrad, torch):
            x = library.tensor([0.3, -1.0], requires_grad=True)
            made, graphs = library.nn.functional.softplus(x, 2.0), []
            for _ in range(3):
                (made,) = library.autograd.grad(made.sum(), x, create_graph=True)
                graphs.append(node_names(made))
            found.append(graphs)
    assert found[0] == found[1]
