"""Marks in the picture and in its outline: what failed and what led to it, in every direction and look."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from cells import CELLS
from lab import BROWSER_OPTIONS, find_chromium
from pictures import MEASURE, SVG, covers_nothing, crosses_nothing, draw, parse, texts
from signed import SIGNED, hooked, in_place, marked, marked_bundle, second_backward, stale
from sketches import GRAPHS, chain, code_4, code_9, code_13, value

from minigrad_viz.drawing.look import tags_of
from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.drawing.style import SIGNS
from minigrad_viz.model.fold import fold
from minigrad_viz.player.acts import Act
from minigrad_viz.player.static_html import player_html
from minigrad_viz.steps.frames import Frame
from minigrad_viz.trace.graph import CAUSE, GUILTY
from minigrad_viz.words import CATALOGUES


def kind(elements, id):
    return elements[id].get("class").split()


def label(element):
    """What the tag of a part says."""
    return next(e for e in element.iter() if (e.get("class") or "").startswith("tag")).find(SVG + "text").text


def tip(element):
    return element.find(SVG + "title").text


# ------------------------------------------------------------------------------------------- what is marked


def test_what_led_to_it_is_told_apart_by_more_than_its_colour():
    svg = draw(in_place(), lang="en")[0]
    _, elements = parse(svg)
    assert kind(elements, "s0-c0") == ["card", "leaf", "cause"]
    assert kind(elements, "r1") == ["edge", "fwd", "cause"] and tip(elements["r1"]).startswith("read here\n")
    assert "changed here, line 4" in texts(svg) and "read here" in texts(svg)
    assert ".mg .card.cause>.box" in svg and "stroke-dasharray:7 3" in svg, "dashed"
    assert {"where it failed", "what led to it"} <= set(texts(svg)), "the legend says so"


def test_all_saved_values_tell_their_bytes():
    svg = draw(stale(), lang="en", saved="all")[0]
    assert {"self 5. v0→2, 4 B", "other 7. v1, 4,000 B"} <= set(texts(svg))
    assert "4,000" not in "".join(texts(draw(stale(), lang="en")[0]))
    assert "other 7. (version 1) 4,000 B" in Picture(stale(), saved="all", lang="en").outline()
    assert "4,000" not in Picture(stale(), lang="en").outline()


# ------------------------------------------------------------------------------- parts that are not there


def test_a_mark_falls_back_to_what_is_there():
    graph = marked(
        code_13(), ("s2-k9", GUILTY, "chip"), ("s1-d", CAUSE, "deck"), ("r1-g", GUILTY, "arrow"),
        ("s9-d", GUILTY, "nowhere"), ("r9", GUILTY, "nowhere"), ("s4-c7", CAUSE, "card"),
    )  # fmt: skip
    assert {part: (tag.kind, tag.label) for part, tag in tags_of(graph).items()} == {
        "s2-d": ("error", "chip"), "s1-c0": ("cause", "deck"), "r1": ("error", "arrow"),
        "s4-c0": ("cause", "card"),
    }  # fmt: skip
    parse(draw(graph)[0])


def test_a_chip_without_room_leaves_its_mark_to_the_deck():
    svg = draw(marked_bundle(), lang="en")[0]
    _, elements = parse(svg)
    assert "s1-k11" not in elements and kind(elements, "s1-d") == ["deck", "error"]
    assert label(elements["s1-d"]) == "freed"
    wide = draw(marked_bundle(), lang="en", detail="full")[0]
    assert kind(parse(wide)[1], "s1-k11") == ["chip", "error"], "where it is shown it has it itself"
    none = parse(draw(marked_bundle(), lang="en", saved="none")[0])[1]
    assert kind(none, "s1-d") == ["deck", "error"]
    said = Picture(marked_bundle(), saved="none", lang="en").outline()
    assert "StackBackward0   !! freed" in said, "nor is it lost in words"


def test_several_marks_at_one_part():
    graph = marked(code_4(), ("s1-d", CAUSE, "first"), ("s1-d", GUILTY, "second"), ("s1-d", GUILTY))
    tag = tags_of(graph)["s1-d"]
    assert (tag.kind, tag.label, tag.whole) == ("error", "second", "second\nfirst")
    assert "PowBackward0   !! second; first" in outline(graph, "en")


def test_marked_stations_are_told_however_long_the_graph():
    graph = marked(chain(500), ("s250-d", GUILTY, "here"), ("r100-g", CAUSE, "there"))
    said = outline(graph, "en").split("\n")
    left_out = [int(line.split(": ")[1]) for line in said if "left out" in line]
    assert sum(left_out) == 501 - 60 - 2 and len(left_out) == 3
    assert "  MulBackward0   !! here   other 1.001" in said and "  ← y: ! there" in said
    folded = fold(graph)
    assert kind(parse(draw(folded)[0])[1], "s250-d") == ["deck", "error"]


def test_hostile_labels():
    evil = "<script>&\u202e\x00" + "w" * 500
    svg, _ = draw(marked(code_4(), ("s1-d", GUILTY, evil), ("s2-k0", CAUSE, evil), ("r0-g", GUILTY, evil)))
    parse(svg)
    assert "<script" not in svg and "\u202e" not in svg and "\x00" not in svg


# ------------------------------------------------------------------------------------ pictures as a whole


@pytest.mark.parametrize("name", GRAPHS)
def test_without_any_of_this_pictures_have_nothing_of_it(name):
    svg, _ = draw(GRAPHS[name]())
    classes = {one for e in parse(svg)[0].iter() for one in (e.get("class") or "").split()}
    seldom = {"error", "cause", "tag", "ghost", "memory", "cut", "fog", "stale", "removed", "was", "why"}
    assert not classes & seldom and not re.search(r"\.(cause|tag|ghost|fog|cut)\b", svg)


@pytest.mark.sample(14)
@pytest.mark.parametrize("direction", ["LR", "TB"])
@pytest.mark.parametrize("name", SIGNED)
def test_nothing_is_covered_in_any_direction(name, direction):
    graph = SIGNED[name]()
    covers_nothing(graph, direction=direction)
    crosses_nothing(graph, direction=direction)


@pytest.mark.sample(11)
@pytest.mark.quick(4)
@pytest.mark.parametrize("name", SIGNED)
@pytest.mark.parametrize("look", [{"values": False}, {"saved": "all"}, {"saved": "none", "detail": "full"}])
def test_every_look(name, look):
    for lang in CATALOGUES:
        parse(draw(SIGNED[name](), lang=lang, **look)[0])
        assert outline(SIGNED[name](), lang)


def test_the_legend_explains_every_sign():
    shown = {text for make in SIGNED.values() for text in texts(draw(make(), lang="en")[0])}
    seldom = ("stale", "removed", "cut", "fog", "ghost", "lost", "memory", "guilty", "cause")
    assert set(seldom) <= set(SIGNS)
    assert {CATALOGUES["en"][f"legend_{sign}"] for sign in seldom} <= shown


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
def test_nothing_spills_in_a_real_browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    looks = (
        {},
        {"saved": "all"},
        {"direction": "TB", "detail": "full"},
        {"direction": "LR", "saved": "none"},
    )
    pictures = [
        draw(make(), prefix=f"p{i}-{k}-", lang=("en", "ko")[(i + k) % 2], **look)[0].replace(
            "<svg ", f'<svg id="{name}{k}" style="max-width:none" ', 1
        )
        for i, (name, make) in enumerate(SIGNED.items())
        for k, look in enumerate(looks)
    ]
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=BROWSER_OPTIONS)
        page = browser.new_page()
        page.set_content("<!doctype html><meta charset='utf-8'>" + "".join(pictures))
        assert page.evaluate("document.querySelectorAll('svg .tag').length") > 20
        assert page.evaluate(MEASURE) == []
        assert page.evaluate(OVERLAP) == []
        browser.close()


OVERLAP = """() => {
  const over = [];
  for (const tag of document.querySelectorAll('.tag, .deck > .hooks')) {
    const mine = tag.getBoundingClientRect();
    for (const other of tag.parentNode.querySelectorAll(':scope > text, :scope > .hooks, :scope > .tag')) {
      const box = other.getBoundingClientRect();
      const across = Math.min(mine.right, box.right) - Math.max(mine.left, box.left);
      const down = Math.min(mine.bottom, box.bottom) - Math.max(mine.top, box.top);
      if (other !== tag && across > 0.5 && down > 0.5) over.push([tag.textContent, other.textContent]);
    }
  }
  return over;
}"""


# --------------------------------------------------------------------------------------------------- hooks


def signs(element):
    found = [e for e in element if (e.get("class") or "").startswith("hooks")]
    return [(e.get("class"), e.find(SVG + "text").text) for e in found]


def test_hooks_before_the_node_stand_where_its_gradient_comes_in():
    _, elements = parse(draw(hooked(), direction="LR")[0])
    (after,) = [e for e in elements["s1-d"] if (e.get("class") or "").startswith("hooks")]
    name = next(e for e in elements["s1-d"] if e.get("class") == "fn")
    assert after.find(SVG + "text").text == "3"
    assert float(after.find(SVG + "rect").get("x")) < float(name.get("x"))


def test_where_several_gradients_meet_a_hook_sees_their_sum():
    ran = hooked().stations[1].deck.ran[:2]
    graph = code_9()
    leaf = graph.stations[0]
    graph = replace(
        graph, stations=(replace(leaf, deck=replace(leaf.deck, ran=ran, hooks=2)), *graph.stations[1:])
    )
    _, elements = parse(draw(graph)[0])
    assert signs(elements["s0-d"]) == [("hooks changed", "1"), ("hooks", "2")]
    assert signs(elements["r0-p"]) == signs(elements["r1-p"]) == []


def test_a_hook_that_saw_something_else_is_not_shown_at_the_arrow():
    graph = hooked()
    other = replace(graph.routes[1], gradients=(value(7.0),))
    _, elements = parse(draw(replace(graph, routes=(graph.routes[0], other)))[0])
    assert signs(elements["r1-p"]) == [] and len(signs(elements["s1-d"])) == 3


# ------------------------------------------------------------------------------------------- in the player


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
def test_the_player_keeps_the_marks_where_it_failed_and_hides_them_before(tmp_path):
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    graph = second_backward()
    steps = [
        Frame(("s1-c0", "s1-d"), "y", phase="forward", label="forward 1"),
        Frame(("s2-d", "s2-k0"), "it failed", failed=True, phase="backward", label="backward 1"),
    ]
    act = Act("the whole cell", Picture(graph, lang="en"), tuple(steps))
    page_of = tmp_path / "page.html"
    page_of.write_text(
        "<!doctype html><meta charset='utf-8'>" + player_html([act], CELLS[6], "en"), encoding="utf-8"
    )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_chromium(), args=BROWSER_OPTIONS)
        page = browser.new_page()
        page.goto(page_of.as_uri())
        page.wait_for_selector(".mgp .deck.error")
        marked = [page.evaluate(MARKED)]  # the player opens at the step that failed
        page.click("button[title*=first i], button[aria-label*=first i]")
        marked.append(page.evaluate(MARKED))
        for _ in steps:
            page.click("button[title*=next i], button[aria-label*=next i]")
            marked.append(page.evaluate(MARKED))
        browser.close()
    whole = {
        "s2-d": "error",
        "s2-k0": "error",
        "r0-g": "cause",
        "said": ["never arrived", "stopped here", "why"],
    }
    assert marked == [whole, whole, {"said": ["was"]}, whole]


MARKED = """() => {
  const shown = (part) => getComputedStyle(part).display !== 'none';
  const found = {};
  for (const part of document.querySelectorAll('svg g:not(.row):is(.error, .cause)[id]')) {
    found[part.id.slice(part.id.indexOf('-') + 1)] = part.classList.contains('error') ? 'error' : 'cause';
  }
  const texts = [...document.querySelectorAll('svg .tag, svg .why, svg .was')].filter(shown);
  const name = (part) => part.matches('.tag') ? part.querySelector('text').textContent : part.classList[0];
  return {...found, said: texts.map(name).sort()};
}"""
