"""A pytest plugin: kernels of notebooks begin as copies of one process that has imported what every notebook
imports, which takes longer than most notebooks do. With `--full`, and where a process cannot be copied
safely, kernels are started as Jupyter starts them. The processes are those of `kernel_copies`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

NAME = "copied"
SCRIPT = str(Path(__file__).with_name("kernel_copies.py"))
INLINE = "module://matplotlib_inline.backend_inline"  # what a kernel sets before it imports Matplotlib


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before the first cell of a notebook, start the process that is copied and tell nbval of it."""
    config = item.config
    first = hasattr(item, "cell_num") and config.option.nbval_current_env
    if first and not config.getoption("full") and sys.platform == "linux":
        config.option.nbval_current_env, config.option.nbval_kernel_name = False, NAME
        config.add_cleanup(start())


def start() -> Callable[[], None]:
    """Start the process; return what ends it."""
    folder = tempfile.TemporaryDirectory(prefix="kernels-")
    path = f"{folder.name}/socket"
    spec = Path(folder.name) / "kernels" / NAME / "kernel.json"
    spec.parent.mkdir(parents=True)
    request = [sys.executable, "-S", "-E", SCRIPT, "request", path, "{connection_file}"]
    spec.write_text(json.dumps({"argv": request, "display_name": NAME, "language": "python"}))
    before = os.environ.get("JUPYTER_PATH", "")
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, (folder.name, before)))
    server = subprocess.Popen(
        [sys.executable, SCRIPT, "serve", path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "MPLBACKEND": INLINE},
    )
    assert server.stdout is not None and server.stdout.read(1), "the process that is copied did not start"

    def end() -> None:
        os.environ["JUPYTER_PATH"] = before
        server.communicate()
        folder.cleanup()

    return end
