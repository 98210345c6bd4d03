"""Errors about the roots of a backward call, and about the gradients that it starts with."""

from __future__ import annotations

import ast
import math

from ..model.births import sources_of
from ..trace.events import Asked, Created
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .case import LISTED, Case, Values, rule
from .edits import Shape, requiring
from .failed_call import FailedCall, call_rule
from .history import Cut, cut_before, cut_marks
from .operands import Operand, standing
from .rebound import named, rebound, why_and_fix
from .syntax import called, flat
from .ungraphed import of_gradient

NO_GRAD_FN = {  # why and fix, by what cut the path
    "detach": ("no_grad_fn_why_detach", "no_grad_fn_fix_detach"),
    "data": ("no_grad_fn_why_detach", "no_grad_fn_fix_data"),
    "no_grad": ("no_grad_fn_why_no_grad", "no_grad_fn_fix_no_grad"),
    "inference": ("no_grad_fn_why_inference", "no_grad_fn_fix_inference"),
    "numpy": ("no_grad_fn_why_numpy", "no_grad_fn_fix_numpy"),
    "item": ("no_grad_fn_why_item", "no_grad_fn_fix_item"),
    "tensor": ("no_grad_fn_why_tensor", "no_grad_fn_fix_tensor"),
    "integer": ("no_grad_fn_why_integer", "no_grad_fn_fix_integer"),
}


# ── the root has no graph ───────────────────────────────────────────────────────────────────────────────────


def no_grad_fn(case: Case, i: int) -> Explanation | None:
    """The root leads nowhere: where its path was cut."""
    root = case.started.roots[i] if case.started is not None and i < len(case.started.roots) else None
    if root is None or case.scene.asks(root):
        return None
    cut, marks = cut_before(case, root), case.card(root, label=case.words("mark_no_graph"))
    if cut is None or cut.how == "made":
        return of_gradient(case, root) or made_of_data(case, root, cut)
    marks += cut_marks(case, cut)
    values: Values = {"root": case.name(root), "cut": cut.span, "source": case.name(cut.source or root)}
    lost = rebound(case, root)
    if lost is not None and lost.update and cut.span is not None and lost.span.line == cut.span.line:
        fix = why_and_fix(case, lost)[1]
        return case.explain("rebound_cut_why", fix, marks, lost.span, **(values | named(lost)))
    told = case.explain(*NO_GRAD_FN[cut.how], marks, cut.span, **values)
    return told._replace(fix=f"{told.fix} {case.words('no_grad_fn_no_flag', **values)}")


def made_of_data(case: Case, root: str, cut: Cut | None) -> Explanation:
    """Nothing that the root was computed from requires gradients, or that is not known."""
    marks = case.card(root, label=case.words("mark_no_graph"))
    values: Values = {"root": case.name(root)}
    if cut is not None:
        values["made"] = cut.span
        return case.explain("no_grad_fn_why_made", "no_grad_fn_fix_made", marks, cut.span, **values)
    sources, asked = origins(case, root), asked_later(case, root)
    if asked is not None:
        values |= {"source": case.name(asked.tensor.id), "asked": asked.span}
        marks += case.card(asked.tensor.id, CAUSE, case.words("mark_asked_later"))
        return case.explain("no_grad_fn_why_later", "no_grad_fn_fix_later", marks, asked.span, **values)
    if sources is None or sources == [root]:  # in the latter case it was brought along
        return case.explain("no_grad_fn_why_unknown", "", marks, **values)
    meant = [id for id in sources if id in case.scene.named]
    values["names"] = ", ".join(map(case.name, meant))
    why, fix = "no_grad_fn_why_nothing", "no_grad_fn_fix_made"
    if 0 < len(meant) <= LISTED:
        why, fix = "no_grad_fn_why_asks", "no_grad_fn_fix_asks"
        for id in meant:
            marks += case.card(id, CAUSE, case.words("legend_constant"))
    born = case.scene.index.births.get(meant[0]) if len(meant) == 1 else None
    fix = asking(case, meant) or fix
    return case.explain(why, fix, marks, None if born is None else born.span, **values)


def asking(case: Case, sources: list[str]) -> str | None:
    """What to do if gradients of some sources are read later, or if there is only one: create them so that
    they require gradients; None where that cannot be quoted."""
    read = {ast.unparse(p.value) for p in case.parts() if isinstance(p, ast.Attribute) and p.attr == "grad"}
    meant = [id for id in sources if case.scene.named[id] in read] or (sources if len(sources) == 1 else [])
    return requiring(case, meant[:LISTED])


