"""Where an operation is in the user's source: its exact expression, and the variable naming the result.

Python's compiler reports columns in UTF-8 bytes; all that leaves this module is in characters.

Nothing of the user's is run or imported for it: frames, bytecode positions and the syntax tree are only read.
"""

from __future__ import annotations

import ast
import dis
import functools
import itertools
import linecache
import os
import re
import sysconfig
import unicodedata
from collections.abc import Iterator
from functools import cached_property, lru_cache
from inspect import CO_NEWLOCALS
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

from ..fields import Count, Line
from ..isolation import pass_on, silence
from .statements import Range, find, nodes_of, statement_head

# ─── A text of Python as the compiler saw it


class SourceText:
    """One text: its lines as Python counts them, its tree, and tables over the tree."""

    def __init__(self, text: str):
        # As Python counts: str.splitlines() would also split at form feeds and Unicode separators.
        self.lines = re.split(r"\r\n|\r|\n", text)

    @cached_property
    def _parsed(self) -> tuple[ast.Module | None, frozenset[int]]:
        return _parse(tuple(self.lines))

    @property
    def tree(self) -> ast.Module | None:
        """The syntax tree, or None if the text is not Python."""
        return self._parsed[0]

    @property
    def magic_lines(self) -> frozenset[int]:
        """Numbers of the lines in IPython's own syntax, which the tree holds as `pass`."""
        return self._parsed[1]

    def fits(self, code: CodeType) -> bool:
        """Whether this is the text of `code`; see Note [Which source a frame belongs to]."""
        agreed, lines, magic = 0, self.lines, self.magic_lines
        for step in dis.get_instructions(code):
            line, end_line, column, end_column = step.positions or (None,) * 4
            if not line:
                continue
            if line > len(lines):
                return False
            if line in magic:
                agreed += step.argval == "get_ipython"
            elif end_line in (line, None):
                raw = lines[line - 1]
                if raw.isascii():
                    raw = raw[column:end_column]
                else:  # Python stores identifiers normalized
                    raw = raw.encode()[column:end_column].decode(errors="replace")
                    raw = unicodedata.normalize("NFKC", raw)
                verdict = _agrees(step, raw)
                if verdict is False:
                    return False
                agreed += verdict is True
        return agreed > 0

    def expression(self, where: Range) -> Range:
        """The range of the expression that bytecode reports as `where` (byte columns), in characters."""
        where = self._reported.get(where, where)
        return self.in_characters(where)

    def whole_line(self, line: int) -> Range:
        text = self.lines[line - 1]
        return line, len(text) - len(text.lstrip()), line, len(text.rstrip())

    def cut(self, where: Range) -> str:
        line, column, end_line, end_column = where
        if line == end_line:
            return self.lines[line - 1][column:end_column]
        inner = self.lines[line : end_line - 1]
        return "\n".join([self.lines[line - 1][column:], *inner, self.lines[end_line - 1][:end_column]])

    def in_characters(self, where: Range) -> Range:
        line, column, end_line, end_column = where
        return line, self._characters(line, column), end_line, self._characters(end_line, end_column)

    def in_bytes(self, where: Range) -> Range:
        """The range that is `where` in characters, as Python's compiler counts."""
        line, column, end_line, end_column = where
        return line, self._bytes(line, column), end_line, self._bytes(end_line, end_column)

    def _bytes(self, line: int, column: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return column if text.isascii() else len(text[:column].encode())

    def _characters(self, line: int, column: int) -> int:
        text = self.lines[line - 1]
        return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))

    @cached_property
    def _reported(self) -> dict[Range, Range]:
        """Ranges that bytecode reports where another expression is meant, with the latter's (byte columns).

        A method or attribute on a later line than its object is reported from its own name on; what a `for`,
        `if`, `while`, `with` or `assert` does itself is reported as the whole statement, body included.
        """
        table: dict[Range, Range] = {}
        for node in () if self.tree is None else nodes_of(self.tree):
            dotted = node.func if isinstance(node, ast.Call) else node
            if isinstance(dotted, ast.Attribute) and dotted.lineno != dotted.end_lineno:
                _, _, line, end = range_of(dotted)
                table[line, end - len(dotted.attr), *range_of(node)[2:]] = range_of(node)
            elif isinstance(node, ast.For | ast.AsyncFor):
                table[range_of(node)] = range_of(node.iter)
            elif isinstance(node, ast.If | ast.While | ast.Assert):
                table[range_of(node)] = range_of(node.test)
            elif isinstance(node, ast.With | ast.AsyncWith):
                table[range_of(node)] = range_of(node.items[0].context_expr)
        return table

    @cached_property
    def names(self) -> dict[Range, str]:
        """The variable each assigned value is named by; ranges in characters."""
        table: dict[Range, str] = {}
        for target, value in () if self.tree is None else _assignments(self.tree):
            if isinstance(target, ast.Name):
                name = target.id  # as in the namespace: Python composes decomposed Hangul
            else:
                name = " ".join(self.cut(self.in_characters(range_of(target))).split())
            table.setdefault(self.in_characters(range_of(value)), name)
        return table


