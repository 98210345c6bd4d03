"""Models of courses in windows of three widths: at every step the whole model is in view and can be read, and
so is what is inside of the active card."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cells import traced
from course_models import MODELS, program

from minigrad_viz.drawing.detail import DetailDrawing, DetailPicture
from minigrad_viz.shell.report import Report

WIDTHS = (1440, 1366, 900)
HIGH = 900
KILOBYTES = 400

LOOK = Path(__file__).with_name("models_look.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report():
    """A function that gives the report of a model by name; each is made once."""
    torch = pytest.importorskip("torch")
    made = {}

    def report(name):
        if name not in made:
            made[name] = Report(traced(program(name), torch), lang="en")
        return made[name]

    return report


@pytest.mark.full
@pytest.mark.parametrize("name", MODELS)
def test_the_whole_model_is_in_view_at_every_step(name, report, visit, tmp_path):
    html = report(name).page()
    path = tmp_path / "page.html"
    path.write_text(html, encoding="utf-8")
    assert len(html.encode()) < 1000 * KILOBYTES
    problems = []
    page = visit(path, reduced_motion="reduce")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HIGH})
        page.reload()
        page.locator(".mgp-next").wait_for()
        if page.locator(".mgp-source").get_attribute("aria-pressed") == "true" and width != WIDTHS[0]:
            page.locator(".mgp-source").click()  # in the widest window the source stands beside the strip
        page.locator(".mgp-view").first.focus()
        while True:
            step = page.locator("input[type=range]").first.input_value()
            problems += [f"{width}, step {step}: {each}" for each in page.evaluate(LOOK.partition("\n")[2])]
            if page.locator(".mgp-next").is_disabled():
                break
            page.keyboard.press("ArrowRight")
    assert not problems, "\n".join(dict.fromkeys(problems))


@pytest.mark.full
@pytest.mark.parametrize("name", MODELS)
def test_stations_are_called_as_in_the_code(name, report):
    """What a station of a detail is called occurs in the source, is the path of a module or a parameter, or a
    function of PyTorch; and no two of one detail have the same name."""
    made = report(name)
    source = re.sub(r"\s|self\.|torch\.", "", made.trace.source)
    paths = {
        path for group in made.views[-1].whole.groups for path in (group.path, group.path.partition(".")[2])
    }
    for panel in made.act(-1).panels:
        if not isinstance(panel.picture, DetailPicture):
            continue
        detail = panel.picture.detail
        drawing = DetailDrawing(detail, "", "", "en", 832)
        names = [box.name for box in drawing.boxes.values() if not box.outside]
        assert len(set(names)) == len(names), (panel.title, names)
        for box in drawing.boxes.values():
            if not box.outside:
                assert is_known(box.name, source, paths, made), (panel.title, box.name)


def is_known(name, source, paths, report):
    """Whether a name stands in the source, or is that of a module, a parameter, a function or a state."""
    plain = re.sub(r" \(\d+\)$", "", name)
    written = re.sub(r"\s|self\.|torch\.|…", "", plain)
    first, module = plain.split(" ")[0], plain.rpartition(".")[0]
    if written in source or {first, module} & paths or plain[-1] in "₀₁₂₃₄₅₆₇₈₉":
        return True
    if any(f".{path}.".endswith(f".{first}.") for path in paths):
        return True
    torch = pytest.importorskip("torch")
    return hasattr(torch, plain) or hasattr(torch.nn.functional, plain) or module in dict(report.trace.names)
