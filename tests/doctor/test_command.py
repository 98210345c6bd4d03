"""The command `doctor` and its options, the magic `%%doctor`, and what a doctor gives as data."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from doctor import faults, healthy
from doctor.sarif_shape import problems
from doctor.zoo_run import run
from minigrad_viz.training_runs import doctor
from minigrad_viz.training_runs.arrival import Arrival
from minigrad_viz.training_runs.command import run_command

pytest_plugins = ["magic_shell"]

PROGRAMS = {program.name: program for program in [*faults.programs(), *healthy.programs()]}

LOOP = """
import minigrad as torch
w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr={rate})
for step in range(8):
    loss = (w ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {rest}
"""


@pytest.fixture
def command(tmp_path, capsys):
    """Runs a script under the command; its exit code, its output, its errors."""

    def call(source, *options):
        script = tmp_path / "train.py"
        script.write_text(source)
        code = run_command([*options, "--lang", "en", str(script)])
        return code, *capsys.readouterr()

    return call


NOTHING_MOVES = LOOP.format(rate="0.0", rest="pass")


@pytest.mark.parametrize(
    "options, code",
    [
        ((), 0),
        (("--fail-on", "certain"), 3),
        (("--fail-on", "likely"), 3),
        (("--fail-on", "likely", "--silence", "lr_zero"), 0),
        (("--fail-on", "likely", "--silence", "ascent"), 3),
    ],
)
def test_the_exit_code_of_findings(options, code, command):
    assert command(NOTHING_MOVES, *options)[0] == code


@pytest.mark.parametrize("least, code", [("certain", 0), ("likely", 3)])
def test_what_is_likely_is_not_certain(least, code, torch, command):
    source = PROGRAMS["rate_small-mlp"].source
    found, out, _ = command(source, "--fail-on", least, "--json")
    assert [each["certainty"] for each in json.loads(out)["findings"]] == ["likely"]
    assert found == code


def test_sarif_is_all_of_the_output(command):
    _, out, error = command(NOTHING_MOVES + "print('of the script')", "--sarif")
    log = json.loads(out)
    assert not list(problems(log)) and log["runs"][0]["results"][0]["ruleId"] == "lr_zero"
    assert "of the script" in error


def test_an_interrupted_script_is_reported(command):
    source = LOOP.format(rate="0.0", rest="if step == 5: raise KeyboardInterrupt")
    code, out, error = command(source, "--fail-on", "certain")
    assert code == 130 and "KeyboardInterrupt" in error and "6 steps" in out and "lr_zero" in out


def test_a_script_that_cannot_be_run(tmp_path, command, capsys):
    assert run_command([str(tmp_path / "nowhere.py")]) == 2
    assert "nowhere.py" in capsys.readouterr().err
    code, _, error = command("for:\n")
    assert code == 1 and "SyntaxError" in error


def test_a_cell_is_watched(shell, cell):
    shown = cell("%%doctor --lang en\n" + NOTHING_MOVES + "print('of the cell')")
    assert shown.index("of the cell") < shown.index("The learning rate of SGD is 0 in every step")
    assert [each.key for each in shell.user_ns["_doctor"].findings] == ["lr_zero"]
    assert "lr_zero" not in cell("%%doctor --lang en --silence lr_zero\n" + NOTHING_MOVES)


def test_a_cell_shows_the_report_below_its_error(cell):
    source = LOOP.format(rate="0.1", rest="if step == 5: raise ValueError('stop')")
    shown = cell("%%doctor --lang en\n" + source)
    assert shown.index("ValueError") < shown.index("The run ended with ValueError: stop")


def test_a_cell_of_a_notebook_shows_the_page(front, tmp_path):
    sent = front("%%doctor --lang ko --html report.html\n" + NOTHING_MOVES)
    assert '<main class="doctor" lang="ko">' in sent[-1]["text/html"] and "lr_zero" in sent[-1]["text/plain"]
    assert "lr_zero" in (tmp_path / "report.html").read_text(encoding="utf-8")


LAYERS = """
import minigrad as torch
nn = torch.nn
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
X = torch.randn(8, 2)
for step in range(6):
    optimizer.zero_grad()
    (net(X) ** 2).mean().backward()
    optimizer.step()
"""


def test_a_step_is_recorded_by_an_option(command, front, tmp_path):
    page = tmp_path / "report.html"
    code, *_ = command(LAYERS, "--record", "4", "--html", str(page))
    written = page.read_text(encoding="utf-8")
    assert code == 0 and "Step 4, recorded whole" in written and 'data-module="net.0"' in written
    sent = front("%%doctor --lang en --record 2\n" + LAYERS)
    assert "Step 2, recorded whole" in sent[-1]["text/html"]


def test_the_loss_that_is_asked_for(torch):
    program = PROGRAMS["plain-gan"]
    names = {name: run(program, loss=name).evidence.losses for name in ("", "loss_D", "loss_G")}
    assert names["loss_D"] != names["loss_G"] and names[""] in (names["loss_D"], names["loss_G"])
    assert all(len(losses) == 30 for losses in names.values())


def test_the_table_as_a_frame(monkeypatch):
    frames = []
    frame = SimpleNamespace(DataFrame=lambda rows, columns: frames.append((rows, columns)))
    with doctor(show=False) as d:
        exec(NOTHING_MOVES, {})
    monkeypatch.setitem(sys.modules, "pandas", frame)
    d.table.to_pandas()
    ((rows, columns),) = frames
    assert {row["parameter"] for row in rows} == {"w"} and set(columns) == set(rows[0])
    assert all(row["update"] == 0 and row["ratio"] == 0 for row in rows)


LATE = """
import sys
assert "torch" not in sys.modules
from minigrad_viz import doctor

with doctor(show=False) as first, doctor(show=False) as second:
    import torch

    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    for step in range(8):
        loss = (net(torch.randn(4, 3)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
for d in (first, second):
    print(d.evidence.library, d.evidence.steps, d.evidence.clips.total(), d.findings[0].key)
print([each for each in sys.meta_path if type(each).__module__.startswith("minigrad_viz")])
with doctor(show=False) as third:
    pass
print(third.findings, [each for each in sys.meta_path if type(each).__module__.startswith("minigrad_viz")])
"""


def test_what_is_imported_inside_is_watched(torch, tmp_path):
    """By two doctors, and no finder of ours stays behind."""
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines() == ["torch 8 8 lr_zero", "torch 8 8 lr_zero", "[]", "[] []"], done.stderr


def test_the_finder_goes_when_nothing_was_imported():
    """Also where the import fails; and it finds nothing that is not there."""
    told = []
    waiting = Arrival("no_such_library", lambda: told.append(1))
    waiting.start()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_library")
    assert waiting in sys.meta_path
    waiting.stop()
    assert waiting not in sys.meta_path and not told


@pytest.mark.full
def test_a_script_imports_the_library_in_a_file_of_its_own(torch, tmp_path):
    """The script does not say `torch` itself."""
    (tmp_path / "lesson.py").write_text(NOTHING_MOVES.replace("minigrad as torch", "torch"))
    script = tmp_path / "train.py"
    script.write_text("import lesson\n")
    command = [sys.executable, "-m", "minigrad_viz", "doctor", "--json", str(script)]
    done = subprocess.run(command, capture_output=True, text=True)
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["key"] == "lr_zero" and finding["place"]["file"].endswith("lesson.py"), done.stderr
