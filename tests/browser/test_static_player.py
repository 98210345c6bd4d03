"""The static player where there is no kernel and no network: in a page that nbconvert wrote, in one whose
scripts run somewhere else, and where no script runs."""

from __future__ import annotations

import pytest
from cells import CELLS, traced
from lab import missing

from minigrad_viz import compare
from minigrad_viz.shell.report import Report

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

# What some notebooks do with the scripts of an output: each runs at the end of what holds the output.
RUN_ELSEWHERE = """html => {
    const output = document.createElement('div');
    document.body.append(output);
    output.innerHTML = html;
    for (const script of [...output.querySelectorAll('script')]) {
        const copy = document.createElement('script');
        copy.text = script.innerText;
        output.appendChild(copy).parentNode.removeChild(copy);
    }
}"""


# What is unpacked from now on.
COUNT_READ = """() => {
    const read = Response.prototype.json;
    window.packed = 0;
    Response.prototype.json = function () { packed++; return read.call(this); };
}"""


def html(code: int, **options) -> str:
    return Report(traced(CELLS[code]), lang="en", **options).html()


@pytest.fixture
def converted(tmp_path):
    """A function that writes a notebook with these outputs as a page, as `nbconvert --to html` does."""
    nbconvert = pytest.importorskip("nbconvert")
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    def converted(*outputs: str, theme: str = "light"):
        cells = [
            new_code_cell("%%autograd", outputs=[new_output("display_data", {"text/html": output})])
            for output in outputs
        ]
        page, _ = nbconvert.HTMLExporter(theme=theme).from_notebook_node(new_notebook(cells=cells))
        path = tmp_path / "page.html"
        path.write_text(page, encoding="utf-8")
        return path

    return converted


def page_of(path, body: str):
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
    return path


def ready(page, count: int = 1) -> None:
    page.locator(".mgp svg.mg").nth(count - 1).wait_for()


@pytest.mark.smoke
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_converted_notebook_plays_offline(visit, converted, theme):
    page = visit(converted(html(9), html(4), theme=theme))
    ready(page, 2)
    first, second = page.locator(".mgp").all()
    first.locator(".mgp-view").focus()
    page.keyboard.press("End")
    assert first.locator(".mgp-label").inner_text() == "12 / 12"
    assert second.locator(".mgp-label").inner_text() == "0 / 6"
    assert "1.6" in first.locator(".mgp-formula").first.inner_text()
    second.locator(".mgp-next").click()
    assert second.locator(".mgp-at mark").inner_text().startswith("torch.tensor(5.0")
    paper = first.locator(".paper").evaluate("paper => getComputedStyle(paper).fill")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 20, 24)"}[theme]


@pytest.mark.smoke
def test_cells_share_one_player_and_each_can_do_alone(visit, tmp_path):
    """The first output defines it; it may go, and another page may have only the second."""
    page = visit(page_of(tmp_path / "a.html", html(9)))
    ready(page)
    page.evaluate("document.querySelector('[data-mgp]').remove()")
    page.evaluate(COUNT_READ)
    page.evaluate(RUN_ELSEWHERE, html(4))
    ready(page)
    page.locator(".mgp-next").click()
    assert page.locator(".mgp-label").inner_text() == "1 / 6"
    assert page.evaluate("[Object.keys(minigradPlayers).length, document.adoptedStyleSheets.length]") == [
        1,
        1,
    ]
    assert page.evaluate("packed") == 1, "the score alone"
    page.evaluate(RUN_ELSEWHERE, html(9, predict=True))  # which needs more than the others
    page.locator(".mgp-ask-at").first.wait_for()
    assert page.evaluate("Object.keys(minigradPlayers).length") == 2


def test_the_other_backward_calls_are_unpacked(visit, tmp_path):
    page = visit(page_of(tmp_path / "a.html", html(18)))
    ready(page)
    calls = page.locator(".mgp-acts select")
    assert calls.locator("option").count() == 2 and calls.input_value() == "1"
    calls.select_option("0")
    page.wait_for_function("document.querySelector('input[type=range]').max === '12'")
    page.locator(".mgp-track input").fill("12")
    assert "0.6" in page.locator(".mgp-say").inner_text()


