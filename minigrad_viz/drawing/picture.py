"""A drawing as a user sees it: an object that shows itself in a notebook, in a terminal and as a file."""

from __future__ import annotations

import hashlib
import html
import inspect
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from ..isolation import without_collection
from ..model.fold import fold as folded
from ..model.scene import Scene, Scenes
from ..trace.graph import ROOT, Graph
from ..trace.graph_walk import trace_of
from ..words import CATALOGUES, language, text
from .boxes import Measurements
from .dot import DIRECTIONS, to_dot, to_mermaid
from .export import export_picture, inline_image, resolve_colors, what_export_needs, whole_page, with_fonts
from .graphviz_wasm import ALLOWED, LayoutError, LayoutTimeout, LayoutUnavailable, LayoutUntrusted
from .layout import ENGINES, render
from .look import DETAILS, SAVED, Look, with_language
from .outline import outline
from .positions import Places
from .structure import AUTO, Structure
from .style import THEMES
from .svg import to_svg

LIMIT = 2500  # stations; a larger graph is shown as a text outline
UNDER_A_CELL = 600  # the same under a cell, where nobody asked for a picture: it is soon drawn
WALKED = 20_000  # stations; of a larger graph draw() looks at the part nearest to the roots
STYLES = ("house", "graphviz", "torchviz")


class Picture:
    """The picture of a graph. `graph` is its model; `digraph` the `graphviz.Digraph` that is laid out.

    `style` is "house" (our boxes), "graphviz" (Graphviz's own drawing) or "torchviz" (the same in
    torchviz's manner); `detail` is "normal" or "full"; without `values` the structure alone is shown;
    `saved` values are shown as far as there is room ("some"), all of them ("all") or not at all ("none"); the
    forward pass runs in `direction` "LR" or "TB", or as it fits better ("auto"); `theme` "auto",
    "light" or "dark"; `lang` "en" or "ko"; `engine` "auto", "bundled" or "dot". ValueError for any
    other value. A graph of more than `limit` boxes, or one whose layout takes longer than `deadline` seconds,
    is shown as an outline that says so. The leaves `sliders`, by their ids in the graph, get room for one.
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
        self.look = with_language(Look(detail, bool(values), saved, lang, sliders=sliders))
        self.direction = direction
        self.theme = theme
        self.lang = lang
        self.engine = engine
        self.limit = limit
        self.deadline = deadline
        self.prefix = ""  # of the ids in the SVG, known once it is drawn
        self.structure, self._number = Structure([graph], self.look, direction, engine, deadline), 0
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
            from .digraph import dot_of

            # As torchviz has it from top to bottom, unless another direction was asked for.
            return dot_of(self.graph, self.look, "TB" if self.direction in (AUTO, "LR") else self.direction)
        direction = "LR" if self.direction == AUTO else self.direction
        return to_dot(self.graph, self._sizes(direction), direction, labels=labels)

    def _sizes(self, direction: str) -> Measurements:
        """How large everything is in a direction."""
        return self.structure.sizes(direction, self.look)[self._number]

    def share(self, structure: Structure, number: int) -> None:
        """Share the layout of a structure, in which the graph has that number."""
        self.structure, self._number = structure, number

    def upright(self) -> Picture:
        """The same picture from top to bottom; pictures of one structure share that layout, too."""
        look = self.look
        other = Picture(
            self.graph, detail=look.detail, values=look.values, saved=look.saved, direction="TB",
            theme=self.theme, lang=self.lang, engine=self.engine, limit=self.limit, deadline=self.deadline,
            sliders=look.sliders,
        )  # fmt: skip
        other.share(self.structure.upright, self._number)
        return other

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

    def measured(self) -> Measurements:
        """The sizes of all parts, if there is a picture."""
        self.svg()
        return self._sizes("LR") if self._places is None else self._places.measured

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

    @without_collection
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
                dot, self._places = self.structure.places(self._number)
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
        return inline_image(svg, self.outline())

    def page(self) -> str:
        """A whole HTML page with the picture, which needs nothing else."""
        names = ", ".join(card.name for _, card in self.graph.cards() if card.role == ROOT and card.name)
        return whole_page(text("picture_title", self.lang, names=names), self.html(), self.lang or language())

    def save(self, path: str | Path, *, embed_fonts: bool = False) -> Path:
        """Write the picture as .svg, .html, .dot, .mmd or .txt; as .png or .pdf with the extra "export" or a
        native `dot`; the graph that `draw` walked through as .json, a `Trace`. With `embed_fonts` an .svg
        carries the glyphs that it uses, which needs Matplotlib. ValueError for other endings."""
        path = Path(path)
        kind = path.suffix.lower().lstrip(".")
        if kind == "svg":
            svg = self.svg() or self._refuse()
            path.write_text(self._with_fonts(svg) if embed_fonts else resolve_colors(svg), encoding="utf-8")
        elif kind in ("dot", "gv"):
            path.write_text(self.digraph.source, encoding="utf-8")
        elif kind == "txt":
            path.write_text(self.outline() + "\n", encoding="utf-8")
        elif kind == "html":
            path.write_text(self.page(), encoding="utf-8")
        elif kind == "json" and self.scene is not None:
            path.write_text(self.scene.trace.to_json() + "\n", encoding="utf-8")
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
            known = "" if self.scene is None else ".json, "
            raise ValueError(
                f"cannot save a picture as {path.suffix!r}: use .svg, .html, .dot, .mmd, .txt, {known}"
                ".png or .pdf"
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
            return export_picture(svg or self._refuse(), kind, self.lang)
        except ImportError:
            source = self._dot(labels=True).source
        try:
            return render(source, kind, engine="dot", deadline=max(self.deadline, 10.0))
        except LayoutUnavailable as error:
            raise LayoutUnavailable(what_export_needs(error, self.lang)) from None

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


def draw(*roots: Any, names: dict[str, Any], fold: bool = True, **options: Any) -> Picture:
    """The picture of the graph that the tensors `roots` were computed from; `names` maps variable names to
    tensors. See `shell.model_drawing.draw`."""
    check_options(options)
    return picture_of(roots, names, fold, options)


def check_options(options: Iterable[str]) -> None:
    """TypeError for an unknown option of `draw`."""
    known = inspect.signature(Picture).parameters
    for option in options:
        if option not in known or option == "graph":
            choices = ["names", "fold", *(name for name in known if name != "graph")]
            close = [f"; did you mean {name}?" for name in get_close_matches(option, choices, 1)]
            told = f"draw() has no option {option!r}; there are {', '.join(choices)}"
            raise TypeError("".join([told, *close]))


@without_collection
def picture_of(roots: Iterable[Any], names: dict[str, Any], fold: bool, options: dict[str, Any]) -> Picture:
    """The picture of the graph of some tensors."""
    limit = options.get("limit", LIMIT)
    scene = Scenes(trace_of(list(roots), names, max(limit, WALKED if fold else 2 * LIMIT))).last
    picture = Picture(folded(scene.graph) if fold else scene.graph, **options)
    picture.scene = scene
    return picture
