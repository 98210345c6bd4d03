"""A state that a loop keeps from one iteration to the next, with the graph that computed it."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ..trace.events import BackwardStarted, Event, Forward, ModuleCalled, Snapshot, of_kinds
from ..trace.source_positions import Span
from ..words import InventedName
from .case import Case
from .edits import quote
from .syntax import expression_of_span, is_read, operands_in, statement_around, stores, tree_of


class KeptState(NamedTuple):
    """What an iteration passes on to the next one, as the source writes it (`h`, `c.h`, `hist[-1]`), and the
    statement that cuts it from its graph."""

    name: str
    detached: str


def kept_state(case: Case, first: BackwardStarted) -> KeptState | None:
    """What leads from the failing call back to a graph that the call `first` has freed; None if that is not
    certain, or if nothing gives it a new value in each iteration."""
    names: dict[str, str] = {}
    for tensor, user in crossings(case, first):
        found = holder(case, first, tensor, user)
        if found is not None:
            names.setdefault(found.name, found.detached)
    if not names or len(names) > 3:
        return None
    pairs = [each.split(" = ", 1) for each in names.values()]
    code = " = ".join(", ".join(side) for side in zip(*pairs, strict=True))
    return KeptState(", ".join(names), code)


def crossings(case: Case, first: BackwardStarted) -> list[tuple[str, Forward]]:
    """The tensors that were computed before the call `first` had ended and are used after it on the way to
    the roots of the failing call, each with the op that uses it."""
    assert case.started is not None
    inner = {node.id for node in case.started.nodes}
    begin = case.trace.events.index(first)
    found: dict[str, Forward] = {}
    for event in of_kinds(case.before[begin:], Forward):
        if event.call:
            continue
        if not any(state.node in inner for state in event.outputs):
            continue
        for id in event.inputs:
            state = None if id is None else case.made(id)
            born = None if id is None else case.scene.index.births.get(id)
            if id is None or state is None or born is None or state.node not in inner:
                continue
            if times_of(case, born) < begin:
                found.setdefault(id, event)
    return list(found.items())


def times_of(case: Case, event: Event) -> int:
    """The number of an event."""
    return case.scene.index.times[id(event)]


def holder(case: Case, first: BackwardStarted, tensor: str, user: Forward) -> KeptState | None:
    """What holds a tensor between the iterations, if something gives it a new value in each."""
    born = case.scene.index.births[tensor]
    names = [name for name in (getattr(born, "name", None),) if name]
    names += [name for name, state in rows_at(case, first) if state == tensor]
    for name in dict.fromkeys(names):
        if isinstance(name, InventedName) or tree_of(name) is None:
            continue
        if is_renewed(case, name, born.span) or is_renewed(case, name, user.span):
            return KeptState(name, f"{name} = {name}.detach()")
    text = operand_text(user, tensor)
    tree = None if text is None else tree_of(text)
    if text is not None and isinstance(tree, ast.Subscript | ast.Attribute) and case.in_loop(born.span):
        return KeptState(text, f"{text} = {text}.detach()")
    return of_several(case, user.span) or of_several(case, born.span)


def rows_at(case: Case, first: BackwardStarted) -> list[tuple[str, str]]:
    """The variables after a call, with the tensors that they were."""
    rows: list[tuple[str, str]] = []
    for event in case.earlier(Snapshot):
        if event.when == "after" and event.call == first.call:
            rows = [(name, state.id) for name, state in event.rows]
    return rows


def is_renewed(case: Case, name: str, made: Span | None) -> bool:
    """Whether a statement around a place in a loop gives a variable a new value."""
    tree = statement_around(case, made)
    if tree is None or not case.in_loop(made):
        return False
    targets = tree.targets if isinstance(tree, ast.Assign) else [getattr(tree, "target", None)]
    texts = {ast.unparse(part) for target in targets if target is not None for part in flat(target)}
    return normal(name) in texts


def normal(name: str) -> str:
    """A name as `ast` writes it."""
    return ast.unparse(ast.parse(name))


def flat(target: ast.AST) -> list[ast.AST]:
    """The targets in a tuple of them."""
    if isinstance(target, ast.Tuple | ast.List):
        return [part for each in target.elts for part in flat(each)]
    return [target]


def operand_text(user: Forward, tensor: str) -> str | None:
    """How the expression of an operator writes one of its operands."""
    tree = expression_of_span(user.span)
    if not isinstance(tree, ast.BinOp | ast.AugAssign) or tensor not in user.inputs[:2]:
        return None
    sides = list(operands_in(tree))
    return ast.unparse(sides[user.inputs.index(tensor)])


def of_several(case: Case, span: Span | None) -> KeptState | None:
    """A variable that a statement in a loop reads and gives a new value to, and that holds several tensors,
    as the state of an LSTM does."""
    tree = statement_around(case, span)
    if tree is None or not case.in_loop(span):
        return None
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and is_read(node)}
    kept = sorted(read & stores(tree))
    if len(kept) != 1:
        return None
    (name,) = kept
    tensors = {row for event in case.earlier(Snapshot) for row, _ in event.rows}
    if name in tensors:
        return KeptState(name, f"{name} = {name}.detach()")
    layers = (event for event in case.earlier(ModuleCalled) if event.span == span)
    code = quote(f"{name} = tuple(part.detach() for part in {name})")
    return KeptState(name, code) if code and any(event.kind.startswith("LSTM") for event in layers) else None
