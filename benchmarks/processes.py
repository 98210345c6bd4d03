"""What needs a process of its own: import time, the first picture, and the memory of a long graph.

As a script this is the process: `processes.py picture wall|cpu`, or
`processes.py chain MODULE number|leaf NODES heap|rss`. It prints one JSON object.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from timing import CLOCKS, Clock

ROOT = Path(__file__).resolve().parent.parent

# It imports nothing itself that the module would have to import.
IMPORT = """
from time import {clock} as clock
def resident():
    try:
        import os
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
first = clock()
import numpy
second, before = clock(), resident()
third = clock()
import {module}
last, after = clock(), resident()
size = None if before is None or after is None else after - before
import json
print(json.dumps({{"numpy": second - first, "seconds": last - third, "bytes": size}}))
"""


def ask(*arguments: object, **variables: str) -> dict[str, Any]:
    """Run this file as a script in a fresh interpreter, `variables` in its environment; what it printed.

    Raises CalledProcessError.
    """
    return started(str(Path(__file__).resolve()), *map(str, arguments), **variables)


def ask_import(module: str, clock: str) -> dict[str, Any]:
    """Seconds that `import numpy` takes, then seconds and bytes that `import module` takes on top."""
    return started("-c", IMPORT.format(module=module, clock=CLOCKS[clock].__name__))


def started(*command: str, **variables: str) -> dict[str, Any]:
    """What a fresh interpreter prints, read as JSON."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode beside it
    done = subprocess.run(
        [sys.executable, *command], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def resident() -> int | None:
    """Bytes of memory that this process holds, or None where the system does not say so in a file."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def measure_picture(clock: Clock) -> dict[str, Any]:
    """Seconds of the imports, of a small graph's first SVG after them, and of a second one."""
    start = clock()
    torch, viz = importlib.import_module("minigrad"), importlib.import_module("minigrad_viz")
    imported = clock()

    def draw() -> float:
        begin = clock()
        x = torch.tensor(5.0, requires_grad=True)
        viz.draw(torch.log(x**3)).svg()
        return clock() - begin

    return {"import": imported - start, "first": draw(), "second": draw()}


def measure_chain(module: str, factor: str, nodes: int, meter: str) -> dict[str, Any]:
    """Bytes a node that a chain of multiplications holds, by a number or by a leaf, and the share freed by
    `del` alone.

    `meter` is "heap" (tracemalloc: exact, of what Python allocates) or "rss" (all memory of the process). The
    cycle collector is off throughout, so what is freed is freed by reference counts; how much that is only
    "heap" tells (else None), for allocators keep pages for later.
    """
    library = importlib.import_module(module)
    x = library.tensor(1.0, requires_grad=True)
    w = library.tensor(1.0, requires_grad=True) if factor == "leaf" else 1.0

    def chain(n: int) -> Any:
        y = x
        for _ in range(n):
            y = y * w
        return y

    chain(10).backward()  # whatever is made once is made now
    x.grad = None
    held = meter_of(meter)
    before = held()
    y = chain(nodes)
    full = held()
    y.backward()
    gradient = x.grad.item()
    del y
    after = held()
    if before is None or full is None or after is None:
        return {"bytes": None, "freed": None, "gradient": gradient}
    share = 1.0 - (after - before) / (full - before) if meter == "heap" else None
    return {"bytes": (full - before) / nodes, "freed": share, "gradient": gradient}


def meter_of(meter: str) -> Callable[[], int | None]:
    """What tells the bytes that are held; the cycle collector is switched off for good."""
    import tracemalloc  # takes memory of its own

    gc.collect()
    gc.disable()
    if meter == "rss":
        return resident
    tracemalloc.start()
    return lambda: tracemalloc.get_traced_memory()[0]


def answer(task: str, *rest: str) -> dict[str, Any]:
    """What the script was asked for."""
    if task == "picture":
        return measure_picture(CLOCKS[rest[0]])
    module, factor, nodes, meter = rest
    return measure_chain(module, factor, int(nodes), meter)


if __name__ == "__main__":
    print(json.dumps(answer(*sys.argv[1:])))
