"""Every frame of the players of a sample at three sizes of the window: the caption is in the window, the
active station is in view, no text is under 11 pixels, and pills lie on nothing. With `--full`, of the whole
course and of all real programs, in every round.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from frames import measured
from lab import missing

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

SIZES = [(1440, 900), (1366, 768), (900, 700)]
COVERED = 0.01  # the share of pills that may lie on something


@pytest.fixture(scope="module")
def full(request):
    return request.config.getoption("--full")


@pytest.fixture(scope="module")
def pages(tmp_path_factory, full):
    """The pages, written by a process in which minigrad is torch."""
    folder = tmp_path_factory.mktemp("frames")
    command = [sys.executable, str(Path(__file__).with_name("frames.py")), str(folder)]
    subprocess.run([*command, *(["--full"] if full else [])], check=True, timeout=900)
    return sorted(folder.glob("*.html"))


@pytest.mark.parametrize("size", SIZES, ids="{0[0]}x{0[1]}".format)
def test_every_frame(browser, pages, full, size, record_property):
    width, height = size
    counts, wrong = Counter(), {"caption": [], "station": [], "small": [], "covered": []}
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    for path in pages:
        page.goto(path.as_uri())
        page.locator(".mgp .mgp-view > *").first.wait_for()
        for act in measured(page, full):
            counts.update({"players": 1, "frames": act["frames"], "pills": act["pills"]})
            for kind, found in wrong.items():
                counts[kind] += len(act[kind]) if kind in ("small", "covered") else act[kind]
                found += [f"{path.stem}: {act[kind]}"] if act[kind] else []
    page.close()
    record_property("counts", dict(counts))
    print(size, dict(counts), *(f"\n  {kind}: {each}" for kind in wrong for each in wrong[kind]))
    assert counts["frames"] > 100
    assert wrong["caption"] == [] and wrong["station"] == [] and wrong["small"] == []
    assert counts["covered"] <= COVERED * counts["pills"], wrong["covered"]
