"""However large a cell is, what is recorded of it, drawn and stored stays bounded, and it says what was left
out. Counts and sizes are compared, never times."""

from __future__ import annotations

import gc
import math
import random

import numpy as np
import pytest
from cells import run, traced

from minigrad_viz.arithmetic import WRITTEN
from minigrad_viz.drawing.outline import outline
from minigrad_viz.flow import backward_pass
from minigrad_viz.isolation import without_collection
from minigrad_viz.model.fold import cost_of, opened_in
from minigrad_viz.model.groups import ROUNDS, Repeat, repeats
from minigrad_viz.model.stations import Moments
from minigrad_viz.model.views import Stage, each_once
from minigrad_viz.player import acts
from minigrad_viz.recording.long_loops import FEWEST, KEPT_CALLS, KEPT_NOTES, STRETCH, Rest
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.recording.states import NEAREST
from minigrad_viz.shell import report as report_module
from minigrad_viz.shell.report import Report
from minigrad_viz.steps.story import Story
from minigrad_viz.trace.events import BackwardStarted, Forward, TensorState, Trace

PAGE = 600_000  # characters that a cell may store
X = "x = torch.tensor(1.0, requires_grad=True)\n"
CHAIN = X + "y = x\nfor i in range({n}):\n    y = y * 1.00001\n"
LOOP = X + "for i in range({n}):\n    y = x * 2\n"
LEAVES = "xs = [torch.tensor(float(i), requires_grad=True) for i in range({n})]\n"
STACK = LEAVES + "total = (torch.stack(xs) ** 2).sum()\ntotal.backward()\n"
SUM = LEAVES + "total = xs[0]\nfor each in xs[1:]:\n    total = total + each * each\ntotal.backward()\n"
SAID = {
    "en": "This cell has more operations than one picture can show. "
    "Operations that were only counted: {n:,}.",
    "ko": "이 셀에는 그림 하나에 담을 수 있는 것보다 연산이 많습니다. 세기만 한 연산: {n:,}개.",
}


def bounded(trace: Trace) -> Report:
    """The report of a cell, whose page is of a bearable size."""
    report = Report(trace, lang="en")
    assert len(report.html()) <= PAGE and len(report.text()) <= PAGE
    return report


# ── operations that are too many for one graph ──────────────────────────────────────────────────────────────


@pytest.mark.full
@pytest.mark.parametrize("lang", SAID)
def test_a_graph_that_is_too_large_says_so(library, lang):
    trace = traced(CHAIN.format(n=14_000) + "y.backward()\n", library)
    ops = sum(isinstance(event, Forward) for event in trace.events)
    assert ops <= STRETCH + NEAREST and trace.passed >= 14_000 - STRETCH
    graph = bounded(trace).graph
    assert SAID[lang].format(n=trace.passed) in outline(graph, lang)
    assert Trace.from_json(trace.to_json()).passed == trace.passed
    (root,) = (card for _, card in graph.cards() if card.role == "root")
    assert root.name.startswith("y") and root.grad is not None
    rows = dict(trace.events[-1].rows)
    assert rows["x"].grad.items == pytest.approx([math.exp(0.14)], rel=1e-3)


@pytest.mark.full
def test_events_do_not_grow_with_the_rounds_of_a_loop(library):
    few, many = (traced(LOOP.format(n=n), library) for n in (12_000, 24_000))
    assert len(few.events) == len(many.events) and many.passed - few.passed == 12_000
    assert SAID["en"].format(n=many.passed) in bounded(many).text()


def test_a_graph_within_the_limit_is_whole(library):
    trace = traced(CHAIN.format(n=2_000) + "y.backward()\n", library)
    assert trace.passed == 0 and sum(isinstance(event, Forward) for event in trace.events) == 2_000
    assert "only counted" not in outline(Report(trace, lang="en").graph, "en")


@pytest.mark.full
def test_after_a_backward_call_ops_are_recorded_again(library):
    source = CHAIN.format(n=14_000) + "y.backward()\nz = x * 3\nz.backward()\n"
    trace = traced(source, library)
    assert any(isinstance(event, Forward) and event.name == "z" for event in trace.events)
    assert [event.call for event in trace.events if isinstance(event, BackwardStarted)] == [1, 2]


