"""From evidence to findings: causes before symptoms, what was checked, and what was not.

Note [How to add a kind of fault]
    A rule is a function of `Evidence` in `structural.py` (a fact proves it) or `measured_faults.py` (a
    threshold decides, and a symptom fits), entered in its `RULES`. Its sentences are in `words/en/doctor.txt`
    and `words/ko/doctor.txt`; the indented line below a sentence is its fix. A program of the kind belongs in
    `tests/doctor/faults.py` first.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

from . import evidence, measured_faults, structural
from .evidence import Evidence
from .findings import CERTAIN, Fact, Finding, list_names, percent, plain
from .repairs import repair_of

# What a fault makes of a run is no second fault.
MEASURED = (
    "first_nan", "lr_large", "lr_small", "clip_tiny", "decay_large", "dead_unit", "saturated",
    "vanishing", "exploding", "one_label", "input_scale", "relu_output",
)  # fmt: skip
BELOW = {
    "seed_in_loop": ("same_batch",),
    "step_too_early": ("other_parameters",),
    "reset_too_early": ("other_parameters",),
    "stale_optimizer": ("other_parameters",),
    "new_leaf": ("other_parameters",),
    "root_leaf": ("out_of_reach", "other_parameters"),
    "equal_units": ("dead_unit", "vanishing", "exploding"),
    "input_scale": MEASURED,
    "first_nan": (
        "lr_large",
        "dead_unit",
        "saturated",
        "vanishing",
        "exploding",
        "decay_large",
        "input_scale",
    ),
    "lr_large": ("first_nan", "dead_unit", "saturated", "vanishing", "exploding", "decay_large"),
    "relu_output": ("dead_unit",),
    "dead_unit": ("vanishing", "exploding", "relu_output", "lr_small"),
    "saturated": ("vanishing", "exploding"),
    "no_log_softmax": ("ascent",),
    "decay_large": ("lr_large", "dead_unit", "vanishing", "exploding", "equal_units"),
    "exploding": ("saturated", "lr_large", "first_nan", "dead_unit", "vanishing", "decay_large"),
}
# These explain nothing of the numbers of a run.
MILD = {
    "train_mode", "eval_left_on", "scheduler_order", "graph_kept", "graph_growth", "clip_early", "clip_late",
    "same_batch", "seed_in_loop",
}  # fmt: skip


class Check(NamedTuple):
    """Something that was checked and is fine, or was not checked: its name and what there is to say."""

    name: str
    fact: Fact


def findings_of(evidence: Evidence, silenced: Collection[str] = ()) -> list[Finding]:
    """What is wrong, the cause first; what follows from it is folded below it."""
    found = [finding for rule in (*structural.RULES, *measured_faults.RULES) for finding in rule(evidence)]
    found = [each for each in found if each.key not in silenced and each.name not in silenced]
    found.sort(key=lambda each: (each.key in MEASURED, each.symptom, each.certainty != CERTAIN))
    causes: list[Finding] = []
    for finding in found:
        cause = next((each for each in causes if is_below(finding, each)), None)
        if cause is None:
            causes.append(replace(finding, follows=[]))
        else:
            cause.follows.append(finding)
    return [replace(cause, repair=repair_of(evidence, cause)) for cause in causes]


def is_below(finding: Finding, cause: Finding) -> bool:
    """Whether a finding follows from a cause, or says the same."""
    if finding.key == cause.key and finding.place == cause.place:
        return True
    return is_explained_by(finding.key, cause.key)


def is_explained_by(key: str, other: str) -> bool:
    """Whether what one key names follows from what another one names, whoever has found that."""
    return key in BELOW.get(other, ()) or (key in MEASURED and other not in (*MEASURED, *MILD))


def checked_facts(e: Evidence) -> list[Check]:
    """What was checked and is fine, with its numbers."""
    keys = {each.key for finding in findings_of(e) for each in (finding, *finding.follows)}
    found: list[Check] = []
    values: dict[str, Any]
    if e.losses and e.not_finite is None and not e.not_finite_loss:
        found.append(Check("doctor_check_finite", Fact("doctor_checked_finite", {"n": e.steps})))
    held = [p for p in e.parameters.values() if p.got]
    if held and not keys & {"other_parameters", "stale_optimizer", "unregistered", "out_of_reach", "no_step"}:
        values = {"n": len(held), "total": len([p for p in e.parameters.values() if p.trains])}
        found.append(Check("doctor_check_optimizer", Fact("doctor_checked_optimizer", values)))
    if e.steps and not keys & {
        "kept_gradient",
        "reset_too_early",
        "step_too_early",
        "clip_early",
        "clip_late",
        "scheduler_order",
    }:
        steps = sum(o.steps for o in e.optimizers)
        found.append(
            Check("doctor_check_order", Fact("doctor_checked_order", {"n": steps, "backwards": e.backwards}))
        )
    weights = [p for p in e.weights() if p.typical("grad") > 0]
    if len(weights) > 1 and not keys & {"vanishing", "exploding"}:
        share = weights[0].typical("grad") / weights[-1].typical("grad")
        values = {"first": weights[0].name, "last": weights[-1].name, "ratio": plain(share)}
        found.append(Check("doctor_check_depth", Fact("doctor_checked_depth", values)))
    moved = [median for p in weights if math.isfinite(median := typical_ratio(p))]
    if moved and not keys & {"lr_large", "lr_small", "lr_zero", "lr_vanishes", "clip_tiny"}:
        values = {"low": plain(min(moved)), "high": plain(max(moved))}
        found.append(Check("doctor_check_updates", Fact("doctor_checked_updates", values)))
    units = [a for a in e.activations.values() if a.kind == "dead" and isinstance(a.runs, float)]
    if units and "dead_unit" not in keys:
        worst = max(units, key=lambda a: a.runs)
        values = {"name": worst.name, "share": percent(worst.runs)}
        found.append(Check("doctor_check_units", Fact("doctor_checked_units", values)))
    if len(e.losses) >= 2 and math.isfinite(e.losses[-1]):
        values = {"first": plain(e.losses[0]), "last": plain(e.losses[-1])}
        found.append(Check("doctor_check_loss", Fact("doctor_checked_loss", values)))
    rows = {row[1:3] for row in e.inputs}
    if len(e.inputs) >= 4 and not keys & {"same_batch", "seed_in_loop"}:
        found.append(
            Check(
                "doctor_check_batches",
                Fact("doctor_checked_batches", {"n": len(rows), "total": len(e.inputs)}),
            )
        )
    return found


def typical_ratio(p: evidence.ParameterFacts) -> float:
    found = measured_faults.ratios(p)
    return sorted(found)[len(found) // 2] if found else math.nan


def unchecked_facts(e: Evidence) -> list[Check]:
    """What was not checked, and why."""
    found: list[Check] = []
    if not e.steps:
        found.append(Check("doctor_check_order", Fact("doctor_unchecked_steps")))
    if not any(a.kind == "dead" for a in e.activations.values()):
        found.append(Check("doctor_check_units", Fact("doctor_unchecked_units")))
    if not e.losses:
        found.append(Check("doctor_check_loss", Fact("doctor_unchecked_loss")))
    if e.steps < 20:
        found.append(Check("doctor_check_trend", Fact("doctor_unchecked_trend", {"n": e.steps})))
    found.append(Check("doctor_check_held_out", Fact("doctor_unchecked_held_out")))
    found.append(Check("doctor_check_labels", Fact("doctor_unchecked_labels")))
    if e.compiled:
        values = {"names": list_names(e.compiled)}
        found.append(Check("doctor_check_watching", Fact("doctor_unchecked_compiled", values)))
    for name in e.unwatched:
        found.append(Check("doctor_check_watching", Fact("doctor_unchecked_name", {"name": name})))
    return found
