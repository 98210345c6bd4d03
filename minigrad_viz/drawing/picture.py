"""What a drawing is to a user: an object that shows itself in a notebook, in a terminal and as a file."""

from __future__ import annotations

import hashlib
import html
import inspect
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..model.fold import fold as folded
from ..model.scene import Scene, Scenes
from ..trace.graph import Graph
from ..trace.walk import trace_of
from ..words import CATALOGUES, text
from .boxes import measure
from .dot import DIRECTIONS, to_dot
from .layout import ENGINES, layout, render
from .layout_errors import LayoutError, LayoutTimeout, LayoutUnavailable
from .look import DETAILS, SAVED, Look
from .outline import outline
from .stations import stood_rows
from .still import image, resolved
from .style import THEMES
from .svg import to_svg

LIMIT = 2500  # stations; a larger graph is told as an outline
WALKED = 20_000  # stations; of a larger graph draw() looks at the part nearest to the roots
STYLES = ("house", "graphviz", "torchviz")

# Where scripts run, the <img> becomes inline SVG: tooltips work and the theme follows the page, not the
# system. VS Code runs a script at the end of what holds it, so the image is found by its attribute.
SWAP = (
    "<script>(()=>{const i=document.currentScript.parentNode.querySelector('img[data-mgi]');if(!i)return;"
    "const s=new DOMParser().parseFromString(decodeURIComponent(i.src.slice(i.src.indexOf(',')+1)),"
    "'image/svg+xml').documentElement;s.style.minWidth=i.style.minWidth;"
    "i.replaceWith(document.importNode(s,true))})()</script>"
)


class Picture:
    """The picture of a graph. `graph` is its model; `digraph` the `graphviz.Digraph` that is laid out.

    `style` is "house" (our stations), "graphviz" (Graphviz's own drawing) or "torchviz" (the same in
    torchviz's manner); `detail` is "normal" or "full"; without `values` the structure alone is shown;
    `saved` values are shown as far as there is room ("some"), all in full ("all") or not ("none"); the
    forward pass runs in `direction` "LR", "TB", "RL" or "BT"; `theme` "auto", "light" or "dark"; `lang`
    "en" or "ko"; `engine` "auto", "bundled" or "dot". ValueError for any other. A graph of more than
    `limit` stations, or one whose layout takes longer than `deadline` seconds, is shown as its outline,
    which says so.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        style: str = "house",
        detail: str = "normal",
        values: bool = True,
        saved: str = "some",
        direction: str = "LR",
        theme: str = "auto",
        lang: str | None = None,
        engine: str = "auto",
        limit: int = LIMIT,
        deadline: float = 2.0,
    ) -> None:
        check("style", style, STYLES)
        check("detail", detail, DETAILS)
        check("saved", saved, SAVED)
        check("direction", direction, DIRECTIONS)
        check("theme", theme, THEMES)
        check("engine", engine, ENGINES)
        if lang is not None:
            check("lang", lang, CATALOGUES)
        self.graph = graph
        self.scene: Scene | None = None  # of which it is the graph, where that is a finished one
        self.style = style
        self.look = Look(detail, bool(values), saved, lang)
        self.direction = direction
        self.theme = theme
        self.lang = lang
        self.engine = engine
        self.limit = limit
        self.deadline = deadline
        self.prefix = ""  # of the ids in the SVG, known once it is drawn
        self._svg: str | None = None
        self._problem: str | None = None

    @property
    def digraph(self) -> Any:
        """The `graphviz.Digraph` behind the picture; it displays itself with the bundled Graphviz."""
        from .digraph import Digraph

        dot = self._dot(Digraph, labels=self.style != "house")
        dot.outline = self.outline()
        return dot

    def _dot(self, digraph: Any = None, *, labels: bool = False) -> Any:
        """The graph for Graphviz; with `labels` to be drawn by it."""
        if labels and self.style == "torchviz":
            from .torchviz import dot_of

            # As torchviz has it from top to bottom, unless another direction than the usual one was asked
            # for.
            return dot_of(self.graph, self.look, "TB" if self.direction == "LR" else self.direction)
        return to_dot(self.graph, look=self.look, direction=self.direction, digraph=digraph, labels=labels)

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
        """By the id of a row, what it says at each moment of its card (`Card.stood`), where that changes."""
        shown = [card for _, card in self.graph.cards()]
        shown += [card for fold in self.graph.folds for _, card in fold.parameters]
        if self.style != "house" or self.svg() is None or not any(card.stood for card in shown):
            return {}
        return stood_rows(measure(self.graph, self.look))

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
                dot = self._dot().source
                places = layout(dot, engine=self.engine, deadline=self.deadline)
                self.prefix = f"g{hashlib.sha256(dot.encode()).hexdigest()[:6]}-"
                self._svg = to_svg(
                    self.graph,
                    places,
                    look=self.look,
                    direction=self.direction,
                    theme=self.theme,
                    prefix=self.prefix,
                )
        except LayoutTimeout:
            self._problem = text("layout_timeout", self.lang, seconds=f"{self.deadline:g}")
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
        still = image(svg, self.outline()).replace("<img ", "<img data-mgi ", 1)
        return f'<div style="overflow-x:auto">{still}{SWAP}</div>'

    def save(self, path: str | Path) -> Path:
        """Write the picture as .svg, .dot, .txt, or with a native `dot` as .png or .pdf; ValueError for
        other endings."""
        path = Path(path)
        kind = path.suffix.lower().lstrip(".")
        if kind == "svg":
            svg = self.svg()
            path.write_text(resolved(svg) if svg is not None else self._refuse(), encoding="utf-8")
        elif kind in ("dot", "gv"):
            path.write_text(self.digraph.source, encoding="utf-8")
        elif kind == "txt":
            path.write_text(self.outline() + "\n", encoding="utf-8")
        elif kind in ("png", "pdf"):
            dot = self._dot(labels=True)
            path.write_bytes(render(dot.source, kind, engine="dot", deadline=max(self.deadline, 10.0)))
        else:
            raise ValueError(f"cannot save a picture as {path.suffix!r}: use .svg, .dot, .txt, .png or .pdf")
        return path

    def _refuse(self) -> str:
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
