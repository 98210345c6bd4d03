"""Programs with what PyTorch has around autograd do the same whether or not somebody watches; and a compiled
call is one box that says so."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import sys
import warnings
from pathlib import Path

import pytest
import tiers
from cells import traced
from magic_shell import shell  # noqa: F401  (a fixture)
from staged import build

from minigrad_viz import record
from minigrad_viz.drawing.outline import outline
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.replay import watch
from minigrad_viz.replay.live import Live, ReplayRefusal
from minigrad_viz.shell.report import Report

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(not hasattr(torch, "compile"), reason="needs torch.compile")

HEAD = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
SECTION = re.compile(r"^=== (.*)\n((?:(?!===).*\n)*)", re.M)
TEXTS = dict(SECTION.findall((Path(__file__).parent / "torch_programs.txt").read_text()))
BACKENDS = {"eager": ", eager", "aot_eager": ", aot_eager"}
PROGRAMS = {
    name + ending: HEAD + text.replace("{backend}", backend)
    for name, text in TEXTS.items()
    for backend, ending in (BACKENDS.items() if "{backend}" in text else [("", "")])
}
ADDRESS = re.compile(r"0x[0-9a-f]+|___torch_mangle_\d+|_\d+_[0-9a-f_]{36}")  # differ from run to run


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch):
    """Gloo would look up the machine's name, and wait half an hour where there is no network."""
    if sys.platform == "linux":
        monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")


def told(program: str, watched: bool) -> tuple:
    """What a program prints, its warnings, and its error."""
    torch._dynamo.reset()
    torch.set_warn_always(True)
    space = {"__name__": "__main__"}
    code, recorder, error = compile(program, "<cell>", "exec"), Recorder(program, space), None
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        if watched:
            recorder.start()
        try:
            exec(code, space)
        except Exception as raised:
            error = raised
        finally:
            trace = recorder.stop(error) if watched else None
            torch.set_warn_always(False)
    if trace is not None:
        Report(trace, lang="en").text(steps=True)
    rows = [(w.category.__name__, ADDRESS.sub("", str(w.message))) for w in warned]
    rows = [row for row in rows if "is deprecated" not in row[1]]  # some only where a module is imported
    end = None if error is None else (type(error).__name__, ADDRESS.sub("", str(error)))
    return ADDRESS.sub("", printed.getvalue()), rows, end


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_not_notice_the_recorder(name):
    if name == "workers, spawn" and not tiers.full:
        pytest.skip("each worker imports PyTorch: with --full")
    # Watched first, where PyTorch's own parts are not loaded yet.
    watched, alone = [told(PROGRAMS[name], how) for how in (True, False)]
    assert watched == alone
    assert watched[0] or watched[2], "it tells something"


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_inductor():
    if not tiers.full:
        pytest.skip("it compiles for minutes: with --full")
    program = HEAD + TEXTS["a function"].replace("{backend}", "inductor")
    assert told(program, watched=True) == told(program, watched=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["a function, eager", "a module, aot_eager", "transforms", "jit.trace"])
@pytest.mark.parametrize("first", ["%%autograd\n", "from minigrad_viz import record\nwith record():\n"])
def test_a_cell_and_a_block(shell, capsys, name, first):  # noqa: F811
    program = PROGRAMS[name]
    body = program if "record" not in first else "".join(f"    {line}\n" for line in program.splitlines())
    found = []
    for cell in (program, first + body):
        torch._dynamo.reset()
        capsys.readouterr()
        result = shell.run_cell(cell)
        assert result.success
        found.append(ADDRESS.sub("", capsys.readouterr().out))
    assert found[1].startswith(found[0]) and found[0]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_what_was_compiled_before_the_cell_is_used(backend):
    counted = []

    def compiler(graph, examples):
        counted.append(graph)
        return graph.forward if backend == "eager" else aot(graph, examples)

    from torch._dynamo.backends.debugging import aot_eager as aot

    g = torch.compile(lambda x: (x.sin() ** 2).sum(), backend=compiler)
    g(torch.ones(3, requires_grad=True))
    with record() as recording:
        x = torch.ones(3, requires_grad=True)
        g(x).backward()
    g(torch.ones(3, requires_grad=True))
    assert len(counted) == 1 and recording.report.text()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(("lang", "word"), [("en", "compiled"), ("ko", "컴파일됨")])
def test_a_compiled_call_is_one_box(backend, lang, word):
    cell = PROGRAMS[f"a function, {backend}"].partition("print")[0]
    trace = traced(cell, torch)
    graph = build(trace)
    (y,) = [card for _, card in graph.cards() if card.compiled]
    assert y.name == "y"
    assert [name for name in ("sin", "pow") if name in {e.op for e in trace.events if hasattr(e, "op")}] == []
    shown = outline(graph, lang)
    assert re.search(rf"^y = g\(x\)   2\.1242   .*   {word}   grad", shown, re.M)
    assert "  ← x: [0.9093 0.9093 0.9093]" in shown
    report = Report(trace, lang=lang)
    steps = {"en": "PyTorch compiled this call", "ko": "PyTorch가 컴파일한 호출"}[lang]
    assert steps in report.text(steps=True) and word in report.html()


def test_nothing_is_left_behind():
    """The functions that stand-ins replace, modes, hooks and warnings."""
    from torch._dynamo import convert_frame, eval_frame
    from torch.nn.modules import module

    def there():
        return (
            eval_frame.set_eval_frame, eval_frame._maybe_set_eval_frame, convert_frame.fullgraph_capture,
            torch.jit._trace._trace_impl, module._has_any_global_hook, len(module._global_forward_hooks),
            torch._C._len_torch_function_stack(), warnings._showwarnmsg,
            torch.autograd.Variable._execution_engine,
        )  # fmt: skip

    before = there()
    told(PROGRAMS["an error inside, eager"], watched=True)
    assert there() == before


def test_recorders_in_one_another():
    g = torch.compile(lambda x: (x * 2).sum(), backend="eager")
    with record() as outer:
        x = torch.ones(3, requires_grad=True)
        with record() as inner:
            g(x).backward()
        g(x).backward()
    assert "compiled" in inner.report.text() and outer.report.text().count("compiled") >= 1


def test_live_values_are_refused():
    cell = "x = torch.tensor(2.0, requires_grad=True)\ng = torch.compile(lambda x: x * 2, backend='eager')\n"
    watched = watch(cell + "y = g(x)\n", space := {"torch": torch})
    exec(cell + "y = g(x)\n", space)
    with pytest.raises(ReplayRefusal, match="compiled a part of it"):
        Live(*watched.stop(), "en")
