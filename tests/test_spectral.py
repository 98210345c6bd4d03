"""Fourier transforms and factors of matrices: what PyTorch's table of ops does not show."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from twins import dialect

import minigrad

torch = pytest.importorskip("torch")


def made(shape: tuple[int, ...], kind: str = "float64") -> Any:
    """Fixed, different numbers."""
    n = int(np.prod(shape))
    x = np.cos(np.arange(n) * 1.3 + 0.5) + np.sin(np.arange(n) ** 2 * 0.7)
    return (x + 1j * x[::-1] if kind == "complex128" else x).reshape(shape).astype(kind)


def in_both(call: Any) -> list[Any]:
    """The result, or the error, in both libraries."""
    found = []
    for library in (minigrad, torch):
        with dialect("2"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found.append(call(library))
            except Exception as error:
                found.append((type(error).__name__, str(error).split("\n")[0]))
    return found


def assert_same(call: Any, tolerance: float = 1e-10) -> None:
    ours, theirs = in_both(call)
    ours, theirs = ([x] if hasattr(x, "dtype") else list(x) for x in (ours, theirs))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert str(a.dtype).rpartition(".")[2] == str(b.dtype).rpartition(".")[2]
        assert tuple(a.shape) == tuple(b.shape)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), tolerance, tolerance)


SQUARE, TALL = made((3, 3)), made((4, 2))
ERRORS = {
    "fft of no tensor": lambda L: L.fft.fft(3),
    "fft of half": lambda L: L.fft.fft(L.ones(4).half()),
    "rfft of complex": lambda L: L.fft.rfft(L.ones(4) + 0j),
    "no points": lambda L: L.fft.fft(L.ones(4), n=0),
    "norm": lambda L: L.fft.fft(L.ones(4), norm="x"),
    "no dimensions": lambda L: L.fft.fft(L.tensor(1.0)),
    "equal dims": lambda L: L.fft.fftn(L.ones(4, 4), dim=(0, 0)),
    "fftfreq of integers": lambda L: L.fft.fftfreq(4, dtype=L.int64),
    "lu_factor of zeros": lambda L: L.linalg.lu_factor(L.zeros(2, 3, 3)),
    "lu without pivots": lambda L: L.linalg.lu(L.eye(3), pivot=False),
    "lu of a vector": lambda L: L.linalg.lu(L.ones(3)),
    "lu of integers": lambda L: L.linalg.lu_factor(L.ones(2, 2, dtype=L.int64)),
    "lu_solve with int64": lambda L: L.linalg.lu_solve(L.eye(2), L.tensor([1, 2]), L.ones(2, 1)),
    "lu_unpack out of range": lambda L: L.lu_unpack(L.eye(2), L.tensor([1, 3], dtype=L.int32)),
    "solve_triangular shapes": lambda L: L.linalg.solve_triangular(L.eye(2), L.eye(3), upper=True),
    "triangular_solve dtypes": lambda L: L.triangular_solve(L.eye(2).double(), L.eye(2)),
    "cholesky of a negative": lambda L: L.cholesky(-L.eye(3)),
    "cholesky_solve shapes": lambda L: L.cholesky_solve(L.ones(2, 3), L.eye(3)),
    "eig of nan": lambda L: L.linalg.eig(L.tensor([[float("nan")]])),
    "eig of half": lambda L: L.linalg.eigvals(L.eye(2).half()),
    "lstsq driver": lambda L: L.linalg.lstsq(L.eye(2), L.eye(2), driver="x"),
    "lstsq shapes": lambda L: L.linalg.lstsq(L.ones(3, 2), L.ones(4)),
    "householder shapes": lambda L: L.linalg.householder_product(L.ones(2, 3), L.ones(2)),
    "householder dtypes": lambda L: L.linalg.householder_product(L.eye(2), L.ones(2).double()),
    "ormqr shapes": lambda L: L.ormqr(L.eye(3), L.ones(3), L.ones(2, 3)),
    "matrix_exp of integers": lambda L: L.matrix_exp(L.ones(2, 2, dtype=L.int64)),
    "vander of bools": lambda L: L.linalg.vander(L.tensor([True])),
    "vander of one": lambda L: L.linalg.vander(L.ones(3), N=1),
    "tensorinv sizes": lambda L: L.linalg.tensorinv(L.ones(2, 3)),
    "tensorinv singular": lambda L: L.linalg.tensorinv(L.zeros(2, 2), ind=1),
    "cond of a norm": lambda L: L.linalg.cond(L.eye(2), 3),
    "rank of integers": lambda L: L.linalg.matrix_rank(L.ones(2, 2, dtype=L.int64)),
    "geqrf differentiated": lambda L: L.geqrf(L.eye(2).requires_grad_())[0].sum().backward(),
    "zeta differentiated": lambda L: L.special.zeta(L.ones(2, requires_grad=True), 2.0).sum().backward(),
    "igamma of integers": lambda L: L.igamma(L.tensor([1]), L.tensor([2])),
    "stft of a cube": lambda L: L.stft(L.ones(2, 2, 2), 2, center=False, return_complex=True),
    "stft of too few": lambda L: L.stft(L.ones(5), 8, center=False, return_complex=True),
    "stft without return_complex": lambda L: L.stft(L.ones(20), 8),
    "stft window": lambda L: L.stft(L.ones(20), 8, window=L.ones(7), return_complex=True),
    "istft of real numbers": lambda L: L.istft(L.ones(5, 3), 8),
    "istft sizes": lambda L: L.istft(L.ones(4, 3) + 0j, 8),
    "istft window of zeros": lambda L: L.istft(L.ones(5, 3) + 0j, 8, window=L.zeros(8)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    ours, theirs = in_both(ERRORS[name])
    assert isinstance(theirs, tuple) and ours == theirs


SAME = {
    "fftfreq": lambda L: [L.fft.fftfreq(5), L.fft.fftfreq(4, 0.5, dtype=L.float64), L.fft.rfftfreq(5)],
    "fft of nothing": lambda L: L.fft.fftn(L.tensor(SQUARE), dim=()),
    "stft by frames": lambda L: L.stft(
        L.tensor(made((2, 21))), 8, 3, 6, L.tensor(made((6,))), center=False, return_complex=True
    ),
    "stft aligned": lambda L: L.stft(
        L.tensor(made((9,))), 8, win_length=6, center=False, return_complex=False, align_to_window=True
    ),
    "stft repeated": lambda L: L.stft(L.tensor(made((9,))), 4, pad_mode="circular", return_complex=True),
    "istft": lambda L: L.istft(L.tensor(made((2, 5, 6), "complex128")), 8, length=14, normalized=True),
    "lu of wide": lambda L: L.linalg.lu(L.tensor(made((2, 3, 5), "complex128"))),
    "lu of many columns": lambda L: L.linalg.lu_factor(L.tensor(made((2, 110, 100)))),
    "lu in parts": lambda L: L.lu_unpack(*L.linalg.lu_factor(L.tensor(TALL)), unpack_pivots=False),
    "matrix_exp of all sizes": lambda L: L.matrix_exp(
        L.tensor(made((4, 3, 3)) * np.array([1e-9, 0.5, 4.0, 40.0])[:, None, None])
    ),
    "triangular and singular": lambda L: L.linalg.solve_triangular(
        L.tensor([[2.0, 1.0], [0.0, 0.0]]), L.ones(2, 1), upper=True
    ),
    "singular lower": lambda L: L.linalg.solve_triangular(L.zeros(2, 2), L.ones(2, 1), upper=False),
    "rank with limits": lambda L: L.linalg.matrix_rank(
        L.tensor(np.diag([1, 1e-3, 1e-8])), atol=L.tensor([1e-2, 1e-9])
    ),
    "cond of singular": lambda L: [L.linalg.cond(L.zeros(2, 2), p) for p in (1, "fro", None)],
    "logdet": lambda L: [L.logdet(-L.eye(3)), L.logdet(L.eye(3) * 2j), L.eye(3).logdet()],
    "igamma_": lambda L: L.tensor([0.5, 3.0]).double().igamma_(L.tensor([0.25, 4.5]).double()),
    "igamma at its ends": lambda L: L.special.gammaincc(
        L.tensor([0.0, 1.0, 0.0, -1.0, float("inf")]), L.tensor([1.0, 0.0, 0.0, 1.0, 2.0])
    ),
    "zeta of numbers": lambda L: [L.special.zeta(2.5, L.tensor([1.5])), L.special.zeta(L.tensor([2.5]), 1)],
    "degree cut": lambda L: L.special.hermite_polynomial_he(L.tensor([0.5, 2.0]), 2.7),
    "old names": lambda L: [*L.eye(2).lu(), L.eye(2).lu_solve(*L.eye(2).lu()), L.orgqr(*L.geqrf(L.eye(2)))],
}


@pytest.mark.parametrize("name", SAME)
def test_as_in_pytorch(name: str) -> None:
    assert_same(SAME[name])


@pytest.mark.parametrize("driver", ["gels", "gelsd"])
@pytest.mark.parametrize("shape", [(4, 2), (5, 4, 2)])
def test_gradients_through_residuals(driver: str, shape: tuple[int, ...]) -> None:
    def gradients(L: Any) -> Any:
        b_shape = (1,) * (len(shape) - 2) + (4, 3)
        a, b = (L.tensor(made(s)).requires_grad_() for s in (shape, b_shape))
        found = L.linalg.lstsq(a, b, driver=driver)
        total = (found.solution * L.tensor(made((2, 3)))).sum() + (found.residuals**2).sum()
        return L.autograd.grad(total, [a, b])

    assert_same(gradients)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_products_of_reflections(left: bool, transpose: bool) -> None:
    """Gradients by finite differences: PyTorch's own are compared on the table's samples."""
    a, tau = minigrad.geqrf(minigrad.tensor(made((4, 3))))
    other = minigrad.tensor(made((4, 2) if left else (2, 4)))
    given = [x.requires_grad_() for x in (a, tau, other)]
    assert minigrad.autograd.gradcheck(lambda *t: minigrad.ormqr(*t, left, transpose), given)


@pytest.mark.parametrize("kind", ["float64", "complex128"])
@pytest.mark.parametrize("hermitian", [True, False])
@pytest.mark.parametrize("diagonal", [1, 0.01])
def test_symmetric_factors(kind: str, hermitian: bool, diagonal: float) -> None:
    """With a small diagonal the blocks of D have two rows."""
    a = made((2, 6, 6), kind)
    a = a + (a.conj() if hermitian else a).swapaxes(-1, -2)
    a[:, range(6), range(6)] *= diagonal
    assert_same(lambda L: L.linalg.ldl_factor(L.tensor(a), hermitian=hermitian))
    factors = minigrad.linalg.ldl_factor(minigrad.tensor(a), hermitian=hermitian)
    b = made((6, 2), kind)
    x = minigrad.linalg.ldl_solve(*factors, minigrad.tensor(b), hermitian=hermitian)
    np.testing.assert_allclose(a @ x.numpy(), np.broadcast_to(b, (2, 6, 2)), 1e-9, 1e-9)


def test_eigenvectors() -> None:
    a = minigrad.tensor(made((2, 3, 3)))
    values, vectors = minigrad.linalg.eig(a)
    np.testing.assert_allclose((a + 0j) @ vectors, vectors * values.unsqueeze(-2), 1e-9, 1e-9)


def test_a_signal_comes_back() -> None:
    x = minigrad.tensor(made((2, 40))).requires_grad_()
    window = minigrad.signal.windows.hann(8, sym=False, dtype=minigrad.float64)
    there = minigrad.stft(x, 8, window=window, return_complex=True)
    again = minigrad.istft(there, 8, window=window)
    np.testing.assert_allclose(again.detach().numpy(), x.detach().numpy(), 1e-12, 1e-12)
    (again**2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy(), 1e-12, 1e-12)


def test_low_rank() -> None:
    a = minigrad.tensor(made((6, 2)) @ made((2, 5)))
    u, s, v = minigrad.svd_lowrank(a, 2)
    np.testing.assert_allclose((u * s) @ v.mH, a, 1e-9, 1e-9)
    centered = minigrad.pca_lowrank(a, 2)
    np.testing.assert_allclose((centered[0] * centered[1]) @ centered[2].mH, a - a.mean(0), 1e-9, 1e-9)
    with pytest.raises(ValueError, match="not greater than min"):
        minigrad.pca_lowrank(a, 7)
