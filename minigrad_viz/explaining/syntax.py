"""The source of a cell as its syntax tree has it: which part is where, and what an expression computes
with."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator

from ..trace.source_positions import Span, range_of
from ..trace.statements import find, parse_source, places_of
from .case import Case


def tree_of(source: str) -> ast.AST | None:
    """The syntax tree of an expression, or of a statement."""
    body = getattr(parse_source(source), "body", None)
    return None if not body else body[0].value if isinstance(body[0], ast.Expr) else body[0]


def expression_of_span(span: Span | None) -> ast.AST | None:
    """The same for one of the source."""
    return None if span is None else tree_of(span.text)


def node_at(case: Case, span: Span | None) -> ast.AST | None:
    """The part of the cell's syntax tree that is at `span`."""
    if span is None or span.origin:
        return None
    tree = case.source.tree
    return None if tree is None else places_of(tree).get(case.source.in_bytes(span[:4]))


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
    """Where a part of the cell is."""
    return Span(*case.source.in_characters(range_of(tree)), written_as(case, tree))


def function_around(case: Case, where: Span | None) -> ast.AST | None:
    """The innermost function around a place in the cell; None at its top level, and elsewhere."""
    if where is None or where.origin:
        return None
    found = [
        part
        for part in case.syntax()
        if isinstance(part, ast.FunctionDef | ast.Lambda)
        and (part.lineno, part.col_offset) <= (where.line, where.column)
        and (where.end_line, where.end_column) <= (part.end_lineno or 0, part.end_col_offset or 0)
    ]
    return max(found, key=lambda part: (part.lineno, part.col_offset), default=None)


def normal_source(source: str) -> str:
    """An expression as `ast` writes it."""
    tree = parse_source(source)
    return "" if tree is None else ast.unparse(tree)


def before_dot_source(source: str) -> str:
    """An expression as it is written before a dot: in brackets if it is a computation."""
    value = tree_of(source)
    return source if isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call) else f"({source})"


def last_part_of_name(node: ast.AST) -> str:
    """The last part of a dotted name: `gradcheck` of `torch.autograd.gradcheck`."""
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


def last_name(call: ast.Call) -> str:
    """The name of what is called, without its prefix."""
    return last_part_of_name(call.func)


def constants(nodes: Iterable[ast.expr]) -> tuple[object, ...]:
    """The literals in some parts of the source; None for anything else."""
    return tuple(node.value if isinstance(node, ast.Constant) else None for node in nodes)


def assignments(case: Case) -> list[tuple[str, ast.Assign]]:
    """The assignments of the cell that ran, each with its first target as text."""
    return [(ast.unparse(part.targets[0]), part) for part in case.executed(ast.Assign)]


def assigned_in(case: Case, name: str, scope: ast.AST | None) -> list[ast.AST]:
    """The parts of the text that may give a variable a new value, in the order of the source; of a plain name
    those in its function, or at the top level (None)."""
    parts = (part for part in case.syntax() if name in targets_of(part))
    found = [part for part in parts if not name.isidentifier() or scope_of(case, part) is scope]
    return sorted(found, key=lambda part: (part.lineno, part.col_offset))  # type: ignore[attr-defined]


def scope_of(case: Case, part: ast.AST) -> ast.AST | None:
    """The function in which a part of the cell has its variables; None for the top level."""
    return function_around(case, span_at(case, part))


def targets_of(part: ast.AST) -> set[str]:
    """The variables, and their attributes and items, to which a part of the source gives new values."""
    match part:
        case ast.Assign(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            targets = [target]
        case ast.For(target=target):
            targets = [target]
        case ast.With(items=items):
            targets = [item.optional_vars for item in items if item.optional_vars is not None]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case _:
            return set()
    inside = (each for target in targets for each in argument_items(target))
    return {ast.unparse(each) for each in inside}


def is_read(name: ast.Name | ast.Attribute) -> bool:
    """Whether a name, or an attribute, stands for its value."""
    return isinstance(name.ctx, ast.Load)


def stores(tree: ast.AST) -> set[str]:
    """The names that a part of the source assigns."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in nodes if not is_read(node)}


def assigned_once(case: Case, name: str) -> ast.expr | None:
    """What a variable is assigned, if the text gives it a value exactly once, and that ran; of one of several
    targets, a call that gives them all."""
    others = [p for p in case.syntax() if name in (getattr(p, "arg", None), getattr(p, "name", None))]
    stored = [n for n in case.syntax() if isinstance(n, ast.Name) and n.id == name and not is_read(n)]
    made = [each for each in case.executed(ast.Assign) if name in stores(each)]
    if others or len(stored) != 1 or len(made) != 1:
        return None
    plain = isinstance(made[0].targets[0], ast.Name) or isinstance(made[0].value, ast.Call)
    return made[0].value if plain else None


def assigned_above(case: Case, name: str) -> list[ast.expr]:
    """What a variable was assigned in the lines above the failing one, the last first, as far back as it is
    known that each of them ran."""
    line, scope = case.line(case.span) or 0, function_around(case, case.span)
    above = [each for each in assigned_in(case, name, scope) if each.lineno < line]  # type: ignore[attr-defined]
    sure = itertools.takewhile(lambda each: isinstance(each, ast.Assign) and case.ran(each), above[::-1])
    return [each.value for each in sure if ast.unparse(each.targets[0]) == name]  # type: ignore[attr-defined]


def dim_in(call: ast.AST | None) -> int:
    """The dimension that a call is given as a number; 0 where the source does not say it so."""
    if not isinstance(call, ast.Call):
        return 0
    told = [each.value for each in call.keywords if each.arg in ("dim", "axis")]
    told += [each for each in call.args if isinstance(each, ast.Constant | ast.UnaryOp)]
    try:
        return int(ast.literal_eval(told[0])) if told else 0
    except (ValueError, TypeError):
        return 0


# ── the operands of an expression ───────────────────────────────────────────────────────────────────────────


def receiver(node: ast.AST | None) -> str | None:
    """What a call is a method of, or what a statement writes to."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute | ast.Subscript):
        return ast.unparse(node.value)
    return ast.unparse(node.target) if isinstance(node, ast.AugAssign) else None


def operands_in(node: ast.AST | None) -> Iterator[ast.expr]:
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
            yield from operands_in(target)  # `x[mask] = y` fails for the mask as well
        case ast.Attribute(value=value):
            yield value
        case ast.Subscript(value=value, slice=index):
            yield value
            yield from argument_items(index)
        case ast.Call(func=func, args=given, keywords=options):
            if isinstance(func, ast.Attribute):
                yield func.value
            for argument in (*given, *(option.value for option in options)):
                yield from argument_items(argument)


def argument_items(node: ast.expr | None) -> Iterator[ast.expr]:
    """An argument, or what is in it if it is a list, a tuple or a dictionary."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        for part in node.values if isinstance(node, ast.Dict) else node.elts:
            yield from argument_items(part)
    elif node is not None:
        yield node
