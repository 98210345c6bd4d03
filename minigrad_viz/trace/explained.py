"""What an explanation is: plain data, like all that a reader is told."""

from __future__ import annotations

from typing import NamedTuple

from .graph import Mark
from .where import Span


class Explanation(NamedTuple):
    """An error, word for word, and under it why it came and what to do.

    `key` says which of the known errors it is ("" for any other: then `why` and `fix` are empty, and so is
    each of them wherever nothing is certain). `call` is the backward call that failed (0: what failed was
    none). `marks` are the parts of that call's picture that are guilty, or led to it. `span` is where the
    error came up, `cause` the place in the source that led to it, where that is another.
    """

    key: str
    error: str
    why: str = ""
    fix: str = ""
    marks: tuple[Mark, ...] = ()
    call: int = 0
    span: Span | None = None
    cause: Span | None = None
