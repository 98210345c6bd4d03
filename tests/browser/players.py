"""Players in a page: how many a notebook stores, and stepping through all of them."""

from __future__ import annotations

from typing import Any

import course


def step_through(page: Any) -> int:
    """Press End in every player of a page; the number of players."""
    players = page.locator(".mgp").all()
    for player in players:
        player.locator(".mgp-view").focus()
        page.keyboard.press("End")
        slider = player.locator("input[type=range]").first
        assert slider.input_value() == slider.get_attribute("max")
        assert player.locator(".mgp-say").inner_text()
    return len(players)


def pictures(name: str) -> int:
    """The players among the stored outputs of a notebook."""
    shown = [output.get("data", {}) for cell in course.code(name) for output in cell.outputs]
    return sum("data-mgp" in "".join(data.get("text/html", "")) for data in shown)