def test_modules_that_are_only_counted_leave_none_open(library):
    source = (
        "layer = torch.nn.Linear(2, 2)\nx = torch.ones(1, 2)\n"
        "for i in range(6_000):\n    y = layer(x)\ny.sum().backward()\nz = layer(x)\n"
    )
    trace = traced(source, library)
    kinds = [type(event).__name__ for event in trace.events]
    assert trace.passed and kinds.count("ModuleCalled") == kinds.count("ModuleReturned")


def test_what_a_stretch_may_note():
    rest = Rest()
    rest.note(False, STRETCH - 1)
    assert not rest.whole
    rest.note(False, STRETCH)
    assert rest.whole and rest.on
    rest.wake(STRETCH)
    rest.note(False, STRETCH + 1)
    assert not (rest.whole or rest.on)


# ── rounds ──────────────────────────────────────────────────────────────────────────────────────────────────

BIG = (
    X
    + "for i in range({n}):\n    y = x\n    for j in range({ops}):\n        y = y * 1.001\n    y.backward()\n"
)


@pytest.mark.full
def test_of_large_rounds_fewer_are_kept(library):
    calls = []
    for ops in (10, 1_500):
        trace = traced(BIG.format(n=KEPT_CALLS + 2, ops=ops), library)
        calls.append([event.call for event in trace.events if isinstance(event, BackwardStarted)])
        assert len(trace.rounds) == KEPT_CALLS + 2 and trace.skipped + len(calls[-1]) == KEPT_CALLS + 2
        assert calls[-1][-1] == KEPT_CALLS + 2, "the last one is there"
    small, large = calls
    assert len(small) == KEPT_CALLS and FEWEST <= len(large) <= KEPT_NOTES // 1_500 + 1


def test_the_end_of_a_loop_that_counts_other_rounds_says_nothing(library):
    """How many epochs are left does not tell how many batches are."""
    cell = X + (
        "batches = [1.0, 2.0]\nfor epoch in range(3):\n    for batch in batches:\n"
        "        (x * batch).backward()\n        seen.append(loops().round())\n"
    )
    seen: list = []
    space = {"torch": library, "__name__": "__main__", "seen": seen}
    recorder = Recorder(cell, space)
    space["loops"] = lambda: recorder.tape.loops
    recorder.start()
    exec(compile(cell, "<cell>", "exec"), space)
    recorder.stop()
    assert {round.left for round in seen} == {None}


# ── large arrays ────────────────────────────────────────────────────────────────────────────────────────────

WRITES = {
    "in place": "x.mul_(3)\n",
    "data": "x.data[7, 7] = -5.0\n",
    "numpy": "a *= 2\n",
    "another": "x = torch.ones(400, 400)\n",
    "nothing": "",
}


@pytest.mark.parametrize("how", WRITES)
def test_a_large_array_is_read_again_after_a_write(library, how):
    start = "a = np.ones((400, 400), np.float32)\nx = torch.from_numpy(a)\ny = x * 1\n"
    call = "(w * 2).backward()\n"
    start += "w = torch.ones((), requires_grad=True)\n"
    ran = run(start + call + WRITES[how] + call, library, names={"np": np})
    state = dict(ran.trace.events[-1].rows)["x"]
    held = ran.names["x"].detach().numpy()
    assert (state.value.low, state.value.high) == (held.min(), held.max())


def test_a_large_array_that_nobody_writes_to_is_read_once(library):
    def read(calls: int) -> int:
        cell = "w = torch.ones((), requires_grad=True)\nfor i in range({n}):\n    (w * 2).backward()\n"
        space = {"torch": library, "__name__": "__main__", "x": library.ones(400, 400)}
        recorder = Recorder("y = x + 1\n" + cell.format(n=calls), space)
        recorder.start()
        exec(compile("y = x + 1\n" + cell.format(n=calls), "<cell>", "exec"), space)
        recorder.stop()
        return recorder.tape.numbers.read

    assert read(10) == read(2) > 0


# ── pages ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.sample(1)
@pytest.mark.parametrize("source", [STACK, SUM], ids=["stacked", "summed"])
@pytest.mark.full
def test_pages_do_not_grow_with_leaves(source):
    sizes = [len(bounded(traced(source.format(n=n))).html()) for n in (1_000, 2_000)]
    assert max(sizes) < 1.5 * min(sizes)


def test_a_node_with_thousands_of_inputs_counts_the_rest():
    report = Report(traced(STACK.format(n=200)), lang="en")
    (frame,) = (f for f in report.frames if f.text.startswith("StackBackward"))
    assert len(frame.lines) <= WRITTEN + 5 and frame.lines[-1].text == f"and {200 - WRITTEN} more"