def test_the_first_and_the_last_value_leave_the_open_round_free(visit, tmp_path):
    loop = (
        "w = torch.tensor(3.14159, requires_grad=True)\n"
        "for i in range(6):\n    loss = w ** 2\n    w.grad = None\n    loss.backward()\n"
        "    w.data -= 0.1 * w.grad\n"
    )
    page = visit(page_of(tmp_path / "a.html", Report(traced(loop), lang="en").html()))
    ready(page)
    beside = """() => {
        const box = document.querySelector('.mgp-round').getBoundingClientRect();
        const ends = [...document.querySelectorAll('.mgp-curve text:not(.now)')];
        const at = ends.map(end => end.getBoundingClientRect());
        return at.map(({ left, right }) => right < box.left || left > box.right);
    }"""
    seen = []
    for call in "012345":
        page.locator(".mgp-acts select").select_option(call)
        page.wait_for_function("call => document.querySelector('.mgp-acts select').value === call", arg=call)
        page.wait_for_timeout(150)
        seen += page.evaluate(beside)
    assert len(seen) > 4 and all(seen)


def test_all_calls_are_one_timeline(visit, tmp_path):
    """A step past the end of a call is the first of the next one; with Shift the arrows jump by chapter."""
    source = CELLS[8] + "x.grad = None\ny = x ** 3\nz = torch.log(y)\nz.backward()\n"
    page = visit(page_of(tmp_path / "a.html", Report(traced(source), lang="en").html()))
    ready(page)
    calls, said = page.locator(".mgp-acts select"), page.locator(".mgp-phase")
    assert (calls.input_value(), page.locator(".mgp-curve").count()) == ("2", 1)
    assert (
        page.locator(".mgp-cell").count() == 2
        and page.locator(".mgp-round-name").inner_text() == "backward 3"
    )
    page.locator(".mgp-first").click()
    page.wait_for_function("document.querySelector('.mgp-acts select').value === '0'")
    assert page.locator(".mgp-previous").is_disabled()
    page.locator(".mgp-view").focus()
    seen = []
    while not page.locator(".mgp-next").is_disabled():
        call = calls.input_value()
        page.keyboard.press("Shift+ArrowRight")
        page.wait_for_timeout(120)
        seen.append((calls.input_value(), said.inner_text().split()[0]))
        if len(seen) > 20:
            break
        assert call <= calls.input_value()
    chapters = [("0", "forward"), ("0", "backward"), ("0", "update"), ("1", "backward")]
    assert [each for each in seen if each in chapters] == chapters
    assert seen[-1][0] == "2"
    page.locator(".mgp-act_previous").click()
    page.wait_for_function("document.querySelector('.mgp-acts select').value === '1'")


def test_scripts_that_run_somewhere_else(visit, tmp_path):
    page = visit(page_of(tmp_path / "a.html", ""))
    for _ in range(2):  # the same output twice
        page.evaluate(RUN_ELSEWHERE, html(4))
    ready(page, 2)
    assert page.locator("img").count() == 0
    page.locator(".mgp-next").nth(1).click()
    assert page.locator(".mgp-label").all_inner_texts() == ["0 / 6", "1 / 6"]


def test_where_no_script_runs_the_picture_stands(visit, tmp_path):
    page = visit(page_of(tmp_path / "a.html", html(9)), java_script_enabled=False)
    picture = page.locator("img")
    assert picture.get_attribute("alt").startswith("z = log(y) + sqrt(w)")
    assert picture.bounding_box()["width"] > 500
    assert page.locator(".mgp").count() == 0


def test_without_a_picture_the_outline_stands_and_the_steps_go_on(visit, tmp_path):
    page = visit(page_of(tmp_path / "a.html", html(4, limit=2)))
    page.locator(".mgp pre").wait_for()
    page.locator(".mgp-last").click()
    assert "x.grad" in page.locator(".mgp-say").inner_text()
    colour = page.locator(".mgp-player").evaluate("player => getComputedStyle(player).borderTopColor")
    assert colour == "rgb(208, 215, 222)"


