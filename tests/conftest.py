"""For all tests: PyTorch, Chromium and both libraries as fixtures, and nothing is left behind."""

from __future__ import annotations

import builtins
import faulthandler
import gc
import importlib
import os
import threading
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import plugins
import psutil
import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from lab import BROWSER_OPTIONS, find_chromium, version

GRACE = 2.0  # seconds that a thread or process, once told to stop, may take to be gone

# Threads of other libraries that live as long as the process or an event loop does, by how their names begin;
# and ours that compiles Graphviz once, which can outlast the test that loaded the extension.
RESIDENT = (
    "IPythonHistorySavingThread",
    "pyzmq garbage collector",
    "pydevd.",
    "asyncio_",
    "minigrad layout engine",
)


# ------------------------------------------------------------------------------------------- the test session


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Load the plugins of all tests."""
    plugins.load(pluginmanager)


def pytest_report_header() -> list[str]:
    playwright, lab = (version(name) or "not installed" for name in ("playwright", "jupyterlab"))
    torch = version("torch") or "not installed: tests that compare with it are left out"
    return [
        f"PyTorch: {torch}",
        f"Chromium: {find_chromium() or 'not found'}; playwright: {playwright}; JupyterLab: {lab}",
    ]


@pytest.fixture(scope="session")
def torch() -> ModuleType:
    """PyTorch, to compare with; a test that asks for it is skipped where it is not installed."""
    module = pytest.importorskip("torch", reason="PyTorch is not installed", exc_type=ImportError)
    module.set_num_threads(1)
    gc.freeze()  # as for each test file, below
    return module


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Where PyTorch is not installed, all cases of a test that compares with it are skipped as one: the
    reports of twenty thousand skipped cases take half a minute.
    """
    if "torch" in metafunc.fixturenames and not version("torch"):
        metafunc.parametrize = lambda *args, **options: None  # type: ignore[method-assign]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, without a window."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with driver.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=find_chromium(), args=BROWSER_OPTIONS)
        yield running
        running.close()


LIBRARIES = ["minigrad", "PyTorch"] if version("torch") else ["minigrad"]


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> ModuleType:
    """Both libraries in turn, as `torch` of one text."""
    if request.param == "PyTorch":
        return request.getfixturevalue("torch")
    return importlib.import_module("minigrad")


@pytest.fixture
def names_of_today() -> Iterator[None]:
    """minigrad speaks PyTorch 2's dialect."""
    with importlib.import_module("twins").dialect("2"):
        yield


# ------------------------------------------------------------------------------------- nothing is left behind


@pytest.fixture(scope="module", autouse=True)
def collector_ignores_what_is_there() -> None:
    """Tests and their reports stay alive until the end: hundreds of thousands of objects. Many tests run the
    garbage collector, which need not look at those again: it would take a second each time.
    """
    gc.collect()
    gc.freeze()


LONGEST = 300  # seconds of a test; with `--full` some need more


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test that hangs ends its process and says where it was; pytest-xdist reports that and goes on."""
    if not item.config.getoption("full"):
        file = item.config.stash[fault_handler_stderr_fd_key]  # the real one, not what is captured
        faulthandler.dump_traceback_later(LONGEST, exit=True, file=file)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """Fails a test that leaves a changed mode of minigrad, an observer, a thread or a child process."""
    state, threads, children = settings(), set(threading.enumerate()), set(child_processes())
    yield
    vars(builtins).pop("_", None)  # doctest sets it, and IPython then sets no `_` of its own
    left = [f"{name}: {was!r} before, {is_!r} after" for name, was, is_ in differences(state, settings())]
    left += [f"thread {thread.name!r}" for thread in lingering(lambda: new_threads(threads))]
    left += [f"process {describe(child)}" for child in lingering(lambda: set(child_processes()) - children)]
    if left:
        pytest.fail("\n  ".join(["the test left behind:", *left]), pytrace=False)


def settings() -> dict[str, object]:
    """What a test could change by mistake for those after it: NumPy's error state, minigrad's modes and the
    language."""
    snapshot = importlib.import_module("minigrad.core.modes").snapshot
    language = importlib.import_module("minigrad_viz.words").language
    return {
        "numpy.geterr()": np.geterr(),
        "minigrad.core.modes.snapshot()": snapshot(),
        "minigrad_viz.words.language()": language(),
    }


def differences(before: dict[str, object], after: dict[str, object]) -> list[tuple[str, object, object]]:
    return [
        (name, before[name], after[name])
        for name in before.keys() & after.keys()
        if before[name] != after[name]
    ]


def new_threads(before: set[threading.Thread]) -> set[threading.Thread]:
    return {
        thread
        for thread in set(threading.enumerate()) - before
        if not thread.name.startswith(RESIDENT) and not isinstance(thread, threading._DummyThread)
    }


def child_processes() -> list[psutil.Process]:
    """Our direct children. A browser and a Jupyter server start more, which those two answer for."""
    if hasattr(
        os, "waitid"
    ):  # asking the system whether there is any is a thousand times faster than listing them
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return []
    return psutil.Process().children()


def lingering(found):
    """What `found()` still returns after the grace period: stopping takes a moment that no test awaits."""
    end = time.monotonic() + GRACE
    while (left := found()) and time.monotonic() < end:
        time.sleep(0.02)
    return left


def describe(process: psutil.Process) -> str:
    try:
        return f"{process.name()} ({process.status()})"
    except psutil.NoSuchProcess:
        return "that has just ended"