def test_a_player_that_is_too_heavy_has_fewer_rounds(monkeypatch):
    report = Report(traced(X + "for i in range(6):\n    (x * x).backward()\n"), lang="en")
    whole, player = len(report.html()), len(report._player(False))
    monkeypatch.setattr(report_module, "HEAVIEST", player - 1)
    assert len(report.html()) < whole
    monkeypatch.setattr(report_module, "HEAVIEST", 1)
    assert len(report._acts.played(1)[0]) == 1 and "6" in report.views[-1].label


@pytest.mark.full
def test_what_a_player_draws_is_bounded():
    report = Report(traced(BIG.format(n=30, ops=30)), lang="en")
    played, earlier, _ = report._acts.played()
    drawn = sum(cost_of(act.picture.graph) for act in played)
    assert drawn <= acts.PLAYED < drawn + cost_of(played[0].picture.graph)
    assert len(earlier) + len(played) == 30
    inner = sum(cost_of(part) for _, part in opened_in(report.views[-1].graph, report.views[-1].whole))
    assert inner <= 150


# ── nothing grows with the square ───────────────────────────────────────────────────────────────────────────


def found_slowly(sequence, length):
    """The repetitions of a length, found by comparing one element after the other."""
    start, n = 0, len(sequence)
    while start + length * ROUNDS <= n:
        end = start
        while end + length < n and sequence[end] == sequence[end + length]:
            end += 1
        rounds = (end - start) // length + 1
        if rounds >= ROUNDS:
            yield Repeat(start, length, rounds)
        start = end + 1 if rounds < ROUNDS else start + length * rounds


def test_repetitions_are_those_that_comparing_finds():
    chosen = random.Random(5)
    for _ in range(200):
        sequence = "".join(chosen.choices("abc", k=chosen.randrange(3, 40))) * chosen.choice([1, 3, 4])
        every = [
            r for length in range(1, len(sequence) // ROUNDS + 1) for r in found_slowly(sequence, length)
        ]
        taken: list[Repeat] = []
        for repeat in sorted(every, key=lambda r: (-r.length * r.rounds, r.length, r.start)):
            if all(repeat.end <= other.start or other.end <= repeat.start for other in taken):
                taken.append(repeat)
        assert repeats(sequence) == sorted(taken)


def test_changes_are_the_moments_that_differ():
    moments, chosen = Moments(), random.Random(7)
    for time in sorted(chosen.sample(range(50), 8)):
        moments.add(time, TensorState("t0", None, None, False, True, None, None, None, time))
    times = sorted(chosen.choices(range(60), k=30))
    before, expected = None, []
    for i, time in enumerate(times):
        now = moments.at("t0", time)
        if now is not None and now is not before:
            expected.append((i, now))
        before = now
    assert list(moments.changes("t0", times)) == expected and list(moments.changes("t1", times)) == []


def test_a_local_derivative_is_found_once_for_all_leaves(monkeypatch):
    asked = []
    known = backward_pass.local_derivative

    def local(node, i, saved, *others):
        asked.append((id(saved), i))
        return known(node, i, saved, *others)

    monkeypatch.setattr(backward_pass, "local_derivative", local)
    report = Report(traced(SUM.format(n=60)), lang="en")
    assert any(line.kind == "paths" for frame in report.frames for line in frame.lines)
    assert 60 < len(asked) == len(set(asked))


def test_only_the_last_share_tells_all_that_met():
    report = Report(traced("w = torch.tensor(2.0, requires_grad=True)\n(w * w * w).backward()\n"), lang="en")
    view = report.views[-1]
    story = Story(Stage(view.scene, view.graph, "en"))
    told = [each for several in story.so_far.values() for each in several]
    assert {bool(each.shares) for each in told if each.missing} == {False}
    assert all(len(each.shares) > 1 for each in told if not each.missing)


def test_marks_of_many_steps_are_read_once():
    class Counting(tuple):
        read = 0

        def __iter__(self):
            Counting.read += 1
            return super().__iter__()

    same = Counting(["a", "b"])
    assert list(each_once([same, same, ("b", "c"), same])) == ["a", "b", "c"] and Counting.read == 1


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_as_it_was(on):
    (gc.enable if on else gc.disable)()
    try:
        assert without_collection(gc.isenabled)() is False
        with pytest.raises(ZeroDivisionError):
            without_collection(lambda: 1 / 0)()
        assert gc.isenabled() is on
    finally:
        gc.enable()
