"""What each step shows of tensors that change: values, gradients and saved values as they stood then."""

from __future__ import annotations

import pytest
from cells import CELLS, traced

from minigrad_viz.model.trace_index import TraceIndex
from minigrad_viz.player.score import content
from minigrad_viz.shell.report import Report

DESCENT = """
x = torch.tensor(4.0, requires_grad=True)
for i in range(3):
    y = (x - 1) ** 2
    y.backward()
    with torch.no_grad():
        x -= 0.1 * x.grad
    x.grad = None
"""


def number(value):
    return None if value is None else round(value.items[0], 4)


def shown(act, name):
    """What the steps of a call show of a variable, by phase: (phase, value, gradient)."""
    graph = act.picture.graph
    part, card = next((f"{s.id}-c0", s.cards[0]) for s in graph.stations if s.cards[0].name == name)
    told = []
    for frame in act.frames:
        told += [(frame.phase, *map(number, card.stood[n])) for where, n in frame.shows if where == part]
    return told


def test_every_round_of_a_descent_begins_where_the_last_one_ended(library):
    acts = Report(traced(DESCENT, library), lang="en").acts
    assert [shown(act, "x") for act in acts] == [
        [("forward", 4.0, None), ("backward", 4.0, 6.0), ("update", 3.4, 6.0), ("update", 3.4, None)],
        [("forward", 3.4, None), ("backward", 3.4, 4.8), ("update", 2.92, 4.8), ("update", 2.92, None)],
        [("forward", 2.92, None), ("backward", 2.92, 3.84), ("update", 2.536, 3.84), ("update", 2.536, None)],
    ]
    assert [act.frames[0].text.split(":")[0] for act in acts] == ["x = 4.", "x = 3.4", "x = 2.92"]


def test_gradients_add_up_over_two_calls(library):
    first, second = Report(traced(CELLS[7], library), lang="en").acts[:2]
    assert [grad for _, _, grad in shown(first, "x")] == [None, 0.6]
    assert [grad for _, _, grad in shown(second, "x")] == [None, 0.6, 1.2]


@pytest.mark.parametrize(
    "write", ["x.data = x.data - 1", "x.data -= 1", "opt.step()", "torch.no_grad()(lambda: x.sub_(1))()"]
)
def test_every_form_of_a_write_is_seen(write, library):
    source = (
        "x = torch.tensor(5.0, requires_grad=True)\nopt = torch.optim.SGD([x], lr=1.0)\n"
        f"(x * 1).backward()\n{write}\n"
    )
    (act,) = Report(traced(source, library), lang="en").acts
    assert shown(act, "x")[-1] == ("update", 4.0, 1.0)


def test_parameters_inside_a_closed_box_change_too(library):
    source = (
        "torch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.Tanh())\n"
        "opt = torch.optim.SGD(net.parameters(), lr=1.0)\n"
        "net(torch.ones(1, 1)).sum().backward()\nopt.step()\n"
    )
    (act,) = Report(traced(source, library), lang="en").acts
    parts = {part for frame in act.frames for part, _ in frame.shows}
    assert {part.rpartition("-")[2] for part in parts} == {"p0", "p1"}
    rows = act.picture.usual.stood()  # a strip has no rows of parameters
    assert rows.keys() == parts and all(len(said) == 3 for said in rows.values())


def test_what_does_not_change_has_one_moment(library):
    (act,) = Report(traced("x = torch.ones(2, requires_grad=True)\ny = x * 2\n", library), lang="en").acts
    assert content(act)["stood"] == {} and not any(frame.shows for frame in act.frames)


def test_moments_are_those_of_the_events(library):
    moments = TraceIndex(traced(DESCENT, library)).moments
    tensor = max(moments.of, key=lambda id: len({state.value for _, state in moments.of[id]}))
    values = [number(state.value) for _, state in moments.of[tensor]]
    assert values == sorted(values, reverse=True) and values[0] == 4.0
    assert moments.at(tensor, -1) is None
    time, state = moments.of[tensor][2]
    assert moments.at(tensor, time) is state and moments.last(tensor) is moments.of[tensor][-1][1]


@pytest.mark.parametrize(
    "source",
    [
        # a result whose gradient is a sum, and whose numbers change without a new tensor
        "x = torch.tensor(3.0, requires_grad=True)\ny = x * 2\nz = y * 3 + y * 5\ny.data.mul_(2)\n"
        "z.backward()\n",
        # a tensor that requires no gradient and has one for a while
        "x = torch.tensor(3.0)\nx.grad = torch.tensor(1.0)\nw = torch.ones(1, requires_grad=True)\n"
        "z = w * x\nz.backward()\nx.grad = None\n",
    ],
)
def test_a_card_has_the_same_rows_at_all_its_moments(source, library):
    report = Report(traced(source, library), lang="en")
    (act,) = report.acts
    stations = act.picture.graph.stations
    moments = {f"{s.id}-c{i}": len(card.stood) for s in stations for i, card in enumerate(s.cards)}
    stood = content(act)["stood"]
    rows = {row: said for row, said in stood.items() if not row.endswith("-n")}
    assert rows and all(len(said) == moments[row.rpartition("-")[0]] for row, said in rows.items())
    assert report.html()


def test_a_result_that_is_written_to_shows_both_values(library):
    source = "x = torch.tensor(3.0, requires_grad=True)\ny = x * 2\nz = y + 1\ny.data.mul_(2)\nz.backward()\n"
    (act,) = Report(traced(source, library), lang="en").acts
    assert [value for _, value, _ in shown(act, "y")] == [6.0, 12.0]