_LOADS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "STORE_FAST_LOAD_FAST")


def _agrees(step: dis.Instruction, text: str) -> bool | None:
    """Whether an instruction agrees with `text`, the source at its position; None if that is unclear.

    The text is the whole line where Python kept no columns.
    """
    if step.opname.startswith(_LOADS):
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)  # one may load two
        if text in names or any(
            name.startswith((".", "__")) for name in names
        ):  # Python's own: ".0", __name__
            return text in names or None
        whole_line = step.positions is None or step.positions.col_offset is None
        return any(name in text for name in names) if whole_line else (False if text.isidentifier() else None)
    if step.opname == "BINARY_OP":
        return step.argrepr[0] in text
    if step.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"):
        return step.argval in text or (
            None if step.argval.startswith("_") else False
        )  # private names are mangled
    if step.opname.endswith("_CONST") and isinstance(step.argval, tuple):
        return text.strip("()") == repr(step.argval)[1:-1] or None
    return None


_MAGIC = re.compile(r"\s*[%!?,;/]|.*\?\s*$|.*=\s*[%!]")
_MAGIC_ASSIGNMENT = re.compile(r"(\s*[^=]+=)\s*[%!]")


@lru_cache(16)  # a cell is read again for each number that a reader gives it
def _parse(text: tuple[str, ...]) -> tuple[ast.Module | None, frozenset[int]]:
    """The tree of a cell, or None, and the numbers of its lines in IPython's syntax, read as `pass` or as an
    assignment of None. Only lines that Python rejects are so read: `% b)` may continue an expression."""
    lines = list(text)
    magic: set[int] = set()
    while True:
        try:
            with silence():  # the cell's own compilation has warned already
                return ast.parse("\n".join(lines)), frozenset(magic)
        except SyntaxError as error:
            pass_on(error)
            number = error.lineno or 0
        except (ValueError, RecursionError, MemoryError) as refused:
            pass_on(refused)
            return None, frozenset(magic)
        if not 1 <= number <= len(lines) or number in magic or not _MAGIC.match(lines[number - 1]):
            return None, frozenset(magic)
        line = lines[number - 1]
        assignment = _MAGIC_ASSIGNMENT.match(line)
        indent = line[: len(line) - len(line.lstrip())]
        lines[number - 1] = f"{assignment[1]} None" if assignment else f"{indent}pass"
        magic.add(number)


