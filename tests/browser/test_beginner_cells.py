"""Cells of a beginner, stepped by keys from a page that was just opened: every step of the count is visited
once, the caption and the active station are in the window, no gradient is there before its step, and no
number is cut."""

from __future__ import annotations

import itertools
import re

import pytest
from cells import CELLS, traced
from lab import missing

from minigrad_viz.shell.report import Report

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

SIZES = [(1440, 900), (1366, 768), (900, 700)]
DATA = "torch.manual_seed(0)\nX = torch.randn(20, 5)\ny = torch.randn(20, 1)\n"
BEGINNER = {f"code {i}": CELLS[i] for i in (4, 5, 7, 8, 9, 10, 11, 13, 14, 16, 19)} | {
    "a layer": DATA + "W = torch.randn(5, 3, requires_grad=True)\nb = torch.zeros(3, requires_grad=True)\n"
    "h = torch.tanh(X @ W + b)\nloss = -torch.softmax(h, dim=1).log()[:, 0].mean()\nloss.backward()\n",
    "in place": "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x * 2\ny[0] = 5\ny.mul_(3)\n"
    "y.sum().backward()\n",
    "shapes": "x = torch.arange(6.0, requires_grad=True)\nm = x.reshape(2, 3)\n"
    "((m / m.sum(1, keepdim=True)).T[1:] ** 2).mean().backward()\n",
    "a recurrence": "torch.manual_seed(0)\nseq = torch.randn(3, 2)\n"
    "W = torch.randn(2, 2, requires_grad=True)\n"
    "h = torch.zeros(2)\nfor x in seq:\n    h = torch.tanh(x + h @ W)\nh.sum().backward()\n",
    "a loop": DATA + "w = torch.zeros(5, 1, requires_grad=True)\nfor i in range(3):\n"
    "    loss = ((X @ w - y) ** 2).mean()\n    loss.backward()\n"
    "    with torch.no_grad():\n        w -= 0.1 * w.grad\n        w.grad = None\n",
    "a model": DATA + "nn = torch.nn\nmodel = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))\n"
    "loss = nn.functional.mse_loss(model(X), y)\nloss.backward()\n",
    "a training": DATA + "nn = torch.nn\nmodel = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))\n"
    "opt = torch.optim.SGD(model.parameters(), lr=0.1)\nfor i in range(3):\n    opt.zero_grad()\n"
    "    loss = nn.functional.mse_loss(model(X), y)\n    loss.backward()\n    opt.step()\n",
}

# A range alone, a number or a dtype that was cut, a sign without its number.
CUT = re.compile(r"\d…[-−]?\d|[-−]…|float\d+ \([^)]*…|(?:^|\s)[-−](?:\s|$)(?!.)")
SHOWN = """() => {
  const inside = (one) => {
    const box = one.getBoundingClientRect();
    return box.height > 0 && box.bottom > 0 && box.top < innerHeight - 1;
  };
  const visible = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const all = (selector) => [...document.querySelectorAll(selector)];
  const said = (one) => one.textContent;
  const box = document.querySelector(".mgp-caption").getBoundingClientRect();
  const active = all(".mgp-view .active");
  return {
    caption: box.top >= -1 && box.bottom <= innerHeight,
    station: !active.length || active.some(inside),
    texts: all(".mgp-view text, .mgp-said, .mgp-text, .mgp-after").filter(visible).map(said),
    kept: all(".mgp-view .row[id$=-grad] :is(text.kept, .heat)").filter(visible).length,
    passed: all(".mgp-view .pill :is(text, .heat)").filter(visible).map(said),
    phase: document.querySelector(".mgp").dataset.phase,
    step: document.querySelector(".mgp-label").textContent,
  };
}"""


def walked(page, path) -> list[dict]:
    """What is seen at each step of a page that was just opened."""
    page.goto(path.as_uri())
    page.locator(".mgp svg.mg").first.wait_for()
    opened, count = map(int, page.locator(".mgp-label").inner_text().split(" / "))
    if opened:  # a cell that failed opens at its error
        assert opened == count and page.locator(".mge").count(), "only an error is open at its end"
        for _ in range(count):
            page.keyboard.press("ArrowLeft")
    frames = []
    for step in range(1, count + 1):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "step => document.querySelector('.mgp-label').textContent.startsWith(`${step} / `)", arg=step
        )
        frames.append(page.evaluate(SHOWN))
    assert page.locator(".mgp-next").is_disabled(), "there is another step"
    return frames


def check(name: str, frames: list[dict]) -> None:
    for i, frame in enumerate(frames, 1):
        where = f"{name}, step {i}"
        assert frame["step"] == f"{i} / {len(frames)}", where
        assert frame["caption"] and frame["station"], where
        cut = [text for text in frame["texts"] if CUT.search(text)]
        assert not cut, (where, cut)
    for frame in itertools.takewhile(lambda frame: frame["phase"] != "backward", frames):
        assert not frame["kept"] and not frame["passed"], (name, frame["step"], "a gradient before backward")


def written(tmp_path, source: str):
    path = tmp_path / "cell.html"
    body = Report(traced(source), lang="en").html(table=False)
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
    return path


@pytest.mark.smoke
def test_a_cell_of_a_layer(browser, tmp_path):
    page = browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
    frames = walked(page, written(tmp_path, BEGINNER["a layer"]))
    page.close()
    check("a layer", frames)
    kept = [frame["kept"] for frame in frames]
    forward = [frame["step"] for frame, n in zip(frames, kept) if not n]
    assert kept == sorted(kept) and kept[-1] > 1 and len(forward) > 11, ("no gradient before its step", kept)
    assert any("rms " in text for text in frames[-1]["texts"])
    for cut in ("-0.9…1.", "value -…", "float32 (20, …", "-"):
        assert CUT.search(cut)
    assert not CUT.search("p.log()[:, 0]…") and not CUT.search("a − b")


@pytest.mark.full
@pytest.mark.parametrize("name", BEGINNER)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_cell_of_a_beginner(browser, tmp_path, name, theme):
    path = written(tmp_path, BEGINNER[name])
    for width, height in SIZES:
        size = {"width": width, "height": height}
        page = browser.new_page(viewport=size, reduced_motion="reduce", color_scheme=theme)
        check(f"{name} at {width}", walked(page, path))
        page.close()
