"""What %%autograd, --step, draw and make_dot look like in JupyterLab: inline, in the page's theme,
legible, alive."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from lab import Lab, missing
from lab_server import wait_for
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

CUBE = "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\nz = torch.log(y)\nz.backward()"
CELLS = [
    "%load_ext minigrad_viz\nimport minigrad as torch\nfrom minigrad_viz import draw, make_dot, stepper",
    f"%%autograd\n{CUBE}",
    f"%%autograd --step --no-table\n{CUBE}",
    "draw(z)",
    "make_dot(z, params={'x': x})",
    "walk = stepper(torch.log(x ** 3), names={'x': x})\nwalk",
    "walk.step = 3",
]
AUTOGRAD, STEP, DRAW, DOT, WALK = range(1, 6)
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 20, 24)"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    root = tmp_path_factory.mktemp("viewer")
    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, Path(root) / "viewer.ipynb")
    with Lab(root) as running:
        yield running
    assert running.errors == []


@pytest.fixture(scope="module", params=[("light", 1280), ("dark", 1280), ("dark", 480)], ids=str)
def shown(lab, request):
    """The notebook after it ran, and the theme."""
    theme, width = request.param
    page = lab.open("viewer.ipynb", theme=theme, width=width, height=4000)
    assert lab.run_all(page) == []
    page.wait_for_selector(".mgs svg")
    return page, theme


def output(page, cell: int):
    return page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output")


def colour(locator, name: str = "fill") -> str:
    return locator.evaluate(f"element => getComputedStyle(element)['{name}']")


@pytest.mark.parametrize("cell", [AUTOGRAD, DRAW])
def test_the_picture_is_inline_and_follows_the_theme(shown, cell):
    page, theme = shown
    svg = output(page, cell).locator("svg.mg")
    assert svg.count() == 1 and output(page, cell).locator("img").count() == 0
    assert colour(svg.locator(".paper")) == PAPER[theme]


@pytest.mark.parametrize("cell", [AUTOGRAD, STEP, DRAW, WALK])
def test_text_can_be_read(shown, cell):
    """At least 9 pixels high on the page; a wide picture scrolls in its column instead of widening the
    page."""
    page, _ = shown
    svg = output(page, cell).locator("svg.mg")
    scale = svg.evaluate("svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width")
    assert 12.5 * scale >= 9
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_table_has_no_stripes_and_marks_the_change(shown):
    page, theme = shown
    rows = output(page, AUTOGRAD).locator(".mgt tbody tr")
    assert {colour(rows.nth(i), "backgroundColor") for i in range(6)} == {"rgba(0, 0, 0, 0)"}
    changed = output(page, AUTOGRAD).locator(".mgt .c")
    assert changed.all_inner_texts() == ["0.6"]
    assert colour(changed, "color") == {"light": "rgb(179, 71, 0)", "dark": "rgb(255, 154, 82)"}[theme]


def test_graphvizs_own_drawing_is_there(shown):
    page, _ = shown
    assert output(page, DOT).locator("svg, img").count() >= 1


class TestStepper:
    def active(self, page, cell: int) -> list[str]:
        found = output(page, cell).locator("svg.mg .active")
        return sorted(id.partition("-")[2] for id in found.evaluate_all("all => all.map(one => one.id)"))

    def say(self, page, cell: int = STEP) -> str:
        return output(page, cell).locator(".mgs-say").inner_text()

    def at(self, page, cell: int, step: int) -> None:
        slider = output(page, cell).locator("input[type=range]")
        wait_for(lambda: slider.input_value() == str(step), f"the slider shows step {step}")

    def go(self, page, step: int) -> None:
        output(page, STEP).locator("input[type=range]").fill(str(step))
        self.at(page, STEP, step)

    def test_step_0_is_the_whole_picture(self, shown):
        page, _ = shown
        self.go(page, 0)
        assert output(page, STEP).locator("svg.mg .todo").count() == 0 and self.active(page, STEP) == []
        assert self.say(page).startswith("the whole picture")
        assert output(page, STEP).locator("button").first.is_disabled()

    def test_buttons(self, shown):
        page, _ = shown
        self.go(page, 0)
        back, forth = output(page, STEP).locator("button").all()
        forth.click()
        assert self.active(page, STEP) == ["s0-c0"] and self.say(page).startswith("tensor(5.0")
        forth.click()
        assert self.active(page, STEP) == ["r0", "s1-c0"] and self.say(page) == "x ** 3 makes y = 125."
        back.click()
        assert self.active(page, STEP) == ["s0-c0"]

    def test_slider(self, shown):
        page, theme = shown
        self.go(page, 5)
        assert self.active(page, STEP) == ["r0-g", "r0-p", "s1-d"]
        assert self.say(page).splitlines()[0] == "PowBackward0 runs with 0.008"
        assert "∂z/∂x = ∂z/∂y · ∂y/∂x" in self.say(page)
        box = output(page, STEP).locator("svg.mg .deck.active > .box")
        assert colour(box) == {"light": "rgb(255, 241, 118)", "dark": "rgb(111, 100, 0)"}[theme]
        assert output(page, STEP).locator(".mgs-label").inner_text() == "backward 2 of 3"

    def test_the_last_step(self, shown):
        page, _ = shown
        self.go(page, 6)
        assert output(page, STEP).locator("button").last.is_disabled()
        assert self.active(page, STEP) == ["s0-d"] and output(page, STEP).locator("svg.mg .todo").count() == 0

    def test_words_can_be_told_from_the_ground(self, shown):
        """The player's text against the notebook's ground: a contrast of at least 4.5."""
        page, _ = shown
        words, ground = page.evaluate(
            """() => [getComputedStyle(document.querySelector('.mgs-say')).color,
                      getComputedStyle(document.querySelector('.jp-Notebook')).backgroundColor]"""
        )
        assert contrast(words, ground) >= 4.5

    def test_python_sets_the_step(self, shown):
        """`walk.step = 3` ran in another cell."""
        page, _ = shown
        self.at(page, WALK, 3)
        assert self.active(page, WALK) == ["r1", "s2-c0"]


def contrast(one: str, other: str) -> float:
    """The contrast of two colours of the page, as the guidelines for accessible pages reckon it."""

    def light(colour: str) -> float:
        parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)
