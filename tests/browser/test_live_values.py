"""Live values in Chromium: on a page, by mouse and by keys, light and dark."""

from __future__ import annotations

import pytest
from cells import CELLS
from lab import missing

from minigrad_viz.shell.run import trace_source

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

CELL = CELLS[9].rstrip()
# Whether the table below the picture shows another number, and whether it shows that of the slider: a kernel
# may take a while to compute it.
NOW = "[...document.querySelectorAll('.mgp-livepane:not(.mgp-training) tr')][1].lastElementChild.textContent"
CHANGED = f"before => {NOW} !== before"
SETTLED = (
    f"() => document.querySelector('.mgp-slider').getAttribute('aria-valuetext').endsWith(' = ' + {NOW})"
)


class Player:
    """A player in a page, with what it says."""

    def __init__(self, page) -> None:
        self.page = page
        self.root = page.locator(".mgp", has=page.locator(".mgp-slider"))
        self.slider = self.root.locator(".mgp-slider")
        self.slider.first.wait_for()

    def row(self, id: str) -> list[str]:
        """The value of a row, and in gray the cell's."""
        texts = self.root.locator(f"g.row[id$='{id}'] text:not(.key)")
        return texts.all_text_contents()

    def table(self) -> list[list[str]]:
        rows = self.root.locator(".mgp-livepane:not(.mgp-training) tr").all()
        return [row.locator("td, th").all_text_contents() for row in rows]

    def waits(self, value: str) -> None:
        """Until the table says a number."""
        self.root.locator(".mgp-livepane td.n", has_text=value).first.wait_for()

    def drag(self, by: float) -> None:
        """Drag the thumb by so many pixels."""
        box = self.root.locator(".mgp-slider .thumb").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + by, y + 3, steps=4)
        self.page.mouse.up()

    def press(self, *keys: str) -> None:
        self.slider.focus()
        for key in keys:
            self.page.keyboard.press(key)


def follows(player: Player) -> None:
    """From the cell's 5 to 5.6 by keys, on to another number by mouse, and back."""
    own = [["x", "5.", "5."], ["z", "9.8283", "9.8283"], ["x.grad", "1.6", "1.6"]]
    assert player.table() == [["", "cell", "now"], *own]
    while (before := player.table()[1][2]) != "5.6":
        assert float(before) < 5.7
        player.press("ArrowRight")
        player.page.wait_for_function(CHANGED, arg=before)
    player.waits("10.768")
    assert player.table()[1:] == [["x", "5.", "5.6"], ["z", "9.8283", "10.768"], ["x.grad", "1.6", "1.5357"]]
    assert player.row("s0-c0-value") == ["5.6", "5."] and player.row("s0-c0-grad") == ["1.5357", "1.6"]
    page = player.page
    player.root.locator(".mgp-said", has_text="live: x = 5.6 (the cell has 5.)").wait_for()
    player.root.locator(".mgp-formula em.out", has_text="1.5357").first.wait_for()
    assert player.root.locator("g.pill[id$='r2-p'] text").all_text_contents() == ["0.0056942", "0.008"]
    assert player.root.locator("g.chip[id$='s3-k0'] text").all_text_contents() == ["self 175.62"]
    assert (
        "9.8283 + 1.6 · 0.6 = 10.788. z is 10.768"
        in player.root.locator(".mgp-livepane:not(.mgp-training) p").first.inner_text()
    )
    assert player.slider.get_attribute("aria-valuetext") == "x = 5.6"
    player.root.locator(".mgp-view").focus()  # a step says the same of the other number
    page.keyboard.press("End")
    player.root.locator(".mgp-caption", has_text="AccumulateGrad").wait_for()
    assert player.row("s0-c0-grad") == ["1.5357", "1.6"]
    page.keyboard.press("Home")
    assert player.row("s0-c0-grad") == ["1.5357", "1.6"]
    player.drag(-30)
    page.wait_for_function(SETTLED)
    assert float(player.table()[1][2]) < 5 and player.row("s0-c0-value")[0] == player.table()[1][2]
    player.press("Home")
    page.wait_for_function(SETTLED)
    assert player.table()[1][2] == "1."
    player.root.locator("button", has_text="Reset").click()
    page.wait_for_function(SETTLED)
    assert player.table()[3] == ["x.grad", "1.6", "1.6"] and player.row("s0-c0-grad") == ["1.6"]
    assert player.root.locator(".mgp-was").count() == 0
    player.root.locator(".mgp-live").click()
    assert player.root.locator(".mgp-livepane:not(.mgp-training)").is_hidden() and player.slider.is_hidden()


def test_what_a_screen_reader_meets(visit, tmp_path):
    report, _ = trace_source(f"import minigrad as torch\n{CELL}", lang="en", live=True)
    page = visit(report.save(tmp_path / "page.html"))
    player = Player(page)
    thumb = page.get_by_role("slider", name="x", exact=True)
    bounds = [thumb.get_attribute(f"aria-value{each}") for each in ("min", "max", "now", "text")]
    assert bounds == ["1", "9", "5", "x = 5."]
    tree = page.get_by_role("region", name="Live").aria_snapshot()
    assert 'row "z 9.8283 9.8283"' in tree and 'button "Copy the changed line" [disabled]' in tree
    assert 'img "z for other values of x, with its tangent"' in tree
    player.press("ArrowRight")
    player.waits("5.2")
    assert thumb.get_attribute("aria-valuetext") == "x = 5.2"


