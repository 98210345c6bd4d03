"""How Sphinx builds these pages: `python -m sphinx -W -b html docs docs/_build`.

The texts are Markdown. Docstrings use one mark: `code` in backticks. What reStructuredText would read as
another mark (`x_`, `*size`, `|x|`) is escaped before autodoc reads them.
"""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

from pygments.lexers.special import TextLexer

from minigrad.version import __version__

project = "minigrad"
author = copyright = "The minigrad developers"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "minigrad"
html_copy_source = False
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links to source files, which are not part of the site

default_role = "code"
add_module_names = False
autodoc_member_order = "alphabetical"
autodoc_typehints = "none"
napoleon_numpy_docstring = False
napoleon_custom_sections = ["Shape", "Derivative", "Source"]

SECTION = re.compile(r"(Args|Shape|Returns|Yields|Raises|Derivative|Source|Example|Examples): +(?=\S)")
MARK = re.compile(r"(?<!\\)([*|]|(?<=\w)_+(?!\w))")


def escaped(line: str) -> str:
    """Return a line in which only backticks are marks."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else MARK.sub(r"\\\1", part) for part in parts)


def read_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let `Shape: text` begin a section, and escape what is not an example."""
    new: list[str] = []
    example = False
    for line in lines:
        example = line.lstrip().startswith((">>>", "...")) or (example and bool(line.strip()))
        section = None if example else SECTION.match(line)
        if section:
            new += ["", section[1] + ":", "    " + escaped(line[section.end() :])]
        else:
            new.append(line if example else escaped(line))
    lines[:] = new


def is_left_out(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Return True for what a namespace only imports: modules, and names of other libraries."""
    module = getattr(obj, "__module__", None) or ""
    return True if isinstance(obj, ModuleType) or not module.startswith("minigrad") else None


def setup(app: Any) -> None:
    """Connect the two functions to autodoc's events, and let sessions of the debugger stand as they are."""
    app.add_lexer("pdb", TextLexer)
    app.connect("autodoc-process-docstring", read_docstring, priority=400)  # before napoleon, which has 500
    app.connect("autodoc-skip-member", is_left_out)
