"""The optimizers of a cell, as its source has them: what they were given, and where they step."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from .case import Case
from .syntax import written_as

# The classes of `torch.optim`.
CLASSES = (
    "SGD", "ASGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop",
    "LBFGS",
)  # fmt: skip


class Optimizer(NamedTuple):
    """The variable `name` was assigned an optimizer by `call`; `given` are the variables in its first
    argument, which stands there as `parameters`."""

    name: str
    call: ast.Call
    given: frozenset[str]
    parameters: str


class Loop(NamedTuple):
    """Where the calls of a training step stand, each in the order of the source."""

    step: ast.Call
    backward: ast.Call | None
    reset: ast.Call | None


def optimizers_of(case: Case) -> list[Optimizer]:
    """The optimizers that the cell creates and that take steps."""
    found = []
    for part in case.parts():
        if not isinstance(part, ast.Assign) or not isinstance(part.value, ast.Call) or not part.value.args:
            continue
        if ast.unparse(part.value.func).rpartition(".")[2] not in CLASSES:
            continue
        first = part.value.args[0]
        given = frozenset(each.id for each in ast.walk(first) if isinstance(each, ast.Name))
        name = ast.unparse(part.targets[0])
        if loop_of(case, name) is not None:
            found.append(Optimizer(name, part.value, given, written_as(case, first)))
    return found


def loop_of(case: Case, name: str) -> Loop | None:
    """The training step of an optimizer: its only `step()`, with the only backward call and the only reset in
    the same block."""
    for block in (block for part in case.parts() for block in blocks_in(part)):
        calls = [call for call in map(call_in, block) if call is not None]
        steps = [call for call in calls if ast.unparse(call.func) == f"{name}.step"]
        if len(steps) == 1:
            back = [call for call in calls if is_method(call, "backward")]
            reset = [call for call in calls if is_method(call, "zero_grad")]
            return Loop(steps[0], *(group[0] if len(group) == 1 else None for group in (back, reset)))
    return None


def blocks_in(part: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of statements that a part of the source has."""
    found = (getattr(part, name, None) for name in ("body", "orelse"))
    return [block for block in found if isinstance(block, list)]


def call_in(statement: ast.stmt) -> ast.Call | None:
    """The call that a statement is."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return value if isinstance(value, ast.Call) else None


def is_method(call: ast.Call, name: str) -> bool:
    """Whether a call is one of a method."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == name


def base_of_name(name: str) -> str:
    """The variable in a name: `a` of `a.0.weight`."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]
