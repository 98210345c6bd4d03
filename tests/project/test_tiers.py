"""The three tiers of tests: what runs when."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiers

FILE = """
import pytest

@pytest.mark.quick(30)
@pytest.mark.parametrize("n", range(200))
def test_many(n): pass

@pytest.mark.parametrize("n", range(100))
def test_more(n): pass

@pytest.mark.sample(7)
@pytest.mark.parametrize("n", range(9))
def test_few(n): pass

@pytest.mark.full
def test_large(): pass

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.full)])
def test_a_large_case(n): pass

@pytest.mark.browser
def test_page(): pass

@pytest.mark.browser
@pytest.mark.smoke
def test_start(): pass

@pytest.mark.quick
def test_small(): pass
"""


def test_the_choice_depends_on_nothing_but_the_parameters():
    ids = [f"test_x.py::test[{i}]" for i in range(100)]
    chosen = tiers.sampled(ids, 10)
    assert len(chosen) == 10 and chosen == tiers.sampled(ids[::-1], 10)
    assert set(chosen) - {chosen[0]} < set(tiers.sampled([i for i in ids if i != chosen[0]], 10))


@pytest.mark.parametrize("full, counts", [(False, [3, 3, 5, 12]), (True, [5, 40, 120, 300])])
def test_how_many_random_programs(monkeypatch, full, counts):
    monkeypatch.setattr(tiers, "full", full)
    assert [tiers.examples(n) for n in (5, 40, 120, 300)] == counts


@pytest.mark.parametrize(
    "arguments, passed",
    [
        (["-m", "quick"], 30 + 1),
        ([], 30 + tiers.MOST + 7 + 1 + 1 + 1),
        (["-n", "1"], 30 + tiers.MOST + 7 + 1 + 1 + 1),  # in a process of its own
        (["--full"], 200 + 100 + 9 + 1 + 2 + 2 + 1),
    ],
    ids=["quick", "pytest", "xdist", "full"],
)
def test_what_each_tier_runs(tmp_path, arguments, passed):
    (tmp_path / "test_file.py").write_text(FILE, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = browser: in Chromium\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(tiers.__file__).parent), "PYTEST_ADDOPTS": "-p tiers"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--strict-markers",
        "--count",
        "--rootdir",
        ".",
        *arguments,
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, text=True, capture_output=True, check=False)
    assert f"{passed} passed" in done.stdout, done.stdout + done.stderr
    assert ("`pytest --full` would run" in done.stdout) == (arguments in ([], ["-n", "1"]))
    assert "   315 test_file.py" in done.stdout or "quick" in arguments
