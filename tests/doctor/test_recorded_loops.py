"""A cell with a training loop is judged by the doctor's rules: the same key and the same sentence as the
doctor's own report of that program, though the recording has seen other numbers. Where a note of the cell
tells of the same fault, that alone is said."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from cells import traced
from staged import explanations_of

from doctor import faults, healthy
from doctor.zoo_run import run
from minigrad_viz.explaining import loop_findings
from minigrad_viz.trace.graph import Explanation

PROGRAMS = {program.name: program for program in [*faults.programs(), *healthy.programs()]}
NUMBER = re.compile(r"\d[\d,.]*(e[-+]?\d+)?|nan|inf")


def template(sentence: str) -> str:
    """A sentence without its numbers, and without the model's variable before the path of a module."""
    return NUMBER.sub("#", re.sub(r"\bnet\.", "", sentence))


# The doctor finds the model that holds the list, the cell the class; and a cell that fails has no rounds.
OTHERWISE = {"layers_in_a_list-gpt", "argmax-cnn", "all_frozen-mlp"}
# Whose line filled the parameters before they were used, which is not recorded.
STARTS = {"zeros", "constants", "dead", "exploding", "saturated"}
FIRST = {program.fault.kind: program.name for program in reversed(faults.programs())}
KINDS = sorted(set(FIRST.values()) - OTHERWISE)


def notes_alone(source: str, torch) -> tuple[Explanation, ...]:
    """What is explained of a cell without the rules of the doctor."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_findings, "LOOP", 10**9)
        return explanations_of(traced(source, torch), "en")


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", KINDS)
def test_a_cell_says_what_the_doctor_says(name, torch):
    """Of each kind of fault a program."""
    program = PROGRAMS[name]
    finding = run(program).findings[0]
    found = [each for each in explanations_of(traced(program.source, torch), "en") if not each.error]
    same = [each for each in found if each.key == finding.key]
    assert len(same) == 1, [each.key for each in found]
    assert found[0] == same[0] and {each.key for each in found} <= {finding.key, "first_nan"}
    if finding.key == "equal_units" and "recorded" in same[0].why:
        finding = replace(finding, words="doctor_symmetric_in_part")
    verdict = template(finding.verdict("en"))
    noted = same[0].why.startswith(tuple(each.why for each in notes_alone(program.source, torch)))
    assert noted or template(same[0].why).startswith(verdict)
    assert not noted or verdict not in template(same[0].why)  # a reader is told once
    if program.line and same[0].cause is not None and program.fault.kind not in STARTS:
        assert abs(same[0].cause.line - program.line) <= (program.fault.kind == "no_grad")


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["argmax-cnn", "all_frozen-mlp"])
def test_a_cell_that_fails_has_the_key_of_the_doctor(name, torch):
    program = PROGRAMS[name]
    (found,) = explanations_of(traced(program.source, torch), "en")
    assert found.key == run(program).findings[0].key == "no_grad_fn" and found.cause.line == program.line


@pytest.mark.parametrize(("fault", "certain"), [("zeros", True), ("constants", False)])
def test_equal_rows_of_a_part(fault, certain, torch):
    """A recording holds a part of a large weight: a verdict about all rows is certain if all its numbers are
    between equal extremes."""
    (found,) = explanations_of(traced(PROGRAMS[f"{fault}-mlp"].source, torch), "en")
    assert found.key == "equal_units" and ("recorded" not in found.why) is certain


def test_layers_in_a_list(torch):
    """Both have the key and the line; the doctor calls the list by its model, the cell by its class."""
    program = PROGRAMS["layers_in_a_list-gpt"]
    found = explanations_of(traced(program.source, torch), "en")
    assert [each.key for each in found] == [run(program).findings[0].key] == ["unregistered"]
    assert found[0].cause.line == program.line


@pytest.mark.parametrize("change", ["batch_size=200", "batch_size=16, shuffle=True"])
def test_a_loader_that_may_start_again(change, torch):
    """It has one batch, or another one each time."""
    source = PROGRAMS["first_batch-mlp"].source
    changed = source.replace("batch_size=16", change)
    assert changed != source and explanations_of(traced(changed, torch), "en") == ()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "name",
    [
        "plain-mlp",
        "adam-gpt",
        "accumulation-mlp",
        "frozen_body-cnn",
        "closure-mlp",
        "ppo",
        "probe-cnn",
        "probe_in_the_loop-mlp",
        "probe_detached-mlp",
        "probe_of_features-mlp",
        "probe_after_training-mlp",
    ],
)
def test_a_healthy_cell_is_not_accused(name, torch):
    assert explanations_of(traced(PROGRAMS[name].source, torch), "en") == ()


def test_a_rate_of_zero_in_minigrad(torch):
    cell = """
w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.0)
for step in range(8):
    loss = (w ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    for steps, expected in ((8, ["lr_zero"]), (3, [])):  # three steps are no loop yet
        found = explanations_of(traced(cell.replace("range(8)", f"range({steps})")), "en")
        assert [each.key for each in found] == expected
