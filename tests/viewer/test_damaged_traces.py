"""A damaged saved trace is refused with the place of the damage, or it is shown; nothing else happens."""

from __future__ import annotations

import json
import random
import tracemalloc

import pytest
from cells import CELLS, traced
from tiers import examples

from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import Trace
from minigrad_viz.trace.json_format import InvalidTrace

VALUES = (
    None, True, -1, 0, 3, 2**31, 2**70, 1e308, -0.5, "", "t1", "n1", "…", "nan", "\x00\x1b[31m", "<b>&amp;",
    "가" * 50, [], [0], [[]], {}, {"event": "Forward"}, "x" * 3000, [10**9, 10**9], float("nan"),
)  # fmt: skip
KEYS = sorted(CELLS)


def paths(found, path=()):
    """The places of a document, outermost first."""
    yield path
    items = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


def holder(document, path):
    """What holds the item at a path that is not the whole."""
    for key in path[:-1]:
        document = document[key]
    return document


def damaged(document, chance):
    """A document with one to three damages, of any kind."""
    for _ in range(chance.randint(1, 3)):
        places = [path for path in paths(document) if path]
        if not places:
            return document
        path = chance.choice(places)
        here, key = holder(document, path), path[-1]
        how = chance.choice(("replace", "replace", "delete", "copy", "exchange", "double"))
        other = chance.choice(places)
        if how == "replace":
            here[key] = chance.choice(VALUES)
        elif how == "delete":
            del here[key]
        elif how == "copy":
            here[key] = json.loads(json.dumps(holder(document, other)[other[-1]]))
        elif isinstance(here, list) and how == "double":
            here.insert(key, json.loads(json.dumps(here[key])))
        elif isinstance(here, list):
            chance.shuffle(here)
    return document


def shown_or_refused(written):
    """Whether a text is shown; False if it is refused with its place."""
    try:
        trace = Trace.from_json(written)
    except InvalidTrace as refused:
        assert str(refused)
        return False
    report = Report(trace)
    assert report.text(steps=True) and report.html()
    assert report.picture.svg() or report.picture.problem  # an outline says why there is no picture
    return True


@pytest.mark.parametrize("library", ["minigrad", "PyTorch"])
def test_damaged_documents(library):
    if library == "PyTorch":
        pytest.importorskip("torch")
    shown = 0
    for number in range(examples(2500)):
        chance = random.Random(number)
        document = json.loads(traced(CELLS[KEYS[number % len(KEYS)]], library).to_json())
        shown += shown_or_refused(json.dumps(damaged(document, chance)))
    assert shown, "some damages leave a trace that can be shown"


@pytest.mark.parametrize(
    "written",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        '{"a":' * 5000,
        "9" * 5000,
        b"\xff\xfe",
        '{"source": 1}',
        "[0," * 10**6,
    ],
)
def test_no_trace_at_all(written):
    with pytest.raises(InvalidTrace):
        Trace.from_json(written)


def test_a_large_document_takes_bounded_memory():
    written = "[" + "{}," * 3_000_000 + "{}]"
    tracemalloc.start()
    try:
        with pytest.raises(InvalidTrace):
            Trace.from_json(written)
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()
