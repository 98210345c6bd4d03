"""Predictions in the player, on a page without a kernel: by keys alone, and nothing gives an answer away."""

from __future__ import annotations

import pytest
from cells import CELLS, traced
from lab import missing

from minigrad_viz.predicting import answer_log
from minigrad_viz.shell.report import Report

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

SAID = """() => {
    const seen = (node) => {
        if (node.nodeType === 3) return node.textContent;
        const style = node.nodeType === 1 ? getComputedStyle(node) : null;
        if (!style || style.visibility === 'hidden' || style.display === 'none') return '';
        const own = ['aria-label', 'title'].map((name) => node.getAttribute(name) ?? '');
        return [...own, ...[...node.childNodes].map(seen)].join(' ');
    };
    return seen(document.querySelector('.mgp'));
}"""
PATH = "You followed the path through y only. x is used twice: add the gradient from the path through w."


@pytest.fixture
def shown(browser, tmp_path):
    """A function that shows a cell that asks on a page."""
    pages = []

    def shown(number: int, lang="en", source="", asks=True, fade=None, wait=".mgp-predict", **options):
        body = Report(traced(source or CELLS[number]), lang=lang, predict=True, fade=fade).html(table=False)
        (tmp_path / "a.html").write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
        page = browser.new_page(viewport={"width": 1000, "height": 800}, **options)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((tmp_path / "a.html").as_uri())
        page.locator(".mgp-ask:not([hidden])" if asks else wait).wait_for()
        pages.append((page, errors))
        return page

    yield shown
    for page, errors in pages:
        assert errors == []
        page.close()


def typed(page, answer: str, within: str = "") -> str:
    """Type an answer where the focus is, press Enter, and give what is said."""
    assert page.evaluate("() => document.activeElement.matches('.mgp-ask input')")
    page.keyboard.press("Control+A")
    page.keyboard.type(answer)
    page.keyboard.press("Enter")
    return page.locator(f"{within} .mgp-feedback").inner_text()


def answers_by_keys(page, within: str = "") -> None:
    """Answer all questions of the cell by keys alone, in the player that is `within` a part of the page."""

    def at(part: str):
        return page.locator(f"{within} {part}")

    assert at(".mgp-label").inner_text() == "6 / 12"
    assert "Which of these tensors are leaves" in at(".mgp-ask-at").inner_text()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.matches('.mgp-ask input')"):
            break
    assert typed(page, "x, y", within).startswith("y is not a leaf")
    assert typed(page, "x", within) == "Right. x"
    page.keyboard.press("Enter")  # Continue
    assert at(".mgp-label").inner_text() == "1 / 12"
    page.keyboard.press("End")  # which comes to the next question, and no further
    assert at(".mgp-label").inner_text() == "8 / 12"
    assert typed(page, "a", within).startswith("LogBackward0 at a comes next in plain recursion")
    assert typed(page, "b", within).startswith("Right.")
    page.keyboard.press("Enter")
    assert "what does it pass to w?" in at(".mgp-ask-at").inner_text()
    assert typed(page, "1", within).startswith("You passed the gradient through b unchanged.")
    assert typed(page, "1/10", within).startswith("Right.")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    assert at(".mgp-label").inner_text() == "10 / 12", "before any part of the sum is there"
    assert "question 4 of 4" in at(".mgp-ask-at").inner_text()
    told = typed(page, "0.6", within)
    assert PATH in told
    assert at(".mgp-missing").count() == 7 and at(".mgp-taken").count() == 7
    assert at(".mgp-path").all_text_contents() == ["the path you took", "the path still to add"]
    assert at(".mgp-tries").inner_text() == "attempt 1"
    assert typed(page, "10*0.1 + 75*0.008", within) == "Right. ∂z/∂x = 10·0.1 + 75·0.008 = 1 + 0.6 = 1.6"
    page.keyboard.press("Enter")
    assert at(".mgp-ask").is_hidden() and at(".mgp-formula").first.inner_text()
    assert page.evaluate("() => document.activeElement.matches('.mgp-view')")


@pytest.mark.smoke
def test_by_keys_alone(shown):
    answers_by_keys(shown(9))


