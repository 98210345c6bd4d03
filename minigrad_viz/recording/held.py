"""Tensors that the variables hold: in lists and dictionaries, and in objects of the user's own classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ..protocol import has_history, is_tensor
from .modules import held_by, is_module

MANY = 2000  # values that are looked at
DEEP = 6  # values inside values


def held_tensors(namespace: dict[str, Any]) -> list[tuple[str, Any]]:
    """Tensors with the way to each: `params[0]`, `n.w[0]`. Ways through attributes come first, because a list
    often collects what objects hold; then the shorter ones."""
    found = []
    todo = [(name, value, 0) for name, value in list(namespace.items()) if name[:1] != "_"]
    seen = {id(value) for _, value, _ in todo}
    for name, value, depth in todo:  # grows while it is read
        if is_tensor(value):
            if depth and has_history(value):
                found.append((name, value))
        elif depth < DEEP:
            inner = [each for each in inside(name, value) if id(each[1]) not in seen or is_tensor(each[1])]
            inner = inner[: max(0, MANY - len(todo))]
            seen.update(id(each) for _, each in inner)
            todo += [(way, each, depth + 1) for way, each in inner]
    return sorted(found, key=lambda each: "." not in each[0])


def inside(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What a list, a dictionary or an object of the user's holds, with the way to each."""
    if type(value) in (list, tuple):
        yield from ((f"{name}[{i}]", each) for i, each in enumerate(value[:MANY]))
    elif type(value) is dict:
        yield from ((f"{name}[{key!r}]", each) for key, each in value.items() if type(key) in (str, int))
    elif type(value).__module__ == "__main__" and not is_module(value):
        yield from ((f"{name}.{key}", each) for key, each in held_by(value).items() if key[:1] != "_")


def loop_variables(source: str) -> set[str]:
    """The variables over which a cell loops: other names for what something else holds."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return set()
    targets = (node.target for node in ast.walk(tree) if isinstance(node, ast.For))
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