def range_of(node: ast.AST) -> Range:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def _assignments(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.AST]]:
    """(target, value) of every assignment; the value of `x *= 2` is the statement, as in bytecode."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _pairs(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, ast.AugAssign):
            yield node.target, node


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, value
        return
    targets, values = target.elts, value.elts if isinstance(value, ast.Tuple | ast.List) else []
    if len(targets) == len(values) and not any(isinstance(one, ast.Starred) for one in targets + values):
        for one_target, one_value in zip(targets, values):
            yield from _pairs(one_target, one_value)


# ─── Points in a program, and what stands there in its text


CONTINUED = re.compile(r"\\\r?\n")  # a line that goes on in the next one


class Span(NamedTuple):
    """A stretch of source. Lines count from 1; columns from 0, in characters; `end_column` is exclusive.

    `origin` tells which text the lines belong to: 0 for the traced cell or file itself, 1, 2, ... for the
    others (functions defined in earlier cells, files of the user's), numbered as they turn up.
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


class SpotText(NamedTuple):
    """What is at a point: its expression and the variable that names its result; the innermost statement
    of the traced text around it and the number of that at the top level (None and -1 elsewhere). `again` and
    `within` are those of `StatementPosition`."""

    span: Span
    name: str | None
    statement: Span | None
    top: int
    again: bool
    within: bool


class Spot:
    """A point in the program: which code it belongs to, and where there; `nested` says that the code is that
    of a function, which some other statement called. The source there is `read` when it is needed,
    for most when the picture is drawn: while a cell runs that would take a tenth of the time.
    """

    def __init__(self, texts: Texts, origin: int, code: int, offset: int, nested: bool, where: Any) -> None:
        self.code, self.offset, self.nested = code, offset, nested
        self._texts, self._origin, self._where = texts, origin, where

    @cached_property
    def read(self) -> SpotText:
        """What is there."""
        return self._texts.read(self._origin, *self._where)

    span = property(lambda self: self.read.span)
    name = property(lambda self: self.read.name)
    statement = property(lambda self: self.read.statement)
    top = property(lambda self: self.read.top)
    again = property(lambda self: self.read.again)
    within = property(lambda self: self.read.within)


class Texts:
    """The traced text, and after it the others that are found."""

    def __init__(self, source: str) -> None:
        self.sources = [SourceText(source)]
        self._statements: dict[int, Span] = {}  # by id of the statement's node, which the tree keeps

    def read(self, origin: int, line: int, end_line: Any, column: Any, end_column: Any) -> SpotText:
        """What is at a position that bytecode reports, in bytes; the whole line without columns."""
        source = self.sources[origin]
        if column is None or end_column is None or end_line is None or line in source.magic_lines:
            where = source.whole_line(line)
        else:
            where = source.expression((line, column, end_line, end_column))
        span = Span(*where, text=source.cut(where), origin=origin)
        found = find(source.tree, line, where[1] if column is None else column) if origin == 0 else None
        statement, top, again, within = found or (None, -1, False, False)
        place = None if statement is None else self.statement(statement)
        return SpotText(span, self.name_of(span), place, top, again, within)

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
                known = self.span(statement_head(node, source.lines), 0)
            self._statements[id(node)] = known
        return known

    def span(self, where: Range, origin: int) -> Span:
        """The span of a range in bytes."""
        where = self.sources[origin].in_characters(where)
        return Span(*where, text=self.sources[origin].cut(where), origin=origin)


# ─── Where an operation stands in the user's source


# Modules that work with whole functions of the user's, or compute with tensors for themselves.
INSIDE = (
    "minigrad.autograd.functional", "minigrad.autograd.gradcheck", "minigrad.autograd.run", "minigrad.func",
    "torch.autograd.functional", "torch._functorch", "torch._vmap_internals",
)  # fmt: skip
# Calls of these use tensors several times, in no order that frames tell.
SEVERAL = ("torch.nn.", "minigrad.ops.einsum", *INSIDE)


def is_users_file(space: dict[str, Any]) -> bool:
    """Whether globals are those of a file that the user wrote: not of the standard library, of an installed
    package, or of ours."""
    file, name = space.get("__file__"), space.get("__name__")
    if type(file) is not str or type(name) is not str or name.partition(".")[0] in OURS:
        return False
    parts = file.replace("\\", "/").split("/")
    installed = "site-packages" in parts or "dist-packages" in parts
    return file.endswith(".py") and not installed and not os.path.abspath(file).startswith(LIBRARY_FOLDERS)


OURS = ("minigrad", "minigrad_viz", "torch")
LIBRARY_FOLDERS = tuple(
    os.path.join(sysconfig.get_path(each), "") for each in ("stdlib", "platstdlib", "purelib", "platlib")
)


# How far a call has come: the offset in the function that was called, and in the same way how far the call
# there has come. What comes later is greater.
Reached = tuple[Any, ...]
FIRST = 2**32  # of the numbers of their uses, greater than any offset


@functools.lru_cache(256)
def is_several(module: str) -> bool:
    """Whether the functions of a module are among these."""
    return module.startswith(SEVERAL)


class Locator:
    """Finds the expressions of one traced cell or file.

    Note [Which source a frame belongs to]
    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    A frame's file name does not say what was written there. Under `%%time` every cell is `<timed exec>`, and
    no text is kept; `exec("y = x * 2")` in a cell runs as `<string>` with the same globals; a function of an
    earlier cell lives on after that cell was edited. So a text is believed only if the code *fits* it: where
    the bytecode loads a name or an attribute or applies an operator, the text has that very name or operator
    in those columns. The traced source is tried first, then what `linecache` holds for the file. Code that
    fits neither is passed over for its caller.

    Note [Files of the user's]
    ~~~~~~~~~~~~~~~~~~~~~~~~~~
    A frame with other globals belongs to the program if they are those of a file that the user wrote and the
    traced text has called it, directly or not: `model.py` beside `train.py` is located as its class would be
    in the text itself.
    """

    def __init__(self, source: str, namespace: dict):
        """`source`: text of the cell or file, as written or as IPython transformed it (same line numbers);
        `namespace`: globals of the user's frames."""
        self._namespace = namespace
        self._texts = Texts(source)
        self._sources = self._texts.sources
        self._origin_of_file: dict[str, int] = {}
        self._spaces: dict[
            int, tuple[dict[str, Any], bool]
        ] = {}  # globals by id; whether a user's file has them
        self._files: set[str] = set()  # those of the user's
        self._codes: dict[int, tuple[CodeType, int | None, list]] = {}
        self.spots: dict[tuple[int, int], Spot | None] = {}  # by id of the code, and offset
        self._definitions: dict[int, tuple[CodeType, Span | None]] = {}
        self._loops: dict[tuple[int, int], list[ast.For | ast.While]] = {}  # by the same
        self._calls = itertools.count(FIRST)

    def at(self, frame: FrameType | None) -> Spot | None:
        """The point that the nearest frame of the user's, from `frame` outward, has reached."""
        spots = self.spots
        frame, _ = self.nearest(frame)
        while frame is not None:
            # By id: hashing a code object hashes all it holds. `_codes` keeps it, so the id stays.
            key = (id(frame.f_code), frame.f_lasti)
            if key not in spots:
                spots[key] = self._locate(frame.f_code, frame.f_lasti)
            if (spot := spots[key]) is not None:
                return spot
            frame, _ = self.nearest(frame.f_back)
        return None

    def owns(self, frame: FrameType) -> bool:
        """Whether a frame belongs to code that the user wrote; see Note [Files of the user's]."""
        space = frame.f_globals
        if space is self._namespace:
            return True
        known = self._spaces.get(id(space))
        if known is not None and not known[1]:
            return False
        return self._is_of_file(frame) and self._is_called(frame.f_back)

    def nearest(self, frame: FrameType | None) -> tuple[FrameType | None, Reached]:
        """The nearest frame of the user's, from `frame` outward, and how far the call there has
        come."""
        inner: Reached = ()
        cell, spaces = self._namespace, self._spaces
        while frame is not None:
            space = frame.f_globals
            if space is cell:
                break
            known = spaces.get(id(space))
            if (known is None or known[1]) and self.owns(frame):
                break
            inner, frame = (frame.f_lasti, inner), frame.f_back
        return frame, inner

    def _is_of_file(self, frame: FrameType) -> bool:
        """Whether a frame is that of code in another file that the user wrote."""
        space = frame.f_globals
        known = self._spaces.get(id(space))
        if known is None:
            other = space.get("__file__") != self._namespace.get("__file__")
            known = self._spaces[id(space)] = space, other and is_users_file(space)
        if known[1]:
            self._files.add(frame.f_code.co_filename)
        return known[1]

    def _is_called(self, frame: FrameType | None) -> bool:
        """Whether code of the namespace is among those that have called."""
        while frame is not None and frame.f_globals is not self._namespace:
            frame = frame.f_back
        return frame is not None

    def reach(self, frame: FrameType | None) -> tuple[Spot | None, int | None, Reached]:
        """`at` with the number of the statement at the top level that runs (None: the one that the point
        says), and how far the call there has come."""
        spots, cell, spaces = self.spots, self._namespace, self._spaces
        inner: Reached = ()
        while frame is not None:
            space = frame.f_globals
            known = None if space is cell else spaces.get(id(space))
            if space is cell or ((known is None or known[1]) and self.owns(frame)):
                key = (id(frame.f_code), frame.f_lasti)
                spot = spots[key] if key in spots else self.at(frame)
                if spot is not None:
                    return spot, self.top(frame.f_back) if spot.nested else None, inner
            name = space.get("__name__", "")
            several = name.__class__ is str and is_several(name)
            inner = (next(self._calls) if several else frame.f_lasti, inner)
            frame = frame.f_back
        return None, -1, ()

    def counts(self, inner: Reached) -> bool:
        """Whether `reach` said with `inner` only that the call uses tensors once more."""
        while inner:
            offset, inner = inner
            if offset >= FIRST:
                return True
        return False

    def inside(self, frame: FrameType | None) -> bool:
        """Whether what runs here was called for itself by a function of a library that works with whole
        functions, which the user's code has called."""
        name: object = ""
        while frame is not None and not self.owns(frame):
            name = frame.f_globals.get("__name__", "")
            frame = frame.f_back
        return isinstance(name, str) and name.startswith(INSIDE)

    def top(self, frame: FrameType | None) -> int:
        """The number of the statement at the top level that runs now; -1 if it is none of the traced text."""
        while frame is not None:
            if frame.f_globals is self._namespace and not frame.f_code.co_flags & CO_NEWLOCALS:
                spot = self.at(frame)
                if spot is not None and not spot.nested:
                    return spot.top
            frame = frame.f_back
        return -1

    def raised(self, traceback: TracebackType | None) -> tuple[Spot | None, int, FrameType | None]:
        """Where an error was raised: the innermost known point of its traceback, the number of the statement
        at the top level, and the frame of that point."""
        found, top, inner = None, -1, None
        for spot, frame in self._entries(traceback):
            found, inner = spot, frame
            if not spot.nested and spot.top >= 0:
                top = spot.top
        return found, top, inner

    def _entries(self, traceback: TracebackType | None) -> Iterator[tuple[Spot, FrameType]]:
        """The known points that a traceback goes through, and their frames, outermost first."""
        called = False
        while traceback is not None:
            frame = traceback.tb_frame
            called = called or frame.f_globals is self._namespace
            if called and (frame.f_globals is self._namespace or self._is_of_file(frame)):
                spot = self._locate(frame.f_code, traceback.tb_lasti)
                if spot is not None:
                    yield spot, frame
            traceback = traceback.tb_next

    def frames(self, traceback: TracebackType | None) -> Iterator[Span]:
        """The known places that a traceback goes through."""
        for spot, _ in self._entries(traceback):
            yield spot.span

    def point(self, entry: TracebackType) -> Spot | None:
        """Where one entry of a traceback is, if its source is known."""
        return self._locate(entry.tb_frame.f_code, entry.tb_lasti)

    def tree(self, origin: int = 0) -> ast.Module | None:
        """The syntax tree of the traced text, or of another by its number in spans, in which a magic is
        `pass`; None if it is not Python."""
        return self._sources[origin].tree

    @property
    def others(self) -> list[str]:
        """The texts that spans number from 1 on."""
        return ["\n".join(source.lines) for source in self._sources[1:]]

    @property
    def files(self) -> dict[str, str]:
        """The texts of the user's files among them, by their paths."""
        origins = {file: self._origin_of_file[file] for file in self._files & self._origin_of_file.keys()}
        return {file: "\n".join(self._sources[origin].lines) for file, origin in origins.items()}

    @functools.cached_property
    def tops(self) -> list[Span | None]:
        """The statements of the traced text at the top level; of those with a block what precedes it.
        None for a cell magic, which is not a statement."""
        tree = self.tree()
        spans = [] if tree is None else [self._texts.statement(node) for node in tree.body]
        return [None if span.text.startswith("%%") else span for span in spans]

    def definition(self, code: CodeType) -> Span | None:
        """Where the function with this code is defined, if its text is known."""
        known = self._definitions.get(id(code))
        if known is None:
            known = self._definitions[id(code)] = code, self._definition(code)
        return known[1]

    def loops(self, frame: FrameType) -> list[ast.For | ast.While]:
        """The loops in the code of a frame around the point that it has reached, innermost first."""
        key = id(frame.f_code), frame.f_lasti
        if key not in self._loops:
            spot = self._locate(frame.f_code, frame.f_lasti)
            tree = None if spot is None else self._sources[self._origin(frame.f_code) or 0].tree
            line, first = frame.f_lineno, frame.f_code.co_firstlineno if spot and spot.nested else 0
            nodes = () if tree is None else nodes_of(tree)
            self._loops[key] = [
                node
                for node in nodes
                if isinstance(node, ast.For | ast.While)
                and first <= node.lineno
                and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
            ][::-1]
        return self._loops[key]

    def _definition(self, code: CodeType) -> Span | None:
        origin = self._origin(code)
        source = None if origin is None else self._sources[origin]
        if origin is None or source is None or source.tree is None:
            return None
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
                first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
                if first == code.co_firstlineno:
                    return self._texts.span(range_of(node), origin)
        return None

    def _locate(self, code: CodeType, lasti: int) -> Spot | None:
        if id(code) not in self._codes:
            self._codes[id(code)] = (code, self._origin(code), list(code.co_positions()))
        _, origin, positions = self._codes[id(code)]
        if origin is None or lasti < 0:
            return None
        line, end_line, column, end_column = positions[lasti // 2]  # one entry per code unit of two bytes
        source = self._sources[origin]
        if line is None or not 1 <= line <= len(source.lines):
            return None
        nested = bool(code.co_flags & CO_NEWLOCALS) or code.co_filename in self._files
        return Spot(self._texts, origin, id(code), lasti, nested, (line, end_line, column, end_column))

    def _origin(self, code: CodeType) -> int | None:
        """The number of the source that `code` was compiled from, or None if its text is not known."""
        file = code.co_filename
        if file not in self._files and self._sources[0].fits(code):
            return 0
        if file not in self._origin_of_file:
            lines = linecache.getlines(file)
            if not lines:
                return None
            self._origin_of_file[file] = len(self._sources)
            self._sources.append(SourceText("".join(lines)))
        origin = self._origin_of_file[file]
        return origin if self._sources[origin].fits(code) else None
