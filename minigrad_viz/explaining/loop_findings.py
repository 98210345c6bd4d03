"""A recorded cell with a training loop is judged by the rules of the doctor.

Note [Notes and findings]
~~~~~~~~~~~~~~~~~~~~~~~~~
The notes of a cell know its source and every number, so their fix is code of the cell. The findings of
`training_faults` know what many steps show. Where both name the same fault, by its key, the verdict of the
finding comes first and the note says what this cell shows of it. A finding that follows from the fault of a
note is not shown: one fault, one explanation.
"""

from __future__ import annotations

from ..model.scene import Scenes
from ..trace.events import OptimizerStepped
from ..trace.graph import Explanation
from ..training_faults.diagnosis import BELOW, findings_of, is_explained_by
from .case import Case
from .loop_evidence import LoopEvidence
from .loop_proofs import add_proofs

# Under which other keys notes tell of a fault.
NOTED = {
    "no_log_softmax": ("scores_twice",),
    "out_of_reach": ("new_leaf",),
    "unregistered": ("other_parameters",),
    "no_step": ("other_parameters",),
}
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
        keys = finding.key, *NOTED.get(finding.key, ())
        if finding.key == "lr_large" and seen.diverges:
            keys = *keys, "first_nan"
        same = next((i for i, note in enumerate(found) if note.key in keys), None)
        below = {each.key for each in finding.follows}
        effect = next((i for i, note in enumerate(found) if note.key in below), None)
        span = None if finding.place is None else seen.spans.get(finding.place)
        if same is not None:
            note = found[same]
            cause = note.cause if note.key == finding.key and note.cause else span or note.cause
            found[same] = note._replace(key=finding.key, why=f"{verdict} {note.why}".strip(), cause=cause)
        elif effect is not None:
            why = f"{verdict} {found[effect].why}".strip()
            found[effect] = found[effect]._replace(key=finding.key, why=why, fix=fix, cause=span)
        elif not any(is_explained_by(finding.key, note.key) for note in notes):
            found.append(Explanation(finding.key, "", verdict, fix, (), 0, None, span))
    return sorted(found, key=lambda each: any(is_explained_by(each.key, other.key) for other in found))
