"""A pytest plugin: which functions of the source, and which texts, each test reaches.

    python -m pytest -p reached --reached FILE [PATH ...]

A line of FILE is a test as JSON: its id, its seconds, the places that no test before it reached, and the
numbers of all places it reached. A place is the file of a function and the line where it begins, or the
language of a text and its key. What child processes run is not seen. `--cases 4` runs so many cases of each
test function.
`mutants` reads FILE and runs the tests that reach a changed place.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = tuple(f"{ROOT / name}/" for name in ("minigrad", "minigrad_viz"))
codes: set[CodeType] = set()  # of all functions called since the test began
texts: set[str] = set()
numbers: dict[str, int] = {}  # of the places


class Texts(dict[str, str]):
    """The texts of a language, which note the ones that are read."""

    def __init__(self, lang: str, known: dict[str, str]) -> None:
        super().__init__(known)
        self.lang = lang

    def get(self, key: str, default: str | None = None) -> str | None:
        texts.add(f"{self.lang}:{key}")
        return super().get(key, default)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("minigrad")
    group.addoption("--reached", help="write to this file what each test reaches")
    group.addoption("--cases", type=int, help="run so many cases of each test function")


def pytest_configure(config: pytest.Config) -> None:
    catalogues = importlib.import_module("minigrad_viz.words").CATALOGUES
    catalogues.update({lang: Texts(lang, known) for lang, known in catalogues.items()})


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    functions: dict[str, list[str]] = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item.nodeid)
    count = config.getoption("cases") or len(items)
    sampled = importlib.import_module("tiers").sampled  # a plugin is imported before pytest can rewrite it
    kept = {id for ids in functions.values() for id in sampled(ids, count)}
    items[:] = [item for item in items if item.nodeid in kept]


def note(frame: FrameType, event: str, arg: object) -> None:
    """A function is called; its lines are not followed."""
    codes.add(frame.f_code)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note what a test calls, with its fixtures."""
    codes.clear()
    texts.clear()
    before = sys.gettrace()
    began = time.process_time()
    threading.settrace(note)
    sys.settrace(note)
    try:
        return (yield)
    finally:
        sys.settrace(before)
        threading.settrace(before)  # type: ignore[arg-type]
        seconds = round(time.process_time() - began, 3)
        reached = sorted(places())
        new = [place for place in reached if place not in numbers]
        numbers.update(zip(new, range(len(numbers), len(numbers) + len(new))))
        line = [item.nodeid, seconds, new, [numbers[place] for place in reached]]
        with Path(item.config.getoption("reached")).open("a", encoding="utf-8") as file:
            print(json.dumps(line, separators=(",", ":")), file=file)


def places() -> Iterator[str]:
    """What was reached."""
    yield from texts
    for code in list(codes):  # other threads may still run
        if code.co_filename.startswith(PACKAGES):
            yield f"{code.co_filename.removeprefix(f'{ROOT}/')}:{code.co_firstlineno}"


def tests_reaching(records: list[Path]) -> dict[str, list[tuple[float, str]]]:
    """Return of each place the tests that reach it, with their seconds, the fastest first."""
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for record in records:
        known: list[str] = []
        for line in record.read_text(encoding="utf-8").splitlines():
            test, seconds, new, reached = json.loads(line)
            known += new
            for place in reached:
                found[known[place]].append((seconds, test))
    for tests in found.values():
        tests.sort()
    return found
