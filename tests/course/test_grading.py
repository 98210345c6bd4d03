"""The examples for Otter and nbgrader in docs/grading: each is graded, with right and with wrong answers.

Where a grader is installed, it grades. Where it is not, the cells run, and the points are counted as that
grader counts them. In nbgrader a cell of tests that raises nothing gains its points. In Otter this is a
function under `test_case` in a file of tests.
"""

from __future__ import annotations

import copy
import importlib.util
import inspect
import re
import runpy
import shutil
import sys
import types
from pathlib import Path

import nbformat
import pytest

HOME = Path(__file__).resolve().parents[2] / "docs" / "grading"
NBGRADER, OTTER = HOME / "nbgrader" / "predict.ipynb", HOME / "otter" / "predict.ipynb"
SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)\n### END SOLUTION", re.S)
ANSWERS = {
    "right": ({"x_grad": "'75*0.008 + 1'", "a_grad": "12"}, {"x_grad": 2, "a_grad": 1}),
    "one path": ({"x_grad": "0.6", "a_grad": "[12][0]"}, {"x_grad": 0, "a_grad": 1}),
    "overwritten": ({"x_grad": "1.6", "a_grad": "6"}, {"x_grad": 2, "a_grad": 0}),
    "nothing": ({"x_grad": "...", "a_grad": "None"}, {"x_grad": 0, "a_grad": 0}),
}
HINTS = {
    "one path": "You followed the path through y only. x is used twice",
    "overwritten": "The value 6. was already in a.grad. backward() adds to it",
}
installed = importlib.util.find_spec


def submission(path: Path, answers: dict[str, str]) -> nbformat.NotebookNode:
    """The notebook as a student hands it in."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        name = cell.source.replace("### BEGIN SOLUTION\n", "").partition(" = ")[0]
        if cell.cell_type == "code" and name in answers and cell.source.count("=") == 1:
            cell.source = f"{name} = {answers[name]}"
    return notebook


def executed(notebook: nbformat.NotebookNode, monkeypatch: pytest.MonkeyPatch) -> nbformat.NotebookNode:
    """The notebook with its outputs."""
    client = pytest.importorskip("nbclient")
    monkeypatch.setenv("MINIGRAD_LANG", "en")
    return client.NotebookClient(
        notebook,
        allow_errors=True,
        kernel_name="python3",
        timeout=120,
        coalesce_streams=True,  # a busy kernel may send one print in two parts
    ).execute()


# ─────────────────────────────────────────────────────────────────────────────────────────────────── nbgrader


def points_of(cell: nbformat.NotebookNode) -> float:
    """The points of a cell of tests that has run."""
    if installed("nbgrader"):
        from nbgrader.utils import determine_grade

        return determine_grade(cell)[0]
    failed = any(output.output_type == "error" for output in cell.outputs)
    return 0 if failed else cell.metadata.nbgrader.points


@pytest.mark.sample(1)
@pytest.mark.parametrize("case", ANSWERS)
def test_nbgrader(case, monkeypatch):
    answers, points = ANSWERS[case]
    notebook = executed(submission(NBGRADER, answers), monkeypatch)
    graded = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert {cell.metadata.nbgrader.grade_id: points_of(cell) for cell in graded} == {
        f"check_{name}": value for name, value in points.items()
    }
    said = "".join(output.get("evalue", "") for cell in graded for output in cell.outputs)
    assert HINTS.get(case, "") in said


@pytest.mark.full
def test_what_is_stored_is_what_a_run_prints(monkeypatch):
    """The source has the solutions, so it is stored with its outputs, as the notebooks of the course are:
    `python tests/helpers/store_notebooks.py ../docs/grading/nbgrader/predict`. nbgrader removes them for
    students."""
    stored = nbformat.read(NBGRADER, as_version=4)
    ran = executed(copy.deepcopy(stored), monkeypatch)
    outputs = [[cell.outputs for cell in each.cells if cell.cell_type == "code"] for each in (stored, ran)]
    assert outputs[0] == outputs[1]
    printed = [output.text for found in outputs[0] for output in found]
    assert printed == ["Right. x.grad = 1.6\n", "Right. a.grad = 6. + 6. = 12.\n"]


def test_the_form_that_nbgrader_reads():
    """What nbgrader asks of the metadata; the students' form has no solution."""
    notebook = nbformat.read(NBGRADER, as_version=4)
    told = [cell.metadata.nbgrader for cell in notebook.cells if "nbgrader" in cell.metadata]
    assert all(
        {"schema_version", "grade_id", "grade", "solution", "locked", "task"} <= set(one) for one in told
    )
    assert len({one.grade_id for one in told}) == len(told)
    assert sum(one.get("points", 0) for one in told) == 3
    solved = [cell.source for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("solution")]
    assert all(SOLUTION.search(source) for source in solved) and len(solved) == 2
    others = [cell.source for cell in notebook.cells if not SOLUTION.search(cell.source)]
    assert not any("1.6" in source or "8 / 5" in source for source in others)


