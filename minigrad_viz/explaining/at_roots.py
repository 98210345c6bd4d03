"""Errors about the roots of a backward call, the gradients that it starts with, and its inputs: those of
`grad()` and of `backward(inputs=…)`."""

from __future__ import annotations

import ast
import math

from ..model.births import by_number, sources_of
from ..model.naming import plain_name
from ..trace.events import Asked, Created
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from ..trace.where import Span
from .case import LISTED, Case, Values, need, sure
from .edits import Shape, requiring
from .failed_call import FailedCall, call_rule
from .history import Cut, cut_before, lost_by
from .operands import Operand
from .rebound import named, rebound, why_and_fix
from .rules import rule
from .syntax import called, flat, span_at
from .ungraphed import of_gradient

# ── the root has no graph ───────────────────────────────────────────────────────────────────────────────────


@rule("no_grad_fn", "element {i} of tensors does not require grad")
def no_grad_fn(case: Case, i: int) -> Explanation | None:
    """The root leads nowhere: where its path was cut."""
    roots = sure(case.started).roots
    need(i < len(roots) and not case.scene.asks(roots[i]))
    root = roots[i]
    cut, marks = cut_before(case, root), case.card(root, label=case.words("mark_no_graph"))
    if cut is None or cut.how == "made":
        return of_gradient(case, root) or made_of_data(case, root, cut)
    marks += cut.marks(case)
    values: Values = {"root": case.name(root), **cut.told(case)}
    lost = rebound(case, root)
    if lost is not None and lost.update and cut.span is not None and lost.span.line == cut.span.line:
        fix = why_and_fix(case, lost)[1]
        return case.explain("rebound_cut_why", fix, marks, lost.span, **(values | named(lost)))
    return case.explain("no_grad_fn_why_cut", "no_grad_fn_fix_cut", marks, cut.span, **values)


def made_of_data(case: Case, root: str, cut: Cut | None) -> Explanation:
    """Nothing that the root was computed from requires gradients, or that is not known."""
    marks = case.card(root, label=case.words("mark_no_graph"))
    values: Values = {"root": case.name(root)}
    if cut is not None:
        values["made"] = cut.span
        return case.explain("no_grad_fn_why_made", "no_grad_fn_fix_made", marks, cut.span, **values)
    off, switch = switched_off(case, root)
    if off and switch is not None:
        values |= {"names": case.names(off), "asked": switch}
        marks += tuple(mark for id in off for mark in case.card(id, CAUSE, case.words("legend_constant")))
        return case.explain("no_grad_fn_why_off", "no_grad_fn_fix_off", marks, values["asked"], **values)
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
    read = {ast.unparse(part.value) for part in case.executed(ast.Attribute) if part.attr == "grad"}
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


def switched_off(case: Case, root: str) -> tuple[list[str], Span | None]:
    """The parameters, and the tensors that the cell has seen before, whose gradients were switched off before
    the root was computed from them; and what did so: the first that was recorded, or the only statement."""
    asked = {event.tensor.id: event.span for event in case.before if isinstance(event, Asked)}
    behind = by_number(sources_of(case.scene.index.births, root))
    states = [state for id in behind if (state := case.state(id)) is not None and not state.requires_grad]
    off = [state.id for state in states if state.parameter or state.id in asked]
    plain = (*case.executed(ast.Assign), *case.executed(ast.Expr))
    writes = [span_at(case, part) for part in plain if ast.unparse(part).endswith(OFF)]
    known = [span for id in off if (span := asked.get(id)) is not None]
    found = known or (writes if len(writes) == 1 else [])
    return off, found[0] if found else None


OFF = (".requires_grad = False", ".requires_grad_(False)")


def origins(case: Case, root: str) -> list[str] | None:
    """The tensors made from data that a root was computed from, none of which requires gradients; None if
    that is not certain."""
    born = case.scene.index.births
    behind = by_number(sources_of(born, root))
    if any(id not in born or case.scene.asks(id) for id in behind):
        return None
    return [id for id in behind if isinstance(born[id], Created)]


# ── the gradient that backward starts with ──────────────────────────────────────────────────────────────────


