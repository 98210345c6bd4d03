"""The steps as a whole: what they mark, which numbers and which queue they show, how many they are, how they
read as text; and the steps of a graph that nobody recorded."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from cells import CELLS, traced
from staged import build, frames_of, scene_of, scenes_of
from stepping import decks, frames, said

import minigrad
from minigrad_viz import draw
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.model.fold import fold
from minigrad_viz.model.views import Stage
from minigrad_viz.number_text import one_line
from minigrad_viz.steps import timeline
from minigrad_viz.steps.frames import Frame
from minigrad_viz.steps.story import LIMIT, Story, group_steps, limit_steps
from minigrad_viz.steps.timeline import steps_text, to_markdown
from minigrad_viz.trace.events import BackwardEnded, BackwardStarted, GradAccumulated, NodeRan
from minigrad_viz.trace.graph_walk import trace_of

# ── marks, queue, numbers ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.quick(6)
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
    at = {s.deck.id: s.id for s in graph.stations if s.deck}
    last = max(e.call for e in trace.events if isinstance(e, NodeRan))
    expected = [at[e.node] for e in trace.events if isinstance(e, NodeRan) and e.call == last]
    assert decks(frames_of(trace, graph)) == expected


@pytest.mark.parametrize("code", CELLS)
def test_the_queue_says_what_runs_next(library, code):
    trace = traced(CELLS[code], library)
    for call in [e.call for e in trace.events if isinstance(e, BackwardEnded) and e.error is None] or [None]:
        graph = build(trace, call)
        steps = [f for f in frames_of(trace, graph, call) if f.phase == "backward"]
        ran = 0
        for frame in steps:
            ran += len(decks((frame,)))
            todo = decks(steps)[ran:]
            assert frame.ready[:1] == tuple(todo[:1])
            assert sorted(frame.ready, key=todo.index) == list(frame.ready)
            assert not set(frame.ready) & {id for id, _ in frame.waiting}
            assert {*frame.ready, *(id for id, _ in frame.waiting)} == set(todo)


@pytest.mark.quick(6)
@pytest.mark.parametrize("code", CELLS)
def test_the_numbers_are_those_of_the_engine(library, code):
    """Received, sent, stored and returned: as the trace has them, which holds what the engine had."""
    trace = traced(CELLS[code], library)
    for call in [e.call for e in trace.events if isinstance(e, BackwardStarted)]:
        steps = [f for f in frames_of(trace, build(trace, call), call, "en") if f.phase == "backward"]
        texts = iter([f.text for f in steps if decks((f,)) and "Error" not in f.text])
        for event in trace.events:
            if isinstance(event, NodeRan) and event.call == call:
                text = next(texts)
                assert all(one_line(v) in text for v in (*event.received, *event.sent) if v is not None), text
            if isinstance(event, GradAccumulated) and event.call == call:
                assert f" {one_line(event.added)} " in text
        for event in trace.events:
            if isinstance(event, BackwardEnded) and event.call == call and event.captured:
                assert all(one_line(v) in steps[-1].text for _, v in event.captured if v is not None)


def test_what_waits_is_the_sum_of_what_has_come():
    cell = "x = torch.tensor(0.1, requires_grad=True)\nz = " + " + ".join(f"x * {i}.7" for i in range(9))
    trace = traced(cell + "\nz.backward()\n")
    steps = frames_of(trace, build(trace), lang="en")
    sums = [line.text for f in steps for line in f.lines if line.kind == "so_far"]
    assert [int(text.split()[-3]) for text in sums[:8]] == list(range(8, 0, -1)) and len(sums) == 8
    builder = scene_of(trace)
    last = next(e for e in trace.events if isinstance(e, GradAccumulated))
    sent = [e.sent[0] for e in trace.events if isinstance(e, NodeRan)
            and builder.nodes[e.node].name == "MulBackward0"]  # fmt: skip
    total = minigrad.tensor(sent[0].items[0])
    for text, more in zip(sums, sent[1:], strict=True):
        assert text.startswith(f"x has received {one_line(last.added._replace(items=(total.item(),)))} and")
        total = total + minigrad.tensor(more.items[0])
    assert total.item() == last.added.items[0]


# ── many steps ──────────────────────────────────────────────────────────────────────────────────────────────


def chain(n: int) -> str:
    return (
        "x = torch.tensor(1.0, requires_grad=True)\ny = x\n"
        f"for i in range({n}):\n    y = y * 1.001\ny.backward()\n"
    )


@pytest.mark.full
def test_at_most_a_thousand_steps():
    trace = traced(chain(1500))
    steps = frames_of(trace, build(trace), lang="en")
    assert len(steps) == LIMIT
    counts = [int(re.search(r"… (\d+) more steps", f.text)[1]) for f in steps if "more steps" in f.text]
    assert len(counts) == 2 and sum(counts) + len(steps) - 2 == 1501 + 1501
    assert steps[-1].text.startswith("AccumulateGrad") and steps[0].text.startswith("x = 1.")
    whole = {m for f in steps for m in f.marks}
    assert {f"s{i}-d" for i in range(1501)} <= whole, "what is told in one is marked too"
    i = next(i for i, f in enumerate(steps) if f.phase == "backward" and "more steps" in f.text)
    assert steps[i].ready == (steps[i + 1].marks[0][:-2],)


@pytest.mark.full
def test_only_what_is_shown_is_written(monkeypatch):
    written = []
    monkeypatch.setattr("minigrad_viz.steps.backward.lines_of", lambda *args: written.append(args) or [])
    trace = traced(chain(3000))
    assert len(frames_of(trace, build(trace), lang="en")) == LIMIT and len(written) < LIMIT
    written.clear()
    assert len(frames_of(trace, fold(build(trace)), lang="en")) < 20 and len(written) < 20


def test_the_room_that_one_phase_leaves_is_the_others():
    trace = traced(chain(30))
    scene = scene_of(trace)
    groups = group_steps(Story(Stage(scene, scene.graph, "en")).steps())
    phases = [group[0].phase for group in groups]
    assert len(groups) == 62 and limit_steps(phases, 62) == [[i] for i in range(62)]
    few = limit_steps(phases, 20)
    assert len(few) == 20 and sorted(i for places in few for i in places) == list(range(62))
    assert [len(places) for places in few if len(places) > 1] == [22, 22]
    uneven = limit_steps(["forward"] * 31 + ["backward"] * 3, 20)
    assert len(uneven) == 20 and [len(places) for places in uneven if len(places) > 1] == [15]
    woven = limit_steps(["forward", "backward"] * 10, 8)
    assert woven == [[0], [1], [2], [3], list(range(4, 18, 2)), list(range(5, 18, 2)), [18], [19]]


# ── graphs that nobody recorded ─────────────────────────────────────────────────────────────────────────────


def test_a_narrowed_picture_has_only_its_own_steps():
    trace = traced(CELLS[9])
    steps = frames_of(trace, scenes_of(trace, roots=("w",))[0].graph, lang="en")
    assert [f.marks[0] for f in steps if f.phase == "forward"] == ["s0-c0", "s2-c0"]
    assert {m for f in steps for m in f.marks if re.fullmatch(r"s\d+-d", m)} == {"s0-d", "s2-d"}


def of_picture(picture):
    return timeline.frames_of(picture.scene, picture.graph, "en")


def test_a_graph_that_nobody_recorded():
    x = minigrad.tensor(5.0, requires_grad=True)
    y = x**3
    steps = of_picture(draw(y))
    assert said(steps) == [
        "x = 5.: a leaf that requires gradients", "y = 125.",
        "PowBackward0 at y runs when all its gradients have arrived",
        "AccumulateGrad at x runs when all its gradients have arrived",
    ]  # fmt: skip


def test_its_nodes_come_in_the_order_of_the_engine(library):
    x = library.tensor(5.0, requires_grad=True)
    names: dict[str, Any] = {"x": x, "y": x**3}
    names["w"] = x**2
    names["z"] = library.log(names["y"]) + library.sqrt(names["w"])
    picture = draw(names["z"], names=names)
    steps = [f for f in of_picture(picture) if f.phase == "backward"]
    nodes = [re.match(r"(\w+?)0? at", f.text)[1] for f in steps]
    assert nodes == [
        "AddBackward", "SqrtBackward", "LogBackward", "PowBackward", "PowBackward", "AccumulateGrad"
    ]  # fmt: skip
    assert " at w " in steps[3].text and " at y " in steps[4].text
    assert [len(f.ready) for f in steps] == [2, 2, 2, 1, 1, 0]
    assert steps[0].waiting[-1][1] == 2


def test_a_large_one_has_at_most_a_thousand_steps():
    x = minigrad.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(1500):
        y = y * 1.001
    steps = frames_of(trace_of([y]), build(trace_of([y])), lang="en")
    assert len(steps) == LIMIT and sum("more steps" in f.text for f in steps) == 2
    assert steps[-1].text.startswith("AccumulateGrad") and not steps[-1].ready
    folded = frames_of(trace_of([y]), fold(build(trace_of([y]))), lang="en")
    assert len(folded) < 20
    ran = [f.marks[0][:-2] for f in folded if f.phase == "backward"]
    assert [f.ready for f in folded if f.phase == "backward"] == [(id,) for id in ran[1:]] + [()]


# ── as text ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_steps_in_a_terminal():
    assert steps_text(frames(CELLS[4]), "en").splitlines()[3:6] == [
        "3  forward 3 of 3   log(y) computes z = 4.8283",
        "     saved       LogBackward0 saves self = 125.",
        "4  backward 1 of 3  LogBackward0 at z receives 1. and passes 0.008 to y",
    ]
    last = "6  backward 3 of 3  AccumulateGrad stores 0.6 in x.grad"
    assert steps_text(frames(CELLS[4]), "en").splitlines()[-1] == last
    assert steps_text((), "en") == to_markdown((), "en") == "This cell used no tensor, so there are no steps."


def test_labels_in_korean_are_aligned_by_their_width():
    lines = steps_text(frames(CELLS[9], lang="ko"), "ko").splitlines()
    assert lines[0] == " 1  순전파 6단계 중 1단계  x = 5.: 변화도를 요구하는 잎"
    assert any("log(y)의 계산: a = 4.8283" in line for line in lines)


def test_steps_in_a_notebook():
    shown = to_markdown(frames(CELLS[9]), "en")
    assert shown.startswith("1. *forward 1 of 6*: x = 5.: a leaf")
    assert re.search(r"^    - chain rule: \$.*\\partial z.*\$$", shown, re.M)
    assert "x &#42;&#42; 3 computes y = 125." in shown and "x ** 3" not in shown


def test_no_addresses_and_the_same_each_time(library):
    assert frames(CELLS[18], library) == frames(CELLS[18], library)
    assert "0x" not in str(frames(CELLS[11], library))


def test_markup_in_names_stays_text():
    hostile = "<b>$x$</b> | `a` [b](http://c) *d* _e_ \\(f\\) {g} @@0@@ &amp;\n- h"
    shown = to_markdown((Frame((), hostile, phase="forward", label="forward 1 of 1"),), "en")
    head = "1. *forward 1 of 1*: "
    assert shown.startswith(head) and "\n" not in shown
    assert not set("<>$|`[]*_\\{}@") & set(shown[len(head) :]) and "://" not in shown
    assert html.unescape(shown[len(head) :]) == hostile.replace("\n", " ")