def asked_later(case: Case, root: str) -> Asked | None:
    """Where the cell set requires_grad of a tensor that the root had been computed from already."""
    born, times = case.scene.index.births, case.scene.index.times
    behind, made = sources_of(born, root), times.get(id(born.get(root)), 0)
    asked = [
        e for e in case.before if isinstance(e, Asked) and e.tensor.id in behind and e.tensor.requires_grad
    ]
    return asked[0] if len(asked) == 1 and times[id(asked[0])] > made and asked[0].tensor.id != root else None


def origins(case: Case, root: str) -> list[str] | None:
    """The tensors made from data that a root was computed from, none of which requires gradients; None if
    that is not certain."""
    born = case.scene.index.births
    behind = sorted(sources_of(born, root), key=lambda id: int(id[1:]))
    if any(id not in born or case.scene.asks(id) for id in behind):
        return None
    return [id for id in behind if isinstance(born[id], Created)]


# ── the gradient that backward starts with ──────────────────────────────────────────────────────────────────


def implicit_gradient(failed: FailedCall) -> Explanation:
    """A root of several elements, and no gradient for it."""
    call, roots, _ = backward_of(failed)
    root = next((each for each in roots if each.dtype and math.prod(each.shape) != 1), None)
    if root is None:
        return failed.case.explain()
    fix = "implicit_gradient_fix_grad" if call == "grad" else "implicit_gradient_fix_backward"
    told: Values = {"root": root.text, "called": called(root.text), "shape": str(root.shape)}
    return failed.explain("implicit_gradient_why", fix, marks=failed.mark_shapes(root), **told)


def gradient_shape(failed: FailedCall, given: Shape, wanted: Shape) -> Explanation:
    """A gradient of another shape than its root."""
    _, roots, gradients = backward_of(failed)
    found = [each for each in roots if each.dtype and each.shape == wanted]
    told: Values = {"given": str(given), "wanted": str(wanted)}
    if len(found) != 1:
        return failed.explain("gradient_shape_why_some", **told)
    wrong = [each for each in gradients if each.dtype and each.shape == given]
    marks = failed.mark_shapes(found[0])
    marks += failed.mark_shapes(*wrong, kind=CAUSE) if len(wrong) == 1 else ()
    fix = "gradient_shape_fix"
    return failed.explain("gradient_shape_why", fix, marks=marks, root=found[0].text, **told)


def backward_of(failed: FailedCall) -> tuple[str, list[Operand], list[Operand]]:
    """The failing call: "backward" or "grad", its roots and the gradients that were given for them, as far as
    they are known."""
    node = failed.tree
    if not isinstance(node, ast.Call):
        return "backward", [], []
    options: dict[str | None, ast.expr] = {keyword.arg: keyword.value for keyword in node.keywords}
    places: list[ast.expr | None] = [*node.args, None, None, None]
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if failed.function == "grad":
        kind, roots, given = "grad", options.get("outputs", places[0]), options.get("grad_outputs", places[2])
    elif owner is not None and ast.unparse(owner).rpartition(".")[2] != "autograd":
        kind, roots, given = "backward", owner, options.get("gradient", places[0])
    else:  # torch.autograd.backward
        kind, roots = "backward", options.get("tensors", places[0])
        given = options.get("grad_tensors", places[1])
    return kind, operands_in(failed, roots), operands_in(failed, given)


def operands_in(failed: FailedCall, node: ast.expr | None) -> list[Operand]:
    """The tensors that stand there, as far as they are known."""
    states = [(tree, standing(failed.case, ast.unparse(tree))) for tree in flat(node)]
    return [failed.operand(state, tree) for tree, state in states if state is not None]


RULES = [
    rule("no_grad_fn", no_grad_fn, r"element (?P<i>\d+) of tensors does not require grad"),
    *(call_rule(*each) for each in (
        ("implicit_gradient", implicit_gradient, "grad can be implicitly created only for scalar outputs"),
        ("gradient_shape", gradient_shape,
         r"Mismatch in shape: grad_output\[\d+\] has a shape of torch\.Size\((?P<given>\[[^\]]*\])\) and "
         r"output\[\d+\] has a shape of torch\.Size\((?P<wanted>\[[^\]]*\])\)"),
    )),
]  # fmt: skip