@pytest.mark.parametrize("width", [360, 480, 800, 1300, 1600])
def test_it_fits_its_column(visit, tmp_path, width):
    """Nothing sticks out, and every control can be pressed."""
    page = visit(page_of(tmp_path / "a.html", html(9)), viewport={"width": width, "height": 800})
    ready(page)
    page.locator("input[type=range]").fill("11")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    player = page.locator(".mgp").bounding_box()
    shown = [each for each in page.locator(".mgp-bar > *, .mgp-bar button").all() if each.is_visible()]
    for control in shown:
        box = control.bounding_box()
        assert box["x"] >= player["x"] and box["x"] + box["width"] <= player["x"] + player["width"]
    controls = [each for each in page.locator(".mgp-bar :is(button, select)").all() if each.is_visible()]
    assert min(control.bounding_box()["height"] for control in controls) >= 28
    assert page.locator(".mgp-at mark.now").is_visible()
    formula, caption = (
        page.locator(".mgp-formula").bounding_box(),
        page.locator(".mgp-caption").bounding_box(),
    )
    assert caption["height"] in (88, 124)
    assert formula["y"] + formula["height"] <= caption["y"] + caption["height"]
    view = page.locator(".mgp-view")
    if width > 800:
        assert view.evaluate("view => view.scrollWidth <= view.clientWidth")


@pytest.mark.parametrize("width", [600, 1000])
def test_the_source_is_closed_under_a_cell_and_open_on_a_page(visit, tmp_path, width):
    report = Report(traced(CELLS[4]), lang="en")
    viewport = {"width": width, "height": 800}
    page = visit(page_of(tmp_path / "a.html", report.html()), viewport=viewport)
    ready(page)
    lines = page.locator(".mgp-lines")
    assert not lines.is_visible()
    page.locator(".mgp-source").click()
    assert lines.is_visible() and page.locator(".mgp-lines .number").first.inner_text() == "5.0"
    page = visit(report.save(tmp_path / "b.html"), viewport=viewport)
    ready(page)
    assert page.locator(".mgp-lines").is_visible() == (width == 1000)


def test_the_legend_and_the_order_open_on_request(visit, tmp_path):
    page = visit(page_of(tmp_path / "a.html", html(9)))
    ready(page)
    legend = page.locator(".mgp-signs")
    assert not legend.is_visible() and page.locator(".mgp-view .legend").count() == 0
    page.locator(".mgp-view").focus()
    page.keyboard.press("?")
    assert "saved for backward" in legend.inner_text()
    page.keyboard.press("Escape")
    assert not legend.is_visible()
    place = page.locator(".mgp-view").bounding_box()
    page.keyboard.press("q")
    page.keyboard.press("End")
    assert page.locator(".mgp-order .now").inner_text() == "AccumulateGrad x · runs now"
    assert page.locator(".mgp-view").bounding_box() == place


@pytest.mark.smoke
def test_an_address_names_a_step(visit, tmp_path):
    path = Report(traced(CELLS[9]), lang="en").save(tmp_path / "b.html")
    page = visit(path)
    page.goto(path.as_uri() + "#step=7")
    page.reload()
    ready(page)
    assert page.locator(".mgp-label").inner_text() == "7 / 12"
    page.evaluate("location.hash = 'step=9'")
    page.wait_for_function("document.querySelector('.mgp-label').textContent === '9 / 12'")


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_step_is_copied(visit, tmp_path, kind):
    """Without a clipboard it becomes a file; it needs no style sheet."""
    page = visit(page_of(tmp_path / "a.html", html(9)), accept_downloads=True)
    ready(page)
    page.locator("input[type=range]").fill("11")
    page.locator(".mgp-copy").click()
    page.evaluate(
        "() => { for (const n of ['write', 'writeText']) navigator.clipboard[n] = () => Promise.reject(); }"
    )
    with page.expect_download() as told:
        page.locator(".mgp-copies button").nth(["svg", "png"].index(kind)).click()
    data = told.value.path().read_bytes()
    assert told.value.suggested_filename == f"step.{kind}"
    if kind == "png":
        assert data[:4] == b"\x89PNG" and len(data) > 10_000
    else:
        assert b"receives 0.008 and passes 0.6" in data and b"var(--" not in data and b"<style" not in data


