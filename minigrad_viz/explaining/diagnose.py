"""Which errors a trace holds, and which rule explains each of them.

Note [How to add a rule]
~~~~~~~~~~~~~~~~~~~~~~~~
An error is recognized by its text, which is the same in minigrad and in PyTorch. Its rule is a function with
the key of the explanation and patterns of the text:

    @rule("no_grad_fn", r"element {i} of tensors does not require grad")
    def no_grad_fn(case: Case, i: int) -> Explanation | None:
        …
        return case.explain("no_grad_fn_why_made", "no_grad_fn_fix_made", marks, cause, root=case.name(root))

The function is given what stands at `{i}`: whole numbers as such, `[4, 2]` and `4x2` as shapes. It looks for
evidence in the trace. It leaves out of `why`, `fix` and `marks` what it has none for, and ends with None, or
by `sure` and `need`, where the error is another one after all. It names lines only of what stands in the
cell: `case.line(span)` has them, and is None elsewhere. Rules of a module are tried in the order of its
source.

A `call_rule` is for the expression that ended the cell. Its function gets a `FailedCall`, which has the
operands with their names, shapes and dtypes, writes the line otherwise, and marks in the picture what the
sentence tells of operands:

    @call_rule("index_shapes", "Index tensor must have the same number of dimensions as")
    def gathered(failed: FailedCall) -> Explanation | None:
        one, index = failed.operands[:2]
        fix = failed.behind(index, ".unsqueeze(1)")
        return failed.explain("index_gather", fix, name=one, index=index)
"""

from __future__ import annotations

from ..model.scene import Scenes
from ..trace.events import BackwardEnded, Failed
from ..trace.explained import Explanation
from . import (
    at_backward,
    at_call,
    at_nodes,
    at_roots,
    at_saved,
    given,
    indices,
    layers,
    models,
    no_tensors,
    none_values,
    numerical,
    reshaping,
    shape_mismatch,
    targets,
)  # fmt: skip
from .case import Case
from .history import new_leaves
from .not_finite import not_finite
from .not_learning import not_learning
from .rules import RULES
from .silent_mistakes import broadcast_losses, dead_units, forgotten
from .unkept import single_precision, unkept


def explanations_of(scenes: Scenes, lang: str | None = None) -> tuple[Explanation, ...]:
    """An explanation for every error of a recorded cell: those of backward calls, caught or not, and
    the one that ended the cell, which is the last. Before them notes, which have no error."""
    found, last = [], None
    for time, event in enumerate(scenes.trace.events):
        if isinstance(event, BackwardEnded):
            last = event.error
        again = isinstance(event, Failed) and event.error == last  # that of the last call went on
        if isinstance(event, BackwardEnded | Failed) and event.error is not None and not again:
            found.append(diagnosed(Case(scenes, 0, None, lang, time)))
    return (*notes_of(scenes, lang), *found)


def notes_of(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """What a cell may not have meant although nothing failed, and what it was shown to do."""
    if not scenes.trace.recorded or scenes.trace.passed:  # that something is missing means nothing
        return []
    silent = (*new_leaves(scenes, lang), *unkept(scenes, lang), *single_precision(scenes, lang))
    silent = (*silent, *not_finite(scenes, lang), *not_learning(scenes, lang))
    silent = (*silent, *dead_units(scenes, lang), *broadcast_losses(scenes, lang))
    return [*silent, *forgotten(scenes, lang), *given.notes_of(scenes, lang)]


MODULES = (
    at_backward, at_saved, at_roots, at_nodes, at_call, numerical, none_values, targets, layers,
    shape_mismatch, reshaping, indices, models, no_tensors,
)  # fmt: skip


def diagnosed(case: Case) -> Explanation:
    """The explanation of one error. One that no rule knows has its text, and is marked where the call
    stopped after nodes had run (else it may have come up before any)."""
    rules = (rule for module in MODULES for rule in RULES[module.__name__])
    known = next(filter(None, (rule.apply(case) for rule in rules)), None)
    if known is not None:
        return known
    stopped = case.guilty is not None and case.scene.now.ran
    return case.explain(marks=case.stopped(case.guilty) if stopped and case.guilty else ())
