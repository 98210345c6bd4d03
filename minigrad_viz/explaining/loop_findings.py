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
from ..training_faults.diagnosis import findings_of, is_explained_by
from .case import Case
from .loop_evidence import LoopEvidence

NOTED = {"no_log_softmax": "scores_twice"}  # under which key a note tells of a fault, if another
LOOP = 5  # steps of optimizers that make a loop


def with_findings(scenes: Scenes, notes: list[Explanation], lang: str | None = None) -> list[Explanation]:
    """The notes of a cell, with the findings of the doctor's rules if the cell has a training loop."""
    started = scenes.index.started
    if scenes.trace.error or len(scenes.trace.of(OptimizerStepped)) < LOOP or not started:
        return notes
    case = Case(scenes, started[-1].call, started[-1].span, lang)
    seen = LoopEvidence(case)
    found = list(notes)
    for finding in findings_of(seen.evidence):
        verdict, fix = finding.verdict(lang), finding.fix(lang)
        keys = finding.key, NOTED.get(finding.key)
        same = next((i for i, note in enumerate(found) if note.key in keys), None)
        if same is not None:
            found[same] = found[same]._replace(why=f"{verdict} {found[same].why}".strip())
        elif not any(is_explained_by(finding.key, note.key) for note in notes):
            span = None if finding.place is None else seen.spans.get(finding.place)
            found.append(Explanation(finding.key, "", verdict, fix, (), 0, None, span))
    return found
