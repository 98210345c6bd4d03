"""The page `docs/where.md`: `python tests/helpers/where_page.py > docs/where.md`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "where.md"
HEAD = """\
# Where is …?

Which file of minigrad contains what. A file is one topic: to see everything about one operation (its kernel,
its derivative, the public function and the method) you open one or two. Each op is declared as `def name`, or
its name is written out as a whole, so a search for `gelu` or `max_pool2d_with_indices` finds it. Lower parts
never import higher ones; this page goes upwards.

The text of an error is in one file, which the last line of the traceback names: that of its op, or
[core/guards.py](../minigrad/core/guards.py) if several modules check the same. It is PyTorch's, and the rules
in [minigrad_viz/explaining](../minigrad_viz/explaining) look for it: search there before you change one.

At its end stand [the files of minigrad_viz](#minigrad_viz-what-all-its-parts-use), upwards, too.
[From a cell to a picture](viewer.md) follows a cell through them.
"""
PARTS = {
    "core": "the machine",
    "inplace": "in-place ops and views",
    "ops": "operations by topic",
    "creation": "new tensors",
    "tensor": "the class Tensor",
    "autograd": "torch.autograd",
    "func": "torch.func",
    "nn": "torch.nn",
    "optim": "torch.optim",
    "distributions": "torch.distributions",
    "utils": "torch.utils",
    "": "the rest of torch",
}
VIEWER = {
    "": "what all its parts use",
    "words": "the catalogue of texts",
    "trace": "what happened in a cell, as data",
    "sources": "how the libraries are watched",
    "recording": "the recorder",
    "replay": "a recorded cell, computed again",
    "model": "Trace → Scene → graph",
    "flow": "how gradients flow, and would flow",
    "arithmetic": "formulas and numbers of a step",
    "predicting": "questions and answers",
    "drawing": "graph → picture",
    "explaining": "errors and silent mistakes",
    "steps": "what the player says",
    "comparing": "two runs side by side",
    "player": "steps and picture as a page",
    "sharing": "films, slides, worksheets",
    "shell": "what a user calls",
    "course": "what the notebooks use",
    "training_faults": "why a training run does not learn",
    "training_runs": "the doctor, which watches a run",
}


def sentence(path: Path) -> str:
    """The first paragraph of a module's docstring, in one line."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(doc.partition("\n\n")[0].split())


def part(root: str, package: str, title: str, files: Iterable[Path]) -> str:
    """The files of a package, under its title."""
    folder = ROOT / root / package
    lines = [
        f"- [{path.relative_to(folder).as_posix()}](../{path.relative_to(ROOT).as_posix()}): {says}"
        for path in sorted(files)
        if path.name != "__init__.py" and (says := sentence(path))
    ]
    return "\n".join([f"## {package or root}: {title}\n", *lines, ""])


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for package, title in PARTS.items():
        folder = ROOT / "minigrad" / package
        files = folder.rglob("*.py") if package else [*folder.glob("*.py"), *folder.glob("backends/*.py")]
        parts.append(part("minigrad", package, title, files))
    for package, title in VIEWER.items():
        folder = ROOT / "minigrad_viz" / package
        parts.append(
            part("minigrad_viz", package, title, folder.rglob("*.py") if package else folder.glob("*.py"))
        )
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
