"""Roots that are gradients: one that was computed without create_graph=True has no graph."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ..model.births import by_number, made_by, sources_of
from ..trace.events import BackwardStarted, Created, Deposited, Failed, GradSet, NodeRan
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from ..trace.where import Span
from .case import Case, Values
from .edits import call_with
from .syntax import assigned_once, span_at

# Why a root has no graph: the call built none; it built one, but it leads nowhere; nobody saw the call.
ITSELF = (
    "no_grad_fn_why_gradient",
    "no_grad_fn_why_gradient_constant",
    "no_grad_fn_why_gradient_unseen",
)
FROM_ONE = (
    "no_grad_fn_why_from_gradient",
    "no_grad_fn_why_from_gradient_constant",
    "no_grad_fn_why_from_gradient_unseen",
)


class Gradient(NamedTuple):
    """A tensor that is a gradient, and the call that computed it (None: nobody saw that)."""

    tensor: str
    call: BackwardStarted | None


def of_gradient(case: Case, root: str) -> Explanation | None:
    """The explanation for a root that is a gradient, or was computed from gradients and from nothing that
    requires gradients; None for any other."""
    span = assigned_by(case, root)
    found = gradients_behind(case, root) if span is None else [Gradient(root, None)]
    if not found:
        return None
    gradient, call = found[0], found[0].call
    plain, constant, unseen = ITSELF if gradient.tensor == root else FROM_ONE
    span = span if call is None else call.span
    values: Values = {"root": name_of(case, root), "gradient": name_of(case, gradient.tensor), "made": span}
    marks = case.card(root, label=case.words("mark_no_graph"))
    if gradient.tensor != root:
        marks += case.card(gradient.tensor, CAUSE, case.words("mark_no_graph"))
    if call is None and span is None:
        return case.explain(unseen, "no_grad_fn_fix_gradient_unseen", marks, **values)
    if call is not None and call.create_graph:
        return case.explain(constant, "", marks, span, **values)
    mended = call_with(span, "create_graph")
    fix = "no_grad_fn_fix_gradient_at" if mended is None else "no_grad_fn_fix_gradient"
    return case.explain(plain, fix, marks, span, call=mended, **values)


def gradients_behind(case: Case, root: str) -> list[Gradient]:
    """The gradients that a root is, or was computed from; the root itself comes first."""
    born = case.scene.index.births
    behind = by_number(sources_of(born, root) - {root})
    found = ((id, gradient_at(case, id, born.get(id))) for id in (root, *behind))
    return [Gradient(id, call) for id, (is_one, call) in found if is_one]


def gradient_at(case: Case, tensor: str, made: object) -> tuple[bool, BackwardStarted | None]:
    """Whether a tensor is known to be a gradient, and the call that computed it."""
    if not isinstance(made, Created) or made.span is not None or made.tensor.node is not None:
        return False, None
    if made.call:
        return True, case.scene.index.calls[made.call].started
    if made.gradient_of:
        return True, deposited_by(case, made)
    return any(text.endswith(".grad") for text in texts_of(case, tensor)), None


def texts_of(case: Case, tensor: str) -> list[str]:
    """How the expression that ended the cell names a tensor."""
    failed = (event for event in case.trace.events[case.time :] if isinstance(event, Failed))
    return [text for event in failed for text, state in event.named if state.id == tensor]


def name_of(case: Case, tensor: str) -> str:
    """What to call a gradient: its variable, else as it is written in the expression that failed."""
    written = [] if tensor in case.scene.named else texts_of(case, tensor)
    return written[0] if written else case.name(tensor)


def assigned_by(case: Case, tensor: str) -> Span | None:
    """The call of `grad()` by which the source gives a tensor its name, in code that was not recorded: if
    that name is given a value nowhere else, and the call builds no graph."""
    names = [text for text in texts_of(case, tensor) if text.isidentifier()]
    if case.trace.recorded or not names:
        return None
    call = assigned_once(case, names[0])
    call = call.value if isinstance(call, ast.Subscript) else call
    return span_at(case, call) if isinstance(call, ast.Call) and is_plain_grad(call) else None


def is_plain_grad(call: ast.Call) -> bool:
    """Whether a call is one of `autograd.grad` that builds no graph."""
    function = ast.unparse(call.func)
    told = [keyword for keyword in call.keywords if keyword.arg in ("create_graph", None)]
    off = all(isinstance(k.value, ast.Constant) and k.value.value is False for k in told)
    return off and len(call.args) < 5 and (function == "grad" or function.endswith("autograd.grad"))


def deposited_by(case: Case, made: Created) -> BackwardStarted | None:
    """The last call that added to the `.grad` which `made` tells of; None if the cell set that itself."""
    nodes = {s.node for e in case.before for s in made_by(e) if s.id == made.gradient_of} - {None}
    last = 0
    for event in case.before:
        if event is made:
            break
        if isinstance(event, NodeRan):  # its own node, if it is no leaf
            last = event.call if event.node in nodes else last
        elif isinstance(event, Deposited | GradSet) and event.tensor == made.gradient_of:
            assigned = isinstance(event, GradSet) and event.how == "assigned"
            last = event.call if isinstance(event, Deposited) else 0 if assigned else last
    return case.scene.index.calls[last].started if last else None
