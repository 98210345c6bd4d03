"""The stepper: the score that both forms of the player read, the widget, and the static player as HTML."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from xml.etree.ElementTree import canonicalize

import ipywidgets
import pytest
from cells import CELLS, traced
from displayed import SCORE, Shown, still, unpacked
from tables import variant

import minigrad
from minigrad_viz import Stepper, stepper
from minigrad_viz.arithmetic.formula_tree import page
from minigrad_viz.drawing.export import bare
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.player.acts import FEW, ROOM, Act, narrow_picture
from minigrad_viz.player.score import READY, WORDS, all_marks, content, score_of
from minigrad_viz.player.static_html import (
    START,
    module,
    module_expression,
    player,
    player_html,
    source,
    style,
)
from minigrad_viz.shell.report import Report
from minigrad_viz.steps.frames import Frame
from minigrad_viz.trace.events import Trace

LOOP = (
    "w = torch.tensor(1.0, requires_grad=True)\nfor i in range(3):\n    loss = (w * 2 - 3) ** 2\n"
    "    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\n"
)


@pytest.fixture(scope="module")
def cube():
    return Report(traced(CELLS[4]), lang="en")


@pytest.fixture(scope="module")
def loop():
    return Report(traced(LOOP), lang="en")


@pytest.fixture
def widget(cube):
    walk = Stepper(cube.acts, cube.trace.source, "en")
    yield walk
    walk.close()


def frame(phase: str = "forward", *marks: str, **more: object) -> Frame:
    return Frame(marks, "text", phase=phase, label="label")._replace(**more)


class TestNarrow:
    """The second picture of an act, for narrow windows."""

    def test_a_wide_picture_has_another_one_with_the_same_parts(self):
        act = Report(traced(CELLS[9]), lang="en").acts[-1]
        part = score_of([act], pack=False)["acts"][0]
        other = part["narrow"]
        assert other["width"] <= ROOM < part["width"] and other["prefix"] != part["prefix"]
        ids = [
            set(re.findall(f'id="{each["prefix"]}([^"]*)"', each["svg"])) - {"title", "desc"}
            for each in (part, other)
        ]
        assert ids[0] == ids[1] and len(ids[0]) > 20
        assert part["stood"].keys() == other["stood"].keys()

    def test_none_where_it_fits_where_a_direction_was_asked_for_and_of_a_large_graph(self):
        small = Report(traced(CELLS[4]), lang="en").picture
        assert narrow_picture(small) is None
        wide = Report(traced(CELLS[9]), lang="en").graph
        assert narrow_picture(Picture(wide)) and narrow_picture(Picture(wide, direction="LR")) is None
        long = Report(traced(f"x = torch.ones(3, requires_grad=True)\n{'x = x * 2; ' * FEW}\n"), fold=False)
        assert len(long.graph.stations) > FEW and narrow_picture(long.picture) is None

    def test_none_of_a_loop_which_would_store_twice_as_much(self, loop):
        acts = score_of([*loop.acts, loop.acts[0]], pack=False)["acts"]
        assert len(acts) == 4 and not any("narrow" in act for act in acts)


@pytest.mark.quick
class TestScore:
    def test_it_is_plain_data(self, cube):
        score = score_of(cube.acts, cube.trace.source, "en", (None, 2.0, 1.0))
        assert json.loads(json.dumps(score)) == score
        assert score["source"] == cube.trace.source and score["shown"] == 0 and score["counted"] == 3
        assert set(score["words"]) == set(WORDS)
        assert (score["step"], score["loop"]) == (0, True)
        act = score["acts"][0]
        assert act["svg"].startswith("<svg") and f'id="{act["prefix"]}s0"' in act["svg"]
        assert 0 < act["width"] < 900 and act["outline"] == ""
        assert act["routes"] == [["r0", "s0", "s1"], ["r1", "s1", "s2"]]

    def test_a_frame(self, cube):
        packed = score_of(cube.acts, "", "en")["acts"][0]["frames"][4]
        phase, marks, label, said, lines, span, ready, waiting, failed, _, _, _, main, goal = packed
        shown = cube.frames[4]
        assert (phase, label, said) == ("backward", "backward 2 of 3", shown.text)
        rule, first, *others = shown.lines
        assert lines[0] == [rule.label, rule.text, 4] and rule.text.startswith("The gradient is multiplied")
        assert lines[1] == [first.label, page(first.formula), 2] and ["out", "0.6"] in lines[1][1]
        assert lines[2:] == [[line.label, line.text, 0] for line in others] and main == 2
        assert goal == "local × upstream"
        assert span == [2, 4, 2, 10] and ready == [1, "s0"] and waiting == [["s0", 0]] and failed is False
        assert set(shown.marks) < set(marks)

    def test_waiting_is_what_changes(self, cube):
        """Put together again, the differences give what every frame says."""
        waits: dict[str, int] = {}
        for shown, packed in zip(cube.frames, score_of(cube.acts)["acts"][0]["frames"], strict=True):
            waits |= dict(packed[7])
            waits = {station: n for station, n in waits.items() if n}
            assert waits == dict(shown.waiting)

    def test_a_long_queue_is_counted(self, cube):
        ready = tuple(f"s{i}" for i in range(100))
        act = cube.acts[0]._replace(frames=(frame(ready=ready),))
        assert score_of([act])["acts"][0]["frames"][0][6] == [100, *ready[:READY]]

    def test_the_last_act_is_shown_and_the_others_are_rows_in_its_table(self, loop):
        score = score_of(loop.acts, "", "en")
        assert (len(loop.acts), score["shown"]) == (3, 2)
        told = ["chapters", "label", "name", "root"]
        first, second = ({*told, "base", "row"}, {*told, "base", "row", "again"})
        assert [set(act) for act in score["acts"][:2]] == [first, second]
        assert score["acts"][0]["chapters"] == [["forward", 2], ["backward", 2], ["update", 2]]
        assert [act["name"] for act in score["acts"]] == ["loss"] * 3
        parts = list(map(content, loop.acts))
        table = unpacked(score["acts"][2]["table"])
        assert [variant(parts[2], table, i) for i in range(3)] == json.loads(json.dumps(parts))
        assert score_of(loop.acts, "", "en", pack=False)["acts"][2]["table"] == table

    def test_acts_of_another_structure_are_packed(self):
        source = "w = torch.ones(2, requires_grad=True)\n(w * w).sum().backward()\nw.exp().sum().backward()\n"
        acts = Report(traced(source), lang="en").acts
        (first, last), score = map(content, acts), score_of(acts, "", "en")
        assert unpacked(score["acts"][0]["z"]).items() >= json.loads(json.dumps(first)).items()
        assert "table" not in score["acts"][1] and score["acts"][1]["svg"] == last["svg"]

    def test_calls_around_the_acts_are_counted(self, loop):
        score = score_of(loop.acts, "", "en", (4.0, None), (0.5, 0.25))
        assert (score["counted"], score["total"], score["known"]) == (2, 7, [[0, 4.0], [5, 0.5], [6, 0.25]])

    def test_the_total_is_that_of_the_cell(self, loop):
        """Calls after the last one that was kept are counted, too: "round 3 of 5"."""
        rounds = (*loop.trace.rounds[:3], 0.5, 0.25)
        walk = Report(loop.trace._replace(rounds=rounds), lang="en").stepper()
        assert (walk._score["counted"], walk._score["total"]) == (0, 5)
        assert walk._score["known"] == [[3, 0.5], [4, 0.25]]
        walk.close()

    def test_without_a_picture_the_outline_is_told(self):
        report = Report(traced(CELLS[4]), limit=2, lang="en")
        act = score_of(report.acts)["acts"][0]
        assert act["svg"] == "" and len(act["frames"]) == 6
        assert act["outline"].startswith("The graph has 3 boxes")

    def test_no_act(self):
        with pytest.raises(ValueError, match="at least one act"):
            score_of([])


class TestMarks:
    """What shows together with what a frame marks."""

    def test_chips_when_made_and_when_run_and_gradients_when_run(self, cube):
        marks = all_marks(cube.frames, cube.graph)
        chips = [i for i, mine in enumerate(marks) if "s1-k0" in mine]
        made = next(i for i, f in enumerate(cube.frames) if "s1-c0" in f.marks)
        ran = next(i for i, f in enumerate(cube.frames) if "s1-d" in f.marks)
        assert chips == [made, ran]
        for station in range(3):
            ran = next(i for i, f in enumerate(cube.frames) if f"s{station}-d" in f.marks)
            assert [i for i, mine in enumerate(marks) if f"s{station}-c0-grad" in mine] == [ran]

    def test_every_gradient_shows_at_some_step(self):
        for code in CELLS:
            report = Report(traced(CELLS[code]), lang="en")
            for act in report.acts:
                shown = {mark for mine in all_marks(act.frames, act.picture.graph) for mark in mine}
                for station in act.picture.graph.stations if act.frames else ():
                    for n, card in enumerate(station.cards):
                        assert card.grad is None or f"{station.id}-c{n}-grad" in shown, (code, station.id)

    def test_a_gradient_that_autograd_grad_returned(self, cube):
        """No node of x runs: its card is marked a second time."""
        frames = (frame("forward", "s0-c0"), frame("forward"), frame("backward", "s0-c0"), frame("backward"))
        assert [i for i, mine in enumerate(all_marks(frames, cube.graph)) if "s0-c0-grad" in mine] == [2]

    def test_of_two_runs_the_one_that_is_shown(self, cube):
        frames = (frame("forward", "s0-c0"), frame("forward", "s0-d"), frame("backward", "s0-d"))
        assert [i for i, mine in enumerate(all_marks(frames, cube.graph)) if "s0-c0-grad" in mine] == [2]

    def test_without_any_step_at_the_end(self, cube):
        assert "s0-c0-grad" in all_marks((frame(), frame()), cube.graph)[1]
        assert all_marks((), cube.graph) == []


@pytest.mark.quick
class TestWidget:
    def test_it_is_a_widget(self, widget):
        assert isinstance(widget, ipywidgets.DOMWidget)
        box = ipywidgets.HBox([widget])
        assert box.children == (widget,)
        box.close()

    def test_step_stays_in_its_range(self, widget):
        assert (widget.step, widget.steps) == (0, 6)
        for value, kept in ((3, 3), (99, 6), (-5, 0)):
            widget.step = value
            assert widget.step == kept
        with pytest.raises(Exception, match="expected an int"):
            widget.step = "three"

    def test_goto(self, loop):
        walk = Stepper(loop.acts)
        walk.goto(2, act=0)
        assert (walk.act, walk.step) == (0, 2)
        walk.goto(walk.steps)
        assert (walk.act, walk.step) == (0, walk.steps)
        with pytest.raises(ValueError, match=f"step must be between 0 and {walk.steps}, not -1"):
            walk.goto(-1)
        with pytest.raises(ValueError, match="act must be between 0 and"):
            walk.goto(1, act=len(walk.acts))

    def test_speed_and_playing(self, widget):
        widget.playing, widget.speed = True, 1000.0
        assert widget.playing is True and widget.speed == 8.0
        widget.speed = 0.0
        assert widget.speed == 0.25

    def test_step_can_be_observed_and_linked(self, widget):
        seen = []
        widget.observe(lambda change: seen.append(change.new), "step")
        slider = ipywidgets.IntSlider(max=6)
        link = ipywidgets.link((widget, "step"), (slider, "value"))
        slider.value = 4
        widget.step = 5
        assert seen == [4, 5] and slider.value == 5
        link.unlink()
        slider.close()

    def test_other_acts(self, loop):
        walk = Stepper(loop.acts, step=4)
        assert (walk.act, walk.step) == (2, 4)
        walk.act = 0
        assert (walk.step, walk.steps) == (0, len(loop.acts[0].frames))
        walk.step = walk.steps
        walk.act = 99
        assert (walk.act, walk.step, walk.steps) == (2, 0, len(loop.acts[2].frames))
        walk.close()

    def test_a_failed_cell_opens_at_the_step_that_failed(self):
        source = "x = torch.tensor([[1.0, 2.0]])\nw = torch.ones(3, 2, requires_grad=True)\nh = x @ w\n"
        report = Report(traced(source), lang="en")
        walk = report.stepper()
        assert walk.step == walk.steps == score_of(report.acts, lang="en")["step"] > 0
        assert Stepper(report.acts, step=1).step == 1
        walk.close()

    def test_what_the_page_is_given(self, widget, cube):
        state = widget.get_state()
        assert state["_score"] == score_of(cube.acts, cube.trace.source, "en")
        assert state["_esm"] == module("learning")
        assert "export default" in state["_esm"] and not re.search("^import ", state["_esm"], re.M)
        assert ".mg-auto{--bg:#fff" in state["_esm"] and ".mgp-track" in state["_esm"]

    def test_text_and_page_for_where_there_are_no_widgets(self, widget, cube):
        data = widget._repr_mimebundle_()
        assert "application/vnd.jupyter.widget-view+json" in data
        assert data["text/html"] == player_html(cube.acts, cube.trace.source, "en")
        lines = data["text/plain"].splitlines()
        assert lines[0].startswith("z = log(y)") and "0x" not in data["text/plain"]
        assert any(line.startswith("5. [backward 2 of 3] ") for line in lines)
        assert any(cube.frames[4].lines[0].text in line for line in lines)

    def test_of_roots(self):
        x = minigrad.tensor(5.0, requires_grad=True)
        y = x**3
        walk = stepper(y)
        assert (walk.steps, [card.name for _, card in walk.acts[0].picture.graph.cards()]) == (4, ["x", "y"])
        walk.close()

    def test_mistakes(self):
        with pytest.raises(TypeError, match="draws the graph of tensors, not of int"):
            stepper(3)
        with pytest.raises(ValueError, match="at least one tensor"):
            stepper()

    def test_functions_are_not_hidden_by_modules_of_their_names(self):
        import minigrad_viz
        import minigrad_viz.player.widget
        import minigrad_viz.shell.run

        for name in minigrad_viz.__all__:
            assert callable(getattr(minigrad_viz, name)), name


class Tags(HTMLParser):
    """The elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        if tag == "img":
            self.attributes = dict(attrs)


