"""Playing a cell on a page: from the first round of a loop, at a reader's pace, by keys without a click,
while the wheel stays with the page, and beside it what the model computes."""

from __future__ import annotations

import time

import pytest
from cells import CELLS, CUBE, traced
from lab import missing
from test_learning import IMAGES, LETTERS

from minigrad_viz.shell.report import Report

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

LOOP = """x = torch.tensor([[0.], [1.], [2.], [3.]])
y = 2 * x + 1
w = torch.tensor([[0.5]], requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for i in range(10):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.05 * w.grad
        b -= 0.05 * b.grad
        w.grad = None
        b.grad = None
"""
TWO = CUBE + "z.backward(retain_graph=True)\nz.backward()\n"


@pytest.fixture
def show(browser, tmp_path):
    """A function that shows cells on a page, one below the other; with a `pane` beside their source, where
    there is room. With a `clock` the time of the page can be moved."""
    pages = []

    def open_cells(*cells: str, clock: bool = False, pane: bool = False, **size):
        body = "".join(Report(traced(cell), lang="en").html(table=False, pane=pane) for cell in cells)
        (tmp_path / "a.html").write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
        page = browser.new_page(viewport={"width": 1440, "height": 900} | size)
        if clock:
            page.clock.install()
        page.goto((tmp_path / "a.html").as_uri())
        page.locator(".mgp svg.mg").nth(len(cells) - 1).wait_for()
        pages.append(page)
        return page

    yield open_cells
    for page in pages:
        page.close()


def position(page, player: int = 0) -> tuple[int, int]:
    """The step that the label says, and how many there are."""
    step, _, count = page.locator(".mgp-label").nth(player).inner_text().partition(" / ")
    return int(step), int(count)


def said(page, player: int = 0) -> str:
    return page.locator(".mgp-say").nth(player).inner_text()


def wait_at(page, step: int) -> None:
    page.wait_for_function(
        "step => document.querySelector('.mgp-label').textContent.startsWith(`${step} / `)", arg=step
    )


# ─── From the first round


@pytest.mark.smoke
def test_a_loop_begins_with_its_first_round(show):
    page = show(LOOP)
    _, count = position(page)
    assert position(page) == (0, count)
    assert page.locator(".mgp-acts option:checked").inner_text() == "round 10 of 10", "the end rests"
    page.keyboard.press("ArrowRight")
    wait_at(page, 1)
    assert page.locator(".mgp-acts option:checked").inner_text() == "round 1 of 10"
    for step in range(2, count + 1):
        page.keyboard.press("ArrowRight")
        wait_at(page, step)
    assert page.locator(".mgp-next").is_disabled()
    for step in range(count - 1, 0, -1):  # and back, without a stop between the rounds
        page.keyboard.press("ArrowLeft")
        wait_at(page, step)


@pytest.mark.parametrize("cell", [LOOP, TWO], ids=["loop", "two calls"])
def test_play_begins_with_the_first_step(show, cell):
    page = show(cell)
    start = time.monotonic()
    page.locator(".mgp-play").click()
    wait_at(page, 1)
    assert time.monotonic() - start < 1
    assert page.locator(".mgp-acts select").evaluate("one => one.selectedIndex") == 0


def test_a_round_that_was_chosen_begins_with_its_own_first_step(show):
    page = show(LOOP)
    page.locator(".mgp-acts select").select_option(label="round 4 of 10")
    page.wait_for_function("document.querySelector('.mgp-label').textContent.split(' ')[0] > 0")
    before, _ = position(page)
    page.keyboard.press("ArrowRight")
    wait_at(page, before + 1)
    assert page.locator(".mgp-acts option:checked").inner_text() == "round 4 of 10"


# ─── The pace


def seconds_of_play(page) -> list[float]:
    """How long each step is shown while the page plays, by its own clock."""
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)  # until here it ran
    page.locator(".mgp-play").click()
    stood, step, at = [], 0, 0.0
    for tick in range(1, 4000):
        page.clock.run_for(50)
        if page.locator(".mgp-label").inner_text().startswith(f"{step} /"):
            continue
        stood.append(tick * 0.05 - at)
        step, at = position(page)[0], tick * 0.05
        if step == position(page)[1]:
            return stood
    raise AssertionError(f"the play stops at {step}")


