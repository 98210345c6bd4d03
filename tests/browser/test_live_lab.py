"""Live values in JupyterLab, where the kernel computes them, by mouse and by keys, light and dark."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from lab import Lab, missing
from nbformat.v4 import new_code_cell, new_notebook
from test_live_values import CELL, Player, follows

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

CELLS = [
    "import minigrad_viz\n%load_ext minigrad_viz\nimport minigrad as torch",
    f"%%autograd --lang en --step --live --no-table\n{CELL}",
]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    root = tmp_path_factory.mktemp("live")
    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, Path(root) / "live.ipynb")
    with Lab(root) as running:
        yield running
    assert running.errors == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_in_jupyterlab(lab, theme):
    page = lab.open("live.ipynb", theme=theme, width=1280, height=1400)
    assert lab.run_all(page) == []
    follows(Player(page))