def test_one_click_makes_a_page_to_send(visit, tmp_path):
    """A single file, which opens where the reader was, without a network, and can be sent on."""
    path = page_of(tmp_path / "a.html", html(9))
    for step in ("8", "11"):
        page = visit(path, accept_downloads=True)
        ready(page)
        page.locator("input[type=range]").fill(step)
        said = page.locator(".mgp-say").inner_text()
        page.locator(".mgp-copy").click()
        with page.expect_download() as told:
            page.locator(".mgp-copies button", has_text="HTML").click()
        path = tmp_path / f"{step}.html"
        told.value.save_as(path)
        sent = visit(path)
        ready(sent)
        assert sent.locator(".mgp-label").inner_text() == f"{step} / 12" and sent.url.endswith(
            f"#step={step}"
        )
        assert sent.locator(".mgp-say").inner_text() == said
        assert sent.locator(".mgp-source").count() == 1, "the code can be opened beside it"


def test_motion_stops_where_it_is_not_wanted(visit, tmp_path):
    page = visit(page_of(tmp_path / "a.html", html(4)), reduced_motion="reduce")
    ready(page)
    page.locator("input[type=range]").fill("5")
    pill = page.locator(".pill.active")
    assert pill.evaluate("pill => getComputedStyle(pill).animationName") == "none"


def test_a_gradient_travels_and_the_next_key_ends_it(visit, tmp_path):
    """Into the node, where it meets the local derivative, and out as the product; the end is the same."""
    page = visit(page_of(tmp_path / "a.html", html(9)))
    ready(page)
    page.locator("input[type=range]").fill("10")
    assert page.locator(".mgp-motion").count() == 0, "a jump moves nothing"
    page.locator(".mgp-view").focus()
    page.keyboard.press("ArrowRight")
    moving = page.locator(".mgp-motion .pill")
    assert moving.locator("text").all_text_contents() == ["0.008", "0.008 · 75", "0.6", "0.6"]
    page.keyboard.press("ArrowRight")
    assert page.locator(".mgp-motion .pill text").first.text_content() == "0.6", "what the leaf receives"
    page.keyboard.press("ArrowLeft")
    assert page.locator(".mgp-motion").count() == 0
    page.keyboard.press("ArrowRight")
    page.wait_for_function("!document.querySelector('.mgp-motion')")
    assert page.evaluate("document.getAnimations().every((one) => one instanceof CSSTransition)")


def test_an_update_draws_its_arrow(visit, tmp_path):
    source = (
        "x = torch.tensor(4.0, requires_grad=True)\n(x ** 2).backward()\n"
        "with torch.no_grad():\n    x -= 0.1 * x.grad\n"
    )
    page = visit(page_of(tmp_path / "a.html", Report(traced(source), lang="en").html()))
    ready(page)
    page.locator(".mgp-view").press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert page.locator(".mgp").get_attribute("data-phase") == "update"
    assert page.locator(".mgp-motion .written:not(.tip)").count() == 1
    page.wait_for_function("!document.querySelector('.mgp-motion')")


def test_a_cut_picture_has_a_map_and_says_what_is_outside(visit, tmp_path):
    """A map beside the caption, and at a cut edge how many boxes are beyond; neither where it fits."""
    source = (
        "x = torch.tensor(1.0, requires_grad=True)\ny = x\n" + "y = torch.sin(y)\n" * 30 + "y.backward()\n"
    )
    page = visit(page_of(tmp_path / "a.html", html(4)))
    ready(page)
    assert not page.locator(".mgp-map").is_visible() and page.locator(".mgp-edge:visible").count() == 0
    report = Report(traced(source), lang="en", fold=False)
    page = visit(page_of(tmp_path / "b.html", report.html()))
    ready(page)
    page.locator(".mgp-view").press("Home")
    seen = """() => {
        const view = document.querySelector('.mgp-view').getBoundingClientRect();
        const outside = [...document.querySelectorAll('.mgp g.station')].filter((station) => {
            const { left, right, top, bottom } = station.getBoundingClientRect();
            return right < view.left || left > view.right || bottom < view.top || top > view.bottom;
        }).length;
        const edges = [...document.querySelectorAll('.mgp-edge:not([hidden])')];
        return [outside, edges.reduce((sum, edge) => sum + Number(/\\d+/.exec(edge.textContent) ?? 0), 0)];
    }"""
    outside, said = page.evaluate(seen)
    assert outside == said > 0
    box = page.locator(".mgp-map").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(100)
    assert page.evaluate(seen)[0] == page.evaluate(seen)[1] and page.locator(".mgp-edge:visible").count() == 2


