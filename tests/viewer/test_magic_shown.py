"""What `%%autograd` shows in a notebook and in a terminal; `%config Autograd`; the last report."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from cells import CELLS

import minigrad_viz
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.bundle import TRACE

pytest_plugins = ["magic_shell"]
ROOT = Path(__file__).resolve().parents[2]
FAILS = "%%autograd --step --lang en\n" + CELLS[4] + "\nz.backward()"


@pytest.mark.quick
class TestNotebook:
    """What a frontend gets that shows HTML."""

    def test_the_player_and_the_table(self, front):
        (shown,) = front("%%autograd\n" + CELLS[4])
        assert set(shown) == {"text/plain", "text/html", TRACE}
        assert "<script>" in shown["text/html"] and "data-mgp" in shown["text/html"]
        assert shown["text/html"].index("data-mgp") < shown["text/html"].index('<table class="mgt">')
        assert (
            shown["text/plain"].startswith("z = log(y)   4.8283   root") and "1. [" not in shown["text/plain"]
        )

    def test_a_still_picture(self, front):
        (shown,) = front("%%autograd --static --no-table\n" + CELLS[4])
        assert "<img" in shown["text/html"] and "data-mgp" not in shown["text/html"] + shown["text/plain"]
        assert "<table" not in shown["text/html"] and "before backward" not in shown["text/plain"]

    def test_a_still_picture_stands_alone(self, front):
        """As docs/usage.md says; the table comes on request."""
        (shown,) = front("%%autograd --static\n" + CELLS[4])
        assert "<img" in shown["text/html"] and "<table" not in shown["text/html"]
        assert "before backward" not in shown["text/plain"]
        (shown,) = front("%%autograd --static --table\n" + CELLS[4])
        assert "<table" in shown["text/html"] and "before backward" in shown["text/plain"]
        front("%config Autograd.table = True")
        (shown,) = front("%%autograd --static\n" + CELLS[4])[-1:]
        assert "<table" in shown["text/html"]

    def test_the_widget_then_the_table(self, front):
        widget, table = front("%%autograd --step\n" + CELLS[4])
        assert "application/vnd.jupyter.widget-view+json" in widget
        assert table["text/html"].startswith("<style>.mgt") and "root" not in table["text/plain"]
        assert len(front("%%autograd --step --no-table\n" + CELLS[4])) == 1

    def test_why_and_fix_stand_above_the_widget(self, front):
        """Once, directly under the traceback; the table stands below."""
        shown = [data for data in front(FAILS) if "text/html" in data]
        why, widget, table = shown
        assert "why" in why["text/plain"] and "<dt>" in why["text/html"]
        assert "application/vnd.jupyter.widget-view+json" in widget
        assert table["text/html"].startswith("<style>.mgt") and "why" not in table["text/plain"]
        minigrad_viz.last().stepper().close()

    def test_python_drives_the_widget_that_is_shown(self, front):
        front("%%autograd --step\n" + CELLS[4])
        front("import minigrad_viz\nshown = minigrad_viz.last().stepper()\nshown.step = 3")
        stepper = minigrad_viz.last().stepper()
        assert stepper.step == 3
        stepper.close()

    def test_what_the_page_of_functions_writes_after_loading_the_extension(self, front, shell):
        """With nothing but `%load_ext` and the page's import, every function of its table is there."""
        page = (ROOT / "docs" / "usage.md").read_text(encoding="utf-8")
        table = page.partition("| you write | you get |")[2].partition("\n\n")[0]
        called = set(re.findall(r"(?<![\w.])\w+(?=\()", " ".join(re.findall(r"`([^`]*)`", table))))
        assert {"last", "draw", "record", "derivative", "Digraph", "explain"} <= called
        front("%%autograd\n" + CELLS[4])
        front(re.search(r"`(from minigrad_viz import .*)`", page)[1])
        assert [name for name in called if not callable(shell.user_ns.get(name))] == []
        front("shown = last().stepper()")
        assert shell.user_ns["shown"].steps == 6
        shell.user_ns["shown"].close()

    def test_nothing(self, front):
        assert front("%%autograd --no-graph --no-table\n" + CELLS[4]) == []

    def test_steps_are_typeset(self, front):
        shown = front("%%autograd --static --steps\n" + CELLS[4])
        assert len(shown) == 2 and "$" in shown[1]["text/markdown"]
        assert "0.008 · 75 = 0.6" in shown[1]["text/plain"]

    def test_no_tensor(self, front):
        assert front("%%autograd --step\na = 1\n") == [
            {"text/plain": "This cell created no tensor.", "text/html": "<p>This cell created no tensor.</p>"}
        ]


