"""Complex numbers in cards, pills and arithmetic, where a gradient takes the conjugate of what was saved."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cells import traced
from latex_check import check as check_latex
from staged import build, frames_of

from minigrad_viz.arithmetic.typeset import number_tree, plain_number, typeset
from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.flow.node_vjps import SavedTensor, local_derivative, vjp

pytestmark = pytest.mark.usefixtures("names_of_today")

NUMBERS = (
    "z = torch.tensor(1.0 + 2.0j, requires_grad=True)\nw = z * z * (2.0 + 1.0j)\n"
    "y = torch.abs(w)\ny.backward()\n"
)
ARRAYS = (
    "A = torch.tensor([[1.0 + 1.0j, 2.0], [0.5, 1.0j]], requires_grad=True)\n"
    "v = torch.tensor([1.0, 1.0 - 1.0j], requires_grad=True)\nh = A @ v\n"
    "y = (h ** 2).abs().sum()\ny.backward()\n"
)
MIXED = (
    "x = torch.tensor(2.0, requires_grad=True)\nw = x * torch.tensor(1.0 + 3.0j)\n"
    "y = torch.real(w)\ny.backward()\n"
)


def lines(cell, library):
    """The lines of arithmetic of a cell."""
    trace = traced(cell, library)
    return [line for frame in frames_of(trace, build(trace), lang="en") for line in frame.lines if line.latex]


def test_values(library):
    graph = build(traced(NUMBERS, library))
    shown = outline(graph, "en")
    assert "w = z * z * (2.0 + 1.0j)   -10.+5.j" in shown
    assert "grad 4.4721+8.9443j = (2.2361+4.4721j) + (2.2361+4.4721j)" in shown
    assert "2.2361+4.4721j" in Picture(graph, lang="en").svg()


def test_the_conjugate_is_written_as_conj(library):
    told = [line.text for line in lines(NUMBERS, library)]
    assert told.count("z̄ = ā·conj(z) = (−1.3416+1.7889j) · (1−2j) = 2.2361+4.4721j") == 2
    assert "ā = (2−1j)·w̄ = (2−1j) · (−0.89443+0.44721j) = −1.3416+1.7889j" in told
    assert "w̄ = ȳ·sgn w = 1 · (−0.89443+0.44721j) = −0.89443+0.44721j" in told, "abs is not holomorphic"


def test_matrices(library):
    told = [line.text for line in lines(ARRAYS, library)]
    assert any(text.startswith("Ā = h̄ conj(v)ᵀ = ") for text in told)
    assert any(text.startswith("v̄ = conj(A)ᵀ h̄ = ") for text in told)
    assert any("2·conj(h)" in text for text in told)


def test_a_real_input_beside_a_complex_result(library):
    """Its gradient is the real part, which no formula shows: only the input and the output are shown."""
    told = [line.text for line in lines(MIXED, library)]
    (text,) = [text for text in told if "x̄" in text]
    assert text.startswith("MulBackward0: w̄ = ") and text.endswith("→ x̄ = 1")


def test_every_formula_in_latex(library):
    for cell in (NUMBERS, ARRAYS, MIXED):
        for line in lines(cell, library):
            check_latex(line.latex)
    assert any(r"\operatorname{conj}\left(z\right)" in line.latex for line in lines(NUMBERS, library))


def test_large_arrays_say_less(library):
    """Their numbers are not kept, so a conjugate could be missing and nobody would notice."""
    cell = "z = torch.ones(100, dtype=torch.complex64, requires_grad=True)\ny = (z * z).abs().sum()\n"
    cell += "y.backward()\n"
    told = [line.text for line in lines(cell, library)]
    assert any(re.match(r"MulBackward0: .*\(100,\) → z̄ \(100,\)", text) for text in told)


@pytest.mark.parametrize(
    "number, shown", [(1 + 2j, "1+2j"), (-1.5 - 2j, "−1.5−2j"), (0j, "0+0j"), (complex(1, -0.0), "1+0j")]
)
def test_numbers_in_formulas(number, shown):
    assert plain_number(number) == shown
    assert number_tree(number).latex == shown.replace("−", "-").replace("j", r"\mathrm{j}")


def test_formulas_by_themselves():
    saved = {"self": 2 + 1j, "exponent": 3}
    saved["self"] = np.complex128(2 + 1j)
    found = local_derivative("PowBackward0", 0, saved, {"self": "z"}, "complex128", True)
    assert typeset(found).plain == "3·conj(z)²" and found.value == 3 * np.conj(2 + 1j) ** 2
    matrix = np.array([[1j, 2], [0, 1]])
    given = SavedTensor(np.array([1.0 + 0j, 1j]), (2,))
    found = vjp("MvBackward0", 1, {"self": matrix}, {"self": "A"}, given, (2,), "complex128", "h", True)
    assert typeset(found).plain == "conj(A)ᵀ h̄"
    assert np.allclose(found.value, matrix.conj().T @ given.value)
