"""The player in JupyterLab and in Notebook 7: stepped by button, key, slider, other widgets and Python, as a
widget and as the static player under a cell, light and dark, wide and narrow."""

from __future__ import annotations

import pytest
import tiers
from lab import missing
from lab_notebook import lab_over
from lab_server import wait_for

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing()), pytest.mark.smoke]

CODE_9 = (
    "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\nw = x ** 2\n"
    "z = torch.log(y) + torch.sqrt(w)\nz.backward()"
)
CELLS = [
    "import ipywidgets, minigrad_viz\n%load_ext minigrad_viz\nimport minigrad as torch",
    f"%%autograd --lang en\n{CODE_9}",
    f"%%autograd --lang en --step --no-table\n{CODE_9}",
    "walk = minigrad_viz.last().stepper()\nseen = []\n"
    "walk.observe(lambda change: seen.append(change.new), 'step')\n"
    "slider, play = ipywidgets.IntSlider(max=walk.steps), ipywidgets.Play(max=walk.steps, interval=50)\n"
    "for control in (slider, play):\n    ipywidgets.jslink((control, 'value'), (walk, 'step'))\n"
    "ipywidgets.VBox([ipywidgets.HBox([play, slider]), ipywidgets.HBox([walk])])",
    "walk.step = 3",
    "print(seen)",
]
STATIC, STEP, LINKED, SET, SEEN = range(1, 6)
ACTIVE = {"light": "rgb(255, 241, 118)", "dark": "rgb(111, 100, 0)"}
PAGES = [("lab", "light", 1280), *([("lab", "dark", 480), ("notebook", "dark", 1000)] if tiers.full else [])]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with lab_over(tmp_path_factory.mktemp("player"), "player.ipynb", CELLS) as running:
        yield running


@pytest.fixture(scope="module", params=PAGES, ids=lambda page: "-".join(map(str, page)))
def shown(lab, request):
    """The notebook after it ran, and the theme."""
    app, theme, width = request.param
    if app == "notebook":
        pytest.importorskip("notebook")
    page = lab.open("player.ipynb", app=app, theme=theme, width=width, height=3600)
    assert lab.run_all(page) == []
    page.locator(".mgp svg.mg").nth(2).wait_for()
    return page, theme


class Shown:
    """The player in the output of a cell."""

    def __init__(self, page, cell: int) -> None:
        self.page = page
        self.output = page.locator(".jp-CodeCell").nth(cell).locator(".jp-OutputArea").first
        self.slider = self.output.locator(".mgp-track input")

    def find(self, selector: str):
        return self.output.locator(selector)

    def at(self, step: int) -> None:
        wait_for(lambda: self.slider.input_value() == str(step), f"step {step} is shown", patience=15)

    def go(self, step: int) -> None:
        self.slider.fill(str(step))
        self.at(step)

    def active(self) -> list[str]:
        ids = self.find("svg.mg .active").evaluate_all("all => all.map(one => one.id)")
        return sorted(id.partition("-")[2] for id in ids)

    def said(self) -> str:
        return self.find(".mgp-say").inner_text()


@pytest.fixture(params=[STATIC, STEP], ids=["static", "widget"])
def player(shown, request):
    page, _ = shown
    player = Shown(page, request.param)
    player.go(0)
    return player


