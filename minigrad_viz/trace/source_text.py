"""A text of Python as the compiler saw it: which code fits it, which expressions its bytecode means, and what
its values are named.

Python's compiler reports columns in UTF-8 bytes; all that leaves this module is in characters.
"""

from __future__ import annotations

import ast
import dis
import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property, lru_cache
from types import CodeType

from ..faults import pass_on
from ..silence import silence
from .statements import Range, nodes_of


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
        """The syntax tree, or None if the text is no Python."""
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
