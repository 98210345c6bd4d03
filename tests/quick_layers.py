"""A pytest plugin: of the quick tier it runs tests of each layer until one has run a function of that layer.

    PYTHONPATH=tests pytest -m quick -p quick_layers --reached=FILE

writes the layers that were reached to a file, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--reached", type=Path, help="the file to write")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Reached(config), "minigrad-quick-layers")


class Reached:
    def __init__(self, config: pytest.Config) -> None:
        self.root = config.rootpath
        self.file = config.getoption("reached")
        self.layers: set[str] = set()

    def open_layers(self, item: pytest.Item) -> set[str]:
        return {marker.args[0] for marker in item.iter_markers("quick")} - self.layers

    @pytest.hookimpl(tryfirst=True)  # before fixtures are made
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if not self.open_layers(item):
            pytest.skip("its layers have been reached")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        files: set[str] = set()
        sys.setprofile(lambda frame, event, argument: files.add(frame.f_code.co_filename))
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            run = {os.path.dirname(file) for file in files}
            self.layers |= {layer for layer in self.open_layers(item) if str(self.root / layer) in run}

    def pytest_sessionfinish(self) -> None:
        self.file.write_text(json.dumps(sorted(self.layers)), encoding="utf-8")