def test_twelve_steps_take_about_25_seconds(show):
    page = show(CELLS[9], clock=True)
    stood = seconds_of_play(page)
    assert stood[0] <= 0.3, "the first step follows the button"
    assert 20 <= sum(stood) <= 28
    assert max(stood[1:]) > 1.3 * min(stood[1:]), "a long caption stands longer"


def test_rounds_that_say_the_same_are_played_8_times_as_fast(show):
    page = show(LOOP.replace("10", "4"), clock=True)
    rounds = dict.fromkeys(range(1, 5), 0.0)
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    page.locator(".mgp-play").click()
    page.clock.run_for(250)
    while not page.locator(".mgp-next").is_disabled():
        page.clock.run_for(100)
        rounds[page.locator(".mgp-acts select").evaluate("one => one.selectedIndex + 1")] += 0.1
    assert min(rounds[1], rounds[4]) > 10
    assert max(rounds[2], rounds[3]) < rounds[4] / 5


# ─── Keys


@pytest.mark.smoke
def test_the_arrows_step_the_player_in_view_without_a_click(show):
    page = show(CELLS[9], TWO, height=500)
    assert said(page) == "Press ▶ or → to replay this cell step by step."
    page.keyboard.press("ArrowRight")
    assert (position(page)[0], position(page, 1)[0]) == (1, 0)
    page.mouse.wheel(0, 5000)
    page.wait_for_function("scrollY > 200")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert (position(page)[0], position(page, 1)[0]) == (1, 1)
    assert page.evaluate("document.activeElement.localName") == "body", "the focus stays where it is"


def test_other_fields_of_a_page_keep_their_arrows(show):
    page = show(CELLS[9])
    page.evaluate("document.body.prepend(document.createElement('input'))")
    page.locator("body > input").focus()
    page.keyboard.press("ArrowRight")
    assert position(page)[0] == 0


# ─── The wheel belongs to the page


@pytest.mark.smoke
def test_the_wheel_scrolls_the_page_and_not_the_picture(show):
    page = show(CELLS[18], CELLS[18], width=900, height=600)
    view = page.locator(".mgp-view").first
    assert view.evaluate(
        "one => one.scrollHeight > one.clientHeight + 100 || one.scrollWidth > one.clientWidth + 100"
    )
    view.hover()
    before = view.evaluate("one => [one.scrollLeft, one.scrollTop]")
    for _ in range(3):
        page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY >= 250")
    assert view.evaluate("one => [one.scrollLeft, one.scrollTop]") == before


def test_what_is_cut_is_reached_by_dragging_and_by_keys(show):
    page = show(CELLS[18], width=900, height=600)
    view = page.locator(".mgp-view")
    box = view.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = view.evaluate("one => one.scrollLeft + one.scrollTop")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y - 60, steps=4)
    page.mouse.up()
    assert view.evaluate("one => one.scrollLeft + one.scrollTop") > before
    assert not page.locator(".mgp-details").is_visible(), "what is dragged is not clicked"
    if view.evaluate("one => one.scrollHeight > one.clientHeight + 100"):
        view.focus()
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowDown")
        assert view.evaluate("one => one.scrollTop") > 0


# ─── It learns before your eyes

CLASSES = """import minigrad.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.2)
X = torch.randn(24, 2)
Y = (X[:, 0] * X[:, 1] > 0).long()
for i in range(6):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X), Y)
    loss.backward()
    optimizer.step()
"""


def drawn(page, part: str) -> list[str]:
    """Where the parts of the learning pane are drawn."""
    return page.locator(f".mgp-learning {part}").evaluate_all("all => all.map(one => one.getAttribute('d'))")


