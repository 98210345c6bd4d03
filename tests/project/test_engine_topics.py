"""minigrad is ordered by topic: what belongs to one operation stands together, and a search finds it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scoped_names import functions
from where_page import PAGE, page

import minigrad
from minigrad.core import F, all_ops

PACKAGE = Path(minigrad.__file__).parent
# An op of one name may have forms for numbers, tensors, one dimension, or all elements.
FORMS = ("", "_op", "_scalar", "_number", "_tensor", "_dim", "_dims", "_all", "_forward", "_with_indices")
DECLARED = re.compile(r"\bdef (\w+)|[\"'](\w+)[\"']")
SHARED = (  # decorators of all ops, and vjps that are 0
    *("core/declare.py", "core/op.py", "core/public.py", "ops/kernels.py", "ops/arguments.py"),
    "tensor/binder.py",
)
OTHERS = ("unfold",)  # the method is another operation than the function


def innermost(thing: Any) -> Any:
    """The function that was written for a public one."""
    while True:
        inner = getattr(thing, "__wrapped__", getattr(thing, "fget", getattr(thing, "__func__", None)))
        if inner is None:
            return thing
        thing = inner


def file_of(function: Callable[..., Any]) -> str | None:
    """Where a function of minigrad stands; None for what is not Python's or not minigrad's."""
    code = getattr(function, "__code__", None)
    path = Path(code.co_filename) if code else None
    return path.relative_to(PACKAGE).as_posix() if path and path.is_relative_to(PACKAGE) else None


def files_about(name: str) -> set[str]:
    """The files that declare the function, the method, and the ops of one name: kernels and derivatives."""
    files: set[str | None] = set()
    for space in (minigrad, minigrad.Tensor, minigrad.nn.functional):
        public = inspect.getattr_static(space, name, None) or getattr(space, name, None)
        if public is not None:
            files.add(file_of(innermost(public)))
    for form in FORMS:
        entry = vars(F).get(name + form)
        op = getattr(entry, "op", None)
        if op is not None:
            files |= {file_of(innermost(part)) for part in (op.kernel, *filter(callable, op.vjps.values()))}
    return {file for file in files if file and file not in SHARED}


def operations() -> list[str]:
    """The public operations of learners' code."""
    names = {name.rpartition(".")[2] for name, _ in functions(1)} - {*OTHERS}
    return sorted(name for name in names if any(vars(F).get(name + form) for form in FORMS))


def test_all_about_an_operation_stands_in_two_files():
    all_ops()
    many = {name: sorted(files) for name in operations() if len(files := files_about(name)) > 2}
    assert len(operations()) > 130 and not many


def test_every_op_is_found_by_its_name():
    """A search for the name of an op finds its declaration: as `def name` or as a whole string."""
    all_ops()
    texts = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    names = {name for name, entry in vars(F).items() if hasattr(entry, "op") and not name.endswith("_")}
    found = {
        word for text in texts for word in re.findall(r"\bdef (\w+)|[\"'](\w+)[\"']", text) for word in word
    }
    assert len(names) > 350 and not sorted(names - found)


def test_the_page_of_topics_is_that_of_the_files():
    assert PAGE.read_text(encoding="utf-8") == page()


def raised_texts(path: Path) -> set[tuple[str, str]]:
    """The errors that a file makes: their classes, and their texts without what is filled in."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith("Error") and node.args:
            parts = [part.value for part in ast.walk(node.args[0]) if isinstance(part, ast.Constant)]
            found.add((node.func.id, " … ".join(part for part in parts if isinstance(part, str))))
    return {(kind, text) for kind, text in found if len(text) > 20}


def test_the_text_of_an_error_stands_in_one_file():
    """What several modules check is a guard: see `core/guards.py`."""
    files: dict[tuple[str, str], list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for error in raised_texts(path):
            files.setdefault(error, []).append(path.relative_to(PACKAGE).as_posix())
    assert len(files) > 500 and not {error: found for error, found in files.items() if len(found) > 1}
