"""What stands under a picture when something went wrong: error, why, fix; and notes."""

from __future__ import annotations

import re

import pytest
from cells import CELLS, traced
from test_report import Page

from minigrad_viz.shell import report
from minigrad_viz.shell.report import NOTES, Report, panel_html, panel_text
from minigrad_viz.trace.events import BackwardEnded, CellFailed
from minigrad_viz.trace.graph import CAUSE, Explanation, Mark

pytest_plugins = ["magic_shell"]

ERROR = "RuntimeError: a <b> & c"
ONE = Explanation("key", ERROR, "because of this", "do that")
NOTE = Explanation("other", "", "a silent mistake", "leave it out")

CAUGHT = CELLS[6].replace("z.backward()\nz.backward()", "z.backward()\ntry:\n    z.backward()\n") + (
    "except RuntimeError:\n    pass\nz = torch.log(x)\nz.backward()\n"
)


def made_up(scenes, lang=None):
    """An explanation for each error of a trace, as no rule would have it."""
    found, last = [], None
    for event in scenes.trace.events:
        if isinstance(event, BackwardEnded):
            last = event.error
        if isinstance(event, BackwardEnded) and event.error:
            marks = (Mark("s2-k0"), Mark("s0-c0", CAUSE))
            call = event.call
            found.append(Explanation("second", event.error, f"why {call}", f"fix {call}", marks, call))
        elif isinstance(event, CellFailed) and event.error != last:
            found.append(Explanation("", event.error))
    return tuple(found)


@pytest.fixture
def explained(monkeypatch):
    """Errors are explained by the function above."""
    monkeypatch.setattr(report, "explanations_of", made_up)


def rows(page: str) -> list[tuple[str, str]]:
    """Label and content of each line of the panels on a page."""
    return re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", page, re.S)


# ── the panel alone ─────────────────────────────────────────────────────────────────────────────────────────


def test_error_why_fix():
    assert panel_text([ONE], ERROR, "en") == f"error: {ERROR}\nwhy: because of this\nfix: do that"
    page = panel_html([ONE], ERROR, "en")
    assert rows(page) == [
        ("error", "RuntimeError: a &lt;b&gt; &amp; c"), ("why", "because of this"), ("fix", "do that"),
    ]  # fmt: skip
    assert '<div class="mge" role="group" aria-label="error">' in page and "<script" not in page


def test_nothing_to_say():
    assert panel_text([]) == panel_html([]) == ""
    assert panel_text([Explanation("key", "")]) == panel_html([Explanation("key", "")]) == ""


def test_what_is_not_certain_is_left_out():
    assert panel_text([ONE._replace(why="")], ERROR, "en") == f"error: {ERROR}\nfix: do that"
    assert panel_text([Explanation("", ERROR)], ERROR, "en") == f"error: {ERROR}"


def test_an_error_that_did_not_end_the_cell_was_caught():
    assert panel_text([ONE], None, "en").startswith(f"caught error: {ERROR}\n")
    assert panel_text([ONE], "ValueError: another", "en").startswith("caught error: ")


def test_only_the_last_error_is_shown():
    other = ONE._replace(error="RuntimeError: first")
    assert panel_text([other, ONE], ERROR, "en") == panel_text([ONE], ERROR, "en")


def test_notes():
    told = panel_text([NOTE, ONE, NOTE], ERROR, "en")
    assert told == f"{panel_text([ONE], ERROR, 'en')}\n\nnote: a silent mistake\nfix: leave it out"
    assert '<div class="mge note" role="group" aria-label="note">' in panel_html([NOTE], None, "en")
    many = [NOTE._replace(why=f"note {i}") for i in range(9)]
    assert panel_text(many, None, "en").count("note: ") == panel_html(many, None, "en").count("<dl>") == NOTES


def test_several_lines_stay_several_and_word_for_word():
    error = "RuntimeError: Jacobian mismatch\nnumerical:tensor([[1.,\n         2.]])"
    shown = ONE._replace(error=error)
    assert f"error: {error}\nwhy: " in panel_text([shown], error, "en")
    assert error in panel_html([shown], error, "en")


def test_what_would_turn_the_page_around_is_left_out():
    shown = ONE._replace(error="E: \u202eabc\ud800\x1b[31m")
    for told in (panel_text([shown], None, "en"), panel_html([shown], None, "en")):
        assert "E: abc\ufffd[31m" in told and told.encode("utf-8")


def test_korean():
    assert panel_text([ONE, NOTE], ERROR, "ko").split("\n")[0] == f"오류: {ERROR}"
    labels = [label for label, _ in rows(panel_html([ONE, NOTE], ERROR, "ko"))]
    assert labels == ["오류", "이유", "해결", "참고", "해결"]


