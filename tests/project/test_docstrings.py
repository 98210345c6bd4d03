"""The docstrings of the functions and methods in use have their sections, and their examples print what they
show.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import re
from typing import Any

import pytest
from scoped_names import functions

import minigrad
import minigrad_viz
from minigrad.core.storage import Storage
from minigrad.core.tensor_state import TensorBase
from minigrad.nn import functional

SECTIONS = ("Args:", "Shape:", "Returns:", "Raises:", "Source:")
SPACES = ("torch.", "torch.Tensor.")
WANTED = {n: f for n, f in functions(2) if n.rpartition(".")[0] + "." in SPACES}
NO_INDEX_OF_STYLE = re.compile(r"\b(reckon\w*|in the place of|greatest|knows? of|is told)\b", re.I)


def doc(function: Any) -> str:
    return inspect.getdoc(function) or ""


def every() -> dict[str, str]:
    """Docstring → the name of the first public function that has it."""
    found: dict[str, str] = {}
    for space in (minigrad, minigrad.Tensor, functional):
        for name in dir(space):
            thing = getattr(space, name, None) if not name.startswith("_") else None
            if inspect.isroutine(thing) and ">>>" in doc(thing):
                found.setdefault(doc(thing), f"{space.__name__}.{name}")
    return found


EXAMPLES = {name: text for text, name in every().items()}


@pytest.mark.parametrize("name", WANTED)
def test_a_name_in_use_is_documented(name):
    text = doc(WANTED[name])
    first = text.splitlines()[0]
    assert re.match(
        r"(Return|Add|Subtract|Multiply|Divide|Write|Fill|Set|Keep|Copy|Register|Cut|Select|Transpose) ",
        first,
    )
    assert first.endswith(".")
    found = [line.strip().split(" ")[0] for line in text.splitlines()]
    assert [s for s in SECTIONS if s not in found] == []
    assert ">>> " in text and not NO_INDEX_OF_STYLE.search(text)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_print_what_they_show(name, capsys):
    names = {"torch": minigrad, "F": functional}
    test = doctest.DocTestParser().get_doctest(EXAMPLES[name], names, name, None, 0)
    said: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert result.attempted and not result.failed, "".join(said)


def test_an_example_that_prints_something_else_fails():
    test = doctest.DocTestParser().get_doctest(
        ">>> torch.ones(1)\ntensor([2.])", {"torch": minigrad}, "x", None, 0
    )
    with contextlib.redirect_stdout(None):
        assert doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None).failed == 1


@pytest.mark.parametrize(
    "cls, names",
    [
        (TensorBase, ["_data", "_fn", "_acc", "_grad", "_storage", "_view"]),
        (Storage, ["version", "array", "writer", "detached"]),
    ],
)
def test_the_table_of_a_classs_fields_has_a_line_for_each(cls, names):
    found = [m.group(1) for m in re.finditer(r"^- `(\w+)`", doc(cls), re.M)]
    assert found == names and set(names) <= set(cls.__slots__)


SHOWN = ("check_prediction", "compare", "draw", "predict", "record", "why_none")


@pytest.mark.parametrize("name", SHOWN)
def test_examples_of_the_viewer_print_what_they_show(name, capsys):
    known = {each: getattr(minigrad_viz, each) for each in (name, "record")}
    (example,) = doctest.DocTestFinder(recurse=False).find(known[name], name, globs=known)
    result = doctest.DocTestRunner().run(example)
    assert result.attempted and not result.failed, capsys.readouterr().out
