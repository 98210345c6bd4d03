"""A `.grad` that was None where a tensor was expected: `0.1 * x.grad`, `x.grad.zero_()`."""

from __future__ import annotations

import ast
import re

from ..trace.events import TensorState
from ..trace.explained import Explanation
from .case import Case, ErrorRule, rule
from .edits import created_so
from .leaf_behind import leaf_behind
from .optimizers import span_at
from .rebound import reads, rebound, updated, why_and_fix
from .rewrite import quoted, statement_around, written_as
from .subject import Subject, expression, raised_by_hand, standing
from .why_none import Answer, Facts, from_scenes, in_general


def none_grad(case: Case, match: re.Match[str]) -> Explanation | None:
    """The gradient that a failing expression used is None: why it is."""
    if case.failed is None or raised_by_hand(case):
        return None
    found = without_gradient(case)
    if found is None:
        return None
    lost = rebound(case, found.id) if not found.state.is_leaf or not found.state.requires_grad else None
    if lost is not None:
        why, fix = why_and_fix(case, lost)
        marks = case.card(found.id, label=case.words("mark_computed"))
        return case.explain("none_grad", why, fix, marks, lost.span)
    hidden = None if found.state.is_leaf else leaf_behind(case, found.id)
    if hidden is not None:
        marks = case.card(found.id, label=case.words("mark_computed"))
        return case.explain("none_grad", *hidden[:2], marks, hidden[2])
    answer = answered(case, found)
    if answer is None:
        return case.explain("none_grad", case.words("none_grad_why", name=found.text))
    key = FIXES.get(answer.key)
    fix = case.words(key, name=found.text) if key is not None else ""
    made = created_so(case, [found.id]) if key == "none_grad_flag_fix" else None
    fix = fix if made is None else made
    return case.explain("none_grad", answer.sentence, fix, case.card(found.id))


def without_gradient(case: Case) -> Subject | None:
    """The tensor whose `.grad` the expression reads, and that has none; None if there are several."""
    found: dict[str, TensorState] = {}
    tree = expression(case)
    for part in () if tree is None else ast.walk(tree):
        if isinstance(part, ast.Attribute) and part.attr == "grad":
            text = ast.unparse(part.value)
            state = standing(case, text)
            if state is not None and state.grad is None:
                found.setdefault(text, state)
    return Subject(*next(iter(found.items()))) if len(found) == 1 else None


def answered(case: Case, found: Subject) -> Answer | None:
    """Why the gradient is None."""
    state = found.state
    dtype = "" if state.value is None else state.value.dtype
    facts = Facts(found.text, dtype, state.requires_grad, state.is_leaf, bool(state.retains_grad), None)
    none = not case.scene.index.calls and not case.trace.skipped
    if none and state.requires_grad:
        return Answer("none_grad_early", case.words("none_grad_early", name=found.text))
    return from_scenes(case.scenes, found.id, facts, case.lang) or in_general(facts, case.lang)


FIXES = {  # what to do, by the reason
    "none_grad_early": "none_grad_early_fix",
    "why_no_flag": "none_grad_flag_fix",
    "why_no_flag_made": "none_grad_flag_fix",
    "why_not_leaf": "non_leaf_grad_fix",
    "why_not_leaf_value": "non_leaf_grad_fix",
    "why_retained_late": "non_leaf_grad_fix",
    "why_reset_at": "none_grad_reset_fix",
    "why_reset_since": "none_grad_reset_fix",
    "why_grad_call": "none_grad_call_fix",
    "why_no_path": "none_grad_skip_fix",
    "why_not_in_graph": "none_grad_skip_fix",
    "why_cut": "none_grad_cut_fix",
    "why_new_leaf": "none_grad_cut_fix",
    "why_new_leaf_at_once": "none_grad_cut_fix",
}


def assigned_parameter(case: Case, match: re.Match[str]) -> Explanation | None:
    """A computed tensor was to take the place of a parameter of a module: `m.weight = m.weight - …`."""
    tree = None if raised_by_hand(case) else statement_around(case, case.span)
    if not isinstance(tree, ast.Assign) or len(tree.targets) != 1:
        return None
    name = ast.unparse(tree.targets[0])
    why = case.words("assigned_parameter_why", name=name)
    learns = reads(tree.value, f"{name}.grad")
    update = quoted(updated(case, tree, tree.value, name)) if learns else None
    if update is None:
        return case.explain("assigned_parameter", why, case.words("assigned_parameter_fix", name=name))
    return case.explain("assigned_parameter", why, case.words("rebound_fix", update=update))


def python_number(case: Case, match: re.Match[str]) -> Explanation | None:
    """A Python number was used like a tensor: it was made by `item()`, or the like, on the way."""
    tree = expression(case)
    part = tree.func if isinstance(tree, ast.Call) else tree
    if case.failed is None or raised_by_hand(case) or not isinstance(part, ast.Attribute):
        return None
    name = ast.unparse(part.value)
    names = {name} | other_names(case, name)
    for made in case.parts():
        target = made.targets[0] if isinstance(made, ast.Assign) else getattr(made, "target", None)
        if (
            not isinstance(made, ast.Assign | ast.AugAssign)
            or target is None
            or ast.unparse(target) not in names
        ):
            continue
        text, tensor = ast.unparse(made), ast.unparse(TensorKept().visit(ast.parse(ast.unparse(made))))
        if tensor != text:
            values = {"name": name, "source": written_as(case, made), "line": made.lineno, "kind": match[1]}
            why, fix = case.words("python_number_why", **values), case.words("python_number_fix", code=tensor)
            return case.explain("python_number", why, fix, (), span_at(case, made))
    return None


def other_names(case: Case, name: str) -> set[str]:
    """The variables that one was assigned as they are."""
    plain = [p for p in case.parts() if isinstance(p, ast.Assign) and isinstance(p.value, ast.Name)]
    return {ast.unparse(p.value) for p in plain if ast.unparse(p.targets[0]) == name}


class TensorKept(ast.NodeTransformer):
    """Leaves out what makes a Python number of a tensor: `.item()`, `.tolist()` and `float()`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The tensor instead of its number."""
        node = self.generic_visit(node)  # type: ignore[assignment]
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("item", "tolist"):
            return node.func.value
        plain = isinstance(node.func, ast.Name) and node.func.id in ("float", "int") and len(node.args) == 1
        return node.args[0] if plain else node


RULES: dict[str, ErrorRule] = {
    "none_grad": rule(r"^(?:TypeError|AttributeError): .*'?NoneType'?", none_grad),
    "python_number": rule(
        r"^AttributeError: '(float|int|list)' object has no attribute "
        r"'(?:backward|grad|requires_grad|detach|item)'",
        python_number,
    ),
    "assigned_parameter": rule(
        r"^TypeError: cannot assign '[^']*Tensor' as parameter '[^']*'", assigned_parameter
    ),
}
