"""A gradient that was given to a backward call, shown as vᵀ · J = vᵀJ."""

from __future__ import annotations

import numpy as np
import pytest
from cells import CELLS, run
from shells import Shell
from staged import explanations_of

import minigrad
from minigrad_viz.drawing.matrices import matrices_text
from minigrad_viz.explaining.jacobians import vector_notes
from minigrad_viz.model.scene import Scenes

Q = (
    "a = torch.tensor([2., 3.], requires_grad=True)\nb = torch.tensor([6., 4.], requires_grad=True)\n"
    "Q = 3 * a ** 3 - b ** 2\nexternal_grad = torch.tensor([1., 1.])\n"
)
GIVEN = Q + "Q.backward(gradient=external_grad)\n"


def notes(source, library, lang="en"):
    ran = run(source, library)
    assert ran.error is None
    return list(vector_notes(Scenes(ran.trace), lang))


def shown(group):
    """v, J and vᵀJ of one tensor as arrays; J may be missing."""
    return [np.array(matrix.items) for matrix in group.side_by_side]


def test_code_16(library):
    (note,) = notes(CELLS[16], library)
    assert note.call == 2 and note.error == ""
    assert note.why.endswith("the same as (w.grad * y).sum().backward().")
    (group,) = note.matrices
    v, jacobian, product = shown(group)
    assert v.tolist() == [[4, 7, 9]]
    assert jacobian.tolist() == [[2], [3], [5]]
    assert product.tolist() == [[74]]
    assert [m.title for m in group.side_by_side] == ["vᵀ = w.grad", "J = ∂y/∂x", "vᵀJ, added to x.grad"]
    assert [m.sign for m in group.side_by_side] == ["", "·", "="]


def test_code_13_given_by_hand(library):
    source = CELLS[16].partition("w = ")[0] + "y.backward(torch.tensor([4., 7., 9.]))\n"
    (note,) = notes(source, library)
    assert "(v * y).sum().backward()" in note.why
    assert [a.tolist() for a in shown(note.matrices[0])] == [[[4, 7, 9]], [[2], [3], [5]], [[74]]]


def test_the_exercise(library):
    (note,) = notes(GIVEN, library)
    assert "(external_grad * Q).sum().backward()" in note.why
    by_a, by_b = map(shown, note.matrices)
    assert [a.tolist() for a in by_a] == [[[1, 1]], [[36, 0], [0, 81]], [[36, 81]]]
    assert [b.tolist() for b in by_b] == [[[1, 1]], [[-12, 0], [0, -8]], [[-12, -8]]]
    assert "-0." not in matrices_text(note.matrices[1], "en")


@pytest.mark.parametrize(
    "call",
    [
        "torch.autograd.grad(Q, (a, b), external_grad)",
        "torch.autograd.grad(Q, (a, b), grad_outputs=[external_grad])",
        "torch.autograd.backward(Q, external_grad)",
        "Q.backward(external_grad, True)",
        "torch.autograd.backward([Q], grad_tensors=[external_grad])",
    ],
)
def test_other_ways_to_give_it(library, call):
    (note,) = notes(Q + call + "\n", library)
    assert "(external_grad * Q)" in note.why
    assert [len(group.side_by_side) for group in note.matrices] == [3, 3]
    assert ("returned for a" in note.matrices[0].side_by_side[2].title) == ("grad(" in call)


def test_the_gradient_of_a_result_that_was_asked_for(library):
    (note,) = notes(Q + "c = a * 2\nd = c * c\ntorch.autograd.grad(d, c, external_grad)\n", library)
    assert [a.tolist() for a in shown(note.matrices[0])] == [[[1, 1]], [[8, 0], [0, 12]], [[8, 12]]]


