"""Where minigrad's time goes in a row: the functions that take most of it, by their own time.

    python benchmarks/profiles.py [--rows assign,jacrev] [--calls N] [--functions N]

The profiler counts processor time and makes calls of Python functions look dearer than they are.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import cProfile
import pstats
import time
from pathlib import Path
from typing import Any

from engines import LOADERS, OURS, ROOT
from run import GROUP, NAMES, choose
from workload import Run

Place = tuple[str, int, str]  # file, line, function


def profiled(run: Run, calls: int) -> Any:
    """pstats.Stats of so many calls, after some that are not counted."""
    for _ in range(3):
        run()
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    for _ in range(calls):
        run()
    profile.disable()
    return pstats.Stats(profile)


def shown(place: Place) -> str:
    """A function as `file:line name`, or by its name alone where it is built in."""
    file, line, name = place
    if file == "~":
        return name
    path = Path(file)
    short = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path(*path.parts[-2:])
    return f"{short.as_posix()}:{line} {name}"


def report(title: str, stats: Any, calls: int, functions: int) -> str:
    """A line with what a call takes, and one for each of the functions that take most of it."""
    lines = [f"{title}: {stats.total_calls / calls:,.0f} calls of functions"]
    dearest = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:functions]
    for place, (_, count, own, _, _) in dearest:
        lines.append(f"  {100 * own / stats.total_tt:5.1f} %  {count / calls:7.0f} ×  {shown(place)}")
    return "\n".join(lines)


def main() -> None:
    """Profile the rows that are asked for."""
    parser = argparse.ArgumentParser(description="Profile rows of the benchmarks.")
    parser.add_argument("--rows", default=GROUP, help=f"as run.py takes them (default: {GROUP})")
    parser.add_argument("--calls", type=int, default=20, help="calls of each row that are counted")
    parser.add_argument("--functions", type=int, default=5, help="functions that are shown of each row")
    options = parser.parse_args()
    rows = options.rows.split(",")
    engine = LOADERS[OURS]()
    for workload in choose([*rows, *(NAMES if GROUP in rows else [])], small=False):
        run = workload.bind(engine)
        assert run is not None  # minigrad can do all
        stats = profiled(run, options.calls)
        print(report(f"{workload.key} ({workload.title})", stats, options.calls, options.functions))


if __name__ == "__main__":
    main()
