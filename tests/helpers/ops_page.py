"""The page of the docs on ops, out of PyTorch's own table of ops and of what deviates:

python tests/helpers/ops_page.py > docs/ops.md
"""

from __future__ import annotations

from pathlib import Path

from opinfo import entries, named, table
from opinfo_checks import CHECKS
from opinfo_deviations import DEVIATIONS

from minigrad import func, left_out, nn, tables
from minigrad.core import public

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ops.md"
GROUPS = {"nn.functional.": "nn.functional", "linalg.": "linalg", "special.": "special"}

HEAD = """# PyTorch's ops in minigrad

PyTorch has a table of its ops for its own tests (`OpInfo`). minigrad's tests run every op that both libraries
have on the samples of that table. They compare values, dtypes and shapes in eleven dtypes, gradients and
second gradients, the names of nodes and of saved values, forward mode, and the class and text of errors.
`tests/helpers/ops_page.py` writes this page.

minigrad has **{have} of the {all} names** in the table (PyTorch 2.13). {exact} of their {titles} entries do
not differ at all; the table below has the others. Some special functions need SciPy, which is optional:
`pip install "minigrad-viz[scipy]"`. [Add an op in 5 minutes](add_an_op.md) shows how an op is declared.
"""

FORMS = """## Forms

How each name of `torch` and `Tensor` can be called, from the declarations: as a function `torch.name(x)`, as
a method `x.name()`, in place `torch.name_(x)` and `x.name_()`, and with `out=`.

"""
TITLES = {
    "function": "function", "method": "method", "function_": "function in place",
    "method_": "method in place",
}  # fmt: skip
PUBLISHING = (nn, func)  # subpackages that publish names of `torch`, which are there once these are imported

LEFT_OUT = """## Left out

PyTorch has these names, and minigrad leaves them out (`minigrad/tables/left_out.txt`). Using one raises an
AttributeError that names this page.

"""

ARGUMENTS = """## Arguments left out

These functions of PyTorch are there, but refuse some arguments, with a NotImplementedError.

"""


def group_of(name: str) -> str:
    return next((group for start, group in GROUPS.items() if name.startswith(start)), "torch, Tensor")


def forms() -> str:
    """The published names, grouped by the forms in which they can be called."""
    groups: dict[str, list[str]] = {}
    for each in public.names:
        titles = [title for form, title in TITLES.items() if form in each.forms]
        titles += ["`out=`"] if each.out else []
        groups.setdefault(", ".join(titles), []).append(each.name)
    lines = [f"- {title}: {', '.join(f'`{n}`' for n in sorted(names))}" for title, names in groups.items()]
    return "\n".join(sorted(lines)) + "\n"


def page() -> str:
    """The page as Markdown."""
    names = sorted({entry.name for entry in table()})
    have = [name for name in names if named(name) is not None]
    exact = [title for title in entries() if not any((title, check) in DEVIATIONS for check in CHECKS)]
    parts = [HEAD.format(have=len(have), all=len(names), exact=len(exact), titles=len(entries()))]
    for group in ("torch, Tensor", *GROUPS.values()):
        mine = [name.removeprefix(f"{group}.") for name in have if group_of(name) == group]
        parts.append(f"## {group}\n\n{', '.join(f'`{name}`' for name in mine)}\n")
    parts.append(FORMS + forms())
    rows = [f"| `{title}` | {check} | {reason} |" for (title, check), reason in sorted(DEVIATIONS.items())]
    parts.append("## What differs\n\n| entry | in | because |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    lines = [
        f"- {namespace}: {', '.join(f'`{name}`' for name in words)}"
        for namespace, words in left_out.table().items()
    ]
    parts.append(LEFT_OUT + "\n".join(lines) + "\n")
    arguments = [line for line in tables.lines("left_out.txt") if line.startswith("- ")]
    parts.append(ARGUMENTS + "\n".join(arguments) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
