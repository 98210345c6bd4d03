"""The acts of a player: pictures of backward calls with their steps, and what can be opened in them."""

from __future__ import annotations

import itertools
from collections.abc import Container, Hashable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from ..drawing.detail import DetailPicture
from ..drawing.export import SMALLEST, bare, width_of
from ..drawing.picture import UNDER_A_CELL, Picture
from ..drawing.strip import decades
from ..drawing.strip_pictures import StripPicture
from ..drawing.structure import AUTO, structure_of
from ..drawing.subject_kinds import subject_lines
from ..model.detail import Detail
from ..model.fold import READABLE, cost_of, opened_in
from ..model.strip import strip_of
from ..model.strip_insides import Depth, opened_cards, opened_first
from ..model.views import View, Where, in_cell
from ..steps.frames import Frame
from ..steps.inside import frames_inside, inner_steps, whole_steps
from ..steps.timeline import frames_of, numbered_frames
from ..trace.graph import Explanation, Graph
from ..words import text

# ─── The pictures of a player


ROOM = 656.0  # pixels; a picture that is wider than this does not fit a window of 700
FEW = 40  # stations; a larger graph fits no narrow window
ACTS = 3  # pictures; a player of more would store and lay out twice as much
SHARE = 0.85  # of the usual width; its updates, which lie below it, may be wider than the graph


def narrow_picture(picture: Picture) -> Picture | None:
    """The picture from top to bottom, if the usual one is too wide for a narrow window and this one is much
    narrower. None if a direction was asked for, or where the picture is large."""
    if (
        isinstance(picture, StripPicture)
        or picture.direction != AUTO
        or picture.style != "house"
        or len(picture.graph.stations) > FEW
    ):
        return None
    wide = width_of(picture.svg() or "")
    if wide <= ROOM:
        return None
    other = picture.upright()
    return other if 0 < width_of(other.svg() or "") <= SHARE * wide else None


def picture_content(picture: Picture) -> dict[str, Any]:
    """What a player needs of a picture. The page has the style of all its pictures."""
    svg = picture.svg() or ""
    width = round(width_of(svg) * SMALLEST)
    return {"svg": bare(svg), "prefix": picture.prefix, "width": width, "stood": picture.stood()}


# ─── The acts of a player


OPENED = 120  # stations in the boxes of all pictures that can be opened, but for those of the first
INNER = 200  # steps inside of all boxes of a picture that can be opened
PLAYED = 500  # what all pictures of a player may cost together, see `cost_of`; that is about 1 s


class Panel(NamedTuple):
    """What is inside a closed box, the station `box` of a picture or of another panel: its picture, and its
    steps. Where `ends` is empty there is one for each step of the whole; else the first `ends[i]` are over
    when step `i` of the whole is."""

    box: str
    title: str
    picture: Picture
    frames: tuple[Frame, ...]
    ends: tuple[int, ...] = ()


class Act(NamedTuple):
    """One picture with its steps: a backward call of the cell, called `label` where there are several.
    `panels` are the boxes that a reader can open, `open` those of them that are open at first; `at` is
    where the call is in the cell."""

    label: str
    picture: Picture
    frames: tuple[Frame, ...]
    panels: tuple[Panel, ...] = ()
    at: Where | None = None
    open: tuple[str, ...] = ()


def cards_in_their_steps(frames: Sequence[Frame], cards: Container[str]) -> tuple[Frame, ...]:
    """Steps that mark a card of a strip as a whole, and not what it shows, before the step that computes it:
    the first to which arrows lead. What is inside of a card may be there, or be reset, long before."""
    computed: dict[str, int] = {}
    for i, frame in enumerate(frames):
        found = {mark.partition("-c")[0] for mark in frame.marks if "-c" in mark}
        if frame.phase == "forward" and any(mark[0] == "r" for mark in frame.marks):
            computed = dict.fromkeys(found, i) | computed
    told = []
    for i, frame in enumerate(frames):
        waiting = {card for card, first in computed.items() if i < first and card in cards}
        cut = ((mark, mark.partition("-c")[0]) for mark in frame.marks)
        marks = dict.fromkeys(card if card in waiting else mark for mark, card in cut)
        told.append(frame._replace(marks=tuple(marks)))
    return tuple(told)


