"""Times minigrad beside other engines and prints a Markdown table.

    python benchmarks/run.py [--rows a,b] [--rounds N] [--deep] [--quick] [--json FILE]

Rows: a, b the tutorial graph and its second derivative; c chains of multiplications; c-memory bytes a node of
a long chain; d a graph in which every scalar is used twice; l import; m what recording a cell costs.
Gradients of all engines are compared first: if they disagree nothing is timed and the exit status is 1.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[variable] = "1"  # read when NumPy is loaded

import argparse  # noqa: E402
import dataclasses  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import platform  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import processes  # noqa: E402
from peers import MODULES, Peer, load  # noqa: E402
from recording import recording_line, time_recording  # noqa: E402
from timing import Row, measure, sampler  # noqa: E402
from workloads import Run, Workload, choose  # noqa: E402

ROWS = ("a", "b", "c", "c-memory", "d", "l", "m")


class Disagreement(Exception):
    """Two engines computed different gradients."""


# ------------------------------------------------------------------------------------------------- measuring


def numbers(gradients: Any) -> list[float]:
    """One gradient or several, as floats."""
    several = gradients if isinstance(gradients, tuple) else (gradients,)
    return [g if isinstance(g, float) else g.item() for g in several]


def agreeing(workload: Workload, peers: list[Peer], remarks: list[str]) -> dict[str, Run]:
    """The workload bound to every engine that can do it, each run once and its gradients compared.

    An engine that cannot get through (a RecursionError, say) is left out with a remark. Raises Disagreement.
    """
    runs: dict[str, Run] = {}
    expected: list[float] = []
    for peer in peers:
        run = workload.bind(peer)
        if run is None:
            continue
        try:
            got = numbers(run())
        except Exception as error:
            if peer.name == "minigrad":
                raise
            remarks.append(f"{peer.name} cannot run “{workload.title}”: {type(error).__name__}.")
            continue
        expected = expected or got
        if len(got) != len(expected) or not all(
            math.isclose(a, b, rel_tol=workload.tolerance) for a, b in zip(got, expected, strict=True)
        ):
            raise Disagreement(f"{workload.title}: minigrad has {expected}, {peer.name} has {got}")
        runs[peer.name] = run
    return runs


def time_imports(peers: list[Peer], rounds: int, remarks: list[str]) -> Row:
    """Seconds of `import engine` after `import numpy`, each in a fresh interpreter."""
    modules = {p.name: MODULES[p.name] for p in peers if p.name in MODULES}
    sizes, numpy = [], []

    def seconds(module: str) -> float:
        found = processes.ask("import", module)
        numpy.append(found["numpy_seconds"])
        if module == "minigrad":
            sizes.append(found["bytes"])
        return found["seconds"]

    for module in modules.values():  # compiled and in the file cache from here on
        seconds(module)
    samplers = {name: lambda module=module: seconds(module) for name, module in modules.items()}
    row = measure("l", "import, on top of NumPy's", samplers, rounds)
    size = "" if None in sizes else f"; minigrad adds {sorted(sizes)[len(sizes) // 2] / 2**20:.1f} MiB"
    remarks.append(f"Row l: NumPy itself takes {duration(sorted(numpy)[len(numpy) // 2])}{size}.")
    return row


def measure_memory(nodes: int, peers: list[Peer]) -> dict[str, Any]:
    """Bytes a node: minigrad by tracemalloc and by the size of the process, PyTorch by the latter."""
    found = {"nodes": nodes, "minigrad": processes.ask("chain", "minigrad", nodes, "heap")}
    found["minigrad, process"] = processes.ask("chain", "minigrad", nodes, "rss")
    if any(p.name == "PyTorch" for p in peers):
        found["PyTorch, process"] = processes.ask("chain", "torch", nodes, "rss")
    return found


# -------------------------------------------------------------------------------------------------- printing


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for scale, unit in ((1e-6, "µs"), (1e-3, "ms")):
        if seconds < 1000 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def plain(ratio: float) -> str:
    """Two digits, or all before the point."""
    return f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:.0f}"


def table(rows: list[Row], peers: list[Peer]) -> str:
    """The rows in Markdown: minigrad's time, then its ratio to each peer with the spread over the rounds."""
    others = [p.name for p in peers if p.name != "minigrad"]
    head = ["", "workload", "minigrad", *(f"÷ {name}" for name in others)]
    lines = [head, ["---", "---", *["---:"] * (len(head) - 2)]]
    for row in rows:
        cells = [row.row, row.title, duration(row.seconds["minigrad"])]
        for name in others:
            r = row.ratios.get(name)
            cells.append(f"{plain(r.median)} ({plain(r.low)}–{plain(r.high)})" if r else "—")
        lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def memory_line(memory: dict[str, Any]) -> str:
    """The memory of a long chain in one sentence."""
    parts = []
    for name, found in memory.items():
        if name == "nodes":
            continue
        if found["bytes"] is None:
            parts.append(f"{name} not measured on this system")
        else:
            freed = (
                "" if found["freed"] is None else f" ({found['freed']:.1%} freed without the cycle collector)"
            )
            parts.append(f"{name} {found['bytes']:.0f} B{freed}")
    return f"c′ memory a node in a chain of {memory['nodes']:,}: {'; '.join(parts)}."


