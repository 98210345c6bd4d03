"""Live values: a cell computed again with another number is the cell as it would be with that number."""

from __future__ import annotations

import random
from functools import partial

import pytest
from cells import CELLS
from random_live import random_cell
from tiers import examples

from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.replay import watch
from minigrad_viz.replay.derivation import program_of
from minigrad_viz.replay.live import Live, ReplayRefusal
from minigrad_viz.replay.program import Program
from minigrad_viz.shell.run import trace_source

PROGRAMS = 500


def recorded(source, library, **namespace):
    """The trace of a cell, its program, and its namespace."""
    space = {"torch": library, **namespace}
    watched = watch(source, space)
    error = None
    try:
        exec(compile(source, "<cell>", "exec"), space)
    except Exception as raised:
        error = raised
    return *watched.stop(error), space


def live(source, library, **namespace):
    trace, program, _ = recorded(source, library, **namespace)
    return Live(trace, program, "en")


DOCUMENTED = CELLS[9]


class TestExactness:
    def test_random_cells(self, library, capsys):
        """Each live state is the trace of a fresh run with that number, or is refused where the run would
        take another way."""
        states = refused = 0
        for seed in range(examples(PROGRAMS)):
            source, numbers, names = random_cell(seed)
            trace, program, _ = recorded(source, library, **numbers)
            if trace.error:
                continue
            try:
                cell = Live(trace, program, "en")
            except ReplayRefusal as no:
                assert trace.events and "does not" not in str(no), (seed, source, no)
                refused += 1
                continue
            chance = random.Random(seed)
            place = chance.randrange(3)
            value = round(chance.uniform(-3, 3), 3)
            fresh, _, _ = recorded(source, library, **{**numbers, f"n{place}": value})
            try:
                now = cell.at({names[place]: value})
            except ReplayRefusal:
                assert way(fresh) != way(trace), (seed, source)
                continue
            assert now == fresh, (seed, source)
            states += 1
        assert states > 0.7 * examples(PROGRAMS) and refused <= 0.1 * examples(PROGRAMS)


def way(trace):
    """Which statements ran, and what they did."""
    return [(type(event).__name__, getattr(event, "span", None)) for event in trace.events]


CUSTOM = """\
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        return t * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

x = torch.tensor(1.0, requires_grad=True)
y = Twice.apply(x)
y.backward()
"""
OPTIMIZER = """\
x = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([x], lr=0.1)
(x * x).backward()
opt.step()
"""
HOOK = """\
x = torch.tensor(1.0, requires_grad=True)
y = x * 2
y.register_hook(lambda g: g * 3)
y.backward()
"""
REFUSED = {
    "a number left and came back": (
        "x = torch.tensor(2.0, requires_grad=True)\ny = x * x.item()\ny.backward()",
        "line 2 takes numbers out",
    ),
    "an array left and came back": (
        "x = torch.tensor([2.0, 1.0], requires_grad=True)\n"
        "y = x * torch.tensor(x.detach().numpy() * 2)\ny.sum().backward()",
        "line 2 takes numbers out",
    ),
    "a number came back from a list": (
        "x = torch.tensor(2.0, requires_grad=True)\nkept = []\nkept.append(x.item())\n"
        "y = x * kept[0]\ny.backward()",
        "line 4 uses kept",
    ),
    "a number came back from a list of another name": (
        "x = torch.tensor(2.0, requires_grad=True)\nkept = {'a': []}\nseen = kept\n"
        "kept['a'].append(x.item())\nif sum(seen['a']) > 1:\n    y = x * 2\ny.backward()",
        "line 3 uses kept",
    ),
    "a list that another name was given with": (
        "x = torch.tensor(2.0, requires_grad=True)\nkept = seen = []\nkept.append(x.item())\n"
        "y = x * seen[-1]\ny.backward()",
        "line 4 uses seen",
    ),
    "a list with a method of the user's": (
        "class Kept(list):\n    def append(self, number):\n        self.y = x * number\n"
        "x = torch.tensor(2.0, requires_grad=True)\nkept = Kept()\nkept.append(x.item())\nkept.y.backward()",
        "line 6 takes numbers out",
    ),
    "a print of the user's": (
        "def print(number):\n    global y\n    y = x * number\n"
        "x = torch.tensor(2.0, requires_grad=True)\nprint(x.item())\ny.backward()",
        "line 5 takes numbers out",
    ),
    "a custom Function": (CUSTOM, "Twice"),
    "a hook": (HOOK, "hook"),
    "an optimizer": (OPTIMIZER, "optimizer"),
    "an error": ("x = torch.tensor(2.0, requires_grad=True)\ny = x * 2\ny.backwards()", "error"),
    "many operations": (
        "x = torch.tensor(2.0, requires_grad=True)\ny = x\nfor i in range(400):\n    y = y * 1.0\n",
        "more than 300 operations",
    ),
    "no leaf": ("x = torch.tensor([1, 2])\ny = x * 2", "no small leaf"),
    "nothing": ("x = 5", "No operation of this cell"),
    "forward mode": (
        "import contextlib\nx = torch.tensor(2.0, requires_grad=True)\n"
        "with torch.inference_mode():\n    y = x * 2\nz = x * 3\nz.backward()",
        "inference",
    ),
}