@call_rule("implicit_gradient", "grad can be implicitly created only for scalar outputs")
def implicit_gradient(failed: FailedCall) -> Explanation:
    """A root of several elements, and no gradient for it."""
    call, roots, _ = backward_of(failed)
    root = next((each for each in roots if each.dtype and math.prod(each.shape) != 1), None)
    if root is None:
        return failed.case.explain()
    fix = "implicit_gradient_fix_grad" if call == "grad" else "implicit_gradient_fix_backward"
    told: Values = {"root": root.text, "called": called(root.text), "shape": str(root.shape)}
    return failed.explain("implicit_gradient_why", fix, marks=failed.mark_shapes(root), **told)


@call_rule("gradient_shape", r"Mismatch in shape: grad_output.*Size\({given}\) and output.*Size\({wanted}\)")
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
    return failed.explain("gradient_shape", marks=marks, root=found[0].text, **told)


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
    return kind, failed.tensors_in(flat(roots)), failed.tensors_in(flat(given))


# ── what gradients are asked for ────────────────────────────────────────────────────────────────────────────


@rule("unused_input", "[Tt]he differentiated Tensors?(?: at index {i})? appears to not have been used")
def unused_input(case: Case, i: int | None) -> Explanation:
    """No gradient arrives at an input of `grad()`."""
    wanted = sure(sure(case.started).wanted)
    i = unreached(case, wanted) if i is None else i
    need(i < len(wanted))
    id, roots = wanted[i], case.scene.now.roots
    values: Values = {"input": case.name(id), "roots": ", ".join(map(case.name, roots[:LISTED]))}
    marks = case.card(id, label=case.words("mark_unused"))
    lost, used = lost_by(case).get(id), leads_to(case, id)
    earlier = None if used else renamed(case, id)
    if lost is not None and lost.cut is not None:
        values |= lost.cut.told(case)
        marks += lost.cut.marks(case)
        return case.explain("unused_input_why_cut", "unused_input_fix_cut", marks, lost.cut.span, **values)
    if earlier is not None:
        values |= {"earlier": case.name(earlier), "plain": case.plain(id)}
        marks += case.card(earlier, CAUSE)
        return case.explain("unused_input_why_renamed", "unused_input_fix_renamed", marks, **values)
    why = "unused_input_why_none" if used else "unused_input_why"
    return case.explain(why, "unused_input_fix", marks, **values)


def renamed(case: Case, id: str) -> str | None:
    """The tensor that a root was computed from and that had the name of tensor `id` earlier."""
    name = plain_name(case.scene.named.get(id, ""))
    others = [other for other, known in case.scene.named.items() if name and plain_name(known) == name]
    found = [other for other in others if other != id and case.scene.asks(other) and leads_to(case, other)]
    return found[0] if len(found) == 1 else None


def unreached(case: Case, wanted: tuple[str, ...]) -> int:
    """Which input an older text means: the only one that the graph of the call does not have."""
    nodes = {*case.scene.now.found, *case.scene.now.accumulators}
    missing = [i for i, id in enumerate(wanted) if id not in nodes and case.scene.node_at(id) not in nodes]
    need(len(missing) == 1)
    return missing[0]


def leads_to(case: Case, id: str) -> bool:
    """Whether a root was computed from tensor `id`, be there a path or not."""
    return any(id in sources_of(case.scene.index.births, root) for root in case.scene.now.roots)


@rule(
    "input_asks_not",
    "One of the differentiated Tensors does not require grad",
    "can't retain_grad on Tensor that has requires_grad=False",
)
def needs_no_grad(case: Case) -> Explanation:
    """An input of `grad()` does not require gradients."""
    id = sure(next((id for id in sure(case.started).wanted or () if not case.scene.asks(id)), None))
    values: Values = {"input": case.name(id), "call": case.span}
    cut, marks = cut_before(case, id), case.card(id, label=case.words("legend_constant"))
    if cut is None or cut.how == "made":
        cause = None if cut is None else cut.span
        return case.explain("input_asks_not", "", marks, cause, **values)
    values |= cut.told(case)
    marks += cut.marks(case, card=False)
    return case.explain("input_asks_not_why_cut", "input_asks_not_fix_cut", marks, cut.span, **values)
