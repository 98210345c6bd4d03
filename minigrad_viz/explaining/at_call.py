"""Errors of calls that are no backward calls. See Note [How to add a rule] in `diagnose`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from ..model.births import came_from
from ..model.cuts import is_whole
from ..trace.events import TensorState
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .assigned_grads import any_tensor, assigned_grad
from .case import Case, ErrorRule, rule
from .edits import with_option
from .history import Cut, cut_before
from .leaf_behind import leaf_behind
from .rewrite import in_place
from .subject import about, raised_by_hand, subject, title

Explain = Callable[[Case, re.Match[str]], Explanation | None]


def of_a_call(explain: Explain) -> Explain:
    """A rule for the error that ended the cell, unless the cell raised it by hand."""

    @functools.wraps(explain)
    def careful(case: Case, match: re.Match[str]) -> Explanation | None:
        return None if case.failed is None or raised_by_hand(case) else explain(case, match)

    return careful


def is_leaf(state: TensorState) -> bool:
    """Whether a tensor is a leaf that asks for gradients."""
    return state.is_leaf and state.requires_grad


def computed(state: TensorState) -> bool:
    """Whether a tensor has a history."""
    return not state.is_leaf


def asks(state: TensorState) -> bool:
    """Whether a tensor requires gradients."""
    return state.requires_grad


def asks_not(state: TensorState) -> bool:
    """Whether it does not."""
    return not state.requires_grad


# ── writing in place ────────────────────────────────────────────────────────────────────────────────────────


def leaf_in_place(case: Case, match: re.Match[str]) -> Explanation:
    """A leaf was to be changed while a graph is recorded."""
    update = in_place(case, case.span)
    fix = "leaf_in_place_fix" if update is None else "leaf_in_place_fix_line"
    return about(
        case, "leaf_in_place", subject(case, is_leaf),
        "leaf_in_place_why", fix, "mark_in_place", write=case.place(case.span), update=update,
    )._replace(cause=None)  # fmt: skip


def view_of_leaf_in_place(case: Case, match: re.Match[str]) -> Explanation:
    """The same through a view of it; `v[0] = 1` makes one for itself."""
    found = subject(case, any_tensor)
    leaf = None if found is None else base_of(case, found.id)
    if found is None or leaf is None:
        return case.explain("view_of_leaf_in_place")
    if leaf == found.id:
        update = in_place(case, case.span)
        fix = "item_of_leaf_in_place_fix" if update is None else "item_of_leaf_in_place_fix_line"
        return about(
            case, "view_of_leaf_in_place", found, "item_of_leaf_in_place_why", fix, "mark_in_place",
            write=case.place(case.span), update=update,
        )._replace(cause=None)  # fmt: skip
    told = about(
        case, "view_of_leaf_in_place", found,
        "view_of_leaf_in_place_why", "view_of_leaf_in_place_fix", "mark_in_place", leaf=case.name(leaf),
    )  # fmt: skip
    return told._replace(marks=told.marks + case.card(leaf, CAUSE, case.words("mark_memory")))


def base_of(case: Case, view: str) -> str | None:
    """The leaf whose memory a view uses: what the ops before it, which all gave views, began with."""
    born, seen = case.scene.index.births, set[str]()
    while view not in seen:
        seen.add(view)
        state, event = case.state(view), born.get(view)
        if state is None or is_leaf(state):
            return None if state is None else view
        sources = came_from(event) if event is not None else []
        if not sources:  # nobody saw the op, but its node leads on
            sources = [s.id for place in case.scene.sources(case.scene.at[view][0]) for s in place.states]
        if len(sources) != 1:
            return None
        view = sources[0]
    return None


def view_of_several(case: Case, match: re.Match[str]) -> Explanation:
    """One of several views that one op gave was to be changed."""
    return about(
        case, "view_of_several", subject(case, any_tensor),
        "view_of_several_why", "view_of_several_fix", "mark_in_place",
    )  # fmt: skip


def view_of_function(case: Case, match: re.Match[str]) -> Explanation:
    """A view that a custom Function gave was to be changed."""
    return about(
        case, "view_of_function", subject(case, any_tensor),
        "view_of_function_why", "view_of_function_fix", "mark_in_place", node=match[1],
    )  # fmt: skip


def view_of_no_grad(case: Case, match: re.Match[str]) -> Explanation:
    """A view that was made while nothing was recorded was to be changed while something is; or its memory
    was, and now the view is asked for its history."""
    why, late, fix = ("view_of_no_grad_why", "view_of_no_grad_late", "view_of_no_grad_fix")
    if match[1] == "inference":
        why, late, fix = ("view_of_inference_why", "view_of_inference_late", "view_of_inference_fix")
    if match[2] != "is being":
        return case.explain("view_of_no_grad", case.words(late), case.words(fix))
    return about(case, "view_of_no_grad", subject(case, any_tensor), why, fix, "mark_in_place")


# ── flags ───────────────────────────────────────────────────────────────────────────────────────────────────


def integer_requires_grad(case: Case, match: re.Match[str]) -> Explanation:
    """Whole numbers were asked to require gradients."""
    found = subject(case, is_whole, given=True)
    if found is None or found.state.value is None:
        code = with_option(case, "dtype", "torch.float32")
        why = case.words("integer_requires_grad_new")
        key = "integer_requires_grad_new_fix" if code is None else "integer_requires_grad_new_fix_line"
        return case.explain("integer_requires_grad", why, case.words(key, code=code))
    return about(
        case, "integer_requires_grad", found,
        "integer_requires_grad_why", "integer_requires_grad_fix", "mark_dtype", dtype=found.state.value.dtype,
    )  # fmt: skip


def flag_of_non_leaf(case: Case, match: re.Match[str]) -> Explanation:
    """The flag of a computed tensor was to be changed."""
    why, fix = "flag_of_non_leaf_on_why", "flag_of_non_leaf_on_fix"
    if match[1]:
        why, fix = "flag_of_non_leaf_why", "flag_of_non_leaf_fix"
    return about(case, "flag_of_non_leaf", subject(case, computed), why, fix, "mark_computed")


def without_graph(key: str, why: str, fix: str) -> Explain:
    """A rule for what is only for tensors that require gradients: why this one does not, and where the path
    to it ended."""

    def explain(case: Case, match: re.Match[str]) -> Explanation:
        found = subject(case, asks_not)
        told = about(case, key, found, why, fix, "legend_constant")
        cut = None if found is None else cut_before(case, found.id)
        if found is None or cut is None:
            return told
        marks = told.marks
        if cut.source is not None:
            marks += case.arrow(cut.source, cut.tensor, CAUSE, case.words("mark_cut"))
        said = ended(case, cut, title(case, found) if cut.tensor == found.id else case.name(cut.tensor))
        if said is None:
            return told._replace(marks=marks, cause=cut.span)
        return told._replace(why=f"{told.why} {said[0]}", fix=said[1], marks=marks, cause=cut.span)

    return explain


ENDS = {  # where a path ended and what to do about it, by what cut it
    "no_grad": ("ends_no_grad", "ends_no_grad_fix"),
    "inference": ("ends_inference", "ends_inference_fix"),
    "detach": ("ends_detach", "ends_detach_fix"),
    "data": ("ends_data", "ends_detach_fix"),
    "made": ("ends_made", "ends_made_fix"),
    "numpy": ("ends_numbers", "ends_numbers_fix"),
    "item": ("ends_numbers", "ends_numbers_fix"),
    "tensor": ("ends_numbers", "ends_numbers_fix"),
}


def ended(case: Case, cut: Cut, name: str) -> tuple[str, str] | None:
    """Where the path of gradients to the tensor called `name` ended, and what to do about it; None if that
    stands in no line of the cell."""
    state, line = case.state(cut.tensor), case.line(cut.span)
    if cut.how == "integer" and state is not None and state.value is not None:
        return case.words("ends_integer", name=name, dtype=state.value.dtype), ""
    if line is None or cut.how == "integer":
        return None
    why, fix = ENDS[cut.how]
    source = "" if cut.source is None else case.name(cut.source)
    values = {"name": name, "source": source, "line": line}
    return case.words(why, **values), case.words(fix, **values)


def hook_of_non_leaf(case: Case, match: re.Match[str]) -> Explanation:
    """A hook for after the deposit, on a computed tensor."""
    return about(
        case, "hook_of_non_leaf", subject(case, computed),
        "hook_of_non_leaf_why", "hook_of_non_leaf_fix", "mark_computed",
    )  # fmt: skip


# ── what leaves the graph ───────────────────────────────────────────────────────────────────────────────────


def numpy_of_graph(case: Case, match: re.Match[str]) -> Explanation:
    """NumPy was to use a tensor that requires gradients."""
    return about(
        case, "numpy_of_graph", subject(case, asks, given=True),
        "numpy_of_graph_why", "numpy_of_graph_fix", "mark_asks",
    )  # fmt: skip


def deepcopy_of_non_leaf(case: Case, match: re.Match[str]) -> Explanation:
    """A computed tensor was to be copied with all that belongs to it."""
    return about(
        case, "deepcopy_of_non_leaf", subject(case, computed, given=True),
        "deepcopy_of_non_leaf_why", "deepcopy_of_non_leaf_fix", "mark_computed",
    )  # fmt: skip


def optimizer_of_non_leaf(case: Case, match: re.Match[str]) -> Explanation:
    """An optimizer was given a computed tensor."""
    found = subject(case, computed, given=True)
    hidden = None if found is None else leaf_behind(case, found.id)
    if found is not None and hidden is not None:
        marks = case.card(found.id, label=case.words("mark_computed"))
        return case.explain("optimizer_of_non_leaf", *hidden[:2], marks, hidden[2])
    return about(
        case, "optimizer_of_non_leaf", found,
        "optimizer_of_non_leaf_why", "optimizer_of_non_leaf_fix", "mark_computed",
    )  # fmt: skip


VIEW = r"^RuntimeError: Output \d+ of (\S+) is a view and is being modified inplace\."
RULES: dict[str, ErrorRule] = {
    key: rule(pattern, of_a_call(explain))
    for key, (pattern, explain) in {
        "leaf_in_place": (r"^RuntimeError: a leaf Variable that requires grad is being used", leaf_in_place),
        "view_of_leaf_in_place": (
            r"^RuntimeError: a view of a leaf Variable that requires grad is being used",
            view_of_leaf_in_place,
        ),
        "view_of_several": (VIEW + r".*returns multiple views", view_of_several),
        "view_of_function": (VIEW + r".*created inside a custom Function", view_of_function),
        "view_of_no_grad": (
            r"^RuntimeError: .*view.* was created in (no_grad|inference) mode and (is being|its base)",
            view_of_no_grad,
        ),
        "integer_requires_grad": (
            r"^RuntimeError: [oO]nly Tensors of floating point (?:and complex )?dtype can require gradients",
            integer_requires_grad,
        ),
        "flag_of_non_leaf": (
            r"^RuntimeError: you can only change requires_grad flags of leaf variables\.( If you)?",
            flag_of_non_leaf,
        ),
        "retain_grad_without": (
            r"^RuntimeError: can't retain_grad on Tensor that has requires_grad=False",
            without_graph("retain_grad_without", "retain_grad_without_why", "compute_with_gradients"),
        ),
        "hook_without": (
            r"^RuntimeError: cannot register a hook on a tensor that doesn't require gradient",
            without_graph("hook_without", "hook_without_why", "compute_with_gradients"),
        ),
        "hook_of_non_leaf": (
            r"^RuntimeError: post accumulate grad hooks cannot be registered on non-leaf tensors",
            hook_of_non_leaf,
        ),
        "numpy_of_graph": (
            r"^RuntimeError: Can't call numpy\(\) on Tensor that requires grad",
            numpy_of_graph,
        ),
        "deepcopy_of_non_leaf": (
            r"^RuntimeError: Only Tensors created explicitly by the user .* support the deepcopy protocol",
            deepcopy_of_non_leaf,
        ),
        "optimizer_of_non_leaf": (r"^ValueError: can't optimize a non-leaf Tensor", optimizer_of_non_leaf),
        "assigned_grad": (
            r"^\w+: (?:assigned grad|attempting to assign a gradient|can't assign Variable as its own grad)",
            assigned_grad,
        ),
    }.items()
}
