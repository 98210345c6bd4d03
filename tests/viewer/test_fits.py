"""A picture fits the width of a cell's output, and what its stations say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cells import CELLS, traced
from pictures import SVG, box_of, draw, parse
from sketches import chain, code_9, value

from minigrad_viz.drawing.boxes import measure
from minigrad_viz.drawing.decks import slot_text
from minigrad_viz.drawing.export import width_of
from minigrad_viz.drawing.look import CLOSEST, Look, with_language
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.shell.report import Report

WIDTH = 958
MODEL = """
torch.manual_seed(0)
nn = torch.nn
x = torch.tensor([[0.5, -1.0], [1.5, 0.3], [-0.7, 0.9]])
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss = nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 0]))
loss.backward()
opt.step()
"""
REGRESSION = MODEL.replace(
    "nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 0]))", "((model(x) - x) ** 2).mean()"
)


def svg_of(source: str, library: Any, **options: Any) -> str:
    picture = Report(traced(source, library), lang="en", **options).picture
    return str(getattr(picture, "usual", picture).svg())  # of a model the picture without its strip


def is_station(element: Any) -> bool:
    return (element.get("class") or "").startswith("station ")


def across(svg: str) -> bool:
    """Whether the forward pass runs from left to right: root right of the leaf."""
    places = {kind: translated(svg, kind) for kind in ("leaf", "root")}
    return places["root"][0] > places["leaf"][0] + 200


def translated(svg: str, kind: str) -> tuple[float, float]:
    (found,) = [e for e in parse(svg)[0].iter() if (e.get("class") or "") == f"station {kind}"]
    x, y = found.get("transform", "")[len("translate(") : -1].split()
    return float(x), float(y)


@pytest.mark.quick
@pytest.mark.parametrize("source", [MODEL, REGRESSION, CELLS[9], CELLS[12]], ids=["model", "mse", "9", "12"])
def test_it_fits_from_left_to_right(source: str) -> None:
    import minigrad

    svg = svg_of(source, minigrad)
    assert width_of(svg) <= WIDTH
    boxes = [box_of(element) for element in parse(svg)[0].iter() if is_station(element)]
    (root,) = [box for box in boxes if box == max(boxes, key=lambda box: box[2])]
    assert root[0] > min(box[2] for box in boxes)


def test_a_longer_chain_runs_down_unless_a_direction_is_asked_for() -> None:
    steps = "x = torch.tensor(1.0, requires_grad=True)\ny = x\n" + "y = y.sin() + 1\n" * 4 + "y.backward()\n"
    import minigrad

    down, right = svg_of(steps, minigrad), svg_of(steps, minigrad, direction="LR")
    assert width_of(down) <= WIDTH < width_of(right)
    assert not across(down) and across(right)


def test_long_texts_are_shortened_where_there_is_little_room() -> None:
    name = "a_rather_long_name_for_a_tensor"
    line = "{0}_{1} = ({0}_{2} * {0}_{2} + {0}_{2}).exp()\n"
    source = (
        f"{name}_0 = torch.tensor(0.1, requires_grad=True)\n"
        + line.format(name, 1, 0)
        + f"{name}_1.backward()\n"
    )
    import minigrad

    trace = traced(source, minigrad)
    picture = Report(trace, lang="en").picture
    assert width_of(str(picture.svg())) <= WIDTH and "…" in str(picture.svg())


def test_all_is_measured_at_most_once_for_each_way_to_draw_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from minigrad_viz.drawing import structure as module

    calls = []
    measure = module.measure
    monkeypatch.setattr(module, "measure", lambda *args: (calls.append(args[1:3]), measure(*args))[1])
    shown = Picture(code_9(), lang="en")
    shown.svg(), shown.stood(), shown.counts(), shown.html(), shown.digraph.source
    assert len(calls) == 1
    Picture(chain(12), lang="en").svg()
    assert len(calls) == len(set(calls)) + 1


def test_gradients_that_meet_stand_in_slots() -> None:
    _, elements = parse(draw(code_9(), lang="en")[0])
    slots = [element for element in elements["s0-d"].iter() if element.get("class") == "slot"]
    assert [element.find(SVG + "text").text for element in slots] == ["1.", "0.6"], "as they come"
    assert "".join(elements["s0-n"].itertext()) == "2 / 2"
    (pow_deck,) = [element for element in elements["s1-d"].iter() if element.get("class") == "fn"]
    assert pow_deck.text == "PowBackward0" and "slot" not in {e.get("class") for e in elements["s1-d"].iter()}


def test_a_small_gradient_in_a_slot_has_fewer_digits() -> None:
    """A single number is never told by its sizes."""
    texts = [slot_text(value(x)) for x in (0.6, 0.000036997, -0.00012345, -1.23456e-10, 0.12345)]
    assert texts == ["0.6", "0.000037", "-0.000123", "-1.23e-10", "0.12345"]
    assert slot_text(value([[1.23456, 2.0, 3.0], [4.0, 5.0, 6.0]])) == "2×3"


def test_slots_wait_dashed_and_fill_step_by_step(library: Any) -> None:
    from minigrad_viz.player.score import content

    (act,) = Report(traced(CELLS[9], library), lang="en").acts
    told = content(act)
    (row,) = [row for row in told["stood"] if row.endswith("-n")]
    assert [said.split(">")[1].split("<")[0] for said in told["stood"][row]] == ["0 / 2", "1 / 2", "2 / 2"]
    moments = [n for frame in told["frames"] for shown in frame[11:12] if shown for r, n in shown if r == row]
    assert moments == [0, 1, 2]


def test_stations_are_as_high_as_what_they_say() -> None:
    _, places = draw(code_9(), lang="en")
    boxes = places.measured.boxes
    assert (boxes["s1"].upper, boxes["s1"].height) == (50.0, 94.0)
    assert (boxes["s0"].upper, boxes["s5"].height) == (71.0, 76.0)
    assert all(84 <= box.width <= 252 for box in boxes.values())


LETTERS = (
    "x = torch.tensor(5.0, requires_grad=True)\na = 2\nz = torch.log(x) + torch.sqrt(x * a)\nz.backward()\n"
)


def test_a_result_without_a_name_has_a_letter_that_no_variable_uses(library: Any) -> None:
    report = Report(traced(LETTERS, library), lang="en")
    letters = {card.expr: card.letter for _, card in report.graph.cards()}
    assert letters["log(x)"] == "b" and letters["x * a"] == "c" and letters["sqrt(x * a)"] == "d"
    assert letters["log(x) + sqrt(x * a)"] == "", "it has a name"
    assert "b = log(x)" in report.picture.outline() and "← b: 1." in report.picture.outline()
    formulas = [line.text for frame in report.frames for line in frame.lines]
    assert any("∂z/∂b" in formula for formula in formulas)


def test_the_usual_names_of_parameters_are_whole_where_there_is_little_room(library):
    source = MODEL.replace("model", "policy")
    graph = Report(traced(source, library), lang="en", fold=False).graph
    boxes = measure(
        graph, replace(with_language(Look("normal", True, "some", "en")), widest=CLOSEST), True
    ).boxes
    names = [card.name for box in boxes.values() for card in box.cards if card.card.role == "parameter"]
    assert sorted(names) == ["policy.0.bias", "policy.0.weight", "policy.2.bias", "policy.2.weight"]


def test_slots_count_what_will_come_and_no_dead_branches(library: Any) -> None:
    source = "x = torch.tensor(5.0, requires_grad=True)\n{}\ny = x**3\nz = y * x\nz.backward()\n"
    texts = []
    for unused in ("unused = x**2", "unused = x**2 + x.detach()", "pass"):
        picture = Report(traced(source.format(unused), library), lang="en").picture
        _, parts = parse(str(picture.svg()))
        elements = {id.removeprefix(picture.prefix): "".join(part.itertext()) for id, part in parts.items()}
        texts.append((elements["s0-n"], sorted(text for id, text in elements.items() if id.endswith("-s"))))
    assert texts == [("2 / 2", ["125.", "375."])] * 3
