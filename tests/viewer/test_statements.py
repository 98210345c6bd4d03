"""Which statements and modes of a cell a trace tells of, and where an error ended it."""

from __future__ import annotations

import linecache

import pytest
from cells import CUBE, MY_POW, run, traced

import minigrad
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.trace.events import CellFailed, Forward, ModeChanged, Statement, Trace
from minigrad_viz.trace.source_positions import Span

pytestmark = pytest.mark.quick


def of(trace: Trace, kind: type) -> list:
    return [event for event in trace.events if isinstance(event, kind)]


def lines(trace: Trace) -> list[int]:
    return [e.span.line for e in of(trace, Statement)]


def test_every_statement_at_the_top_level_in_order(library):
    cell = "a = 1\nx = torch.tensor(2.0, requires_grad=True); b = 2\nprint(b)\ny = x * 3\n"
    cell += "if a:\n    pass\nc = 3\n"
    told = [e.span.text for e in of(traced(cell, library), Statement)]
    assert told == [
        "a = 1", "x = torch.tensor(2.0, requires_grad=True)", "b = 2", "print(b)", "y = x * 3", "if a",
        "c = 3",
    ]  # fmt: skip


def test_a_statement_stands_before_what_it_did(library):
    trace = traced(CUBE + "z.backward()\n", library)
    kinds = [type(e).__name__ for e in trace.events]
    assert kinds[:6] == ["Statement", "TensorCreated", "Statement", "Forward", "Statement", "Forward"]
    assert kinds[6:9] == ["Statement", "Snapshot", "BackwardStarted"]


def test_rounds_of_a_loop(library):
    cell = (
        "x = torch.tensor(1.0, requires_grad=True)\ny = x\nfor i in range(3):\n    k = i\n    y = y * 2\n"
        "while i:\n    i -= 1\n    z = y + 1\n    w = z * z\nend = 0\n"
    )
    assert lines(traced(cell, library)) == [1, 2, 3, 5, 5, 5, 6, 8, 9, 8, 9, 10]


def test_several_ops_of_one_statement_are_one_round(library):
    cell = (
        "x = torch.ones(2, requires_grad=True)\nfor i in range(2):\n    y = (x * 2 + x @ x).exp().sum() - 1\n"
    )
    assert lines(traced(cell, library)) == [1, 2, 3, 3]


def test_what_stands_in_no_loop_comes_once(library):
    cell = "x = torch.ones((), requires_grad=True)\nif True:\n    y = sum([x, x, x])\n    z = y * 2\n"
    assert lines(traced(cell, library)) == [1, 2, 3, 4]


def test_functions_of_the_cell(library):
    cell = (
        "def f(a):\n    b = a * 2\n    return b + a\n"
        "x = torch.tensor(1.0, requires_grad=True)\ny = f(f(x))\nz = [f(x) for _ in range(2)]\n"
    )
    assert lines(traced(cell, library)) == [1, 4, 5, 2, 3, 2, 3, 6, 2, 3, 2, 3]


def test_comprehensions_and_lambdas_are_no_rounds(library):
    cell = (
        "x = torch.tensor(1.0, requires_grad=True)\nfor k in range(1):\n"
        "    s = sum(x * i for i in range(3))\n    t = [x * i for i in range(3)]\n"
        "    u = (lambda a: a * 2)(x)\n"
    )
    assert lines(traced(cell, library)) == [1, 2, 3, 4, 5]


def test_blocks_are_told_by_their_heads(library):
    cell = (
        "with torch.no_grad():\n    x = torch.ones(2)\ntry:\n    y = x.nonsense\nexcept (AttributeError,\n"
        "        KeyError):\n    y = x * 2\nclass A(\n    object,\n):\n    w = y * 3\n"
        "for i in {1: 'a'}: z = y\n"
    )
    told = [e.span.text for e in of(traced(cell, library), Statement)]
    assert told == [
        "with torch.no_grad()", "x = torch.ones(2)", "try", "y = x * 2", "class A(\n    object,\n)",
        "w = y * 3", "for i in {1: 'a'}",
    ]  # fmt: skip


def test_an_error_ends_the_statements(library):
    trace = traced(CUBE + "w = 1\nz.no_such()\nv = 2\n", library)
    assert lines(trace) == [1, 2, 3, 4, 5]
    failed = of(trace, CellFailed)[0]
    assert failed.span.line == 5 and failed.error == trace.error and failed.error.startswith("AttributeError")


def test_an_error_in_a_function_of_the_cell(library):
    trace = traced("def f(a):\n    return 1 / a\nb = 2\nf(0)\nc = 3\n", library)
    assert lines(trace) == [1, 3, 4]
    call, quotient = Span(4, 0, 4, 4, "f(0)"), Span(2, 11, 2, 16, "1 / a")
    assert of(trace, CellFailed) == [
        CellFailed("ZeroDivisionError: division by zero", quotient, frames=(call, quotient))
    ]


def test_an_error_without_a_text(library):
    cell = "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\nraise Odd\n"
    assert of(traced(cell, library), CellFailed)[0].error == "Odd:"


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


def test_modes(library):
    cell = (
        "x = torch.tensor(1.0, requires_grad=True)\nwith torch.no_grad():\n    y = x * 2\n"
        "    with torch.enable_grad():\n        z = x * 3\ntorch.set_grad_enabled(True)\n"
        "torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\n"
        "@torch.no_grad()\ndef f(a):\n    return a * 2\nw = f(x)\nz.backward()\n"
    )
    trace = traced(cell, library)
    assert {e.mode for e in of(trace, ModeChanged)} == {"grad"}
    told = [(e.enabled, e.span.line) for e in of(trace, ModeChanged)]
    assert told == [
        (False, 2),
        (True, 4),
        (False, 4),
        (True, 2),
        (False, 7),
        (True, 8),
        (False, 12),
        (True, 12),
    ]
    order = [e for e in trace.events if isinstance(e, ModeChanged | Forward)]
    assert [type(e).__name__ for e in order[:4]] == ["ModeChanged", "Forward", "ModeChanged", "Forward"]


def test_modes_that_the_library_switches_for_itself(library):
    cell = MY_POW + "x = torch.tensor(5.0, requires_grad=True)\ny = MyPow.apply(x, x * 1)\n"
    cell += "y.register_hook(lambda g: g * 2)\ny.backward(create_graph=True)\nx.retain_grad()\n"
    assert not of(traced(cell, library), ModeChanged)


def test_modes_of_an_optimiser_are_not_the_cells(torch):
    cell = (
        "w = torch.tensor([1.0], requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "layer = torch.nn.Linear(2, 2)\n(w * 2).sum().backward()\nopt.step()\n"
    )
    assert not of(traced(cell, torch), ModeChanged)
