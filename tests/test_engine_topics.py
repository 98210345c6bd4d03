"""minigrad is ordered by topic: what belongs to one operation stands together, and a search finds it."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scoped_names import functions
from where_page import PAGE, page

import minigrad
from minigrad.core import F, all_ops

PACKAGE = Path(minigrad.__file__).parent
# An op of one name may have forms for numbers, tensors, one dimension, or all elements.
FORMS = ("", "_op", "_scalar", "_number", "_tensor", "_dim", "_dims", "_all", "_forward", "_with_indices")
TWICE = {  # PyTorch has these functions several times, too
    "is_available": "backends and devices",
}
DECLARED = re.compile(r"\bdef (\w+)|[\"'](\w+)[\"']")
SHARED = (  # decorators of all ops, and vjps that are 0
    *("core/declare.py", "core/op.py", "core/public.py", "ops/kernels.py", "ops/arguments.py"),
    "tensor/argument_errors.py",
)
OTHERS = ("unfold",)  # the method is another operation than the function
# Participles that say nothing by themselves; with a noun or a verb beside them they may stand.
BARE = re.compile(
    r"_?(?!seed$|speed$|embed$|need$|searchsorted$)([a-z]+ed|told|kept|sent|written|taken|given|made|aloud|known|found|gone|own|held"
    r"|standing|met|stood|lost|left|shown|seen|spared|deeds|births|alike)"
)


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax trees of minigrad's files."""
    files = sorted(PACKAGE.rglob("*.py"))
    return {p.relative_to(PACKAGE).as_posix(): ast.parse(p.read_text(encoding="utf-8")) for p in files}


def definitions() -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """The functions and classes of modules, with their files."""
    for file, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield file, node


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
    assert len(names) > 350 and not names - found


def test_a_name_of_a_function_is_defined_in_at_most_two_modules():
    homes: dict[str, set[str]] = defaultdict(set)
    for file, node in definitions():
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            homes[node.name].add(file)
    assert {name: files for name, files in homes.items() if len(files) > 2}.keys() == TWICE.keys()


def test_no_bare_participle_is_a_name():
    names = {(file, node.name) for file, node in definitions()}
    names |= {(file, Path(file).stem) for file in trees()}
    assert not [(file, name) for file, name in sorted(names) if BARE.fullmatch(name.lower())]


@pytest.mark.parametrize("name", ["told", "kept", "_computed", "Packed", "written"])
def test_a_bare_participle_is_noticed(name):
    assert BARE.fullmatch(name.lower()) and not BARE.fullmatch(f"{name.lower()}_value")


def test_the_page_of_topics_is_that_of_the_files():
    assert PAGE.read_text(encoding="utf-8") == page()
