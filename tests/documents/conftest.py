"""The tests here state facts that hold alike for minigrad, in both dialects, and for PyTorch."""

from __future__ import annotations

import warnings

import pytest

import minigrad


@pytest.fixture(params=["minigrad 1.4", "minigrad 2", "PyTorch"])
def lib(request):
    """The library under test. Warnings that only some of them give are silent; they have their own tests."""
    library = request.getfixturevalue("torch") if request.param == "PyTorch" else minigrad
    before = minigrad.get_dialect()
    if library is minigrad:
        minigrad.set_dialect(request.param.split()[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield library
    minigrad.set_dialect(before)


@pytest.fixture
def dialect_2():
    """minigrad prints as PyTorch 2 does."""
    before = minigrad.get_dialect()
    minigrad.set_dialect("2")
    yield
    minigrad.set_dialect(before)