def test_a_narrow_player_has_a_menu(visit, tmp_path):
    page = visit(page_of(tmp_path / "a.html", html(4)), viewport={"width": 420, "height": 700})
    ready(page)
    assert not page.locator(".mgp-full").is_visible() and page.locator(".mgp-play").is_visible()
    page.locator(".mgp-menu").click()
    for part in (".mgp-full", ".mgp-first", ".mgp-speed", ".mgp-copy"):
        assert page.locator(part).is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_thousand_stations_touch_a_few(visit, tmp_path):
    """The work of one step does not grow with the picture: counted, not timed."""
    source = (
        "x = torch.tensor(1.0, requires_grad=True)\ny = x * 1\nz = x * 2\n"
        "for i in range(330):\n    y = y * z\n    z = y + z * 0.1\n(y + z).backward()\n"
    )
    report = Report(traced(source), lang="en", fold=False, limit=2000)
    assert len(report.graph.stations) >= 990
    page = visit(page_of(tmp_path / "a.html", report.html()))
    ready(page)
    counts = page.evaluate(
        """async () => {
            const slider = document.querySelector('input[type=range]');
            const go = step => { slider.value = step; slider.dispatchEvent(new Event('input')); };
            const touched = new Set();
            const observer = new MutationObserver(all => all.forEach(one => touched.add(one.target)));
            const picture = document.querySelector('.mgp svg.mg');
            const counts = [];
            go(1);
            for (const step of [300, 301, 700, 699]) {
                go(step);
                observer.observe(picture, {subtree: true, attributes: true, childList: true});
                go(step + 1);
                observer.takeRecords().forEach(one => touched.add(one.target));
                observer.disconnect();
                counts.push(touched.size);
                touched.clear();
            }
            return counts;
        }"""
    )
    assert max(counts) <= 24 and min(counts) >= 2, counts


@pytest.mark.smoke
def test_every_step_shows_what_was_true_then(visit, tmp_path):
    """The value and the gradient of a leaf before and after each step, and what is struck out."""
    source = (
        "x = torch.tensor(4.0, requires_grad=True)\ny = x ** 2\ny.backward()\n"
        "with torch.no_grad():\n    x -= 0.1 * x.grad\nx.grad = None\n"
    )
    page = visit(page_of(tmp_path / "a.html", Report(traced(source), lang="en").html()))
    ready(page)
    read = """() => {
        const row = (name) => document.querySelector(`.mgp g.row[id$="-s0-c0-${name}"]`).textContent;
        const saved = [...document.querySelectorAll('.mgp .station g.chip.freed text')];
        const struck = saved.filter((text) => getComputedStyle(text).textDecorationLine === 'line-through');
        return [row('value'), row('grad'), struck.length];
    }"""
    drawn = page.evaluate(read)
    page.locator(".mgp-view").focus()
    seen = []
    while not page.locator(".mgp-next").is_disabled():
        page.keyboard.press("ArrowRight")
        seen.append(page.evaluate(read))
    assert [step[2] for step in seen] == [0, 0, 0, 1, 1, 1]
    assert [step[:2] for step in seen] == [
        ["value4.", "gradNone"], ["value4.", "gradNone"], ["value4.", "gradNone"], ["value4.", "grad8."],
        ["value3.2", "grad8."], ["value3.2", "gradNone"],
    ]  # fmt: skip
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(read)[:2] == ["value3.2", "grad8."]
    page.keyboard.press("Home")
    assert page.evaluate(read) == drawn


MODEL = """
torch.manual_seed(0)
nn = torch.nn
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
loss = nn.functional.cross_entropy(model(torch.ones(3, 2)), torch.tensor([0, 1, 0]))
loss.backward()
"""


