"""What a drawing is to a user: an object that shows itself in a notebook, in a terminal and as a file."""

from __future__ import annotations

import hashlib
import html
import inspect
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from ..model.fold import fold as folded
from ..model.scene import Scene, Scenes
from ..trace.graph import Graph
from ..trace.walk import trace_of
from ..words import CATALOGUES, text
from .arrows import read
from .boxes import Measured, measure
from .bundled import ALLOWED, LayoutError, LayoutTimeout, LayoutUnavailable, LayoutUntrusted
from .dot import DIRECTIONS, to_dot, to_mermaid
from .export import exported, with_fonts
from .layout import ENGINES, layout, render
from .look import CLOSE, CLOSEST, DETAILS, SAVED, Look, settled
from .outline import outline
from .places import Places
from .still import resolved, swapped
from .style import THEMES
from .svg import MARGIN, to_svg

LIMIT = 2500  # stations; a larger graph is shown as a text outline
UNDER_A_CELL = 600  # the same under a cell, where nobody asked for a picture: it is soon drawn
WALKED = 20_000  # stations; of a larger graph draw() looks at the part nearest to the roots
STYLES = ("house", "graphviz", "torchviz")
AUTO = "auto"  # the direction that fits better
ROOM = 958.0 - 2 * MARGIN  # pixels that a picture should fit in: the output of a cell is usually that wide
TRIED = 120  # stations; a larger graph fits in no direction
NARROWER = 0.7  # a picture from top to bottom that does not fit either has to be that much narrower


