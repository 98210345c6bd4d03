"""A real IPython shell without a front end, with the extension loaded."""

from __future__ import annotations

import atexit
import contextlib
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from IPython.core import async_helpers
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.io import capture_output
from telling import calm
from traitlets.config import Config

FILE = re.compile(r"<ipython-input-\d+-[0-9a-f]+>")
COLOUR = re.compile(r"\x1b\[[\d;]*m")
LIBRARY = re.compile(r"(File .*:\d+, in | +\[\.\.\. skipping)")


def users_part(text: str) -> str:
    """What stands on the screen, without colours and without what a traceback shows of a library's own
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
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            patch.setenv("IPYTHONDIR", str(self.folder))
            patch.setenv("MINIGRAD_LANG", "en")
            patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
            InteractiveShell.clear_instance()
            config = Config()
            config.HistoryManager.enabled = False  # no file, and no thread that writes it
            self.shell: Any = InteractiveShell.instance(config=config)
            stack.callback(self.leave)
            self.shell.run_cell("%load_ext minigrad_viz")
            self.first = set(self.shell.user_ns)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    def leave(self) -> None:
        self.shell.run_cell("%unload_ext minigrad_viz")
        atexit.unregister(self.shell.atexit_operations)
        self.shell.restore_sys_module_state()
        InteractiveShell.clear_instance()
        if async_helpers._asyncio_event_loop is not None:
            async_helpers._asyncio_event_loop.close()
            async_helpers._asyncio_event_loop = None

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
