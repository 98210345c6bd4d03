"""Run in Python and in Pyodide: what the viewer shows of the documented cells, as one line of JSON."""

import hashlib
import json
import tempfile
from pathlib import Path

from cells import CELLS, traced

from minigrad_viz.shell.report import Report


def shown(code):
    report = Report(traced(CELLS[code]), lang="en")
    parts = {
        "svg": report.picture.svg() or report.picture.problem,
        "page": report.html(),
        "text": report.text(steps=True),
    }
    if code in FILES:
        parts |= files(report)
    return {name: [len(part), hashlib.sha256(part.encode()).hexdigest()] for name, part in parts.items()}


def files(report):
    """What is written without a program that draws PNG: slides, TikZ, a worksheet, the trace."""
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(folder, name) for name in ("slides.html", "slides.ipynb", "slides.tex")]
        written = [report.slides(name) for name in names]
        written.append(report.worksheet(Path(folder, "worksheet.ipynb")))
        written += [report.save(Path(folder, f"step.{kind}"), step=3) for kind in ("svg", "tex")]
        return {path.name: path.read_text(encoding="utf-8") for path in written}


FILES = (4, 9)  # cells of which all files are written

if __name__ == "__main__":
    print(json.dumps({str(code): shown(code) for code in CELLS}))
