"""A trace written as JSON and read back is the same trace, and everything made of it is the same."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from cells import CELLS, run
from hypothesis import HealthCheck, Phase, given, settings
from random_cells import PRELUDE, cells
from telling import recorded, run_cell
from tiers import examples

import minigrad
from minigrad_viz.shell.report import Report
from minigrad_viz.trace import bundle, json_format
from minigrad_viz.trace.events import Trace, tag_of
from minigrad_viz.trace.json_format import InvalidTrace

# Numbers that JSON has no words for, of every dtype, and names that it has to escape.
LEAF = "x = torch.tensor(2.0, requires_grad=True)\n"
STRANGE = {
    "not finite": "x = torch.tensor([0.0, -1.0], requires_grad=True)\ny = x.log() / x\ny.sum().backward()\n",
    "zeros": "x = torch.tensor([0.0, -0.0], requires_grad=True)\ny = -x * 0\ny.sum().backward()\n",
    "bool and int": "x = torch.tensor([1, 2, 3])\ny = x > 1\nz = torch.where(y, x, x * 2)\n",
    "half": "x = torch.tensor(0.1, dtype=torch.float16, requires_grad=True)\ny = x * 3\ny.backward()\n",
    "large": "x = torch.ones(100, requires_grad=True)\ny = (x * 2).sum()\ny.backward()\n",
    "long": "x = y = torch.ones(40, requires_grad=True)\nfor _ in range(15): y = y * x\ny.sum().backward()\n",
    "empty": "x = torch.ones(0, requires_grad=True)\ny = x * 2\ny.sum().backward()\n",
    "names": LEAF + "변수 = x\nd = {}\nd['\"\\\\\\n'] = 변수 ** 2\nd['\"\\\\\\n'].backward()\n",
    "an error": LEAF + "y = x ** 2\ny.backward()\nraise ValueError('\\ud800')\n",
    "a mode": "torch.set_grad_enabled(False)\nx = torch.ones(2)\ny = x * 2\ntorch.set_grad_enabled(True)\n",
    "a tangent that is given back": "fw = torch.autograd.forward_ad\nwith fw.dual_level():\n"
    "    d = fw.make_dual(torch.ones(2), torch.ones(2))\n    p, t = fw.unpack_dual(d)\n",
    "no tensor": "a = 1\n",
    "many calls": LEAF + "for _ in range(30):\n    (x * x).backward()\n",
}


def back(trace: Trace) -> Trace:
    """The trace, through a text of JSON."""
    assert isinstance(trace.to_json(), str)
    return Trace.from_json(trace.to_json())


def assert_the_same(trace: Trace, pictures: bool = True) -> None:
    """The trace read back, and all that is made of it."""
    again = back(trace)
    assert again == trace
    assert repr(again) == repr(trace), "also where different things are equal: 1 and 1.0, 0.0 and -0.0"
    ours, theirs = (Report(one, lang="en") for one in (trace, again))
    assert [scene.graph for scene in ours.views] == [scene.graph for scene in theirs.views]
    assert [act.frames for act in ours.acts] == [act.frames for act in theirs.acts]
    assert ours.table == theirs.table
    assert ours.text(steps=True) == theirs.text(steps=True)
    assert ours.steps._repr_markdown_() == theirs.steps._repr_markdown_()
    if pictures:
        assert ours.html() == theirs.html()
        assert ours.picture.svg() == theirs.picture.svg()


@pytest.mark.sample(12)
@pytest.mark.quick(6)
@pytest.mark.parametrize("code", CELLS)
def test_documented_cells(library, code):
    trace = run(CELLS[code], library).trace
    assert trace is not None
    assert_the_same(trace)


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", STRANGE)
def test_strange_cells(library, name):
    trace = run(STRANGE[name], library).trace
    assert trace is not None
    assert_the_same(trace)


@settings(
    max_examples=examples(60),
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(cell=cells)
def test_random_cells(library, cell):
    (trace,) = run_cell(cell, library, recorded).kept
    assert_the_same(trace, pictures=False)
    assert trace.source == cell and cell.startswith(PRELUDE)


@pytest.mark.parametrize(
    "data",
    [{}, {"events": [{"event": "Nothing"}]}, {"events": [{}]}, {"events": 3}, [], None, {"source": "x = 1"}],
)
def test_what_is_no_trace_is_refused(data):
    with pytest.raises(ValueError, match="Expecting value"):
        Trace.from_json("no JSON")
    with pytest.raises(InvalidTrace):
        Trace.from_json(json.dumps(data))


# ─── Beside what a notebook shows

READER = """
import json, sys
from minigrad_viz.trace.events import Trace
cells = json.load(open(sys.argv[1], encoding="utf-8"))["cells"]
data = [output["data"][sys.argv[2]] for cell in cells for output in cell.get("outputs", ())]
print(*(event["event"] for event in data[0]["events"]))
print(Trace.from_json(json.dumps(data[0])).rounds)
"""


def test_another_program_reads_the_trace_of_a_stored_notebook(tmp_path):
    trace = run(CELLS[4], minigrad).trace
    notebook = Report(trace, lang="en").slides(tmp_path / "cell.ipynb")
    command = [sys.executable, "-c", READER, notebook, bundle.TRACE]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout
    kinds, rounds = printed.splitlines()
    assert kinds.split() == list(map(tag_of, trace.events)) and rounds == repr(trace.rounds)


def test_an_output_has_a_short_trace_that_gives_nothing_away():
    trace = run(CELLS[4], minigrad).trace
    assert Trace.from_json(json.dumps(Report(trace).bundle("", "")[bundle.TRACE])) == trace
    assert bundle.TRACE not in Report(trace, predict=True).bundle("", ""), "it has all answers"
    for strange in ("many calls", "an error"):
        assert bundle.trace_bundle(run(STRANGE[strange], minigrad).trace) == {}


@pytest.mark.parametrize("limit, size", [("ROOM", json_format.room_of("[1]")), ("LARGEST", len("[1]"))])
def test_what_is_as_large_as_allowed_is_read(monkeypatch, limit, size):
    monkeypatch.setattr(json_format, limit, size)
    assert json_format.parse_json("[1]") == [1]
    monkeypatch.setattr(json_format, limit, size - 1)
    with pytest.raises(InvalidTrace):
        json_format.parse_json("[1]")
