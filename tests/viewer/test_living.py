"""What a player with live values shows: at every number what a fresh run of the cell shows there."""

from __future__ import annotations

import base64
import functools
import json
import zlib

import pytest
from random_live import random_cell
from tables import entry
from test_live import DOCUMENTED, recorded
from tiers import examples

import minigrad
from minigrad_viz.drawing.boxes import measure
from minigrad_viz.drawing.strip_pictures import StripPicture
from minigrad_viz.player import static_html
from minigrad_viz.player.live_values import STORED, PictureTexts, grid_numbers, steps_of, texts_of
from minigrad_viz.replay.live import ReplayRefusal
from minigrad_viz.shell.report import Report
from minigrad_viz.shell.run import trace_source


def report_of(source, library, live=True, **namespace):
    trace, program, _ = recorded(source, library, **namespace)
    return Report(trace, program=program, live=live, lang="en")


def cell(value="5.0", library=minigrad, **options):
    source = f"import {library.__name__} as torch\n{DOCUMENTED.replace('5.0', value)}"
    return trace_source(source, lang="en", **options)[0]


def inflated(packed):
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def stored_state(living, states, i):
    """All that a stored state says, where it says nothing of its own what the cell says."""
    texts, columns = states["texts"], states["columns"]
    read = {
        kind: {id: json.loads(entry(told, columns, i)) for id, told in texts[kind].items()} for kind in texts
    }
    steps = [read["steps"].get(str(n), own) for n, own in enumerate(living.own.steps, 1)]
    return PictureTexts(living.own.rows | read["rows"], living.own.said | read["said"], steps)


def shown_by(report, living):
    """What a report of the same cell shows in the places of a living picture."""
    rows, said = texts_of(measure(report.graph, living.picture.look), living.sizes)
    return PictureTexts(rows, said, steps_of(report.frames))


def test_every_number_of_a_grid_is_a_fresh_run(library):
    living = cell(library=library, live=True).living
    score = living.score()
    (handle,) = score["handles"]
    states = inflated(score["states"]["x"])
    assert len(handle["xs"]) == 41 and handle["xs"][20] == 5.0 and len(score["states"]["x"]) < 8000
    for i in range(0, 41, 4):
        fresh = cell(repr(handle["xs"][i]), library)
        shown = shown_by(fresh, living)
        state = stored_state(living, states, i)
        assert state.rows == shown.rows and state.said == shown.said
        assert state.steps == shown.steps
        assert handle["ys"][i] == pytest.approx(fresh.graph.stations[-1].cards[0].value.items[0])


def test_random_cells(library):
    """A state says what the report of a fresh run says."""
    seen, count = 0, examples(80)
    for seed in range(count):
        source, numbers, names = random_cell(seed)
        living = report_of(source, library, **numbers).living
        for place, name in enumerate(names):
            handle = next((h for h in (living.handles if living else ()) if h.name == name), None)
            if handle is None:
                continue
            value = round(numbers[f"n{place}"] + 0.375, 3)
            try:
                state = living.state(handle, {name: value})
            except ReplayRefusal:
                continue
            fresh = shown_by(report_of(source, library, False, **{**numbers, f"n{place}": value}), living)
            assert living.own.rows | state["rows"] == fresh.rows, (seed, name)
            assert living.own.said | state["said"] == fresh.said, (seed, name)
            if state["steps"] is not None:
                steps = [state["steps"].get(str(n), own) for n, own in enumerate(living.own.steps, 1)]
                assert steps == fresh.steps, (seed, name)
                seen += 1
    assert seen > 0.7 * count


@functools.cache
def score_of(statements: int):
    """The score of a cell with so many statements between its leaf and its result."""
    lines = ["import minigrad as torch", "x = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)", "y = x"]
    lines += ["y = torch.sin(y) * x + y"] * statements
    report, _ = trace_source("\n".join([*lines, "z = y.sum()", "z.backward()"]), lang="en", live=True)
    return report.living.score()


@pytest.mark.full
def test_what_is_stored_stays_small():
    score = score_of(12)
    assert score["handles"] and sum(map(len, score["states"].values())) <= STORED


