"""How the viewer is built: a Scene once per picture, short chains of classes, and one name for one thing."""

from __future__ import annotations

import ast
import functools
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from cells import CELLS, run

from minigrad_viz.explaining.why_none import Facts, from_scenes
from minigrad_viz.model.scene import Scene
from minigrad_viz.model.trace_index import TraceIndex
from minigrad_viz.shell.run import Report

PACKAGE = Path(__file__).resolve().parent.parent / "minigrad_viz"
MODULES = sorted(PACKAGE.rglob("*.py"))
CATALOGUES = ("en", "ko")  # one file for each topic and language

SHARED_FILES = {"numbers.py", "functions.py"}  # the exercises about numbers, and about functions


@functools.cache
def classes() -> list[tuple[str, ast.ClassDef]]:
    """All classes, with the files that they stand in."""
    found = []
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found += [(path.name, node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return found


def chain(name: str, bases: dict[str, list[str]]) -> int:
    """How many of our own classes a class stands on, itself included; 0 for one of others."""
    return 1 + max((chain(base, bases) for base in bases[name]), default=0) if name in bases else 0


def shown(report: Report) -> None:
    """All that a report can show."""
    report.text(steps=True)
    report.html()
    report.acts  # noqa: B018
    report.recursion  # noqa: B018
    assert report.memory.text() and report.ledger is not None


@pytest.mark.parametrize("code", [1, 4, 7, 9, 12, 16, 18, 19, 21])
def test_a_scene_is_built_once(code, library, monkeypatch):
    """Explanations, pictures, steps and sheets of a cell share the Scene of a call; a trace is read once."""
    trace = run(CELLS[code], library).trace
    scenes, reads = Counter[int](), Counter[str]()
    of_scene, of_index = Scene.__init__, TraceIndex.__init__

    def scene(self, index, call):
        scenes[call] += 1
        of_scene(self, index, call)

    def index(self, trace):
        reads["trace"] += 1
        of_index(self, trace)

    monkeypatch.setattr(Scene, "__init__", scene)
    monkeypatch.setattr(TraceIndex, "__init__", index)
    report = Report(trace, lang="en")
    shown(report)
    facts = Facts("x", "float32", True, True, False, None)
    from_scenes(report.scenes, next(iter(report.scenes.index.at)), facts)
    assert scenes == dict.fromkeys(report.scenes.calls, 1)
    assert reads["trace"] == 1


def test_no_chain_of_classes_is_longer_than_two():
    bases = {node.name: [b.id for b in node.bases if isinstance(b, ast.Name)] for _, node in classes()}
    assert {name for name in bases if chain(name, bases) > 2} == set()


def test_no_two_classes_share_a_name():
    count = Counter(node.name for _, node in classes())
    assert {name for name, n in count.items() if n > 1} == set()


def test_no_two_files_share_a_name():
    places = defaultdict(list)
    for path in MODULES:
        if path.name != "__init__.py" and path.parent.name not in CATALOGUES:
            places[path.name].append(path.parent.name)
    assert {name for name, where in places.items() if len(where) > 1} <= SHARED_FILES


@pytest.mark.parametrize("name, length", [("a", 1), ("b", 2), ("c", 3), ("dict", 0)])
def test_how_long_a_chain_is(name, length):
    assert chain(name, {"a": ["dict"], "b": ["a"], "c": ["b", "a"]}) == length
