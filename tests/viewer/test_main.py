"""`python -m minigrad_viz`: what a terminal sees of a process of its own, and the same in this process."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from cells import CELLS

from minigrad_viz.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
ENGLISH = {**os.environ, "MINIGRAD_LANG": "en", "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)}


def process(where: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "minigrad_viz", *arguments], cwd=where, env=ENGLISH | environment, text=True,
        capture_output=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip


@pytest.fixture
def command(tmp_path, monkeypatch):
    """A function that runs the command in this process and a new folder, and returns what `process` does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINIGRAD_LANG", "en")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        with (
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as err,
        ):
            try:
                code = main(list(arguments))
            except SystemExit as exit:  # of a wrong option
                code = exit.code
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    return run


def write(path: Path, source: str) -> Path:
    path.write_text(source, encoding="utf-8")
    return path


@pytest.mark.quick
def test_the_built_in_example(tmp_path):
    done = process(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    marks = [
        "z.backward()",
        "x.grad tensor(0.6000)",
        "z = log(y)   4.8283   root",
        "before backward  after backward",
        f"Written: {tmp_path / 'code_04.svg'}",
    ]
    places = [done.stdout.index(mark) for mark in marks]
    assert places == sorted(places)
    assert ET.parse(tmp_path / "code_04.svg").getroot().tag.endswith("svg")
    assert [path.name for path in tmp_path.iterdir()] == ["code_04.svg"]


def test_a_file(tmp_path):
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub" / "helper.py", "FACTOR = 3\n")
    source = (
        "import sys\nfrom helper import FACTOR\nimport minigrad as torch\n"
        + CELLS[4]
        + "print(sys.argv, __name__)\ny2 = x * FACTOR\n"
    )
    write(tmp_path / "sub" / "program.py", source)
    done = process(tmp_path, str(Path("sub", "program.py")))
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        f"['{Path('sub', 'program.py')}'] __main__" in done.stdout and "y2 = x * FACTOR   15." in done.stdout
    )
    assert [path.name for path in tmp_path.iterdir()] == ["sub"], "nothing is written without being asked"
    assert "-o FILE.html writes a page with the player" in done.stdout


def test_a_file_of_pytorch(tmp_path, torch):
    write(tmp_path / "program.py", "import torch\n" + CELLS[11])
    done = process(tmp_path, "program.py")
    (node,) = [line for line in done.stdout.splitlines() if line.startswith("  MyPowBackward ")]
    assert done.returncode == 0 and "   saved[0] 5. (freed)" in node


def test_options(command, tmp_path):
    done = command("-o", "picture.dot", "--lang", "ko", "--detail", "full")
    assert done.returncode == 0 and "backward 전" in done.stdout
    assert "digraph" in (tmp_path / "picture.dot").read_text(encoding="utf-8")


def test_steps_and_several_files(command, tmp_path):
    done = command("--steps", "--no-table", "-o", "a.html", "--output", "b.json", "-o", "c.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert "0.008 · 75 = 0.6" in done.stdout and "before backward" not in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.json", "c.txt"]
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "arguments, problem",
    [
        (("-o", "a.jpg"), "--output a.jpg: the name must end in one of .html, .svg"),
        (("--dir", "up"), "--dir must be one of auto, LR, TB, not up"),
        (("--player",), "unknown option or argument: --player"),
    ],
)
def test_wrong_options_run_nothing(command, tmp_path, arguments, problem):
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "") and f"error: {problem}" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_one_file_that_cannot_be_written_does_not_stop_the_others(command, tmp_path):
    done = command("-o", str(Path("nowhere", "a.svg")), "-o", "b.svg")
    assert done.returncode == 1 and "a.svg: " in done.stderr and (tmp_path / "b.svg").exists()


def test_the_kernel_s_command(command, tmp_path):
    done = command("kernel", "install", "--prefix", str(tmp_path / "env"))
    assert (done.returncode, done.stderr) == (0, "") and "The kernel python3-autograd is in " in done.stdout
    assert list(tmp_path.glob("env/share/jupyter/kernels/python3-autograd/kernel.json"))


def test_a_file_that_raises(command, tmp_path):
    write(tmp_path / "program.py", "import minigrad as torch\n" + CELLS[6])
    done = command("program.py")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Traceback") and lines[1] == '  File "program.py", line 6, in <module>'
    assert lines[-1].startswith("RuntimeError: Trying to backward through the graph a second time")
    assert "The graph up to the error" in done.stdout and not (tmp_path / "program.svg").exists()
    told = [line for line in done.stdout.splitlines() if line.startswith(("error: ", "why: ", "fix: "))]
    assert told[0] == f"error: {lines[-1]}" and len(told) == 3
    assert "z.backward() (line 5) freed" in told[1] and "(line 6)" in told[2]


@pytest.mark.sample(1)
@pytest.mark.parametrize("ending, code", [("sys.exit()", 0), ("sys.exit(0)", 0), ("sys.exit(3)", 1)])
def test_a_file_that_exits(command, tmp_path, ending, code):
    write(tmp_path / "program.py", "import sys\nimport minigrad as torch\n" + CELLS[4] + ending)
    done = command("program.py")
    assert done.returncode == code and "z = log(y)" in done.stdout


def test_no_such_file(command, tmp_path):
    done = command("nowhere.py")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "nowhere.py: No such file or directory\n")


def test_a_folder(command, tmp_path):
    (tmp_path / "folder").mkdir()
    done = command("folder")
    assert done.returncode == 1 and done.stderr.startswith("folder: ") and "Traceback" not in done.stderr


@pytest.mark.parametrize("source", [b"y = (\n", b"\x00", b"a = '\xff'\n"])
@pytest.mark.sample(1)
def test_no_python(command, tmp_path, source):
    (tmp_path / "program.py").write_bytes(source)
    done = command("program.py")
    assert done.returncode == 1 and "SyntaxError" in done.stderr and done.stdout == ""


def test_a_picture_that_cannot_be_written(command, tmp_path):
    done = command("-o", str(Path("nowhere", "picture.svg")))
    assert done.returncode == 1 and "picture.svg" in done.stderr and "z = log(y)" in done.stdout


@pytest.mark.full
def test_a_terminal_without_arrows(tmp_path):
    done = process(tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and "\\u2190 y: 0.008" in done.stdout


def test_a_saved_trace_is_shown_without_running_anything(command, tmp_path):
    program = write(tmp_path / "program.py", "import minigrad as torch\nprint('it runs')\n" + CELLS[9])
    first = command("--steps", "-o", "cell.json", "-o", "one.html", str(program))
    again = command("cell.json", "--steps", "-o", "two.html")
    assert (first.returncode, again.returncode, again.stderr) == (0, 0, "")
    assert "it runs" in first.stdout and "it runs" not in again.stdout
    shown = first.stdout.split("it runs\n")[1].split("\nWritten: ")[0]
    assert again.stdout.startswith(shown.rstrip("\n"))
    pages = [(tmp_path / name).read_text("utf-8") for name in ("one.html", "two.html")]
    pictures = [re.findall(r"<img [^>]*>", page) for page in pages]  # beside it, live values need the program
    assert pictures[0] == pictures[1] != []


@pytest.mark.sample(1)
@pytest.mark.parametrize("content", ["no JSON", "[]", '{"events": [{"event": "Nothing"}]}'])
def test_no_trace(command, tmp_path, content):
    write(tmp_path / "cell.json", content)
    done = command("cell.json")
    assert done.returncode == 1 and done.stderr.startswith("cell.json: ") and "Traceback" not in done.stderr