@pytest.mark.quick(20)
class TestStatic:
    def test_a_picture_and_one_script(self, cube):
        page = Tags(player_html(cube.acts, cube.trace.source, "en"))
        assert page.found == ["div", "img", "p", "script"]
        assert page.attributes["alt"] == cube.picture.outline()
        assert str(page.attributes["src"]).startswith("data:image/svg+xml,<svg xmlns='http")

    @pytest.mark.sample(6)
    @pytest.mark.parametrize("code", CELLS)
    def test_the_image_and_what_it_leaves_out_are_the_picture(self, code):
        report = Report(traced(CELLS[code]), lang="en")
        whole = Shown(None, "", report.html(), report).svg  # type: ignore[arg-type]
        assert canonicalize(whole) == canonicalize(bare(report.picture.svg()))

    @pytest.mark.sample(6)
    @pytest.mark.parametrize("code", CELLS)
    def test_about_50_kb_for_a_small_cell(self, code):
        """Picture, script, style, words and steps; what each station adds is little. A wide picture is stored
        twice, for wide and for narrow windows: code 12 needs the most, 2,694 bytes for each station."""
        report = Report(traced(CELLS[code]), lang="en")
        stations = sum(len(act.picture.graph.stations) for act in report.acts)
        assert len(report.html(table=False).encode()) < 58_500 + 2_700 * stations

    def test_the_script_is_the_same_in_every_cell(self, cube, loop):
        assert len(START.template) + len(player()) < 47_000
        assert player() in player_html(cube.acts, lang="en") and player() in player_html(loop.acts, lang="ko")

    def test_a_heavy_picture_is_packed_and_its_outline_stands(self, cube, monkeypatch):
        monkeypatch.setattr("minigrad_viz.player.static_html.HEAVY", 100)
        page = player_html(cube.acts, lang="en")
        assert Tags(page).found == ["div", "pre", "p", "script"]
        (act,) = unpacked(SCORE.findall(page)[0])["acts"]
        assert act["svg"] == bare(cube.picture.svg()) and len(act["frames"]) == 6

    def test_a_picture_of_graphviz_is_shown_as_it_is(self):
        x = minigrad.tensor(5.0, requires_grad=True)
        walk = stepper(x**3, style="graphviz")
        page = player_html(walk.acts, lang="en")
        (act,) = unpacked(SCORE.findall(page)[0])["acts"]
        assert act["svg"] == walk.acts[0].picture.svg() and "groups" not in act
        assert still(page) == act["svg"]
        walk.close()

    def test_nothing_from_elsewhere(self, cube):
        code, sheet = unpacked(player())
        page = "".join((player_html(cube.acts), code, sheet)).replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//cdn|\beval\(|innerHTML|new Function|\bfetch\(|@import|url\(", page)

    def test_hostile_text_ends_no_script(self, cube):
        hostile = "</script><!--<script>\u2028 ${x} `\\"
        act = Act(hostile, cube.picture, (frame(text=hostile, label=hostile),))
        page = player_html([act], hostile)
        assert page.count("</script>") == 1 and "<!--" not in page and "\u2028" not in page
        assert Tags(page).found == ["div", "img", "p", "script"]
        (told,) = unpacked(SCORE.findall(page)[0])["acts"]
        assert told["frames"][0][3] == hostile

    def test_hostile_text_stays_in_its_image(self):
        hostile = "it's 100% #1 &lt;b&gt; &amp;amp; ~ 한글\n"
        report = Report(traced(CELLS[4]), lang="en")
        report.picture._svg = report.picture.svg().replace("AccumulateGrad", hostile)
        page = player_html(report.acts, lang="en")
        assert Tags(page).found == ["div", "img", "p", "script"]
        assert hostile in still(page)

    def test_it_is_the_same_every_time(self, loop):
        again = Report(loop.trace, lang="en")
        assert player_html(again.acts, LOOP, "en") == player_html(loop.acts, LOOP, "en")


