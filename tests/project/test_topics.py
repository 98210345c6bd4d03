"""Both packages are ordered by topic: names are nouns and verbs, and one name has one or two functions."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from sources import parsed

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["minigrad", "minigrad_viz"]
TWICE = {
    "minigrad": {"is_available"},  # PyTorch has it several times, too: of backends and devices
    "minigrad_viz": set(),
}
# Participles that say nothing by themselves; with a noun or a verb beside them they may stand, as may
# PyTorch's names.
BARE = re.compile(
    r"_?(?!seed$|speed$|embed$|need$|searchsorted$|cached$)([a-z]+ed|told|kept|sent|written|taken|given|made|aloud|known|found|gone"
    r"|own|held|standing|met|stood|lost|left|shown|seen|spared|deeds|births|alike|said|came|drawn|chosen|begun|built|laid|understood"
    r"|unkept|unseen|rebound|living|telling)"
)
WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")  # between the words of a class's name
# Names of Python's own modules: PyTorch's `torch.random`, operations by topic, and the Trace of a cell.
LIKE_PYTHON = {
    "minigrad": {"creation/random", "ops/statistics", "random"},
    "minigrad_viz": {"trace"},
}

pytestmark = pytest.mark.parametrize("package", PACKAGES)


@cache
def trees(package: str) -> dict[str, ast.Module]:
    """The syntax trees of a package's files."""
    folder = ROOT / package
    files = sorted(folder.rglob("*.py"))
    return {p.relative_to(folder).as_posix(): parsed(p) for p in files}


def definitions(package: str) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """The functions and classes of modules, with their files."""
    for file, tree in trees(package).items():
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield file, node


def is_bare(name: str) -> bool:
    """Whether a name is nothing but a participle."""
    return BARE.fullmatch(WORDS.sub("_", name).lower()) is not None


def test_a_name_of_a_function_is_defined_in_at_most_two_modules(package):
    homes: dict[str, set[str]] = defaultdict(set)
    for file, node in definitions(package):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            homes[node.name].add(file)
    assert {name for name, files in homes.items() if len(files) > 2} == TWICE[package]


def test_no_bare_participle_is_a_name(package):
    names = {(file, node.name) for file, node in definitions(package)}
    names |= {(file, Path(file).stem) for file in trees(package)}
    assert not [(file, name) for file, name in sorted(names) if is_bare(name)]


def test_a_bare_participle_is_noticed(package):
    for name in ("told", "kept", "_computed", "Packed", "written"):
        assert (
            is_bare(name) and not is_bare(f"{name}_value") and not is_bare(f"{name.strip('_').title()}Value")
        )


def test_no_module_is_called_like_one_of_python(package):
    files = (Path(file) for file in trees(package) if file != "__main__.py")
    ours = {path.parent if path.name == "__init__.py" else path.with_suffix("") for path in files}
    like = {path.as_posix() for path in ours if path.name in sys.stdlib_module_names}
    assert like == LIKE_PYTHON[package]
