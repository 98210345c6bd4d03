"""Numbers that leave a library: whether they are only read, or come back as something that nobody records.

Note [Numbers that leave]
    `print(x.item())` reads a number. `losses.append(x.item())` keeps it, which is harmless as long as the
    cell does nothing with `losses` but print it, plot it or append to it: everything else could bring the
    number back into a tensor, into a branch, or into a learning rate. So lists are noted, and their uses are
    looked up in the source when the cell has ended.
"""

from __future__ import annotations

import ast
import builtins
import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from ..isolation import pass_on

READERS = ("print", "display")
PLOTTING = ("matplotlib", "seaborn", "plotly", "pandas")
KEEPERS = (list, dict, defaultdict)


class Keeper(NamedTuple):
    """A list, or a dictionary of lists, to which numbers were appended: its variable, the thing itself, the
    source of the statement and its line."""

    name: str
    thing: Any
    origin: int
    line: int


class Use(NamedTuple):
    """A line that does something else with a keeper, and whether the loop that fills it does so."""

    name: str
    line: int
    looped: bool


@functools.lru_cache(64)
def call_of(statement: str) -> ast.Call | None:
    """The call that a statement consists of."""
    try:
        body = ast.parse(statement.strip()).body
    except SyntaxError as refused:
        pass_on(refused)
        return None
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    return call if isinstance(call, ast.Call) else None


def is_print(call: ast.Call, known: Mapping[str, Any]) -> bool:
    """Whether a call is one of Python's `print` or IPython's `display`, not of a function of that name."""
    name = getattr(call.func, "id", "")
    found = known.get(name, getattr(builtins, name, None))
    return name in READERS and str(getattr(found, "__module__", "")).startswith(("builtins", "IPython"))


def appended_to(call: ast.Call) -> str | None:
    """The variable in `losses.append(…)` or `history["train"].append(…)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    return root_name(call.func.value, (ast.Subscript,))


def root_name(node: ast.expr, through: tuple[type[ast.expr], ...]) -> str | None:
    """The variable at the root of attributes and subscripts."""
    while isinstance(node, through):
        node = node.value  # type: ignore[attr-defined]
    return node.id if isinstance(node, ast.Name) else None


def uses_of(keepers: Sequence[Keeper], trees: Any, namespace: Mapping[str, Any]) -> Iterator[Use]:
    """What a cell does with keepers other than to read them; `trees` gives the syntax tree of a source."""
    for keeper in {(each.name, each.origin, each.line): each for each in keepers}.values():
        tree = trees(keeper.origin) or ast.Module([], [])
        names = {keeper.name, *(name for name, value in list(namespace.items()) if value is keeper.thing)}
        loops = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.For | ast.While) and covers(node, keeper.line)
        ]
        for node in loads(tree, names, namespace):
            looped = not loops or any(covers(loop, node.lineno) for loop in loops)
            yield Use(node.id, node.lineno, looped)


def covers(node: ast.stmt, line: int) -> bool:
    """Whether a statement extends over a line."""
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def loads(node: ast.AST, names: set[str], namespace: Mapping[str, Any]) -> Iterator[ast.Name]:
    """Where variables are used, except places that only read them."""
    if isinstance(node, ast.Call) and is_harmless(node, names, namespace):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Name):
        return  # a cell shows it
    if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from loads(child, names, namespace)


def is_harmless(call: ast.Call, names: set[str], namespace: Mapping[str, Any]) -> bool:
    """Whether a call does not bring back the numbers that it is given: it prints, plots, counts or appends to
    the same list."""
    if is_print(call, namespace) or appended_to(call) in names or getattr(call.func, "id", "") == "len":
        return True
    found = namespace.get(root_name(call.func, (ast.Attribute, ast.Subscript)) or "")
    told = found.__name__ if isinstance(found, ModuleType) else str(type(found).__module__)
    return told.startswith(PLOTTING)
