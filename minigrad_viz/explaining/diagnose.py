"""Which errors a trace holds, and which rule explains each of them.

Note [How to add a rule]
~~~~~~~~~~~~~~~~~~~~~~~~
An error that has a `key` is recognised by its text, which is the same in minigrad and in PyTorch. Its rule is
an entry in `RULES` of `at_backward` (a backward call failed) or `at_call` (anything else did):

    RULES = {"no_grad_fn": rule(r"element \\d+ of tensors does not require grad", no_grad_fn), …}

    def no_grad_fn(case: Case, match: re.Match[str]) -> Explanation | None:
        …
        return case.explain("no_grad_fn", why, fix, marks, cause)

The function looks for evidence in the trace. It leaves out of `why`, `fix` and `marks` what it has none for,
and gives None for an error that only looks like its own (the user's `raise RuntimeError("…")`): then the next
rule is asked. Sentences come from the catalogue by key (`case.words`), marks from `case.card`, `case.deck`,
`case.chip` and `case.arrow`, which give none for what is not in the picture. Lines of the source are told as
`case.line(span)` has them, and not at all where that is None.
"""

from __future__ import annotations

from ..model.scene import Scenes
from ..trace.events import BackwardEnded, Failed
from ..trace.explained import Explanation
from . import (
    at_backward,
    at_call,
    broadcasting,
    dtypes,
    given,
    indices,
    joining,
    layers,
    matrix_sizes,
    no_tensors,
    none_grad,
    numerical,
    reshaping,
    targets,
)
from .case import Case
from .dead_units import dead_units
from .lost import new_leaves
from .not_finite import not_finite
from .not_learning import not_learning
from .silent_broadcast import broadcast_losses
from .unkept import single_precision, unkept


def explanations_of(scenes: Scenes, lang: str | None = None) -> tuple[Explanation, ...]:
    """An explanation for every error of a recorded cell: those of backward calls, be they caught or not, and
    the one that ended the cell, which is the last. Before them notes, which have no error."""
    found, last = [], None
    for time, event in enumerate(scenes.trace.events):
        if isinstance(event, BackwardEnded):
            last = event.error
        again = isinstance(event, Failed) and event.error == last  # that of the last call went on
        if isinstance(event, BackwardEnded | Failed) and event.error is not None and not again:
            found.append(diagnosed(Case(scenes, time, lang)))
    return (*notes_of(scenes, lang), *found)


def notes_of(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """What a cell may not have meant although nothing failed, and what it was shown to do."""
    if not scenes.trace.recorded:
        return []
    silent = (*new_leaves(scenes, lang), *unkept(scenes, lang), *single_precision(scenes, lang))
    silent = (*silent, *not_finite(scenes, lang), *not_learning(scenes, lang))
    silent = (*silent, *dead_units(scenes, lang), *broadcast_losses(scenes, lang))
    return [*silent, *given.notes_of(scenes, lang)]


RULES = [
    *at_backward.RULES.values(),
    *at_call.RULES.values(),
    *numerical.RULES.values(),
    *none_grad.RULES.values(),
    *targets.RULES.values(),
    *layers.RULES.values(),
    *matrix_sizes.RULES.values(),
    *broadcasting.RULES.values(),
    *reshaping.RULES.values(),
    *dtypes.RULES.values(),
    *indices.RULES.values(),
    *no_tensors.RULES.values(),
    *joining.RULES.values(),
]


def diagnosed(case: Case) -> Explanation:
    """The explanation of one error. One that no rule knows has its text, and is marked where the call
    stopped after nodes had run (else it may have come up before any)."""
    for rule in RULES:
        match = rule.pattern.search(case.error)
        known = None if match is None else rule.explain(case, match)
        if known is not None:
            return known
    if case.guilty is None or not case.scene.now.ran:
        return case.explain("")
    return case.explain("", marks=case.deck(case.guilty, label=case.words("stopped_here")))
