"""A `graphviz.Digraph` that shows and renders itself where there is no `dot` program.

The `graphviz` package writes DOT and calls `dot` for everything else. `Digraph` asks `layout.render` instead:
SVG and the text formats come from the bundled Graphviz; PNG, PDF and HTML-like labels need a native `dot`,
and say so.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import graphviz

from . import layout

SVG, TEXT = "image/svg+xml", "text/plain"


class Digraph(graphviz.Digraph):
    """`graphviz.Digraph`, which a notebook can display even without the program `dot`. Write
    `from minigrad_viz import Digraph` instead of `from graphviz import Digraph`; it is used in the same way.

    `pipe` and `render` use the bundled Graphviz for what it can do and a native `dot` for the rest; where
    neither can, they raise a `layout.LayoutError` that says what is missing. The display in a notebook then
    falls back to text, which is `outline` or, without one, the DOT source.

    Labels that may hold any text go through `plain`: Graphviz gives `\\N`, `<b>` and `&lt;` a meaning.
    """

    outline: str | None = None
    deadline: float = 2.0  # seconds that a display in a notebook may take
    patience: float = 60.0  # seconds that `pipe` and `render` may take: somebody waits, and can interrupt

    def copy(self) -> Digraph:
        """An independent copy, with its outline and time limits."""
        twin = super().copy()
        twin.outline, twin.deadline, twin.patience = self.outline, self.deadline, self.patience
        return twin

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None, **_: Any
    ) -> dict[str, str | bytes]:
        """What a notebook shows: SVG and text, or text alone where the layout fails."""
        hidden = set(exclude or ())
        wanted = set((SVG, TEXT) if include is None else include) - hidden
        bundle: dict[str, str | bytes] = {}
        for mime, format in ((SVG, "svg"), ("image/png", "png"), ("image/jpeg", "jpeg")):
            if mime in wanted:
                try:
                    image = layout.render(self.source, format, program=self.engine, deadline=self.deadline)
                    bundle[mime] = image.decode() if mime == SVG else image
                except layout.LayoutError:
                    wanted |= {TEXT} - hidden
        if TEXT in wanted:
            bundle[TEXT] = self.source if self.outline is None else self.outline
        return bundle

    def pipe(
        self,
        format: str | None = None,
        *,
        engine: str | None = None,
        encoding: str | None = None,
        quiet: bool = False,
        **native: Any,
    ) -> bytes | str:
        """The drawing as bytes or, given an encoding, as a string. `format` is `self.format` if not given.

        Arguments are those of `graphviz.Digraph.pipe`, of which `renderer`, `formatter` and `neato_no_op`
        need a native `dot`.
        """
        format = _known(format or self.format)
        if _needs_dot(format, native):
            return super().pipe(format, engine=engine, encoding=encoding, quiet=quiet, **native)
        output = layout.render(self.source, format, program=engine or self.engine, deadline=self.patience)
        return output if encoding is None else output.decode(encoding)

    def render(
        self,
        filename: str | os.PathLike[str] | None = None,
        directory: str | os.PathLike[str] | None = None,
        view: bool = False,
        cleanup: bool = False,
        format: str | None = None,
        *,
        outfile: str | os.PathLike[str] | None = None,
        engine: str | None = None,
        quiet: bool = False,
        quiet_view: bool = False,
        raise_if_result_exists: bool = False,
        overwrite_source: bool = False,
        **native: Any,
    ) -> str:
        """Saves the DOT source and the drawing beside it, and returns the path of the drawing.

        Arguments are those of `graphviz.Digraph.render`. The format is `format`, or that of `outfile`'s
        suffix, or `self.format`, which is "pdf" (and needs a native `dot`) unless it was set.
        """
        suffix = "" if outfile is None else Path(outfile).suffix[1:].lower()
        format = _known(format or suffix or self.format)
        if _needs_dot(format, native):
            native |= {"outfile": outfile, "engine": engine, "quiet": quiet, "quiet_view": quiet_view}
            native |= {"raise_if_result_exists": raise_if_result_exists, "overwrite_source": overwrite_source}
            return super().render(
                filename, directory=directory, view=view, cleanup=cleanup, format=format, **native
            )
        if raise_if_result_exists and overwrite_source:
            raise ValueError("overwrite_source cannot be combined with raise_if_result_exists")
        # The drawing first: a layout that fails leaves no file behind.
        image = layout.render(self.source, format, program=engine or self.engine, deadline=self.patience)
        if outfile is not None and filename is None:
            filename = Path(outfile).with_suffix(".gv")
        place = self.directory if directory is None else ""
        source = Path(self.save(filename, directory=directory))
        target = source.with_name(f"{source.name}.{format}") if outfile is None else Path(place, outfile)
        if target.resolve() == source.resolve() and not overwrite_source:
            raise ValueError(f"outfile {target.name!r} is the DOT source (overwrite_source=True allows that)")
        if raise_if_result_exists and target.exists():
            raise graphviz.FileExistsError(f"output file exists: {os.fspath(target)!r}")
        target.write_bytes(image)
        if cleanup and target.resolve() != source.resolve():
            source.unlink()
        if view or quiet_view:
            graphviz.view(target, quiet=quiet_view)
        return os.fspath(target)


def _known(format: str) -> str:
    if format.lower() not in graphviz.FORMATS:
        raise ValueError(f"unknown format: {format!r} (must be one of {sorted(graphviz.FORMATS)})")
    return format.lower()


def _needs_dot(format: str, native: dict[str, Any]) -> bool:
    """Whether only a native `dot` can do it; raises `LayoutUnavailable` if it is not there."""
    options = [name for name, value in native.items() if value is not None]
    if format in layout.BUNDLED_FORMATS and not options:
        return False
    if shutil.which("dot") is None:
        what = f"the option {options[0]!r}" if options else f"the format {format!r}"
        raise layout.LayoutUnavailable(
            f"{what} needs the Graphviz program `dot`, which is not on PATH; format='svg' does without"
        )
    return True


# Graphviz reads `\N` and `\l` as escapes and `&lt;` as an entity; the `graphviz` package takes `<…>` for
# HTML. XML, and with it SVG, has no control characters but tab and newline, and no unpaired surrogates.
_LITERAL = {code: chr(0x2400 + code) for code in range(32)} | {0x7F: "␡"}
_LITERAL |= {ord("\\"): "\\\\", ord("&"): "&amp;", ord("<"): "&lt;", ord("\n"): "\\n", ord("\t"): "    "}
_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")


def plain(text: str) -> str:
    """`text` as the value of a `label` or `xlabel` that prints it literally, whatever it holds.

    Line breaks stay line breaks, a tab becomes four spaces, and what cannot be drawn (control characters,
    halves of surrogate pairs) is replaced by a visible sign. Results may be joined. Not for names of nodes,
    not for tooltips (Graphviz unescapes them twice), and not for record labels, in which `{`, `}` and `|`
    divide fields.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _NO_CHARACTER.sub("\ufffd", lines).translate(_LITERAL)
