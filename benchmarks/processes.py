"""What needs a process of its own: import time, and the memory of a long graph.

As a script this is the process: `processes.py import MODULE` or `processes.py chain MODULE NODES heap|rss`.
It prints one JSON object.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def ask(*arguments: object) -> dict[str, Any]:
    """Run this file as a script in a fresh interpreter; what it printed. Raises CalledProcessError."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, str(Path(__file__).resolve()), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def resident() -> int | None:
    """Bytes of memory that this process holds, or None where the system does not say so in a file."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def measure_import(module: str) -> dict[str, Any]:
    """Seconds that `import numpy` takes, then seconds and bytes that `import module` takes on top."""
    start = time.perf_counter()
    importlib.import_module("numpy")
    numpy = time.perf_counter() - start
    before, start = resident(), time.perf_counter()
    importlib.import_module(module)
    seconds, after = time.perf_counter() - start, resident()
    size = None if before is None or after is None else after - before
    return {"numpy_seconds": numpy, "seconds": seconds, "bytes": size}


def measure_chain(module: str, nodes: int, meter: str) -> dict[str, Any]:
    """Bytes a node that a chain of multiplications by a number holds, and the share freed by `del` alone.

    `meter` is "heap" (tracemalloc: exact, of what Python allocates) or "rss" (all memory of the process). The
    cycle collector is off throughout, so what is freed is freed by reference counts; how much that is only
    "heap" tells (else None), for allocators keep pages for later.
    """
    import tracemalloc

    library = importlib.import_module(module)

    def chain(n: int) -> Any:
        y = x
        for _ in range(n):
            y = y * 1.0
        return y

    def held() -> int | None:
        return tracemalloc.get_traced_memory()[0] if meter == "heap" else resident()

    x = library.tensor(1.0, requires_grad=True)
    chain(10).backward()  # whatever is made once is made now
    x.grad = None
    gc.collect()
    gc.disable()
    if meter == "heap":
        tracemalloc.start()
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


if __name__ == "__main__":
    task, name, *rest = sys.argv[1:]
    found = measure_import(name) if task == "import" else measure_chain(name, int(rest[0]), rest[1])
    print(json.dumps(found))
