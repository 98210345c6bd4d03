"""How the viewer is built: a Scene once per picture, and one class for one name."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from pathlib import Path

import pytest
from cells import CELLS, run
from sources import parsed

from minigrad_viz.explaining.missing_grad import Facts, from_scenes
from minigrad_viz.model.scene import Scene
from minigrad_viz.model.trace_index import TraceIndex
from minigrad_viz.shell.report import Report

PACKAGE = Path(__file__).resolve().parents[2] / "minigrad_viz"
MODULES = sorted(PACKAGE.rglob("*.py"))


@functools.cache
def classes() -> list[tuple[str, ast.ClassDef]]:
    """All classes, with the files that they stand in."""
    found = []
    for path in MODULES:
        tree = parsed(path)
        found += [(path.name, node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return found


def shown(report: Report) -> None:
    """All that a report can show."""
    report.text(steps=True)
    report.html()
    report.acts  # noqa: B018
    report.recursion  # noqa: B018
    assert report.memory.text() and report.ledger is not None


@pytest.mark.sample(6)
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


def test_a_name_of_a_class_is_defined_in_at_most_two_modules():
    count = Counter(node.name for _, node in classes())
    assert {name for name, n in count.items() if n > 2} == set()
