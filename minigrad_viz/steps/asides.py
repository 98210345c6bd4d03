"""Statements that compute no tensor and yet belong to the story: they change what backward will do, or check
it."""

from __future__ import annotations

import ast
import functools
from typing import NamedTuple

CALLS = {
    "requires_grad_": "step_requires_grad",
    "retain_grad": "step_retain_grad",
    "register_hook": "step_register_hook",
    "gradcheck": "step_gradcheck",
    "gradgradcheck": "step_gradcheck",
}


class Aside(NamedTuple):
    """What to tell of a statement: the text's key in the catalogue, and the variable that it is about ("" for
    none)."""

    key: str
    variable: str


@functools.lru_cache(maxsize=256)
def aside(statement: str) -> Aside | None:
    """What to tell of a statement with this text; None if nothing."""
    if not any(name in statement for name in CALLS):
        return None
    try:
        body = ast.parse(statement).body
    except (SyntaxError, ValueError):  # the head of a compound statement, say
        return None
    for call in (node for part in body for node in ast.walk(part) if isinstance(node, ast.Call)):
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if CALLS.get(name) == "step_gradcheck":
            return Aside("step_gradcheck", "")
        if name in CALLS and isinstance(holder, ast.Name) and not (name == "requires_grad_" and call.args):
            return Aside(CALLS[name], holder.id)
    return None
