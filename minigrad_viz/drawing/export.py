"""A picture as PNG or PDF, without a system program: `pip install "minigrad-viz[export]"`.

`resvg` and `svg2pdf` read SVG with the same code, so both files look alike. They have no CSS variables and no
font behind a general name such as `system-ui`, so colors are resolved and common font families are named.
They leave out a character that no font has without a word, so that is tested first.
"""

from __future__ import annotations

import re

from ..words import text
from .layout_errors import LayoutError
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