def test_every_number_has_its_grid_or_is_named():
    """A page has the states of as many numbers as there is room for, and says which it has not."""
    score = score_of(0)
    assert list(score["states"]) == ["x[0]", "x[1]", "x[2]"] and score["left"] == []


@pytest.mark.full
def test_a_number_without_room_for_its_grid_is_named():
    score = score_of(12)
    assert score["left"] and [*score["states"], *score["left"]] == ["x[0]", "x[1]", "x[2]"]


@pytest.mark.full
def test_a_branch_ends_the_grid():
    source = "x = torch.tensor(3.0, requires_grad=True)\ny = x * x if x > 1.5 else -x\ny.backward()"
    (handle,) = report_of(source, minigrad).living.score()["handles"]
    assert handle["xs"][0] >= 1.5 and handle["xs"][-1] > 4
    assert handle["ends"] == [
        "Line 2 takes another branch when x reaches 1.5. The recorded operations hold only up to there.",
        "",
    ]


@pytest.mark.parametrize("value, first", [(5.0, 5.2), (0.0, 0.025), (-0.7, -0.675), (1234.5, 1284.5)])
def test_numbers_of_a_grid_are_round(value, first):
    assert grid_numbers(value, 1)[0] == pytest.approx(first) and len(grid_numbers(value, -1)) == 20


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "line, edit",
    [
        ("x = torch.tensor(5.0, requires_grad=True)", [1, "x = torch.tensor(", ", requires_grad=True)"]),
        ("x = torch.tensor(-5., requires_grad=True)", [1, "x = torch.tensor(", ", requires_grad=True)"]),
        ("x = torch.tensor(2 + 3., requires_grad=True)", None),
        ("for i in range(1): x = torch.ones(()); x.requires_grad_()", None),
    ],
)
def test_the_line_to_change(line, edit):
    (handle,) = report_of(f"{line}\ny = x * x\ny.backward()", minigrad).living.score()["handles"]
    assert handle["edit"] == edit


@pytest.mark.full
def test_an_element_of_a_list_has_a_line_to_change():
    source = "x = torch.tensor([1.0,\n    2.5], requires_grad=True)\ny = (x * x).sum()\ny.backward()"
    handles = report_of(source, minigrad).living.score()["handles"]
    assert [handle["edit"] for handle in handles] == [
        [1, "x = torch.tensor([", ","],
        [2, "    ", "], requires_grad=True)"],
    ]


@pytest.mark.quick
class TestOutputs:
    def test_without_the_option_nothing_of_it_is_stored(self):
        page = cell().html()
        assert len(static_html.player()) < 46_000 and static_html.player() in page
        assert "mgp-livepane" not in static_html.module() + static_html.style()
        assert "mgp-livepane" in static_html.module("live") and "mgp-livepane" in static_html.style("live")
        assert static_html.player("live") not in page and static_html.player("live") in cell(live=True).html()

    def test_a_cell_that_cannot_be_computed_again_says_why(self):
        source = (
            "import minigrad as torch\nx = torch.tensor(2.0, requires_grad=True)\n(x * x.item()).backward()"
        )
        page = trace_source(source, lang="en", live=True)[0].html()
        assert "Live values are off: line 3 takes numbers out" in page
        assert static_html.player() in page

    def test_the_training_of_a_loop_is_named_instead(self):
        loop = (
            "w = torch.ones(1, requires_grad=True)\nfor i in range(3):\n    ((w - 3) ** 2).sum().backward()\n"
        )
        source = f"import minigrad as torch\n{loop}    with torch.no_grad():\n        w -= 0.1 * w.grad\n"
        page = trace_source(source, lang="en", live=True)[0].html()
        assert "Live values are off: the rounds of the loop change its leaves" in page
        assert "use %%autograd --step --live." in page

    def test_a_prediction_is_not_given_away(self):
        assert cell(live=True, predict=True).living is None

    def test_a_leaf_that_an_update_has_changed_has_no_handle_in_its_picture(self):
        source = (
            "w = torch.tensor(1.0, requires_grad=True)\nfor i in range(3):\n    loss = (w * 2 - 3) ** 2\n"
            "    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None"
        )
        report = report_of(source, minigrad)
        assert [handle.name for handle in report.handles] == ["w"] and report.living is None


