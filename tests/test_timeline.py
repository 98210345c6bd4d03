"""Frames: the steps through a recorded cell, and through a graph that nobody recorded."""

from __future__ import annotations

import re

import pytest
from cells import CELLS, traced

import minigrad
from minigrad_viz import draw
from minigrad_viz.build import build
from minigrad_viz.events import NodeRan
from minigrad_viz.picture import Picture
from minigrad_viz.run import Report
from minigrad_viz.timeline import frames_of, frames_of_graph


@pytest.fixture(params=["minigrad", "PyTorch"])
def library(request):
    return minigrad if request.param == "minigrad" else request.getfixturevalue("torch")


def frames(cell: str, library=minigrad):
    trace = traced(cell, library)
    return frames_of(trace, build(trace), lang="en")


def test_code_4(library):
    steps = frames(CELLS[4], library)
    assert [f.label for f in steps] == [
        "forward 1 of 3", "forward 2 of 3", "forward 3 of 3", "backward 1 of 3", "backward 2 of 3",
        "backward 3 of 3",
    ]  # fmt: skip
    assert [f.text.splitlines()[0] for f in steps][1:3] == [
        "x ** 3 makes y = 125.",
        "log(y) makes z = 4.8283",
    ]
    assert [f.text.splitlines()[0].rpartition(" with ")[2] for f in steps[3:5]] == ["1.", "0.008"]
    assert steps[5].text == "AccumulateGrad adds 0.6 to x.grad"
    assert steps[1].marks == ("s1-c0", "r0") and steps[3].marks == ("s2-d", "r1-g", "r1-p")


def test_the_arithmetic_of_a_step():
    steps = frames(CELLS[9])
    said = "\n".join(f.text for f in steps)
    assert "∂z/∂x = ∂z/∂y · ∂y/∂x" in said and "75." in said
    assert steps[-1].text.splitlines()[1] == "1. (through w) + 0.6 (through y) = 1.6"


def test_accumulation_is_written_out():
    assert frames(CELLS[7])[-1].text.splitlines()[-1] == "x.grad = 0.6 + 0.6 = 1.2"


def test_an_error_is_the_last_step():
    last = frames(CELLS[6])[-1]
    assert (last.phase, last.marks) == ("backward", ()) and last.text.startswith(
        "RuntimeError: Trying to backward"
    )


@pytest.mark.parametrize("code", CELLS)
def test_every_mark_is_in_the_picture(library, code):
    trace = traced(CELLS[code], library)
    graph = build(trace)
    picture = Picture(graph)
    svg = picture.svg()
    pills = {f"{r.id}-p" for r in graph.routes if not r.gradients}  # nothing flowed: no pill
    for frame in frames_of(trace, graph):
        for mark in set(frame.marks) - pills:
            assert f'id="{picture.prefix}{mark}"' in svg, mark


@pytest.mark.parametrize("code", [4, 9, 10, 13, 16, 18, 19])
def test_backward_steps_are_the_nodes_in_their_order(library, code):
    trace = traced(CELLS[code], library)
    graph = build(trace)
    at = {s.deck.id: f"{s.id}-d" for s in graph.stations if s.deck}
    last = max(e.call for e in trace.events if isinstance(e, NodeRan))
    expected = [at[e.node] for e in trace.events if isinstance(e, NodeRan) and e.call == last]
    assert [f.marks[0] for f in frames_of(trace, graph) if f.phase == "backward"] == expected


def test_what_create_graph_computes_is_a_step_of_its_call():
    trace = traced(CELLS[18])
    graph = build(trace, 1)
    backward = [f.text.splitlines()[0] for f in frames_of(trace, graph, 1, "en") if f.phase == "backward"]
    assert any("makes ∂z/∂y = 0.008" in said for said in backward)


def test_a_narrowed_picture_has_only_its_own_steps():
    report = Report(traced(CELLS[9]), roots=("w",), lang="en")
    assert [f.marks[0] for f in report.frames if f.phase == "forward"] == ["s0-c0", "s2-c0"]
    assert {m for f in report.frames for m in f.marks if re.fullmatch(r"s\d+-d", m)} == {"s0-d", "s2-d"}


def test_a_graph_that_nobody_recorded():
    x = minigrad.tensor(5.0, requires_grad=True)
    y = x**3
    steps = frames_of_graph(draw(y).graph, "en")
    assert [f.text for f in steps] == [
        "x = 5.", "y = 125.", "PowBackward0 runs when all its arrows have reported",
        "AccumulateGrad runs when all its arrows have reported",
    ]  # fmt: skip


def test_no_addresses_and_the_same_each_time(library):
    assert frames(CELLS[18], library) == frames(CELLS[18], library)
    assert "0x" not in str(frames(CELLS[11], library))
