"""Pills lie on no box and on no other pill, hardly ever where arrows cross, and at their own arrow."""

from __future__ import annotations

import contextlib
import io
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiers
from cells import CELLS, traced
from pill_checks import Lying, at_its_own, crossings, lying, random_cell

import minigrad
from minigrad_viz.drawing.geometry import Space, cross_at
from minigrad_viz.shell.report import Report
from minigrad_viz.shell.run import trace_source

REAL = sorted((Path(__file__).parents[1] / "real").glob("*.py"))
# How many of a hundred pills may lie on a crossing, or only touch their arrow and lie on that of others.
# Where one does, four gradients run side by side between two columns, or the gap is full of arrows.
CROSSED = {"course": 0.0, "random": 0.3, "real": 0.8}


def pictures(report: Report) -> Iterator[Lying]:
    """Where the pills of all pictures of a report lie."""
    for act in report.acts:
        svg = getattr(act.picture, "usual", act.picture).svg()  # a strip has no pills
        if svg is not None:
            yield lying(svg)


def check(found: list[Lying], most: float) -> None:
    """Hold all pictures of a kind against what is allowed."""
    count = sum(each.pills for each in found)
    assert count > 20
    assert [each for each in found if each.on_box or each.on_pill] == []
    unclear = sum(len({*each.on_crossing, *each.astray}) for each in found)
    assert 100 * unclear <= most * count


def test_in_the_pictures_of_the_course() -> None:
    check([each for cell in CELLS.values() for each in pictures(Report(traced(cell)))], CROSSED["course"])


@pytest.mark.full
def test_in_pictures_of_random_cells() -> None:
    reports = (Report(traced(random_cell(seed), minigrad)) for seed in range(tiers.examples(120)))
    check([each for report in reports for each in pictures(report)], CROSSED["random"])


def test_in_the_pictures_of_real_programs(torch: object) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found = []
    for path in REAL if tiers.full else REAL[::4]:
        with contextlib.redirect_stdout(io.StringIO()):
            report, error = trace_source(path.read_text(encoding="utf-8"), path.name)
        pyplot.close("all")
        assert error is None
        found += pictures(report)
    check(found, CROSSED["real"])


@pytest.mark.parametrize("places, on", [(((0, 0), (40, 0)), 0), (((0, -9), (40, 9)), 1)])
def test_the_test_would_notice(places: tuple[tuple[int, int], tuple[int, int]], on: int) -> None:
    """A pill around (20, 0) on a level arrow, and a second arrow that crosses it there, or is the same."""
    lines = {"r0-g": [(0.0, 0.0), (40.0, 0.0)], "r1": [(float(x), float(y)) for x, y in places]}
    assert len(list(crossings("r0-g", (10.0, -8.0, 30.0, 8.0), lines))) == on


@pytest.mark.parametrize("top, holds", [(-8, True), (3, True), (12, False)])
@pytest.mark.parametrize("crowded", [True, False])
def test_the_test_would_notice_a_pill_at_no_arrow_or_at_that_of_others(
    top: int, holds: bool, crowded: bool
) -> None:
    """A pill around a level arrow, below it, or far below it; where it is crowded, an arrow runs lower."""
    lines = {"r0-g": [(0.0, 0.0), (40.0, 0.0)]}
    lines |= {"r1-g": [(0.0, top + 5.0), (40.0, top + 5.0)]} if crowded else {}
    assert at_its_own("r0-g", (10.0, top, 30.0, top + 16.0), lines) is (holds and (top < 0 or not crowded))


def test_crossings_are_those_of_all_pairs_of_pieces():
    """Only pieces that lie near are compared, and each pair once."""
    draw = random.Random(0)
    lines = [[(draw.uniform(0, 900), draw.uniform(0, 400)) for _ in range(20)] for _ in range(6)]
    space = Space()
    for i, line in enumerate(lines):
        space.draw(str(i), line)
    own, *others = lines
    pairs = itertools.product(itertools.pairwise(own), *[[p for o in others for p in itertools.pairwise(o)]])
    expected = [point for (a, b), (c, d) in pairs if (point := cross_at(a, b, c, d)) is not None]
    assert sorted(space.crossings(own, ["0"])) == sorted(expected) and expected
