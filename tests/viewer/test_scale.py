"""Large cells are recorded and shown in less than a megabyte, and it says what was summed up or left out."""

from __future__ import annotations

import linecache
import re
from typing import Any

import pytest
from displayed import SCORE, unpacked
from lab import BROWSER_OPTIONS, find_chromium, missing

import minigrad
from minigrad_viz import record
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.shell.report import Report

LEAF = "x = torch.tensor(1.0, requires_grad=True)\n"
LOOP = LEAF + "y = x\nfor i in range(10_000):\n    y = y * 1.0001\ny.backward()\n"
CALLS = LEAF + "for i in range(1_000):\n    y = x * x\n    y.backward()\n"
PARTS = LEAF + "parts = [x * i for i in range(2_000)]\n"
FAN = PARTS + "total = parts[0]\nfor part in parts[1:]:\n    total = total + part\ntotal.backward()\n"
ROOTS = PARTS + "torch.autograd.backward(parts)\n"
STEPS = (
    "w = torch.tensor([0.5, -0.5], requires_grad=True)\n"
    "for i in range(300):\n    loss = ((w - 1) ** 2).sum()\n    loss.backward()\n"
    "    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\n"
)
MEGABYTE = 1_000_000


def shown(source: str, library: Any = minigrad, options: str = "") -> tuple[Report, str, str]:
    """The report of a program under `record()`, its page and its text; both of a bearable size."""
    lines = "".join(f"    {line}\n" for line in source.splitlines())
    program = f"with record(lang='en'{options}) as recording:\n{lines}"
    linecache.cache["<program>"] = (len(program), None, program.splitlines(keepends=True), "<program>")
    space: dict[str, Any] = {"torch": library, "record": record, "__name__": "__main__"}
    exec(compile(program, "<program>", "exec"), space)
    report = space["recording"].report
    page, told = report.html(), report.text(steps=True)
    assert len(page.encode()) < MEGABYTE and len(told.encode()) < MEGABYTE
    assert max(map(len, told.splitlines())) < 2_000
    return report, page, told


def numbers_in(told: str) -> set[int]:
    return {int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", told)}


def check_fold(report: Report, told: str, ops: int) -> None:
    """A chain is one station, but for its ends; picture, outline and steps tell how many ops that are."""
    (fold,) = report.graph.folds
    assert ops - 8 <= len(fold.members) < ops
    assert len(report.graph.stations) < 20 and len(report.frames) < 40
    svg = report.picture.svg()
    assert svg is not None
    for where in (
        told,
        svg,
        *(frame.text for frame in report.frames if fold.station + "-" in str(frame.marks)),
    ):
        assert len(fold.members) in numbers_in(where)


@pytest.mark.full
def test_a_loop_of_10000_ops():
    report, _, told = shown(LOOP)
    check_fold(report, told, 10_000)
    assert "x   1.   leaf   grad 2.71" in told, "1.0001 ** 10000"


def test_a_loop_of_2000_ops_in_pytorch(torch):
    report, _, told = shown(LOOP.replace("10_000", "2_000"), torch)
    check_fold(report, told, 2_000)


def counted(page):
    """How many calls the player counts without showing them."""
    return unpacked(SCORE.search(page)[1])["counted"]


@pytest.mark.full
def test_1000_backward_calls():
    report, page, told = shown(CALLS)
    assert report.trace.skipped == 980 and len({act.label for act in report.acts}) == 20
    assert counted(page) == 980 and {1000} <= numbers_in(told.splitlines()[0])
    assert "grad 2000." in told


@pytest.mark.full
def test_a_training_loop(library):
    report, page, told = shown(STEPS, library)
    assert report.trace.skipped == 280 and len(report.acts) == 20
    assert counted(page) == 280 and {300} <= numbers_in(told.splitlines()[0])
    assert len(report.graph.stations) < 15, "of one iteration"


@pytest.mark.full
@pytest.mark.parametrize("source", [FAN, ROOTS], ids=["summed", "roots"])
def test_a_fan_out_of_2000(source):
    report, _, told = shown(source)
    assert len(report.graph.stations) >= 2_000 and "1999000." in told
    assert report.picture.svg() or report.picture.problem in told, "if it is not drawn it says why"
    check_summary(report)


@pytest.mark.full
def test_a_long_program():
    lines = [f"y{i} = {f'y{i - 1}' if i else 'x'} * 1.01\n" for i in range(1_200)]
    report, _, _ = shown(LEAF + "".join(lines) + "y1199.backward()\n")
    assert check_summary(report) == 1 + 1_200 + 1_200 + 1


def check_summary(report: Report) -> int:
    """Of very many steps some are only counted, and a step says how many; the number of all of them."""
    most = 1_000
    summaries = [frame for frame in report.frames if re.search(r"\d+ more steps", frame.text)]
    assert len(report.frames) <= most and summaries
    return len(report.frames) - len(summaries) + sum(max(numbers_in(frame.text)) for frame in summaries)


@pytest.mark.full
@pytest.mark.parametrize("source", [LOOP, CALLS], ids=["loop", "calls"])
def test_where_no_source_is_known(source):
    """A program whose text nobody has: no expressions, and still no recursion."""
    space: dict[str, Any] = {"torch": minigrad, "__name__": "__main__"}
    recorder = Recorder("", space)
    recorder.start()
    exec(source, space)
    report = Report(recorder.stop(), lang="en")
    assert "leaf" in report.text() and len(report.html()) < MEGABYTE


@pytest.mark.browser
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_a_picture_that_is_too_heavy_for_an_image_is_played():
    """Its page has the outline where no script runs, and the packed picture where one does."""
    from playwright.sync_api import sync_playwright

    report, shown_page, _ = shown(ROOTS, options=", deadline=60.0, limit=2_500")
    assert "<img" not in shown_page and "leaf" in shown_page.partition("</pre>")[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=BROWSER_OPTIONS)
        try:
            page = browser.new_page()
            page.set_content(f"<!DOCTYPE html><meta charset='utf-8'>{shown_page}", wait_until="load")
            page.wait_for_selector("[data-mgp] svg.mg")
            stations = page.locator("svg.mg .card").count()
        finally:
            browser.close()
    assert stations >= len(report.graph.stations)
