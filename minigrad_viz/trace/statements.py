"""The statements of a text: which one an expression is in, and which of them have run.

Nothing is traced for it (that would slow down the whole cell): what is known is where the tensors were used.
"""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..isolation import pass_on

Range = tuple[int, int, int, int]  # first line (from 1), first column (from 0), last line, column after it
ROUNDS = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)
WITHIN = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


class StatementPosition(NamedTuple):
    """The innermost statement around a position: `top` is the number of the statement at the top level that
    it belongs to, `again` says whether it may run more than once, `is_within` whether the position is in a
    part of it that may (a comprehension, say)."""

    statement: ast.stmt
    top: int
    again: bool
    within: bool


def find(tree: ast.Module | None, line: int, column: int) -> StatementPosition | None:
    """The statement around a position (in bytes, as Python counts), or None."""
    body: Sequence[ast.stmt] = () if tree is None else tree.body
    statement, top, again = None, -1, False
    while True:
        i = next((i for i, s in enumerate(body) if begin(s) <= (line, column) <= end(s)), None)
        if i is None:
            break
        again = again or isinstance(statement, ROUNDS)
        top = i if statement is None else top
        statement = body[i]
        body = [inner for block in blocks(statement) for inner in block]
    if statement is None:
        return None
    within = any((p.lineno, p.col_offset) <= (line, column) < end(p) for p in loops_in(tree))
    return StatementPosition(statement, top, again, within)


def parse_source(source: str) -> ast.Module | None:
    """The syntax tree of an expression or a statement; None for what is neither, as the head of a compound
    statement."""
    for text in (f"({source}\n)", textwrap.dedent(source)):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as refused:
            pass_on(refused)
            continue
    return None


def parse_expression(source: str) -> ast.expr | None:
    """The tree of an expression; None for what is none."""
    match parse_source(source):
        case ast.Module([ast.Expr(value), *_]):
            return value
    return None


@functools.lru_cache(16)  # of each tree many positions are looked for
def loops_in(tree: ast.Module) -> tuple[Any, ...]:
    """The expressions inside a tree whose code runs many times, or elsewhere."""
    return tuple(node for node in nodes_of(tree) if isinstance(node, WITHIN))


@functools.lru_cache(16)
def nodes_of(tree: ast.Module) -> list[ast.AST]:
    """What `ast.walk` gives, once."""
    return list(ast.walk(tree))


@functools.lru_cache(16)
def places_of(tree: ast.Module) -> dict[tuple[int, int, int, int], ast.AST]:
    """The parts of a tree by where they stand, in bytes; of a statement that is an expression, the latter."""
    found: dict[tuple[int, int, int, int], ast.AST] = {}
    for node in nodes_of(tree):
        if hasattr(node, "end_col_offset") and not isinstance(node, ast.Expr):
            found.setdefault((node.lineno, node.col_offset, *end(node)), node)  # type: ignore[attr-defined]
    return found


def begin(statement: ast.stmt) -> tuple[int, int]:
    """Where a statement begins, with its decorators."""
    first = getattr(statement, "decorator_list", None) or [statement]
    return first[0].lineno, 0 if first[0] is not statement else statement.col_offset


def end(node: Any) -> tuple[int, int]:
    """Where a statement or an expression ends."""
    return node.end_lineno, node.end_col_offset


def named_blocks(statement: ast.AST) -> Iterator[tuple[str, list[ast.stmt]]]:
    """The blocks of statements inside a statement, each with the name of the field in which it is."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield name, block
    for name in ("handlers", "cases"):
        yield from ((name, holder.body) for holder in getattr(statement, name, ()))


def blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of statements inside a statement."""
    return (block for _, block in named_blocks(statement))


def evaluated_parts(
    tree: ast.AST, known: Callable[[ast.AST], bool] = lambda part: False
) -> Iterator[ast.AST]:
    """The parts of a statement that are evaluated whenever it runs, in the order of the source: not its
    blocks, nor what is inside functions and comprehensions, nor what a condition may leave out, unless that
    is `known` to have been evaluated."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        skipped = {id(part) for part in optional(node) if not known(part)}
        stack += [part for part in ast.iter_child_nodes(node) if id(part) not in skipped][::-1]


def optional(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement or an expression that it may leave out when it runs."""
    match node:
        case ast.BoolOp(values=[_, *others]) | ast.Compare(comparators=[_, *others]):
            yield from others
        case ast.IfExp(body=one, orelse=other):
            yield from (one, other)
        case ast.Lambda(body=body):
            yield body
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from ast.iter_child_nodes(node)
        case ast.Assert(msg=ast.expr() as message):
            yield message
        case ast.stmt():
            held = (getattr(node, name, ()) for name in HOLD_BLOCKS)
            yield from (part for each in held if isinstance(each, list | tuple) for part in each)


def is_within(inner: Range, outer: Range) -> bool:
    """Whether a range is part of another one."""
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def statement_head(statement: ast.stmt, lines: Sequence[str]) -> Range:
    """The range of a statement in bytes; of one that has a block, of what is before the block."""
    inside = next(blocks(statement), None)
    start = statement.lineno, statement.col_offset
    if not inside:
        return (*start, *end(statement))
    stop = start
    for field, value in ast.iter_fields(statement):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST) and field not in ("decorator_list", *HOLD_BLOCKS):
                stop = max([stop, *(end(n) for n in ast.walk(part) if hasattr(n, "end_lineno"))])
    line, column = stop
    while line < begin(inside[0])[0] and b":" not in lines[line - 1].encode()[column:]:
        line, column = line + 1, 0
    raw = lines[line - 1].encode()
    colon = raw.find(b":", column)
    return (*start, line, len(raw.rstrip()) if colon < 0 else colon)


HOLD_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class Progress:
    """Finds which statements have run, from the places where tensors were used. `come` is called with each
    such place in turn, and `upto` with the number of the statement that the top level has reached. Both
    return the statements that are new.

    `tops` are the statements at the top level, None for those that are not reported. `whole` says that all of
    them ran, one after the other.
    """

    def __init__(self, tops: Sequence[Any], whole: bool) -> None:
        self.tops = tops
        self.whole = whole
        self.top = -1
        self.last: Any = None  # the place that came last
        self.first: tuple[Any, ...] = ()  # how far the call there had come when it first used tensors

    def come(self, spot: Any, top: int, inner: tuple[Any, ...]) -> list[Any]:
        """The statements that began before tensors were used at `spot`, inside the `top`-th at the top level.

        `inner` is how far the call there had come: some calls use tensors several times.
        """
        new = self.upto(top)
        last, self.last = self.last, spot
        is_same = last is not None and last.code == spot.code and last.offset == spot.offset
        again = is_same and inner <= self.first
        if again or not is_same:
            self.first = inner
        if spot.statement is None or (spot.top == top and spot.statement is self.tops[top]):
            return new
        if last is None or last.statement is not spot.statement:
            return [*new, spot.statement]
        if not spot.again or spot.within or spot.code != last.code or spot.offset > last.offset:
            return new
        return [*new, spot.statement] if again or spot.offset < last.offset else new

    def upto(self, top: int) -> list[Any]:
        """The statements at the top level that have come to run, up to the `top`-th."""
        if top <= self.top and (self.whole or top == self.top or top < 0):
            return []
        first = self.top + 1 if self.whole else top
        self.top = top
        return [span for span in self.tops[first : top + 1] if span is not None]
