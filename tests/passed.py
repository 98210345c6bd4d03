"""A pytest plugin: what passed in one environment need not run again in a larger one.

`--write-passed FILE` writes the ids of the tests that passed and that would do the same with more packages
installed. `--without-passed FILE` leaves them out. A test that looked for a package that is not installed is
not written, nor is one from a file that looked for it while it was imported, nor one that started a process:
nobody sees what that looks for. Of some it is known: see `ALIKE`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sample import leave_out

# How the ids begin of tests whose processes run minigrad alone, or pytest. That minigrad loads no PyTorch
# where it is installed is checked by `test_imports.py`, which is run again.
ALIKE = (
    "notebooks/",
    "tests/test_late.py",
    "tests/test_main.py",
    "tests/test_mutated.py",
    "tests/test_pytorch_suite.py",
    "tests/test_sample.py",
    "tests/test_student_form.py",
)
LOOKED = ("looked for what is not installed, or started a process", True)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("minigrad")
    group.addoption("--write-passed", metavar="FILE", help="write the ids of the tests that passed to a file")
    group.addoption("--without-passed", metavar="FILE", help="leave out the tests that a file names")


def pytest_configure(config: pytest.Config) -> None:
    if file := config.getoption("write_passed"):
        config.pluginmanager.register(Passed(Path(file)), "minigrad-passed")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if file := config.getoption("without_passed"):
        leave_out(config, items, set(Path(file).read_text(encoding="utf-8").splitlines()))


class Passed:
    """Writes what passed. With pytest-xdist, workers see what a test looks for, and their reports say it."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.looked = False
        self.files: set[str] = set()  # that looked while they were imported
        self.passed: list[str] = []
        sys.meta_path.append(self)  # type: ignore[arg-type]  # the last one: no other has found the module
        sys.addaudithook(self.audit)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> None:
        self.looked = self.looked or "." not in name

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        self.looked = self.looked or event in ("subprocess.Popen", "os.posix_spawn", "os.fork")

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        self.looked = False
        try:
            return (yield)
        finally:
            if self.looked:
                self.files.add(collector.nodeid)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.looked = item.nodeid.partition("::")[0] in self.files
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo) -> Iterator[None]:
        report = yield
        if self.looked and call.when == "call":
            report.user_properties.append(LOOKED)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        alike = report.nodeid.startswith(ALIKE) or LOOKED not in map(tuple, report.user_properties)
        if report.when == "call" and report.passed and alike:
            self.passed.append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not hasattr(session.config, "workerinput"):  # the process that hears of all tests
            self.file.write_text("".join(f"{one}\n" for one in self.passed), encoding="utf-8")
