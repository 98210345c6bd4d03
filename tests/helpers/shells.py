"""A real IPython shell without a front end, with the extension loaded."""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from bare_shell import bare_shell
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.utils.io import capture_output
from telling import calm

FILE = re.compile(r"<ipython-input-\d+-[0-9a-f]+>")
COLOUR = re.compile(r"\x1b\[[\d;]*m")
LIBRARY = re.compile(r"(File .*:\d+, in | +\[\.\.\. skipping)")


def users_part(text: str) -> str:
    """What stands on the screen, without colors and without what a traceback shows of a library's own
    lines."""
    parts = FILE.sub("<cell>", COLOUR.sub("", text)).split("\n\n")
    return "\n\n".join(part for part in parts if not LIBRARY.match(part))


class Ran(NamedTuple):
    """A cell that ran: its output, its error, its result, the variables it left, what was displayed."""

    printed: str
    complained: str
    failed: str
    result: Any
    variables: list[tuple[str, Any]]
    displayed: list[dict[str, Any]]


class Shell:
    """The shell, and nothing of it left in the process after the `with` block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Shell:
        with contextlib.ExitStack() as stack:
            self.shell = stack.enter_context(bare_shell(self.folder))
            stack.callback(self.shell.run_cell, "%unload_ext minigrad_viz")
            self.shell.run_cell("%load_ext minigrad_viz")
            self.first = set(self.shell.user_ns)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    def clear(self) -> None:
        """Forget every variable, output and error."""
        self.shell.reset(new_session=True)
        self.shell.last_execution_result = None
        for name in ("last_exc", "last_type", "last_value", "last_traceback"):
            if hasattr(sys, name):
                delattr(sys, name)

    def run(self, cell: str, names: dict[str, Any], library: Any) -> Ran:
        """Run a cell as a front end does, with `names` among its variables."""
        self.shell.push(names, interactive=False)
        publisher, self.shell.display_pub = self.shell.display_pub, CapturingDisplayPublisher()
        try:
            with calm(library), capture_output(display=False) as output:
                result = self.shell.run_cell(cell, store_history=True)
            displayed = self.shell.display_pub.outputs
        finally:
            self.shell.display_pub = publisher
        error = result.error_before_exec or result.error_in_exec
        space = self.shell.user_ns
        mine = [(n, v) for n, v in space.items() if n not in self.first and not re.match(r"_|In$|Out$", n)]
        failed = f"{type(error).__name__}: {error}" if error else ""
        printed, complained = users_part(output.stdout), users_part(output.stderr)
        return Ran(printed, complained, failed, result.result, mine, displayed)
