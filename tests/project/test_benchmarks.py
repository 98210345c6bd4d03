"""The benchmarks run, compare gradients before they time, and do without engines that are not installed.

How long anything takes is not judged here.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
PACKAGES = {"PyTorch": "torch", "micrograd": "micrograd", "MyGrad": "mygrad", "HIPS autograd": "autograd"}

LETTERED = [*"abcdefghijk"]
FIGURES = ["c'", "l", "m", "n", "o"]
ABLE = {  # the rows with a letter that each engine has
    "PyTorch": "abcdefghijk",
    "micrograd": "acde",
    "MyGrad": "acdefghik",
    "HIPS autograd": "abcdefghjk",
    "NumPy by hand": "abcdefghijk",
}

# An engine as micrograd is, for the workloads' operators; FAULT is put into the derivative of a product.
VALUE = """
class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data, self.grad, self._backward, self._prev = data, 0.0, lambda: None, _children

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))
        def _backward():
            self.grad += other.data * out.grad FAULT
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def backward(self):
        order, seen = [], set()
        def visit(v):
            if v not in seen:
                seen.add(v)
                for child in v._prev:
                    visit(child)
                order.append(v)
        visit(self)
        self.grad = 1.0
        for v in reversed(order):
            v._backward()
"""


def run(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`python benchmarks/run.py --smoke` with more arguments; modules in `path` go before installed ones."""
    return python(str(BENCHMARKS / "run.py"), "--smoke", *arguments, path=path)


def python(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env=environment, text=True, capture_output=True, encoding="utf-8", timeout=240, check=False
    )


def cells_of(markdown: str) -> list[list[str]]:
    """The cells of every line of a table, but for the line under the head."""
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "---" not in line]


def names_of_programs(names: str = "programs.NAMES") -> list[str]:
    """The rows of programs, in the order of the files: each file lists them at its end."""
    module = names.partition(".")[0]
    done = python(
        "-c", f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import {module}; print(*{names})"
    )
    return done.stdout.split()


LARGE = "large_programs.LARGE_NAMES"


def hide(path: Path, *packages: str) -> Path:
    """Modules in `path` that raise, as imports of what is not installed do."""
    for package in packages:
        (path / f"{package}.py").write_text(f"raise ModuleNotFoundError({package!r})\n", encoding="utf-8")
    return path


def pretend_micrograd(path: Path, fault: str) -> Path:
    """A package `micrograd` in `path`, with metadata as if installed; the other engines are hidden."""
    hide(path, "torch", "mygrad", "autograd")
    (path / "micrograd").mkdir()
    (path / "micrograd" / "__init__.py").touch()
    (path / "micrograd" / "engine.py").write_text(VALUE.replace("FAULT", fault), encoding="utf-8")
    about = path / "micrograd-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: micrograd\nVersion: 0.1.0\n", encoding="utf-8"
    )
    return path


@pytest.mark.full
def test_every_row_runs_and_all_installed_engines_agree(tmp_path):
    done = run("--json", str(tmp_path / "figures.json"), "--markdown", str(tmp_path / "table.md"))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert found["remarks"] == [], "no engine stumbled"
    timed = list(dict.fromkeys(row["key"].split()[0] for row in found["rows"]))
    assert timed == [*LETTERED, *names_of_programs(), *names_of_programs(LARGE)]
    assert list(dict.fromkeys(figure["row"] for figure in found["figures"])) == FIGURES

    absent = [name for name, package in PACKAGES.items() if importlib.util.find_spec(package) is None]
    assert found["missing"] == absent
    for row in found["rows"]:
        letter, _, variant = row["key"].partition(" ")
        expected = {name for name, rows in ABLE.items() if letter in rows} - set(absent)
        if letter == "e":
            expected -= {"NumPy by hand"} if variant == "scalars" else {"micrograd"}
        elif letter == "j" and not variant.endswith("functional"):
            expected -= {"HIPS autograd"}
        elif letter not in LETTERED:
            expected = {"PyTorch"} - set(absent)
        assert {*row["ratios"]} == expected, row["key"]
        assert all(0 < r["low"] <= r["median"] <= r["high"] for r in row["ratios"].values())

    table = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert table == done.stdout
    in_table = dict.fromkeys(cells[0] for cells in cells_of(table) if cells[0])
    assert list(in_table) == [*timed, *(name.replace("'", "′") for name in FIGURES)]
    assert "issed" not in table and "goal met" not in table


