"""The steps of a cell as slides: a page that needs nothing else, a notebook for `jupyter nbconvert --to
slides`, a PDF with a page for each step, or TikZ or a folder of SVG files for a paper.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from ..drawing.export import address, whole_page
from ..words import clean, language
from .step_pages import StepPages, join_pages
from .tikz import tikz_document

STYLE = (
    "body{margin:0;padding:0;max-width:none}section{display:none}section.shown{display:block}"
    "img{display:block;width:100vw;height:100vh;object-fit:contain}"
    "@media print{section{display:block;break-after:page}}"
)


# A page of reveal.js is smaller than its window, which it fits by a scale. The steps and the player fill the
# window instead, so that no word is smaller than on the pages themselves.
REVEAL = """<style>
.reveal { --wide: calc(var(--viewport-width, 1280px) / var(--slide-scale, 1)); }
.reveal { --high: calc(var(--viewport-height, 720px) / var(--slide-scale, 1)); }
.reveal section section:has(img.step, .mgp) {
  position: fixed !important; inset: 50% auto auto 50% !important; translate: -50% -50%;
  width: var(--wide); height: var(--high); padding: 0 !important; overflow: auto;
}
.reveal section section:has(img.step) :not(img) { padding: 0 !important; margin: 0 !important; }
.reveal section img.step {
  display: block; width: var(--wide); height: var(--high); max-width: none; max-height: none; margin: 0;
  object-fit: contain;
}
.reveal section section:has(img.step) .jp-InputPrompt { display: none; }
.reveal section section:has(.mgp) :is(.jp-Cell-inputWrapper, .jp-OutputPrompt) { display: none; }
.reveal .mgp { zoom: calc(1.65 / var(--slide-scale, 1)); }
</style>"""


def save_slides(path: Path, pages: StepPages, source: str, player: dict[str, Any]) -> None:
    """Write a page for each step: into a notebook (.ipynb) behind the cell `source` with its output `player`,
    by MIME type; into an .html page, a .pdf or, as TikZ, a .tex document; or, where the name has no ending,
    as .svg files into a folder of that name. ValueError for another ending; LayoutError where a .pdf needs
    the extra "export"."""
    kind = path.suffix.lower()
    if kind == ".ipynb":
        path.write_text(
            json.dumps(notebook(pages, source, player), ensure_ascii=False, indent=1) + "\n", "utf-8"
        )
    elif kind == ".html":
        path.write_text(page(pages, title=source.strip().split("\n")[-1]), encoding="utf-8")
    elif kind == ".tex":
        steps = enumerate(pages.frames, 1)
        pictures = [f"% {step}: {clean(frame.text)}\n{pages.tikz(step)}" for step, frame in steps]
        path.write_text(tikz_document(pictures), encoding="utf-8")
    elif kind == ".pdf":
        path.write_bytes(join_pages(map(pages.svg, range(1, len(pages) + 1)), pages.lang))
    elif not kind:
        path.mkdir(parents=True, exist_ok=True)
        for step in range(1, len(pages) + 1):
            file = path / f"step-{step:0{len(str(len(pages)))}}.svg"
            file.write_text(pages.svg(step), encoding="utf-8")
    else:
        raise ValueError(f"cannot write slides as {kind!r}: use .html, .ipynb, .pdf, .tex or a folder")


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
    """A notebook whose first slides are the code of a cell and its player; below them is one for each
    step."""
    cell = {
        "cell_type": "code",
        "id": "cell",
        "metadata": {"slideshow": {"slide_type": "subslide"}},
        "execution_count": None,
        "source": f"%%autograd\n{source}",
        "outputs": [{"output_type": "display_data", "metadata": {}, "data": player}],
    }
    steps = []
    for step, frame in enumerate(pages.frames, 1):
        about = html.escape(clean(frame.text))
        image = f'<img class="step" src="{address(pages.svg(step))}" alt="{about}">'
        steps.append(slide(f"step-{step}", "subslide", image))
    load: dict[str, Any] = {
        "cell_type": "code",
        "id": "load",
        "metadata": {"slideshow": {"slide_type": "skip"}},
        "execution_count": None,
        "source": "%load_ext minigrad_viz",
        "outputs": [],
    }
    code = slide("code", "slide", f"```python\n{source.strip()}\n```\n\n{REVEAL}")
    return {"cells": [load, code, cell, *steps], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def slide(id: str, kind: str, source: str) -> dict[str, Any]:
    """A slide of text."""
    metadata = {"slideshow": {"slide_type": kind}}
    return {"cell_type": "markdown", "id": id, "metadata": metadata, "source": source}