@pytest.mark.smoke
def test_cards_open_by_click_and_key(visit, tmp_path):
    """What is inside the active card stands below the strip; the reader may open another, or close it."""
    page = visit(page_of(tmp_path / "a.html", Report(traced(MODEL), lang="en").html()))
    ready(page)
    signs, panel = page.locator(".mgp-view > svg g.plus"), page.locator(".mgp-panel")
    assert signs.count() == 4 and panel.locator("b").all_inner_texts() == ["model › 0 Linear"]
    signs.nth(1).click()
    assert panel.locator("b").all_inner_texts() == ["model › 1 Tanh"]
    page.locator(".mgp-view").first.focus()
    page.keyboard.press("End")
    assert panel.locator("b").all_inner_texts() == ["model › 0 Linear"]
    assert "AddmmBackward" in " ".join(panel.locator("g.deck.active").all_text_contents())
    panel.locator("g.station").first.click()
    assert page.locator(".mgp-details").is_visible()
    panel.locator("button").click()
    assert panel.count() == 0 and not page.locator(".mgp-details").is_visible()
    page.locator(".mgp-view g.strip.layer").nth(1).focus()
    page.keyboard.press("+")
    assert panel.locator("b").all_inner_texts() == ["model › 1 Tanh"]
    page.keyboard.press("-")
    assert panel.count() == 0


DEEP = """
torch.manual_seed(0)
nn = torch.nn
model = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in range(6)], nn.Linear(4, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss = nn.functional.cross_entropy(model(torch.ones(3, 4)), torch.tensor([0, 1, 0]))
loss.backward()
opt.step()
"""


def test_modules_are_found_and_a_long_update_opens(visit, tmp_path):
    """`/` and a part of a path open a module, `[` and `]` go to the card beside, and numbers of the table
    that are not known yet are not shown."""
    page = visit(page_of(tmp_path / "a.html", Report(traced(DEEP), lang="en").html()))
    ready(page)
    heads = page.locator(".mgp-panel b")
    page.locator(".mgp-view").first.focus()
    page.keyboard.press("/")
    page.keyboard.type("5.0")
    assert page.locator(".mgp-offers button").all_inner_texts() == ["model.5.0"]
    page.keyboard.press("Enter")
    assert heads.last.inner_text().endswith("5 › 0 Linear 4→4") and heads.count() > 1
    assert not page.locator(".mgp-find").is_visible()
    page.keyboard.press("/")
    page.keyboard.type("nowhere")
    assert page.locator(".mgp-offers").inner_text() == "No module has this name."
    page.keyboard.press("Escape")
    before = heads.first.inner_text()
    page.keyboard.press("]")
    page.keyboard.press("]")
    assert heads.count() == 1 and heads.inner_text() == "loss" != before
    page.keyboard.press("[")
    assert heads.inner_text() == "model › 6 Linear"
    page.locator(".mgp-tables summary").click()
    cells = page.locator(".mgp-tables tbody tr").last.locator("td")
    assert cells.nth(0).inner_text() == "model.6.bias 2" and cells.nth(3).is_visible()
    page.keyboard.press("ArrowRight")
    assert cells.nth(1).is_visible() and not cells.nth(3).is_visible(), "the update comes later"
    page.keyboard.press("End")
    assert cells.nth(3).is_visible()


@pytest.mark.parametrize("width", [1440, 960, 400])
def test_a_pinned_picture_stays_while_other_cards_are_open(visit, tmp_path, width):
    """`P` pins what is inside the open card, and unpins it. In a wide window it stands below the source, at
    the right of the strip, which leaves both their room; else below all."""
    page = visit(page_of(tmp_path / "a.html", Report(traced(MODEL), lang="en").page()))
    page.set_viewport_size({"width": width, "height": 900})
    page.reload()
    ready(page)
    pane, pinned = page.locator(".mgp-pane"), page.locator(".mgp-pinned")
    assert pane.is_visible() == (width == 1440) and not pinned.is_visible()
    page.locator(".mgp-view").first.focus()
    for key in ("]", "]", "]", "p", "[", "ArrowRight"):
        page.keyboard.press(key)
    assert pinned.locator("b").inner_text() == "pinned: loss"
    assert page.locator(".mgp-panel b").inner_text() != "loss"
    bars = pinned.locator(".later").count()
    page.keyboard.press("End")
    assert pinned.locator(".later").count() < bars, "it goes along with the steps"
    strip, beside = page.locator(".mgp-shown").bounding_box(), pinned.bounding_box()
    if width == 1440:
        assert strip["width"] == 958 and beside["x"] >= strip["x"] + 958
        assert beside["y"] > pane.bounding_box()["y"]
    else:
        assert beside["y"] >= strip["y"] + strip["height"] - 1 and beside["width"] == strip["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for key in ("]", "]", "]", "p"):
        page.keyboard.press(key)
    assert not pinned.is_visible() and pane.is_visible() == (width == 1440)


