"""A JupyterLab server for tests: on loopback, with directories of its own, and gone when told to stop."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

PATIENCE = 90.0  # seconds until starting, loading or stopping is given up; each takes one to ten

# The server lives as long as the pipe to its standard input, so that it ends even if this process is killed.
# At SIGTERM JupyterLab shuts down its kernels and ends.
SERVER = """
import os, signal, threading
def follow():
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)
threading.Thread(target=follow, daemon=True).start()
from jupyterlab.labapp import main
main()
"""

SERVER_OPTIONS = [
    "--ip=127.0.0.1",
    "--no-browser",
    "-y",  # an interrupt from the keyboard ends it, too, without a question
    "--ServerApp.port_retries=0",
    "--ServerApp.allow_root=True",
    "--ServerApp.terminals_enabled=False",
    "--IdentityProvider.token=",
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
    "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
]

# A file beside its installation enables Notebook 7. An environment on top of another does not read it.
EXTENSIONS = {"notebook": True} if importlib.util.find_spec("notebook") else {}

# Settings by plugin. Without windowing every cell is in the DOM; without autosave the notebook's file stays.
SETTINGS: dict[str, dict[str, Any]] = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "docmanager-extension/plugin": {"autosave": False},
    "notebook-extension/tracker": {"windowingMode": "none", "scrollPastEnd": False},
}
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever proxy the environment names


class LabError(RuntimeError):
    """JupyterLab or the browser did not do what was asked."""


def wait_for(condition: Callable[[], Any], what: str, patience: float = PATIENCE, pause: float = 0.1) -> Any:
    """Call `condition` until what it returns is true, and return that; LabError after `patience` seconds."""
    end = time.monotonic() + patience
    while not (result := condition()):
        if time.monotonic() > end:
            raise LabError(f"{what}: not within {patience:g} s")
        time.sleep(pause)
    return result


class Server:
    """A JupyterLab server on a free port of 127.0.0.1 with directories of its own."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.scratch = scratch
        self.settings = scratch / "settings"
        self.log = scratch / "server.log"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        for plugin, values in SETTINGS.items():
            self.configure(plugin, values)
        options = [
            *SERVER_OPTIONS,
            f"--ServerApp.root_dir={root}",
            f"--ServerApp.port={self.port}",
            f"--ServerApp.jpserver_extensions={EXTENSIONS}",
            f"--FileCheckpoints.checkpoint_dir={scratch / 'checkpoints'}",
        ]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", SERVER, *options],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=root,
                env=self.environment(),
            )

    def environment(self) -> dict[str, str]:
        """Our environment without anything of the user's Jupyter and IPython, and with a home of its own."""
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON", "XDG_", "PYDEVD"))
        }
        homes = {
            "HOME": "home",
            "IPYTHONDIR": "ipython",
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        }
        for name in homes.values():
            (self.scratch / name).mkdir(exist_ok=True)
        return kept | {variable: str(self.scratch / name) for variable, name in homes.items()}

    def configure(self, plugin: str, values: dict[str, Any]) -> None:
        """Set the user's settings of one of JupyterLab's plugins, for pages loaded from now on."""
        path = self.settings / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values), encoding="utf-8")

    def ask(self, path: str) -> Any:
        """The JSON that the server's REST interface has at `path`."""
        with DIRECT.open(f"{self.url}/api/{path}", timeout=PATIENCE) as answer:
            return json.load(answer)

    def ready(self) -> bool:
        if self.process.poll() is not None:
            raise LabError(f"JupyterLab ended with status {self.process.returncode}:\n{self.last_lines()}")
        try:
            return bool(self.ask("status"))
        except OSError:  # not listening yet
            return False

    def last_lines(self, count: int = 20) -> str:
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:])

    def idle_kernel(self, notebook: str) -> bool:
        """Whether the notebook's kernel is idle *and* a page is connected to it.

        The page shows an idle kernel before it is connected; running cells then asks which kernel to take.
        """
        kernels = [s["kernel"] for s in self.ask("sessions") if s["path"] == notebook]
        return any(k["execution_state"] == "idle" and k["connections"] > 0 for k in kernels)

    def stop(self) -> None:
        """End the server with all its kernels: by asking, then by force."""
        started = descendants(self.process.pid)
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        _, alive = psutil.wait_procs(started, timeout=5)
        for process in alive:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(alive, timeout=5)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def descendants(pid: int) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children(recursive=True)
    return []