@pytest.mark.full
@pytest.mark.parametrize(("group", "names"), [("learners", "programs.NAMES"), ("large", LARGE)])
def test_programs_run_and_agree_with_pytorch(group, names):
    pytest.importorskip("torch")
    done = run("--rows", group, "--clock", "cpu")
    assert (done.returncode, done.stderr) == (0, "")
    head, *body = cells_of(done.stdout)
    assert head == ["", "workload", "minigrad", "÷ PyTorch"]
    assert [cells[0] for cells in body] == names_of_programs(names)
    assert "cannot run" not in done.stdout


@pytest.mark.full
def test_each_gain_can_be_switched_off():
    done = python(str(BENCHMARKS / "without.py"), "--smoke", "--rounds", "1", "--rows", "a,j")
    assert (done.returncode, done.stderr) == (0, "")
    head, *body = cells_of(done.stdout)
    gains = ["closures that call", "closures that apply", "prepared context"]
    assert head == ["workload", *(f"without {gain}" for gain in gains)]
    assert len(body) == 7
    assert all(cell.endswith(" ×") for cells in body for cell in cells[1:])


@pytest.mark.full
def test_without_any_other_engine(tmp_path):
    done = run("--rows", "a,c,e,i,l", path=hide(tmp_path, *PACKAGES.values()))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "Not installed: PyTorch, micrograd, MyGrad, HIPS autograd."
    head, *body = cells_of(done.stdout)
    assert head == ["", "workload", "minigrad", "÷ NumPy by hand"]
    assert [cells[0] for cells in body] == ["a", "c", "c", "e", "e", "i", "", *"llll"]
    assert str(ROOT) not in done.stdout


def test_one_short_table(tmp_path):
    done = run("--rows", "a,g", "--short", path=hide(tmp_path, *PACKAGES.values()))
    assert (done.returncode, done.stderr) == (0, "")
    head, *body = cells_of(done.stdout)
    assert head == ["", "workload", "minigrad", "÷ NumPy by hand"]
    assert [cells[0] for cells in body] == ["a", "g", "g", "g"]
    assert all(float(cells[3]) > 0 for cells in body)


