"""The quick tier: what its list means, that what it names exists, and that it runs code of every layer."""

from __future__ import annotations

import ast
import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from quick import LIST, TESTS, Line, lines, spaced

ROOT = TESTS.parent
PACKAGES = ("minigrad", "minigrad_viz")
LAYERS = sorted(
    {path.parent.relative_to(ROOT).as_posix() for name in PACKAGES for path in (ROOT / name).rglob("*.py")}
)
LISTED = list(lines(LIST.read_text(encoding="utf-8")))


def test_a_list():
    text = """# why
        [minigrad/ops]
        test_ops.py::test_gradients 40  # of many

        test_views.py
        [minigrad]  # the modules of the package itself
        test_a.py::Test
        """
    assert list(lines(text)) == [
        Line("minigrad/ops", "test_ops.py", "test_gradients", 40),
        Line("minigrad/ops", "test_views.py", "", None),
        Line("minigrad", "test_a.py", "Test", None),
    ]


@pytest.mark.parametrize(
    "count, taken",
    [(1, "0"), (3, "036"), (4, "0257"), (10, "0123456789"), (20, "0123456789"), (None, "0123456789")],
)
def test_cases_are_evenly_spaced(count, taken):
    assert spaced(list("0123456789"), count) == list(taken)


def test_every_layer_has_its_tests():
    assert sorted({line.layer for line in LISTED}) == LAYERS, (
        "tests/quick.txt has a section for each package of minigrad and minigrad_viz"
    )


def test_what_is_listed_exists():
    """A line that stands for no test would be left out without a word."""
    missing = [line for line in LISTED if line.name not in names_in(TESTS / line.file)]
    assert not missing, f"tests/quick.txt lists what is not there: {missing}"


@functools.cache
def names_in(path: Path) -> set[str]:
    """The functions and classes of a test file, and "" for all of it."""
    if not path.is_file():
        return set()
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {"", *(item.name for item in body if isinstance(item, ast.FunctionDef | ast.ClassDef))}


@pytest.mark.slow
def test_every_layer_is_run_by_its_tests(torch, tmp_path):
    """Its section may name tests of something else, or tests from which its code has moved away."""
    reached = tmp_path / "reached.json"
    options = ["-q", "-m", "quick", "-p", "quick_layers", f"--reached={reached}"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, TESTS)))}
    command = [sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(reached.read_text(encoding="utf-8")) == LAYERS