class TestJoined:
    """The script that a cell carries is the modules as they are written, without comments and blanks (see
    `test_joining`), and so is its style."""

    def test_it_ends_in_the_player(self):
        assert module_expression().startswith("(() => {\n")
        assert module_expression().endswith("return{render,mount};\n})()")
        assert not re.search(r"^(export|import) ", module_expression(), re.M)

    def test_every_rule_of_the_style_is_in_it(self):
        def plain(text: str) -> str:
            return re.sub(r"/\*.*?\*/|\s", "", text, flags=re.S)

        assert "/*" not in style() and plain(source("stepper.css")) in plain(style())
        assert ".mgp :is(.mgp-bar,.mgp-rounds" in style(), "a blank between selectors stays"


def test_the_curve_has_the_rounds_that_are_not_kept(library):
    """Of a long loop the newest calls are played; of all the others the value of the root is known."""
    source = (
        "w = torch.tensor(4.0, requires_grad=True)\nfor i in range(300):\n    loss = (w - 1) ** 2\n"
        "    loss.backward()\n    with torch.no_grad():\n        w -= 0.01 * w.grad\n        w.grad.zero_()\n"
    )
    report = Report(traced(source, library), lang="en")
    rounds = report.trace.rounds
    assert len(rounds) == 300 and rounds[0] == 9.0 and list(rounds) == sorted(rounds, reverse=True)
    score = unpacked(SCORE.findall(report.html())[0])
    assert score["counted"] == 300 - len(report.acts) and score["known"][0] == [0, 9.0]
    assert len(score["known"]) <= 200 and score["known"][-1][0] < score["counted"]
    assert score["acts"][-1]["root"] == pytest.approx(rounds[-1])
    assert Trace.from_json(report.trace.to_json()).rounds == rounds
