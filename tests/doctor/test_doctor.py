"""The doctor itself: it changes nothing, leaves nothing behind, and its report says the same in every form."""

from __future__ import annotations

import gc
import json
import math
import subprocess
import sys
import threading
import weakref

import psutil
import pytest

from doctor import faults, healthy
from doctor.zoo_run import run
from minigrad_viz.trace.graph import ROOT
from minigrad_viz.training_runs import doctor
from minigrad_viz.training_runs.hub import HUBS
from minigrad_viz.training_runs.report_html import report_html
from minigrad_viz.words import columns, text

PROGRAMS = {program.name: program for program in [*faults.programs(), *healthy.programs()]}


def train(torch, steps, net=None, optimizer=None, stop=None):
    """A small run; its losses."""
    torch.manual_seed(0)
    net = net or torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = optimizer or torch.optim.SGD(net.parameters(), lr=0.05)
    losses = []
    for step in range(steps):
        x = torch.randn(8, 4)
        loss = ((net(x) - x[:, :1]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if stop is not None and step == stop[0]:
            raise stop[1]
    return losses


def functions(torch):
    """All that a doctor replaces or hooks."""
    found = [
        torch.Tensor.backward,
        torch.autograd.backward,
        torch.optim.Optimizer.zero_grad,
        torch.nn.Module.eval,
    ]
    found += [torch.optim.Optimizer.__init__, torch.manual_seed, torch.nn.Module.zero_grad]
    if torch.__name__ == "torch":
        module = torch.nn.modules.module
        optim = sys.modules["torch.optim.optimizer"]
        hooks = [module._global_forward_hooks, module._global_forward_pre_hooks]
        hooks += [optim._global_optimizer_pre_hooks, optim._global_optimizer_post_hooks]
        found += [len(each) for each in hooks] + [torch._C._len_torch_function_stack()]
    else:
        from minigrad import observing

        found += [len(observing.observers()), torch.optim.Optimizer.step]
    return found


@pytest.mark.quick
def test_numbers_are_the_same(library):
    alone = train(library, 12)
    with doctor(show=False):
        watched = train(library, 12)
    assert watched == alone


@pytest.mark.parametrize("error", [None, ValueError("x"), KeyboardInterrupt()], ids=repr)
def test_nothing_is_left(library, error):
    before = functions(library)
    net = library.nn.Sequential(library.nn.Linear(4, 8), library.nn.ReLU(), library.nn.Linear(8, 1))
    d = doctor(net, show=False)
    try:
        with d:
            train(library, 8, net, stop=None if error is None else (5, error))
    except (ValueError, KeyboardInterrupt) as raised:
        assert raised is error
    assert functions(library) == before
    assert not net._forward_hooks and not net._forward_pre_hooks
    assert not any(hub.listeners for hub in HUBS.values())
    assert d.evidence.steps == (8 if error is None else 6)
    assert ("The run ended with" in d.text("en")) == (error is not None)


def test_nothing_is_kept_alive(library):
    with doctor(show=False) as d:
        net = library.nn.Linear(4, 1)
        train(library, 8, net)
        seen = weakref.ref(net.weight)
        del net
    gc.collect()
    assert seen() is None and d.evidence.steps == 8


def test_two_doctors_in_any_order(library):
    before = functions(library)
    first, second = doctor(show=False), doctor(show=False)
    first.__enter__()
    train(library, 4)
    second.__enter__()
    train(library, 5)
    first.__exit__(None, None, None)
    train(library, 6)
    second.__exit__(None, None, None)
    assert functions(library) == before
    assert (first.evidence.steps, second.evidence.steps) == (9, 11)


def test_other_threads_are_not_watched(torch):
    with doctor(show=False) as d:
        thread = threading.Thread(target=train, args=(torch, 5))
        thread.start()
        thread.join()
        train(torch, 4)
    assert d.evidence.steps == 4 and not d.evidence.unwatched


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.full)])
def test_threads_of_a_data_loader(workers, torch):
    from torch.utils.data import DataLoader, TensorDataset

    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(40, 4), torch.randn(40, 1))
    with doctor(net, optimizer, show=False) as d:
        for x, y in DataLoader(data, batch_size=8, shuffle=True, num_workers=workers):
            loss = torch.nn.functional.mse_loss(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert d.evidence.steps == 5 and not d.findings


def test_steps_are_those_of_optimizers(torch):
    d = run(PROGRAMS["plain-gan"])
    assert d.evidence.steps == 30 and [o.steps for o in d.evidence.optimizers] == [30, 30]
    assert run(PROGRAMS["accumulation-mlp"]).evidence.steps == 10


@pytest.mark.parametrize("steps", [1500, pytest.param(20_000, marks=pytest.mark.full)])
def test_memory_does_not_grow_with_the_run(steps, torch):
    train(torch, 10)
    before = psutil.Process().memory_info().rss
    with doctor(show=False) as d:
        train(torch, steps)
    assert psutil.Process().memory_info().rss - before < 20 * 2**20
    assert d.evidence.steps == steps
    assert all(len(p.samples) <= 256 for p in d.evidence.parameters.values())
    assert 5 <= len(d.evidence.sampled) < 600


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "name", ["detach-mlp", "no_reset-mlp", "rate_zero-mlp", "broadcast-mlp", "zeros-rnn", "plain-mlp"]
)
def test_minigrad(name):
    program = PROGRAMS[name]
    source = program.source.replace(
        "import torch\nfrom torch import nn\nimport torch.nn.functional as F",
        "import minigrad as torch\nfrom minigrad import nn\nimport minigrad.nn.functional as F",
    )
    assert source != program.source
    d = run(faults.Program(f"minigrad-{name}", source, program.line, program.fault))
    assert d.evidence.library == "minigrad"
    assert [f.key for f in d.findings][:1] == ([program.fault.keys.split()[0]] if program.fault else [])
    assert not program.line or d.findings[0].place.line == program.line


