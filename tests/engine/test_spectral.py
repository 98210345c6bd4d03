"""Fourier transforms and factors of matrices: what PyTorch's table of ops does not show."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from calls import assert_same_ends
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
ERRORS = """
L.fft.fft(3) | L.fft.fft(L.ones(4).half()) | L.fft.rfft(L.ones(4) + 0j) | L.fft.fft(L.ones(4), n=0)
L.fft.fft(L.ones(4), norm='x') | L.fft.fft(L.tensor(1.0)) | L.fft.fftn(L.ones(4, 4), dim=(0, 0))
L.fft.fftfreq(4, dtype=L.int64) | L.linalg.eig(L.tensor([[float('nan')]]))
L.linalg.eigvals(L.eye(2).half()) | L.linalg.lstsq(L.eye(2), L.eye(2), driver='x')
L.linalg.lstsq(L.ones(3, 2), L.ones(4))
"""


def test_errors() -> None:
    assert_same_ends(torch, ERRORS)


SAME = {
    "fftfreq": lambda L: [L.fft.fftfreq(5), L.fft.fftfreq(4, 0.5, dtype=L.float64), L.fft.rfftfreq(5)],
    "fft of nothing": lambda L: L.fft.fftn(L.tensor(SQUARE), dim=()),
    "logdet": lambda L: [L.logdet(-L.eye(3)), L.logdet(L.eye(3) * 2j), L.eye(3).logdet()],
}


@pytest.mark.quick(4)
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


def test_eigenvectors() -> None:
    a = minigrad.tensor(made((2, 3, 3)))
    values, vectors = minigrad.linalg.eig(a)
    np.testing.assert_allclose((a + 0j) @ vectors, vectors * values.unsqueeze(-2), 1e-9, 1e-9)
