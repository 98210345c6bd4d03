"""The steps of a cell as slides: a page that needs nothing else, a notebook for `jupyter nbconvert --to
slides`, a PDF with a page for each step, or a folder of SVG files for a paper.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from ..drawing.export import address, whole_page
from ..words import clean, language
from .step_pages import StepPages, join_pages

STYLE = (
    "body{margin:0;padding:0;max-width:none}section{display:none}section.shown{display:block}"
    "img{display:block;width:100vw;height:100vh;object-fit:contain}"
    "@media print{section{display:block;break-after:page}}"
)


def save_slides(path: Path, pages: StepPages, source: str, player: dict[str, Any]) -> None:
    """Write a page for each step: into a notebook (.ipynb) behind the cell `source` with its output `player`,
    by MIME type; into an .html page or a .pdf; or, where the name has no ending, as .svg files into a folder
    of that name. ValueError for another ending; LayoutError where a .pdf needs the extra "export"."""
    kind = path.suffix.lower()
    if kind == ".ipynb":
        path.write_text(
            json.dumps(notebook(pages, source, player), ensure_ascii=False, indent=1) + "\n", "utf-8"
        )
    elif kind == ".html":
        path.write_text(page(pages, title=source.strip().split("\n")[-1]), encoding="utf-8")
    elif kind == ".pdf":
        path.write_bytes(join_pages(map(pages.svg, range(1, len(pages) + 1)), pages.lang))
    elif not kind:
        path.mkdir(parents=True, exist_ok=True)
        for step in range(1, len(pages) + 1):
            file = path / f"step-{step:0{len(str(len(pages)))}}.svg"
            file.write_text(pages.svg(step), encoding="utf-8")
    else:
        raise ValueError(f"cannot write slides as {kind!r}: use .html, .ipynb, .pdf or a folder")


def page(pages: StepPages, title: str) -> str:
    """A page with one slide at a time, which the arrow keys turn; `#step=3` in its address opens one."""
    body = "".join(
        f'<section><img src="{address(pages.svg(step))}" alt="{html.escape(clean(frame.text))}"></section>'
        for step, frame in enumerate(pages.frames, 1)
    )
    script = Path(__file__).with_name("slides.js").read_text(encoding="utf-8")
    style = f"<style>body{{background:{pages.background}}}{STYLE}</style>"
    return whole_page(title, f"{style}{body}<script>{script}</script>", pages.lang or language())


def notebook(pages: StepPages, source: str, player: dict[str, Any]) -> dict[str, Any]:
    """A notebook whose first slide is the cell with its player; below it stands a slide for each step."""
    cell = {
        "cell_type": "code",
        "id": "cell",
        "metadata": {"slideshow": {"slide_type": "slide"}},
        "execution_count": None,
        "source": f"%%autograd\n{source}",
        "outputs": [{"output_type": "display_data", "metadata": {}, "data": player}],
    }
    steps = [
        {
            "cell_type": "markdown",
            "id": f"step-{step}",
            "metadata": {"slideshow": {"slide_type": "subslide"}},
            "source": f'<img src="{address(pages.svg(step))}" alt="{html.escape(clean(frame.text))}">',
        }
        for step, frame in enumerate(pages.frames, 1)
    ]
    load: dict[str, Any] = {
        "cell_type": "code",
        "id": "load",
        "metadata": {"slideshow": {"slide_type": "skip"}},
        "execution_count": None,
        "source": "%load_ext minigrad_viz",
        "outputs": [],
    }
    return {"cells": [load, cell, *steps], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
