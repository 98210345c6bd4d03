"""What makes minigrad fast, measured by switching it off: each gain alone, in processes of their own.

    python benchmarks/without.py [--rows c,d,e,f] [--rounds N] [--page FILE]

Prints a table of how many times longer each row takes without it (processor time, medians over rounds in
which every variant runs once).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from engines import LOADERS, OURS
from pages import put
from run import ROWS, choose
from tables import markdown
from timing import CLOCKS, sampler

FEWEST = 20  # calls that a variant is warmed up with


def without_calls() -> None:
    """Plain elementwise ops are called by the general path: no dtype is plain enough for the closures."""
    from minigrad.core import elementwise

    here: Any = elementwise
    here.FLOAT32, here.FAST_ARRAYS = None, ()


def without_apply() -> None:
    """Nodes of plain elementwise ops are applied by the general path."""
    from minigrad.core.apply import apply
    from minigrad.core.op import OPS

    for op in OPS.values():
        node: Any = op.node
        node.apply = apply


def without_context() -> None:
    """NumPy's warnings are switched off by `np.errstate` around each kernel, not by a prepared context."""
    from minigrad.core import elementwise, modes

    def enter(kernel: Callable[..., Any], *args: Any) -> Any:
        with np.errstate(all="ignore"):
            return kernel(*args)

    for module in (modes, elementwise):
        here: Any = module
        here.enter = enter


GAINS: dict[str, Callable[[], None]] = {
    "all of it": lambda: None,
    "closures that call": without_calls,
    "closures that apply": without_apply,
    "prepared context": without_context,
}


def child(gain: str, rows: list[str], small: bool) -> dict[str, float]:
    """Seconds a call of each workload, in this process, with one gain switched off."""
    engine = LOADERS[OURS]()
    GAINS[gain]()
    found = {}
    for workload in choose(rows, small):
        run = None if "100,000" in workload.title else workload.bind(engine)
        if run is not None:
            for _ in range(1 if small else FEWEST):
                run()
            found[f"{workload.row}: {workload.title}"] = sampler(
                run, 0.001 if small else 0.2, CLOCKS["cpu"]
            )()
    return found


def main() -> None:
    """Start the processes and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="a,c,d,e,f,j")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="small and short: that it runs, not how fast")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put it into this page, between its marks")
    parser.add_argument("--child")
    options = parser.parse_args()
    rows = options.rows.split(",")
    if options.child:
        print(json.dumps(child(options.child, rows, options.smoke)))
        return
    if unknown := set(rows) - set(ROWS):
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    rest = ["--rows", options.rows, *(["--smoke"] if options.smoke else [])]
    seconds: dict[str, dict[str, list[float]]] = {gain: {} for gain in GAINS}
    for _ in range(options.rounds):
        for gain in GAINS:
            command = [sys.executable, str(Path(__file__).resolve()), "--child", gain, *rest]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for title, value in json.loads(printed.splitlines()[-1]).items():
                seconds[gain].setdefault(title, []).append(value)
    names = [gain for gain in GAINS if gain != "all of it"]
    body = []
    for title, values in seconds["all of it"].items():
        whole = statistics.median(values)
        ratios = (f"{statistics.median(seconds[name][title]) / whole:.1f} ×" for name in names)
        body.append([title, *ratios])
    table = markdown(["workload", *(f"without {name}" for name in names)], body, left=1)
    print(table)
    if options.page:
        put(options.page, "without.py", table)


if __name__ == "__main__":
    main()
