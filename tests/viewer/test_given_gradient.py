"""A gradient that was given to a backward call, shown as vᵀ · J = vᵀJ."""

from __future__ import annotations

import numpy as np
import pytest
from cells import run
from shells import Shell

from minigrad_viz.explaining.jacobians import vector_notes
from minigrad_viz.model.scene import Scenes

Q = (
    "a = torch.tensor([2., 3.], requires_grad=True)\nb = torch.tensor([6., 4.], requires_grad=True)\n"
    "Q = 3 * a ** 3 - b ** 2\nexternal_grad = torch.tensor([1., 1.])\n"
)
GIVEN = Q + "Q.backward(gradient=external_grad)\n"


def shown(group):
    """v, J and vᵀJ of one tensor as arrays; J may be missing."""
    return [np.array(matrix.items) for matrix in group.side_by_side]


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


def test_no_code_of_the_users_runs_again(library):
    ran = run(FUNCTION, library)
    list(vector_notes(Scenes(ran.trace), "en"))
    assert ran.names["seen"] == [1]


def test_in_a_cell(library, tmp_path):
    with Shell(tmp_path) as shell:
        ran = shell.run("%%autograd --lang ko\n" + GIVEN, {"torch": library}, library)
    (data,) = [shown["data"] for shown in ran.displayed]
    assert "(external_grad * Q).sum().backward()" in data["text/plain"]
    assert "J = ∂Q/∂a" in data["text/plain"]
    assert "vᵀJ, a.grad로" in data["text/plain"]
    assert data["text/html"].count('class="mgx"') == 2
