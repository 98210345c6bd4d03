"""Run notebooks of the course from the top, in English and in Korean, and store what they print:

    python tests/helpers/store_notebooks.py [NAME ...]

All of them without a name. The code of a Korean notebook is taken from the English one first. Nothing of the
machine or of the moment is kept: no times, no version of Python. Nor is the trace beside a picture, which
nbformat would write in a thousand lines.
"""

from __future__ import annotations

import copy
import os
import sys
from pathlib import Path

import korean
import nbformat
from course import ALL, FOLDER
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from minigrad_viz.trace.bundle import TRACE


def store(path: Path, language: str) -> None:
    """Run a notebook's cells in a new kernel, in a language, and write it back with their outputs.

    nbclient.exceptions.CellExecutionError if a cell raises that is not tagged `raises-exception`; the file is
    then left as it was.
    """
    notebook = nbformat.read(path, as_version=4)
    metadata = copy.deepcopy(notebook.metadata)
    client = NotebookClient(
        notebook,
        timeout=120,
        record_timing=False,
        coalesce_streams=True,  # a busy kernel may send one print in two parts
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute(env=os.environ | {"MINIGRAD_LANG": language})
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(TRACE, None)
    notebook.metadata = metadata  # without the version of Python that the kernel entered
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def main(names: list[str]) -> int:
    """The exit status: 1 if a notebook could not be run to its end."""
    status = 0
    for name in names:
        try:
            english, translated = FOLDER / f"{name}.ipynb", korean.KOREAN / f"{name}.ipynb"
            store(english, "en")
            korean.store(translated, korean.rebuilt(korean.read(english), korean.read(translated)))
            store(translated, "ko")
        except CellExecutionError as error:
            status = 1
            print(f"{name}: {error}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ALL))