PROGRAMS = {
    "matrices": ("x @ (x * 2).t()", (2, 3)),
    "rows": ("(x.exp() + x.sum(0, keepdim=True)).reshape(-1)[1:5]", (2, 3)),
    "broadcast": ("x / (x * x).mean()", (2, 3)),
    "joined": ("torch.cat([x.sin(), torch.tanh(x)], 0)", (2, 2)),
    "chosen": ("torch.where(x > 0, x ** 3, x * 0.5)", (2, 3)),
    "shared": ("x.sigmoid() * x + x.abs().sqrt()", (4,)),
    "turned": ("x.t().sum(1) * 3 - x.sum()", (2, 3)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_j_is_the_jacobian(library, name):
    """Against the jacobian of the library itself; what is not known is left out, never wrong."""
    expression, shape = PROGRAMS[name]
    data = np.random.RandomState(3).standard_normal(shape).round(2).tolist()
    source = (
        f"x = torch.tensor({data}, dtype=torch.float64, requires_grad=True)\n"
        f"y = {expression}\nv = torch.arange(y.numel()).reshape(y.shape).double() - 1\ny.backward(v)\n"
        f"J = torch.autograd.functional.jacobian(lambda x: {expression}, x)\n"
    )
    ran = run(source, library)
    assert ran.error is None
    note = next(note for note in vector_notes(Scenes(ran.trace), "en") if note.call == 1)
    v, *jacobian, product = shown(note.matrices[0])
    expected = np.array(ran.names["J"].tolist()).reshape(v.size, product.size)
    assert np.allclose(product, v @ expected)
    assert jacobian, "each of these is known"
    assert np.allclose(jacobian[0], expected)


def test_without_a_name_the_rows_are_flat_places(library):
    source = "x = torch.ones(2, 2, requires_grad=True)\ny = x * 2\ny.backward(torch.ones(2, 2))\n"
    (note,) = notes(source, library)
    _, jacobian, product = note.matrices[0].side_by_side
    assert jacobian.rows == ("y[0, 0]", "y[0, 1]", "y[1, 0]", "y[1, 1]")
    assert jacobian.columns == product.columns == ("x[0, 0]", "x[0, 1]", "x[1, 0]", "x[1, 1]")


FUNCTION = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        seen.append(1)
        return g * 2
seen = []
x = torch.tensor([1., 2.], requires_grad=True)
y = Twice.apply(x)
y.backward(torch.tensor([1., 10.]))
"""


@pytest.mark.parametrize(
    "source",
    [
        FUNCTION,  # whose backward is not ours to run
        "x = torch.tensor([1., 2.], requires_grad=True)\ny = x * 2\nz = y * 3\n"
        "y.register_hook(lambda g: g * 5)\nz.backward(torch.tensor([1., 10.]))\n",  # a hook came between
    ],
)
def test_what_is_not_known_is_left_out(library, source):
    (note,) = notes(source, library)
    v, product = shown(note.matrices[0])
    assert v.tolist() == [[1, 10]]
    assert product.tolist() in ([[2, 20]], [[30, 300]])
    assert note.matrices[0].side_by_side[1].sign == "→"


def test_no_code_of_the_users_runs_again(library):
    ran = run(FUNCTION, library)
    list(vector_notes(Scenes(ran.trace), "en"))
    assert ran.names["seen"] == [1]


@pytest.mark.parametrize(
    "source",
    [
        CELLS[4],  # a root of one number
        "x = torch.ones(2, requires_grad=True)\nx.backward(torch.ones(2))\n",  # a leaf
        "x = torch.ones(1, requires_grad=True)\n(x * 2).backward(torch.ones(1))\n",
        "x = torch.ones(100, requires_grad=True)\ny = x * 2\ny.backward(torch.ones(100))\n",  # too large
        "x = torch.ones(2, dtype=torch.complex64, requires_grad=True)\ny = x * 2\ny.backward(x.detach())\n",
        "x = torch.ones(2, requires_grad=True)\ny = x * 2\nz = x * 3\n"
        "torch.autograd.backward((y, z), (y, z))\n",
    ],
)
def test_where_there_is_nothing_to_tell(library, source):
    assert notes(source, library) == []


def test_a_call_that_fails_has_no_note(library):
    ran = run(GIVEN + "Q.backward(gradient=external_grad)\n", library)
    assert ran.error is not None
    assert [note.call for note in vector_notes(Scenes(ran.trace), "en")] == [1]
    assert explanations_of(ran.trace, "en")[-1].error


def test_in_a_cell(library, tmp_path):
    with Shell(tmp_path) as shell:
        ran = shell.run("%%autograd --lang ko\n" + GIVEN, {"torch": library}, library)
    (data,) = [shown["data"] for shown in ran.displayed]
    assert "(external_grad * Q).sum().backward()" in data["text/plain"]
    assert "J = ∂Q/∂a" in data["text/plain"]
    assert "vᵀJ, a.grad로" in data["text/plain"]
    assert data["text/html"].count('class="mgx"') == 2


def test_a_loop_of_calls_stays_small():
    source = (
        "x = torch.ones(3, requires_grad=True)\nfor i in range(8):\n    y = x * i\n    y.backward(x * 1)\n"
    )
    assert [note.call for note in notes(source, minigrad)] == [6, 7, 8]


def test_dimensions_that_pytorch_counts_from_the_back(library):
    """It notes -1 as the largest unsigned integer, with which nothing can be computed."""
    source = (
        "x = torch.ones(2, 3, requires_grad=True)\ny = x.transpose(-1, -2)\ny.backward(torch.ones(3, 2))\n"
    )
    (note,) = notes(source, library)
    assert note.matrices[0].side_by_side[-1].items == ((1.0,) * 6,)


def test_what_the_library_makes_for_itself_was_given_by_nobody(library):
    f = "lambda a: a ** 2"
    assert not notes(Q + f"torch.autograd.functional.jacobian({f}, a)\n", library)
    own = "def jacobian(c):\n    return torch.tensor([1.0, c])\nQ.backward(jacobian(2.0))\n"
    (note,) = notes(Q + own, library)
    assert "(v * Q)" in note.why
