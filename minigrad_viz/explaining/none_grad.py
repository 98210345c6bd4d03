"""A `.grad` that was None where a tensor was expected: `0.1 * x.grad`, `x.grad.zero_()`; and other tensors
that were lost on the way."""

from __future__ import annotations

import ast

from ..trace.events import TensorState
from ..trace.explained import Explanation
from .case import Case, Values, rule
from .edits import quoted, requiring
from .failed_call import FailedCall, call_rule, raised_by_hand
from .leaf_behind import leaf_behind
from .operands import standing
from .rebound import reads, rebound, updated, why_and_fix
from .syntax import assignments, expression, span_at, statement_around
from .why_none import Answer, Facts, from_scenes, in_general


@rule("none_grad", "^(?:TypeError|AttributeError): .*'?NoneType'?")
def none_grad(case: Case) -> Explanation | None:
    """The gradient that a failing expression used is None: why it is."""
    found = without_gradient(case)
    if case.failed is None or raised_by_hand(case) or found is None:
        return None
    text, state = found
    lost = None if state.is_leaf and state.requires_grad else rebound(case, state.id)
    hidden = None if state.is_leaf else leaf_behind(case, state.id)
    if lost is not None or hidden is not None:
        marks = case.card(state.id, label=case.words("mark_computed"))
        why, fix = why_and_fix(case, lost) if lost is not None else hidden[:2]  # type: ignore[index]
        return case.explain(why, fix, marks, hidden[2] if lost is None else lost.span)  # type: ignore[index]
    answer = answered(case, text, state)
    if answer is None:
        return case.explain("none_grad_why", name=text)
    fix = FIXES.get(answer.key, "")
    fix = (requiring(case, [state.id]) if fix == "none_grad_flag_fix" else None) or answer.repair or fix
    return case.explain("", fix, case.card(state.id), name=text)._replace(why=answer.sentence)


def without_gradient(case: Case) -> tuple[str, TensorState] | None:
    """The tensor whose `.grad` the expression reads, and that has none, with its text; None if there are
    several."""
    found: dict[str, TensorState] = {}
    tree = expression(case.span)
    for part in () if tree is None else ast.walk(tree):
        if isinstance(part, ast.Attribute) and part.attr == "grad":
            text = ast.unparse(part.value)
            state = standing(case, text)
            if state is not None and state.grad is None:
                found.setdefault(text, state)
    return next(iter(found.items())) if len(found) == 1 else None


def answered(case: Case, text: str, state: TensorState) -> Answer | None:
    """Why the gradient is None."""
    if not case.scene.index.calls and not case.trace.skipped and state.requires_grad:
        return Answer("none_grad_early", case.words("none_grad_early", name=text))
    dtype = "" if state.value is None else state.value.dtype
    facts = Facts(text, dtype, state.requires_grad, state.is_leaf, bool(state.retains_grad), None)
    return from_scenes(case.scenes, state.id, facts, case.lang) or in_general(facts, case.lang)


FIXES = {  # what to do, by the reason
    "none_grad_early": "none_grad_early_fix",
    "why_grad_call": "none_grad_call_fix",
    **dict.fromkeys(("why_no_flag", "why_no_flag_cut"), "none_grad_flag_fix"),
    **dict.fromkeys(("why_not_leaf", "why_not_leaf_value", "why_retained_late"), "non_leaf_grad_fix"),
    **dict.fromkeys(("why_reset_at", "why_reset_since"), "none_grad_reset_fix"),
    **dict.fromkeys(("why_no_path", "why_not_in_graph"), "none_grad_skip_fix"),
    **dict.fromkeys(("why_cut", "why_new_leaf", "why_new_leaf_at_once"), "none_grad_cut_fix"),
}


@rule("assigned_parameter", "^TypeError: cannot assign '[^']*Tensor' as parameter '[^']*'")
def assigned_parameter(case: Case) -> Explanation | None:
    """A computed tensor was to take the place of a parameter of a module: `m.weight = m.weight - …`."""
    tree = None if raised_by_hand(case) else statement_around(case, case.span)
    if not isinstance(tree, ast.Assign) or len(tree.targets) != 1:
        return None
    name = ast.unparse(tree.targets[0])
    update = quoted(updated(case, tree, tree.value, name)) if reads(tree.value, f"{name}.grad") else None
    fix = "assigned_parameter_fix" if update is None else "rebound_fix"
    return case.explain("assigned_parameter_why", fix, name=name, update=update)


@call_rule(
    "python_number",
    "'(?P<kind>float|int|list)' object has no .*'(?:backward|grad|requires_grad|detach|item)'",
)
def python_number(failed: FailedCall, kind: str) -> Explanation | None:
    """A Python number was used like a tensor: it was made by `item()`, or the like, on the way."""
    case, part = failed.case, failed.attribute
    if part is None:
        return None
    name = ast.unparse(part.value)
    same = [made.value for target, made in assignments(case) if target == name]
    names = {name} | {value.id for value in same if isinstance(value, ast.Name)}
    for made in case.parts():
        target = made.targets[0] if isinstance(made, ast.Assign) else getattr(made, "target", None)
        if not isinstance(made, ast.Assign | ast.AugAssign) or ast.unparse(target or made) not in names:
            continue
        text, tensor = ast.unparse(made), ast.unparse(TensorKept().visit(ast.parse(ast.unparse(made))))
        if tensor != text:
            cause = span_at(case, made)
            values: Values = {"name": name, "source": cause.text, "line": cause.line, "kind": kind}
            return case.explain("python_number_why", "python_number_fix", (), cause, code=tensor, **values)
    return None


class TensorKept(ast.NodeTransformer):
    """Leaves out what makes a Python number of a tensor: `.item()`, `.tolist()` and `float()`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The tensor instead of its number."""
        node = self.generic_visit(node)  # type: ignore[assignment]
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("item", "tolist"):
            return node.func.value
        plain = isinstance(node.func, ast.Name) and node.func.id in ("float", "int") and len(node.args) == 1
        return node.args[0] if plain else node