@pytest.mark.quick
class TestWidget:
    def test_the_kernel_answers(self, monkeypatch):
        monkeypatch.setattr("minigrad_viz.player.live_values.PATIENCE", 10.0)  # machines are slow at times
        widget = cell(live=True).stepper()
        assert widget._score["live"]["states"] == {} and widget._score["live"]["handles"][0]["xs"] == []
        sent = []
        widget.send = sent.append
        at = {"name": "x", "grid": False, "numbers": {}, "xs": [5.6, 5.8]}
        widget._asked(widget, {"live": {"id": 1, "name": "x", "grid": True, "numbers": {}}}, [])
        widget._asked(widget, {"live": {"id": 2, **at, "only": [12]}}, [])
        widget._asked(widget, {"live": {"id": 3, **at, "only": None}}, [])
        assert [told["id"] for told in sent] == [1, 2, 3] and len(sent[0]["grid"]["ys"]) == 41
        assert [told["state"]["at"][0] for told in sent[1]["states"]] == ["5.6", "5.8"]
        assert sent[1]["states"][0]["state"]["at"][:3] == ["5.6", "10.768", "1.5357"]
        one, steps = (told["states"][0]["state"]["steps"] for told in sent[1:])
        assert one == {"12": steps["12"]} and "1.5357" in one["12"][0] and len(steps) == 11
        json.dumps(sent)

    def test_several_numbers_move_together(self):
        """The state with both, and the curve of one beside the other."""
        source = "x = torch.tensor(3.0, requires_grad=True)\nw = torch.tensor(2.0, requires_grad=True)\n"
        living = report_of(f"{source}y = x * x if x > w else -x * w\ny.backward()", minigrad).living
        at = {"name": "x", "grid": False, "numbers": {"w": 1.0}, "xs": [4.0], "only": None}
        now = source.replace("3.0", "4.0").replace("2.0", "1.0")
        fresh = report_of(f"{now}y = x * x if x > w else -x * w\ny.backward()", minigrad)
        state, shown = living.answer(at)["states"][0]["state"], shown_by(fresh, living)
        assert state["at"][:3] == ["4.", "16.", "8."] and living.own.rows | state["rows"] == shown.rows
        grid = living.answer({"name": "x", "grid": True, "numbers": {"w": 1.0}})["grid"]
        assert grid["xs"][0] == pytest.approx(1.0, abs=0.13)
        assert "when x reaches 1" in grid["ends"][0]

    def test_what_is_refused_is_said(self):
        source = "x = torch.tensor(3.0, requires_grad=True)\ny = x * x if x > 1.5 else -x\ny.backward()"
        living = report_of(source, minigrad).living
        at = {"name": "x", "grid": False, "numbers": {}, "xs": [1.0, 2.0], "only": None}
        refused, state = living.answer(at)["states"]
        assert "line 2 was True" in refused["refused"] and state["state"]["at"][1] == "4."

    def test_without_time_the_first_state_is_told(self, monkeypatch):
        monkeypatch.setattr("minigrad_viz.player.live_values.PATIENCE", 0.0)
        at = {"name": "x", "grid": False, "numbers": {}, "xs": [5.6, 5.8], "only": [1]}
        (told,) = cell(live=True).living.answer(at)["states"]
        assert told["state"]["at"][0] == "5.6"

    def test_saved_without_python_it_is_off(self):
        page = cell(live=True).stepper()._repr_mimebundle_()["text/html"]
        assert "Live values are off: this page has no Python." in page and static_html.player() in page

    def test_the_training_goes_on(self):
        source = (
            "import minigrad as torch\nw = torch.tensor(1.0, requires_grad=True)\nfor i in range(4):\n"
            "    loss = (w * 2 - 3) ** 2\n    loss.backward()\n    with torch.no_grad():\n"
            "        w -= 0.1 * w.grad\n    w.grad = None"
        )
        report, _ = trace_source(source, lang="en", live=True)
        widget, sent = report.stepper(), []
        told = widget._score["training"]
        assert told["name"] == "loss" and told["state"]["round"] == 4 and told["state"]["lr"] == 0.1
        assert "live" not in widget._score and "slider" not in report.picture.svg()
        widget.send = sent.append
        widget._asked(widget, {"live": {"id": 1, "training": {"more": 10, "lr": 0.05}}}, [])
        widget._asked(widget, {"live": {"id": 2, "training": {"rewind": 4}}}, [])
        widget._asked(widget, {"live": {"id": 3, "training": {"rewind": 99}}}, [])
        assert [one["id"] for one in sent] == [1, 2, 3]
        assert sent[0]["training"]["round"] == 14 and sent[0]["training"]["lr"] == 0.05
        assert sent[1]["training"]["losses"] == told["state"]["losses"]
        assert sent[2]["refused"].startswith("Round 99 was not kept.") and sent[2]["training"]["round"] == 4
        assert sent[1]["training"]["slice"] == told["state"]["slice"] != sent[0]["training"]["slice"]
        json.dumps(sent)

    def test_a_training_that_cannot_go_on_says_why(self):
        source = (
            "import minigrad as torch\nw = torch.tensor(1.0, requires_grad=True)\nfor i in range(4):\n"
            "    loss = (w * torch.randn(()) - 3) ** 2\n    loss.backward()\n    w.grad = None"
        )
        told = trace_source(source, lang="en", live=True)[0].stepper()._score["training"]
        assert told["state"] is None and "other data" in told["why"]

    def test_a_plain_widget_has_nothing_of_it(self):
        assert "mgp-livepane" not in cell().stepper()._esm


