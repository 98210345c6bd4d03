"""A recorded cell with a training loop is judged by the rules of the doctor.

Note [Notes and findings]
~~~~~~~~~~~~~~~~~~~~~~~~~
The notes of a cell know its source and every number, so their fix is code of the cell. The findings of
`training_faults` know what many steps show. Where both name the same fault, the note alone tells it, as it
knows more of the cell; where the note is about an effect, the verdict of the finding comes first and the note
says what this cell shows of it. A finding that follows from the fault of a note is not shown: one fault, one
explanation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..model.scene import Scenes
from ..trace.events import OptimizerStepped
from ..trace.graph import Explanation
from ..trace.source_positions import Span
from ..training_faults.diagnosis import BELOW, findings_of, is_explained_by
from .case import Case
from .loop_evidence import LoopEvidence
from .loop_proofs import add_proofs

# Under which other keys notes tell of a fault, and of which fault they say nothing but what came of it.
NOTED = {
    "no_log_softmax": ("scores_twice",),
    "out_of_reach": ("new_leaf",),
    "unregistered": ("other_parameters",),
    "no_step": ("other_parameters",),
    "lr_large": ("first_nan",),
}
EFFECTS = ("no_step", "lr_large")
PLACED = ("kept_gradient", "other_parameters")  # whose line the doctor knows among several optimizers
LOOP = 5  # steps of optimizers that make a loop; or backward calls, where a note says that a step is missing


def with_findings(scenes: Scenes, notes: list[Explanation], lang: str | None = None) -> list[Explanation]:
    """The notes of a cell, with the findings of the doctor's rules if the cell has a training loop."""
    started = scenes.index.started
    rounds = len(scenes.trace.of(OptimizerStepped))
    if any(note.key == "no_step" for note in notes):
        rounds = len(started)
    if scenes.trace.error or rounds < LOOP or not started:
        return notes
    case = Case(scenes, started[-1].call, started[-1].span, lang)
    seen = LoopEvidence(case)
    add_proofs(seen, notes)
    keys_of_notes = {note.key for note in notes}
    found = [note for note in notes if not any(note.key in BELOW.get(key, ()) for key in keys_of_notes)]
    for finding in findings_of(seen.evidence):
        verdict, fix = finding.verdict(lang), finding.fix(lang)
        span = None if finding.place is None else seen.spans.get(finding.place)
        same = same_fault(finding.key, span, found, seen.diverges)
        below = {each.key for each in finding.follows}
        if seen.diverges:  # what the start of the run explains, the note has seen at its end
            below.update(BELOW.get(finding.key, ()))
        effect = next((i for i, note in enumerate(found) if note.key in below), None)
        if same is not None:
            note = found[same]
            cause = note.cause if note.key == finding.key and note.cause else span or note.cause
            why = note.why if finding.key not in EFFECTS else f"{verdict} {note.why}"
            if finding.key == "first_nan" and note.key == "first_nan" and finding.step:
                why = f"{why} {case.words('nan_step', step=finding.step)}"
            if finding.key in PLACED and span is not None and not names_line(note.why, span.line):
                why, cause = verdict, span
            found[same] = note._replace(key=finding.key, why=why, cause=cause)
        elif effect is not None:
            why = f"{verdict} {found[effect].why}".strip()
            found[effect] = found[effect]._replace(key=finding.key, why=why, fix=fix, cause=span)
        elif not any(is_explained_by(finding.key, note.key) for note in notes):
            found.append(Explanation(finding.key, "", verdict, fix, (), 0, None, span))
    return sorted(found, key=lambda each: any(is_explained_by(each.key, other.key) for other in found))


def names_line(sentence: str, line: int) -> bool:
    """Whether a sentence names a line."""
    return re.search(rf"(?<!\d){line}(?!\d)", sentence) is not None


def same_fault(key: str, span: Span | None, notes: Sequence[Explanation], diverges: bool) -> int | None:
    """Which of the notes tells of the fault that a finding names: the one about its line, else the first."""
    keys = key, *(NOTED.get(key, ()) if key != "lr_large" or diverges else ())
    same = [i for i, note in enumerate(notes) if note.key in keys]
    at = [i for i in same if (cause := notes[i].cause) and span and cause.line == span.line]
    return next(iter((*at, *same)), None)
