"""The plugins of all tests and notebooks.

`tests/conftest.py` and `notebooks/conftest.py` load them, because pytest reads only the conftests of the
folders that it is given. They are loaded before options are read: some of them add options.
"""

from __future__ import annotations

import pytest

NAMES = ("tiers", "stored_outputs", "kernels")


def load(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register each plugin, unless the other conftest did."""
    for name in NAMES:
        pluginmanager.import_plugin(name)