FADED = [  # how many steps are left out, and for each question what is typed and how the answer begins
    (1, [("0.6", "You followed the path through y only."), ("1.6", "Right. ")]),
    (2, [("75", "That uses the local derivative"), ("0.6", "Right. "), ("1.6", "Right. ")]),
    ("all", [(n, "Right. ") for n in ("1", "1", "0.1", "1/125", "2*5*0.1", "75*0.008", "1.6")]),
]


@pytest.mark.smoke
def test_a_faded_series_by_keys_alone(shown):
    """Each example of the series, the first of which leaves out nothing, is played from its first step."""
    page = shown(9, asks=False, fade=0, wait=".mgp-view")
    focus(page)
    page.keyboard.press("End")
    assert page.locator(".mgp-goal").inner_text() == "sum at the fan-out, accumulate"
    assert page.locator(".mgp-ask").count() == 0
    for fade, answers in FADED:
        page = shown(9, asks=False, fade=fade)
        focus(page)
        page.keyboard.press("End")
        first = 13 - (6 if fade == "all" else fade)
        assert page.locator(".mgp-label").inner_text() == f"{first} / 12"
        for answer, told in answers:
            assert page.locator(".mgp-ask-at").is_visible()
            assert typed(page, answer).startswith(told), answer
            if told == "Right. ":
                page.keyboard.press("Enter")  # Continue
                page.keyboard.press("End")
        assert page.locator(".mgp-ask").is_hidden() and page.locator(".mgp-label").inner_text() == "12 / 12"


