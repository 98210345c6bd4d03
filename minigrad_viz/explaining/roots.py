"""Errors about the roots of a backward call, the gradients that it starts with, and its inputs; roots that
are gradients."""

from __future__ import annotations

import ast
import math
from typing import NamedTuple

from ..model.naming import plain_name
from ..model.provenance import by_number, op_behind, sources_of
from ..trace.events import (
    BackwardStarted,
    CellFailed,
    GradAccumulated,
    GradSet,
    NodeRan,
    NodeState,
    RequiresGradSet,
    TensorCreated,
    of_kinds,
)
from ..trace.graph import CAUSE, Explanation
from ..trace.source_positions import Span
from .backward_errors import method, without_reentrant
from .case import LISTED, Case, Values, need, require, rule
from .edits import Shape, call_with, require_gradients
from .failed_call import FailedCall, Operand, call_rule
from .lost_paths import PathCut, cut_before, lost_by, reassignment_of, sentence_values, why_and_fix
from .missed_updates import idle_flags, is_part_of, words_of_flag
from .syntax import argument_items, assigned_once, before_dot_source, span_at

# ─── Roots that are gradients


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
    values: Values = {
        "root": gradient_name_in(case, root),
        "gradient": gradient_name_in(case, gradient.tensor),
        "made": span,
    }
    marks = case.card(root, label=case.words("mark_no_graph"))
    if gradient.tensor != root:
        marks += case.card(gradient.tensor, CAUSE, case.words("mark_no_graph"))
    if call is None and span is None:
        return case.explain(unseen, "no_grad_fn_fix_gradient_unseen", marks, **values)
    if call is not None and call.create_graph:
        own = custom_node(case, call)
        if own is not None:
            once = any("once_differentiable" in ast.unparse(each) for each in decorators(case, own))
            why = "no_grad_fn_why_gradient_once" if once else "no_grad_fn_why_gradient_kept"
            return case.explain(why, "", marks, span, method=method(own), **values)
        return case.explain(constant, "", marks, span, **values)
    mended = call_with(span, "create_graph")
    fix = "no_grad_fn_fix_gradient_at" if mended is None else "no_grad_fn_fix_gradient"
    return case.explain(plain, fix, marks, span, call=mended, **values)


def custom_node(case: Case, call: BackwardStarted) -> NodeState | None:
    """The node of a custom Function that ran in a call."""
    nodes = case.scene.index.nodes
    ran = (nodes[id] for id in case.scene.index.calls[call.call].ran if id in nodes)
    return next((node for node in ran if node.code is not None), None)


def decorators(case: Case, node: NodeState) -> list[ast.expr]:
    """The decorators of the backward of a custom Function."""
    line = None if node.code is None or node.code.origin else node.code.line
    functions = case.executed(ast.FunctionDef)
    return [each for function in functions if function.lineno == line for each in function.decorator_list]


def gradients_behind(case: Case, root: str) -> list[Gradient]:
    """The gradients that a root is, or was computed from; the root itself comes first."""
    born = case.scene.index.births
    behind = by_number(sources_of(born, root) - {root})
    found = ((id, gradient_at(case, id, born.get(id))) for id in (root, *behind))
    return [Gradient(id, call) for id, (is_one, call) in found if is_one]


def gradient_at(case: Case, tensor: str, made: object) -> tuple[bool, BackwardStarted | None]:
    """Whether a tensor is known to be a gradient, and the call that computed it."""
    if not isinstance(made, TensorCreated) or made.span is not None or made.tensor.node is not None:
        return False, None
    if made.call:
        return True, case.scene.index.calls[made.call].started
    if made.gradient_of:
        return True, deposited_by(case, made)
    return any(text.endswith(".grad") for text in texts_of(case, tensor)), None


def texts_of(case: Case, tensor: str) -> list[str]:
    """How the expression that ended the cell names a tensor."""
    failed = of_kinds(case.trace.events[case.time :], CellFailed)
    return [text for event in failed for text, state in event.named if state.id == tensor]


def gradient_name_in(case: Case, tensor: str) -> str:
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


