"""A picture as an image in a page, and what else stands on a page.

A player replaces the image by its own picture. Most of that picture is in the image, so the player takes it
from there (`whole` in `stepper_parts.js`), and only the rest is passed to it.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from string import Template
from typing import NamedTuple

from ..words import clean
from .style import DARK, LIGHT, rules

SMALLEST = 1.0  # a picture never shrinks with its column but scrolls: its smallest words are 11 pixels high
STYLE = re.compile(r"<style>.*?</style>", re.S)
VARIABLE = re.compile(r"var\(--(\w+)\)")
GROUP = re.compile(r'<g((?: [\w-]+="[^"]*")*)>(?:<title>(.*?)</title>)?', re.S)

# Where scripts run, the <img> becomes inline SVG: tooltips work and the theme follows the page, not the
# system. VS Code runs a script at the end of what holds it, so the image is found by its attribute.
SWAP = (
    "<script>(()=>{const i=document.currentScript.parentNode.querySelector('img[data-mgi]');if(!i)return;"
    "const s=new DOMParser().parseFromString(decodeURIComponent(i.src.slice(i.src.indexOf(',')+1)),"
    "'image/svg+xml').documentElement;s.style.minWidth=i.style.minWidth;"
    "i.replaceWith(document.importNode(s,true))})()</script>"
)


class Parted(NamedTuple):
    """A picture in two: `still` is to be seen; `head`, which begins the whole, and the groups' ids and
    tooltips are not."""

    still: str
    head: str
    groups: list[tuple[str, ...]]


def parted(svg: str, prefix: str) -> Parted | None:
    """A picture of ours, and the same without its descriptions, ids and tooltips. None for one that Graphviz
    drew."""
    found = STYLE.search(svg)
    if found is None:
        return None
    head, body = svg[: found.start()], svg[found.end() :]
    groups: list[tuple[str, ...]] = []

    def plain(group: re.Match[str]) -> str:
        attributes, title = group[1], group[2]
        id = re.search(f' id="{re.escape(prefix)}([^"]*)"', attributes)
        groups.append(((id[1],) if id else ()) if title is None else (id[1] if id else "", title))
        return f"<g{attributes.replace(id[0], '') if id else attributes}>"

    shown = GROUP.sub(plain, body)
    start = re.sub(r' (role|aria-labelledby)="[^"]*"', "", head[: head.index(">") + 1])
    return Parted(start + found[0] + shown, head, groups)


def resolved(svg: str) -> str:
    """A picture for programs that do not know CSS variables: with the colors themselves, those of a light
    page unless the picture is dark. CairoSVG takes `height:auto` for no height at all. One that Graphviz drew
    stays as it is."""
    if STYLE.search(svg) is None:
        return svg
    colors = DARK if 'class="mg mg-dark' in svg else LIGHT
    style = VARIABLE.sub(lambda found: colors[found[1]], rules().replace(";height:auto", ""))
    return STYLE.sub(lambda _: f"<style>{style}</style>", svg, count=1)


def bare(svg: str) -> str:
    """A picture for a page that has `style.every_theme()`."""
    return STYLE.sub("", svg, count=1)


def image(svg: str, outline: str) -> str:
    """An `<img>` with its outline as alternative text."""
    alt = html.escape(outline, quote=True).replace("\n", "&#10;")
    size = f"max-width:100%;min-width:{width_of(svg) * SMALLEST:.0f}px"
    return f'<img src="{address(svg)}" alt="{alt}" style="{size}">'


def swapped(svg: str, outline: str) -> str:
    """An image that becomes inline SVG where scripts run."""
    still = image(svg, outline).replace("<img ", "<img data-mgi ", 1)
    return f'<div style="overflow-x:auto">{still}{SWAP}</div>'


def address(svg: str) -> str:
    """SVG as an address that may stand in double quotes in a page; shorter than base64."""
    quoted = svg.replace("'", "&#39;").replace('"', "'").replace("%", "%25").replace("#", "%23")
    return "data:image/svg+xml," + quoted.replace("\n", "%0A").replace("&", "&amp;")


def width_of(svg: str) -> float:
    """The width that an SVG says it has, in pixels; Graphviz counts in points."""
    found = re.search(r'<svg[^>]* width="([\d.]+)(pt)?"', svg)
    return 0.0 if found is None else float(found[1]) * (4 / 3 if found[2] else 1)


def whole_page(title: str, body: str, lang: str) -> str:
    """A whole HTML page, which needs nothing else."""
    page = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    return page.substitute(lang=lang, title=html.escape(clean(title)), body=body)


def preformatted(lines: str) -> str:
    """Lines of a terminal on a page."""
    return f"<pre>{html.escape(lines)}</pre>"


def paragraph(sentence: str) -> str:
    """A sentence above or below a picture."""
    style = "font:13px system-ui,sans-serif;margin:.3em 0"
    return f'<p style="{style}">{html.escape(sentence)}</p>'
