"""Statements that compute no tensor and yet belong to the story: they change what backward will do, or check
it."""

from __future__ import annotations

import ast
import functools
from typing import NamedTuple

from ..model.handles import handling

CALLS = {
    "retain_grad": "step_retain_grad",
    "gradcheck": "step_gradcheck",
    "gradgradcheck": "step_gradcheck",
    "check_gradients": "step_gradcheck",
}
HOOKS = {
    "tensor": "step_register_hook",
    "post_accumulate": "step_register_late",
    "pre": "step_register_prehook",
    "post": "step_register_posthook",
}


class Aside(NamedTuple):
    """What to tell of a statement: the text's key in the catalogue, and the variable that it is about ("" for
    none)."""

    key: str
    variable: str


@functools.lru_cache(maxsize=256)
def aside(statement: str) -> Aside | None:
    """What to tell of a statement with this text; None if nothing. Whether a `handle.remove()` is about a
    hook, only the trace knows; it is about no variable here."""
    if "register_" in statement:
        told = next((told for told in handling(statement) if told.kind), None)
        if told is not None:
            return Aside(HOOKS[told.kind], told.variable)
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
        if name in CALLS and isinstance(holder, ast.Name):
            return Aside(CALLS[name], holder.id)
    return None
