"""A pytest plugin, the quick tier: `pytest -m quick` runs the tests that `quick.txt` lists, layer by layer.

A line of that file is a test file, or one function or class of it, `file::name`; a number behind it takes as
many of its parametrized cases, evenly spaced. For exactly this expression everything else is left out before
it is collected: making the tens of thousands of other cases takes longer than running these.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).parent
LIST = TESTS / "quick.txt"


class Line(NamedTuple):
    """Tests of a layer: those of a file, or those of this name in it; all cases, or so many."""

    layer: str
    file: str
    name: str = ""
    cases: int | None = None


def lines(text: str) -> Iterator[Line]:
    """The lines of the list. A layer is named in brackets above its lines, by its directory."""
    layer = ""
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and words[0].startswith("["):
            layer = words[0].strip("[]")
        elif words:
            file, _, name = words[0].partition("::")
            yield Line(layer, file, name, int(words[1]) if words[1:] else None)


def spaced(items: list[pytest.Item], count: int | None) -> list[pytest.Item]:
    """So many of the items, evenly spaced; all of them where there are no more."""
    if count is None or count >= len(items):
        return items
    return [items[i * len(items) // count] for i in range(count)]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Quick(config), "minigrad-quick")


class Quick:
    """The plugin that marks the listed tests, and collects nothing else where nothing else is asked for."""

    def __init__(self, config: pytest.Config) -> None:
        self.lines = list(lines(LIST.read_text(encoding="utf-8")))
        self.alone = config.getoption("markexpr").strip() == "quick"
        self.names: dict[Path, set[str]] = {}
        for line in self.lines:
            self.names.setdefault(TESTS / line.file, set()).add(line.name)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        skip = self.alone and collection_path.is_file() and collection_path not in self.names
        return True if skip else None  # None: as other plugins decide

    def pytest_pycollect_makeitem(self, collector: pytest.Collector, name: str) -> list[pytest.Item] | None:
        if not self.alone or not isinstance(collector, pytest.Module):
            return None
        names = self.names.get(collector.path, {""})
        return None if "" in names or name in names else []

    @pytest.hookimpl(tryfirst=True)  # before pytest deselects by marker
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        found: dict[tuple[Path, str], list[pytest.Item]] = {}
        for item in items:
            if item.path in self.names:
                name = item.nodeid.split("::")[1].partition("[")[0]
                for key in ((item.path, ""), (item.path, name)):
                    found.setdefault(key, []).append(item)
        for line in self.lines:
            for item in spaced(found.get((TESTS / line.file, line.name), []), line.cases):
                item.add_marker(pytest.mark.quick(line.layer))