@pytest.mark.smoke
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("library", ["minigrad", "torch"])
def test_on_a_page(visit, tmp_path, library, theme):
    pytest.importorskip(library)
    report, _ = trace_source(f"import {library} as torch\n{CELL}", lang="en", live=True)
    page = visit(report.save(tmp_path / "page.html"), color_scheme=theme)
    follows(Player(page))


def test_on_a_narrow_page(visit, tmp_path):
    report, _ = trace_source(f"import minigrad as torch\n{CELL}", lang="ko", live=True)
    page = visit(report.save(tmp_path / "page.html"), viewport={"width": 420, "height": 900})
    player = Player(page)
    player.press("PageUp")
    player.waits("6.")
    assert page.locator(".mgp-livepane.stacked").count() == 1
    over = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(over) <= 0


def test_elements_of_an_array(visit, tmp_path):
    source = (
        "import minigrad as torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\ny = (x * x).sum()\n"
        "y.backward()"
    )
    report, _ = trace_source(source, lang="en", live=True)
    page = visit(report.save(tmp_path / "page.html"))
    player = Player(page)
    page.locator(".mgp-live-head select").select_option("1")
    player.press("ArrowRight")
    player.waits("5.2025")
    limits = player.root.locator(".mgp-live-limits")
    assert limits.inner_text().startswith("This page moves one number at a time: when you move another,")
    assert player.table()[1:] == [["x[1]", "2.", "2.05"], ["y", "5.", "5.2025"], ["x.grad[1]", "4.", "4.1"]]


def test_without_a_clipboard_the_line_stands_there(visit, tmp_path):
    """As it is typed in, to be selected."""
    report, _ = trace_source(f"import minigrad as torch\n{CELL}", lang="en", live=True)
    page = visit(report.save(tmp_path / "page.html"))
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); }")
    player = Player(page)
    player.press("ArrowRight")
    player.waits("5.2")
    player.root.locator("button", has_text="Copy the changed line").click()
    note = player.root.locator(".note", has_text="with the new number: x = torch.tensor(5.2")
    note.wait_for()
    note.select_text()
    assert "x = torch.tensor(5.2" in page.evaluate("() => String(getSelection())")


def test_what_does_not_change_is_said(visit, tmp_path):
    """Below the head of the pane, until it moves itself."""
    source = (
        "import minigrad as torch\nx = torch.tensor(2.0, requires_grad=True)\n"
        "b = torch.tensor(3.0, requires_grad=True)\nz = x * b\nz.backward()\n"
    )
    report, _ = trace_source(source, lang="en", live=True)
    page = visit(report.save(tmp_path / "page.html"))
    player = Player(page)
    page.keyboard.press("Escape")
    player.slider.first.focus()
    page.keyboard.press("ArrowRight")
    player.root.locator("h4", has_text="From the cell's x to yours").wait_for()
    assert player.root.locator(".mgp-livepane h4 small").inner_text() == "Unchanged: b = 3."


def test_without_room_for_the_steps_they_are_told_for_the_cell(visit, tmp_path, monkeypatch):
    """And that is said: no formula with the cell's numbers stands under another number."""
    monkeypatch.setattr("minigrad_viz.player.live_values.STORED", 4000)
    report, _ = trace_source(f"import minigrad as torch\n{CELL}", lang="en", live=True)
    page = visit(report.save(tmp_path / "page.html"))
    player = Player(page)
    player.press("ArrowRight")
    player.waits("5.2")
    said = player.root.locator(".mgp-caption")
    assert said.inner_text().startswith("live: x = 5.2 (the cell has 5.)")
    assert player.root.locator(".mgp-formula em").count() == 0
    player.root.locator(".mgp-view").focus()
    page.keyboard.press("End")
    said.locator("mark", has_text="cell: x = 5.").wait_for()
    assert "1.6" in said.inner_text()


MODEL = (
    "torch.manual_seed(0)\nnn = torch.nn\n"
    "model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))\n"
    "X, y = torch.randn(16, 4), torch.randint(0, 3, (16,))\n"
    "loss = nn.functional.cross_entropy(model(X), y)\nloss.backward()\n"
)


ACTIVE = """() => [...document.querySelectorAll(':is(.card, .deck).active > .box')]
    .map(one => one.getBoundingClientRect()).filter(one => one.height).map(one => one.top)"""


@pytest.mark.smoke
@pytest.mark.parametrize(("cell", "width"), [(CELL, 1366), (CELL, 900), (MODEL, 1366)])
def test_the_plot_is_in_view_in_a_low_window(visit, tmp_path, cell, width):
    report, _ = trace_source(f"import minigrad as torch\n{cell}", lang="en", live=True)
    page = visit(report.save(tmp_path / "page.html"), viewport={"width": width, "height": 768})
    page.locator(".mgp-plot").wait_for()
    box = page.locator(".mgp-plot").bounding_box()
    picture = page.locator(".mgp-view").first.bounding_box()
    assert box["y"] + box["height"] <= 768 and picture["height"] >= (240 if cell == CELL else 180)
    while page.locator(".mgp-next").is_enabled():  # and so it stays, whatever opens below the strip
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(50)
        box = page.locator(".mgp-plot").bounding_box()
        active = page.evaluate(ACTIVE)
        assert box["y"] + box["height"] <= 768 and any(0 < top < box["y"] for top in active)
    slope, plot = (page.locator(one).last.bounding_box() for one in (".mgp-plot .slope", ".mgp-plot"))
    assert slope["x"] + slope["width"] <= plot["x"] + plot["width"], "the slope is written as a whole"
