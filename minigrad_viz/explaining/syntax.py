"""The source of a cell as its syntax tree has it: what stands where, and what an expression computes with."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..recording.named import parsed
from ..trace.source_text import range_of
from ..trace.statements import find
from ..trace.where import Span
from .case import Case


def expression(span: Span | None) -> ast.AST | None:
    """The syntax tree of an expression, or of a statement, of the source."""
    body = getattr(None if span is None else parsed(span.text), "body", None)
    if not body:
        return None
    return body[0].value if isinstance(body[0], ast.Expr) else body[0]


def node_at(case: Case, span: Span | None) -> ast.AST | None:
    """The part of the cell's syntax tree that stands at `span`."""
    if span is None or span.origin:
        return None
    where = span.line, span.column, span.end_line, span.end_column
    places = (part for part in case.parts() if hasattr(part, "end_col_offset"))
    return next((part for part in places if case.source.in_characters(range_of(part)) == where), None)


def statement_around(case: Case, place: Span | ast.AST | None) -> ast.stmt | None:
    """The innermost statement of the cell around an expression."""
    if isinstance(place, ast.AST):
        line, column = place.lineno, place.col_offset  # type: ignore[attr-defined]
    elif place is None or place.origin or not 0 < place.line <= len(case.source.lines):
        return None
    else:
        line, column = place.line, len(case.source.lines[place.line - 1][: place.column].encode())
    found = find(case.source.tree, line, column)
    return None if found is None else found.statement


def written_as(case: Case, tree: ast.AST) -> str:
    """A part of the cell as it is written there."""
    return case.source.cut(case.source.in_characters(range_of(tree)))


def span_at(case: Case, tree: ast.AST) -> Span:
    """Where a part of the cell stands."""
    return Span(*case.source.in_characters(range_of(tree)), written_as(case, tree))


def plain(source: str) -> str:
    """An expression as `ast` writes it."""
    tree = parsed(source)
    return "" if tree is None else ast.unparse(tree)


def called(source: str) -> str:
    """An expression as it stands before a dot: in brackets if it is a computation."""
    try:
        value = ast.parse(f"({source}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        return f"({source})"
    return source if isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call) else f"({source})"


def last_name(call: ast.Call) -> str:
    """The name of what is called, without what stands before it."""
    return ast.unparse(call.func).rpartition(".")[2]


def constants(nodes: Iterable[ast.expr]) -> tuple[object, ...]:
    """What stands in some parts of the source as literals; None for anything else."""
    return tuple(node.value if isinstance(node, ast.Constant) else None for node in nodes)


def assignments(case: Case) -> list[tuple[str, ast.Assign]]:
    """The assignments of the cell, each with its first target as text."""
    found = [part for part in case.parts() if isinstance(part, ast.Assign)]
    return [(ast.unparse(part.targets[0]), part) for part in found]


def assigned_above(case: Case, name: str) -> list[ast.expr]:
    """What a variable was assigned in the lines above the failing one, the last first."""
    line = case.line(case.span) or 0
    values = [part.value for target, part in assignments(case) if target == name and part.lineno < line]
    return sorted(values, key=lambda value: -value.lineno)


# ── the operands of an expression ───────────────────────────────────────────────────────────────────────────


def receiver(node: ast.AST | None) -> str | None:
    """What a call is a method of, or what a statement writes to."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute | ast.Subscript):
        return ast.unparse(node.value)
    return ast.unparse(node.target) if isinstance(node, ast.AugAssign) else None


def taken(node: ast.AST | None) -> Iterator[ast.expr]:
    """The parts of an expression that are its operands."""
    match node:
        case ast.BinOp(left=left, right=right):
            yield from (left, right)
        case ast.Compare(left=left, comparators=others):
            yield from (left, *others)
        case ast.AugAssign(target=target, value=value):
            yield from (target, value)
        case ast.Assign(targets=[target, *_], value=value):
            yield from (target, value)
            yield from taken(target)  # `x[mask] = y` fails for the mask as well
        case ast.Attribute(value=value):
            yield value
        case ast.Subscript(value=value, slice=index):
            yield value
            yield from flat(index)
        case ast.Call(func=func, args=given, keywords=options):
            if isinstance(func, ast.Attribute):
                yield func.value
            for argument in (*given, *(option.value for option in options)):
                yield from flat(argument)


def flat(node: ast.expr | None) -> Iterator[ast.expr]:
    """An argument, or what stands in it if it is a list, a tuple or a dictionary."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        for part in node.values if isinstance(node, ast.Dict) else node.elts:
            yield from flat(part)
    elif node is not None:
        yield node
