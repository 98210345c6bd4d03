"""How watching a cell grows with the cell: time added, memory added, size of the page.

    python benchmarks/growth.py [--library minigrad,torch] [--cells chain,loop] [--smoke] [--page FILE]

Each cell runs in a process of its own, plainly and then watched, as `%%autograd` does it, with the report's
page and text. Seconds are processor time. The table says by how much a column grew against the row above it,
divided by how much the cell grew: about 1 is linear growth, and less where the viewer goes over to counting.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

SHARE, MOST = 2.0, 3.0  # a watched cell may take so many times its own time longer, and so many seconds more
PAGE = 600_000  # characters of HTML

X = "x = torch.tensor(1.0, requires_grad=True)\n"
CHAIN = X + "y = x\nfor i in range({n}):\n    y = y * 1.00001\ny.backward()\n"
DAG = (
    "row = [torch.tensor(1.0 + i / 100, requires_grad=True) for i in range(10)]\n"
    "for i in range({n} // 30):\n"
    "    row = [a * 0.5 + b * 0.5 for a, b in zip(row, row[1:] + row[:1])]\n"
    "total = sum(row)\ntotal.backward()\n"
)
LEAVES = (
    "xs = [torch.tensor(float(i), requires_grad=True) for i in range({n})]\n"
    "total = (torch.stack(xs) ** 2).sum()\ntotal.backward()\n"
)
LOOP = X + "for i in range({n}):\n    y = x * 2\n"
TRAINING = (
    "x = torch.linspace(0.0, 1.0, 20)\n"
    "w, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)\n"
    "for i in range({n}):\n    loss = ((w * x + b - 2 * x - 1) ** 2).mean()\n    loss.backward()\n"
    "    with torch.no_grad():\n        w -= 0.1 * w.grad\n        b -= 0.1 * b.grad\n"
    "    w.grad.zero_()\n    b.grad.zero_()\n"
)
CELLS = {
    "chain": ("operations in a chain", CHAIN, (1_000, 3_000, 10_000, 30_000)),
    "dag": ("operations in a wide graph", DAG, (1_000, 3_000, 10_000, 30_000)),
    "leaves": ("leaves", LEAVES, (250, 1_000, 4_000)),
    "loop": ("rounds of y = x * 2", LOOP, (1_000, 10_000, 100_000)),
    "training": ("rounds of training", TRAINING, (1_000, 10_000, 100_000)),
}
LIBRARIES = ("minigrad", "torch")


class Growth(NamedTuple):
    """One watched cell: its own seconds, those that watching it added (recording, then report and page), the
    bytes that it added at most, and the characters of its page."""

    plain: float
    recording: float
    showing: float
    memory: int
    page: int

    @property
    def added(self) -> float:
        """All seconds that watching added."""
        return self.recording + self.showing

    @property
    def holds(self) -> bool:
        """Whether that is within the limits."""
        return self.added <= SHARE * self.plain + MOST and self.page <= PAGE


# ── in a process of its own ─────────────────────────────────────────────────────────────────────────────────


def peak() -> int:
    """The most bytes that this process has had in memory, as far as the system tells."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def run(cell: str, library: Any) -> float:
    """The seconds of a cell without anybody who watches it."""
    space = {"torch": library, "__name__": "__main__"}
    code = compile(cell, "<cell>", "exec")
    gc.collect()
    start = time.process_time()
    exec(code, space)
    return time.process_time() - start


def watched(cell: str, library: Any) -> Growth:
    """What a cell costs, first plainly, then watched."""
    from minigrad_viz.replay import watch
    from minigrad_viz.shell.report import Report

    Report(watch(X, {"torch": library}).stop()[0]).html()  # which compiles what is needed
    plain, before = min(run(cell, library) for _ in range(2)), peak()
    space = {"torch": library, "__name__": "__main__"}
    code = compile(cell, "<cell>", "exec")
    gc.collect()
    start = time.process_time()
    watching = watch(cell, space)
    exec(code, space)
    trace, program = watching.stop()
    recorded = time.process_time()
    report = Report(trace, program=program, lang="en")
    page, _ = report.html(), report.text()
    showing = time.process_time() - recorded
    return Growth(plain, recorded - start - plain, showing, peak() - before, len(page))


# ── the table ───────────────────────────────────────────────────────────────────────────────────────────────


def measured(library: str, cell: str, n: int) -> Growth:
    """The growth of one cell, from a process of its own."""
    command = [sys.executable, __file__, "--one", library, cell, str(n)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return Growth(*json.loads(told.stdout.splitlines()[-1]))


def ratio(now: float, before: float, times: float) -> str:
    """How a column grew against the cell."""
    return f" ({now / before / times:.2f})" if before > 0 else ""


def table(library: str, cell: str, sizes: tuple[int, ...]) -> list[str]:
    """The lines of the table for one kind of cell."""
    lines: list[str] = []
    before: Growth | None = None
    for i, n in enumerate(sizes):
        found = measured(library, cell, n)
        times = n / sizes[i - 1] if i else 1.0
        told = [library, f"{n:,} {CELLS[cell][0]}", f"{found.plain:.2f} s"]
        told.append(f"{found.added:.2f} s" + (ratio(found.added, before.added, times) if before else ""))
        told.append(f"{found.recording:.2f} + {found.showing:.2f}")
        grown = ratio(found.memory, before.memory, times) if before else ""
        told.append(f"{found.memory / 1e6:.0f} MB" + grown)
        told.append(f"{found.page / 1000:.0f} kB" + (ratio(found.page, before.page, times) if before else ""))
        told.append("" if found.holds else "**over the limit**")
        lines.append(f"| {' | '.join(told)} |")
        print(lines[-1], flush=True)
        before = found
    return lines


HEAD = [
    "|  | cell | own time | added (growth) | recording + report | memory (growth) | page (growth) |  |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
]


def main(arguments: list[str] | None = None) -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="Measure how watching a cell grows with the cell.")
    parser.add_argument("--one", nargs=3, metavar=("LIBRARY", "CELL", "N"), help=argparse.SUPPRESS)
    parser.add_argument("--library", default=",".join(LIBRARIES), help="minigrad, torch or both (default)")
    parser.add_argument("--cells", default=",".join(CELLS), help=f"some of {', '.join(CELLS)} (default: all)")
    parser.add_argument("--smoke", action="store_true", help="small cells: that it runs, not how it grows")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the table into this page, too")
    options = parser.parse_args(arguments)
    if options.one:
        name, cell, n = options.one
        library = __import__(name)
        if name == "torch":
            library.set_num_threads(1)
        print(json.dumps(watched(CELLS[cell][1].format(n=n), library)))
        return 0
    print("\n".join(HEAD))
    lines = list(HEAD)
    for library in options.library.split(","):
        for cell in options.cells.split(","):
            lines += table(library, cell, (10, 30) if options.smoke else CELLS[cell][2])
    if options.page:
        from pages import put

        put(options.page, "growth.py", "\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
