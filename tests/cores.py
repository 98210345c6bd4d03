"""A pytest plugin: everything is run on all cores, a file or notebook on one of them.

A part is run in one process, which starts sooner and in which a debugger works.
"""

from __future__ import annotations

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Return 0, which means this process alone; or None, and pytest-xdist counts the cores."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return None if whole and config.getoption("markexpr").strip() != "quick" else 0
