"""Tracebacks of a shell that show where the user's code was, not how minigrad got from there to the error.

Note [Where frames are hidden]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
IPython skips frames with a local `__tracebackhide__`, but never the last one, which is where an error of ours
is raised, and none with `%xmode Plain`; and each of some hundred functions would have to set it, in every
call. So the extension gives IPython's formatter a traceback without those frames. The exception keeps its
own: `%debug`, the module `traceback` and Python outside IPython know all of it, and so does `%tb` after
`%xmode --show`.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from ..sources.torch_frames import link_entries, without_viewer_frames

OURS = __name__.partition(".")[0]
HIDDEN = {OURS, "minigrad"}
BELOW = {"numpy"}  # packages that are hidden where one of ours called them, as is the standard library
LIBRARY = os.path.dirname(os.__file__) + os.sep


def install(shell: Any, name: str) -> None:
    """From now on the tracebacks of a shell leave our frames out, and a cell under `%%name` begins with that
    line, which its code has as a comment."""
    formatter = shell.InteractiveTB
    whole = formatter.structured_traceback
    if "structured_traceback" in vars(formatter):
        return

    @functools.wraps(whole)
    def shortened(etype: Any, evalue: Any = None, etb: Any = None, *args: Any, **options: Any) -> Any:
        if not formatter.skip_hidden or not isinstance(etb, TracebackType):
            return whole(etype, evalue, etb, *args, **options)
        found = [(error, error.__traceback__) for error in chain(evalue)]
        try:
            for error, tb in found:
                error.__traceback__ = users(tb)
            told = whole(etype, evalue, users(etb), *args, **options)
            return [part.replace(f"#%%{name}", f"%%{name}") for part in told]
        finally:
            for error, tb in found:
                error.__traceback__ = tb
            formatter.tb = etb  # where `%debug` begins

    formatter.structured_traceback = shortened


def uninstall(shell: Any) -> None:
    """Take that back."""
    vars(shell.InteractiveTB).pop("structured_traceback", None)


def write_first_line(shell: Any, line: str) -> None:
    """From now on tracebacks show line 1 of the calling cell as this; nothing happens where it is
    not that line which does."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals is not shell.user_global_ns:
        frame = frame.f_back
    entry: Any = None if frame is None else linecache.cache.get(frame.f_code.co_filename)
    if frame is None or frame.f_lineno != 1 or not entry:
        return
    # IPython 7 keeps a second cache, from which it restores the first.
    for cache in (linecache.cache, getattr(linecache, "_ipython_cache", {})):
        cache[frame.f_code.co_filename] = (*entry[:2], [line + "\n", *entry[2][1:]], entry[3])


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that it came from or that it is a group of, each once."""
    told: set[int] = set()
    stack = [error]
    while stack:
        error = stack.pop()
        if error is not None and id(error) not in told:
            told.add(id(error))
            yield error
            inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
            stack += [error.__cause__, error.__context__, *inner]


def users(tb: TracebackType | None) -> TracebackType | None:
    """A traceback without our frames and what they called; as it is, if no other frame is in it."""
    kept, entry, below = [], without_viewer_frames(tb), False
    while entry is not None:
        below = is_ours(entry.tb_frame) or (below and is_library(entry.tb_frame))
        if not below:
            kept.append(entry)
        entry = entry.tb_next
    return link_entries(reversed(kept)) or tb


def is_ours(frame: FrameType) -> bool:
    """Whether a frame belongs to one of our packages."""
    return package_of(frame) in HIDDEN


def is_library(frame: FrameType) -> bool:
    """Whether a frame that ours called is not the user's."""
    return package_of(frame) in BELOW or (
        frame.f_code.co_filename.startswith(LIBRARY) and "-packages" not in frame.f_code.co_filename
    )


def package_of(frame: FrameType) -> str:
    """The package whose code runs in a frame."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