def test_a_step_that_only_counts_is_cheap(library):
    """So many calls of Python functions of ours take 0.4 to 0.8 ms."""
    net = library.nn.Linear(4, 1)
    optimizer = library.optim.SGD(net.parameters(), lr=0.05)
    calls = []

    def note(frame, event, arg):
        if event == "call" and "training_runs" in frame.f_code.co_filename:
            calls[-1] += 1

    with doctor(show=False) as d:
        for _ in range(300):
            calls.append(0)
            sys.setprofile(note)
            train(library, 1, net, optimizer)
            sys.setprofile(None)
    counting = [n for step, n in enumerate(calls, 1) if step not in d.evidence.sampled]
    assert len(counting) > 20 and max(counting) <= 90, calls


def test_silenced_findings(torch):
    program = PROGRAMS["detach-mlp"]
    (finding,) = run(program).findings
    assert finding.key == "out_of_reach" and finding.name == "out_of_reach:net.body.2"
    assert not run(program, silence="out_of_reach").findings
    assert not run(program, silence=[finding.name]).findings
    assert run(program, silence="lr_zero").findings


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", ["detach-cnn", "rate_large-gpt", "plain-gpt", "generator_cut-gan"])
def test_the_text_fits_80_columns(name, lang, torch):
    said = run(PROGRAMS[name]).text(lang)
    assert max(map(columns, said.splitlines())) <= 80
    assert "{" not in said


def test_every_form_says_the_same(torch, tmp_path):
    d = run(PROGRAMS["detach-cnn"])
    (finding,) = d.findings
    data = d.json("en")
    json.dumps(data, allow_nan=False)
    assert data["findings"][0]["verdict"] == finding.verdict("en")
    assert data["findings"][0]["place"]["line"] == PROGRAMS["detach-cnn"].line
    page = d.html("en")
    assert "detach()" in page and "<h1>" in page and page.count("<svg") >= 3 and "http" not in page
    sarif = d.sarif("en")
    (result,) = sarif["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (result["ruleId"], result["level"], region["startLine"]) == (
        "out_of_reach",
        "error",
        PROGRAMS["detach-cnn"].line,
    )
    for ending in ("html", "json", "sarif", "txt"):
        d.save(tmp_path / f"report.{ending}")
        assert (tmp_path / f"report.{ending}").stat().st_size > 500


def test_the_page_shows_when_units_died(torch):
    page = run(PROGRAMS["dead-mlp"]).html("en")
    assert "Share of units that give 0 for the whole batch" in page
    assert "<title>net.body.1 relu 1: 1</title>" in page and "<title>net.body.1 relu 40: 1</title>" in page
    assert "Share of units" not in run(PROGRAMS["plain-mlp"]).html("en")


def test_nothing_found_says_what_was_checked(torch):
    said = run(PROGRAMS["plain-cnn"]).text("en")
    assert "Nothing found" in said and "Checked and fine" in said and "Not checked" in said
    assert "8 of 8 parameters got gradients" in said and "held-out" in said


def test_no_training(library):
    with doctor(show=False) as d:
        library.ones(3).sum()
    assert "no training ran" in d.text("en").lower() and not d.findings
    assert text("doctor_unchecked_steps", "en") in report_html(d.evidence, d.findings, "en")


def test_the_table(torch):
    d = run(PROGRAMS["plain-mlp"])
    rows = d.table
    assert {row["parameter"] for row in rows} == {
        f"net.{name}"
        for name in (
            "body.0.weight",
            "body.0.bias",
            "body.2.weight",
            "body.2.bias",
            "head.weight",
            "head.bias",
        )
    }
    row = next(row for row in rows if row["step"] == 3 and row["parameter"] == "net.head.weight")
    assert math.isclose(row["ratio"], row["update"] / row["weight"])
    assert math.isclose(row["update"], 0.05 * row["grad"], rel_tol=1e-3)  # plain SGD with lr 0.05
    ratios = [each["ratio"] for each in rows.sorted_by("ratio")]
    assert ratios == sorted(ratios, reverse=True)
    with pytest.raises(ValueError, match="no column"):
        rows.sorted_by("color")


