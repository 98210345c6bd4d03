"""Points in a program, and what stands there in its text."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import Any, NamedTuple

from ..fields import Count, Line
from .source_text import SourceText
from .statements import Range, find, head

CONTINUED = re.compile(r"\\\r?\n")  # a line that goes on in the next one


class Span(NamedTuple):
    """A stretch of source. Lines count from 1; columns from 0, in characters; `end_column` is exclusive.

    `origin` tells which text the lines belong to: 0 for the traced cell or file itself, 1, 2, ... for the
    other sources of the namespace (functions defined in earlier cells), numbered as they turn up.
    """

    line: Line
    column: Count
    end_line: Line
    end_column: Count
    text: str
    origin: Count = 0

    def consistent(self) -> bool:
        """Whether it ends where it begins or later."""
        return (self.line, self.column) <= (self.end_line, self.end_column)

    @property
    def flat(self) -> str:
        """The text in one line, without the backslashes that continue lines."""
        return " ".join(CONTINUED.sub(" ", self.text).split())

    def holds(self, other: Span) -> bool:
        """Whether another stretch of the same text is part of this one."""
        begins = (self.line, self.column) <= (other.line, other.column)
        ends = (other.end_line, other.end_column) <= (self.end_line, self.end_column)
        return self.origin == other.origin and begins and ends


class Read(NamedTuple):
    """What stands at a point: its expression and the variable that names its result; the innermost statement
    of the traced text around it and the number of that at the top level (None and -1 elsewhere). `again` and
    `within` are those of `statements.Found`."""

    span: Span
    name: str | None
    statement: Span | None
    top: int
    again: bool
    within: bool


class Spot:
    """A point in the program: which code it belongs to, and where there; `nested` says that the code is that
    of a function, which some other statement called. What stands there is `read` when somebody asks, which
    for most is not before the picture is drawn: while a cell runs that would take a tenth of the time.
    """

    def __init__(self, texts: Texts, origin: int, code: int, offset: int, nested: bool, where: Any) -> None:
        self.code, self.offset, self.nested = code, offset, nested
        self._texts, self._origin, self._where = texts, origin, where

    @cached_property
    def read(self) -> Read:
        """What stands there."""
        return self._texts.read(self._origin, *self._where)

    span = property(lambda self: self.read.span)
    name = property(lambda self: self.read.name)
    statement = property(lambda self: self.read.statement)
    top = property(lambda self: self.read.top)
    again = property(lambda self: self.read.again)
    within = property(lambda self: self.read.within)


class Texts:
    """The traced text, and after it the others that turn up."""

    def __init__(self, source: str) -> None:
        self.sources = [SourceText(source)]
        self._statements: dict[int, Span] = {}  # by id of the statement's node, which the tree keeps

    def read(self, origin: int, line: int, end_line: Any, column: Any, end_column: Any) -> Read:
        """What stands at a position that bytecode reports, in bytes; the whole line without columns."""
        source = self.sources[origin]
        if column is None or end_column is None or end_line is None or line in source.magic_lines:
            where = source.whole_line(line)
        else:
            where = source.expression((line, column, end_line, end_column))
        span = Span(*where, text=source.cut(where), origin=origin)
        found = find(source.tree, line, where[1] if column is None else column) if origin == 0 else None
        statement, top, again, within = found or (None, -1, False, False)
        place = None if statement is None else self.statement(statement)
        return Read(span, self.name_of(span), place, top, again, within)

    def name_of(self, span: Span) -> str | None:
        """The variable that the value of `span` is assigned to: "y" for the `x ** 3` of `y = x ** 3`.

        None unless the span is exactly an assigned value, or one element of a tuple literal assigned to a
        tuple of targets; for `x *= 2` it is the whole statement. An attribute or item is named by its text:
        "self.w", "h[0]".
        """
        return self.sources[span.origin].names.get((span.line, span.column, span.end_line, span.end_column))

    def statement(self, node: ast.stmt) -> Span:
        """The span of a statement of the traced text, always the same object."""
        known = self._statements.get(id(node))
        if known is None:
            source = self.sources[0]
            if node.lineno in source.magic_lines:
                where = source.whole_line(node.lineno)
                known = Span(*where, text=source.cut(where))
            else:
                known = self.span(head(node, source.lines), 0)
            self._statements[id(node)] = known
        return known

    def span(self, where: Range, origin: int) -> Span:
        """The span of a range in bytes."""
        where = self.sources[origin].in_characters(where)
        return Span(*where, text=self.sources[origin].cut(where), origin=origin)
