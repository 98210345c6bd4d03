"""The recomputed queue against what the engine did, on random graphs and programs, and worked by hand."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest
from cells import CELLS, traced
from functions import many, pair
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_programs import Run
from staged import scene_of
from test_random_programs import GENERATORS, programs
from tiers import examples
from twins import dialect

from minigrad_viz.model.schedule import Schedule, edges_into, needed_nodes, reach
from minigrad_viz.model.views import Stage
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.steps.story import Story
from minigrad_viz.trace.events import BackwardEnded, BackwardStarted, NodeRan, NodeState, Trace


def story(trace: Trace, call: int) -> Story:
    scene = scene_of(trace, call)
    return Story(Stage(scene, scene.graph, "en"))


def check(trace: Trace) -> int:
    """Every call of a trace: the recomputed order is the recorded one. How many nodes that were."""
    calls = [e for e in trace.events if isinstance(e, BackwardStarted)]
    errors = {e.call: e.error for e in trace.events if isinstance(e, BackwardEnded)}
    count = 0
    for event in calls:
        told = story(trace, event.call)
        ran = list(told.ran)
        if not {node.id for node in event.nodes} >= set(ran):
            assert told.schedule is None  # a part of the graph that the recorder did not see
        elif errors[event.call] is None:
            assert told.schedule is not None, f"call {event.call} ran {ran}"
            assert told.schedule.order == ran
            count += len(ran)
        elif told.schedule is not None:
            assert told.schedule.order[: len(ran)] == ran
    return count


def recorded(program: Any) -> Trace:
    """The trace of a function."""
    recorder = Recorder("", {})
    recorder.start()
    try:
        program()
    except Exception as error:
        trace = recorder.stop(error)
    else:
        trace = recorder.stop()
    return trace


# ── random graphs ───────────────────────────────────────────────────────────────────────────────────────────

OPS = ["add", "mul", "neg", "none", "many", "pair"]
ops = st.tuples(st.sampled_from(OPS), st.integers(0, 99), st.integers(0, 99))
graphs = st.tuples(
    st.integers(1, 8),  # leaves
    st.lists(ops, min_size=1, max_size=18),
    st.lists(st.integers(0, 99), min_size=1, max_size=3),  # roots
    st.sampled_from(["backward", "inputs", "grad"]),
    st.lists(st.integers(0, 99), min_size=1, max_size=4),  # what is asked for
)  # fmt: skip


def run_graph(library: Any, program: Any) -> None:
    """Build a graph of numbers and run backward through it."""
    leaves, ops, roots, how, asked = program
    made = [library.tensor(1.5 + i, dtype=library.float64, requires_grad=True) for i in range(leaves)]
    a_pair, of_many = pair(library).apply, many(library).apply
    for op, i, j in ops:
        a, b = made[i % len(made)], made[j % len(made)]
        if op == "many":  # several leaves become ready at once
            made.append(of_many(*made[: 2 + i % 8]))
        elif op == "pair":
            made += a_pair(a, b)
        else:
            made.append({"add": a + b, "mul": a * b * 0.1, "neg": -a, "none": a_pair(a, b)[1]}[op])
    chosen = list(dict.fromkeys(r % len(made) for r in roots))
    outputs = [made[r] for r in chosen]
    ones = [library.ones_like(t.detach()) for t in outputs]
    wanted = [made[r] for r in dict.fromkeys(a % len(made) for a in asked)]
    if how == "grad":
        library.autograd.grad(outputs, wanted, ones, allow_unused=True)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library.autograd.backward(outputs, ones, inputs=wanted if how == "inputs" else None)


@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(program=graphs)
def test_random_graphs(library, program):
    check(recorded(lambda: run_graph(library, program)))


@pytest.mark.parametrize("generator", sorted(GENERATORS))
def test_random_programs(library, generator):
    @settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))
    @given(program=programs(generator))
    def run(program: Any) -> None:
        with dialect("2"), np.errstate(all="ignore"):
            check(recorded(lambda: Run(library).whole(program)))

    run()


@pytest.mark.quick(6)
@pytest.mark.parametrize("code", CELLS)
def test_documented_computations(library, code):
    check(traced(CELLS[code], library))


@pytest.mark.full
def test_the_engine_of_a_thousand_leaves(library):
    """As many ties as one node can make."""
    rng = random.Random(1)
    of_many = many(library).apply
    made = [library.tensor(float(i), requires_grad=True) for i in range(300)]

    def run() -> None:
        for _ in range(5):
            of_many(*rng.sample(made, 200)).backward()

    assert check(recorded(run)) == 5 * 201


def test_leaves_as_roots_run_in_the_order_of_pytorch(library):
    leaves = [library.tensor(1.0, requires_grad=True) for _ in range(8)]
    seen: list[int] = []
    for i, leaf in enumerate(leaves):
        leaf.register_hook(lambda g, i=i: seen.append(i))
    library.autograd.backward(leaves)
    nodes = [NodeState(str(i), "AccumulateGrad", (), (), f"t{i}", 0, 0) for i in range(8)]
    assert (
        seen
        == [0, 2, 6, 5, 7, 4, 1, 3]
        == [int(id) for id in Schedule(nodes, [node.id for node in nodes]).order]
    )


def test_what_does_not_run_does_not_reorder_the_rest(library):
    of_many = many(library).apply
    leaves = [library.tensor(1.0, requires_grad=True) for _ in range(8)]
    seen: list[int] = []
    for i, leaf in enumerate(leaves):
        leaf.register_hook(lambda g, i=i: seen.append(i))
    trace = recorded(lambda: of_many(*leaves).backward(inputs=leaves[3:]))
    assert seen == [3, 5, 7, 4, 6]
    assert check(trace) == 6


# ── by hand ─────────────────────────────────────────────────────────────────────────────────────────────────


def node(id: str, age: int, *edges: str | None) -> NodeState:
    ends = tuple(None if edge is None else (edge, 0) for edge in edges)
    return NodeState(id, id, (), ends, None, 0, age)


#   z ← log ← y ← x        x is used by y and by w
#   z ← sqrt ← w ← x
CODE_9 = [
    node("z", 4, "log", "sqrt"), node("log", 2, "y"), node("sqrt", 3, "w"), node("y", 0, "x"),
    node("w", 1, "x"), node("x", 9),
]  # fmt: skip


def test_the_queue_of_code_9():
    schedule = Schedule(CODE_9, ["z"])
    assert schedule.order == ["z", "sqrt", "log", "w", "y", "x"]
    assert list(schedule.moments().values()) == [
        (("z",), (("sqrt", 1), ("log", 1), ("w", 1), ("y", 1), ("x", 2))),
        (("sqrt", "log"), (("w", 1), ("y", 1), ("x", 2))),
        (("log", "w"), (("y", 1), ("x", 2))),
        (("w", "y"), (("x", 2),)),
        (("y",), (("x", 1),)),
        (("x",), ()),
        ((), ()),
    ]


def test_a_moment_of_several():
    schedule = Schedule(CODE_9, ["z"])
    assert schedule.moments({3}) == {3: (("w", "y"), (("x", 2),))}


def test_only_what_is_needed_runs():
    limited = needed_nodes(CODE_9, {"w"})
    assert limited == {"z", "sqrt"}
    assert Schedule(CODE_9, ["z"], limited).order == ["z", "sqrt"]
    assert needed_nodes(CODE_9, {"x"}) == {"z", "log", "sqrt", "y", "w"}
    assert needed_nodes(CODE_9, {"w", "x"}) == needed_nodes(CODE_9, {"x"})
    assert needed_nodes(CODE_9, set()) == set()


def test_several_roots_one_of_them_inside():
    assert Schedule(CODE_9, ["y", "z", "z"]).order == ["z", "sqrt", "log", "w", "y", "x"]
    assert Schedule(CODE_9, ["y", "w"]).order == ["w", "y", "x"]
    assert set(reach(CODE_9, ["y", "nobody"])) == {"y", "x"}


def test_two_edges_to_one_node_and_one_to_none():
    twice = [node("p", 1, "x", None, "x"), node("x", 9)]
    assert edges_into(twice) == {"p": 0, "x": 2}
    assert Schedule(twice, ["p"]).moments()[0].waiting == (("x", 2),)
    assert Schedule(twice, ["p"]).order == ["p", "x"]


def test_a_record_that_says_otherwise():
    schedule = Schedule(CODE_9, ["z"])
    assert schedule.agrees(schedule.order) and not schedule.agrees(["z", "log"], failed=True)
    assert not schedule.agrees(["z", "sqrt"]) and schedule.agrees(["z", "sqrt"], failed=True)


def test_a_large_graph_lists_only_what_something_has_come_to():
    chain = [node(f"c{i}", i, f"c{i - 1}" if i else "x") for i in range(100)] + [node("x", 999)]
    chain.append(node("top", 500, "c99", "c50"))
    moments = Schedule(chain, ["top"]).moments()
    assert moments[0] == (("top",), ())
    assert moments[1] == (("c99",), (("c50", 1),))
    assert moments[49].waiting == (("c50", 1),) and moments[50] == (("c50",), ())


@pytest.mark.full
def test_time_is_linear_in_a_wide_graph():
    wide = [node("top", 10**6, *(f"c{i}" for i in range(20_000)))]
    wide += [node(f"c{i}", i, "x") for i in range(20_000)] + [node("x", 10**7)]
    schedule = Schedule(wide, ["top"])
    assert schedule.order[:3] == ["top", "c19999", "c19998"] and schedule.order[-1] == "x"
    assert len(schedule.moments({1})[1].ready) == 20_000


def test_frames_show_no_queue_where_the_record_says_otherwise():
    trace = traced(CELLS[9])
    ran = [i for i, e in enumerate(trace.events) if isinstance(e, NodeRan)]
    events = list(trace.events)
    events[ran[1]], events[ran[2]] = events[ran[2]], events[ran[1]]
    assert story(trace, 1).schedule is not None
    assert story(trace._replace(events=tuple(events)), 1).schedule is None
