"""What is kept of the last watched cell, until the next one: its report, and by what to know its tensors and
its error again. No tensor, frame or error is kept alive."""

from __future__ import annotations

from typing import Any

from ..model.scene import Scenes
from ..recording.aftermath import entries
from ..recording.tape import describe
from ..trace.ids import Ids
from ..words import text
from .report import Report

_last: list[Report] = []  # that of the last watched cell, if there is one
_error: list[Any] = []  # what is known again of the error that ended it
_ids: list[Ids] = []  # of its tensors, by weak references


def remember(report: Report, error: BaseException | None = None, ids: Ids | None = None) -> None:
    """Keep the report of a watched cell, which `error` ended, until the next one's; its tensors are known by
    their `ids`."""
    _last[:] = [report]
    _error[:] = [] if error is None else [trail(error)]
    _ids[:] = [] if ids is None else [ids]


def last() -> Report:
    """The report of the last cell under `%%autograd`; RuntimeError if there is none."""
    if not _last:
        raise RuntimeError(text("no_last"))
    return _last[0]


def report_of(error: BaseException) -> Report | None:
    """The report of the last watched cell, if this is the error that ended it."""
    return _last[0] if _error == [trail(error)] else None


def known_to_last(tensor: Any) -> tuple[Scenes, str] | None:
    """The scenes of the last watched cell and the id of a tensor there, if the cell knew it."""
    id = _ids[0].known(tensor) if _ids else None
    return None if id is None else (_last[0].scenes, id)


def trail(error: BaseException) -> tuple[Any, ...]:
    """What an error is known by, without keeping it: its class and text, and the lines that it came
    through."""
    lines = ((entry.tb_frame.f_code.co_filename, entry.tb_lineno) for entry in entries(error.__traceback__))
    return describe(error), *lines