@pytest.mark.smoke
def test_the_curve_over_the_data_moves_from_round_to_round(show):
    page = show(LOOP)
    pane = page.locator(".mgp-learning")
    page.locator(".mgp-acts select").select_option(label="round 1 of 10")
    page.wait_for_function("document.querySelector('.mgp-learning h4').textContent.endsWith('round 1')")
    assert pane.locator("circle.point").count() == 4
    first = drawn(page, ".curve.model")
    assert pane.locator("text.here").text_content() == "13.375"
    page.locator(".mgp-acts select").select_option(label="round 10 of 10")
    page.wait_for_function("document.querySelector('.mgp-learning h4').textContent.endsWith('round 10')")
    assert drawn(page, ".curve.model") != first and drawn(page, ".curve.was") == first
    assert "logarithmic scale" in pane.inner_text(), "13.375 to 0.013"
    picture, beside = (page.locator(part).bounding_box() for part in (".mgp-view", ".mgp-learning"))
    assert picture["x"] + picture["width"] <= beside["x"] + 1, "it stands beside the graph"


LINE = LOOP.replace("[[0.], [1.], [2.], [3.]]", "[[0.], [0.5], [1.], [1.5], [2.], [2.5], [3.], [3.5]]")


@pytest.mark.parametrize(
    ("cell", "width", "source"), [(LINE, 1366, False), (LINE, 1800, True), (CLASSES, 1366, False)]
)
def test_the_source_gives_way_to_the_picture_and_the_model(show, cell, width, source):
    """In a window that has no room for all three."""
    page = show(cell, width=width, pane=True)
    page.locator(".mgp-learning.beside svg").first.wait_for()
    page.locator(".mgp-pane").wait_for(state="visible" if source else "hidden")
    picture, beside = (page.locator(part).first.bounding_box() for part in (".mgp-view", ".mgp-learning"))
    assert picture["x"] + picture["width"] <= beside["x"] + 1 and beside["y"] + 200 < 900
    cut = page.locator("[data-cut]").first.get_attribute("data-cut") or ""
    assert not {"left", "right"} & {*cut.split()}


@pytest.mark.parametrize("width", [1440, 900])
def test_the_border_in_the_plane(show, width):
    page = show(CLASSES, width=width)
    pane = page.locator(".mgp-learning")
    assert pane.locator("path.point").count() == 24
    last = drawn(page, ".border")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.mgp-learning h4').textContent.endsWith('round 1')")
    assert drawn(page, ".border") != last
    box = pane.bounding_box()
    assert box["y"] + 200 < 900 and box["x"] + box["width"] <= width, "within the window"


@pytest.mark.parametrize(
    ("cell", "seen"), [(IMAGES, "path.pixel"), (LETTERS, "text.axis")], ids=["images", "letters"]
)
def test_a_few_examples_with_what_the_model_says_of_them(show, cell, seen):
    page = show(cell)
    pane = page.locator(".mgp-learning")
    assert pane.locator(seen).count() >= 4 and pane.locator("rect.bar.right").count() == 4
    heights = "all => all.map(one => one.getAttribute('height'))"
    last = pane.locator("rect.bar").evaluate_all(heights)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.mgp-learning h4').textContent.endsWith('round 1')")
    assert pane.locator("rect.bar").evaluate_all(heights) != last, "they move from round to round"
    box = pane.bounding_box()
    assert box["y"] + box["height"] <= 900 and box["x"] + box["width"] <= 1440, "within the window"


def test_no_pane_without_something_to_show(show):
    page = show(TWO)
    assert page.locator(".mgp-learning").count() == 0


# ─── What opens over the picture


@pytest.mark.smoke
def test_pop_ups_close_each_other_and_are_whole(show):
    page = show(CUBE + "z.backward()\n")
    names = {"legend": ".mgp-signs", "copy": ".mgp-copies", "offer": ".mgp-offered"}
    names["station"] = ".mgp-details"

    def visible() -> list[str]:
        return [name for name, part in names.items() if page.locator(part).is_visible()]

    for name in ("legend", "copy", "station", "legend", "offer", "station", "offer", "copy"):
        page.locator("svg.mg .station").first.click() if name == "station" else page.locator(
            f".mgp-{name}"
        ).click()
        assert visible() == [name]
        clipped = page.locator(names[name]).evaluate(
            """one => {
                const [box, player] = [one, one.closest('.mgp-player')].map(e => e.getBoundingClientRect());
                const high = box.top >= player.top && box.bottom <= player.bottom;
                const inside = high && box.right <= player.right;
                return !inside || (one.scrollHeight > one.clientHeight + 1 && one.clientHeight < 400);
            }"""
        )
        assert not clipped, name
    page.keyboard.press("Escape")
    assert visible() == []