class TestConfig:
    def test_defaults_for_every_cell_and_the_line_wins(self, cell):
        cell("%config Autograd.lang = 'ko'\n%config Autograd.table = False")
        shown = cell("%%autograd\n" + CELLS[4])
        assert "뿌리(root)" in shown and "backward 전" not in shown
        assert "before backward" in cell("%%autograd --lang en --table\n" + CELLS[4])

    def test_a_form_of_the_graph_is_overridden(self, front):
        front("%config Autograd.show = 'static'")
        assert "data-mgp" not in front("%%autograd\n" + CELLS[4])[0]["text/html"]
        assert "data-mgp" in front("%%autograd --player\n" + CELLS[4])[0]["text/html"]

    def test_wrong_values_are_refused(self, shell, cell):
        (settings,) = [c for c in shell.configurables if type(c).__name__ == "Autograd"]
        cell("%config Autograd.detail = 'some'")
        cell("%config Autograd.max_nodes = 0")
        assert (settings.detail, settings.max_nodes) == ("normal", 600)
        cell("%config Autograd.detail = 'full'")
        assert settings.detail == "full"

    def test_it_is_listed(self, cell):
        assert "Autograd" in cell("%config") and "Autograd.max_nodes" in cell("%config Autograd")

    def test_on(self, shell, cell):
        (settings,) = [c for c in shell.configurables if type(c).__name__ == "Autograd"]
        cell("%config Autograd.on = True")
        assert "z = log(y)   4.8283   root" in cell(CELLS[4])
        cell("%autograd off")
        assert settings.on is False and cell(CELLS[4]) == "tensor(0.6000)\n"
        cell("%autograd on --no-table")
        assert settings.on is True and "before backward" not in cell(CELLS[4])
        cell("%config Autograd.on = False")
        assert cell(CELLS[4]) == "tensor(0.6000)\n"

    def test_a_language_speaks_of_mistakes_too(self, cell):
        cell("%config Autograd.lang = 'ko'")
        assert "알 수 없는 옵션이나 인자: --bogus" in cell("%%autograd --bogus\n1")

    def test_the_user_s_file_counts(self, shell, cell):
        cell("%unload_ext minigrad_viz")
        shell.config.Autograd.table = False
        shell.config.Autograd.on = True
        cell("%load_ext minigrad_viz")
        shown = cell(CELLS[4])
        assert "z = log(y)   4.8283   root" in shown and "before backward" not in shown


class TestLast:
    def test_the_last_cell(self, cell):
        cell("%%autograd\n" + CELLS[4])
        cell("%%autograd z\n" + CELLS[9])
        report = minigrad_viz.last()
        assert isinstance(report, Report) and report.trace.source.endswith(CELLS[9])
        stepper = report.stepper()
        stepper.step = 3
        assert stepper.step == 3 < stepper.steps
        stepper.close()

    def test_without_one(self, monkeypatch):
        monkeypatch.setattr("minigrad_viz.shell.explain._last", [])
        with pytest.raises(RuntimeError, match=r"^No cell has run under %%autograd yet\.$"):
            minigrad_viz.last()

    def test_it_keeps_no_tensor(self, shell, cell):
        cell("%%autograd\n" + CELLS[4])
        gone = weakref.ref(shell.user_ns["y"])
        cell("del x, y, z")
        gc.collect()
        assert gone() is None and minigrad_viz.last().graph.stations


def test_a_terminal(tmp_path):
    """IPython as it is started in a terminal, without its line editor."""
    typed = f"%load_ext minigrad_viz\nimport minigrad as torch\n%%autograd --step\n{CELLS[4]}\n\nquit\n"
    english = {"MINIGRAD_LANG": "en", "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--quick"],
        input=typed, env={**os.environ, "IPYTHONDIR": str(tmp_path)} | english, cwd=tmp_path, text=True,
        capture_output=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    marks = ["tensor(0.6000)", "z = log(y)   4.8283   root", "before backward", "0.008 · 75 = 0.6"]
    places = [done.stdout.index(mark) for mark in marks]
    assert places == sorted(places) and "Stepper" not in done.stdout and "<" not in done.stdout
