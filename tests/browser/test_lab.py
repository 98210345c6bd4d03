"""The browser harness itself, with a small notebook: what it shows, runs and leaves alone."""

from __future__ import annotations

import hashlib
import socket
import struct
import subprocess
import sys
from pathlib import Path

import lab as harness
import lab_server
import psutil
import pytest
from lab import Lab, missing
from lab_notebook import write
from lab_server import LabError, wait_for
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40"><rect width="120" height="40"/></svg>'
TABLE = '<table id="state"><tr><td>x.grad</td><td>0.6</td></tr></table>'
SHOWN = f"""
from IPython.display import HTML, SVG, display
display(SVG({SVG!r}))
display(HTML({TABLE!r}))
print("미분 " + str(0.008 * 75))
"""

# Asks this server by another name. Without the browser's rule for names that would succeed.
FETCH = "const answer = fetch(`http://localhost:${location.port}/api/status`, {mode: 'no-cors'});"
NOTE = "answer.then(() => 'reached', () => 'refused').then(how => { document.body.dataset.outside = how; });"
OUTSIDE = f"from IPython.display import Javascript\nJavascript({FETCH + NOTE!r})"


def write_notebook(path: Path, *cells: str, tags: tuple[str, ...] = ()) -> Path:
    """A notebook with a heading and these code cells; every cell stores the output `stored`."""
    output = new_output("stream", name="stdout", text="stored")
    code = [new_code_cell(source, metadata={"tags": list(tags)}, outputs=[output]) for source in cells]
    return write(path, [new_markdown_cell("# A notebook"), *code])


@pytest.fixture(scope="class")
def lab(tmp_path_factory):
    root = tmp_path_factory.mktemp("notebooks")
    write_notebook(root / "shown.ipynb", SHOWN)
    write_notebook(root / "failing.ipynb", "1 / 0", "print('not reached')")
    write_notebook(root / "expected.ipynb", "1 / 0", "print('reached')", tags=("raises-exception",))
    write_notebook(root / "long.ipynb", *(f"print({i})" for i in range(40)))
    (root / "sub").mkdir()
    write_notebook(
        root / "sub" / "한글 이름.ipynb", "import os; print(os.path.basename(os.getcwd()))", OUTSIDE
    )
    with Lab(root) as running:
        yield running
    assert running.errors == []


def texts(page) -> list[str]:
    return [text.strip() for text in page.locator(".jp-RenderedText pre").all_inner_texts()]


def png_size(path: Path) -> tuple[int, int]:
    return struct.unpack(">II", path.read_bytes()[16:24])


class TestOneLab:
    """Pages of one server, one after the other: starting it takes longer than a test."""

    @pytest.mark.sample(1)
    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_cells_run_and_their_output_is_in_the_page(self, lab, tmp_path, theme):
        page = lab.open("shown.ipynb", theme=theme, width=900, height=700)
        assert texts(page) == ["stored"]
        assert lab.run_all(page) == []
        assert page.locator("#state td").all_inner_texts() == ["x.grad", "0.6"]
        picture = page.locator(".jp-RenderedSVG img")
        assert picture.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [120, 40]
        assert texts(page) == ["미분 0.6"]
        assert page.evaluate("document.body.dataset.jpThemeLight") == str(theme == "light").lower()
        assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") == (theme == "dark")
        lab.screenshot(page, tmp_path / "shown.png")
        assert png_size(tmp_path / "shown.png") == (900, 700)

    @pytest.mark.full
    def test_a_screenshot_of_the_whole_notebook(self, lab, tmp_path):
        page = lab.open("long.ipynb", width=800, height=500)
        assert lab.run_all(page) == []
        lab.screenshot(page, tmp_path / "whole.png", whole=True)
        width, height = png_size(tmp_path / "whole.png")
        assert width == 800 and height > 1500
        last = page.locator(".jp-RenderedText pre").last.bounding_box()
        assert texts(page)[-1] == "39" and last["y"] + last["height"] < height

    @pytest.mark.full
    def test_an_error_stops_the_run_and_is_returned(self, lab):
        page = lab.open("failing.ipynb")
        assert lab.run_all(page) == ["ZeroDivisionError: division by zero"]
        assert not {"stored", "not reached"} & set(texts(page))

    @pytest.mark.full
    def test_an_expected_error_does_not_stop_the_run(self, lab):
        page = lab.open("expected.ipynb")
        assert lab.run_all(page) == ["ZeroDivisionError: division by zero"]
        assert "reached" in texts(page)

    def test_a_notebook_in_a_directory_runs_there_and_reaches_nothing_but_the_server(self, lab):
        page = lab.open("sub/한글 이름.ipynb")
        assert lab.run_all(page) == []
        assert texts(page)[0] == "sub"
        page.wait_for_function("document.body.dataset.outside")
        assert page.evaluate("document.body.dataset.outside") == "refused"

    def test_a_notebook_that_is_not_there(self, lab):
        with pytest.raises(LabError, match="there is no notebook"):
            lab.open("nowhere.ipynb")


def test_nothing_is_left_running_or_changed(tmp_path):
    path = write_notebook(tmp_path / "shown.ipynb", SHOWN)
    before = hashlib.sha256(path.read_bytes()).digest()
    with Lab(tmp_path) as lab:
        page = lab.open("shown.ipynb")
        lab.run_all(page)
        started = psutil.Process().children(recursive=True)
        assert len(started) >= 3  # the server, its kernel, the browser
    assert not [p for p in started if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", lab.server.port), timeout=5)
    assert not lab.server.scratch.exists()
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [p.name for p in tmp_path.iterdir()] == ["shown.ipynb"]


@pytest.mark.full
def test_an_error_in_the_block_stops_everything_too(tmp_path):
    with pytest.raises(KeyError), Lab(tmp_path) as lab:
        raise KeyError
    assert lab.server.process.poll() is not None


@pytest.mark.full
def test_the_server_ends_with_the_process_that_started_it(tmp_path):
    script = """
import os, sys
from pathlib import Path
from lab_server import Server, wait_for
server = Server(*map(Path, sys.argv[1:]))
wait_for(server.ready, "the server is ready")
print(server.process.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    ended = python("-c", script, str(tmp_path), str(tmp_path), cwd=Path(lab_server.__file__).parent)
    assert ended.returncode == -9, ended.stderr
    server = int(ended.stdout)
    wait_for(lambda: not running(server), "the server has ended", patience=20)


def running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def python(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments, without a terminal."""
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_server_that_cannot_start_says_why(tmp_path, monkeypatch):
    options = [*lab_server.SERVER_OPTIONS, "--ServerApp.port=nonsense"]
    monkeypatch.setattr(lab_server, "SERVER_OPTIONS", options)
    with pytest.raises(LabError, match="JupyterLab ended with status"), Lab(tmp_path):
        raise AssertionError("it started")


@pytest.mark.full
def test_the_command_line_takes_a_screenshot(tmp_path):
    path = write_notebook(tmp_path / "shown.ipynb", SHOWN, "1 / 0")
    ended = python(harness.__file__, str(path), str(tmp_path / "out.png"), "--dark", "--width", "640")
    assert ended.returncode == 0, ended.stderr
    assert "a cell raised ZeroDivisionError: division by zero" in ended.stdout
    assert png_size(tmp_path / "out.png")[0] == 640


def test_the_command_line_without_a_notebook(tmp_path):
    ended = python(harness.__file__, str(tmp_path / "none.ipynb"), str(tmp_path / "out.png"))
    assert ended.returncode == 2
    assert "there is no notebook" in ended.stderr