@pytest.mark.quick
class TestRefused:
    @pytest.mark.parametrize("case", REFUSED)
    def test_a_cell(self, library, case):
        source, said = REFUSED[case]
        with pytest.raises(ReplayRefusal, match=said):
            live(source, library)

    def test_numbers_that_are_only_read_hinder_nothing(self, library, capsys):
        source = (
            "kept, by_name = [], {'a': []}\nx = torch.tensor(2.0, requires_grad=True)\n"
            "kept.append(x.item())\nby_name['a'].append((x * 2).item())\nkept.append(kept[-1])\n"
            "print(f'{x.item():.2f}', kept, len(kept))\nplot.plot(kept, by_name['a'])\n"
            "y = x * 2\ny.backward()\nkept\n"
        )
        plot = type("Axes", (), {"plot": lambda *_: None, "__module__": "matplotlib.axes"})()
        cell = live(source, library, plot=plot)
        assert dict(ends(cell.at({"x": 4.0})))["y"].value.items == (8.0,)
        assert capsys.readouterr().out == "2.00 [2.0, 2.0] 2\n"

    def test_a_tensor_with_a_history_from_before(self, library):
        before = library.tensor(2.0, requires_grad=True) * 3
        with pytest.raises(ReplayRefusal, match="another cell"):
            live("x = torch.tensor(2.0, requires_grad=True)\n(x * t).backward()", library, t=before)

    def test_a_name_that_is_no_leaf(self, library):
        with pytest.raises(ReplayRefusal, match="is called z; there are: x"):
            live(DOCUMENTED, library).at({"z": 1.0})

    def test_several_at_once(self, library):
        leaves = "x = torch.tensor([1.0, 2.0], requires_grad=True)\nw = torch.ones((), requires_grad=True)\n"
        cell = live(leaves + "z = (x * x).sum() * w\nz.backward()", library)
        now = dict(ends(cell.at({"x[0]": 2.0, "x[1]": 3.0, "w": 0.5})))
        assert now["x"].grad.items == (2.0, 3.0) and now["w"].grad.items == (13.0,)


BRANCH = """\
x = torch.tensor(3.0, requires_grad=True)
if x > 1.5:
    y = x * x
else:
    y = -x
y.backward()
"""


@pytest.mark.quick
class TestBranches:
    def test_the_same_way(self, library):
        cell = live(BRANCH, library)
        assert cell.branch("x", 2.0) is None
        assert dict(ends(cell.at({"x": 2.0})))["x"].grad.items == (4.0,)

    def test_another_way(self, library):
        cell = live(BRANCH, library)
        with pytest.raises(ReplayRefusal, match="line 2 was True and would be False"):
            cell.at({"x": 1.0})

    def test_where_it_turns(self, library):
        turns = live(BRANCH, library).branch("x", -2.0)
        assert turns.line == 2
        assert turns.far == pytest.approx(1.5, abs=1e-5) and turns.far < turns.near

    @pytest.mark.parametrize("question", ["x.item() > 1", "torch.equal(x, x * 1)", "int(x) == 3", "bool(x)"])
    def test_other_questions(self, library, question):
        source = BRANCH.replace("x > 1.5", question)
        if "item" in question:
            with pytest.raises(ReplayRefusal, match="line 2 takes numbers out"):
                live(source, library)
        else:
            assert dict(ends(live(source, library).at({"x": 3.5})))["x"].value.items == (3.5,)

    def test_a_whole_number_that_changes(self, library):
        with pytest.raises(ReplayRefusal, match="line 2 was 3 and would be 7"):
            live(BRANCH.replace("x > 1.5", "int(x) == 3"), library).at({"x": 7.25})


def ends(trace):
    """How the named tensors stand in the end."""
    return trace.events[-1].rows


