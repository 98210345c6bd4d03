"""Serve a built site on this machine: `python site/serve.py FOLDER [PORT]`. It listens on 127.0.0.1 only."""

from __future__ import annotations

import argparse
import functools
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Handler(SimpleHTTPRequestHandler):
    """Files, with the types that browsers insist on, whatever the system's own table says."""

    extensions_map = {  # noqa: RUF012  # as in the base class
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".json": "application/json",
        ".wasm": "application/wasm",
    }

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing about requests."""


def server(folder: str, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a folder; port 0 takes a free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=folder))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serve a built site on this machine.")
    parser.add_argument("folder")
    parser.add_argument("port", nargs="?", type=int, default=8000)
    given = parser.parse_args()
    with server(given.folder, given.port) as running:
        print(f"http://127.0.0.1:{running.server_port}/ (Ctrl+C ends it)")
        running.serve_forever()
