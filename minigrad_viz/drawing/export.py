"""A picture as a file for programs that have neither CSS variables nor our fonts.

PNG and PDF need no system program but `pip install "minigrad-viz[export]"`. `resvg` and `svg2pdf` read SVG
with the same code, so both files look alike. They have no font behind a general name such as `system-ui`,
so common font families are named. They leave out a character that no font has without a word, so that is
tested first.

An SVG can carry its own fonts, of each one only the glyphs that the picture uses: DejaVu Sans and DejaVu
Sans Mono, which Matplotlib brings. A character that they lack, such as Hangul, is taken from an installed
font that has it. Matplotlib finds the fonts and fontTools, which it needs itself, cuts them down.
"""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Iterator
from typing import Any

from ..words import text
from .bundled import LayoutError
from .still import resolved

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


def exported(svg: str, kind: str, lang: str | None = None) -> bytes:
    """Return the file of `kind`, "png" or "pdf". ImportError without the extra; NoFont where a font lacks."""
    import resvg_py
    import svg2pdf_py

    named = with_families(resolved(svg))
    for sign in ("a", *HANGUL.findall(named)[:1]):
        if not is_drawn(sign):
            raise NoFont(text("export_no_font", lang, sign=sign))
    if kind == "png":
        return bytes(resvg_py.svg_to_bytes(svg_string=named, zoom=ZOOM))
    return bytes(svg2pdf_py.svg_to_pdf(named, svg2pdf_py.FontDatabase.system()))


def with_families(svg: str) -> str:
    """The SVG with fonts that systems have before the general names."""
    return svg.replace("Roboto,sans-serif", SANS).replace('"DejaVu Sans Mono",monospace', MONO)


def is_drawn(sign: str) -> bool:
    """Whether an installed font has a character."""
    import resvg_py

    def drawn(character: str) -> bytes:
        style = f"font:30px {SANS}".replace('"', "'")
        return bytes(resvg_py.svg_to_bytes(svg_string=ONE.format(style=style, sign=character)))

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
        resolved(svg)
        .replace("system-ui,", "mg-sans,system-ui,")
        .replace("ui-monospace,", "mg-mono,ui-monospace,")
    )
    return named.replace("<style>", f"<style>{faces}", 1)


def faces_for(used: set[int], lang: str | None) -> Iterator[str]:
    """Yield a rule for each font that the characters need."""
    from matplotlib.font_manager import FontProperties, findfont

    lacking = set(used)
    for family, name, weight in FACES:
        with opened(findfont(FontProperties(family=name, weight=weight))) as font:
            lacking -= font.getBestCmap().keys()
            yield FACE.format(family=family, weight=weight, data=cut(font, used))
    if lacking:
        with opened(having(lacking, lang)) as font:
            data = cut(font, lacking)
        for family in ("mg-mono", "mg-sans"):
            yield FACE.format(family=family, weight="400 700", data=data)


def having(lacking: set[int], lang: str | None) -> str:
    """Return the file of the first installed font that has all these characters."""
    from matplotlib.font_manager import fontManager

    for entry in fontManager.ttflist:
        if entry.style == "normal" and entry.weight in (400, "normal", "regular"):
            with opened(entry.fname) as font:
                if lacking <= font.getBestCmap().keys():
                    return str(entry.fname)
    raise NoFont(text("export_no_font", lang, sign=chr(min(lacking))))


def opened(path: str) -> Any:
    """Return a font, to be closed; of a collection of fonts, the first."""
    from fontTools.ttLib import TTFont

    return TTFont(path, fontNumber=0, lazy=True)


def cut(font: Any, used: set[int]) -> str:
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
