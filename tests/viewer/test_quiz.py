"""The quiz of the player: its data, what a page stores of it, and its judge, held against that in Python."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import zlib

import pytest
import tiers
from cells import CELLS, run
from judge_cases import CASES
from quiz_cells import cell
from tiers import examples

import minigrad
from minigrad_viz.player.quiz import quiz_of
from minigrad_viz.player.static_html import EXTRAS, player, scripts, source
from minigrad_viz.predicting.question import NO, YES, QuizQuestion, judge
from minigrad_viz.shell.report import Report

NODE = shutil.which("node")
TYPED = (
    "0.6 1.6 8/5 75*0.008 2 85 9.18 None none [1,2] [1._2.] ? x a b LogBackward LogBackward0(a) yes no () "
    "AccumulateGrad(x) SqrtBackward(b) RuntimeError 예 아니요 (2,) 2x3 (2,_3) x,y x_and_y z 1e-3 -0.5 "
    "−3 2**3 2^3 1+ sqrt(4) 0.067 0.60 0.601 1.59 1.61 12 tensor([1.,_2.]) 1/0 9**9**9 [[1,2],[3,4]]"
)


def report_of(source, library=minigrad, **options):
    return Report(run(source, library).trace, lang="en", predict=True, **options)


def unpacked(packed):
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def quiz(report):
    calls = [view.call for view in report.views]
    return unpacked(quiz_of(report.questions, report.acts, calls, "en"))


@pytest.mark.quick
def test_where_questions_are_asked(library):
    questions = quiz(report_of(CELLS[9], library))["questions"]
    assert [(q["kind"], q["act"], q["step"]) for q in questions] == [
        ("leaves", 0, 6), ("next", 0, 8), ("grad", 0, 8), ("grad", 0, 10),
    ]  # fmt: skip
    gradient = questions[-1]
    assert gradient["row"] == "s0-c0-grad" and gradient["label"] == "x.grad ="
    one_path = [wrong for wrong in gradient["wrong"] if wrong["key"] == "quiz_one_path"]
    assert {tuple(wrong["missing"]) for wrong in one_path} == {("r5", "r3", "r1"), ("r4", "r2", "r0")}
    assert all(part["route"] for part in gradient["parts"])


def test_two_calls_have_questions_of_their_own(library):
    questions = quiz(report_of(CELLS[7], library))["questions"]
    assert [(q["kind"], q["act"]) for q in questions] == [
        ("leaves", 0), ("grad", 0), ("grad", 0), ("raises", 1), ("grad", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("number", [4, 7, 9, 10, 13, 16])
def test_no_answer_stands_in_the_text_of_a_page(number, library):
    """Neither in the HTML that is stored, but for what is packed, nor in the text beside it."""
    report = report_of(CELLS[number], library)
    page = report.html()
    packed = re.findall(r'read\("([^"]*)"\)', page)
    assert len(packed) == 2 and unpacked(packed[1])["quiz"]
    for text in (*packed, *re.findall(r'data-mgp="(\w+)"', page)):  # an id may have any digits in it
        page = page.replace(text, "")
    for shown in (page, report.text(), report._repr_mimebundle_()["text/plain"]):
        assert "What will be in" in shown and "svg" not in shown
        for question in report.questions:
            if question.kind == "grad" and isinstance(question.truth, float):
                assert f"{question.truth:.4g}" not in shown


def test_a_cell_that_does_not_ask_stores_nothing_of_it():
    plain = Report(run(CELLS[9], minigrad).trace, lang="en").html()
    code, style = unpacked(re.findall(r'read\("([^"]*)"\)', plain)[0])
    assert "Quiz" not in code and "mgp-ask" not in style
    assert "quiz" not in unpacked(re.findall(r'read\("([^"]*)"\)', plain)[1])
    # Packed, it is 9.6 kB: the judge, the panel, what goes to a kernel, what hides answers in the picture.
    assert len(player()) < len(player("quiz")) < len(player()) + 9900


def test_a_cell_without_questions_is_shown_as_usual():
    report = report_of("x = torch.tensor(1.)\n")
    assert not report.questions and "leaves nothing to predict" in report.text()


@pytest.mark.quick
@pytest.mark.parametrize("also", ["", *EXTRAS, "strip quiz", "strip live", "strip learning"])
def test_files_of_the_player_share_no_name(also):
    """They are joined into one scope, where the second of two functions would silently take the place of the
    first."""
    declared = re.compile(r"^(?:export )?(?:default )?(?:async )?(?:const|let|function|class) (\w+)", re.M)
    names = [name for script in scripts(also) for name in declared.findall(script)]
    assert len(names) > 100 and len(names) == len(set(names))


def question_of(kind, truth):
    """A question of a kind, without wrong answers that are understood."""
    said = ("quiz_solution", {"formula": ""})
    return QuizQuestion(kind, "x.grad", truth, said, said, 1, 0, said, choices=("x", "w"))


@pytest.mark.parametrize(("kind", "truth", "typed", "outcome"), CASES)
def test_a_typed_answer_in_python(kind, truth, typed, outcome):
    judged = judge(question_of(kind, truth), typed, lang="en")
    unread = judged.keys[0].startswith("quiz_read_")
    assert ("unread" if unread else "right" if judged.right else "wrong") == outcome


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_typed_answer_on_the_page(tmp_path):
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "stepper_quiz_judge.js").write_text(source("stepper_quiz_judge.js"), encoding="utf-8")
    program = """
        import { judge } from "./stepper_quiz_judge.js";
        const outcome = ({ unread, right }) => unread ? "unread" : right ? "right" : "wrong";
        const told = CASES.map(([kind, truth, typed]) =>
            outcome(judge({ kind, truth, wrong: [], choices: ["x", "w"], words: WORDS }, typed)));
        console.log(JSON.stringify(told));
    """.replace("WORDS", json.dumps({"yes": YES, "no": NO})).replace("CASES", json.dumps(CASES))
    command = [str(NODE), "--input-type=module", "-"]
    done = subprocess.run(command, input=program, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    told = zip(CASES, json.loads(done.stdout), strict=True)
    assert [(case[2], found) for case, found in told if found != case[3]] == []


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_page_judges_as_python_does(tmp_path):
    """Many answers to the questions of documented and random cells: right or not, and which misconception."""
    documented = [CELLS[number] for number in CELLS if tiers.full or number % 3 == 1]
    reports = [report_of(source) for source in (*documented, *map(cell, range(examples(25))))]
    typed = [one.replace("_", " ") for one in TYPED.split()]
    cases, wanted = [], []
    for report in reports:
        if not report.graph.stations:
            continue
        asked = quiz(report)["questions"] if report.questions else []
        known = {(data["subject"], report.views[data["act"]].call): data for data in asked}
        for question in report.questions:
            data = known.get((question.subject, question.call))
            if data is None:
                continue
            own = [str(wrong.answer) for wrong in question.wrong[:12]]
            answers = [*typed, *own, str(question.truth)]
            cases.append([data, answers])
            wanted.append([told(question, answer) for answer in answers])
    (tmp_path / "package.json").write_text('{"type": "module"}')
    for name in EXTRAS["quiz"][:1]:
        (tmp_path / name).write_text(source(name), encoding="utf-8")
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    program = """
        import { readFileSync } from "node:fs";
        import { judge } from "./stepper_quiz_judge.js";
        const words = WORDS;
        const keys = ({ unread, right, wrong }) =>
            unread ? ["unread"] : right ? ["right"] : wrong.map(({ key }) => key);
        const cases = JSON.parse(readFileSync("cases.json", "utf-8"));
        const judged = (data) => (typed) => keys(judge({ ...data, words }, typed));
        const told = cases.map(([data, answers]) => answers.map(judged(data)));
        console.log(JSON.stringify(told));
    """.replace("WORDS", json.dumps({"yes": YES, "no": NO}))
    done = subprocess.run(
        [str(NODE), "--input-type=module", "-"],
        input=program, cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert len(cases) > (60 if tiers.full else 20)
    for (data, answers), mine, theirs in zip(cases, wanted, found, strict=True):
        for answer, python, script in zip(answers, mine, theirs, strict=True):
            assert script == python, (data["subject"], data["truth"], answer)


def told(question, answer):
    """What Python says of an answer, in the words of the page."""
    judged = judge(question, answer, lang="en")
    if judged.right:
        return ["right"]
    if judged.keys[0].startswith("quiz_read_"):
        return ["unread"]
    return list(judged.keys) if judged.hints else []