@pytest.mark.quick
class TestUntouched:
    SOURCE = DOCUMENTED + "m = torch.nn.functional.dropout(x * torch.ones(4), 0.5)\nprint(z)\n"

    def test_namespace_output_and_random_numbers(self, library, capsys):
        library.manual_seed(1)
        trace, program, space = recorded(self.SOURCE, library)
        before, values = dict(space), {k: repr(v) for k, v in space.items() if k in "xywzm"}
        random_state = library.get_rng_state().tolist()
        capsys.readouterr()
        cell = Live(trace, program, "en")
        for value in (1.0, 2.5, 7.0):
            cell.at({"x": value})
        assert capsys.readouterr() == ("", "")
        assert space.keys() == before.keys() and all(space[key] is before[key] for key in before)
        assert {k: repr(v) for k, v in space.items() if k in "xywzm"} == values
        assert library.get_rng_state().tolist() == random_state
        assert library.is_grad_enabled()

    def test_a_program_keeps_no_tensor(self, library):
        import gc
        import weakref

        _, program, space = recorded(DOCUMENTED, library)
        kept = [weakref.ref(space[name]) for name in "xywz"]
        space.clear()
        gc.collect()
        assert program.steps and not any(reference() is not None for reference in kept)

    def test_after_the_cell_nobody_listens(self, library):
        _, program, space = recorded(DOCUMENTED, library)
        count = len(program.steps)
        space["x"] * 2
        assert len(program.steps) == count


@pytest.mark.quick
class TestNotes:
    """A program is made of the notes of a recording that nobody asked for it."""

    def test_a_recorder_is_enough(self, library):
        space = {"torch": library}
        recorder = Recorder(DOCUMENTED, space)
        recorder.start()
        exec(compile(DOCUMENTED, "<cell>", "exec"), space)
        trace = recorder.stop()
        program = Program(partial(program_of, recorder.cell))
        assert dict(ends(Live(trace, program, "en").at({"x": 4.0})))["x"].value.items == (4.0,)

    def test_the_same_is_recorded_with_live(self, library):
        source = f"{OPTIMIZER}opt.zero_grad()\nx.requires_grad_(False)\nbool(x)\nx.item()\n"
        found = []
        for rounds in (False, True):
            space = {"torch": library}
            watched = watch(source, space, rounds=rounds)
            exec(compile(source, "<cell>", "exec"), space)
            found.append(watched.stop()[0])
        assert found[0] == found[1]

    def test_backward_calls_that_are_not_kept(self, library):
        loop = "for _ in range(45):\n    x.grad = None\n    y = x * x\n    y.backward()\n"
        cell = live("x = torch.tensor(3.0, requires_grad=True)\n" + loop, library)
        assert cell.trace.skipped and dict(ends(cell.at({"x": 2.0})))["x"].grad.items == (4.0,)

    def test_larger_tensors_are_copied(self, library):
        source = (
            "x = torch.tensor(2.0, requires_grad=True)\ny = (x * t * torch.ones(5000)).sum()\ny.backward()"
        )
        cell = live(source, library, t=library.ones(5000))
        assert dict(ends(cell.at({"x": 3.0})))["y"].value.items == (15000.0,)
        with pytest.raises(ReplayRefusal, match="too large"):
            live(source.replace("5000", "300_000"), library, t=library.ones(300_000))

    def test_a_question_about_what_nobody_uses(self, library):
        source = (
            "x = torch.tensor(2.0, requires_grad=True)\nif t > 1 and bool(t):\n    y = x * t\ny.backward()"
        )
        assert dict(ends(live(source, library, t=library.tensor(3.0)).at({"x": 1.0})))["y"].value.items == (
            3.0,
        )


def test_the_report_of_the_cell_with_another_number(library):
    report, error = trace_source(f"import {library.__name__} as torch\n{DOCUMENTED}", lang="en")
    assert error is None and [(handle.name, handle.value) for handle in report.handles] == [("x", 5.0)]
    now = report.live(x=5.6)
    assert "10.768" in now.text() and "1.5357" in now.text()
    assert "10.768" not in report.text() and "1.5357" not in report.text()
    assert "1.5357" in now.picture.svg()
    with pytest.raises(ValueError, match="is called y"):
        report.live(y=1.0)


def test_parameters_of_a_module_have_handles():
    torch = pytest.importorskip("torch")
    source = (
        "lin = torch.nn.Linear(2, 1)\nx = torch.tensor([[1.0, 2.0]])\nloss = torch.tanh(lin(x)).sum()\n"
        "loss.backward()"
    )
    cell = live(source, torch)
    assert list(cell.handles) == ["lin.weight[0, 0]", "lin.weight[0, 1]", "lin.bias[0]"]
    now = cell.at({"lin.bias[0]": 0.5})
    assert now.names == cell.trace.names
