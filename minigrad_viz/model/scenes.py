"""Trace → scenes: one picture for each backward call of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ..trace.events import BackwardStarted, Trace
from ..trace.explained import Explanation
from ..trace.graph import Graph, Mark, Route, Station
from ..words import clean, shorten, text
from .build import build
from .fold import fold as folded
from .naming import plain_name

LONGEST = 40  # columns of the call's source in a label


class Scene(NamedTuple):
    """The picture of one backward call (0 where there is none), and what to call it."""

    call: int
    label: str
    graph: Graph


def scenes_of(
    trace: Trace,
    *,
    roots: tuple[str, ...] = (),
    fold: bool = True,
    lang: str | None = None,
    explained: Sequence[Explanation] = (),
) -> tuple[Scene, ...]:
    """One scene per backward call that was kept, in order; one without any call. The last is shown first.

    `roots` limits each picture to what these variables were computed from; UnknownRoots if the cell has none
    of that name. What is `explained` is marked: in the picture of its call, or in the last.
    """
    calls = [e for e in trace.events if isinstance(e, BackwardStarted)]
    last = calls[-1].call if calls else 0
    scenes = [Scene(call.call, label(call, last, lang), build(trace, call.call)) for call in calls]
    scenes = scenes or [Scene(0, text("scene_none", lang), build(trace))]
    scenes = [marked(scene, explained, scene is scenes[-1]) for scene in scenes]
    if roots:
        scenes = leading_to(roots, scenes)
    return tuple(scene._replace(graph=folded(scene.graph)) for scene in scenes) if fold else tuple(scenes)


def marked(scene: Scene, explained: Sequence[Explanation], last: bool) -> Scene:
    """A scene with the marks of what is explained there."""
    mine = [each for each in explained if each.call == scene.call or (last and not each.call)]
    marks = tuple(dict.fromkeys(mark for each in mine for mark in each.marks))
    return scene._replace(graph=replace(scene.graph, marks=marks)) if marks else scene


def standing(marks: Sequence[Mark], stations: Sequence[Station], routes: Sequence[Route]) -> tuple[Mark, ...]:
    """The marks whose stations and routes are there."""
    there = {station.id for station in stations} | {route.id for route in routes}
    return tuple(mark for mark in marks if mark.part.partition("-")[0] in there)


def label(call: BackwardStarted, last: int, lang: str | None) -> str:
    """What to call the scene of a call: `backward 3 of 20: loss.backward()`."""
    if call.span is None:
        return text("scene_unseen", lang, i=call.call, n=last)
    source = shorten(clean(call.span.flat), LONGEST)
    return text("scene", lang, i=call.call, n=last, source=source)


class UnknownRoots(ValueError):
    """The names `missing` stand for no tensor of a cell; `known` do."""

    def __init__(self, missing: list[str], known: list[str]) -> None:
        there = ", ".join(known) or "none"
        super().__init__(f"no tensor of this cell is called {missing[0]!r}; there are: {there}")
        self.missing, self.known = missing, known


def leading_to(roots: tuple[str, ...], scenes: list[Scene]) -> list[Scene]:
    """The scenes in which tensors named in `roots` occur, limited to what those were computed from."""
    names = [names_in(scene.graph) for scene in scenes]
    known = dict.fromkeys(name for each in names for name in each)
    missing = [root for root in roots if root not in known]
    if missing:
        raise UnknownRoots(missing, list(known))
    found = [{each[root] for root in roots if root in each} for each in names]
    return [s._replace(graph=narrowed(s.graph, keep)) for s, keep in zip(scenes, found, strict=True) if keep]


def names_in(graph: Graph) -> dict[str, str]:
    """The stations by name; a name that stood for several tensors means the last of them."""
    names = {card.name: station.id for station, card in graph.cards() if card.name}
    last = {plain_name(name): id for name, id in names.items()}
    return last | names


def narrowed(graph: Graph, keep: set[str]) -> Graph:
    """The part of the picture that leads to the stations `keep`."""
    sources: dict[str, list[str]] = {}
    for route in graph.routes:
        sources.setdefault(route.target, []).append(route.source)
    stack, keep = list(keep), set(keep)
    while stack:
        new = [id for id in sources.get(stack.pop(), ()) if id not in keep]
        keep.update(new)
        stack += new
    stations = tuple(station for station in graph.stations if station.id in keep)
    routes = tuple(route for route in graph.routes if route.target in keep)
    return replace(graph, stations=stations, routes=routes, marks=standing(graph.marks, stations, routes))