def deposited_by(case: Case, made: TensorCreated) -> BackwardStarted | None:
    """The last call that added to the `.grad` that `made` is about; None if the cell set that itself."""
    nodes = {s.node for e in case.before for s in e.made if s.id == made.gradient_of} - {None}
    last = 0
    for event in case.before:
        if event is made:
            break
        match event:
            case NodeRan(node=node) if node in nodes:  # its own node, if it is not a leaf
                last = event.call
            case GradAccumulated(tensor=made.gradient_of):
                last = event.call
            case GradSet(tensor=made.gradient_of, how="assigned"):
                last = 0
    return case.scene.index.calls[last].started if last else None


# ─── Errors about the roots of a backward call, the gradients that it starts with, and its inputs


# ── the root has no graph ───────────────────────────────────────────────────────────────────────────────────


@rule("no_grad_fn", "element {i} of tensors does not require grad")
def no_grad_fn(case: Case, i: int) -> Explanation | None:
    """The root leads nowhere: where its path was cut."""
    roots = require(case.started).roots
    need(i < len(roots) and not case.scene.asks(roots[i]))
    root = roots[i]
    cut, marks = cut_before(case, root), case.card(root, label=case.words("mark_no_graph"))
    if cut is None or cut.how == "made":
        return of_gradient(case, root) or made_of_data(case, root, cut)
    marks += cut.marks(case)
    values: Values = {"root": case.name(root), **cut.told(case)}
    lost = reassignment_of(case, root)
    if lost is not None and lost.update and cut.span is not None and lost.span.line == cut.span.line:
        fix = why_and_fix(case, lost)[1]
        return case.explain("rebound_cut_why", fix, marks, lost.span, **(values | sentence_values(lost)))
    values["middle"] = case.plain(cut.tensor) if case.scenes.begin and cut.tensor != root else ""
    return case.explain("no_grad_fn_why_cut", "no_grad_fn_fix_cut", marks, cut.span, **values)


def made_of_data(case: Case, root: str, cut: PathCut | None) -> Explanation:
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
    born = case.scene.index.births
    behind = (op_behind(born, id, "CheckpointFunction") for id in sources_of(born, root))
    kept = next(filter(None, behind), None)
    if kept is not None:
        fix = without_reentrant(case, kept.span)
        return case.explain("no_grad_fn_why_reentrant", fix, marks, kept.span, place=kept.span, **values)
    meant = [id for id in sources if id in case.scene.named]
    for flag in idle_flags(case):
        if flag.wanted and any(is_part_of(case.scene.named[id], flag.base) for id in meant):
            told, mended = words_of_flag(case, flag)
            return case.explain(told, mended, marks, span_at(case, flag.part), "misspelled_flag")
    values["names"] = ", ".join(map(case.name, meant))
    why, fix = "no_grad_fn_why_nothing", "no_grad_fn_fix_made"
    if 0 < len(meant) <= LISTED:
        why, fix = "no_grad_fn_why_asks", "no_grad_fn_fix_asks"
        for id in meant:
            marks += case.card(id, CAUSE, case.words("legend_constant"))
    first = born.get(meant[0]) if len(meant) == 1 else None
    fix = requires_grad_fix(case, meant) or fix
    return case.explain(why, fix, marks, None if first is None else first.span, **values)


def requires_grad_fix(case: Case, sources: list[str]) -> str | None:
    """What to do if gradients of some sources are read later, or if there is only one: create them so that
    they require gradients; None where that cannot be quoted."""
    read = {ast.unparse(part.value) for part in case.executed(ast.Attribute) if part.attr == "grad"}
    meant = [id for id in sources if case.scene.named[id] in read] or (sources if len(sources) == 1 else [])
    return require_gradients(case, meant[:LISTED])


def asked_later(case: Case, root: str) -> RequiresGradSet | None:
    """Where the cell set requires_grad of a tensor that the root had been computed from already."""
    born, times = case.scene.index.births, case.scene.index.times
    behind, made = sources_of(born, root), times.get(id(born.get(root)), 0)
    asked = [e for e in case.earlier(RequiresGradSet) if e.tensor.id in behind and e.tensor.requires_grad]
    return asked[0] if len(asked) == 1 and times[id(asked[0])] > made and asked[0].tensor.id != root else None


