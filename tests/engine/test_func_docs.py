"""The examples in the docstrings of `func` and `autograd.functional` print what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect

import pytest
from twins import dialect

import minigrad

FUNCTIONS = [
    (where, name)
    for where in ("func", "autograd.functional")
    for name in importlib.import_module("minigrad." + where).__all__
]


@pytest.mark.parametrize(("where", "name"), FUNCTIONS, ids=map(".".join, FUNCTIONS))
def test_examples(where, name):
    function = getattr(importlib.import_module("minigrad." + where), name)
    (test,) = doctest.DocTestFinder(recurse=False).find(function, name, globs={"torch": minigrad})
    assert test.examples, "there is no example"
    told: list[str] = []
    with dialect("2"):
        doctest.DocTestRunner().run(test, out=told.append)
    assert not told, "".join(told)


@pytest.mark.parametrize(("where", "name"), FUNCTIONS, ids=map(".".join, FUNCTIONS))
def test_every_parameter_is_explained(where, name):
    function = getattr(importlib.import_module("minigrad." + where), name)
    for parameter in inspect.signature(function).parameters:
        assert f"    {parameter.lstrip('*')}:" in function.__doc__
