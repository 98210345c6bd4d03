"""What makes minigrad fast, measured by switching it off: each gain alone, in processes of their own.

    python benchmarks/without.py [--rows c,d,e,f] [--rounds N]

Prints a table of how many times longer each row takes without it (CPU time, medians over rounds in which
every variant runs once).
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
from functools import partialmethod
from pathlib import Path
from typing import Any

import numpy as np
from array_rows import array_rows
from derivative_rows import derivative_rows
from engines import load
from scalar_rows import scalar_rows
from timing import CLOCKS, sampler

FEWEST = 20  # calls that a variant is warmed up with: text is compiled on first calls


def without_written_calls() -> None:
    """Every op is worked out from its declaration at each call (`calls.dispatch`)."""
    import minigrad
    from minigrad.core import all_ops
    from minigrad.core.call import compute
    from minigrad.core.op import CALLS

    all_ops()  # loads the modules of all, and this those of the operators:
    for name in dir(minigrad.Tensor):
        getattr(minigrad.Tensor, name, None)

    def general(op: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: compute(op, op.bind(args, kwargs))

    operators = [f for mixin in minigrad.Tensor.__mro__ for f in vars(mixin).values()]
    for call in (*vars(CALLS).values(), *operators):
        scope = getattr(call, "__globals__", {})
        if scope.get("first") is not None:  # it waits for being compiled
            scope["first"] = general(call.op) if hasattr(call, "op") else call.__wrapped__


def without_written_apply() -> None:
    """A node calls one vjp after the other and looks after each saved value (`applying.apply_general`)."""
    from minigrad.core import all_ops
    from minigrad.core.apply import apply_general
    from minigrad.core.node import Node

    for op in all_ops().values():
        node: Any = op.node
        node.apply, node.apply_once = apply_general, Node.apply_once
        node._apply_tensors = partialmethod(apply_general, tensors=True)


def without_context() -> None:
    """NumPy's warnings are switched off by `np.errstate` around each kernel, not by a prepared context."""
    from minigrad.core import modes

    here: Any = modes

    def enter(kernel: Callable[..., Any], *args: Any) -> Any:
        with np.errstate(all="ignore"):
            return kernel(*args)

    here.enter = enter


GAINS: dict[str, Callable[[], None]] = {
    "all of it": lambda: None,
    "written-out calls": without_written_calls,
    "written-out apply": without_written_apply,
    "prepared context": without_context,
}


def child(gain: str, rows: list[str]) -> dict[str, float]:
    """Seconds a call of each workload, in this process, with one gain switched off."""
    engine = load(False)[0][0]
    GAINS[gain]()
    found = {}
    for workload in scalar_rows(False) + array_rows(False) + derivative_rows(False):
        run = workload.bind(engine) if workload.row in rows and "100,000" not in workload.title else None
        if run is not None:
            for _ in range(FEWEST):
                run()
            found[f"{workload.row}: {workload.title}"] = sampler(run, 0.2, CLOCKS["cpu"])()
    return found


def main() -> None:
    """Start the processes and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="a,c,d,e,f,j")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child")
    options = parser.parse_args()
    rows = options.rows.split(",")
    if options.child:
        print(json.dumps(child(options.child, rows)))
        return
    seconds: dict[str, dict[str, list[float]]] = {gain: {} for gain in GAINS}
    for _ in range(options.rounds):
        for gain in GAINS:
            command = [sys.executable, str(Path(__file__).resolve()), "--child", gain, "--rows", options.rows]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for title, value in json.loads(printed.splitlines()[-1]).items():
                seconds[gain].setdefault(title, []).append(value)
    names = [gain for gain in GAINS if gain != "all of it"]
    print("| workload | " + " | ".join(f"without {name}" for name in names) + " |")
    print("| --- |" + " ---: |" * len(names))
    for title, values in seconds["all of it"].items():
        whole = statistics.median(values)
        ratios = (f"{statistics.median(seconds[name][title]) / whole:.1f} ×" for name in names)
        print(f"| {title} | " + " | ".join(ratios) + " |")


if __name__ == "__main__":
    main()
