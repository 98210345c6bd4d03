"""The data of an explanation: plain data, like everything that a reader sees."""

from __future__ import annotations

from typing import Any, NamedTuple

from .graph import Mark
from .where import Span


class Matrix(NamedTuple):
    """One matrix with its title: `items` row by row, and what its rows and columns stand for. `wrong` are the
    places (row, column) that an error is about, the worst first; `sign` is what stands between it and the
    matrix before."""

    title: str
    items: tuple[tuple[Any, ...], ...]
    dtype: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    wrong: tuple[tuple[int, int], ...] = ()
    sign: str = ""


class Matrices(NamedTuple):
    """Matrices that are looked at side by side, and a title for them all."""

    title: str
    side_by_side: tuple[Matrix, ...]


class Explanation(NamedTuple):
    """An error, word for word, and under it why it came and what to do.

    `key` says which of the known errors it is ("" for any other: then `why` and `fix` are empty, and so is
    each of them wherever nothing is certain). `call` is the backward call that failed (0: what failed was
    none). `marks` are the parts of that call's picture that are guilty, or led to it. `span` is where the
    error came up, `cause` the place in the source that led to it, where that is another. `matrices` are
    numbers that show what is explained.
    """

    key: str
    error: str
    why: str = ""
    fix: str = ""
    marks: tuple[Mark, ...] = ()
    call: int = 0
    span: Span | None = None
    cause: Span | None = None
    matrices: tuple[Matrices, ...] = ()
