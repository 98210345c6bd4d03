"""The two forms of the course: what answers a question is folded in the teacher form, and absent from the
student form."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import course
import nbformat
import pytest
from nbclient import NotebookClient

SCRIPT = Path(__file__).resolve().parents[2] / "site" / "student.py"
TEXTS = [*course.ALL, *(f"ko/{path.stem}" for path in sorted((course.FOLDER / "ko").glob("*.ipynb")))]


def loaded() -> ModuleType:
    """The script as a module: `site` is the name of one of Python's own."""
    spec = importlib.util.spec_from_file_location("student", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


student = loaded()


def teacher_form(name: str) -> dict[str, Any]:
    return json.loads((course.FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


def source_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


# ------------------------------------------------------------------------------------------------- teacher


@pytest.mark.parametrize("name", course.LESSONS)
def test_what_answers_a_question_lies_below_a_folded_heading(name):
    cells = teacher_form(name)["cells"]
    ids = [cell["id"] for cell in cells]
    tagged = [
        place for place, cell in enumerate(cells) if student.ANSWERS in cell["metadata"].get("tags", ())
    ]
    assert tagged, "no text answers the questions"
    for place in tagged:
        heading = max(at for at in range(place) if source_of(cells[at]).startswith("## "))
        assert cells[heading]["metadata"].get(student.FOLDED), f"{ids[place]}: {ids[heading]} is open"
        assert ids.index("predict") < heading


@pytest.mark.parametrize("name", course.LESSONS)
def test_only_headings_of_sections_are_folded(name):
    for cell in teacher_form(name)["cells"]:
        if cell["metadata"].get(student.FOLDED):
            assert source_of(cell).startswith("## ") and cell["id"] not in ("predict", "exercise")
        if student.ANSWERS in cell["metadata"].get("tags", ()):
            assert cell["cell_type"] == "markdown" and "\n#" not in source_of(cell)


# ------------------------------------------------------------------------------------------------- student


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """All notebooks in the student form, written by the command."""
    written = tmp_path_factory.mktemp("student")
    subprocess.run([sys.executable, SCRIPT, written], check=True)
    return written


def test_every_notebook_has_a_student_form(folder):
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.ipynb")} == {
        f"{name}.ipynb" for name in TEXTS
    }


@pytest.mark.parametrize("name", TEXTS)
def test_no_output_no_solution_and_no_answer_is_left(folder, name):
    written = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    nbformat.validate(written)
    for cell in written.cells:
        assert not student.answers(cell) and student.FOLDED not in cell.metadata
        assert "<details>" not in cell.source
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


@pytest.mark.parametrize("name", TEXTS)
def test_the_code_and_every_other_text_stay(folder, name):
    """So that the student form runs as the teacher form does, which nbval runs."""
    written = json.loads((folder / f"{name}.ipynb").read_text(encoding="utf-8"))
    expected = [cell for cell in teacher_form(name)["cells"] if not student.answers(cell)]
    assert [(c["id"], source_of(c)) for c in written["cells"]] == [(c["id"], source_of(c)) for c in expected]
    code = [cell["id"] for cell in teacher_form(name)["cells"] if cell["cell_type"] == "code"]
    assert code == [cell["id"] for cell in written["cells"] if cell["cell_type"] == "code"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["00_start_here", "code_03", "ko/code_04"])
def test_a_student_form_runs_and_waits_for_answers(folder, name):
    path = folder / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}})
    client.execute(env=os.environ | {"MINIGRAD_LANG": "en"})
    answer = next(cell for cell in notebook.cells if cell.id == "answer")
    printed = "".join(output.text for output in answer.outputs)  # a busy kernel may send it in two parts
    assert re.match("… 아직" if name.startswith("ko/") else "… Not answered yet", printed)


def test_a_tagged_text_and_a_solution_are_left_out():
    def cell(name: str, **metadata: Any) -> dict[str, Any]:
        return {"id": name, "cell_type": "markdown", "metadata": metadata, "source": [name]}

    folded, tagged = cell("run-text", **{student.FOLDED: True}), cell("read", tags=[student.ANSWERS])
    form = student.for_students(
        {"cells": [folded, tagged, cell("solution"), cell("solution-2"), cell("next")]}
    )
    assert [(c["id"], c["metadata"]) for c in form["cells"]] == [("run-text", {}), ("next", {})]
    assert folded["metadata"] == {student.FOLDED: True}, "the teacher form was changed"
