"""The names that programs use: `api_scope.csv` lists those that a survey of public repositories found, with
the number of repositories that call each.
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import minigrad

TABLE = Path(__file__).parent / "api_scope.csv"


def find(library: Any, name: str) -> Any:
    """What `torch.nn.functional.relu` is in a library; None if it is not there."""
    found = library
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found


def functions(least: int) -> Iterator[tuple[str, Any]]:
    """(name, function or method) of what at least that many repositories use."""
    with TABLE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found = find(minigrad, row["name"])
            if int(row["repositories"]) >= least and inspect.isroutine(found):
                yield row["name"], found
