"""JupyterLab over one notebook that a test writes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from lab import Lab
from nbformat.v4 import new_code_cell, new_notebook

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def write(path: Path, cells: Sequence[nbformat.NotebookNode]) -> Path:
    """Write a notebook of these cells, for the kernel of this environment."""
    nbformat.write(new_notebook(cells=list(cells), metadata={"kernelspec": KERNEL}), path)
    return path


@contextlib.contextmanager
def lab_over(root: Path, name: str, sources: Sequence[str]) -> Iterator[Lab]:
    """JupyterLab with a notebook of these code cells. It ends with an AssertionError if a page had an error
    of JavaScript."""
    write(root / name, [new_code_cell(source) for source in sources])
    with Lab(root) as running:
        yield running
    assert running.errors == []