MODEL = """nn = torch.nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, {wide}), nn.Tanh(), nn.Linear({wide}, 1))
x = torch.tensor([[0.5, -1.0], [1.0, 2.0]])
loss = (model(x) ** 2).mean()
loss.backward()
"""


@pytest.mark.sample(1)
def test_the_numbers_of_a_model_move_in_its_strip(library):
    """Every card says what it would with another number, in the forms for all widths."""
    report = report_of(MODEL.format(wide=8), library)
    living = report.living
    handle = living.handles[0]
    assert isinstance(report.picture, StripPicture) and not report.refused
    assert handle.name == "model.0.weight[0, 0]"
    assert living.place(handle) == f"{living.picture.strip.cards[1].id}-c0"
    assert living.state(handle, {handle.name: handle.value})["rows"] == {}
    state = living.state(handle, {handle.name: handle.value + 1.0})
    loss = living.picture.strip.cards[-1].id
    told = [svg for id, (svg,) in state["rows"].items() if id.startswith(f"{loss}-known-")]
    assert len(told) == 4 and all(state["at"][1] in svg for svg in told)
    assert any(id.endswith("-bars-858") for id in state["rows"]), "gradients are others, too"
    left = living.score()["left"]
    assert len(left) == 7 and left[-1] == "…"


ALONE = """nn = torch.nn
torch.manual_seed(0)
model = nn.Linear(2, 2)
loss = model(torch.ones(1, 2)).sum()
loss.backward()
"""


def test_a_single_layer_has_sliders(library):
    """Too few cards for a strip: its parameters are shown as leaves."""
    report = report_of(ALONE, library)
    assert not report.refused and not report.graph.folds
    assert report.living.handles[0].name == "model.weight[0, 0]"


@pytest.mark.full
def test_a_long_cell_has_fewer_numbers_on_a_page():
    leaves = "".join(f"{name} = torch.tensor(0.{i}, requires_grad=True)\n" for i, name in enumerate("abc", 1))
    source = f"{leaves}h = a * b + c\nfor i in range(7):\n    h = torch.tanh(h * a + b)\nh.backward()\n"
    score = report_of(source, minigrad).living.score()
    assert [len(handle["xs"]) for handle in score["handles"]] == [11, 11, 11]
    for handle in score["handles"]:
        assert handle["xs"][0] == pytest.approx(handle["value"] - 0.5), "in larger steps"
