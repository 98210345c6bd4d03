"""Rows c′ and l, and the first pictures of row o: what fresh processes tell."""

from __future__ import annotations

import tempfile
from typing import Any

import processes
from engines import MODULES, OURS, PYTORCH
from figures import Figure, Task, middle

MIB = 2**20


def deep_chains(task: Task) -> list[Figure]:
    """Bytes a node of a chain of a million multiplications, and what of it only the cycle collector frees."""
    nodes = 10_000 if task.small else 1_000_000
    found = []
    for factor in ("leaf",) if task.small else ("number", "leaf"):
        heap = processes.ask("chain", MODULES[OURS], factor, nodes, "heap")
        peer = processes.ask("chain", MODULES[PYTORCH], factor, nodes, "rss") if task.pytorch else {}
        title = f"chain of {nodes:,} · {factor}"
        size, left = f"{title}: bytes a node", f"{title}: left by reference counts"
        found.append(Figure("c'", size, heap["bytes"], "B", 260, 200, peer.get("bytes")))
        found.append(Figure("c'", left, 100 * (1 - heap["freed"]), "%", 1))
    return found


def imports(task: Task) -> list[Figure]:
    """Seconds and bytes of the import after NumPy's, of minigrad and PyTorch in turn."""
    modules = [MODULES[OURS], "minigrad_viz", *([MODULES[PYTORCH]] if task.pytorch else [])]
    rounds: list[dict[str, Any]] = []
    for _ in range(task.rounds + task.warm):
        rounds.append({module: processes.ask_import(module, task.clock) for module in modules})
    del rounds[: task.warm]

    def of(module: str, what: str, scale: float = 1.0) -> float | None:
        got = middle([asked[module][what] for asked in rounds]) if module in modules else None
        return None if got is None else got / scale

    return [
        Figure("l", "import numpy", of("minigrad", "numpy"), "s"),
        Figure(
            "l", "import, after NumPy", of("minigrad", "seconds"), "s", 0.06, 0.04, of("torch", "seconds")
        ),
        Figure("l", "its memory", of("minigrad", "bytes", MIB), "MiB", peer=of("torch", "bytes", MIB)),
        Figure("l", "import minigrad_viz, after NumPy", of("minigrad_viz", "seconds"), "s"),
    ]


def first_picture(task: Task) -> list[Figure]:
    """The first SVG of a process, with an empty cache and with a filled one, and a second SVG."""
    empty: list[dict[str, Any]] = []
    warm: list[dict[str, Any]] = []
    for _ in range(min(task.rounds, 5) + task.warm):
        with tempfile.TemporaryDirectory() as cache:
            for found in (empty, warm):
                found.append(processes.ask("picture", task.clock, MINIGRAD_CACHE_DIR=cache))
    del empty[: task.warm], warm[: task.warm]

    def of(found: list[dict[str, Any]], what: str) -> float | None:
        return middle([asked[what] for asked in found])

    return [
        Figure("o", "first SVG after the import, empty cache", of(empty, "first"), "s", 1.5, 0.8),
        Figure("o", "first SVG after the import, warm cache", of(warm, "first"), "s", 0.3, 0.15),
        Figure("o", "the same once more", of(warm, "second"), "s"),
        Figure("o", "imports of engine and viewer", of(warm, "import"), "s"),
    ]
