"""A picture as an image in a page, and as a file for programs that have neither CSS variables nor our
fonts.

A player replaces the image by its own picture. Most of that picture is in the image, so the player takes it
from there (`whole` in `stepper_parts.js`), and only the rest is passed to it.

PNG and PDF need no system program but `pip install "minigrad-viz[export]"`. `resvg` and `svg2pdf` read SVG
with the same code, so both files look alike; see `rasterizer`. They have no font behind a general name such
as `system-ui`, so common font families are named. They leave out a character that no font has without a
word, so that is tested first.

An SVG can carry its own fonts, of each one only the glyphs that the picture uses: DejaVu Sans and DejaVu
Sans Mono, which Matplotlib brings. A character that they lack, such as Hangul, is taken from an installed
font that has it. Matplotlib finds the fonts and fontTools, which it needs itself, cuts them down.
"""

from __future__ import annotations

import base64
import functools
import html
import io
import re
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from ..words import clean, text
from .graphviz_wasm import LayoutError
from .rasterizer import IN_BROWSER, font_files, svg_to_pdf, svg_to_png
from .style import DARK, LIGHT, rules

# ─── A picture as an image in a page, and what else stands on a page


SMALLEST = 1.0  # a picture never shrinks with its column but scrolls: its smallest words are 11 pixels high
STYLE = re.compile(r"<style>.*?</style>", re.S)
VARIABLE = re.compile(r"var\(--(\w+)\)")
GROUP = re.compile(r'<g((?: [\w-]+="[^"]*")*)>(?:<title>(.*?)</title>)?', re.S)

# Where scripts run, the <img> becomes inline SVG: tooltips work and the theme follows the page, not the
# system. VS Code runs a script at the end of what holds it, so the image is found by its attribute.
SWAP = (
    "<script>(()=>{const i=document.currentScript.parentNode.querySelector('img[data-mgi]');if(!i)return;"
    "const s=new DOMParser().parseFromString(decodeURIComponent(i.src.slice(i.src.indexOf(',')+1)),"
    "'image/svg+xml').documentElement;s.style.minWidth=i.style.minWidth;s.style.maxWidth='100%';s.style.height='auto';"
    "i.replaceWith(document.importNode(s,true))})()</script>"
)


class SplitPicture(NamedTuple):
    """A picture in two: `still` is to be seen; `head`, which begins the whole, and the groups' ids and
    tooltips are not."""

    still: str
    head: str
    groups: list[tuple[str, ...]]


def split_picture(svg: str, prefix: str) -> SplitPicture | None:
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
    return SplitPicture(start + found[0] + shown, head, groups)


def resolve_colors(svg: str) -> str:
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


def image(svg: str, outline: str, smallest: float = SMALLEST) -> str:
    """An `<img>` with its outline as alternative text, shown in at least `smallest` of its size."""
    alt = html.escape(outline, quote=True).replace("\n", "&#10;")
    size = f"max-width:100%;min-width:{width_of(svg) * smallest:.0f}px"
    return f'<img src="{address(svg)}" alt="{alt}" style="{size}">'


def inline_image(svg: str, outline: str, smallest: float = SMALLEST) -> str:
    """An image that becomes inline SVG where scripts run."""
    still = image(svg, outline, smallest).replace("<img ", "<img data-mgi ", 1)
    return f'<div style="overflow-x:auto">{still}{SWAP}</div>'


def address(svg: str) -> str:
    """SVG as an address that fits between double quotes in a page; shorter than base64."""
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


def terminal_html(lines: str) -> str:
    """Lines of a terminal on a page."""
    return f"<pre>{html.escape(lines)}</pre>"


def paragraph(sentence: str) -> str:
    """A sentence above or below a picture."""
    style = "font:13px system-ui,sans-serif;margin:.3em 0"
    return f'<p style="{style}">{html.escape(sentence)}</p>'


# ─── A picture as a file for programs that have neither CSS variables nor our fonts


ZOOM = 2.0  # pixels of a PNG for one of the picture
SANS = 'Roboto,Arial,"Liberation Sans","DejaVu Sans","Noto Sans","Noto Sans CJK KR",sans-serif'
MONO = '"DejaVu Sans Mono","Liberation Mono","Noto Sans Mono","Noto Sans Mono CJK KR",monospace'
HANGUL = re.compile("[가-힣]")
NOWHERE = "\U0010fffd"  # no font has this character
ONE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
    '<text y="30" style="{style}">{sign}</text></svg>'
)


class NoFont(LayoutError):
    """No installed font has the characters of a picture."""


def export_picture(svg: str, kind: str, lang: str | None = None) -> bytes:
    """Return the file of `kind`, "png" or "pdf". ImportError without the extra; NoFont where a font lacks."""
    resolved = resolve_colors(svg)
    return draw_png(resolved, ZOOM, lang) if kind == "png" else draw_pdf(resolved, lang)


