"""Which errors a trace holds, and which rule explains each of them.

Note [How to add a rule]
~~~~~~~~~~~~~~~~~~~~~~~~
An error is recognized by its text, which is the same in minigrad and in PyTorch. Its rule is a function with
the key of the explanation and patterns of the text:

    @rule("no_grad_fn", r"element {i} of tensors does not require grad")
    def no_grad_fn(case: Case, i: int) -> Explanation | None:
        …
        return case.explain("no_grad_fn_why_made", "no_grad_fn_fix_made", marks, cause, root=case.name(root))

The function is given what is at `{i}`: whole numbers as such, `[4, 2]` and `4x2` as shapes. It looks for
evidence in the trace. It leaves out of `why`, `fix` and `marks` what it has none for, and ends with None, or
by `require` and `need`, where the error is another one after all. It names lines only of what is in the
cell: `case.line(span)` has them, and is None elsewhere. Rules of a module are tried in the order of its
source.

A `call_rule` is for the expression that ended the cell. Its function gets a `FailedCall`, which has the
operands with their names, shapes and dtypes, writes the line otherwise, and marks in the picture what the
sentence says about operands:

    @call_rule("index_shapes", "Index tensor must have the same number of dimensions as")
    def gathered(failed: FailedCall) -> Explanation | None:
        one, index = failed.operands[:2]
        fix = failed.behind(index, ".unsqueeze(1)")
        return failed.explain("index_gather", fix, name=one, index=index)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..model.scene import Scenes
from ..trace.events import BackwardEnded, Trace
from ..trace.graph import Explanation
from ..trace.source_positions import SourceText
from . import (
    backward_errors,
    call_slips,
    custom_functions,
    indices,
    jacobians,
    layers,
    models,
    none_values,
    not_tensors,
    roots,
    saved_writes,
    shapes,
    tensor_calls,
)
from .case import RULES, Case
from .custom_functions import silent_functions
from .loop_findings import with_findings
from .lost_paths import new_leaves
from .missing_grad import grads_of_non_leaves, single_precision
from .not_finite import not_finite
from .numerical_check import wrong_backwards
from .silent_mistakes import broadcast_losses, dead_units, missing_steps, not_learning
from .training_rounds import training_notes
from .tried_fixes import with_tried_code


def explanations_of(scenes: Scenes, lang: str | None = None) -> tuple[Explanation, ...]:
    """An explanation for every error of a recorded cell: those of backward calls, caught or not, and
    the one that ended the cell, which is the last. Before them notes, which have no error."""
    return with_trials(diagnoses(scenes, lang), scenes.trace, lang)


def with_trials(
    explained: Iterable[Explanation], trace: Trace, lang: str | None, cells: Sequence[int] = ()
) -> tuple[Explanation, ...]:
    """Explanations whose fixes were tried; of several `cells` joined, the lines after which they begin."""
    source = SourceText(trace.source)
    return tuple(with_tried_code(each, trace, source, lang, cells) for each in explained)


def diagnoses(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """The same, with fixes that were not tried yet; of several cells joined, the errors of the last one."""
    found, last = [], None
    for time, event in enumerate(scenes.trace.events):
        again = event.error == last and not event.call  # that of the last call went on, and ended the cell
        if event.error is not None and not again and time >= scenes.begin:
            found.append(diagnose(Case(scenes, 0, None, lang, time)))
        last = event.error if isinstance(event, BackwardEnded) else last
    return [*notes_of(scenes, lang), *found]


def notes_of(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """What a cell may not have meant although nothing failed, and what it was shown to do."""
    if not scenes.trace.recorded or scenes.trace.passed:  # that something is missing means nothing
        return []
    silent = (*new_leaves(scenes, lang), *grads_of_non_leaves(scenes, lang), *single_precision(scenes, lang))
    silent = (*silent, *not_finite(scenes, lang), *not_learning(scenes, lang))
    silent = (*silent, *(list(silent_functions(scenes, lang)) or wrong_backwards(scenes, lang)))
    silent = (*silent, *dead_units(scenes, lang), *broadcast_losses(scenes, lang))
    silent = (*silent, *training_notes(scenes, lang))
    missing = list(missing_steps(scenes, lang))
    if any(each.cause is not None and each.cause.text.endswith("zero_grad") for each in missing):
        silent = tuple(each for each in silent if each.key != "kept_gradient")  # which comes of that
    notes = [*silent, *missing, *jacobians.vector_notes(scenes, lang)]
    return with_findings(scenes, notes, lang)


MODULES = (  # in this order, as some patterns fit the errors of later ones
    roots, call_slips, saved_writes, custom_functions, backward_errors, tensor_calls, jacobians, none_values,
    layers, shapes, indices, models, not_tensors,
)  # fmt: skip


def diagnose(case: Case) -> Explanation:
    """The explanation of one error. One that no rule knows has its text, and is marked where the call
    stopped after nodes had run (else it may have come up before any)."""
    rules = (rule for module in MODULES for rule in RULES[module.__name__])
    known = next(filter(None, (rule.apply(case) for rule in rules)), None)
    if known is not None:
        return known
    stopped = case.guilty is not None and case.scene.now.ran
    return case.explain(marks=case.stopped(case.guilty) if stopped and case.guilty else ())
