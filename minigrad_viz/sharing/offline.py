"""Notebooks as pages and as slides that need no network, for `jupyter nbconvert --to offline` and
`--to offline_slides`: formulas are MathML, and no script comes from the web.

What nbconvert writes loads MathJax, require.js, jQuery and mermaid, and its slides fail without them. Slides
still take reveal.js from where `--reveal-prefix` says.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from nbconvert.exporters import HTMLExporter, SlidesExporter
from traitlets import default

from .mathml import mathml

MATH = re.compile(r"(`+).+?\1(?!`)|\$\$(.+?)\$\$|(?<![\\\w])\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)", re.DOTALL)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
# What Markdown would read as its own signs.
ENTITIES = str.maketrans({sign: f"&#{ord(sign)};" for sign in "*_`\\$~[]|"})
STYLE = (
    "<style>math mtable.aligned mtd:nth-child(odd){text-align:right}"
    "math mtable.aligned mtd:nth-child(even),math mtable.cases mtd{text-align:left}</style>"
)
HEAD = (
    "{% block html_head_js %}{% endblock %}"
    "{% block html_head_js_mathjax %}{% endblock %}"
    f"{{% block html_head_css %}}{{{{ super() }}}}{STYLE}{{% endblock %}}"
)
REVEAL = """{% block footer_js %}
{% set reveal = resources.reveal %}
{% set folder = reveal.url_prefix %}
<script src="{{ folder }}/dist/reveal.js"></script>
<script src="{{ folder }}/plugin/notes/notes.js"></script>
<script>
const moves = matchMedia("(prefers-reduced-motion: no-preference)").matches;
Reveal.initialize({ history: true, plugins: [RevealNotes],
  "transition": moves ? "{{ reveal.transition or "slide" }}" : "none",
  slideNumber: "{{ reveal.number or "" }}",
  width: {{ reveal.width or 960 }}, height: {{ reveal.height or 700 }} });
</script>
{% endblock %}"""


def with_mathml(text: str) -> str:
    """Markdown whose formulas are MathML; those in code are code."""
    parts, at = [], 0
    for fence in FENCE.finditer(text):
        parts += [MATH.sub(as_mathml, text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, MATH.sub(as_mathml, text[at:])])


def as_mathml(found: re.Match[str]) -> str:
    """A formula as MathML that Markdown leaves alone."""
    if found[1]:
        return found[0]
    shown = mathml(found[2] or found[3], block=found[2] is not None)
    return re.sub(r"[^<>]+(?=<)|(?<=\")[^\"<>]*(?=\")", lambda part: part[0].translate(ENTITIES), shown)


class Offline:
    """What both exporters do: each formula of a text is MathML before it is read as Markdown."""

    def from_notebook_node(self, nb: Any, resources: Any = None, **options: Any) -> Any:
        """The page of a notebook, with its resources."""
        nb = copy.deepcopy(nb)
        for cell in nb.cells:
            if cell.cell_type == "markdown":
                cell.source = with_mathml(cell.source)
        return super().from_notebook_node(nb, resources, **options)  # type: ignore[misc]


class OfflinePage(Offline, HTMLExporter):
    """`jupyter nbconvert --to offline lesson.ipynb`"""

    export_from_notebook = "HTML, offline"  # JupyterLab's menu
    raw_template = "{% extends 'lab/index.html.j2' %}" + HEAD


class OfflineSlides(Offline, SlidesExporter):
    """`jupyter nbconvert --to offline_slides cell.ipynb --reveal-prefix reveal`"""

    export_from_notebook = "Reveal.js slides, offline"
    raw_template = "{% extends 'reveal/index.html.j2' %}" + HEAD + REVEAL

    @default("reveal_theme")
    def _theme_with_its_own_fonts(self) -> str:
        return "white"
