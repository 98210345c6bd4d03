"""Run in Pyodide: films, images and pages of PDF of a cell, opened again; a line of JSON."""

import io
import json
import tempfile
from pathlib import Path

import pypdf
from cells import CELLS, traced
from PIL import Image

from minigrad_viz.shell.report import Report

NAMES = ("film.gif", "film.webp", "step.png", "graph.png")


def opened(path):
    """The frames and the size of an image, and how many shades its first frame has."""
    image = Image.open(io.BytesIO(path.read_bytes()))
    return [getattr(image, "n_frames", 1), *image.size, len(set(image.convert("L").getdata()))]


if __name__ == "__main__":
    report = Report(traced(CELLS[4]), lang="en")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in NAMES]
        for path in paths:
            step = {"step": 4} if path.stem == "step" else {"size": "chat"} if path.stem == "film" else {}
            report.save(path, **step)
        found = {path.name: opened(path) for path in paths}
        for path in (Path(folder, "step.pdf"), Path(folder, "slides.pdf"), Path(folder, "worksheet.pdf")):
            if path.stem == "step":
                report.save(path, step=4)
            else:
                getattr(report, path.stem)(path)
            pages = pypdf.PdfReader(io.BytesIO(path.read_bytes())).pages
            found[path.name] = [len(pages), [round(float(side)) for side in pages[0].mediabox[2:]]]
        found["steps"] = len(report.frames)
    print(json.dumps(found))
