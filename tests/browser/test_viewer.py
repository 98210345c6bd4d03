"""What %%autograd, draw, stepper and make_dot look like in JupyterLab: inline, in the page's theme,
legible."""

from __future__ import annotations

import pytest
from lab import missing
from lab_notebook import lab_over

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

CUBE = "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\nz = torch.log(y)\nz.backward()"
CELLS = [
    "%load_ext minigrad_viz\nimport minigrad as torch\nfrom minigrad_viz import draw, make_dot, stepper",
    f"%%autograd\n{CUBE}",
    f"%%autograd --static --no-table\n{CUBE}",
    "draw(z)",
    "make_dot(z, params={'x': x})",
    "stepper(torch.log(x ** 3), names={'x': x})",
]
AUTOGRAD, STILL, DRAW, DOT, WALK = range(1, 6)
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 20, 24)"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with lab_over(tmp_path_factory.mktemp("viewer"), "viewer.ipynb", CELLS) as running:
        yield running


@pytest.fixture(scope="module", params=[("light", 1280), ("dark", 480)], ids=str)
def shown(lab, request):
    """The notebook after it ran, and the theme."""
    theme, width = request.param
    page = lab.open("viewer.ipynb", theme=theme, width=width, height=4000)
    assert lab.run_all(page) == []
    page.locator(".mgp svg.mg").nth(1).wait_for()
    return page, theme


def output(page, cell: int):
    return page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea-output")


def colour(locator, name: str = "fill") -> str:
    return locator.evaluate(f"element => getComputedStyle(element)['{name}']")


@pytest.mark.parametrize("cell", [AUTOGRAD, STILL, DRAW, WALK])
def test_the_picture_is_inline_and_follows_the_theme(shown, cell):
    page, theme = shown
    svg = output(page, cell).locator("svg.mg")
    assert svg.count() == 1 and output(page, cell).locator("img").count() == 0
    assert colour(svg.locator(".paper")) == PAPER[theme]


@pytest.mark.parametrize("cell", [AUTOGRAD, STILL, DRAW, WALK])
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
    output(page, AUTOGRAD).locator("summary").click()  # closed, because the picture tells all of it
    rows = output(page, AUTOGRAD).locator(".mgt tbody tr")
    assert {colour(rows.nth(i), "backgroundColor") for i in range(6)} == {"rgba(0, 0, 0, 0)"}
    changed = output(page, AUTOGRAD).locator(".mgt .c")
    assert changed.all_inner_texts() == ["0.6"]
    assert colour(changed, "color") == {"light": "rgb(179, 71, 0)", "dark": "rgb(255, 154, 82)"}[theme]


def test_graphvizs_own_drawing_is_there(shown):
    page, _ = shown
    assert output(page, DOT).locator("svg, img").count() >= 1
