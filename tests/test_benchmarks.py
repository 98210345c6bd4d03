"""The benchmarks run, compare gradients before they time, and do without engines that are not installed."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"PyTorch": "torch", "micrograd": "micrograd", "MyGrad": "mygrad", "HIPS autograd": "autograd"}

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
    """`python benchmarks/run.py --quick` with more arguments; modules in `path` go before installed ones."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--quick", *arguments]
    return subprocess.run(
        command, env=environment, text=True, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


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


def test_gradients_agree_with_every_installed_engine(tmp_path):
    done = run("--rows", "a,b,c,d", "--json", str(tmp_path / "figures.json"))
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert [row["row"] for row in figures["rows"]] == ["a", "b", "c", "c", "d"]
    assert figures["remarks"] == []
    absent = [name for name, package in PACKAGES.items() if importlib.util.find_spec(package) is None]
    assert figures["missing"] == absent
    compared = {"NumPy by hand", *PACKAGES} - set(absent)
    for row in figures["rows"]:
        expected = compared - ({"micrograd", "MyGrad"} if row["row"] == "b" else set())
        assert set(row["ratios"]) == expected
        assert set(row["seconds"]) == {"minigrad", *expected}
        assert all(0 < r["low"] <= r["median"] <= r["high"] for r in row["ratios"].values())


def test_without_any_other_engine(tmp_path):
    done = run("--rounds", "1", path=hide(tmp_path, *PACKAGES.values()))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == "Not installed: PyTorch, micrograd, MyGrad, HIPS autograd."
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
    assert cells[0][-2:] == ["minigrad", "÷ NumPy by hand"]
    assert [row[0] for row in cells[2:]] == ["a", "b", "c", "c", "d", "l"]
    assert str(ROOT) not in done.stdout


def test_recording_is_compared_with_not_recording(tmp_path):
    figures = tmp_path / "figures.json"
    done = run("--rows", "m", "--json", str(figures), path=hide(tmp_path, *PACKAGES.values()))
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(figures.read_text(encoding="utf-8"))["recording"]
    assert [(row["row"], row["ops"]) for row in rows] == [("m", 0), ("m", 0), ("m", 100)]
    for row in rows:
        assert row["seconds"]["recorded"] > row["seconds"]["unrecorded"] > 0
    lines = [line for line in done.stdout.splitlines() if line.startswith("m recording")]
    assert [line.endswith("an op more.") for line in lines] == [False, False, True]


def test_a_long_chain_is_freed_without_the_cycle_collector(tmp_path):
    figures = tmp_path / "figures.json"
    done = run("--rows", "c-memory", "--json", str(figures), path=hide(tmp_path, "torch"))
    assert (done.returncode, done.stderr) == (0, "")
    memory = json.loads(figures.read_text(encoding="utf-8"))["memory"]
    assert memory["minigrad"]["gradient"] == 1.0
    assert 50 < memory["minigrad"]["bytes"] < 1000
    assert memory["minigrad"]["freed"] > 0.9


@pytest.mark.parametrize("fault, status", [("", 0), ("* 1.001", 1)])
def test_a_wrong_gradient_stops_the_run(tmp_path, fault, status):
    done = run("--rows", "c", "--rounds", "1", path=pretend_micrograd(tmp_path, fault))
    assert done.returncode == status
    if status:
        assert done.stdout == ""
        assert done.stderr.startswith("The engines disagree. chain of 100 · number: minigrad has [1.01228")
        assert "micrograd has" in done.stderr
    else:
        assert (done.stderr, "÷ micrograd" in done.stdout) == ("", True)


def test_an_engine_that_cannot_run_a_workload_is_named(tmp_path):
    # The pretended engine has no powers and no sums.
    done = run("--rows", "a,d", "--rounds", "1", path=pretend_micrograd(tmp_path, ""))
    assert (done.returncode, done.stderr) == (0, "")
    assert "micrograd cannot run “tutorial graph log(x³)”: TypeError." in done.stdout
    assert "micrograd cannot run “DAG of 1,000 scalars, fan-out 2”: TypeError." in done.stdout


@pytest.mark.parametrize("wrong", [("--rows", "a,z"), ("--rounds", "0")])
def test_a_wrong_command_line(wrong):
    done = run(*wrong)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such row: z" in done.stderr or "at least one round" in done.stderr
