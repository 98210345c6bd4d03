"""The doctor's page in Chromium: nothing overflows, text is readable in both themes, the table sorts."""

from __future__ import annotations

import pytest
from doctor import faults, healthy
from doctor.zoo_run import run

PROGRAMS = {program.name: program for program in [*faults.programs(), *healthy.programs()]}

# What is cut off without a way to scroll to it, and the smallest text.
LOOK = """() => {
    const wide = [], sizes = [];
    for (const each of document.querySelectorAll('main.doctor *')) {
        const style = getComputedStyle(each), box = each.getBoundingClientRect();
        if (!box.width || style.visibility == 'hidden') continue;
        let inner = each.parentElement, scrolls = false;
        for (; inner; inner = inner.parentElement)
            scrolls ||= ['auto', 'scroll'].includes(getComputedStyle(inner).overflowX);
        if (box.right > innerWidth + 1 && !scrolls) wide.push(each.className || each.tagName);
        const own = [...each.childNodes].some(n => n.nodeType == 3 && n.data.trim());
        const scale = each.ownerSVGElement ? each.getScreenCTM().a : 1;
        if (own) sizes.push(parseFloat(style.fontSize) * scale);
    }
    return {wide, smallest: Math.min(...sizes), page: document.documentElement.scrollWidth,
            ink: getComputedStyle(document.querySelector('main.doctor')).color,
            paper: getComputedStyle(document.querySelector('main.doctor')).backgroundColor};
}"""


@pytest.mark.smoke
@pytest.mark.parametrize("name, lang", [("detach-cnn", "en"), ("rate_large-mlp", "ko"), ("plain-gpt", "en")])
def test_the_page_fits(name, lang, visit, torch, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(run(PROGRAMS[name]).html(lang), encoding="utf-8")
    colors = set()
    for width in (900, 1440):
        for scheme in ("light", "dark"):
            page = visit(path, viewport={"width": width, "height": 900}, color_scheme=scheme)
            seen = page.evaluate(LOOK)
            assert seen["wide"] == [] and seen["page"] <= width
            assert seen["smallest"] >= 10.9  # 11 px, but for rounding
            assert seen["ink"] != seen["paper"]
            colors.add((seen["ink"], seen["paper"]))
    assert len(colors) == 2  # one pair for each theme


def test_the_table_sorts(visit, torch, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(run(PROGRAMS["plain-mlp"]).html("en"), encoding="utf-8")
    page = visit(path)
    page.locator("details.dr-table summary").click()
    page.locator("details.dr-table th button").nth(1).click()
    cells = page.locator("details.dr-table tbody tr td:nth-child(2)")
    numbers = [float(each) for each in cells.evaluate_all("cells => cells.map(cell => cell.dataset.v)")]
    assert numbers in (sorted(numbers), sorted(numbers, reverse=True)) and len(set(numbers)) > 1


WAYS = {
    "click on a card": lambda page: page.locator('.dr-strip [data-module="net.body.4"]').click(),
    "click on the heat map": lambda page: page.locator('.dr-l [data-module="net.body.4"] rect').first.click(),
    "Enter": lambda page: page.locator('.dr-strip [data-module="net.body.4"]').press("Enter"),
}


@pytest.mark.smoke
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_module_opens_in_the_recorded_step(scheme, visit, torch, tmp_path):
    """One click, or one key, from a module of the report to its card in the step that was recorded whole."""
    path = tmp_path / "report.html"
    path.write_text(run(PROGRAMS["plain-cnn"], record=2).html("en"), encoding="utf-8")
    for width, (way, go) in zip((900, 1440, 1440), WAYS.items()):
        page = visit(path, viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.wait_for_selector(".dr-recorded .mgp-panel")
        go(page)
        open_boxes = page.locator(".dr-recorded .mgp-panel .mgp-head b")
        assert open_boxes.all_text_contents() == ["net › body › 4 Conv2d"], way
        box = page.locator(".dr-recorded .mgp-panel").bounding_box()
        assert box["y"] >= 0 and box["y"] + 100 < 900, way  # it is in sight
        seen = page.evaluate(LOOK)
        assert seen["wide"] == [] and seen["page"] <= width


def test_of_many_modules_in_a_card_the_one_with_the_fault_opens(visit, torch, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(run(PROGRAMS["plain-gpt"], record=2).html("en"), encoding="utf-8")
    page = visit(path, viewport={"width": 1200, "height": 900})
    page.locator('.dr-l [data-module="net.body.blocks.1.qkv"] rect').first.click()
    heads = page.locator(".dr-recorded .mgp-panel .mgp-head b").all_text_contents()
    assert heads == ["net › body › blocks › blocks.1 Block", "net › body › blocks › 1 › qkv Linear 16→48"]


def test_the_map_of_dead_units(visit, torch, tmp_path):
    """All cells of a unit that died are dark from that step on, in both themes; its rows have names."""
    path = tmp_path / "report.html"
    path.write_text(run(PROGRAMS["dead-mlp"]).html("en"), encoding="utf-8")
    for scheme in ("light", "dark"):
        page = visit(path, color_scheme=scheme)
        cells = page.locator("svg[aria-label^='Share of units'] rect")
        shades = cells.evaluate_all(
            "all => all.map(e => [e.querySelector('title').textContent, getComputedStyle(e).fill])"
        )
        paper = page.locator("main.doctor").evaluate("e => getComputedStyle(e).backgroundColor")
        assert len(shades) > 5 and all(title.startswith("net.body.") for title, _ in shades)
        by_share = {title.rpartition(" ")[2]: fill for title, fill in shades}
        assert by_share["1"] != paper and len(set(by_share.values())) == len(by_share)