def processor() -> str:
    """The processor's model name."""
    linux = Path("/proc/cpuinfo")
    for line in linux.read_text(encoding="utf-8").splitlines() if linux.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def setting(peers: list[Peer]) -> dict[str, Any]:
    """What the numbers depend on: processor, load, and versions."""
    names = {"NumPy by hand": "NumPy"}
    load_average = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    versions = {"Python": platform.python_version()} | {names.get(p.name, p.name): p.version for p in peers}
    return {"processor": processor(), "cpus": os.cpu_count(), "load": load_average, "versions": versions}


# ----------------------------------------------------------------------------------------------- the command


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line; exits with status 2 on a wrong one."""
    parser = argparse.ArgumentParser(description="Time minigrad beside other engines.")
    parser.add_argument("--rows", default=",".join(ROWS), help=f"some of {','.join(ROWS)} (default: all)")
    parser.add_argument("--rounds", type=int, help="rounds of each workload (default: 15, quick: 2)")
    parser.add_argument("--deep", action="store_true", help="row c also with 100,000 multiplications")
    parser.add_argument("--quick", action="store_true", help="small and short: that it runs, not how fast")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args(arguments)
    options.rows = {row.strip() for row in options.rows.split(",")}
    if unknown := options.rows - set(ROWS):
        parser.error(f"no such row: {', '.join(sorted(unknown))} (there are {', '.join(ROWS)})")
    if options.rounds is None:
        options.rounds = 2 if options.quick else 15
    if options.rounds < 1:
        parser.error("at least one round is needed")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Measure what the command line asks for, print the table; 0, or 1 if engines disagree."""
    options = parse(arguments)
    peers, missing = load()
    place = setting(peers)  # before our own work adds to the load
    remarks: list[str] = []
    try:
        chosen = [(w, agreeing(w, peers, remarks)) for w in choose(options.rows, options.quick, options.deep)]
    except Disagreement as error:
        print(f"The engines disagree. {error}", file=sys.stderr)
        return 1
    # Else each full collection would walk all that the imports left (180,000 objects with every engine), and
    # who causes collections would pay for the size of the others. The collector stays on.
    gc.collect()
    gc.freeze()
    budget = 0.001 if options.quick else 0.05
    rows = []
    for workload, runs in chosen:
        samplers = {name: sampler(run, budget) for name, run in runs.items()}
        rows.append(measure(workload.row, workload.title, samplers, options.rounds))
    if "l" in options.rows:
        rows.append(time_imports(peers, options.rounds, remarks))
    memory = None
    if "c-memory" in options.rows:
        memory = measure_memory(10_000 if options.quick else 1_000_000, peers)
    recording = time_recording(options.rounds, options.quick) if "m" in options.rows else []

    versions = ", ".join(f"{name} {version}" for name, version in place["versions"].items())
    print(f"{place['processor']}, {place['cpus']} CPUs, load {place['load']} at the start; {versions}.")
    print(f"Time of minigrad, and as a ratio to each peer; median of {options.rounds} rounds (min–max).\n")
    if rows:
        print(table(rows, peers), end="\n\n")
    lines = [memory_line(memory)] if memory else []
    lines += [recording_line(row, ops) for row, ops in recording]
    lines += remarks
    lines += [f"Not installed: {', '.join(missing)}."] if missing else []
    if lines:
        print("\n\n".join(lines))
    if options.json:
        figures = {"setting": place, "rounds": options.rounds, "rows": [dataclasses.asdict(r) for r in rows]}
        figures["recording"] = [dataclasses.asdict(row) | {"ops": ops} for row, ops in recording]
        figures |= {"memory": memory, "remarks": remarks, "missing": missing}
        options.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