@pytest.mark.skipif(not installed("nbgrader"), reason="nbgrader is not installed")
def test_nbgrader_itself(tmp_path, monkeypatch):
    """From the source to a grade, with nbgrader's own commands."""
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    monkeypatch.chdir(tmp_path)
    (tmp_path / "source" / "predict").mkdir(parents=True)
    shutil.copy(NBGRADER, tmp_path / "source" / "predict")
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    api = NbGraderAPI(config=config)
    assert api.generate_assignment("predict")["success"]
    released = tmp_path / "release" / "predict" / "predict.ipynb"
    assert "8 / 5" not in released.read_text()
    handed = tmp_path / "submitted" / "student" / "predict"
    handed.mkdir(parents=True)
    notebook = nbformat.read(released, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = {"x_grad": "x_grad = 1.6", "a_grad": "a_grad = 6"}[cell.metadata.nbgrader.grade_id]
    nbformat.write(notebook, handed / "predict.ipynb")
    assert api.autograde("predict", "student")["success"]
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as book:
        assert book.find_submission("predict", "student").score == 2


# ────────────────────────────────────────────────────────────────────────────────────────────────────── Otter


def cases_of(path: Path) -> list[tuple[float, object]]:
    """The functions of a file of tests, with their points; `test_case` is Otter's, or does the same."""
    found: list[tuple[float, object]] = []

    def test_case(points: float):
        return lambda function: found.append((points, function)) or function

    stand_in = types.ModuleType("otter.test_files")
    stand_in.test_case = test_case  # type: ignore[attr-defined]
    before = {name: sys.modules.get(name) for name in ("otter", "otter.test_files")}
    sys.modules |= {"otter": types.ModuleType("otter"), "otter.test_files": stand_in}
    try:
        told = runpy.run_path(str(path))
    finally:
        for name, module in before.items():
            sys.modules.pop(name)
            if module is not None:
                sys.modules[name] = module
    assert told["OK_FORMAT"] is False and told["name"] == path.stem
    return found


def variables(notebook: nbformat.NotebookNode) -> dict[str, object]:
    """What the cells leave, without those for Otter."""
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    for cell in notebook.cells:
        if cell.cell_type == "code" and "grader" not in cell.source:
            shell.run_cell(cell.source, store_history=False).raise_error()
    return dict(shell.user_ns)


@pytest.mark.parametrize("case", ANSWERS)
def test_otter_counted_here(case, monkeypatch):
    monkeypatch.setenv("MINIGRAD_LANG", "en")
    answers, points = ANSWERS[case]
    known, said, gained = variables(submission(OTTER, answers)), "", {}
    for path in sorted((OTTER.parent / "tests").glob("*.py")):
        for value, function in cases_of(path):
            try:
                function(**{name: known[name] for name in inspect.signature(function).parameters})
                gained[path.stem] = value
            except AssertionError as error:
                gained[path.stem] = 0
                said += str(error)
    assert gained == points and HINTS.get(case, "") in said


@pytest.mark.skipif(not installed("otter"), reason="Otter is not installed")
@pytest.mark.parametrize("case", ANSWERS)
def test_otter_itself(case, tmp_path, monkeypatch):
    from otter.test_files import ExceptionTestFile

    monkeypatch.setenv("MINIGRAD_LANG", "en")
    answers, points = ANSWERS[case]
    known = variables(submission(OTTER, answers))
    gained, said = {}, ""
    for path in sorted((OTTER.parent / "tests").glob("*.py")):
        file = ExceptionTestFile.from_file(str(path))
        file.run(known)
        gained[path.stem] = file.score
        said += file.summary()
    assert gained == points and HINTS.get(case, "")[:40] in said.replace("\n", " ")


def test_the_notebook_checks_what_there_is():
    """It is the form for students, whose answers are still `...`: no run of it is stored."""
    notebook = nbformat.read(OTTER, as_version=4)
    checked = re.findall(r'grader\.check\("(\w+)"\)', "\n".join(cell.source for cell in notebook.cells))
    assert sorted(checked) == sorted(path.stem for path in (OTTER.parent / "tests").glob("*.py"))
    assert not any(re.search(r"\b1\.6\b|\b12\b", cell.source) for cell in notebook.cells)
    assert not any(cell.get("outputs") for cell in notebook.cells)
