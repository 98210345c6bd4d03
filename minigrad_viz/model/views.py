"""Scenes → views: one picture for each backward call of a cell, marked, narrowed and folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..trace.explained import Explanation
from ..trace.graph import Graph
from ..words import clean, shorten, text
from .fold import closed, gathered
from .groups import groups_of
from .main_part import leading_to_them, main_part, part_of
from .naming import plain_name
from .scene import Scene, Scenes
from .stopped import stopped

LONGEST = 40  # columns of the call's source in a label


class View(NamedTuple):
    """A scene as it is shown: what to call it, the graph that is drawn of it, and the whole graph, in which
    no group is closed. `aside` has what stands aside, and without nodes the stations of the picture that it
    uses or that use it."""

    scene: Scene
    label: str
    graph: Graph
    whole: Graph
    aside: Graph = Graph((), ())

    @property
    def call(self) -> int:
        """The backward call (0 where there is none)."""
        return self.scene.call


def views_of(
    scenes: Scenes,
    *,
    roots: tuple[str, ...] = (),
    fold: bool = True,
    lang: str | None = None,
    explained: Sequence[Explanation] = (),
) -> tuple[View, ...]:
    """One view per backward call that was kept, in order; one without any call. The last is shown first.

    `roots` limits each picture to what these variables were computed from; UnknownRoots if the cell has none
    of that name. What is `explained` is marked: in the picture of its call, or in the last.
    """
    last = scenes.calls[-1]
    count = max(last, len(scenes.trace.rounds))
    views = [
        View(scene, label(scene, count, lang), scene.graph, scene.graph)
        for scene in map(scenes.of, scenes.calls)
    ]
    views = [marked(view, explained, view.call == last) for view in views]
    parts = [main_part(view.scene, view.graph, whole=not fold) for view in views]
    views = [
        view._replace(graph=graph, aside=aside) for view, (graph, aside) in zip(views, parts, strict=True)
    ]
    if roots:
        views = leading_to(roots, views)
    views = [grouped(view) if fold else view._replace(whole=view.graph) for view in views]
    views[-1] = views[-1]._replace(graph=stopped(views[-1].graph, scenes.trace, lang))
    return tuple(views)


def grouped(view: View) -> View:
    """A view of a whole graph, with its groups closed."""
    whole = gathered(replace(view.graph, groups=groups_of(view.scene, view.graph)))
    return view._replace(graph=closed(whole), whole=whole)


def marked(view: View, explained: Sequence[Explanation], last: bool) -> View:
    """A view with the marks of what is explained there."""
    mine = [each for each in explained if each.call == view.call or (last and not each.call)]
    marks = tuple(dict.fromkeys(mark for each in mine for mark in each.marks))
    return view._replace(graph=replace(view.graph, marks=marks)) if marks else view


def label(scene: Scene, count: int, lang: str | None) -> str:
    """What to call the picture of a call: `backward 3 of 20: loss.backward()`."""
    started = scene.now.started
    if started is None:
        return text("scene_none", lang)
    source = "" if started.span is None else shorten(clean(started.span.flat), LONGEST)
    return text("scene", lang, i=scene.call, n=count, source=source)


class UnknownRoots(ValueError):
    """The names `missing` stand for no tensor of a cell; `known` do."""

    def __init__(self, missing: list[str], known: list[str]) -> None:
        there = ", ".join(known) or "none"
        super().__init__(f"no tensor of this cell is called {missing[0]!r}; there are: {there}")
        self.missing, self.known = missing, known


def leading_to(roots: tuple[str, ...], views: list[View]) -> list[View]:
    """The views in which tensors named in `roots` occur, limited to what those were computed from."""
    names = [names_in(view.graph) for view in views]
    known = dict.fromkeys(name for each in names for name in each)
    missing = [root for root in roots if root not in known]
    if missing:
        raise UnknownRoots(missing, list(known))
    found = [{each[root] for root in roots if root in each} for each in names]
    return [v._replace(graph=narrowed(v.graph, keep)) for v, keep in zip(views, found, strict=True) if keep]


def names_in(graph: Graph) -> dict[str, str]:
    """The stations by name; a name that stood for several tensors means the last of them."""
    names = {card.name: station.id for station, card in graph.cards() if card.name}
    last = {plain_name(name): id for name, id in names.items()}
    return last | names


def narrowed(graph: Graph, keep: set[str]) -> Graph:
    """The part of the picture that leads to the stations `keep`."""
    return part_of(graph, leading_to_them(graph, keep))