def focus(page) -> None:
    """Go to the picture with the key Tab."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.matches('.mgp-view')"):
            return
    raise AssertionError("no picture")


def test_a_page_says_that_it_notes_no_answers(shown, monkeypatch, tmp_path):
    assert shown(9).locator(".mgp-not-noted").is_hidden(), "nobody asked for it"
    monkeypatch.setattr(answer_log, "file", tmp_path / "answers.jsonl")
    said = shown(9).locator(".mgp-not-noted")
    assert said.inner_text() == "This page has no kernel, so your answers are not noted."


def test_what_a_screen_reader_meets(shown):
    """Roles and names of what is asked, where what changes is announced, and that a wrong answer is told."""
    page = shown(9)
    tree = page.locator(".mgp").aria_snapshot()
    for part in (
        'button "Predict" [pressed]', 'slider "', "textbox \"leaves:\"", 'button "Check"', 'button "Hint"',
        'button "Show me"', "status",
    ):  # fmt: skip
        assert part in tree, (part, tree)
    prompt, said = page.locator(".mgp-ask-at"), page.get_by_role("status").first
    assert prompt.get_attribute("aria-live") == "polite"
    answer = page.get_by_role("textbox", name="leaves:")
    answer.fill("x, y")
    answer.press("Enter")
    assert answer.get_attribute("aria-invalid") == "true" and said.inner_text().startswith("y is not a leaf")
    answer.fill("x")
    answer.press("Enter")
    assert said.inner_text() == "Right. x" and page.get_by_role("textbox", name="leaves:").count() == 0
    go_on = page.get_by_role("button", name="Continue")
    assert go_on.evaluate("button => button === document.activeElement")
    go_on.press("Enter")
    assert page.locator(".mgp-view").evaluate("view => view === document.activeElement")
    caption = page.locator(".mgp-caption")
    assert caption.get_attribute("aria-live") == "polite" and caption.get_attribute("aria-atomic") == "true"


def test_nothing_gives_the_answer_away(shown):
    """Not what is seen, nor what a screen reader reads, in any step that can be reached."""
    page = shown(9)
    for press in ("Home", "End", "ArrowRight", "ArrowLeft"):
        page.locator(".mgp-view").focus()
        page.keyboard.press(press)
        assert page.locator(".mgp-label").inner_text() == "6 / 12"
    said = page.evaluate(SAID).replace("requires_grad=True", "")  # the cell's own words
    assert all(shown in said for shown in ("x ** 3", "125.", "9.8283"))
    told = [word for word in ("leaf", "root", "grad", "Backward") if word in said]
    assert not told, said
    page.locator(".mgp-ask input").fill("x")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    assert "0.008" not in page.evaluate(SAID) and "1.6" not in page.evaluate(SAID)
    page.locator(".mgp-view").focus()
    page.keyboard.press("ArrowLeft")
    assert "Next" not in page.locator(".mgp-after").inner_text()
    page.keyboard.press("End")
    for answer in ("b", "0.1"):
        page.locator(".mgp-ask input").fill(answer)
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
    page.keyboard.press("End")
    said = page.evaluate(SAID)
    assert "0.008" in said and "1.6" not in said and "0.6" not in said and "?" in said
    tree = page.locator(".mgp").aria_snapshot()
    assert "1.6" not in tree and "x.grad =" in tree
    page.locator(".mgp-view g.station").first.click()
    assert page.locator(".mgp-details").is_hidden()


def test_step_by_step_to_the_first_wrong_one(shown):
    page = shown(4)
    page.locator(".mgp-ask input").fill("x")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    assert typed(page, "1/125").startswith("Right.")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    assert "what does LogBackward0 at z pass to y?" in typed(page, "123.4")
    assert typed(page, "1/125").startswith("Right so far.")
    assert typed(page, "7").startswith("The first wrong step is PowBackward0 at y.")
    assert page.locator(".mgp-missing").count() >= 1
    assert typed(page, "0.6") == "Every step is right. Add what arrives to get x.grad."
    assert typed(page, "0.6").startswith("Right.")


def test_hint_and_solution(shown):
    page = shown(9)
    hint, show = page.get_by_role("button", name="Hint"), page.get_by_role("button", name="Show me")
    hint.click()
    assert page.locator(".mgp-feedback").inner_text() == "A tensor is a leaf if its grad_fn is None."
    show.click()
    assert page.locator(".mgp-feedback").inner_text() == "x"
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Predict", exact=True).click()  # off: everything is shown
    page.keyboard.press("End")
    page.locator(".mgp-view").focus()
    page.keyboard.press("End")
    assert page.locator(".mgp-label").inner_text() == "12 / 12" and page.locator(".mgp-ask").is_hidden()
    page.get_by_role("button", name="Predict", exact=True).click()
    page.locator(".mgp-ask:not([hidden])").wait_for()
    assert page.locator(".mgp-label").inner_text() == "6 / 12"


DRAWN = """() => [...document.querySelectorAll('.mgp-view .mg *')].filter(
    part => part.matches('.box, .fwd, .cut, .role, .deck *, .grad *, .fog *, .tag *')
        && getComputedStyle(part).visibility === 'visible'
).map(part => part.getAttribute('class'))"""
LOOKS = """heads => heads.map(head => {
    const { fill, stroke, strokeWidth } = getComputedStyle(head);
    return [fill, stroke, strokeWidth].join();
})"""
GAPS = """arrows => arrows.flatMap(arrow => {
    const plates = [...document.querySelectorAll('.mgp-view .mgp-plate')];
    const place = arrow.getScreenCTM();
    return [0, arrow.getTotalLength()].map(at => {
        const { x, y } = arrow.getPointAtLength(at).matrixTransform(place);
        return Math.min(...plates.map(plate => {
            const { left, right, top, bottom } = plate.getBoundingClientRect();
            return Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
        }));
    });
})"""


@pytest.mark.parametrize("width", [420, 1000])
def test_leaves_are_asked_where_all_tensors_look_alike(shown, width):
    """Neither a color nor an outline nor what a screen reader reads answers the question. Every forward arrow
    is there, and begins and ends at a tensor."""
    page = shown(14)
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(300)
    looks = page.locator(".mgp-view .station > .card > .head").evaluate_all(LOOKS)
    assert len(looks) == 6 and len(set(looks)) == 1
    assert page.evaluate(DRAWN) == ["edge fwd"] * 5
    said = page.evaluate(SAID.replace("'.mgp'", "'.mgp-view'"))
    assert "y.detach()" in said
    assert [word for word in ("leaf", "no graph", "cut", "Backward", "370") if word in said] == []
    gaps = page.locator(".mgp-view .fwd > path:not(.tip)").evaluate_all(GAPS)
    assert len(gaps) == 10 and max(gaps) < 12  # the tip of an arrow is drawn apart


def test_what_comes_after_the_leaves_is_not_answered_with_them(shown):
    """The shape is asked at an earlier step than the leaves, but later."""
    page = shown(0, source="x = torch.ones(2, 3, requires_grad=True)\ny = x.sum(0)\nw = y * 2\nz = w.sum()\n")
    view = SAID.replace("'.mgp'", "'.mgp-view'")
    assert page.locator(".mgp-label").inner_text() == "4 / 4" and "[2. 2. 2.]" not in page.evaluate(view)
    page.locator(".mgp-ask input").fill("x")
    page.keyboard.press("Enter")
    assert page.locator(".mgp-feedback").inner_text() == "Right. x"
    assert page.locator(".mgp-label").inner_text() == "4 / 4"
    said = page.evaluate(view)
    assert "leaf" in said and "2. 2." not in said and "4. 4." not in said
    assert page.locator(".mgp-plate").count() == 0
    page.keyboard.press("Enter")
    assert page.locator(".mgp-label").inner_text() == "1 / 4"
    page.keyboard.press("End")
    assert page.locator(".mgp-label").inner_text() == "2 / 4"
    assert "shape" in page.locator(".mgp-ask-at").inner_text()
    assert typed(page, "3").startswith("Right.")
    page.keyboard.press("Enter")
    page.keyboard.press("End")
    assert page.locator(".mgp-label").inner_text() == "4 / 4" and "[4. 4. 4.]" in page.evaluate(view)


def test_the_second_call_comes_after_the_first(shown):
    page = shown(7, lang="ko")
    asked = []
    for answer in ("x", "0.008", "0.6", "아니요", "1.2"):
        page.locator(".mgp-view").evaluate("view => view.focus()")
        page.keyboard.press("End")  # which comes to the next question
        page.locator(".mgp-ask:not([hidden])").wait_for()
        asked.append(page.locator(".mgp-ask-at").inner_text())
        page.locator(".mgp-ask input").fill(answer)
        page.keyboard.press("Enter")
        assert page.locator(".mgp-feedback").inner_text().startswith("맞습니다.")
        page.keyboard.press("Enter")
    assert "잎" in asked[0] and "0.6" in asked[4] and "5 / 5" in asked[4]


@pytest.mark.parametrize("width", [420, 700, 1000])
def test_it_fits(shown, width):
    page = shown(9)
    page.set_viewport_size({"width": width, "height": 800})
    ask = page.locator(".mgp-ask")
    assert ask.evaluate("ask => ask.scrollWidth <= ask.clientWidth + 1")
    assert ask.bounding_box()["height"] >= 116


LAYERS = (
    "torch.manual_seed(0)\nnn = torch.nn\n"
    "model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))\n"
    "x = torch.tensor([[0.5, -1.0], [1.5, 0.3], [-0.7, 0.9]])\n"
    "opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "loss = nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 0]))\nloss.backward()\nopt.step()\n"
)
SIZES = """() => [...document.querySelectorAll('.mgp-view .mg :is(.shape, .size)')].filter(
    part => getComputedStyle(part).visibility === 'visible').length"""


@pytest.mark.smoke
def test_a_model_is_asked_and_arrows_do_not_tell_the_shapes(shown):
    page = shown(0, source=LAYERS, asks=False)
    asked = []
    for answer in ("3, 4", "(3, 2)", "()"):
        page.locator(".mgp-view").focus()
        page.keyboard.press("End")
        page.locator(".mgp-ask:not([hidden])").wait_for()
        assert page.evaluate(SIZES) == 0
        asked.append(page.locator(".mgp-ask-at").inner_text())
        page.locator(".mgp-ask input").fill(answer)
        page.keyboard.press("Enter")
        assert page.locator(".mgp-feedback").inner_text().startswith("Right.")
        page.keyboard.press("Enter")
    page.keyboard.press("End")
    assert page.evaluate(SIZES) > 0
    assert "which of these will have a .grad" in page.locator(".mgp-ask-at").inner_text().lower()
    page.locator(".mgp-ask input").fill("model.0.weight, x, loss, model.0.bias, model.2.weight")
    page.keyboard.press("Enter")
    assert "; and: " in page.locator(".mgp-feedback").inner_text()
    assert [f"question {i} of" in said for i, said in enumerate(asked, 1)] == [True] * 3


def test_the_list_of_rounds_says_which_round_asks(shown):
    loop = (
        "w = torch.tensor(0.5, requires_grad=True)\nfor i in range(3):\n    loss = (w * 2 - 3) ** 2\n"
        "    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\n"
    )
    page = shown(0, source=loop, asks=False)
    rounds = page.locator("select").nth(1)
    first = rounds.input_value()
    rounds.select_option(index=1)
    page.wait_for_timeout(200)
    assert rounds.input_value() == first
