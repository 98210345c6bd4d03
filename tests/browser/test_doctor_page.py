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