class Acts:
    """The acts of a cell, one for each view. The steps of each are made when they are first asked for.

    `rounds` are the values of the roots of all backward calls of a loop; `options` are those of `Picture`.
    With `strips`, the picture of a view with modules is its strip; `depth` says what is open below it.
    """

    def __init__(
        self,
        views: Sequence[View],
        rounds: Sequence[float | None],
        explained: Sequence[Explanation],
        lang: str,
        options: dict[str, Any],
        strips: bool = False,
        depth: Depth = 1,
    ) -> None:
        strips = strips and options.get("style", "house") == "house"
        self.strips = [strip_of(view) if strips else None for view in views]
        self.views, self.rounds, self.explained, self.lang = views, rounds, explained, lang
        self._depth = depth
        self._options = {"limit": UNDER_A_CELL, **options}
        self._first = len(views) - self._fitting(len(views))  # those from here on are played together
        graphs = [view.graph for view in views]
        self.pictures = [Picture(graph, lang=lang, **self._options) for graph in graphs[: self._first]]
        self.pictures += self._alike(graphs[self._first :])
        found = [strip for strip in self.strips if strip is not None]
        scale = decades(*found)  # one for all rounds
        self.pictures = [
            picture
            if strip is None
            else StripPicture(strip, picture, scale=scale, subjects=partial(subject_lines, strip, lang))
            for picture, strip in zip(self.pictures, self.strips, strict=True)
        ]
        self._made: dict[int, Act] = {}

    def _alike(self, graphs: Sequence[Graph]) -> list[Picture]:
        """Pictures of which those of one structure share a layout."""
        pictures = [Picture(graph, lang=self.lang, **self._options) for graph in graphs]
        groups: dict[Hashable, list[Picture]] = {}
        for picture in reversed(pictures):
            groups.setdefault(structure_of(picture.graph), []).append(picture)
        for group in groups.values():
            structure = group[0].structure.of([picture.graph for picture in group])
            for i, picture in enumerate(group):
                picture.share(structure, i)
        return pictures

    def act(self, i: int) -> Act:
        """The act of one view, by its place."""
        i = range(len(self.views))[i]
        if i not in self._made:
            view = self.views[i]
            frames = frames_of(view.scene, self._shown(i), self.lang, self.explained)
            strip = self.strips[i]
            if strip is not None:
                frames = cards_in_their_steps(frames, {card.id for card in strip.cards})
            panels = self._panels(i)
            started = view.scene.now.started
            at = None if started is None else in_cell(started.span)
            boxes = [panel.box for panel in panels]
            opened = () if strip is None else opened_first(strip, boxes, self._depth)
            self._made[i] = Act(view.label, self.pictures[i], frames, panels, at, opened)
        return self._made[i]

    @cached_property
    def _opened(self) -> dict[int, list[tuple[str, str, Picture]]]:
        """The boxes that a reader can open, by act, each with its title and its picture, and what is
        aside: those of the act that is shown first, and of the newest of the others, as many as are soon
        drawn. Boxes of one structure share a layout and count once."""
        found: dict[int, list[tuple[str, str, Graph | Detail]]] = {}
        known: set[Hashable] = set()
        stations = 0
        for i in reversed(range(self._first, len(self.views))):
            view = self.views[i]
            strip = self.strips[i]
            parts: list[tuple[str, str, Graph | Detail]] = []
            if strip is None:
                parts += [(group.id, group.title, part) for group, part in opened_in(view.graph, view.whole)]
            else:
                parts += opened_cards(strip)
            if 0 < len(view.aside.stations) <= READABLE:
                parts.append(("aside", text("aside_open", self.lang), view.aside))
            graphs = [part if isinstance(part, Graph) else part.graph for _, _, part in parts]
            new = {structure_of(graph): len(graph.stations) for graph in graphs}
            stations += sum(count for structure, count in new.items() if structure not in known)
            if found and stations > OPENED:
                break
            known |= new.keys()
            found[i] = parts
        laid = [part for parts in found.values() for _, _, part in parts if isinstance(part, Graph)]
        pictures = iter(self._alike(laid))
        return {
            i: [
                (
                    box,
                    title,
                    next(pictures) if isinstance(part, Graph) else DetailPicture(part, self.pictures[i]),
                )
                for box, title, part in parts
            ]
            for i, parts in found.items()
        }

    def _shown(self, i: int) -> Graph:
        """What the picture of a view shows."""
        strip = self.strips[i]
        return self.views[i].graph if strip is None else strip.graph

    def _panels(self, i: int) -> tuple[Panel, ...]:
        """What a reader can open in a picture: its boxes, and what is aside."""
        opened, view = self._opened.get(i, []), self.views[i]
        wholes = whole_steps(view.scene, self._shown(i)) if opened else []
        made = []
        room = INNER
        for box, title, picture in opened:
            if isinstance(picture, DetailPicture) and room > 0:
                detail = picture.detail
                inner = inner_steps(view.scene, wholes, detail.graph, detail.outside, self.lang)
                room -= len(inner.frames) - len(wholes)
                made.append(Panel(box, title, picture, *inner))
            else:
                made.append(Panel(box, title, picture, frames_inside(view.scene, wholes, picture.graph)))
        return tuple(made)

    def _fitting(self, most: int) -> int:
        """How many of the newest acts are soon drawn, at `most` so many, at least one."""
        costs = itertools.accumulate(cost_of(view.graph) for view in reversed(self.views))
        return min(max(1, sum(cost <= PLAYED for cost in costs)), most)

    def played(
        self, most: int | None = None
    ) -> tuple[tuple[Act, ...], tuple[float | None, ...], tuple[float | None, ...]]:
        """The acts of the player, which are the newest, as many as are soon drawn, at `most` so many; of
        the calls before and after them the values of the roots."""
        first = len(self.views) - self._fitting(most or len(self.views))
        earlier = max(self.views[first].call - 1, 0)
        values = self.rounds[:earlier] if self.rounds else (None,) * earlier
        later = self.rounds[self.views[-1].call :]  # which the recorder only counted
        return tuple(map(self.act, range(first, len(self.views)))), tuple(values), tuple(later)


