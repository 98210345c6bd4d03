"""Live values, training and predictions in JupyterLab, by mouse and by keys, light and dark. The kernel
computes the numbers."""

from __future__ import annotations

import pytest
from lab import missing
from lab_notebook import lab_over
from test_live_values import CELL, Player, follows
from test_predict_page import answers_by_keys

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

CELLS = [
    "import minigrad_viz\n%load_ext minigrad_viz\nimport minigrad as torch",
    f"%%autograd --lang en --step --live --no-table\n{CELL}",
    "%%autograd --lang en --step --live --no-table\nw = torch.tensor(1.0, requires_grad=True)\n"
    "opt = torch.optim.SGD([w], lr=0.1, momentum=0.5)\nfor i in range(5):\n    opt.zero_grad()\n"
    "    loss = (w * 2 - 3) ** 2\n    loss.backward()\n    opt.step()",
    f"%%autograd --lang en --predict --no-table\n{CELL}",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with lab_over(tmp_path_factory.mktemp("live"), "live.ipynb", CELLS) as running:
        yield running


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_in_jupyterlab(lab, theme):
    page = lab.open("live.ipynb", theme=theme, width=1280, height=1400)
    assert lab.run_all(page) == []
    trains(page)
    follows(Player(page))
    predicts(page)


def trains(page) -> None:
    """Rounds, another learning rate, and back."""
    pane = page.locator(".mgp-training")
    said = pane.locator("p").first
    own = said.inner_text()
    assert own.startswith("After round 5, loss is ")
    pane.locator("button", has_text="Ten more").click()
    pane.locator("p", has_text="After round 15, loss is ").wait_for()
    pane.locator("input").fill("0.01")
    pane.locator("button", has_text="One more round").click()
    pane.locator("p", has_text="After round 16, loss is ").wait_for()
    pane.locator("select").select_option("5")
    pane.locator("p", has_text="After round 5, loss is ").wait_for()
    assert said.inner_text() == own and pane.locator(".mgp-plot circle.now").count() == 1


def predicts(page) -> None:
    """From the first control of the player that asks, by keys alone."""
    asking = page.locator(".mgp", has=page.locator(".mgp-ask:not([hidden])"))
    asking.scroll_into_view_if_needed()
    asking.evaluate("player => player.classList.add('asking')")
    asking.locator("button:not(:disabled)").first.focus()
    answers_by_keys(page, ".asking")
