"""Why the queue, and no plain recursion: what is claimed of such a recursion, against one that is run."""

from __future__ import annotations

import pytest
from cells import CELLS, CUBE, MY_POW, run, traced
from staged import build, scene_of
from stepping import frames

import minigrad
from minigrad_viz.flow.engine import recursion_of
from minigrad_viz.model.views import Stage
from minigrad_viz.player.score import frames_to_json
from minigrad_viz.shell.report import Report

LEAF = "x = torch.tensor(2.0, requires_grad=True)\n"
CASES = {
    "code 9": CELLS[9],
    "two uses of a result": LEAF + "y = x * x\nz = y * 3 + y * 5\nz.backward()\n",
    "the other way round": LEAF + "y = x * x\nz = y * 5 + y * 3\nz.backward()\n",
    "a square": LEAF + "y = x * 3\nz = y * y\nz.backward()\n",
    "a square of a square": LEAF + "y = x * x\nw = y * y\nz = w * w\nz.backward()\n",
    "two diamonds": LEAF + "a = x ** 2\nb = a.log() + a.sqrt()\nc = b * 2 - b ** 2\nc.backward()\n",
    "two leaves": LEAF
    + "q = torch.tensor(3.0, requires_grad=True)\ny = x * q\nz = y ** 2 + y * q\nz.backward()\n",
    "one path": CUBE + "z.backward()\n",
    "a loop": LEAF + "y = x\nfor i in range(6):\n    y = y * 0.5 + y * 0.25\ny.backward()\n",
    "a given gradient": LEAF + "y = x * x\nz = y * 3 + y * 5\nz.backward(torch.tensor(0.5))\n",
}


class Naive:
    """Plain recursion over the nodes of a graph: it adds what comes in to what the node has, and sends the
    sum on, at once."""

    def __init__(self):
        self.runs, self.held = {}, {}

    def visit(self, node, gradient):
        key = node.variable if hasattr(node, "variable") else node
        self.runs[key] = self.runs.get(key, 0) + 1
        self.held[key] = (self.held.get(key, 0.0) + gradient).detach()
        if hasattr(node, "variable"):
            return
        sent = node(self.held[key])
        for (after, _), value in zip(node.next_functions, sent if isinstance(sent, tuple) else (sent,)):
            if after is not None and value is not None:
                self.visit(after, value)


def claimed(cell, library, call=None):
    """What is claimed of a cell, and the wrong numbers by the names of the leaves."""
    trace = traced(cell, library)
    scene = scene_of(trace, call)
    stage, found = Stage(scene, scene.graph, "en"), recursion_of(scene)
    wrong = {} if found is None else {stage.name(leaf): told for leaf, told in found.wrong.items()}
    return found, wrong


@pytest.mark.parametrize("case", CASES)
def test_against_a_recursion_that_is_run(library, case):
    cell = CASES[case]
    found, claims = claimed(cell, library)
    names = run(cell.rpartition("\n")[0].rsplit("\n", 1)[0] + "\n", library, watched=False).names
    root = names[cell.strip().splitlines()[-1].partition(".")[0]]
    naive = Naive()
    naive.visit(root.grad_fn, library.tensor(0.5 if "0.5))" in cell else 1.0))
    assert sorted(found.times.values()) == sorted(naive.runs.values())
    leaves = {name: tensor for name, tensor in names.items() if name in "xq" and tensor is not None}
    right = run(cell, library, watched=False).names
    for name, leaf in leaves.items():
        wrong = next(held.item() for key, held in naive.held.items() if key is leaf)
        same = wrong == pytest.approx(right[name].grad.item(), rel=1e-4)
        assert (name in claims) is not same
        if not same:
            assert claims[name][0] == pytest.approx(wrong, rel=1e-4)
            assert claims[name][1].items[0] == pytest.approx(right[name].grad.item())


def test_code_9(library):
    assert Report(traced(CELLS[9], library), lang="en").recursion.split("\n") == [
        "Plain recursion would run 7 nodes instead of 6: each node once for every path that leads to it.",
        "  AccumulateGrad at x: 2 times",
        "The queue runs each node once, when all its gradients have arrived.",
    ]


def test_a_wrong_number(library):
    told = Report(traced(CASES["two uses of a result"], library), lang="en").recursion
    assert "  MulBackward0 at y: 2 times\n  AccumulateGrad at x: 4 times\n" in told
    assert "\nx would get 44. instead of 32., if each node added every gradient" in told


def test_the_player_gets_it_beside_the_queue():
    trace = traced(CELLS[9])
    steps, graph = frames(CELLS[9]), build(trace)
    last = list(frames_to_json(steps, graph))[-1]
    assert last[9] == steps[-1].recursion
    assert not any("recursion" in line[0] for line in last[4]), "only with the queue"


@pytest.mark.parametrize("code", [4, 10, 13])
def test_where_no_paths_meet(library, code):
    assert not any(frame.recursion for frame in frames(CELLS[code], library))
    assert "No paths meet" in Report(traced(CELLS[code], library), lang="en").recursion


@pytest.mark.parametrize("code", [1, 6, 12])
def test_without_a_completed_call_nothing_is_claimed(library, code):
    assert claimed(CELLS[code], library) == (None, {})
    assert Report(traced(CELLS[code], library), lang="en").recursion.startswith("There is no completed")


@pytest.mark.parametrize(
    "cell",
    [
        "y.register_hook(lambda g: g * 2)\nz.backward()\n",  # a hook changed it
        "torch.autograd.grad(z, x)\n",  # nothing comes into `.grad`
        "z.backward(inputs=[x])\n",
    ],
)
def test_uncertain_numbers_are_left_out(library, cell):
    found, wrong = claimed(LEAF + "y = x * x\nz = y * 3 + y * 5\n" + cell, library)
    assert wrong == {} and 2 in found.times.values(), "the paths are certain"


def test_no_numbers_for_arrays_zeros_and_custom_functions(library):
    array = "x = torch.tensor([2.0, 1.0], requires_grad=True)\ny = x * x\n"
    array += "z = (y * 3 + y * 5).sum()\nz.backward()\n"
    nothing = LEAF + "y = x * x\nz = (y * 3 + y * 5) * 0\nz.backward()\n"
    own = MY_POW + LEAF + "y = MyPow.apply(x, x)\nz = y * 3 + y * 5\nz.backward()\n"
    for cell in (array, nothing, own):
        found, wrong = claimed(cell, library)
        assert wrong == {} and max(found.times.values()) > 1


def test_too_many_paths_are_not_walked(library):
    loop = LEAF + "y = x\nfor i in range(200):\n    y = y * 0.5 + y * 0.5\ny.backward()\n"
    found, wrong = claimed(loop, library)
    assert wrong == {} and max(found.times.values()) == 2**200
    told = Report(traced(loop, library), lang="en").recursion
    assert "would run ≥ 1000000000 nodes instead of 601" in told and "… 188 more nodes" in told


def test_it_is_told_in_korean():
    told = Report(traced(CASES["two uses of a result"]), lang="ko").recursion
    assert "y의 MulBackward0: 2번" in told and "44." in told


def test_a_call_inside_the_graph_of_the_gradient():
    cell = LEAF + "y = x * x\nz = y * y\nz.backward(create_graph=True)\ng, = torch.autograd.grad(x.grad, x)\n"
    found, wrong = claimed(cell, minigrad, 1)
    assert [times for node, times in found.meets.items()] == [2, 4] and list(wrong) == ["x"]
