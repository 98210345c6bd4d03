"""Run in Python and in Pyodide: what the viewer shows of the documented cells, as one line of JSON."""

import hashlib
import json

from cells import CELLS, traced

from minigrad_viz.shell.report import Report


def shown(code):
    report = Report(traced(CELLS[code]), lang="en")
    parts = {
        "svg": report.picture.svg() or report.picture.problem,
        "page": report.html(),
        "text": report.text(steps=True),
    }
    return {name: [len(part), hashlib.sha256(part.encode()).hexdigest()] for name, part in parts.items()}


if __name__ == "__main__":
    print(json.dumps({str(code): shown(code) for code in CELLS}))
