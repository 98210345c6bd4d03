"""Where an operation stands in the user's source: its exact expression, and the variable naming the result.

Nothing of the user's is run or imported for it: frames, bytecode positions and the syntax tree are only read.
"""

import ast
import dis
import linecache
import re
import sys
import unicodedata
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

Range = tuple[int, int, int, int]
"""first line (from 1), first column (from 0), last line, column after the last character"""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of source. Lines count from 1; columns from 0, in characters; `end_column` is exclusive.

    `origin` tells which text the lines belong to: 0 for the traced cell or file itself, 1, 2, ... for the
    other sources of the namespace (functions defined in earlier cells), numbered as they turn up.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    origin: int = 0


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
    """

    def __init__(self, source: str, namespace: dict, filename: str | None = None):
        """`source`: text of the cell or file, as written or as IPython transformed it (same line numbers);
        `namespace`: globals of the user's frames; `filename`: the file its code is compiled under."""
        self._namespace = namespace
        self._filename = filename
        self._sources = [_Source(source)]
        self._origin_of_file: dict[str, int] = {}
        self._codes: dict[int, tuple[CodeType, int | None, list]] = {}
        self._spans: dict[tuple[int, int], Span | None] = {}

    def here(self, depth: int = 1) -> Span | None:
        """The expression that the nearest frame of the namespace evaluates now; None without such a frame.

        Looks outward from the caller `depth` levels up. The whole line where Python kept no columns.
        """
        frame: FrameType | None = sys._getframe(depth)
        namespace, spans = self._namespace, self._spans
        while frame is not None:
            if frame.f_globals is namespace:
                code = frame.f_code
                # By id: hashing a code object hashes all it holds. `_codes` keeps it, so the id stays.
                key = (id(code), frame.f_lasti)
                if key not in spans:
                    spans[key] = self._locate(code, frame.f_lasti)
                if (span := spans[key]) is not None:
                    return span
            frame = frame.f_back
        return None

    def name_of(self, span: Span) -> str | None:
        """The variable that the value of `span` is assigned to: "y" for the `x ** 3` of `y = x ** 3`.

        None unless the span is exactly an assigned value, or one element of a tuple literal assigned to a
        tuple of targets; for `x *= 2` it is the whole statement. An attribute or item is named by its text:
        "self.w", "h[0]".
        """
        return self._sources[span.origin].names.get((span.line, span.column, span.end_line, span.end_column))

    def assigned_names(self) -> list[str]:
        """All names the source binds in the namespace, in source order; imported names are left out."""
        tree = self._sources[0].tree
        return [] if tree is None else _bound_names(tree)

    def source(self, origin: int = 0) -> str:
        """The text that spans with this `origin` refer to."""
        return "\n".join(self._sources[origin].lines)

    def _locate(self, code: CodeType, lasti: int) -> Span | None:
        if id(code) not in self._codes:
            self._codes[id(code)] = (code, self._origin(code), list(code.co_positions()))
        _, origin, positions = self._codes[id(code)]
        if origin is None or lasti < 0:
            return None
        line, end_line, column, end_column = positions[lasti // 2]  # one entry per code unit of two bytes
        source = self._sources[origin]
        if line is None or not 1 <= line <= len(source.lines):
            return None
        if column is None or end_column is None or end_line is None or line in source.magic_lines:
            where = source.whole_line(line)
        else:
            where = source.expression((line, column, end_line, end_column))
        return Span(*where, text=source.cut(where), origin=origin)

    def _origin(self, code: CodeType) -> int | None:
        """The number of the source that `code` was compiled from, or None if its text is not known."""
        file = code.co_filename
        if file == self._filename:
            return 0
        if self._filename is None and self._sources[0].fits(code):
            return 0
        if file not in self._origin_of_file:
            lines = linecache.getlines(file)
            if not lines:
                return None
            self._origin_of_file[file] = len(self._sources)
            self._sources.append(_Source("".join(lines)))
        origin = self._origin_of_file[file]
        return origin if self._sources[origin].fits(code) else None


class _Source:
    """One text: its lines as Python counts them, its tree, and tables over the tree.

    Python's compiler reports columns in UTF-8 bytes; all that leaves this class is in characters.
    """

    def __init__(self, text: str):
        # As Python counts: str.splitlines() would also split at form feeds and Unicode separators.
        self.lines = re.split(r"\r\n|\r|\n", text)

    @cached_property
    def _parsed(self) -> tuple[ast.Module | None, frozenset[int]]:
        return _parse(self.lines)

    @property
    def tree(self) -> ast.Module | None:
        """The syntax tree, or None if the text is no Python."""
        return self._parsed[0]

    @property
    def magic_lines(self) -> frozenset[int]:
        """Numbers of the lines in IPython's own syntax, which the tree holds as `pass`."""
        return self._parsed[1]

    def fits(self, code: CodeType) -> bool:
        """Whether this is the text of `code`; see Note [Which source a frame belongs to]."""
        agreed = 0
        for step in dis.get_instructions(code):
            line, end_line, column, end_column = step.positions or (None,) * 4
            if not line:
                continue
            if line > len(self.lines):
                return False
            if line in self.magic_lines:
                agreed += step.argval == "get_ipython"
            elif end_line in (line, None):
                raw = self.lines[line - 1].encode()[column:end_column].decode(errors="replace")
                verdict = _agrees(
                    step, unicodedata.normalize("NFKC", raw)
                )  # as Python normalises identifiers
                if verdict is False:
                    return False
                agreed += verdict is True
        return agreed > 0

    def expression(self, where: Range) -> Range:
        """The range of the expression that bytecode reports as `where` (byte columns), in characters."""
        where = self._reported.get(where, where)
        return self._in_characters(where)

    def whole_line(self, line: int) -> Range:
        text = self.lines[line - 1]
        return line, len(text) - len(text.lstrip()), line, len(text.rstrip())

    def cut(self, where: Range) -> str:
        line, column, end_line, end_column = where
        if line == end_line:
            return self.lines[line - 1][column:end_column]
        inner = self.lines[line : end_line - 1]
        return "\n".join([self.lines[line - 1][column:], *inner, self.lines[end_line - 1][:end_column]])

    def _in_characters(self, where: Range) -> Range:
        line, column, end_line, end_column = where
        return line, self._characters(line, column), end_line, self._characters(end_line, end_column)

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
        for node in () if self.tree is None else ast.walk(self.tree):
            dotted = node.func if isinstance(node, ast.Call) else node
            if isinstance(dotted, ast.Attribute) and dotted.lineno != dotted.end_lineno:
                _, _, line, end = _range(dotted)
                table[line, end - len(dotted.attr), *_range(node)[2:]] = _range(node)
            elif isinstance(node, ast.For | ast.AsyncFor):
                table[_range(node)] = _range(node.iter)
            elif isinstance(node, ast.If | ast.While | ast.Assert):
                table[_range(node)] = _range(node.test)
            elif isinstance(node, ast.With | ast.AsyncWith):
                table[_range(node)] = _range(node.items[0].context_expr)
        return table

    @cached_property
    def names(self) -> dict[Range, str]:
        """The variable each assigned value is named by; ranges in characters."""
        table: dict[Range, str] = {}
        for target, value in () if self.tree is None else _assignments(self.tree):
            if isinstance(target, ast.Name):
                name = target.id  # as in the namespace: Python composes decomposed Hangul
            else:
                name = " ".join(self.cut(self._in_characters(_range(target))).split())
            table.setdefault(self._in_characters(_range(value)), name)
        return table


_LOADS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "STORE_FAST_LOAD_FAST")


