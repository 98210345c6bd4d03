"""What runs when: the sample of large checks, the tiers, and what passed already."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import sample
from quick import TESTS
from tiers import TIERS

FILE = """
import importlib.util, subprocess, sys
import hypothesis, hypothesis.strategies as st
import pytest

@pytest.mark.parametrize("n", range(9))
def test_many(n): pass

def test_asks(): assert importlib.util.find_spec("not_there") is None

def test_starts(): subprocess.run([sys.executable, "-c", ""], check=True)

def test_wrong(): assert False

@hypothesis.given(st.integers())
def test_random(n): pass
"""


@pytest.fixture
def run(tmp_path):
    """A function that runs pytest in a folder with the plugins, and returns its output."""
    (tmp_path / "test_file.py").write_text(FILE, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTEST_ADDOPTS": "-p sample -p passed -p tiers"}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", ".", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, text=True, capture_output=True)
        return done.stdout + done.stderr

    return run


def test_the_choice_depends_on_nothing_but_the_ids():
    ids = [f"test_x.py::test[{i}]" for i in range(100)]
    chosen = sample.sampled(ids, 10)
    assert len(chosen) == 10 and chosen == sample.sampled(ids[::-1], 10)
    assert set(chosen) - {chosen[0]} < set(sample.sampled([i for i in ids if i != chosen[0]], 10))


@pytest.mark.parametrize("full, counts", [(False, [5, 10, 20, 50]), (True, [5, 40, 120, 300])])
def test_how_many_random_programs(monkeypatch, full, counts):
    monkeypatch.setattr(sample, "full", full)
    assert [sample.examples(n) for n in (5, 40, 120, 300)] == counts


def test_what_is_sampled_exists():
    for name in sample.CASES:
        file, _, function = name.partition("::")
        assert f"def {function.rpartition('::')[2]}(" in (TESTS / file).read_text(encoding="utf-8"), name


def test_every_tier_has_its_tests():
    for beginning in (b for beginnings in TIERS.values() for b in beginnings):
        folder, _, name = beginning.rpartition("/")
        assert list((TESTS.parent / folder).glob(f"{name}*")), beginning


def test_what_passed_is_left_out_where_packages_cannot_matter(run, tmp_path):
    passed = tmp_path / "passed.txt"
    assert "12 passed" in run("--write-passed", str(passed))
    names = [line.partition("::")[2] for line in passed.read_text(encoding="utf-8").splitlines()]
    assert names == [*(f"test_many[{n}]" for n in range(9)), "test_random"]
    assert "1 failed, 2 passed, 10 deselected" in run("--without-passed", str(passed))


def test_tests_with_hypothesis_are_fuzz(run):
    assert "1 passed, 12 deselected" in run("-m", "fuzz")