@pytest.mark.parametrize("width", [900, 700, 400])
def test_the_whole_model_is_in_a_narrow_window(visit, tmp_path, width):
    """Nothing is cut, neither of the strip nor of what is inside a card; no letter is under 11 pixels."""
    page = visit(page_of(tmp_path / "a.html", Report(traced(DEEP), lang="en").html()))
    page.set_viewport_size({"width": width, "height": 900})
    ready(page)
    for _ in range(3):
        page.locator(".mgp-view").first.focus()
        page.keyboard.press("]")
        sizes = page.locator(".mgp-shown .mgp-view").evaluate_all("""(views) => views.map((view) => {
            const svg = view.querySelector('svg'), { width } = svg.viewBox.baseVal;
            const letters = [...svg.querySelectorAll('text')].map((text) => getComputedStyle(text).fontSize);
            const now = svg.getBoundingClientRect().width / width;
            return [view.scrollWidth - view.clientWidth, now * Math.min(...letters.map(parseFloat))];
        })""")
        assert all(over <= 0 and letters >= 10.9 for over, letters in sizes)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_sample_is_chosen_by_click_and_key_and_gradients_wait(visit, tmp_path):
    """The loss of a classifier: the bars of one sample are seen; their difference from the label is hidden
    until the loss's node has run."""
    page = visit(page_of(tmp_path / "a.html", Report(traced(MODEL), lang="en").html()))
    ready(page)
    page.locator(".mgp-view > svg g.plus").last.click()
    panel = page.locator(".mgp-panel")
    choices, seen = panel.locator(".choice"), panel.locator(".variant.on")
    assert choices.count() == 3 and seen.get_attribute("data-i") == "0"
    choices.nth(2).click()
    assert seen.get_attribute("data-i") == "2"
    choices.nth(1).focus()
    page.keyboard.press("Enter")
    assert seen.get_attribute("data-i") == "1" and panel.locator(".choice.on").count() == 1
    back, front = seen.locator(".back .bar").first, seen.locator(".front .bar").first
    assert back.is_visible() and front.is_visible()
    page.locator(".mgp-view").first.focus()
    states = []
    for _ in range(12):  # the card that is active is open: that of the loss in its forward and backward steps
        page.keyboard.press("ArrowRight")
        if seen.count():
            states.append((front.is_visible(), back.is_visible()))
    assert (True, False) in states and (True, True) in states[states.index((True, False)) :]


LINES = """
nn, F = torch.nn, torch.nn.functional
net, crit = nn.Linear(2, 3), nn.NLLLoss()
x, y = torch.ones(2, 2), torch.tensor([[0, 1], [1, 2]])
loss = 0
for t in range(2):
    out = net(x)
    loss = loss + crit(F.log_softmax(out, dim=1), y[:, t])
loss.backward()
"""


def test_the_sign_that_opens_a_box_covers_no_text(visit, tmp_path):
    """It stands in the head of a card, which has room for it beside the name."""
    page = visit(page_of(tmp_path / "a.html", Report(traced(LINES), lang="en").html()))
    ready(page)
    signs = page.locator(".mgp-view > svg g.station > g.plus")
    covered = signs.evaluate_all("""(signs) => signs.flatMap((sign) => {
        const [a, texts] = [sign.getBoundingClientRect(), sign.parentNode.querySelectorAll('text')];
        const meets = (b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        return [...texts].filter((text) => meets(text.getBoundingClientRect()));
    }).map((text) => text.textContent)""")
    assert signs.count() == page.locator(".mgp-view > svg g.station.strip:not(.data)").count() > 5
    assert covered == []


