"""What a class answered: noted where that was asked for, and shown by question and mistake."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from cells import CELLS

import minigrad as torch
from minigrad_viz.__main__ import main
from minigrad_viz.course import check
from minigrad_viz.player.widget import QuizStepper
from minigrad_viz.predicting import answer_log
from minigrad_viz.shell.explain import last, predict

SVG = "{http://www.w3.org/2000/svg}"

pytest_plugins = ["magic_shell"]


@pytest.fixture
def noted(tmp_path, monkeypatch):
    """The file in which answers are noted."""
    monkeypatch.setattr(answer_log, "file", tmp_path / "answers.jsonl")
    return tmp_path / "answers.jsonl"


def lines(file):
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def answer_some():
    x = torch.tensor(5.0, requires_grad=True)
    question = predict(torch.log(x**3), "x.grad", lang="en")
    question.check("3/5")
    question.check(75)
    check("layer_by_hand.predict_2", "X @ G")
    check("layer_by_hand.predict_2", ...)


def test_an_answer_is_noted_by_its_mistake_and_without_what_was_typed(noted, capsys):
    answer_some()
    right, wrong, predicted = lines(noted)
    assert right == {"question": "x.grad", "right": True, "keys": ["quiz_right"]}
    assert (wrong["question"], wrong["right"]) == ("x.grad", False)
    assert (predicted["question"], predicted["right"]) == ("layer_by_hand.predict_2", False)
    assert "75" not in noted.read_text("utf-8"), "neither the answer nor a name"
    assert main(["answers", "--lang", "en", str(noted)]) == 0
    table = capsys.readouterr().out.split("3 answers to 2 questions")[1]
    assert "x.grad" in table and "1 / 2" in table and "0 / 1" in table and predicted["keys"][0] in table


def test_nothing_is_noted_unless_it_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer_some()
    assert list(tmp_path.iterdir()) == []


def test_the_setting_names_the_file(shell, tmp_path):
    shell.run_cell(f"%config Autograd.log = {str(tmp_path / 'class.jsonl')!r}")
    assert answer_log.file == tmp_path / "class.jsonl"
    shell.run_cell("%config Autograd.log = ''")
    assert answer_log.file is None


def test_the_plot_says_what_the_table_does(noted, tmp_path):
    answer_some()
    assert main(["answers", "--lang", "en", str(noted), "-o", str(tmp_path / "plot.svg")]) == 0
    tree = ElementTree.parse(tmp_path / "plot.svg")
    said = [one.text.replace("\xa0", " ") for one in tree.iter(f"{SVG}text")]
    assert "1 / 2" in said and "0 / 1" in said and any("quiz_" in line for line in said)
    whole, good = (float(bar.get("width")) for bar in list(tree.iter(f"{SVG}rect"))[-2:])
    assert good == pytest.approx(whole / 2, abs=0.1), "one of two answers was right"


def test_a_page_sends_its_answers_to_the_kernel(shell, front, noted, monkeypatch):
    sent = []
    monkeypatch.setattr(QuizStepper, "send", lambda self, content: sent.append(content))
    (shown,) = front(f"%%autograd --lang en --predict\n{CELLS[9]}")
    assert "0.6" not in shown["text/plain"] and "application/vnd.jupyter.widget-view+json" in shown
    stepper = last().stepper()
    message = {"question": "x.grad", "right": False, "keys": ["quiz_one_path"]}
    stepper._handle_custom_msg({"answer": message}, [])
    assert lines(noted) == [message] and sent == [{"noted": True}]
    for wrong in ({}, {"question": "x.grad"}, message | {"right": "no"}, message | {"keys": [1]}):
        with pytest.raises(ValueError, match="no noted answer"):
            stepper._take_answer(stepper, {"answer": wrong}, [])
    assert len(lines(noted)) == 1


def test_a_page_without_a_kernel_notes_nothing(front, monkeypatch):
    """Unless answers are noted, questions need no kernel."""
    (shown,) = front(f"%%autograd --lang en --predict\n{CELLS[9]}")
    assert sorted(shown) == ["text/html", "text/plain"]


def test_what_cannot_be_read_or_written(tmp_path, monkeypatch, capsys):
    (tmp_path / "bad.jsonl").write_text('{"question": "x.grad"}\n', encoding="utf-8")
    assert main(["answers", "--lang", "en", str(tmp_path / "bad.jsonl")]) == 1
    assert "bad.jsonl, line 1: this is no noted answer." in capsys.readouterr().err
    assert main(["answers", str(tmp_path / "none.jsonl")]) == 1
    monkeypatch.setattr(answer_log, "file", tmp_path)
    answer_log.note_answer("x.grad", True, [])
    assert "could not be written" in capsys.readouterr().err and answer_log.file is None