def draw_png(svg: str, zoom: float, lang: str | None = None) -> bytes:
    """Return an SVG with resolved colors as PNG, `zoom` times as large. Errors as in `export_picture`."""
    return svg_to_png(with_families(svg, lang), zoom)


def draw_pdf(svg: str, lang: str | None = None) -> bytes:
    """Return an SVG with resolved colors as a page of PDF. Errors as in `export_picture`."""
    return svg_to_pdf(with_families(svg, lang))


def what_export_needs(error: Exception, lang: str | None = None) -> str:
    """What to install where a package is missing that draws."""
    return text("export_needs_browser" if IN_BROWSER else "export_needs", lang, reason=str(error))


def with_families(svg: str, lang: str | None = None) -> str:
    """The SVG with fonts that systems have before the general names. NoFont where a font lacks."""
    for sign in ("a", *HANGUL.findall(svg)[:1]):
        if not is_drawn(sign, font_files()):
            raise NoFont(text("export_no_font", lang, sign=sign))
    return svg.replace("Roboto,sans-serif", SANS).replace('"DejaVu Sans Mono",monospace', MONO)


@functools.cache
def is_drawn(sign: str, fonts: tuple[str, ...]) -> bool:
    """Whether a font has a character: one of the system or of these files."""

    def drawn(character: str) -> bytes:
        style = f"font:30px {SANS}".replace('"', "'")
        return svg_to_png(ONE.format(style=style, sign=character), 1.0)

    return drawn(sign) not in (drawn(""), drawn(NOWHERE))


FACES = (
    ("mg-mono", "DejaVu Sans Mono", 400),
    ("mg-mono", "DejaVu Sans Mono", 700),
    ("mg-sans", "DejaVu Sans", 400),
)
TAG = re.compile(r"<(style|title|desc)\b.*?</\1>|<[^>]*>", re.S)
FACE = "@font-face{{font-family:{family};font-weight:{weight};src:url(data:font/woff;base64,{data})}}"


def with_fonts(svg: str, lang: str | None = None) -> str:
    """Return the picture with resolved colors and its fonts inside. ImportError without Matplotlib; NoFont
    where no font has a character of the picture; ValueError for a picture in Graphviz's own style."""
    if "<style>" not in svg:
        raise ValueError(text("fonts_style", lang))
    used = {ord(sign) for sign in html.unescape(TAG.sub("", svg)) if sign.isprintable()}
    faces = "".join(faces_for(used, lang))
    named = (
        resolve_colors(svg)
        .replace("system-ui,", "mg-sans,system-ui,")
        .replace("ui-monospace,", "mg-mono,ui-monospace,")
    )
    return named.replace("<style>", f"<style>{faces}", 1)


def faces_for(used: set[int], lang: str | None) -> Iterator[str]:
    """Yield a rule for each font that the characters need."""
    from matplotlib.font_manager import FontProperties, findfont

    lacking = set(used)
    for family, name, weight in FACES:
        with open_font(findfont(FontProperties(family=name, weight=weight))) as font:
            lacking -= font.getBestCmap().keys()
            yield FACE.format(family=family, weight=weight, data=subset_font(font, used))
    if lacking:
        with open_font(font_with(lacking, lang)) as font:
            data = subset_font(font, lacking)
        for family in ("mg-mono", "mg-sans"):
            yield FACE.format(family=family, weight="400 700", data=data)


def font_with(lacking: set[int], lang: str | None) -> str:
    """Return the file of the first installed font that has all these characters."""
    from matplotlib.font_manager import fontManager

    for entry in fontManager.ttflist:
        if entry.style == "normal" and entry.weight in (400, "normal", "regular"):
            with open_font(entry.fname) as font:
                if lacking <= font.getBestCmap().keys():
                    return str(entry.fname)
    raise NoFont(text("export_no_font", lang, sign=chr(min(lacking))))


def open_font(path: str) -> Any:
    """Return a font, to be closed; of a collection of fonts, the first."""
    from fontTools.ttLib import TTFont

    return TTFont(path, fontNumber=0, lazy=True)


def subset_font(font: Any, used: set[int]) -> str:
    """Return the font with only the glyphs of these characters, as WOFF in base64."""
    from fontTools.subset import Options, Subsetter

    options = Options(hinting=False, layout_features=[], name_IDs=[], notdef_outline=True)
    options.drop_tables += ["FFTM"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=used)
    subsetter.subset(font)
    font.flavor = "woff"
    file = io.BytesIO()
    font.save(file)
    return base64.b64encode(file.getvalue()).decode("ascii")
