"""The notebooks of the course as data: their cells, what these print, and what a solution puts in place."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"

CODES = [f"code_{number:02}" for number in range(1, 23)]
TEXTS = [
    *("intro_requires_grad", "intro_polynomial", "intro_partial", "intro_composite"),
    *("graph_linear_regression", "graph_retain", "graph_exercise"),
    *("backward_exp", "backward_gradient", "backward_inputs", "backward_grad_twice"),
]
TRAININGS = ["training_two_moons", "training_digits", "training_letters"]
BY_HAND = [
    "finish_the_backward",
    "finish_a_layer",
    "layer_by_hand",
    "through_time",
    "learning_rate",
    "why_backward",
    "convolution_by_hand",
    "graphs_that_change",
    "attention_by_hand",
    "five_loops",
]
LESSONS = [*CODES, *TEXTS, "from_scratch", "engine_compared", *BY_HAND, *TRAININGS]
PAGES = ["00_start_here", "00_index", "00_map", "00_glossary", "00_sources", "appendix"]
ALL = [*PAGES, *LESSONS]

SOLUTION = re.compile(
    r"<details>\n<summary><b>Solution</b></summary>\n\n.+```python\n(.+)```\n.*\n</details>", re.S
)


@dataclass(frozen=True)
class Cell:
    id: str
    kind: str
    source: str
    tags: tuple[str, ...]
    outputs: list[dict[str, Any]]
    count: int | None

    @property
    def magic(self) -> str:
        """The first line, if it is a cell magic."""
        return self.source.partition("\n")[0] if self.source.startswith("%%") else ""

    @property
    def python(self) -> str:
        """The source without magics."""
        return "\n".join(line for line in self.source.split("\n") if not line.startswith("%"))


@cache
def cells(name: str) -> list[Cell]:
    notebook = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    return [
        Cell(
            cell["id"],
            cell["cell_type"],
            "".join(cell["source"]),
            tuple(cell["metadata"].get("tags", ())),
            cell.get("outputs", []),
            cell.get("execution_count"),
        )
        for cell in notebook["cells"]
    ]


def by_id(name: str) -> dict[str, Cell]:
    return {cell.id: cell for cell in cells(name)}


def code(name: str) -> list[Cell]:
    return [cell for cell in cells(name) if cell.kind == "code"]


def prose(name: str) -> list[Cell]:
    return [cell for cell in cells(name) if cell.kind == "markdown"]


def solved(name: str) -> list[Cell]:
    """The code cells with every answer replaced by its solution."""
    known = by_id(name)
    return [
        Cell(cell.id, "code", solution(known[cell.id.replace("answer", "solution", 1)]), cell.tags, [], None)
        if re.fullmatch(r"answer(-\d+)?", cell.id)
        else cell
        for cell in code(name)
    ]


def solution(cell: Cell) -> str:
    """The code that a solution folds away."""
    found = SOLUTION.fullmatch(cell.source.strip())
    assert found, f"{cell.id} is not: details, summary, a blank line, some prose, one block of Python"
    assert found[1].count("```") == 0
    return found[1]


def printed(cell: Cell) -> str:
    """What the stored output has on stdout."""
    streams = (output for output in cell.outputs if output.get("name") == "stdout")
    return "".join("".join(output["text"]) for output in streams)


def ran(name: str, library: Any, *ids: str) -> dict[str, Any]:
    """The variables that some cells leave, run in this order with a library as `torch`, without magics."""
    variables: dict[str, Any] = {}
    for part in ids:
        source = by_id(name)[part].python
        exec(source.replace("import minigrad as torch", f"import {library.__name__} as torch"), variables)
    return variables
