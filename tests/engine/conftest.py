"""A test of `L` and `note` is a program: both libraries run it, and what it notes must be the same."""

from __future__ import annotations

import functools
import inspect
from types import ModuleType

import pytest
from twins import Diary, assert_same_diary


@pytest.fixture(scope="session")
def L(torch: ModuleType) -> ModuleType:
    """The library that runs a program: PyTorch, after minigrad."""
    return torch


@pytest.fixture
def note() -> Diary:
    """What a program is given instead is a diary of each run."""
    return Diary()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    names = list(inspect.signature(pyfuncitem.obj).parameters)
    if names[:2] != ["L", "note"]:
        return None
    more = {name: pyfuncitem.funcargs[name] for name in names[2:]}
    assert_same_diary(functools.partial(pyfuncitem.obj, **more), pyfuncitem.funcargs["L"])
    return True
