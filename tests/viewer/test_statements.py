"""Which statements and modes of a cell a trace tells of, and where an error ended it."""

from __future__ import annotations

import linecache

import pytest
from cells import run, traced

import minigrad
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.trace.events import CellFailed, Forward, Statement, Trace

pytestmark = pytest.mark.quick


def of(trace: Trace, kind: type) -> list:
    return [event for event in trace.events if isinstance(event, kind)]


def lines(trace: Trace) -> list[int]:
    return [e.span.line for e in of(trace, Statement)]


def test_only_what_was_seen_of_a_part_of_a_file():
    """`record()` sees a block of a file, not all of it."""
    source = "a = 1\nx = torch.tensor(1.0)\nb = 2\ny = x * 2\nc = 3\n"
    space = {"torch": minigrad, "__name__": "__main__"}
    recorder = Recorder(source, space, whole=False)
    recorder.start()
    exec(compile(source, "<cell>", "exec"), space)
    assert lines(recorder.stop()) == [2, 4]


def test_a_cell_magic_is_no_statement():
    cell = "%%autograd --step\n%matplotlib inline\nx = torch.tensor(1.0)\n"
    space = {"torch": minigrad, "__name__": "__main__", "get_ipython": lambda: print}
    recorder = Recorder(cell, space)
    recorder.start()
    exec("get_ipython()('step')\nget_ipython()('matplotlib')\nx = torch.tensor(1.0)\n", space)
    told = [e.span.text for e in of(recorder.stop(), Statement)]
    assert told == ["%matplotlib inline", "x = torch.tensor(1.0)"]


def test_source_that_is_no_python_has_no_statements():
    space = {"torch": minigrad, "__name__": "__main__"}
    recorder = Recorder("this is no python", space)
    recorder.start()
    exec("x = torch.tensor(1.0)", space)
    assert not of(recorder.stop(), Statement)


def test_where_a_function_of_an_earlier_cell_stands(library):
    """Its text is known by another number than that of the cell."""
    text = "def f(a):\n    return a * 7\n"
    linecache.cache["<earlier>"] = (len(text), None, text.splitlines(True), "<earlier>")
    space = {"torch": library, "__name__": "__main__"}
    exec(compile(text, "<earlier>", "exec"), space)
    trace = traced("x = torch.tensor(1.0, requires_grad=True)\ny = f(x)\n", library, {"f": space["f"]})
    assert of(trace, Forward)[0].span.text == "f(x)", "its globals are others: the call stands in the cell"
    cell = run("x = torch.tensor(1.0, requires_grad=True)\n", library, watched=False)
    exec(compile(text, "<earlier>", "exec"), cell.names)
    recorder = Recorder("y = f(x)\n", cell.names)
    recorder.start()
    exec(compile("y = f(x)\n", "<cell>", "exec"), cell.names)
    trace = recorder.stop()
    span = of(trace, Forward)[0].span
    assert (span.origin, span.line, span.text) == (1, 2, "a * 7")
    assert Trace.from_json(trace.to_json()).events[2].span == span
    assert [(e.span.line, e.span.origin) for e in of(trace, Statement)] == [(1, 0)]


# ── modes ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_error_without_a_text(library):
    cell = "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\nraise Odd\n"
    assert of(traced(cell, library), CellFailed)[0].error == "Odd:"
