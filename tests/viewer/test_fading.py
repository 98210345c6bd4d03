"""Steps that are left to the reader: which are asked, what is right, and which hints their mistakes get."""

from __future__ import annotations

import re

import course
import pytest
from cells import CELLS, traced

from minigrad_viz.player.quiz import asked_in
from minigrad_viz.predicting.question import judge
from minigrad_viz.predicting.questions import question_about
from minigrad_viz.shell.report import Report

SERIES = course.by_id("finish_the_backward") | course.by_id("finish_a_layer")
STAGES = ("0", "1", "2", "all")
GRAPHS = [name for name in SERIES if name.rpartition("-")[2] in STAGES]
INNER = "x = torch.tensor(2.0, requires_grad=True)\nw = x * 3\nz = w ** 2 + w * 5\nz.backward()\n"


def report(source: str, fade: int | str, lang: str = "en") -> Report:
    return Report(traced(source), lang=lang, predict=True, fade=fade)


def subjects(source: str, fade: int | str) -> list[str]:
    return [question.subject for question in report(source, fade).questions]


STEPS = [
    (4, 0, []),
    (4, 1, ["x.grad"]),
    (4, 2, ["PowBackward0(y)→x", "x.grad"]),
    (4, "all", ["LogBackward0(z)→y", "PowBackward0(y)→x", "x.grad"]),
    (4, 9, ["LogBackward0(z)→y", "PowBackward0(y)→x", "x.grad"]),
    (9, 2, ["PowBackward0(y)→x", "x.grad"]),
    (14, "all", []),  # it fails
]


@pytest.mark.quick
@pytest.mark.parametrize("cell, fade, asked", STEPS)
def test_the_last_steps_are_asked(cell, fade, asked):
    assert subjects(CELLS[cell], fade) == asked


def test_a_complete_example_asks_nothing_and_shows_everything():
    shown = report(CELLS[4], 0)
    assert not shown.predict and "mgp" in shown.html() and "0.6" in shown.text()


def test_where_gradients_meet_their_sum_is_asked_before_what_is_passed_on():
    found = report(INNER, 2).questions
    assert [question.subject for question in found] == ["w.received", "MulBackward0(w)→x", "x.grad"]
    met = found[0]
    assert judge(met, "17") and met.truth == 17
    for alone in (12, 5):
        assert judge(met, alone).keys == ("quiz_meets_one",)


MISTAKES = [
    (CELLS[4], "PowBackward0(y)→x", "3 * 25 * 0.008", "quiz_right"),
    (CELLS[4], "PowBackward0(y)→x", "75", "quiz_no_upstream"),
    (CELLS[4], "PowBackward0(y)→x", "0.008", "quiz_no_local"),
    (CELLS[9], "PowBackward0(w)→x", "10.1", "quiz_adds_factors"),
    (CELLS[4], "PowBackward0(y)→x", "3", "quiz_keeps_power"),
    (CELLS[9], "x.grad", "0.6", "quiz_one_path"),
    (CELLS[9], "x.grad", "1.6", "quiz_right"),
    (SERIES["product-0"].python, "MmBackward0(Y)→W", "[[2, 4], [-1, -2]]", "quiz_transposes"),
    (SERIES["broadcast-0"].python, "AddBackward0(Y)→b", "[[1, 2], [3, 4]]", "quiz_no_broadcast_sum"),
    (SERIES["broadcast-0"].python, "AddBackward0(Y)→b", "[3, 7]", "quiz_wrong_dimension"),
]


@pytest.mark.parametrize("source, subject, typed, key", MISTAKES)
def test_each_mistake_has_its_hint(source, subject, typed, key):
    question = next(q for q in report(source, "all").questions if q.subject == subject)
    assert judge(question, typed).keys[0] == key


def test_each_graph_of_the_course_has_every_stage_with_other_numbers():
    graphs = sorted({name.rpartition("-")[0] for name in GRAPHS})
    assert graphs == ["broadcast", "chain", "fan", "network", "product", "softmax"]
    for graph in graphs:
        cells = [SERIES[f"{graph}-{stage}"] for stage in STAGES]
        assert [cell.magic.split()[3] for cell in cells] == list(STAGES)
        assert len({cell.python for cell in cells}) == 4
        assert len({re.sub(r"-?\d+\.?\d*", "0", cell.python) for cell in cells}) == 1


@pytest.mark.parametrize("name", GRAPHS)
def test_the_player_asks_every_step_of_the_course(name):
    """None stands in a closed box, and no value of an answer is too long to be typed."""
    shown = report(SERIES[name].python, "all")
    acts = shown._played()[0]
    asked = list(asked_in(acts[-1], 0, 1, shown.questions, "en"))
    backward = [i for i, frame in enumerate(acts[-1].frames, 1) if frame.phase == "backward"]
    assert {question["step"] for question in asked} == set(backward)
    assert len(asked) == len(shown.questions)
    for question in shown.questions:
        assert judge(question, question.truth), question.subject
        known = question_about(shown.scenes, question.subject)
        assert known is not None and known.truth == question.truth


def test_steps_say_what_they_are_for():
    frames = report(INNER, 0)._played()[0][-1].frames
    assert [frame.goal for frame in frames if frame.phase == "backward"] == [
        "seed, local × upstream",
        "local × upstream",
        "local × upstream",
        "sum at the fan-out, local × upstream",
        "accumulate",
    ]
    assert {frame.goal for frame in frames if frame.phase == "forward"} == {""}