@pytest.mark.smoke
def test_a_button_leads_to_the_questions(show):
    page = show(CUBE + "z.backward()\n")
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard',"
        " {value: {writeText: async text => (window.copied = text)}})"
    )
    page.locator(".mgp-offer").click()
    line = page.locator(".mgp-line").first
    line.locator("button").click()
    page.wait_for_function("document.querySelector('.mgp-line span').textContent === 'copied'")
    assert page.evaluate("window.copied") == line.locator("code").inner_text() == "%%autograd --predict"


@pytest.mark.smoke
def test_the_numbers_of_the_queue_cover_nothing(show):
    page = show(CELLS[9])
    page.locator(".mgp-queue").click()
    seen = 0
    for _ in range(position(page)[1]):
        page.keyboard.press("ArrowRight")
        found = page.locator("svg.mg").evaluate(
            """svg => {
                const boxes = all => [...svg.querySelectorAll(all)].map(one => one.getBoundingClientRect());
                const over = (a, b) =>
                    a.left < b.right && b.left < a.right && a.top + 1 < b.bottom && b.top + 1 < a.bottom;
                const words = boxes('text:not(.badge text), .chip, .pill:not(.mgp-motion *)');
                const badges = boxes('.badge');
                return [badges.length, badges.filter(badge => words.some(word => over(badge, word))).length];
            }"""
        )
        seen += found[0]
        assert found[1] == 0
    assert seen


def test_the_copied_picture_has_the_formula(show):
    page = show(CUBE + "z.backward()\n")
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: text => (window.copied = text)}})"
    )
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.locator(".mgp-copy").click()
    page.locator(".mgp-copies button").first.click()
    page.wait_for_function("window.copied")
    copied = page.evaluate("window.copied")
    assert "PowBackward0" in copied
    said = page.evaluate(
        """() => [...new DOMParser().parseFromString(window.copied, 'image/svg+xml').documentElement.children]
            .filter(one => one.localName === 'text').map(one => one.textContent)"""
    )
    assert len(said) == 2 and "3x² = " in said[1] and "0.6" in said[1], said


def test_a_page_without_scripts_says_how_to_play(browser, tmp_path):
    body = Report(traced(CELLS[9]), lang="en").html(table=False)
    (tmp_path / "a.html").write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
    for scripts in (False, True):
        page = browser.new_page(java_script_enabled=scripts)
        page.goto((tmp_path / "a.html").as_uri())
        if scripts:
            page.locator(".mgp svg.mg").wait_for()
        assert page.get_by_text("Run the cell to play it step by step.").count() == (not scripts)
        page.close()


# ─── The caption


MODEL = """torch.manual_seed(0)
nn = torch.nn
X, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
loss = nn.functional.cross_entropy(model(X), y)
loss.backward()
"""


@pytest.mark.smoke
def test_formulas_of_a_step_are_pages_of_the_caption(show):
    page = show(MODEL)
    page.keyboard.press("ArrowRight")
    while "2 Linear 8→3 receives" not in said(page):
        page.keyboard.press("ArrowRight")
    assert "passes 16×8 to 1 ReLU" in said(page)
    formula, place = page.locator(".mgp-main .mgp-formula"), page.locator(".mgp-turn")
    first = formula.inner_text()
    assert " ".join(first.split("=")[0].split()) == "grad ( 1 relu )", "what is passed on is shown"
    told = [first]
    for number in (2, 3, 4):
        place.get_by_role("button", name="Next formula").click()
        assert f"{number} of 4" in place.inner_text()
        told.append(formula.inner_text())
    assert len(set(told)) == 4 and page.locator(".mgp-details").is_hidden(), "nothing opens over the graph"
    page.keyboard.press("Enter")
    assert formula.inner_text() == first, "the button keeps the keys"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert "1 of 4" in place.inner_text(), "a step begins with its first page"