def switched_off(case: Case, root: str) -> tuple[list[str], Span | None]:
    """The parameters, and the tensors that the cell has seen before, whose gradients were switched off before
    the root was computed from them; and what did so: the first that was recorded, or the only statement."""
    asked = {event.tensor.id: event.span for event in case.earlier(RequiresGradSet)}
    behind = by_number(sources_of(case.scene.index.births, root))
    states = [state for id in behind if (state := case.state(id)) is not None and not state.requires_grad]
    off = [state.id for state in states if state.parameter or state.id in asked]
    order = {id: place for place, (id, _) in enumerate(case.trace.names)}  # of a model as it lists them
    off.sort(key=lambda id: order.get(id, len(order)))
    plain = (*case.executed(ast.Assign), *case.executed(ast.Expr))
    writes = [span_at(case, part) for part in plain if ast.unparse(part).endswith(OFF)]
    known = [span for id in off if (span := asked.get(id)) is not None]
    return off, known[0] if known else writes[0] if len(writes) == 1 else None


OFF = (".requires_grad = False", ".requires_grad_(False)")


def origins(case: Case, root: str) -> list[str] | None:
    """The tensors made from data that a root was computed from, none of which requires gradients; None if
    that is not certain."""
    born = case.scene.index.births
    behind = by_number(sources_of(born, root))
    if any(id not in born or case.scene.asks(id) for id in behind):
        return None
    return [id for id in behind if isinstance(born[id], TensorCreated)]


# ── the gradient that backward starts with ──────────────────────────────────────────────────────────────────


@call_rule("implicit_gradient", "grad can be implicitly created only for scalar outputs")
def implicit_gradient(failed: FailedCall) -> Explanation:
    """A root of several elements, and no gradient for it."""
    call, roots, _ = backward_of(failed)
    root = next((each for each in roots if each.dtype and math.prod(each.shape) != 1), None)
    if root is None:
        return failed.case.explain()
    fix = "implicit_gradient_fix_grad" if call == "grad" else "implicit_gradient_fix_backward"
    told: Values = {"root": root.text, "called": before_dot_source(root.text), "shape": str(root.shape)}
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
    return kind, failed.tensors_in(argument_items(roots)), failed.tensors_in(argument_items(given))


# ── what gradients are asked for ────────────────────────────────────────────────────────────────────────────


@rule("unused_input", "[Tt]he differentiated Tensors?(?: at index {i})? appears to not have been used")
def unused_input(case: Case, i: int | None) -> Explanation:
    """No gradient arrives at an input of `grad()`."""
    wanted = require(require(case.started).wanted)
    i = unreachable_input(case, wanted) if i is None else i
    need(i < len(wanted))
    id, roots = wanted[i], case.scene.now.roots
    values: Values = {"input": case.name(id), "roots": ", ".join(map(case.name, roots[:LISTED]))}
    marks = case.card(id, label=case.words("mark_unused"))
    lost, used = lost_by(case).get(id), leads_to(case, id)
    earlier = None if used else former_holder(case, id)
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


def former_holder(case: Case, id: str) -> str | None:
    """The tensor that a root was computed from and that had the name of tensor `id` earlier."""
    name = plain_name(case.scene.named.get(id, ""))
    others = [other for other, known in case.scene.named.items() if name and plain_name(known) == name]
    found = [other for other in others if other != id and case.scene.asks(other) and leads_to(case, other)]
    return found[0] if len(found) == 1 else None


def unreachable_input(case: Case, wanted: tuple[str, ...]) -> int:
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
    id = require(next((id for id in require(case.started).wanted or () if not case.scene.asks(id)), None))
    values: Values = {"input": case.name(id), "call": case.span}
    cut, marks = cut_before(case, id), case.card(id, label=case.words("legend_constant"))
    if cut is None or cut.how == "made":
        cause = None if cut is None else cut.span
        return case.explain("input_asks_not", "", marks, cause, **values)
    values |= cut.told(case)
    marks += cut.marks(case, card=False)
    return case.explain("input_asks_not_why_cut", "input_asks_not_fix_cut", marks, cut.span, **values)
