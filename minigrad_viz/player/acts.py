"""The acts of a player: pictures of backward calls with their steps, and what can be opened in them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ..drawing.picture import UNDER_A_CELL, Picture
from ..model.fold import READABLE, cost_of, opened_in
from ..model.stage import Where, in_cell
from ..model.views import View
from ..steps.grouping import frames_inside
from ..steps.timeline import frames_of
from ..steps.told import Frame
from ..trace.explained import Explanation
from ..trace.graph import Graph
from ..words import text

OPENED = 120  # stations in the boxes of all pictures that can be opened, but for those of the first
PLAYED = 500  # what all pictures of a player may cost together, see `cost_of`; that is about 1 s


class Panel(NamedTuple):
    """What is inside a closed box, the station `box` of a picture or of another panel: its picture, and what
    each frame of the whole marks there."""

    box: str
    title: str
    picture: Picture
    frames: tuple[Frame, ...]


class Act(NamedTuple):
    """One picture with its steps: a backward call of the cell, called `label` where there are several.
    `panels` are the boxes that a reader can open; `at` is where the call stands in the cell."""

    label: str
    picture: Picture
    frames: tuple[Frame, ...]
    panels: tuple[Panel, ...] = ()
    at: Where | None = None


class Acts:
    """The acts of a cell, one for each view. The steps of each are made when they are first asked for.

    `rounds` are the values of the roots of all backward calls of a loop; `options` are those of `Picture`.
    """

    def __init__(
        self,
        views: Sequence[View],
        rounds: Sequence[float | None],
        explained: Sequence[Explanation],
        lang: str,
        options: dict[str, Any],
    ) -> None:
        self.views, self.rounds, self.explained, self.lang = views, rounds, explained, lang
        self._options = {"limit": UNDER_A_CELL, **options}
        self._fits: dict[tuple[str, ...], Any] = {}  # rounds of a loop look alike
        self.pictures = [self._picture(view.graph) for view in views]
        self._made: dict[int, Act] = {}

    def _picture(self, graph: Graph) -> Picture:
        picture = Picture(graph, lang=self.lang, **self._options)
        picture.fits = self._fits
        return picture

    def act(self, i: int) -> Act:
        """The act of one view, by its place."""
        i = range(len(self.views))[i]
        if i not in self._made:
            view = self.views[i]
            frames = frames_of(view.scene, view.graph, self.lang, self.explained)
            panels = self._panels(view) if i in self._opening else ()
            started = view.scene.now.started
            at = None if started is None else in_cell(started.span)
            self._made[i] = Act(view.label, self.pictures[i], frames, panels, at)
        return self._made[i]

    @cached_property
    def _opening(self) -> set[int]:
        """The pictures whose boxes a reader can open: the one that is shown first, and the newest of the
        others, as many as are soon drawn."""
        found: set[int] = set()
        stations = 0
        for i in reversed(range(len(self.views))):
            view = self.views[i]
            stations += sum(len(fold.members) for fold in view.graph.folds) + len(view.aside.stations)
            if found and stations > OPENED:
                break
            found.add(i)
        return found

    def _panels(self, view: View) -> tuple[Panel, ...]:
        """What a reader can open in a picture: its boxes, and what stands aside."""
        opened = [(group.id, group.title, part) for group, part in opened_in(view.graph, view.whole)]
        if 0 < len(view.aside.stations) <= READABLE:
            opened.append(("aside", text("aside_open", self.lang), view.aside))
        frames = frames_inside(view.scene, view.graph, [part for _, _, part in opened])
        return tuple(
            Panel(box, title, self._picture(part), steps) for (box, title, part), steps in zip(opened, frames)
        )

    def played(
        self, most: int | None = None
    ) -> tuple[tuple[Act, ...], tuple[float | None, ...], tuple[float | None, ...]]:
        """The acts of the player, which are the newest, as many as are soon drawn, at `most` so many; of
        the calls before and after them the values of the roots."""
        costs = itertools.accumulate(cost_of(view.graph) for view in reversed(self.views))
        count = min(max(1, sum(cost <= PLAYED for cost in costs)), most or len(self.views))
        first = len(self.views) - count
        earlier = max(self.views[first].call - 1, 0)
        values = self.rounds[:earlier] if self.rounds else (None,) * earlier
        later = self.rounds[self.views[-1].call :]  # which the recorder only counted
        return tuple(map(self.act, range(first, len(self.views)))), tuple(values), tuple(later)
