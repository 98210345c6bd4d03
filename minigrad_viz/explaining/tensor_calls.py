"""Errors of calls that are not backward calls, and of assignments: each is about one tensor."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from minigrad.observing import CPP_NAMES

from ..model.provenance import is_whole, op_behind
from ..model.trace_index import TraceIndex
from ..trace.events import Forward, TensorState
from ..trace.graph import CAUSE, Explanation
from ..words import fix_of
from .case import Case, Explain, Values, require
from .edits import in_place, out_of_place, quote, replace_part
from .failed_call import FailedCall, Operand, call_rule, made_at
from .lost_paths import MODES, cut_before, leaf_behind
from .syntax import before_dot_source, last_name, statement_around


def is_leaf(state: TensorState) -> bool:
    """Whether a tensor is a leaf that requires gradients."""
    return state.is_leaf and state.requires_grad


def is_computed(state: TensorState) -> bool:
    """Whether a tensor has a history."""
    return not state.is_leaf


def requires_grad(state: TensorState) -> bool:
    """Whether a tensor requires gradients."""
    return state.requires_grad


def without_grad(state: TensorState) -> bool:
    """Whether it does not."""
    return not state.requires_grad


def any_tensor(state: TensorState) -> bool:
    """Every tensor."""
    return True


def explain_tensor(
    failed: FailedCall, found: Operand | None, why: str, label: str, *fix: str, **values: Any
) -> Explanation:
    """The explanation of an error about one tensor: its sentences, of which `why` is the key, name it, it is
    marked with a `label`, and where it was made is the cause. Without the tensor, only that it is this
    error."""
    if found is None:
        return failed.case.explain()
    values = {"name": found, "called": before_dot_source(found.text), **values}
    marks = failed.mark(found, label, **values)
    return failed.explain(why, *fix, marks=marks, cause=made_at(failed.case, found.id), **values)


# ── writing in place ────────────────────────────────────────────────────────────────────────────────────────


@call_rule("leaf_in_place", "Error: a leaf Variable that requires grad is being used")
def leaf_in_place(failed: FailedCall) -> Explanation:
    """A leaf was to be changed while a graph is recorded."""
    return written_to(failed, failed.subject(is_leaf), "leaf_in_place")


def written_to(failed: FailedCall, found: Operand | None, why: str) -> Explanation:
    """The explanation for a leaf that a statement writes to."""
    write = failed.case.span
    told = explain_tensor(
        failed, found, why, "mark_in_place", write=write, update=in_place(failed.case, write)
    )
    return told._replace(cause=None)


@call_rule("view_of_leaf_in_place", "a view of a leaf Variable that requires grad")
def view_of_leaf_in_place(failed: FailedCall) -> Explanation:
    """The same through a view of it; `v[0] = 1` makes one for itself."""
    case, found = failed.case, failed.subject(any_tensor)
    leaf = None if found is None else base_of(case, found.id)
    if found is None or leaf is None:
        return case.explain()
    if leaf == found.id:
        return written_to(failed, found, "item_of_leaf_in_place")
    name = case.name(leaf)
    said = explain_tensor(failed, found, "view_of_leaf_in_place_why", "mark_in_place", leaf=name)
    told: Values = {"name": name, "called": before_dot_source(name), "update": in_place(case, case.span)}
    fix = case.words("item_of_leaf_in_place.fix", **told)
    return said._replace(fix=fix, marks=said.marks + case.card(leaf, CAUSE, case.words("mark_memory")))


def base_of(case: Case, view: str) -> str | None:
    """The leaf whose memory a view uses: the tensor that the ops before it, which all return views, began
    with."""
    born, seen = case.scene.index.births, set[str]()
    while view not in seen:
        seen.add(view)
        state, event = case.state(view), born.get(view)
        if state is None or is_leaf(state):
            return None if state is None else view
        sources = list(event.read) if event is not None else []
        if not sources:  # nobody saw the op, but its node leads on
            sources = [s.id for place in case.scene.sources(case.scene.at[view][0]) for s in place.states]
        if len(sources) != 1:
            return None
        view = sources[0]
    return None


@call_rule("view_of_no_grad", "view.* was created in {mode} mode and (?P<when>is being|its base)")
def view_of_no_grad(failed: FailedCall, mode: str, when: str) -> Explanation:
    """A view that was made while nothing was recorded was to be changed while something is; or its memory
    was, and now the view is asked for its history."""
    mode = MODES["inference" if mode == "inference" else "no_grad"]
    if when != "is being":
        return failed.explain("view_of_no_grad_late", "view_of_no_grad.fix", mode=mode)
    view = failed.subject(any_tensor)
    first = None if view is None else first_unrecorded(failed.case, view.id)
    made = None if first is None else made_at(failed.case, first)
    if view is None or first in (None, view.id):
        return explain_tensor(failed, view, "view_of_no_grad", "mark_in_place", mode=mode, made=made or "")
    values: Values = {"mode": mode, "made": made or "", "base": failed.case.plain(require(first))}
    key, fix = "view_of_unrecorded", "view_of_no_grad.fix"
    return explain_tensor(failed, view, key, "mark_in_place", fix, **values)._replace(cause=made)


def first_unrecorded(case: Case, view: str) -> str | None:
    """The view that was made while nothing was recorded, from which later views lead to this one."""
    index, found = case.scene.index, None
    while isinstance(event := index.births.get(view), Forward) and event.shares:
        off = not index.switched("grad", index.times[id(event)], first=True)
        found = view if off or inside_inference(index, event) else found
        view = event.shares
    return found


@call_rule(
    "inference_tensor",
    "(?P<saved>Inference tensors cannot be saved for backward)",
    "Inplace update to inference tensor outside InferenceMode",
    "Setting requires_grad=True on inference tensor outside InferenceMode",
)
def inference_tensor(failed: FailedCall, saved: str | None = None) -> Explanation:
    """A tensor of inference mode was to be used in a graph, to be written to, or to require gradients."""
    index = failed.case.scene.index
    made = [
        each
        for each in failed.tensors
        if (event := index.births.get(each.id)) is not None and inside_inference(index, event)
    ]
    found = made[0] if len({each.id for each in made}) == 1 else None
    where = None if found is None else made_at(failed.case, found.id)
    why = "inference_tensor" if saved else "inference_tensor_outside"
    return explain_tensor(failed, found, why, "mark_cut", "inference_tensor.fix", made=where)


def inside_inference(index: TraceIndex, event: object) -> bool:
    """Whether something happened under inference_mode()."""
    return bool(index.switched("inference", index.times[id(event)]))


# ── flags ───────────────────────────────────────────────────────────────────────────────────────────────────


@call_rule("integer_requires_grad", "nly Tensors of floating point .*dtype can require gradients")
def integer_requires_grad(failed: FailedCall) -> Explanation:
    """Integers or booleans were to require gradients."""
    found = failed.subject(is_whole, given=True)
    if found is None or not found.dtype:
        fix = failed.option("dtype", "torch.float32", "integer_requires_grad_new_fix_line")
        return failed.explain("integer_requires_grad_new", fix)
    return explain_tensor(failed, found, "integer_requires_grad", "mark_dtype", dtype=found.dtype)


def without_graph(why: str) -> Explain:
    """A rule for what is only for tensors that require gradients: why this one does not, and where the path
    to it ended."""

    def explain(failed: FailedCall) -> Explanation:
        case, found = failed.case, failed.subject(without_grad)
        said = explain_tensor(failed, found, why, "legend_constant", "compute_with_gradients")
        cut = None if found is None else cut_before(case, found.id)
        if cut is None:
            return said
        told, marks = cut.told(case), said.marks + cut.marks(case, card=False)
        why_at = f"{said.why} {told['ended']}"
        return said._replace(why=why_at, fix=told["repair"], marks=marks, cause=cut.span)

    return explain


# ── what leaves the graph ───────────────────────────────────────────────────────────────────────────────────


@call_rule("numpy_of_graph", r"Can't call numpy\(\) on Tensor that requires grad")
def numpy_of_graph(failed: FailedCall) -> Explanation:
    """NumPy was to use a tensor that requires gradients, or a list of such, as `plt.plot(losses)` does."""
    found, case = failed.subject(requires_grad, given=True), failed.case
    if found is not None:
        return explain_tensor(failed, found, "numpy_of_graph", "mark_asks")
    names = [each.id for each in failed.arguments if isinstance(each, ast.Name)]
    for call in case.executed(ast.Call):
        if len(call.args) != 1 or last_name(call) != "append":
            continue
        name = ast.unparse(call.func).removesuffix(".append")
        fix = replace_part(
            case, call, {call.args[0]: f"{before_dot_source(ast.unparse(call.args[0]))}.item()"}
        )
        if name in names and fix is not None:
            return failed.explain("numpy_of_list_why", fix, name=name)
    return case.explain()


# ── other assignments and arguments ─────────────────────────────────────────────────────────────────────────


@call_rule("optimizer_of_non_leaf", "^ValueError: can't optimize a non-leaf Tensor")
def optimizer_of_non_leaf(failed: FailedCall) -> Explanation:
    """An optimizer was given a computed tensor."""
    found = failed.subject(is_computed, given=True)
    hidden = None if found is None else leaf_behind(failed.case, found.id)
    if found is not None and hidden is not None:
        why, fix, cause = hidden
        return failed.case.explain(why, fix, failed.mark(found, "mark_computed"), cause)
    return explain_tensor(failed, found, "optimizer_of_non_leaf", "mark_computed")


ASSIGNED = {  # the sentences about what was assigned to `.grad`, by what the error tells of it
    "shape": ("assigned_shape_why", "mark_assigned_shape", "assigned_type.fix"),
    "dtype": ("assigned_dtype", "mark_assigned_dtype"),
    "type": ("assigned_type", "mark_assigned_type"),
    "own": ("assigned_self", "mark_assigned_self"),
}


@call_rule(
    "assigned_grad",
    "assign.*of size '(?P<shape>[^']*)' to",
    "assign.*with dtype '(?P<dtype>[^']*)' to",
    r"assign.*got grad of type (?P<type>\S+)",
    "can't assign Variable as its own (?P<own>grad)",
)
def assigned_grad(failed: FailedCall, **told: object) -> Explanation:
    """What was assigned to `.grad` does not fit the tensor."""
    found = failed.subject(any_tensor)
    if found is None or not found.dtype:
        return failed.case.explain()
    ((what, given),) = told.items()
    if what == "dtype":  # `float64` for `double`, as a tensor shows it
        given = next((name for name, title in CPP_NAMES.items() if title == given), given)
    values = {"shape": str(found.shape), "dtype": found.dtype, "given": str(given)}
    return explain_tensor(failed, found, *ASSIGNED[what], **values)


@call_rule("view_of_several", "is being modified inplace.*returns multiple views")
def view_of_several(failed: FailedCall) -> Explanation:
    """One of several views that an op returned, or a view of one, was to be changed."""
    case, found = failed.case, failed.subject(any_tensor, given=True)
    made = None if found is None else several_of(case, found.id)
    rows = rows_joined(case)
    code = rows or out_of_place(case, case.span)
    fix = "view_of_several_rows" if rows else "view_of_several_result" if code else "view_of_several"
    if found is None or made is None:
        return explain_tensor(
            failed, found, "view_of_several_unseen", "mark_in_place", fix_of(fix) or fix, code=code
        )
    base = case.plain(made.read[0])
    why = "view_of_several" if found.id in [s.id for s in made.outputs] else "view_of_several_inner"
    told: Values = {"base": base, "made": made.span, "write": case.span, "code": code}
    return explain_tensor(failed, found, why, "mark_in_place", fix_of(fix) or fix, **told)


def several_of(case: Case, view: str) -> Forward | None:
    """The op that returned several views, of which a tensor is one or a view of one."""
    born, seen = case.scene.index.births, set[str]()
    while view not in seen:
        seen.add(view)
        event = op_behind(born, view)
        if event is None or not event.shares:
            return None
        if len(event.outputs) > 1 or event.op == "unbind":
            return event
        view = event.shares
    return None


def rows_joined(case: Case) -> str | None:
    """For a loop over the rows of a tensor that writes to each of them: the tensor, made of new rows."""
    write = statement_around(case, case.span)
    loops = [loop for loop in case.executed(ast.For) if len(loop.body) == 1 and loop.body[0] is write]
    if not loops or not isinstance(write, ast.AugAssign) or not isinstance(loops[0].iter, ast.Name):
        return None
    name = loops[0].iter.id
    if ast.unparse(write.target) != ast.unparse(loops[0].target):
        return None
    new = ast.unparse(ast.BinOp(ast.Name(ast.unparse(write.target)), write.op, write.value))
    return quote(f"{name} = torch.stack([{new} for {ast.unparse(write.target)} in {name}])")


# ── errors about the one tensor that fits: two sentences and a label ────────────────────────────────────────


def tensor_explainer(why: str, fits: Callable[[TensorState], bool], label: str) -> Explain:
    """How such an error is explained."""

    def explain(failed: FailedCall, **found: Any) -> Explanation:
        return explain_tensor(failed, failed.subject(fits, given=True), why, label)

    return explain


for key, fits, label, pattern in (
    ("view_of_function", any_tensor, "mark_in_place", r"of (?P<node>\S+) is a view and .*a custom Function"),
    ("flag_of_non_leaf", is_computed, "mark_computed", "only change requires_grad flags of leaf .*If you"),
    ("hook_of_non_leaf", is_computed, "mark_computed", "post accumulate grad hooks cannot be registered on"),
    ("deepcopy_of_non_leaf", is_computed, "mark_computed", "Only Tensors created .*the deepcopy protocol"),
):
    call_rule(key, pattern)(tensor_explainer(key, fits, label))
FLAG = "you can only change requires_grad flags of leaf variables"
call_rule("flag_of_non_leaf", FLAG)(tensor_explainer("flag_of_non_leaf_on", is_computed, "mark_computed"))
for key, pattern in (
    ("retain_grad_without", "can't retain_grad on Tensor that has requires_grad=False"),
    ("hook_without", "cannot register a hook on a tensor that doesn't require gradient"),
):
    call_rule(key, pattern)(without_graph(key))
