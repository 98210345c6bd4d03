"""An IPython shell in this process, of which nothing is left afterwards."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core import async_helpers
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


@contextlib.contextmanager
def bare_shell(folder: Path) -> Iterator[Any]:
    """A shell that keeps its files in `folder` and speaks English."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder))
        patch.setenv("MINIGRAD_LANG", "en")
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        InteractiveShell.clear_instance()
        config = Config()
        config.HistoryManager.enabled = False  # no file, and no thread that writes it
        shell: Any = InteractiveShell.instance(config=config)
        try:
            yield shell
        finally:
            atexit.unregister(shell.atexit_operations)
            shell.restore_sys_module_state()
            InteractiveShell.clear_instance()
            close_loop()


def close_loop() -> None:
    """Close the event loop in which IPython ran cells with `await`."""
    if hasattr(async_helpers, "_asyncio_event_loop"):
        loop, async_helpers._asyncio_event_loop = async_helpers._asyncio_event_loop, None
    else:  # IPython 7
        loop = vars(async_helpers._asyncio_runner).get("_loop")
        asyncio.set_event_loop(None)
    if loop is not None:
        loop.close()