def test_one_picture_each_and_no_image_left(shown):
    page, _ = shown
    for cell in (STATIC, STEP, LINKED):
        player = Shown(page, cell)
        assert player.find(".mgp svg.mg").count() == 1 and player.find("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_start_shows_the_whole_picture(player):
    assert player.active() == [] and player.find("svg.mg.walk").count() == 0
    assert player.find(".mgp-previous").is_disabled() and not player.find(".mgp-next").is_disabled()
    assert player.find("svg.mg .pill text").first.is_visible()


def test_buttons(player):
    player.find(".mgp-next").click()
    player.find(".mgp-next").click()
    player.at(2)
    assert {"s1-c0", "r0"} <= set(player.active())
    assert "x ** 3 computes y = 125." in player.said()
    if player.find(".mgp-last").is_visible():  # not in a narrow column, where End does the same
        player.find(".mgp-last").click()
    else:
        player.page.keyboard.press("End")
    player.at(12)
    assert "1.6" in player.said() and player.find("svg.mg .later").count() == 0
    player.find(".mgp-previous").click()
    player.at(11)
    player.page.keyboard.press("Home")
    player.at(0)


def test_keys_reach_the_player_and_not_the_notebook(player):
    cells = player.page.locator(".jp-CodeCell").count()
    player.find(".mgp-view").focus()
    for key, step in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 12), ("Home", 0)]:
        player.page.keyboard.press(key)
        player.at(step)
    for key in "ba":  # which insert a cell where the notebook gets them
        player.page.keyboard.press(key)
    assert player.page.locator(".jp-CodeCell").count() == cells
    player.page.keyboard.press("Space")
    wait_for(lambda: int(player.slider.input_value()) >= 1, "it plays", patience=15)
    player.page.keyboard.press("Space")
    wait_for(lambda: player.find(".mgp-play").get_attribute("title") == "play", "it stands", patience=15)


def test_the_track_is_clicked(player):
    box = player.find(".mgp-segments i").nth(8).bounding_box()
    player.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    player.at(9)
    assert player.find(".mgp-label").inner_text() == "9 / 12"
    assert player.slider.get_attribute("aria-valuetext") == "backward 3 of 6"


def test_a_step_marks_picture_source_and_arithmetic(shown, player):
    _, theme = shown
    player.go(11)
    box = player.find("svg.mg .deck.active > .box")
    assert box.evaluate("box => getComputedStyle(box).fill") == ACTIVE[theme]
    assert player.find(".mgp-at mark.now").all_inner_texts() == ["x ** 3"]
    formula = player.find(".mgp-formula").first
    assert formula.get_attribute("aria-label").startswith("d z over d x through y equals d z over d y times")
    assert formula.locator(".fr").count() == 3 and formula.locator(".out").inner_text() == "0.6"
    # What is still to come is not there yet.
    assert player.find("[id$=s0-c0-grad] text:not(.key)").text_content() == "None"


def test_a_click_on_a_node_shows_its_details(player):
    player.go(11)
    player.find("[id$='-s1-d'] .fn").click()
    details = player.find(".mgp-details")
    said = details.inner_text()
    for part in ("y = x ** 3", "value: 125.", "PowBackward0", "to y: 0.008", "gradient from y to x: 0.6"):
        assert part in said, part
    details.get_by_role("button", name="forward 2 of 6").click()
    player.at(2)
    assert "0.6" not in details.inner_text()
    player.page.keyboard.press("Escape")
    assert not details.is_visible()


def test_words_can_be_told_from_the_ground(player):
    """A contrast of at least 4.5, also of what is grey."""
    player.go(11)
    for part in (".mgp-said", ".mgp-at", ".mgp-after", ".mgp-formula", ".mgp-formula em", ".mgp-label"):
        words, ground = player.find(part).first.evaluate(
            """part => {
                const colour = element => getComputedStyle(element).backgroundColor;
                let ground = part;
                while (colour(ground) === 'rgba(0, 0, 0, 0)') ground = ground.parentNode;
                return [getComputedStyle(part).color, colour(ground)];
            }"""
        )
        assert contrast(words, ground) >= 4.5, part


def test_python_sets_the_step_and_hears_of_it(shown):
    """`walk.step = 3` ran in another cell, and `print(seen)` after it."""
    page, _ = shown
    printed = page.locator(".jp-CodeCell").nth(SEEN).locator(".jp-OutputArea").first.inner_text()
    assert printed.strip().endswith("[3]")


def test_other_widgets_drive_it_in_the_browser(shown):
    page, _ = shown
    player = Shown(page, LINKED)
    player.go(1)
    box = player.find(".widget-slider .noUi-base").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wait_for(lambda: int(player.slider.input_value()) >= 2, "the IntSlider moves it", patience=15)
    at = int(player.slider.input_value())
    player.find(".widget-play button").first.click()
    wait_for(lambda: int(player.slider.input_value()) != at, "Play moves it", patience=15)
    player.at(12)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colors of the page, as WCAG computes it."""

    def light(colour: str) -> float:
        parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)
