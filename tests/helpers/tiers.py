"""A pytest plugin: the three tiers of tests, `pytest -m quick`, `pytest` and `pytest --full`.

    quick   tests that say so by `@pytest.mark.quick`, or of a whole file `pytestmark = pytest.mark.quick`;
            with a number, `quick(4)`, so many of the cases of each function
    pytest  everything but the tests marked `full`; of those in the browser the ones marked `smoke`. Of a test
            function with more than `MOST` cases a sample is run, with the mark `sample(4)` so many of its
            cases, and never fewer than in the quick tier. A test that makes programs itself asks `examples`
            how many
    full    everything

Which cases a sample takes depends on nothing but their parameters, so a new case leaves the choice among the
others as it was; the random programs are always the same. A last line says what `--full` would add.

Everything at once is run on all cores, a file or notebook on one of them. A part is run in one process, which
starts sooner and in which a debugger works.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings

full = False  # set before any test is imported
MOST = 10  # cases of a test function
PART = 24  # one random program of so many
LEAST = 3
left_out = pytest.StashKey[int]()
per_file = pytest.StashKey[Counter[str]]()  # how many tests `--full` would run


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("minigrad")
    about = "run everything: all cases of large checks, all random programs, all tests in the browser"
    group.addoption("--full", action="store_true", help=about)
    group.addoption("--count", action="store_true", help="print at the end how many tests each file has")


def pytest_configure(config: pytest.Config) -> None:
    global full
    full = config.getoption("full")
    for line in (
        "quick(count): belongs to the quick tier; of each function so many cases",
        "sample(count): of each function so many cases are run without --full",
        "full: is run only with --full",
        "smoke: is run without --full although it is in the browser",
    ):
        config.addinivalue_line("markers", line)
    # Machines are slow at times: a deadline per example would fail by chance. In CI hypothesis makes the same
    # examples each time, with `--full` as well.
    fixed = {} if full else {"derandomize": True, "max_examples": examples(600)}
    settings.register_profile("minigrad", deadline=None, **fixed)
    settings.load_profile("minigrad")


def is_quick(config: pytest.Config) -> bool:
    """Return whether the quick tier is run, and nothing else."""
    return config.getoption("markexpr").strip() == "quick"


def examples(count: int) -> int:
    """Return how many of `count` random programs are run."""
    return count if full else min(count, max(LEAST, count // PART))


def large(cases: Iterable[str]) -> list[ParameterSet]:
    """Return the cases of a test function that are run only with `--full`."""
    return [pytest.param(case, marks=pytest.mark.full) for case in cases]


def sampled(ids: list[str], count: int) -> list[str]:
    """Return so many of the ids, chosen by their parameters alone: functions that share cases take the same
    ones.
    """
    return sorted(ids, key=lambda one: zlib.crc32(one.partition("[")[2].encode()))[:count]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files without a quick test: collecting all takes longer than running these."""
    if not (is_quick(config) and collection_path.is_file()):
        return None
    text = collection_path.read_text(encoding="utf-8") if collection_path.suffix == ".py" else ""
    return None if "mark.quick" in text or collection_path.name == "conftest.py" else True


@pytest.hookimpl(trylast=True)  # what -m and -k leave out makes room for others
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    functions: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item)
    config.stash[per_file] = Counter(item.nodeid.partition("::")[0] for item in items)
    kept = {id for cases in functions.values() for id in chosen(cases, is_quick(config))}
    out = [item for item in items if item.nodeid not in kept]
    config.stash[left_out] = len(out)
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item.nodeid in kept]


def chosen(cases: list[pytest.Item], quick: bool) -> list[str]:
    """Return the ids of the cases of a function that this tier runs."""
    if not (full or quick):
        cases = [item for item in cases if item.get_closest_marker("full") is None]
    if not cases:
        return []
    ids = [item.nodeid for item in cases]
    mark = cases[0].get_closest_marker("quick" if quick else "sample")
    if full or (quick and mark is None):
        return ids
    marks = {each.name for each in cases[0].iter_markers()}
    if not quick and "browser" in marks and "smoke" not in marks:
        return []
    if quick:
        return sampled(ids, mark.args[0] if mark.args else len(ids))
    quickly = cases[0].get_closest_marker("quick")
    least = quickly.args[0] if quickly and quickly.args else 0
    return sampled(ids, max(least, mark.args[0] if mark else MOST))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process of pytest-xdist tells the one that prints what it left out. All leave out the same."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["tiers"] = config.stash.get(left_out, 0), dict(config.stash.get(per_file, {}))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Read what a process of pytest-xdist tells; one that was ended tells nothing."""
    if "tiers" in getattr(node, "workeroutput", {}):
        count, counts = node.workeroutput["tiers"]
        node.config.stash[left_out], node.config.stash[per_file] = count, Counter(counts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = config.stash.get(per_file, {}) if config.option.count else {}
    for file in sorted(counts):
        terminalreporter.write_line(f"{counts[file]:6} {file}")
    count = config.stash.get(left_out, 0)
    if count and not full and not is_quick(config):
        terminalreporter.write_line(
            f"`pytest --full` would run {count} more tests, and {PART} times as many random programs"
        )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Return 0, which means this process alone; or None, and pytest-xdist counts the cores."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return None if whole and not is_quick(config) else 0
