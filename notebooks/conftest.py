"""For `pytest notebooks/`, which does not load what is in `tests/`."""

from __future__ import annotations

import plugins
import pytest

collect_ignore_glob = ["ko/*"]  # their code is that of the English notebooks


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Load the plugins of all tests."""
    plugins.load(pluginmanager)