@pytest.mark.parametrize("width", [1440, 900, 420])
def test_the_words_stand_above_the_picture_and_never_move(visit, tmp_path, width):
    """Nor does the picture: from step to step nothing changes its place."""
    page = visit(page_of(tmp_path / "a.html", html(18)))
    page.set_viewport_size({"width": width, "height": 900})
    ready(page)
    page.locator(".mgp-view").focus()
    page.wait_for_timeout(200)
    places = """() => ['.mgp-say', '.mgp-view', '.mgp-player'].map((part) => {
        const box = document.querySelector(part).getBoundingClientRect();
        return [box.top + scrollY, box.height].map(Math.round);
    })"""
    seen = set()
    for _ in range(60):
        page.keyboard.press("ArrowRight")
        seen.add(str(page.evaluate(places)))
        if page.locator(".mgp-next").is_disabled():
            break
    assert len(seen) == 1, seen
    say, view, _ = page.evaluate(places)
    assert say[0] < view[0]


@pytest.mark.smoke
def test_playing_goes_into_what_the_reader_opened(visit, tmp_path):
    """A card that playing brings is one step; one that the reader opened, and a box in that, is gone through
    step by step, forward and backward, and the cards are as they were before until its last step."""
    page = visit(page_of(tmp_path / "a.html", Report(traced(DEEP), lang="en").html()))
    ready(page)
    counts = "document.querySelector('.mgp').innerText.match(/[\\d.]+ \\/ \\d+/)[0]"
    whole = page.evaluate(counts).split(" / ")[1]

    def places():
        """The label of each step, with the number of active nodes in the panel that is opened last."""
        page.keyboard.press("Home")
        found = []
        while not page.locator(".mgp-next").is_disabled():
            page.keyboard.press("ArrowRight")
            last = page.locator(".mgp-panel").last
            found.append((page.evaluate(counts).split(" / ")[0], last.locator("g.deck.active").count()))
        return found

    view = page.locator(".mgp-view").first
    view.focus()
    assert [place for place, _ in places()] == [str(i + 1) for i in range(int(whole))]
    page.locator(".mgp-view > svg g.strip", has_text="0 … 5").locator(".plus").click()
    view.focus()
    inside = [place for place, _ in places() if "." in place]
    forward, backward = sorted({place.split(".")[0] for place in inside}, key=int)
    assert [place for place in inside if place.startswith(f"{forward}.")][-1] == f"{forward}.6"
    page.keyboard.press("Home")
    while page.evaluate(counts).split(" / ")[0] != f"{backward}.1":
        page.keyboard.press("ArrowRight")
    page.locator(".mgp-panel g.station .plus").last.click()
    view.focus()
    assert page.locator(".mgp-panel").count() == 2
    deeper = [each for each in places() if each[0].startswith(f"{backward}.")]
    assert len(deeper) > 6 and deeper[0][1] == 1, "the node in the inner box runs alone"
    page.keyboard.press("ArrowLeft")
    while page.evaluate(counts).split(" / ")[0] != f"{backward}.{len(deeper)}":
        page.keyboard.press("ArrowLeft")
    assert page.locator(".mgp-panel").count() == 2, "coming back finds it as it was left"
    page.keyboard.press("Escape")
    assert page.locator(".mgp-panel").count() == 1


PROGRAM = """\
x = torch.tensor(5.0, requires_grad=True)
y = x ** 3
w = x ** 2
{}
z = torch.log(y) + torch.sqrt(w)
z.backward()
"""


@pytest.mark.smoke
def test_of_two_runs_the_culprit_is_framed_and_both_are_in_view(visit, tmp_path):
    runs = [traced(PROGRAM.format(line)) for line in ("", "w = w.detach()")]
    page = visit(compare(*runs, lang="en").save(tmp_path / "a.html"))
    assert "B has an extra .detach() in line 4; so no gradient" in page.locator(".mgc-said").inner_text()
    first, second = page.locator(".mgc svg.mg").all()
    assert first.locator(".station.lit").count() == 0
    (culprit,) = second.locator(".station.lit").all()
    assert "w.detach()" in culprit.inner_html()
    for svg in (first, second):
        box = svg.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 1000
        assert svg.locator("text").first.evaluate("part => part.getBoundingClientRect().height") >= 11