# ─── What a loop has used before


def with_data_once(acts: Sequence[Act], lang: str | None) -> tuple[Act, ...]:
    """Acts of which the rounds of a loop do not begin again with the data and the parameters that an earlier
    round has shown."""
    known: dict[Where | None, set[str]] = {}
    made = []
    for act in acts:
        tensors = tensors_of(act.picture.graph)
        of_frames = [{id for mark in frame.marks for id in tensors.get(mark, ())} for frame in act.frames]
        seen = known.setdefault(act.at, set()) if act.at is not None else set()
        drop = {i for i, frame in enumerate(act.frames) if frame.earlier and of_frames[i] <= seen}
        drop = set() if len(drop) == len(act.frames) else drop
        made.append(without_frames(act, drop, lang) if drop else act)
        seen.update(*of_frames)
    return tuple(made)


def tensors_of(graph: Graph) -> dict[str, set[str]]:
    """By the parts of a picture that are marked, the tensors that they show."""
    found = {f"{s.id}-c{i}": {card.id} for s in graph.stations for i, card in enumerate(s.cards)}
    for fold in graph.folds:
        found[f"{fold.station}-c0"] = {card.id for _, card in fold.parameters}
    return found


def without_frames(act: Act, drop: Container[int], lang: str | None) -> Act:
    """An act without some of its steps, counted from 0; also in what can be opened in it."""
    panels = tuple(panel_without_frames(panel, drop, lang) for panel in act.panels)
    return act._replace(frames=remaining(act.frames, drop, lang), panels=panels)


def panel_without_frames(panel: Panel, drop: Container[int], lang: str | None) -> Panel:
    """A panel without the steps that are inside of some steps of the whole."""
    if not panel.ends:
        return panel._replace(frames=remaining(panel.frames, drop, lang))
    begins = (0, *panel.ends)
    runs = [range(*run) for run in itertools.pairwise(begins)]
    gone = {j for i, run in enumerate(runs) if i in drop for j in run}
    sizes = (len(run) for i, run in enumerate(runs) if i not in drop)
    return panel._replace(
        frames=remaining(panel.frames, gone, lang),
        ends=tuple(itertools.accumulate(sizes)),
    )


def remaining(frames: Sequence[Frame], drop: Container[int], lang: str | None) -> tuple[Frame, ...]:
    """Steps without some of them, numbered again; the next step shows the state of the tensors then."""
    found: list[Frame] = []
    shows: dict[str, int] = {}
    for i, frame in enumerate(frames):
        shows |= dict(frame.shows)
        if i not in drop:
            found.append(frame._replace(shows=tuple(shows.items())))
            shows = {}
    return numbered_frames(found, lang)
