"""Whose the keys are in a notebook: the notebook's, until a reader clicks into a player."""

from __future__ import annotations

import pytest
from lab import missing
from lab_notebook import lab_over
from lab_server import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing()), pytest.mark.smoke]

CELL = (
    "%%autograd --lang en --no-table\n"
    "x = torch.tensor(5.0, requires_grad=True)\nz = torch.log(x ** 3)\nz.backward()"
)
CELLS = ["%load_ext minigrad_viz\nimport minigrad as torch\nruns = 0", CELL, CELL, "runs += 1", "runs += 1"]


def test_a_click_gives_a_player_the_keys_and_escape_gives_them_back(tmp_path):
    with lab_over(tmp_path, "keys.ipynb", CELLS) as lab:
        page = lab.open("keys.ipynb", width=1440, height=1600)
        assert lab.run_all(page) == []
        players = page.locator(".mgp:not(.jp-mod-hidden *)")
        players.nth(1).locator("svg.mg").wait_for()
        said, label = (players.nth(1).locator(part) for part in (".mgp-say", ".mgp-label"))
        start = label.inner_text()
        assert said.inner_text() == "Click here, then press → or ▶ to replay this cell step by step."

        # Shift+Enter twice runs two cells, players or not.
        page.locator(".jp-CodeCell").nth(1).locator(".jp-InputPrompt").click()
        counts = [page.locator(".jp-CodeCell .jp-InputPrompt").nth(i).inner_text() for i in (1, 2)]
        page.keyboard.press("Shift+Enter")
        page.keyboard.press("Shift+Enter")

        def ran() -> bool:
            now = [page.locator(".jp-CodeCell .jp-InputPrompt").nth(i).inner_text() for i in (1, 2)]
            return all(new != old and "*" not in new for new, old in zip(now, counts, strict=True))

        wait_for(ran, "both cells ran again")
        players.nth(1).locator("svg.mg").wait_for()
        page.keyboard.press("ArrowRight")
        assert label.inner_text() == start, "the arrows are the notebook's"

        for part in (".mgp-caption", ".mgp-view"):
            players.nth(1).locator(part).click(position={"x": 5, "y": 5})
            assert said.inner_text() == "Press ▶ or → to replay this cell step by step."
            page.keyboard.press("ArrowRight")
            wait_for(lambda: label.inner_text().startswith("1 /"), "a click gives the keys")
            page.keyboard.press("ArrowLeft")
            page.keyboard.press("Escape")
            wait_for(lambda: said.inner_text().startswith("Click here"), "Esc gives them back")
            page.keyboard.press("ArrowRight")
            assert label.inner_text().startswith("0 /")
        inside = page.evaluate("document.activeElement.closest('.jp-Notebook') !== null")
        assert inside, "the notebook has the focus again"