def _agrees(step: dis.Instruction, text: str) -> bool | None:
    """Whether an instruction says what `text`, at its position, says; None if it cannot be told.

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
    return None


_MAGIC = re.compile(r"\s*[%!?,;/]|.*\?\s*$|.*=\s*[%!]")
_MAGIC_ASSIGNMENT = re.compile(r"(\s*[^=]+=)\s*[%!]")


def _parse(lines: list[str]) -> tuple[ast.Module | None, frozenset[int]]:
    """The tree of a cell, or None, and the numbers of its lines in IPython's syntax, read as `pass` or as an
    assignment of None. Only lines that Python rejects are so read: `% b)` may continue an expression."""
    lines = list(lines)
    magic: set[int] = set()
    while True:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the cell's own compilation has warned already
                return ast.parse("\n".join(lines)), frozenset(magic)
        except SyntaxError as error:
            number = error.lineno or 0
        except (ValueError, RecursionError, MemoryError):
            return None, frozenset(magic)
        if not 1 <= number <= len(lines) or number in magic or not _MAGIC.match(lines[number - 1]):
            return None, frozenset(magic)
        line = lines[number - 1]
        assignment = _MAGIC_ASSIGNMENT.match(line)
        indent = line[: len(line) - len(line.lstrip())]
        lines[number - 1] = f"{assignment[1]} None" if assignment else f"{indent}pass"
        magic.add(number)


def _range(node: ast.AST) -> Range:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


def _assignments(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.AST]]:
    """(target, value) of every assignment; the value of `x *= 2` is the statement, as in bytecode."""
    for node in ast.walk(tree):
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


def _bound_names(tree: ast.Module) -> list[str]:
    binder = _Binder()
    binder.visit(tree)
    return list(dict.fromkeys(name for _, _, name in sorted(binder.found)))


class _Binder(ast.NodeVisitor):
    """Collects (line, column, name) of what a module binds in its own namespace."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int, str]] = []
        self._declared: set[str] | None = None  # the function's `global` names; None in the module itself

    def _bind(self, name: str | None, line: int, column: int) -> None:
        if name is not None and (self._declared is None or name in self._declared):
            self.found.append((line, column, name))

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self._bind(node.id, node.lineno, node.col_offset)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        self._bind(
            name, node.end_lineno, node.end_col_offset
        )  # it stands last: `{**name}`, `*name`, `... as name`
        self.generic_visit(node)

    visit_MatchStar = visit_MatchMapping = visit_MatchAs

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:  # a bare `x: int` binds nothing
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._bind(node.name, node.lineno, node.col_offset)
        for field, value in ast.iter_fields(node):
            if field not in ("body", "type_params"):
                self._visit_all(value)
        self._visit_scope(node.body, _declared_global(node.body))

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self._visit_scope(node.body, set())

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._visit_all([node.iter, *node.ifs])  # its targets are its own, but a walrus in it binds outside

    def _visit_scope(self, body: Any, declared: set[str]) -> None:
        before, self._declared = self._declared, declared
        self._visit_all(body)
        self._declared = before

    def _visit_all(self, field: Any) -> None:
        for item in field if isinstance(field, list) else [field]:
            if isinstance(item, ast.AST):
                self.visit(item)


def _declared_global(body: list[ast.stmt]) -> set[str]:
    """Names declared `global` in a function's own body, leaving out functions and classes inside it."""
    names: set[str] = set()
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Global):
            names.update(node.names)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))
    return names
