"""Traces that an earlier version wrote to a file are read and shown like those of today."""

from __future__ import annotations

from pathlib import Path

import pytest
from cells import traced
from twins import dialect

import minigrad
from minigrad_viz.shell.report import Report
from minigrad_viz.shell.run import load

FOLDER = Path(__file__).parent / "stored"
NAMES = ["minigrad_double_backward", "minigrad_failed", "pytorch_training"]


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_trace_still_plays(name):
    library = minigrad if name.startswith("minigrad") else pytest.importorskip("torch")
    stored = load(FOLDER / f"{name}.json")
    with dialect("1.4"):  # in which they were recorded
        fresh = Report(traced(stored.trace.source, library))
    assert stored.text(steps=True) == fresh.text(steps=True)
    assert stored.problem == "" and len(stored.frames) == len(fresh.frames) > 7
    assert [act.picture.svg() for act in stored.acts] == [act.picture.svg() for act in fresh.acts]
