"""What statements of a cell read, by the source alone: which tensor a name stood for when one of them ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..recording.named import ELSEWHERE
from ..trace.events import Created, Detached, Event, Forward, Left, Snapshot, Statement, Trace
from ..trace.source_text import SourceText
from ..trace.statements import find
from ..trace.where import Span
from .syntax import stores


class Reading(NamedTuple):
    """A statement in the cell's own namespace that begins to run: its event and the number of that, its
    syntax tree, and the tensors that variables stood for. What a variable was assigned by other means than by
    an operation is not known."""

    event: Statement
    time: int
    tree: ast.stmt
    names: dict[str, str]


def readings(trace: Trace) -> Iterator[Reading]:
    """The statements of a cell that run in its own namespace, in order."""
    text = SourceText(trace.source)
    if text.tree is None:
        return
    names: dict[str, str] = {}
    known: dict[Span, tuple[ast.stmt | None, set[str]]] = {}  # the statements by where they stand
    inner, unknown = inside_functions(text.tree), declared(text.tree)
    for time, event in enumerate(trace.events):
        span = getattr(event, "span", None)
        if span is not None and (span.origin or span.line in inner):
            continue
        names |= {name: id for name, id in named_by(event) if name not in unknown}
        if not isinstance(event, Statement) or span is None:
            continue
        if span not in known:
            found = statement_at(text, span)
            known[span] = found, set() if found is None else stores(found)
        tree, lost = known[span]
        if tree is not None:
            yield Reading(event, time, tree, names.copy())
            for name in lost:
                names.pop(name, None)


def named_by(event: Event) -> Iterator[tuple[str, str]]:
    """The variables that an event tells of, with the tensors that they are."""
    if isinstance(event, Snapshot):
        yield from ((name, state.id) for name, state in event.rows)
    elif isinstance(event, Forward) and event.name is not None and len(event.outputs) == 1:
        yield event.name, event.outputs[0].id
    elif isinstance(event, Created | Detached | Left) and event.name is not None:
        yield event.name, event.tensor.id


def statement_at(text: SourceText, span: Span) -> ast.stmt | None:
    """The innermost statement that begins where `span` does."""
    column = len(text.lines[span.line - 1][: span.column].encode())
    found = find(text.tree, span.line, column)
    return None if found is None else found.statement


def declared(tree: ast.AST) -> set[str]:
    """The names that functions may give new values to."""
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


def inside_functions(tree: ast.AST) -> set[int]:
    """The lines that belong to functions and classes, where names are their own."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return {line for node in found for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def evaluated(tree: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that are evaluated when it runs: not its block, nor what is inside functions
    and comprehensions."""
    blocks = ("body", "orelse", "finalbody", "handlers", "cases")
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        yield node
        fields = ast.iter_fields(node)
        parts = [part for name, part in fields if not (node is tree and name in blocks)]
        flat = [each for part in parts for each in (part if isinstance(part, list) else [part])]
        nodes = [each for each in reversed(flat) if isinstance(each, ast.AST)]
        stack += [each for each in nodes if not isinstance(each, ELSEWHERE)]
