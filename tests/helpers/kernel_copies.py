"""The processes of `kernels`: `serve SOCKET` imports and is copied, for each kernel once. `request SOCKET
FILE` is what Jupyter starts as the kernel: it asks for a copy, and lives as long as that does.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

IMPORTED = (
    "ipykernel.ipkernel", "ipykernel.kernelapp", "IPython.core.pylabtools", "matplotlib.backends.backend_agg",
    "matplotlib.font_manager", "ipywidgets", "minigrad", "minigrad_viz", "minigrad_viz.shell",
)  # fmt: skip


def request(path: str, file: str) -> None:
    """Ask for a kernel, give it the signals that this process gets, and end with it."""
    with socket.socket(socket.AF_UNIX) as kernel:
        kernel.connect(path)
        kernel.sendall(json.dumps([os.getcwd(), file]).encode())
        pid, parent = int(kernel.recv(64)), os.getppid()
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, lambda number, _: os.kill(pid, number))
        kernel.settimeout(1)
        while os.getppid() == parent:
            try:
                kernel.recv(1)
                return
            except TimeoutError:
                continue


def serve(path: str) -> None:
    """Copy this process for each request, until the one that started it is gone."""
    import importlib
    import select

    for name in IMPORTED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the copies
    with socket.socket(socket.AF_UNIX) as requests:
        requests.bind(path)
        requests.listen()
        os.write(1, b".")
        while True:
            ready, _, _ = select.select([requests, 0], [], [])
            if 0 in ready:
                return
            kernel, _ = requests.accept()
            cwd, file = json.loads(kernel.recv(65536))
            if os.fork() == 0:
                requests.close()
                run_kernel(kernel, cwd, file)
            kernel.close()


def run_kernel(kernel: socket.socket, cwd: str, file: str) -> None:
    """Be what `python -m ipykernel_launcher -f FILE` is, until it is shut down or who asked is gone."""
    import threading

    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    kernel.sendall(str(os.getpid()).encode())
    os.chdir(cwd)
    sys.path[0] = ""
    sys.argv = ["ipykernel_launcher.py", "-f", file]

    def watch() -> None:
        kernel.recv(1)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="who asked for the kernel", daemon=True).start()
    try:
        IPKernelApp.launch_instance()
    finally:
        os._exit(0)


if __name__ == "__main__":
    {"serve": serve, "request": request}[sys.argv[1]](*sys.argv[2:])
