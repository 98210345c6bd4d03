"""Write the student form of the course: the notebooks without outputs, solutions and answers.

    python site/student.py FOLDER

The notebooks in `notebooks/` are the teacher form. They are stored executed, and what answers the questions
of "Predict first" lies below a folded heading. In the student form these sections are open, because there is
nothing to see before a cell has run. `check` still judges each exercise and gives a hint.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
ANSWERS = "answers"  # the tag of a text that answers a question of "Predict first"
FOLDED = "jp-MarkdownHeadingCollapsed"  # JupyterLab's name for a folded heading
SOLUTION = re.compile(r"solution(-\d+)?")

Notebook = dict[str, Any]


def for_students(teacher: Notebook) -> Notebook:
    """Return the student form of a notebook."""
    cells = [copy.deepcopy(cell) for cell in teacher["cells"] if not answers(cell)]
    for cell in cells:
        cell["metadata"].pop(FOLDED, None)
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return {**teacher, "cells": cells}


def answers(cell: dict[str, Any]) -> bool:
    """Return whether a cell answers a question or solves an exercise."""
    return ANSWERS in cell["metadata"].get("tags", ()) or bool(SOLUTION.fullmatch(cell["id"]))


def write_all(folder: Path, notebooks: Path = NOTEBOOKS) -> None:
    """Write the student form of every notebook, in English and in Korean, to a folder."""
    for path in sorted(notebooks.rglob("*.ipynb")):
        if ".ipynb_checkpoints" in path.parts:
            continue
        target = folder / path.relative_to(notebooks)
        target.parent.mkdir(parents=True, exist_ok=True)
        student = for_students(json.loads(path.read_text(encoding="utf-8")))
        target.write_text(json.dumps(student, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder to write to")
    write_all(parser.parse_args().folder)
