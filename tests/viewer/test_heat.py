"""Heat maps: what is drawn where numbers are too many to be written."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from cells import CELLS, run, traced

from minigrad_viz.drawing.heat_maps import GRADIENTS, VALUES, heat_map, heat_of, scales_of, strip_of
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.drawing.style import DARK, LIGHT
from minigrad_viz.protocol import Value
from minigrad_viz.shell.report import Report

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


def value(*items: float, shape: tuple[int, ...] = ()) -> Value:
    finite = [item for item in items if math.isfinite(item)]
    return Value(shape or (len(items),), "float32", items, min(finite), max(finite))


def svg_of(source: str, library: object) -> str:
    return str(Report(traced(source, library), lang="en").picture.svg())


def test_one_number_is_written_and_many_are_told_by_their_shape():
    assert heat_of(value(1.0), VALUES) is None
    assert heat_of(value(*map(float, range(30))), VALUES) is None, "wider than a station"
    assert heat_of(Value((9, 9), "float32", None, 0.0, 1.0), VALUES) is None, "numbers that were not kept"
    assert heat_of(value(*[True] * 6), VALUES) is None
    found = heat_of(value(*map(float, range(12)), shape=(2, 3, 2)), VALUES)
    assert found is not None and (found.high, found.wide) == (6, 2)
    strip = strip_of(found.value, VALUES)
    assert strip is not None and (strip.high, strip.wide) == (1, 12)


def test_all_values_share_one_scale_and_all_gradients_another():
    first, second = value(0.5, -2.0, 0.0, 0.0, 1.0), value(*[0.25] * 5)
    heats = [heat_of(first, VALUES), heat_of(second, VALUES), heat_of(second, GRADIENTS)]
    assert scales_of(heats) == {VALUES: 2.0, GRADIENTS: 0.25}
    assert 'class="hp" fill-opacity="0.125"' in heat_map(heats[1], 2.0, 0, 0)
    assert 'class="hp" fill-opacity="1"' in heat_map(heats[2], 0.25, 0, 0)


def test_a_sign_is_not_told_by_color_alone():
    drawn = heat_map(heat_of(value(-1.0, 1.0, 0.0, math.nan, -math.inf), VALUES), 1.0, 0, 0)
    assert drawn.count('class="hd"') == 1 and drawn.split('class="hd"')[1].split("/>")[0].count("M") == 1
    assert drawn.split('class="hx"')[1].split("/>")[0].count("M") == 2, "nan and inf have a cross"


def test_zeros_alone_have_no_shade():
    assert "hp" not in heat_map(heat_of(value(*[0.0] * 6), VALUES), 0.0, 0, 0)


def test_every_color_is_there_for_both_themes():
    names = {"heatn", "heat0", "heatp"}
    assert names <= LIGHT.keys() and names <= DARK.keys()


def test_a_model_shows_its_parameters_and_the_sizes_on_its_arrows(library):
    trace = traced(MODEL, library)
    report = Report(trace, lang="en")
    folds = {fold.station: fold for fold in report.graph.folds}
    inside = {tuple(sorted(name for name, _ in fold.parameters)) for fold in folds.values()}
    assert ("bias", "weight") in inside
    svg = str(Picture(report.graph, lang="en").svg())
    assert re.search(r'class="shape"[^>]*>3×4<', svg) and 'class="heat"' in svg
    assert "all values" in svg and "all gradients" in svg and "below a map: rms" in svg
    assert svg.count(">weight<") == svg.count(">bias<") == 2


def test_a_scalar_has_no_size_on_its_arrow(library):
    source = MODEL.rstrip() + "\n"
    shown = re.findall(
        r'class="shape"[^>]*>([^<]*)<', str(Picture(Report(traced(source, library)).graph).svg())
    )
    assert shown and "()" not in shown
    polynomial = Path(__file__).parents[1] / "real" / "poly_dynamic.py"
    trace = run(polynomial.read_text(encoding="utf-8").replace("import torch\n", ""), library).trace
    assert not re.search(r'class="shape"[^>]*>\(\)<', str(Report(trace).picture.svg()))


def test_the_scale_is_the_largest_number_of_the_picture(library):
    source = "x = torch.arange(-8.0, 8.0).reshape(4, 4).requires_grad_()\n(x * 0.5).sum().backward()\n"
    svg = svg_of(source, library)
    assert "−8. … 8." in svg and "−1. … 1." in svg


@pytest.mark.parametrize("code", [1, 4, 9, 12])
def test_a_picture_of_few_numbers_has_none(code, library):
    svg = svg_of(CELLS[code], library)
    assert 'class="heat"' not in svg and "--heat0" not in svg.split("<style>")[1].split(".mg{")[1]
