"""The page `docs/where.md`: `python tests/where_page.py > docs/where.md`."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "where.md"
HEAD = """\
# Where is …?

What stands in which file of minigrad. A file is one topic: to see everything about one operation (its kernel,
its derivative, the public function and the method) you open one or two. Each op is declared as `def name`, or
its name is written out as a whole, so a search for `gelu` or `max_pool2d_with_indices` finds it. Lower parts
never import higher ones; this page goes upwards.
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
    "utils": "torch.utils",
    "": "the rest of torch",
}


def sentence(path: Path) -> str:
    """The first paragraph of a module's docstring, in one line."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(doc.partition("\n\n")[0].split())


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for package, title in PARTS.items():
        folder = ROOT / "minigrad" / package
        files = sorted(
            folder.rglob("*.py") if package else [*folder.glob("*.py"), *folder.glob("backends/*.py")]
        )
        lines = [
            f"- [{path.relative_to(folder).as_posix()}](../{path.relative_to(ROOT).as_posix()}): {says}"
            for path in files
            if path.name != "__init__.py" and (says := sentence(path))
        ]
        parts.append("\n".join([f"## {package or 'minigrad'}: {title}\n", *lines, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
