"""`predict`, `check_prediction` and `--predict`: as functions, in a terminal and on the command line."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from cells import CELLS, run

from minigrad_viz import check_prediction, predict, record
from minigrad_viz.predicting.question import interview
from minigrad_viz.predicting.questions import questions_of
from minigrad_viz.shell import explain
from minigrad_viz.shell.report import Report

TOLD = "You followed the path through y only. x is used twice: add the gradient from the path through w."


def graph(library):
    x = library.tensor(5.0, requires_grad=True)
    y = x**3
    w = x**2
    z = library.log(y) + library.sqrt(w)
    return x, y, w, z


@pytest.mark.quick
def test_a_graph_before_backward(library):
    x, y, w, z = graph(library)
    question = predict(z, "x.grad", lang="en")
    assert repr(question) == "`backward()` runs. What will be in x.grad afterwards?"
    assert x.grad is None
    wrong, right = question.check("0.6"), question.check("8/5")
    assert not wrong and TOLD in wrong.text and wrong.hints[0] == TOLD
    assert right and right.text == "Right. x.grad = 1.6"
    assert question.hint() == "2 paths lead from z to x. Multiply along each path, then add the products."
    assert question.show() == "x.grad = 1.6"
    z.backward()
    assert question.check(x.grad)
    del y, w


def test_for_asserts(library):
    x, y, w, z = graph(library)
    assert check_prediction(z, "x.grad", 1.6)
    assert not check_prediction(z, "x.grad", 85, lang="en")
    with pytest.raises(AssertionError, match="You used only the derivative of the last step"):
        assert check_prediction(z, "x.grad", 85, lang="en"), check_prediction(z, "x.grad", 85, lang="en").text
    del x, y, w


def test_what_was_recorded(library):
    with record() as recording:
        x, y, w, z = graph(library)
        z.backward()
    for source in (recording, recording.report, recording.trace):
        assert predict(source, "next").check("SqrtBackward")
        assert predict(source, "x.grad").check(1.6)
    del x, y, w


def test_what_nobody_can_answer(library, monkeypatch):
    x, y, w, z = graph(library)
    z.backward()
    with pytest.raises(ValueError, match=r"no answer to q\.grad\. Ask it before backward\(\)"):
        predict(z, "q.grad", lang="en")
    with pytest.raises(TypeError, match="not list"):
        predict([1], "x.grad")
    with pytest.raises(TypeError, match="needs to know"):
        predict(z)
    monkeypatch.setattr(explain, "_last", [])
    with pytest.raises(RuntimeError):
        predict("x.grad")  # no cell was watched
    del x, y, w


def test_nothing_shown_gives_an_answer_away(library):
    report = Report(run(CELLS[9], library).trace, lang="en", predict=True)
    subjects = [question.subject.replace("Backward0", "Backward") for question in report.questions]
    assert subjects == ["leaves", "next", "SqrtBackward(b)→w", "x.grad"]
    for shown in (
        report.text(),
        report.text(steps=True),
        report.html("static"),
        report.html("none"),
        repr(report),
    ):
        assert not re.search(r"\b1\.6\b|\b0\.008\b|stores|✓", shown)
        assert "What will be in x.grad?" in shown


@pytest.mark.quick
def test_one_question_after_the_other(library):
    report = Report(run(CELLS[9], library).trace, lang="en", predict=True)
    typed, told = iter(["x", "?", "a", "b", "1", "0.1", "0.6", "", "1.6"]), list[str]()
    assert interview(questions_of(report.scenes), lambda prompt: next(typed), told.append, "en")
    assert told[1] == "Right. x" and told[-2].endswith("add the gradient from the path through w.")
    assert told[-1] == "∂z/∂x = 10·0.1 + 75·0.008 = 1 + 0.6 = 1.6"
    assert next(typed) == "1.6"  # the solution ended it


def command(tmp_path, answers):
    file = tmp_path / "cell.py"
    file.write_text("import minigrad as torch\n" + CELLS[9])
    done = subprocess.run(
        [sys.executable, "-m", "minigrad_viz", "--predict", "--lang", "en", str(file)],
        input=answers, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.full
def test_on_the_command_line(tmp_path):
    shown = command(tmp_path, "x\nb\n0.1\n0.6\n1.6\n")
    assert TOLD in shown and "Right. ∂z/∂x" in shown and "AccumulateGrad" in shown.split("Right. ∂z/∂x")[1]
    alone = command(tmp_path, "")
    assert "1.6" not in alone and "What will be in x.grad?" in alone
