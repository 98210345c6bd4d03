"""What is shown of a recorded cell: as text, as a page, as files."""

from __future__ import annotations

import json
import re
import textwrap
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from cells import CELLS, traced
from displayed import SCORE, unpacked

import minigrad
from minigrad_viz import record
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.model.fold import cost_of
from minigrad_viz.shell.options import ENDINGS
from minigrad_viz.shell.report import Report
from minigrad_viz.shell.run import trace_source
from minigrad_viz.trace.bundle import TRACE
from minigrad_viz.trace.events import Trace

LOOP = """
w = torch.tensor(1.0, requires_grad=True)
for i in range(3):
    loss = (w * 2 - 3) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
"""


def report(cell: str, **options) -> Report:
    return Report(traced(cell), lang=options.pop("lang", "en"), **options)


class Page(HTMLParser):
    """The elements of a page, and its text outside scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements and self.elements[-1][0] not in ("script", "style"):
            self.said.append(data)


def test_text():
    shown = report(CELLS[9]).text()
    assert shown.startswith("z = log(y) + sqrt(w)   9.8283   root")
    assert shown.index("AccumulateGrad") < shown.index("before backward  after backward")


def test_text_with_steps():
    made = report(CELLS[9])
    shown = made.text(steps=True)
    assert shown == f"{made.text()}\n\n{made.steps}"
    steps = str(made.steps)
    assert steps.split()[0] == "1" and f"\n{len(made.frames)}  backward " in steps
    assert "1. (through w) + 0.6 (through y) = 1.6" in steps


def test_steps_are_typeset_in_notebooks():
    steps = report(CELLS[4]).steps
    markdown = steps._repr_markdown_()
    assert markdown.count("$") % 2 == 0 and "$" in markdown and r"\cdot" in markdown
    assert "$" not in repr(steps) and "\\" not in repr(steps)


def test_each_backward_call_is_an_act():
    made = report(LOOP)
    assert len(made.acts) == len(made.views) == 3
    assert [act.label for act in made.acts] == [scene.label for scene in made.views]
    assert made.picture is made.acts[-1].picture and made.frames == made.acts[-1].frames
    assert made.text().startswith(f"{made.views[-1].label}\n") and "3 of 3" in made.views[-1].label
    assert made.acts[0].frames != made.acts[2].frames


def test_a_player_has_the_newest_acts_that_are_soon_drawn(monkeypatch):
    made = report(LOOP)
    monkeypatch.setattr("minigrad_viz.player.acts.PLAYED", cost_of(made.graph) * 2.5)
    stepper = made.stepper()
    assert [act.label for act in stepper.acts] == [act.label for act in made.acts[1:]]
    stepper.close()
    monkeypatch.setattr("minigrad_viz.player.acts.PLAYED", 1)
    score = unpacked(SCORE.findall(made.html())[0])
    assert [act["label"] for act in score["acts"]] == [made.acts[-1].label]
    assert score["counted"] == 2


def test_roots():
    shown = report(CELLS[9], roots=("w",))
    assert "w = x ** 2" in shown.text(table=False) and "y = x ** 3" not in shown.text(table=False)
    with pytest.raises(ValueError, match="no tensor of this cell is called 'nope'"):
        report(CELLS[9], roots=("nope",))


def test_options_of_the_picture():
    made = report(CELLS[4], detail="full", style="graphviz", limit=2)
    assert (made.picture.look.detail, made.picture.style, made.picture.limit) == ("full", "graphviz", 2)
    assert made.text().startswith("The graph has 3 boxes, more than the 2 that are drawn.")
    with pytest.raises(ValueError, match="detail must be one of normal, full"):
        report(CELLS[4], detail="some")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        report(CELLS[4], colour="red")


def test_forms_of_the_graph():
    made = report(CELLS[4])
    player, still, none = (made.html(show) for show in ("player", "static", "none"))
    assert "data-mgp" in player and "data-mgp" not in still and "<img" in still
    assert none.startswith("<style>.mgt") and none in player and none in still
    assert made.html("none", table=False) == ""
    shown = made._repr_mimebundle_()
    assert shown.pop(TRACE) == json.loads(made.trace.to_json())
    assert shown == {"text/plain": made.text(), "text/html": player}


@pytest.mark.parametrize("style", ["graphviz", "torchviz"])
def test_what_graphviz_draws_is_not_played(style):
    made = report(CELLS[4], style=style)
    assert made.html() == made.html("static") and "data-mgp" not in made.html()


@pytest.mark.parametrize("show", ["player", "static"])
def test_an_error_is_announced(show):
    trace = traced(CELLS[6])
    shown = Report(trace, lang="en")
    said = Page(shown.html(show)).said
    assert said.index("why") < said.index("The graph up to the error")
    assert shown.text().startswith("The graph up to the error\n")


def test_no_tensor():
    made = report("a = 1\n")
    assert made.text(steps=True) == "This cell created no tensor."
    assert made.html() == "<p>This cell created no tensor.</p>"


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_page_stands_alone(lang):
    page = report(CELLS[4], lang=lang).page()
    parsed = Page(page)
    assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>")
    assert parsed.elements[0] == ("html", {"lang": lang})
    title = {"en": "Computation graph of z", "ko": "z의 연산 그래프"}[lang]
    assert title in parsed.said and ("meta", {"charset": "utf-8"}) in parsed.elements
    sources = [a[key] for _, a in parsed.elements for key in ("src", "href") if a.get(key)]
    assert sources and all(source.startswith("data:") for source in sources)


def test_a_page_without_any_root():
    assert "Computation graph" in Page(report(CELLS[1]).page()).said


class TestFiles:
    def test_each_ending(self, tmp_path):
        made = report(CELLS[4])
        for ending in (".html", ".svg", ".dot", ".gv", ".json", ".txt"):
            path = made.save(tmp_path / f"graph{ending}")
            assert path.stat().st_size > 100
        assert (tmp_path / "graph.html").read_text(encoding="utf-8") == made.page()
        assert ET.parse(tmp_path / "graph.svg").getroot().tag.endswith("svg")
        assert (tmp_path / "graph.dot").read_text(encoding="utf-8").startswith("digraph")
        assert (tmp_path / "graph.txt").read_text(encoding="utf-8") == made.text(steps=True) + "\n"

    def test_what_is_left_out_is_left_out_of_files_too(self, tmp_path):
        made = report(CELLS[4])
        page = made.save(tmp_path / "a.html", show="static", table=False).read_text(encoding="utf-8")
        assert "data-mgp" not in page and "<table" not in page and "<img" in page
        told = made.save(tmp_path / "a.txt", show="none", table=False).read_text(encoding="utf-8")
        assert told == f"{made.steps}\n"

    def test_the_trace_can_be_read_back(self, tmp_path):
        made = report(CELLS[18])
        written = made.save(str(tmp_path / "trace.JSON")).read_text(encoding="utf-8")
        again = Report(Trace.from_json(written), lang="en")
        assert again.trace == made.trace
        assert again.text(steps=True) == made.text(steps=True) and again.html() == made.html()

    @pytest.mark.parametrize("ending", [".png", ".pdf"])
    def test_formats_of_graphviz(self, tmp_path, monkeypatch, ending):
        drawn = []
        monkeypatch.setattr(Picture, "save", lambda self, path, **_: drawn.append(path))
        report(CELLS[4]).save(tmp_path / f"graph{ending}")
        assert ending in ENDINGS and drawn == [tmp_path / f"graph{ending}"]

    def test_another_ending(self, tmp_path):
        with pytest.raises(ValueError, match=r"cannot write '.jpg': use one of .html, .svg"):
            report(CELLS[4]).save(tmp_path / "graph.jpg")
        assert list(tmp_path.iterdir()) == []


def test_a_stepper():
    made = report(CELLS[4])
    stepper = made.stepper()
    stepper.step = 3
    assert (stepper.step, stepper.steps) == (3, len(made.frames))
    assert made.stepper() is stepper
    stepper.close()
    again = made.stepper()
    assert again is not stepper and again.step == 0
    again.close()


@pytest.mark.quick
class TestRecord:
    def test_a_block(self):
        program = "with record(lang='en', roots=('y',)) as recording:\n"
        block = "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\nz = y + 1\nz.backward()\n"
        names = {"record": record, "torch": minigrad}
        exec(compile(program + textwrap.indent(block, "    "), "<program>", "exec"), names)
        shown = names["recording"].report.text()
        assert (
            "y" in shown and "9." in shown and "grad 6." in shown and "10." not in shown.partition("\n\n")[0]
        )

    def test_before_the_block_has_ended(self):
        with record() as recording, pytest.raises(RuntimeError, match="nothing to show before its block"):
            _ = recording.report

    def test_the_source_of_a_program(self):
        made, error = trace_source("import minigrad as torch\n" + CELLS[6], lang="en")
        assert type(error).__name__ == "RuntimeError" and made.text().startswith("The graph up to the error")


@pytest.mark.full
def test_a_long_loop_stays_small():
    """10,000 operations: the text and the page say what they leave out, and the page is below a megabyte."""
    loop = "x = torch.tensor(1.0, requires_grad=True)\ny = x\nfor _ in range(10000):\n    y = y * 1.0001\n"
    made = report(loop + "y.backward()\n")
    page = made.html()
    assert len(page) < 1_000_000 and len(made.text(steps=True)) < 500_000
    assert len(made.frames) <= 1000


def test_many_backward_calls_stay_small():
    loop = "w = torch.ones((), requires_grad=True)\nfor _ in range(200):\n    ((w * 2 - 3) ** 2).backward()\n"
    made = report(loop)
    assert len(made.acts) <= 20 and made.trace.skipped + len(made.acts) == 200
    assert len(made.html()) < 1_000_000


def test_a_picture_is_saved_as_it_is_at_a_step(tmp_path):
    report = Report(traced(CELLS[9]), lang="en")
    seen = []
    for step in (1, 8, len(report.frames)):
        svg = report.save(tmp_path / "s.svg", step=step).read_text(encoding="utf-8")
        ET.fromstring(svg)
        assert "var(--" not in svg.partition("</style>")[0]
        seen.append(
            (len(re.findall(r'class="[^"]* later"', svg)), len(re.findall(r'class="[^"]* active"', svg)))
        )
    assert seen[0][0] > seen[1][0] > seen[2][0] == 0 and all(active for _, active in seen)
    for step in (0, len(report.frames) + 1):
        with pytest.raises(ValueError, match="step must be between 1 and"):
            report.save(tmp_path / "s.svg", step=step)
    with pytest.raises(ValueError, match=r"step is for \.svg"):
        report.save(tmp_path / "s.html", step=1)


def test_the_ledger_of_a_model_is_closed_at_first():
    model = traced(
        "import minigrad.nn as nn\nmodel = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\n"
        "for i in range(2):\n    model(torch.ones(4, 2)).sum().backward()\n"
    )
    page = Report(model, lang="en", ledger=True).html()
    assert page.count("<details>") == 1 and "Ledger of .grad" in page.partition("<details>")[2]
    single = traced("x = torch.tensor(1., requires_grad=True)\nfor i in range(2):\n    (x * x).backward()\n")
    assert "<details>" not in Report(single, lang="en", ledger=True).html()


def test_a_recording_shows_itself():
    import minigrad as torch

    with record(lang="en") as recording:
        x = torch.tensor(5.0, requires_grad=True)
        assert recording._repr_mimebundle_()["text/plain"].startswith("<")
        (x**2).backward()
    bundle = recording._repr_mimebundle_()
    assert bundle["text/plain"] == repr(recording) == recording.report.text()
    assert "<svg" in bundle["text/html"] or "svg+xml" in bundle["text/html"]


def test_the_table_below_a_small_picture_that_says_the_same_is_closed():
    closed = '<details><summary style="font:13px system-ui,sans-serif">State of the tensors</summary>'
    assert closed in report(CELLS[4]).html()
    assert closed not in report(CELLS[4]).html(table=True) and "State of the tensors" in report(
        CELLS[4]
    ).html(table=True)
    assert closed not in report(CELLS[4]).html("static"), "a picture without a player has no moments"
    assert "State of the tensors" not in report(CELLS[4]).html(table=False)
    assert closed not in report(LOOP).html() and closed not in report(CELLS[8]).html(), "two calls"
