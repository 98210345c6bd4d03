"""Times minigrad beside other engines and prints Markdown tables.

    python benchmarks/run.py [--rows a,b] [--rounds N] [--smoke] [--clock cpu] [--json FILE] [--page FILE]

Gradients of all engines are compared first: if they disagree nothing is timed and the exit status is 1.
NumPy computes with one thread, unless OPENBLAS_NUM_THREADS says otherwise.
"""

from __future__ import annotations

import os

for variable in ("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):  # OMP's and MKL's would bind PyTorch, too
    os.environ.setdefault(variable, "1")  # read when NumPy is loaded

import argparse  # noqa: E402
import dataclasses  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from agreement import Disagreement, agreeing  # noqa: E402
from array_rows import array_rows  # noqa: E402
from derivative_rows import derivative_rows  # noqa: E402
from engines import Engine, load  # noqa: E402
from figures import Figure, Task  # noqa: E402
from goals import goal_of, misses  # noqa: E402
from large_programs import LARGE, LARGE_NAMES, large_programs  # noqa: E402
from pages import around, put  # noqa: E402
from pictures import pictures  # noqa: E402
from process_rows import deep_chains, imports  # noqa: E402
from programs import GROUP, NAMES, programs  # noqa: E402
from recording import recording, watching  # noqa: E402
from scalar_rows import scalar_rows  # noqa: E402
from tables import figure_table, ratio_table, short_table  # noqa: E402
from timing import CLOCKS, Row, measure, sampler  # noqa: E402
from workload import Run, Workload  # noqa: E402

TIMED: dict[str, Callable[[bool], list[Workload]]] = {
    **dict.fromkeys("abcd", scalar_rows),
    **dict.fromkeys("efghi", array_rows),
    **dict.fromkeys("jk", derivative_rows),
    **dict.fromkeys(NAMES, programs),
    **dict.fromkeys(LARGE_NAMES, large_programs),
}
FIGURES: dict[str, Callable[[Task], list[Figure]]] = {
    "c'": deep_chains,
    "l": imports,
    "m": recording,
    "n": watching,
    "o": pictures,
}
ROWS = (*TIMED, *FIGURES)


@dataclasses.dataclass
class Found:
    """Everything that a run found, and where."""

    place: dict[str, Any]
    rows: list[Row] = dataclasses.field(default_factory=list)
    figures: list[Figure] = dataclasses.field(default_factory=list)
    remarks: list[str] = dataclasses.field(default_factory=list)
    missing: list[str] = dataclasses.field(default_factory=list)


def choose(rows: Sequence[str], small: bool) -> list[Workload]:
    """The workloads of these rows, in the order of the table."""
    every = [w for make in dict.fromkeys(TIMED.values()) for w in make(small)]
    return sorted((w for w in every if w.row in rows), key=lambda w: ROWS.index(w.row))


def time_rows(chosen: Sequence[tuple[Workload, dict[str, Run]]], options: argparse.Namespace) -> list[Row]:
    """Every workload on every engine that can do it."""
    budget, clock = (0.001 if options.smoke else 0.05), CLOCKS[options.clock]
    rows = []
    for workload, runs in chosen:
        tell(workload.title)
        samplers = {name: sampler(run, budget, clock) for name, run in runs.items()}
        rows.append(measure(workload.key, workload.title, samplers, options.rounds))
    return rows


def tell(what: str) -> None:
    """Says on a terminal what is measured now; a run takes some minutes."""
    if sys.stderr.isatty():
        print(what, file=sys.stderr)


# -------------------------------------------------------------------------------------------------- printing


def processor() -> str:
    """The processor's model name."""
    linux = Path("/proc/cpuinfo")
    for line in linux.read_text(encoding="utf-8").splitlines() if linux.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def setting(engines: Sequence[Engine]) -> dict[str, Any]:
    """What the numbers depend on: processor, load, and versions."""
    load_average = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    versions = {"Python": platform.python_version(), "NumPy": np.__version__}
    versions |= {engine.name: engine.version for engine in engines}
    return {"processor": processor(), "cpus": os.cpu_count(), "load": load_average, "versions": versions}


def heading(place: dict[str, Any], rows: Sequence[Row], options: argparse.Namespace) -> str:
    """In two sentences what was measured, and where."""
    versions = ", ".join(f"{name} {version}" for name, version in place["versions"].items())
    text = f"{place['processor']}, {place['cpus']} CPUs, load {place['load']} at the start; {versions}."
    of = "Time" if options.clock == "wall" else "Processor time"
    if not rows:
        return f"{text}\n{of} of minigrad; medians"
    counts = sorted({row.rounds for row in rows})
    rounds = f"{counts[0]} to {counts[-1]}" if counts[1:] else str(counts[0])
    return f"{text}\n{of} of minigrad, and its ratio to that of each peer (rounds: {rounds}); medians"


def page(found: Found, options: argparse.Namespace) -> str:
    """Everything that was found, in Markdown; only medians, of the rows with a goal, if that is wanted."""
    head = heading(found.place, found.rows, options)
    lettered = [row for row in found.rows if row.key not in (*NAMES, *LARGE_NAMES)]
    written = [row for row in found.rows if row.key in NAMES]
    large = [row for row in found.rows if row.key in LARGE_NAMES]
    if options.short:
        parts = [f"{head}."]
        parts += [short_table(lettered, found.figures)] if lettered or found.figures else []
        parts += [short_table(rows, []) for rows in (written, large) if rows]
    else:
        parts = [f"{head} (quartiles)." if found.rows else f"{head}."]
        parts += [ratio_table(rows, not options.smoke) for rows in (lettered, written, large) if rows]
        parts += [figure_table(found.figures, not options.smoke)] if found.figures else []
    parts += [] if options.smoke else missed(found)
    parts += found.remarks
    parts += [f"Not installed: {', '.join(found.missing)}."] if found.missing else []
    return "\n\n".join(parts)


def missed(found: Found) -> list[str]:
    """Which rows do not keep what they must, in one line; none if all do."""
    rows = [row.key for row in found.rows if misses(row)]
    rows += [f"{f.row} ({f.title})" for f in found.figures if f.misses]
    return [f"Missed: {'; '.join(rows)}."] if rows else []


def as_json(found: Found, options: argparse.Namespace) -> str:
    """The same for programs."""
    goals = [None if options.smoke else goal_of(row.key) for row in found.rows]
    fields = dataclasses.asdict(found) | {"clock": options.clock}
    fields["rows"] = [row | {"goal": g and dataclasses.asdict(g)} for row, g in zip(fields["rows"], goals)]
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


# ----------------------------------------------------------------------------------------------- the command


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line; exits with status 2 on a wrong one."""
    parser = argparse.ArgumentParser(description="Time minigrad beside other engines.")
    groups = f"“{GROUP}” means those from {NAMES[0]} to {NAMES[-1]}, “{LARGE}” those after them"
    some = f"some of {','.join(ROWS)}; {groups} (default: all)"
    parser.add_argument("--rows", default=",".join(ROWS), help=some)
    parser.add_argument("--rounds", type=int, help="rounds of each workload (default: 15, smoke: 1)")
    parser.add_argument("--smoke", action="store_true", help="small and short: that it runs, not how fast")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="wall (default) or processor time")
    parser.add_argument("--short", action="store_true", help="print one small table, of medians")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write there what is printed, too")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put it into this page, between its marks")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args(arguments)
    asked = [row.strip() for row in options.rows.split(",")]
    if unknown := set(asked) - {*ROWS, GROUP, LARGE}:
        there = ", ".join((*ROWS, GROUP, LARGE))
        parser.error(f"no such row: {', '.join(sorted(unknown))} (there are {there})")
    options.rows = [*asked, *(NAMES if GROUP in asked else []), *(LARGE_NAMES if LARGE in asked else [])]
    if options.rounds is None:
        options.rounds = 1 if options.smoke else 15
    if options.rounds < 1:
        parser.error("at least one round is needed")
    if options.page:
        try:
            around(options.page, "run.py")  # before anything is measured
        except (OSError, ValueError) as error:
            parser.error(str(error))
    return options


def measure_all(options: argparse.Namespace) -> Found:
    """What the command line asks for. Raises Disagreement before anything is timed."""
    engines, missing = load()
    found = Found(setting(engines), missing=missing)  # before our own work adds to the load
    chosen = choose(options.rows, options.smoke)
    bound = [(workload, agreeing(workload, engines, found.remarks)) for workload in chosen]
    # Else each full collection would walk all that the imports left (180,000 objects with every engine).
    gc.collect()
    gc.freeze()
    found.rows += time_rows(bound, options)
    task = Task(engines, options.rounds, options.smoke, options.clock)
    for row in (row for row in FIGURES if row in options.rows):
        tell(f"row {row}")
        found.figures += FIGURES[row](task)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measure and print the tables; 0, or 1 if engines disagree."""
    options = parse(arguments)
    try:
        found = measure_all(options)
    except Disagreement as error:
        print(f"The engines disagree. {error}", file=sys.stderr)
        return 1
    text = page(found, options)
    print(text)
    if options.markdown:
        options.markdown.write_text(text + "\n", encoding="utf-8")
    if options.page:
        put(options.page, "run.py", text)
    if options.json:
        options.json.write_text(as_json(found, options), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