# ── in a report ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("show", ["player", "static", "none"])
def test_it_stands_above_picture_and_table(explained, show):
    made = Report(traced(CELLS[6]), lang="en")
    page = made.html(show)
    assert rows(page) == [("error", made.trace.error), ("why", "why 2"), ("fix", "fix 2")]
    assert page.count('class="mge"') == 1 and page.index('class="mge"') < page.index('<table class="mgt"')
    if show != "none":
        assert page.index("<img") > page.index('class="mge"')
    said = Page(page).said
    assert said.index("why 2") > said.index("why")


def test_under_a_traceback_the_message_is_not_repeated(explained):
    made = Report(traced(CELLS[6]), lang="en")
    assert rows(made.html(message=False)) == [("why", "why 2"), ("fix", "fix 2")]
    caught = panel_html([ONE], "ValueError: another", "en", message=False)
    assert rows(caught)[0][0] == "caught error", "no traceback of that one stands above"


def test_in_words_it_follows_the_outline(explained):
    made = Report(traced(CELLS[6]), lang="en")
    told = made.text()
    places = [
        told.index(part) for part in ("AccumulateGrad", "error: ", "why: why 2", "fix: ", "before backward")
    ]
    assert places == sorted(places)
    assert f"error: {made.trace.error}\n" in told
    assert made.text(graph=False, table=False) == made.explanation()


def test_the_step_that_failed_says_why(explained):
    frame = Report(traced(CELLS[6]), lang="en").frames[-1]
    assert frame.failed and [(line.label, line.text) for line in frame.lines[-2:]] == [
        ("why", "why 2"), ("fix", "fix 2"),
    ]  # fmt: skip
    assert "s2-k0" in frame.marks and "s0-c0" not in frame.marks, (
        "what is guilty is active, what led to it is not"
    )


def test_a_mark_that_the_picture_has_not_is_no_part_of_the_step(monkeypatch):
    def explain(trace, lang=None):
        return tuple(each._replace(marks=(Mark("s77-d"),)) for each in made_up(trace))

    monkeypatch.setattr(report, "explanations_of", explain)
    assert "s77-d" not in Report(traced(CELLS[6]), lang="en").frames[-1].marks


def test_each_call_has_its_own(explained):
    cell = CELLS[6].replace("z.backward()\n", "", 1) + (
        "for i in range(2):\n    try:\n        z.backward()\n    except RuntimeError:\n        pass\n"
    )
    made = Report(traced(cell), lang="en")
    told = [[line.text for line in act.frames[-1].lines if line.label == "why"] for act in made.acts]
    assert told == [[], ["why 2"], ["why 3"]]
    assert "caught error: " in made.text() and "why: why 3" in made.text() and "why 2" not in made.text()
    assert "The graph up to the error" not in made.text()


def test_a_caught_error_before_a_call_that_is_well(explained):
    made = Report(traced(CAUGHT), lang="en")
    assert len(made.acts) == 3 and made.acts[1].frames[-1].failed
    assert "caught error: RuntimeError: Trying" in made.text() and not made.frames[-1].failed


def test_a_cell_without_any_tensor():
    trace = traced("torch.tensor(1, requires_grad=True)\n")
    made = Report(trace, lang="en")
    assert made.text().startswith(f"This cell created no tensor.\n\nerror: {trace.error}")
    assert made.html().startswith("<p>This cell created no tensor.</p>") and trace.error in made.html()


def test_all_is_well():
    made = Report(traced(CELLS[4]), lang="en")
    assert made.explanation() == made.explanation_html() == "" and "mge" not in made.html("none")


# ── when explaining itself fails ────────────────────────────────────────────────────────────────────────────


def broken(trace, lang=None):
    raise KeyError("a rule\nof ours")


def test_a_fault_of_ours_takes_nothing_away(monkeypatch):
    whole = Report(traced(CELLS[6]), lang="en")
    monkeypatch.setattr(report, "explanations_of", broken)
    made = Report(traced(CELLS[6]), lang="en")
    line = r"This error could not be explained: KeyError: 'a rule\nof ours'"
    assert line in made.text().split("\n") and f"error: {made.trace.error}\n" in made.text()
    assert made.problem.rstrip().endswith(r"KeyError: 'a rule\nof ours'")
    assert to_outline(made) == to_outline(whole) and len(made.frames) == len(whole.frames)
    assert "could not be explained" in made.html() and made.html().count("could not be explained") == 1
    monkeypatch.setattr(report, "explanations_of", broken)
    assert Report(traced(CELLS[4]), lang="en").text().count("could not be explained") == 1


def to_outline(made: Report) -> list[str]:
    """The outline without what an explanation marks in it."""
    return [re.sub(r"   !! .*?(?=   |$)", "", line) for line in made.picture.outline().split("\n")]


def test_the_magic_tells_of_it_in_one_line(monkeypatch, cell):
    monkeypatch.setattr(report, "explanations_of", broken)
    shown = cell("%%autograd\n" + CELLS[6])
    error = shown.index("RuntimeError: Trying to backward through the graph a second time")
    assert (
        error
        < shown.index("z = log(y)")
        < shown.index("could not be explained")
        < shown.index("after backward 1")
    )
    assert "in broken" in cell("%autograd traceback")
