"""Products and factors of matrices: what the tables do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calls import assert_same_ends

import minigrad

torch = pytest.importorskip("torch")

A = np.array([[2.0, 0.5, -1.0], [0.25, 1.5, 0.75], [1.0, -0.5, 3.0]])
STEP = np.cos(np.arange(9) + 0.5).reshape(3, 3)
FUNCTIONS = {
    "det": lambda x: minigrad.linalg.det(x) * 1.5,
    "slogdet": lambda x: minigrad.linalg.slogdet(x)[1] * 1.5,
    "solve": lambda x: minigrad.linalg.solve(x, x[0] * 2)[1],
    "inv": lambda x: minigrad.linalg.inv(x)[0, 1],
}


def squared(vectors: Any, values: Any) -> Any:
    """Vectors and values of a factorization as one, whichever way the vectors point."""
    return (vectors * vectors) @ (values * values)


FACTORS = {
    "cholesky": lambda L, x: L.linalg.cholesky(x @ x.mT + 1),
    "qr": lambda L, x: squared(*L.linalg.qr(x)),
    "eigh": lambda L, x: squared(*L.linalg.eigh(x + x.mT)[::-1]),
    "eigvalsh": lambda L, x: L.linalg.eigvalsh(x + x.mT),
    "svd": lambda L, x: squared(*L.linalg.svd(x, False)[:2]) + L.linalg.svd(x, False)[2] ** 2,
}


@pytest.mark.parametrize("name", FACTORS)
def test_gradients_of_factors(name: str) -> None:
    def gradient(library: Any) -> Any:
        x = library.tensor(A).requires_grad_()
        result = FACTORS[name](library, x)
        seed = STEP if result.ndim == 2 else STEP[0]
        return library.autograd.grad(result, x, library.tensor(seed))[0].numpy()

    np.testing.assert_allclose(gradient(minigrad), gradient(torch), rtol=1e-9, atol=1e-12)
    x = minigrad.tensor(A).requires_grad_()
    assert minigrad.autograd.gradcheck(lambda x: FACTORS[name](minigrad, x), x)
    assert minigrad.autograd.gradgradcheck(lambda x: FACTORS[name](minigrad, x), x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_over_reverse(name: str) -> None:
    """PyTorch's is wrong here: its LU factors have no tangents when no graph is made."""
    ad = minigrad.autograd.forward_ad

    def gradient(a: Any) -> Any:
        x = minigrad.tensor(a).requires_grad_()
        return minigrad.autograd.grad(FUNCTIONS[name](x), x)[0].numpy()

    expected = (gradient(A + 1e-5 * STEP) - gradient(A - 1e-5 * STEP)) / 2e-5
    x = minigrad.tensor(A).requires_grad_()
    with ad.dual_level():
        dual = ad.make_dual(x, minigrad.tensor(STEP))
        tangent = ad.unpack_dual(minigrad.autograd.grad(FUNCTIONS[name](dual), x)[0]).tangent
    np.testing.assert_allclose(tangent.numpy(), expected, rtol=1e-6, atol=1e-7)


ERRORS = """
L.linalg.inv(L.zeros(2, 2)) | L.linalg.inv(L.zeros(3, 2, 2)) | L.linalg.solve(L.zeros(2, 2), L.ones(2))
L.linalg.cholesky(-L.eye(2)) | L.linalg.det(L.ones(2, 3)) | L.linalg.qr(L.ones(3))
L.ones(2, 2).matmul([1.0]) | L.ones(2, 2).mm(2) | L.einsum('ij,jk->iz', L.ones(2, 2), L.ones(2, 2))
L.tensordot(L.ones(2, 3), L.ones(2, 3), 1) | L.addmm(L.ones(5), L.ones(2, 3), L.ones(3, 3))
L.ones(2, 3, 4) @ L.ones(3, 4, 5) | L.ones(2, 1, 3, 4) @ L.ones(3, 2, 4, 5)
L.linalg.solve(L.ones(2, 3, 3), L.ones(4, 3, 2)) | L.linalg.lstsq(L.ones(2, 3, 3), L.ones(4, 3, 1))
L.broadcast_tensors(L.ones(2), L.ones(2, 1), L.ones(3, 3))
"""


def test_errors() -> None:
    assert_same_ends(torch, ERRORS)


def test_in_place() -> None:
    made = []
    for L in (minigrad, torch):
        x = L.ones(2, 2, requires_grad=True)
        y = x * 2
        y.addmm_(x, L.ones(2, 2), beta=2, alpha=3)
        y.sum().backward()
        made.append((y.detach().numpy().tolist(), x.grad.numpy().tolist()))
    assert made[0] == made[1]


LIMITS = (9, 2**15, 2**23, 2**45, 2**63)  # of the magnitudes: at 2²³ the sums come near 2⁵³


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("shape", [(4, 2, 3), (40, 128, 30), (4096,)], ids=repr)
def test_products_of_integers(dtype: str, shape: tuple[int, ...]) -> None:
    """They are exact, and wrap around where a sum is too large for the dtype, however NumPy computes them."""
    pick, bounds = np.random.default_rng(0), np.iinfo(dtype)
    n, k, m = shape if len(shape) == 3 else (1, *shape, 1)
    for limit in LIMITS:
        low, high = max(-limit, bounds.min), min(limit - 1, bounds.max)
        a, b = (pick.integers(low, high, s, dtype, endpoint=True) for s in ((n, k), (k, m)))
        a[0, 0], b[0, 0] = low, low
        if len(shape) == 1:
            a, b = a[0], b[:, 0]
        calls = [(a, b)] if len(shape) == 1 else [(a, b), (a, b[:, 0]), (a[None], b[None])]
        for x, y in calls:
            ours, theirs = (L.from_numpy(x) @ L.from_numpy(y) for L in (minigrad, torch))
            assert ours.numpy().dtype == dtype and np.array_equal(ours.numpy(), theirs.numpy())


def test_products_of_halves_are_added_in_float32() -> None:
    """2049 is no float16, so a sum in float16 would stop at 2048."""
    ones = minigrad.ones(1, 2100, dtype=minigrad.float16)
    for found in (ones @ ones.T, ones[0] @ ones[0], ones @ ones[0], (ones[None] @ ones.T[None])):
        assert found.dtype is minigrad.float16 and set(found.reshape(-1).tolist()) == {2100.0}
