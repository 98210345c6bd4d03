"""Live values, training and predictions in JupyterLab, by mouse and by keys, light and dark. The kernel
computes the numbers."""

from __future__ import annotations

import json

import pytest
from lab import missing
from lab_notebook import lab_over, write
from lab_server import wait_for
from nbformat.v4 import new_code_cell
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
PAIR = (
    "%%autograd --lang en --step --live --no-table\na, b = torch.tensor(3.0, requires_grad=True), 5\n"
    "v = torch.tensor([2.0, -1.0], requires_grad=True)\nz = (a * v).sum() * a\nz.backward()"
)
# A slow computer: what is said of the steps that are not shown comes when a reader has done something else.
SLOW = (
    "import time\nfrom minigrad_viz.player.live_values import LivePicture\nstate = LivePicture.state\n"
    "def slow(self, handle, numbers, only=None):\n    time.sleep(0 if only else 0.5)\n"
    "    return state(self, handle, numbers, only)\nLivePicture.state = slow"
)


NOTED = (
    "%config Autograd.log = 'answers.jsonl'",
    f"%%autograd --lang en --predict --no-table\n{CELL}",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    write(folder / "pair.ipynb", [new_code_cell(source) for source in (CELLS[0], SLOW, PAIR)])
    write(folder / "noted.ipynb", [new_code_cell(source) for source in (CELLS[0], *NOTED)])
    write(folder / "sent.ipynb", [new_code_cell(source) for source in CELLS[:2]])
    with lab_over(folder, "live.ipynb", CELLS) as running:
        yield running


def test_answers_on_the_page_are_noted_by_the_kernel(lab):
    page = lab.open("noted.ipynb", width=1280, height=1000)
    assert lab.run_all(page) == []
    page.locator(".mgp-ask:not([hidden])").wait_for()
    page.locator(".mgp-view").focus()
    answers_by_keys(page)
    file = lab.root / "answers.jsonl"
    wait_for(lambda: file.exists() and file.read_text("utf-8").count("\n") == 8, "eight answers")
    answers = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [(a["question"], a["right"]) for a in answers[:2]] == [("leaves", False), ("leaves", True)]
    assert answers[0]["keys"] == ["quiz_leaves_result"] and answers[-1]["right"]
    assert page.locator(".mgp-not-noted").is_hidden()


def test_a_widget_makes_a_page_to_send(lab, tmp_path):
    """The kernel sends the module of the player. The page needs no kernel and no network."""
    page = lab.open("sent.ipynb", width=1280, height=1000)
    assert lab.run_all(page) == []
    page.locator(".mgp svg.mg").first.wait_for()
    page.locator(".mgp-view").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    label, said = (page.locator(part).first.inner_text() for part in (".mgp-label", ".mgp-say"))
    page.locator(".mgp-copy").click()
    with page.expect_download() as told:
        page.locator(".mgp-copies button", has_text="HTML").click()
    told.value.save_as(tmp_path / "sent.html")
    sent = page.context.new_page()
    sent.goto((tmp_path / "sent.html").as_uri())
    sent.locator(".mgp svg.mg").wait_for()
    assert label.startswith("3 / ") and sent.url.endswith("#step=3")
    assert (sent.locator(".mgp-label").inner_text(), sent.locator(".mgp-say").inner_text()) == (label, said)


def test_several_numbers_move_together(lab):
    """The second keeps what was done to the first; all lines that change are copied; Reset undoes both."""
    page = lab.open("pair.ipynb", width=1280, height=1400)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    assert lab.run_all(page) == []
    player = Player(page)
    first, second = player.slider.all()
    first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(MOVED, arg=["a", "3.1"])
    assert second.get_attribute("aria-valuetext") == "v[0] = 2."
    second.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(MOVED, arg=["v[0]", "2.05"])
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function(MOVED, arg=["v[0]", "2.06"])
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_function(MOVED, arg=["v[0]", "2.05"])
    assert player.table()[1:] == [
        ["a", "3.", "3.1"], ["v[0]", "2.", "2.05"], ["z", "9.", "10.09"], ["v.grad[0]", "9.", "9.61"],
    ]  # fmt: skip
    foretold = player.root.locator(".mgp-livepane p").first.inner_text()
    assert foretold.startswith("The cell's slopes predict 9. + 6. · 0.1 + 9. · 0.05 = 10.05. z is 10.09")
    assert player.row("s0-c0-value") == ["3.1", "3."]
    assert player.root.locator(".mgp-live-limits").inner_text() == ""  # a kernel moves several
    player.root.locator("button", has_text="Copy the changed line").click()
    copied_to = player.root.locator(".note", has_text="Copied. Paste it over line 2, 3.")
    copied_to.wait_for()
    page.wait_for_timeout(1500)  # the other steps have come, and it is still there
    assert copied_to.is_visible()
    copied = PAIR.partition("\n")[2].replace("3.0", "3.1").replace("2.0", "2.05").split("\n")[:2]
    assert page.evaluate("() => navigator.clipboard.readText()") == "\n".join(copied)
    player.root.locator("button", has_text="Reset").click()
    page.wait_for_function(MOVED, arg=["v[0]", "2."])
    assert player.root.locator(".mgp-was").count() == 0 and player.row("s0-c0-value") == ["3."]


MOVED = """([name, now]) => [...document.querySelectorAll('.mgp-livepane tr')].some(
    row => row.firstElementChild.textContent === name && row.lastElementChild.textContent === now)"""


@pytest.mark.sample(1)
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
    assert own.startswith("In round 5, loss is ")
    low = {"width": page.viewport_size["width"], "height": 700}
    whole = page.viewport_size
    page.set_viewport_size(low)
    page.locator(".mgp", has=pane).locator("button.mgp-live").click()  # the button leads there
    for button in pane.locator("button").all():
        box = button.bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= low["height"], "within the window"
    page.set_viewport_size(whole)
    pane.locator("button", has_text="Ten more").click()
    pane.locator("p", has_text="In round 15, loss is ").wait_for()
    pane.locator("input").fill("0.01")
    pane.locator("button", has_text="One more round").click()
    pane.locator("p", has_text="In round 16, loss is ").wait_for()
    pane.locator("select").first.select_option("5")
    pane.locator("p", has_text="In round 5, loss is ").wait_for()
    assert said.inner_text() == own
    for each in (pane, page.locator(".mgp-landscape")):
        assert each.locator(".mgp-plot circle.now").count() == 1
    beside = page.locator(".mgp-body > .mgp-landscape")  # the picture leaves room for it
    step = beside.locator(".mgp-step").inner_text()
    assert step.startswith("slope 0.2656 = w.grad. The next update moves w by −0.09796. On this curve")
    assert step.endswith("loss goes from 0.004409 to 0.016775.")
    size = page.viewport_size
    page.set_viewport_size({"width": 640, "height": 1400})
    pane.locator(".mgp-landscape .mgp-step", has_text="slope 0.2656 = w.grad").wait_for()
    page.set_viewport_size(size)
    beside.wait_for()


def predicts(page) -> None:
    """From the first control of the player that asks, by keys alone."""
    asking = page.locator(".mgp", has=page.locator(".mgp-ask:not([hidden])"))
    asking.scroll_into_view_if_needed()
    asking.evaluate("player => player.classList.add('asking')")
    asking.locator("button:not(:disabled)").first.focus()
    answers_by_keys(page, ".asking")
