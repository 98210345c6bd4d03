"""Complex numbers in cards, pills and arithmetic, where a gradient takes the conjugate of what was saved."""

from __future__ import annotations

import numpy as np
import pytest

from minigrad_viz.arithmetic.typeset import number_tree, plain_number, typeset
from minigrad_viz.flow.node_vjps import SavedTensor, local_derivative, vjp

pytestmark = pytest.mark.usefixtures("names_of_today")


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