class Picture:
    """The picture of a graph. `graph` is its model; `digraph` the `graphviz.Digraph` that is laid out.

    `style` is "house" (our stations), "graphviz" (Graphviz's own drawing) or "torchviz" (the same in
    torchviz's manner); `detail` is "normal" or "full"; without `values` the structure alone is shown;
    `saved` values are shown as far as there is room ("some"), all in full ("all") or not ("none"); the
    forward pass runs in `direction` "LR", "TB", "RL" or "BT", or as it fits better ("auto"); `theme` "auto",
    "light" or "dark"; `lang` "en" or "ko"; `engine` "auto", "bundled" or "dot". ValueError for any other. A
    graph of more than `limit` stations, or one whose layout takes longer than `deadline` seconds, is shown as
    its outline, which says so. The leaves `sliders`, by their ids in the graph, have room for one.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        style: str = "house",
        detail: str = "normal",
        values: bool = True,
        saved: str = "some",
        direction: str = AUTO,
        theme: str = "auto",
        lang: str | None = None,
        engine: str = "auto",
        limit: int = LIMIT,
        deadline: float = 2.0,
        sliders: frozenset[str] = frozenset(),
    ) -> None:
        check("style", style, STYLES)
        check("detail", detail, DETAILS)
        check("saved", saved, SAVED)
        check("direction", direction, (AUTO, *DIRECTIONS))
        check("theme", theme, THEMES)
        check("engine", engine, ENGINES)
        if lang is not None:
            check("lang", lang, CATALOGUES)
        self.graph = graph
        self.scene: Scene | None = None  # of which it is the graph, where that is a finished one
        self.style = style
        self.look = settled(Look(detail, bool(values), saved, lang, sliders=sliders))
        self.direction = direction
        self.theme = theme
        self.lang = lang
        self.engine = engine
        self.limit = limit
        self.deadline = deadline
        self.prefix = ""  # of the ids in the SVG, known once it is drawn
        self.fits: dict[tuple[str, ...], tuple[str, Look]] = {}  # pictures of one structure may share it
        self._measured: dict[tuple[bool, Look], Measured] = {}  # by whether stations lie on their side
        self._places: Places | None = None
        self._svg: str | None = None
        self._problem: str | None = None

    @property
    def digraph(self) -> Any:
        """The `graphviz.Digraph` behind the picture; it displays itself with the bundled Graphviz."""
        dot = self._dot(labels=self.style != "house")
        dot.outline = self.outline()
        return dot

    def _dot(self, *, labels: bool) -> Any:
        """The graph for Graphviz; with `labels` to be drawn by it."""
        if labels and self.style == "torchviz":
            from .torchviz import dot_of

            # As torchviz has it from top to bottom, unless another direction was asked for.
            return dot_of(self.graph, self.look, "TB" if self.direction in (AUTO, "LR") else self.direction)
        direction = "LR" if self.direction == AUTO else self.direction
        return to_dot(self.graph, self._sizes(direction, self.look), direction, labels=labels)

    def _sizes(self, direction: str, look: Look) -> Measured:
        """How large everything is in a direction, measured once."""
        key = direction in ("TB", "BT"), look
        if key not in self._measured:
            self._measured[key] = measure(self.graph, look, key[0])
        return self._measured[key]

    def _laid(self, direction: str, look: Look) -> tuple[str, Places]:
        """What Graphviz was asked in a direction, and where everything is."""
        sizes = self._sizes(direction, look)
        dot = to_dot(self.graph, sizes, direction).source
        positions = layout(dot, engine=self.engine, deadline=self.deadline)
        return dot, read(positions, sizes, direction, routes=self.graph.routes, room=ROOM)

    def _fitting(self) -> tuple[str, Places]:
        """The same in the direction that was asked for, or in the one that fits better; where there is little
        room, with shorter texts."""
        close, closest = (replace(self.look, widest=widest) for widest in (CLOSE, CLOSEST))
        if self.direction != AUTO:
            laid = self._laid(self.direction, self.look)
            return laid if laid[1].width <= ROOM else self._laid(self.direction, closest)
        structure = self.graph.structure
        if structure in self.fits:
            return self._laid(*self.fits[structure])
        tries = {}
        for how in (("LR", self.look), ("LR", close), ("LR", closest), ("TB", self.look), ("TB", closest)):
            self.fits[structure] = how
            tries[how] = laid = self._laid(*how)
            if laid[1].width <= ROOM or len(self.graph.stations) > TRIED:
                return laid
        across, down = tries["LR", closest], tries["TB", closest]
        if down[1].width <= NARROWER * across[1].width:
            return down
        self.fits[structure] = "LR", closest
        return across

    def outline(self) -> str:
        """The picture in words, one station after the other; first why there is no picture, if that is
        known."""
        body = outline(self.graph, self.lang, look=self.look)
        problem = self._problem or self._too_large()
        return body if problem is None else f"{problem}\n{body}"

    def _too_large(self) -> str | None:
        drawn = len(self.graph.stations) + self.graph.omitted
        whole = drawn + sum(len(fold.members) - 1 for fold in self.graph.folds)
        return None if drawn <= self.limit else text("too_large", self.lang, n=whole, limit=self.limit)

    def svg(self) -> str | None:
        """The picture as SVG text, or None where only the outline can be given (`problem` says why)."""
        if self._svg is None and self._problem is None:
            self._draw()
        return self._svg

    def stood(self) -> dict[str, list[str]]:
        """By the id of a row, what it says at each moment of its card (`Card.stood`), where that changes; and
        what the count at slots says after each gradient."""
        return {} if self.svg() is None or self._places is None else self._places.measured.stood()

    def counts(self) -> dict[str, list[str]]:
        """By station, the routes over which gradients come to its slots."""
        return {} if self.svg() is None or self._places is None else self._places.measured.counts()

    @property
    def problem(self) -> str | None:
        """The sentence that says why there is no SVG; None if there is one."""
        self.svg()
        return self._problem

    def _draw(self) -> None:
        self._problem = self._too_large()
        if self._problem is not None:
            return
        try:
            if self.style != "house":
                self._svg = render(
                    self.digraph.source, "svg", engine=self.engine, deadline=self.deadline
                ).decode()
            else:
                dot, self._places = self._fitting()
                self.prefix = f"g{hashlib.sha256(dot.encode()).hexdigest()[:6]}-"
                self._svg = to_svg(
                    self.graph, self._places, lang=self.look.lang, theme=self.theme, prefix=self.prefix
                )
        except LayoutTimeout:
            self._problem = text("layout_timeout", self.lang, seconds=f"{self.deadline:g}")
        except LayoutUntrusted as error:
            self._problem = text("layout_untrusted", self.lang, setting=f"{ALLOWED}={error.digest}")
        except LayoutUnavailable as error:
            self._problem = text("layout_unavailable", self.lang, reason=str(error))
        except LayoutError as error:
            self._problem = text("layout_failed", self.lang, reason=str(error))

    def html(self) -> str:
        """The picture for a page: an image with alternative text that becomes inline SVG where scripts
        run."""
        svg = self.svg()
        if svg is None:
            return f"<pre>{html.escape(self.outline())}</pre>"
        return swapped(svg, self.outline())

    def save(self, path: str | Path, *, embed_fonts: bool = False) -> Path:
        """Write the picture as .svg, .dot, .mmd or .txt; as .png or .pdf with the extra "export" or a native
        `dot`. With `embed_fonts` an .svg carries the glyphs that it uses, which needs Matplotlib. ValueError
        for other endings."""
        path = Path(path)
        kind = path.suffix.lower().lstrip(".")
        if kind == "svg":
            svg = self.svg() or self._refuse()
            path.write_text(self._with_fonts(svg) if embed_fonts else resolved(svg), encoding="utf-8")
        elif kind in ("dot", "gv"):
            path.write_text(self.digraph.source, encoding="utf-8")
        elif kind == "txt":
            path.write_text(self.outline() + "\n", encoding="utf-8")
        elif kind == "mmd":
            written = to_mermaid(
                self.graph,
                "LR" if self.direction == AUTO else self.direction,
                values=self.look.values,
                lang=self.lang,
            )
            path.write_text(written, encoding="utf-8")
        elif kind in ("png", "pdf"):
            path.write_bytes(self._exported(kind))
        else:
            raise ValueError(
                f"cannot save a picture as {path.suffix!r}: use .svg, .dot, .mmd, .txt, .png or .pdf"
            )
        return path

    def _with_fonts(self, svg: str) -> str:
        try:
            return with_fonts(svg, self.lang)
        except ModuleNotFoundError as error:
            raise LayoutUnavailable(text("fonts_need", self.lang, reason=str(error))) from None

    def _exported(self, kind: str) -> bytes:
        """The file as PNG or PDF; where the extra is not installed, as Graphviz itself draws it."""
        svg = self.svg()
        try:
            return exported(svg or self._refuse(), kind, self.lang)
        except ImportError:
            source = self._dot(labels=True).source
        try:
            return render(source, kind, engine="dot", deadline=max(self.deadline, 10.0))
        except LayoutUnavailable as error:
            raise LayoutUnavailable(text("export_needs", self.lang, reason=str(error))) from None

    def _refuse(self) -> NoReturn:
        raise LayoutError(self._problem or "")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        svg = self.svg()
        bundle = {"text/plain": self.outline()}
        if svg is not None:
            bundle["image/svg+xml"] = svg
            bundle["text/html"] = self.html()
        return bundle

    def __repr__(self) -> str:
        return self.outline()


def check(name: str, value: str, known: Iterable[str]) -> None:
    """ValueError unless an option has one of its values."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def draw(*roots: Any, names: dict[str, Any] | None = None, fold: bool = True, **options: Any) -> Picture:
    """Draw the graph that the tensors `roots` were computed from (minigrad's or PyTorch's).

    `names` maps variable names to tensors (default: the caller's variables). Of a large graph the long chains
    are folded, unless `fold` is False. Other options are those of `Picture`.
    TypeError for anything that is no tensor and for an unknown option; a tensor without a graph gives its
    card and says why.
    """
    known = inspect.signature(Picture).parameters
    for option in options:
        if option not in known or option == "graph":
            choices = ", ".join(name for name in known if name != "graph")
            raise TypeError(f"draw() has no option {option!r}; there are names, fold, {choices}")
    if names is None:
        frame = sys._getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    limit = options.get("limit", LIMIT)
    scene = Scenes(trace_of(list(roots), names, max(limit, WALKED if fold else 2 * LIMIT))).last
    picture = Picture(folded(scene.graph) if fold else scene.graph, **options)
    picture.scene = scene
    return picture
