"""The kernel of its own, started by JupyterLab in a browser: a plain cell gets its player and its table."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from lab import Lab, missing
from nbformat.v4 import new_code_cell, new_notebook

from minigrad_viz.shell import kernel

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=missing())]

ROOT = Path(__file__).resolve().parent.parent.parent
CELL = "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\nz = torch.log(y)\nz.backward()"


def write_notebook(path: Path) -> None:
    """A notebook for the kernel; no cell of it has a magic."""
    cells = [new_code_cell("import minigrad as torch"), new_code_cell(CELL), new_code_cell("print('plain')")]
    notebook = new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": kernel.NAME, "display_name": kernel.DISPLAY_NAME}
    nbformat.write(notebook, path)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    write_notebook(tmp_path / "plain.ipynb")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("MINIGRAD_LANG", "en")
    with Lab(tmp_path) as running:
        monkeypatch.setenv("JUPYTER_DATA_DIR", str(running.server.scratch / "data"))
        kernel.install(user=True)
        yield running
    assert running.errors == []


def test_a_notebook_without_any_magic(lab):
    page = lab.open("plain.ipynb", width=1000, height=900)
    assert page.get_by_text("Python 3 (autograd)").first.is_visible()
    assert lab.run_all(page) == []
    outputs = page.locator(".jp-CodeCell .jp-OutputArea")
    assert "AccumulateGrad" not in outputs.nth(0).inner_text()
    shown = outputs.nth(1)
    assert shown.locator("svg.mg").count() == 1
    assert shown.locator("svg.mg").first.bounding_box()["width"] > 100
    assert shown.locator("table.mgt caption").inner_text().startswith("State of the tensors")
    assert outputs.nth(2).inner_text().strip() == "plain"