def test_a_step_is_recorded_whole(torch):
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    with doctor(net, optimizer, show=False) as d:
        for step in range(6):
            if step == 3:
                d.record_step()
            loss = net(torch.randn(8, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert d.recorded is not None and d.recorded.graph.stations
    assert len(d.recorded.trace.deposits) + len(d.recorded.trace.events) > 4
    assert d.recorded_step == 5  # step 4 was going on


@pytest.mark.parametrize("step", [1, 4, 8])
def test_the_step_that_is_asked_for_is_recorded(library, step):
    """Also the first and the last, also while others watch; the numbers of the run stay as they are."""
    alone = train(library, 8)
    with doctor(show=False) as other, doctor(record=step, show=False) as d:
        assert train(library, 8) == alone
    assert d.recorded_step == step and other.recorded is None
    assert not d.evidence.unwatched and d.evidence.steps == other.evidence.steps == 8
    assert [f.key for f in d.findings] == [f.key for f in other.findings]
    (act,) = d.recorded.acts
    (root,) = (card for _, card in act.picture.graph.cards() if card.role == ROOT)
    assert math.isclose(root.value.items[0], alone[step - 1], rel_tol=1e-6)


def test_modules_of_the_page_open_in_the_recorded_step(torch):
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    with doctor(net, record=3, show=False) as d:
        train(torch, 8, net)
    page = d.html("en")
    for name in ("net.0", "net.2"):  # in the strip and in the heat map
        assert page.count(f'data-module="{name}"') == 2
    assert "Step 3, recorded whole" in page and "data-mgp" in page
    korean = d.html("ko")
    assert "통째로 기록한 스텝 3" in korean and "gradient rms" not in korean, "the step as well"
    with doctor(net, record=9, show=False) as d:
        train(torch, 8, net)
    assert d.recorded is None and 'data-module="' not in d.html("en")
    assert "d.record_step()" in d.html("en")


def test_the_command(torch, tmp_path):
    script = tmp_path / "train.py"
    tail = "\nimport sys\nprint('ran as', __name__, sys.argv[1:])\n"
    script.write_text(PROGRAMS["detach-mlp"].source + tail)
    command = [sys.executable, "-m", "minigrad_viz", "doctor"]
    done = subprocess.run(
        [*command, "--json", "--fail-on", "certain", "--html", str(tmp_path / "r.html"), str(script), "--lr", "1"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "ran as __main__ ['--lr', '1']" in done.stderr
    assert json.loads(done.stdout)["findings"][0]["key"] == "out_of_reach"
    assert (tmp_path / "r.html").exists()


@pytest.mark.parametrize("tail, code", [("", 0), ("raise SystemExit(4)", 4), ("raise ValueError('x')", 1)])
def test_the_exit_code_is_the_scripts(tail, code, torch, tmp_path, capsys):
    from minigrad_viz.training_runs.command import run_command

    script = tmp_path / "train.py"
    script.write_text(f"import minigrad as torch\nprint('hello')\n{tail}\n")
    assert run_command(["--lang", "en", str(script)]) == code
    out, error = capsys.readouterr()
    assert out.startswith("hello\n") and "no training ran" in out.lower()
    assert ("ValueError: x" in error) == (code == 1) and "minigrad_viz" not in error


@pytest.mark.cuda
def test_tensors_of_a_gpu(torch):
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    with doctor(net, optimizer, show=False) as d:
        for _ in range(30):
            x = torch.randn(8, 4, device="cuda")
            loss = torch.nn.functional.mse_loss(net(x), x[:, :1])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert not d.findings and not d.evidence.unwatched and len(d.evidence.losses) == 30
    assert all(map(math.isfinite, d.evidence.losses))


def test_each_number_stands_at_its_place(library):
    """In a run with two backward calls for each step."""
    net = library.nn.Linear(2, 1)
    optimizer = library.optim.SGD(net.parameters(), lr=0.05)
    library.manual_seed(0)
    with doctor(show=False) as d:
        for _ in range(6):
            optimizer.zero_grad()
            x = library.randn(8, 2)
            ((net(x) - x[:, :1]) ** 2).mean().backward()
            ((net(x) + x[:, 1:]) ** 2).mean().backward()
            optimizer.step()
    english, korean = (" ".join(d.text(lang).split()) for lang in ("en", "ko"))
    for said in ("6 steps, 2 parameters, 3 numbers", "2 of 2 parameters", "order 6 steps, 12 backward calls"):
        assert said in english
    assert "스텝 6번, backward 호출 12번" in korean
