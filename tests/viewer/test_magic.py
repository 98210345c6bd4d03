"""%%autograd in a real InteractiveShell."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cells import CELLS
from IPython.core.interactiveshell import InteractiveShell

from minigrad_viz import last
from minigrad_viz.shell.options import OPTIONS

pytestmark = pytest.mark.quick

pytest_plugins = ["magic_shell"]


def registered(shell: InteractiveShell) -> tuple[int, ...]:
    """How many magics, transformers, event callbacks and hooks there are."""
    magics = shell.magics_manager.magics
    events = shell.events.callbacks
    return (
        len(magics["line"]), len(magics["cell"]), len(shell.input_transformer_manager.line_transforms),
        len(events["pre_run_cell"]), len(events["post_run_cell"]), len(shell.configurables),
        len(sys.meta_path),
    )  # fmt: skip


def test_loading_reloading_unloading(shell):
    loaded = registered(shell)
    shell.run_cell("%load_ext minigrad_viz")
    shell.run_cell("%reload_ext minigrad_viz")
    shell.run_cell("%reload_ext minigrad_viz")
    assert registered(shell) == loaded
    shell.run_cell("%unload_ext minigrad_viz")
    bare = registered(shell)
    # %%autograd and %%doctor, the cells that run without them, and whether treescope has been imported.
    assert [a - b for a, b in zip(loaded, bare)] == [2, 2, 2, 2, 3, 1, 0]
    assert "autograd" not in shell.magics_manager.magics["cell"]
    shell.run_cell("%load_ext minigrad_viz")
    assert registered(shell) == loaded


def test_output_comes_first_then_the_picture_then_the_table(shell, cell):
    shown = cell("%%autograd\n" + CELLS[4] + "x.grad")
    marks = [
        "tensor(0.6000)\nOut[",
        "z = log(y)   4.8283   root",
        "PowBackward0",
        "x   5.   leaf   grad 0.6",
        "before backward  after backward",
    ]
    places = [shown.index(mark) for mark in marks]
    assert places == sorted(places)
    assert shell.user_ns["x"].grad.item() == pytest.approx(0.6)
    assert shell.user_ns["_"] is shell.user_ns["x"].grad


def test_the_graph_stands_under_the_error(shell, cell):
    shown = cell("%%autograd\n" + CELLS[6])
    error = shown.index("RuntimeError: Trying to backward through the graph a second time")
    assert (
        error
        < shown.index("The graph up to the error")
        < shown.index("z = log(y)")
        < shown.index("\nerror: RuntimeError: Trying to backward through the graph a second time")
        < shown.index("\nwhy: z.backward() (line 5) freed the values that LogBackward0 at z had saved")
        < shown.index("\nfix: ")
        < shown.index("after backward 1")
    )
    assert "z" in shell.user_ns


@pytest.mark.parametrize(
    "code, why",
    [
        pytest.param(
            1, "No tensor in this cell requires gradients", id="1-No tensor here asks for gradients"
        ),
        pytest.param(
            2, "No tensor in this cell requires gradients", id="2-No tensor here asks for gradients"
        ),
        pytest.param(
            3, "No tensor in this cell requires gradients", id="3-No tensor here asks for gradients"
        ),
        (12, "Computed under no_grad(): y, z."),
    ],
)
def test_a_cell_without_a_graph_says_why(cell, code, why):
    shown = cell("%%autograd\n" + CELLS[code])
    assert why in shown and "z = log(y)   4.8283" in shown and "AccumulateGrad" not in shown


def test_a_cell_without_tensors(cell):
    assert "This cell created no tensor." in cell("%%autograd\na = 1\n")


def test_hangul(shell, cell):
    shown = cell(
        "%%autograd\n입력 = torch.tensor(3.0, requires_grad=True)  # 잎\n"
        "print('값: 아홉')\n결과 = 입력 ** 2\n결과.backward()\n"
    )
    assert (
        "값: 아홉" in shown
        and "결과 = 입력 ** 2   9.   root" in shown
        and "입력   3.   leaf   grad 6." in shown
    )


def test_below_time(cell):
    shown = cell("%%time\n%%autograd\n" + CELLS[4])
    assert "Wall time" in shown and "z = log(y)   4.8283   root" in shown


def test_a_semicolon_silences(cell):
    shown = cell("%%autograd\nx = torch.tensor(2.0, requires_grad=True)\nx * 2;")
    assert "Out[" not in shown and "x * 2   4." in shown


def test_await(cell):
    source = (
        "import asyncio\nx = torch.tensor(2.0, requires_grad=True)\n"
        "await asyncio.sleep(0)\ny = x * 2\ny.backward()\n"
    )
    assert "y = x * 2   4.   root" in cell("%%autograd\n" + source)


def test_help(cell):
    shown = cell("%%autograd?")
    for option in OPTIONS:
        assert all(flag in shown for flag in (*option.flags, *option.switches))
    assert "roots" in shown and "%autograd on [options]" in shown and "%autograd traceback" in shown


@pytest.mark.parametrize(
    "line, problem",
    [
        ("--bogus", "unknown option or argument: --bogus."),
        ("--max-nodes 0", "--max-nodes must be a whole number, at least 1, not 0."),
        ("--step --no-graph", "--step and --no-graph cannot be used together."),
        ("-o graph.svg -o graph.jpg", "--output graph.jpg: the name must end in one of .html, .svg"),
    ],
)
def test_bad_options_fail_the_cell_and_leave_it_unrun(shell, cell, line, problem):
    shown = cell(f"%%autograd {line}\nran = True\n")
    assert shown.startswith("UsageError: %%autograd: ") and shown.count("\n") == 1 and problem in shown
    assert "ran" not in shell.user_ns and not list(Path().glob("graph*"))
    assert "z = log(y)" in cell("%%autograd\n" + CELLS[4]), "the next cell works"


def test_a_variable_that_is_not_there(shell, cell):
    """A message names it, and the rest is drawn."""
    shown = cell("%%autograd nope\n" + CELLS[4])
    assert "no tensor of this cell is called 'nope'; there are: x, y, z" in shown and "x" in shell.user_ns
    assert (
        "Did you mean" not in shown and "z = log(y)   4.8283   root" in shown and "before backward" in shown
    )


def test_a_misspelt_variable(cell):
    source = CELLS[4] + "loss = x * 2\nrest = x * 3\n"
    shown = cell("%%autograd los\n" + source)
    assert "there are: x, y, z, loss, rest. It is left out. Did you mean loss?" in shown
    assert all(f"{name} = x * " in shown for name in ("loss", "rest"))
    shown = cell("%%autograd los rest\n" + source)
    assert "Did you mean loss?" in shown and "rest = x * 3" in shown and "loss = x * 2" not in shown


@pytest.mark.parametrize(
    "line", ["%autograd", "%autograd --help", "%%autograd --help\nran = True", "%%autograd -h z"]
)
def test_help_is_no_error(shell, cell, line):
    result = shell.run_cell(line)
    shown = cell(line)
    assert (
        result.success
        and "--max-nodes" in shown
        and "%autograd on [options]" in shown
        and "Error" not in shown
    )
    assert "ran" not in shell.user_ns


def test_a_traceback_shows_the_line_that_was_written(cell):
    shown = cell("%%autograd --lang en z\nx = 1\nx / 0\n")
    assert "1 %%autograd --lang en z\n      2 x = 1\n" in shown and "get_ipython" not in shown
    assert cell("def f():\n    return f.nothing\n").count("Error") == 0
    assert "get_ipython" not in cell("%%autograd\nf()\n")
    assert "get_ipython().run_line_magic('autograd', 'off')" in cell("%autograd off\n1 / 0"), (
        "another line magic"
    )


def test_a_syntax_error(shell, cell):
    cell("kept = 1")
    assert "SyntaxError" in cell("%%autograd\ny = )\n") and shell.user_ns["kept"] == 1


class TestOptions:
    def test_roots(self, cell):
        shown = cell("%%autograd w\n" + CELLS[9])
        assert "w = x ** 2" in shown and "y = x ** 3" not in shown

    def test_a_root_from_an_earlier_cell_shows_where_it_came_from(self, cell):
        cell(CELLS[9])
        shown = cell("%%autograd --no-table y\nu = y * 2\n")
        assert shown.index("y   125.") < shown.index("x   5.   leaf") and "u = y" not in shown

    def test_no_table_and_no_graph(self, cell):
        assert "before backward" not in cell("%%autograd --no-table\n" + CELLS[4])
        assert "root" not in cell("%%autograd --no-graph\n" + CELLS[4])
        assert cell("%%autograd --no-table --no-graph\n" + CELLS[4]) == "tensor(0.6000)\n"

    def test_language(self, cell):
        assert "backward 전" in cell("%%autograd --lang ko\n" + CELLS[4])

    def test_output(self, cell, tmp_path):
        cell("%%autograd -o graph.svg --output graph.html -o 'the trace.json' -o steps.txt\n" + CELLS[4])
        told = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.*")}
        assert told["graph.svg"].startswith("<svg") and told["graph.html"].startswith("<!DOCTYPE html>")
        assert '"BackwardStarted"' in told["the trace.json"] and "AccumulateGrad" in told["steps.txt"]

    def test_a_file_that_cannot_be_written_hides_nothing(self, cell, tmp_path):
        shown = cell("%%autograd -o nowhere/graph.svg -o graph.dot\n" + CELLS[4])
        assert "z = log(y)   4.8283   root" in shown
        assert "nowhere/graph.svg could not be written: " in shown and shown.count("could not") == 1
        assert (tmp_path / "graph.dot").exists()

    def test_max_nodes(self, cell):
        assert "The graph has 3 boxes, more than the 2 that are drawn." in cell(
            "%%autograd --max-nodes 2\n" + CELLS[4]
        )

    @pytest.mark.parametrize("option", ["--step", "--steps"])
    def test_steps_in_a_terminal(self, cell, option):
        shown = cell(f"%%autograd {option}\n" + CELLS[4])
        marks = ["z = log(y)   4.8283   root", "before backward", "forward 1 of 3", "backward 3 of 3"]
        places = [shown.index(mark) for mark in marks]
        assert places == sorted(places) and "0.008 · 75 = 0.6" in shown

    def test_no_graph_but_steps(self, cell):
        shown = cell("%%autograd --no-graph --no-table --steps\n" + CELLS[4])
        assert "z = log(y)   4.8283   root" not in shown and "before backward  after" not in shown
        assert "backward 3 of 3" in shown

    def test_detail_and_style(self, cell):
        assert "root" in cell("%%autograd --detail full --style graphviz\n" + CELLS[4])

    def test_on_and_off(self, cell):
        cell("%autograd on --no-table")
        assert "z = log(y)   4.8283   root" in cell(CELLS[4])
        assert cell("a = 1") == ""
        cell("%autograd off")
        assert cell(CELLS[4]) == "tensor(0.6000)\n"

    def test_on_with_a_wrong_option(self, cell):
        shown = cell("%autograd on --bogus")
        assert "UsageError: %autograd on: unknown option or argument: --bogus." in shown
        assert cell(CELLS[4]) == "tensor(0.6000)\n"


class TestPyTorch:
    def test_a_cell_that_uses_it(self, torch, cell):
        shown = cell("%%autograd\nimport torch\n" + CELLS[4])
        assert "LogBackward0   self 125. (freed)" in shown and "x   5.   leaf   grad 0.6" in shown

    def test_both_libraries_in_one_cell(self, torch, cell):
        source = (
            "import minigrad, torch as T\na = minigrad.ones((), requires_grad=True)\n"
            "b = T.ones((), requires_grad=True)\n"
        )
        shown = cell("%%autograd\n" + source + "c = a * 2\nd = b * 3\nc.backward()\nd.backward()\n")
        assert "backward call 2 of 2: d.backward()" in shown and "d = b * 3   3.   root" in shown


def test_the_same_cell_shows_the_same(cell):
    first = cell("%%autograd\n" + CELLS[18])
    assert cell("%%autograd\n" + CELLS[18]) == first and "0x" not in first


def test_cells_that_no_history_has_are_known(shell):
    """A program that runs a notebook may store no history: the cells before are known all the same."""
    shell.run_cell("class Net(torch.nn.Module):\n    def forward(self, x):\n        x * 2\nnet = Net()")
    shell.run_cell("%%autograd\nloss = net(torch.ones(2, requires_grad=True)).sum()")
    (told,) = last().explained
    assert told.fix.startswith("In [2], line 3, write `return x * 2`")