@pytest.mark.full
def test_a_table_goes_into_a_page_between_its_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- run.py -->\nold\n<!-- end of run.py -->\nafter\n", encoding="utf-8")
    path = hide(tmp_path, *PACKAGES.values())
    done = run("--rows", "a,points", "--page", str(page), path=path)
    assert (done.returncode, done.stderr) == (0, "")
    assert [cells[0] for cells in cells_of(done.stdout)] == ["", "a", "", "points"]
    expected = f"before\n<!-- run.py -->\n\n{done.stdout}\n<!-- end of run.py -->\nafter\n"
    assert page.read_text(encoding="utf-8") == expected

    page.write_text("<!-- end of run.py -->", encoding="utf-8")
    done = run("--rows", "a", "--page", str(page), path=path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "page.md has no <!-- run.py --> … <!-- end of run.py -->" in done.stderr


@pytest.mark.parametrize(
    "page, names", [("docs/benchmarks.md", ["run.py"]), ("docs/speed.md", ["run.py", "without.py"])]
)
def test_pages_have_the_marks_of_their_tables(page, names):
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in names:
        part = text.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- end of {name} -->")
        assert part[1] and cells_of(part[0])[1:]


@pytest.mark.full
def test_a_long_chain_is_freed_without_the_cycle_collector(tmp_path):
    figures = tmp_path / "figures.json"
    done = run("--rows", "c'", "--json", str(figures), path=hide(tmp_path, "torch"))
    assert (done.returncode, done.stderr) == (0, "")
    size, left = json.loads(figures.read_text(encoding="utf-8"))["figures"]
    assert 50 < size["value"] < 1000
    assert left["value"] < 10


@pytest.mark.parametrize("fault, status", [("", 0), ("* 1.001", 1)])
def test_a_wrong_gradient_stops_the_run(tmp_path, fault, status):
    done = run("--rows", "c", path=pretend_micrograd(tmp_path, fault))
    assert done.returncode == status
    if status:
        assert done.stdout == ""
        assert done.stderr.startswith("The engines disagree. chain of 100 · number: minigrad has [1.01228")
        assert "micrograd has" in done.stderr
    else:
        assert (done.stderr, "÷ micrograd" in done.stdout) == ("", True)


WRONG = """
import sys
sys.path.insert(0, {benchmarks!r})
import engines, run
class Library:
    def __getattr__(self, name):
        return getattr(engines.importlib.import_module("minigrad"), "sin" if name == "tanh" else name)
def wrong():
    engine = engines.like_torch("wrong", "minigrad")
    engine.ops.tanh, engine.ops.library = engine.ops.exp, Library()
    return engine
engines.LOADERS["wrong"] = wrong
raise SystemExit(run.main(["--smoke", "--rows", {rows!r}]))
"""


@pytest.mark.full
@pytest.mark.parametrize(
    "wrong, right, title",
    [
        ("f,g", "f,h", "x·a+b, exp, tanh, sum on 10"),
        ("neuron", "points", "two inputs, tanh, one output, every intermediate gradient kept"),
    ],
)
def test_an_adapter_that_is_wrong_stops_the_run(tmp_path, wrong, right, title):
    path = hide(tmp_path, *PACKAGES.values())
    first, second = (
        python("-c", WRONG.format(benchmarks=str(BENCHMARKS), rows=rows), path=path)
        for rows in (wrong, right)
    )
    assert (first.returncode, first.stdout) == (1, "")
    assert f"The engines disagree. {title}: minigrad has" in first.stderr
    assert (second.returncode, second.stderr) == (0, "")
    assert "÷ wrong" in second.stdout


@pytest.mark.full
def test_an_engine_that_cannot_run_a_workload_is_named(tmp_path):
    # The pretended engine has no powers and no sums.
    done = run("--rows", "a,d", path=pretend_micrograd(tmp_path, ""))
    assert (done.returncode, done.stderr) == (0, "")
    assert "micrograd cannot run “tutorial graph log(x³)”: TypeError." in done.stdout
    assert "micrograd cannot run “DAG of 1,000 scalars, fan-out 2”: TypeError." in done.stdout


JUDGED = """
import sys
sys.path.insert(0, {benchmarks!r})
import run
from figures import Figure
from tables import figure_table, ratio_table
from timing import Row, Spread
def row(key, **ratios):
    ratios = {{name.replace("_", " "): Spread(ratio, ratio, ratio) for name, ratio in ratios.items()}}
    return Row(key, "title", 1, {{"minigrad": Spread(2e-6, 2e-6, 2e-6)}}, ratios)
rows = [
    row("a", PyTorch=0.14, NumPy_by_hand=9.0),
    row("c leaf 1000", PyTorch=0.25),
    row("d", PyTorch=0.3),
    row("f", PyTorch=2.0, NumPy_by_hand=1.2),
    row("j Jacobian loop", PyTorch=0.5),
    row("points", PyTorch=1.1),
    row("h", PyTorch=1.5),
]
size, unknown = Figure("c'", "", 230.0, "B", 260, 210, 1200.0), Figure("l", "", None, "s", 1, 1)
figures = [size, unknown, Figure("n", "slow", 3, "s", 2)]
print(ratio_table(rows, True))
print(figure_table(figures, True))
print(*run.missed(run.Found({{}}, rows, figures)))
"""


def test_what_must_hold_and_what_is_aimed_at_stand_in_the_table():
    done = python("-c", JUDGED.format(benchmarks=str(BENCHMARKS)))
    assert (done.returncode, done.stderr) == (0, "")
    found = cells_of(done.stdout)
    assert found[0] == ["", "workload", "minigrad", "÷ PyTorch", "÷ NumPy by hand", "must / goal", ""]
    assert found[1][2:] == ["2 µs", "0.14 (0.14–0.14)", "9 (9–9)", "0.22 / 0.16", "goal met"]
    assert found[2][3:] == ["0.25 (0.25–0.25)", "—", "0.27 / 0.2", "holds"]
    assert found[3][5:] == ["0.28 / 0.2", "**missed**"]
    assert found[4][5:] == ["1.3 / 1.1 × NumPy by hand", "holds"]
    assert found[5][5:] == ["0.45 / 0.25", "**missed**"]
    assert found[6][5:] == ["1 / 0.7", "**missed**"]
    assert found[7][5:] == ["1.08 / 1.02 × NumPy by hand", ""]
    assert found[9] == ["c′", "", "230 B", "1,200 B", "260 B / 210 B", "holds"]
    assert found[10] == ["l", "", "—", "—", "1 s / 1 s", ""]
    assert "Missed: d; j Jacobian loop; points; n (slow)." in done.stdout


@pytest.mark.sample(1)
@pytest.mark.parametrize("wrong", [("--rows", "a,z"), ("--rounds", "0")])
def test_a_wrong_command_line(wrong):
    done = run(*wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such row: z" in done.stderr or "at least one round" in done.stderr
