"""A cell with a training loop is judged by the doctor's rules: the same key and the same sentence as the
doctor's own report of that program, though the recording has seen other numbers."""

from __future__ import annotations

import re

import pytest
from cells import traced
from staged import explanations_of

from doctor import faults, healthy
from doctor.zoo_run import run

PROGRAMS = {program.name: program for program in [*faults.programs(), *healthy.programs()]}
NUMBER = re.compile(r"\d[\d,.]*(e[-+]?\d+)?|nan|inf")


def template(sentence: str) -> str:
    """A sentence without its numbers, and without the model's variable before the path of a module."""
    return NUMBER.sub("#", re.sub(r"\bnet\.", "", sentence))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "name",
    [
        "no_reset-mlp", "rate_zero-mlp", "rate_small-mlp", "decay_large-mlp", "broadcast_mse-mlp", "ascent-mlp",
        "softmax_twice-cnn", "one_label-cnn", "reset_before_step-mlp", "step_before_backward-mlp",
    ],
)  # fmt: skip
def test_a_cell_says_what_the_doctor_says(name, torch):
    program = PROGRAMS[name]
    finding = run(program).findings[0]
    found = [each for each in explanations_of(traced(program.source, torch), "en") if not each.error]
    same = [each for each in found if each.key == finding.key]
    assert len(same) == 1, [each.key for each in found]
    assert {each.key for each in found} <= {finding.key, "first_nan"}  # one fault, and that it diverges
    assert template(same[0].why).startswith(template(finding.verdict("en")))
    assert not program.line or same[0].cause is None or same[0].cause.line == program.line


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
