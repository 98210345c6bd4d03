"""A recorded cell with other numbers: computed again, trained further, and changed by a reader."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import cached_property

from ..drawing.picture import Picture
from ..model.scene import Scenes
from ..model.views import views_of
from ..player.coaching import Coach
from ..player.leaf_handles import handles_in
from ..player.living import Living
from ..replay.live import Live, Refused
from ..replay.program import Program
from ..replay.training import Training
from ..steps.timeline import frames_of
from ..steps.told import Frame
from ..trace.events import Trace
from ..trace.graph import ROOT, Graph
from ..words import text


class OtherNumbers:
    """What can be computed again of a cell by its `program`; the `graph` is the one that is shown first, made
    with these `roots` and this `fold`. Where nothing can be, each part is Refused, or says why."""

    def __init__(
        self,
        scenes: Scenes,
        program: Program | None,
        graph: Graph,
        lang: str,
        *,
        roots: tuple[str, ...],
        fold: bool,
    ) -> None:
        self.trace, self.program, self.graph, self.lang = scenes.trace, program, graph, lang
        self._roots, self._fold = roots, fold

    @cached_property
    def again(self) -> Live:
        """The cell, to be computed again. Refused where that cannot be done."""
        return Live(self.trace, self.program, self.lang)

    def training(self) -> Training:
        """The loop of the cell, as one of its own each time. Refused where it cannot go on."""
        return Training(self.trace, self.program, self.lang)

    def sliders(self) -> tuple[frozenset[str], str]:
        """The leaves that a reader can change, by their ids; and, if it is refused, why there is none."""
        try:
            return frozenset(handle.id for handle in handles_in(self.again, self.graph)), ""
        except Refused as refused:
            return frozenset(), text("live_refused", self.lang, why=str(refused))

    def living(self, picture: Picture, frames: Sequence[Frame]) -> Living | None:
        """What a reader can change in the picture that is shown first; None if there is nothing. Refused as
        in `again`."""
        found = Living(self.again, picture, frames, self._remade)
        return found if found.handles else None

    def coach(self) -> Coach | None:
        """Who goes on with the training in a widget, or says why it cannot; None for a cell without a
        loop."""
        if len(self.trace.rounds) < 2:
            return None
        name = next((card.name or "" for _, card in self.graph.cards() if card.role == ROOT), "")
        try:
            return Coach(self.training(), name, lang=self.lang)
        except Refused as refused:
            return Coach(None, name, text("training_refused", self.lang, why=str(refused)), self.lang)

    def _remade(self, trace: Trace) -> tuple[Graph, Callable[[Container[int] | None], Sequence[Frame]]]:
        """The graph that is shown first of another trace of the cell, and its steps, or `only` some."""
        view = views_of(Scenes(trace), roots=self._roots, fold=self._fold, lang=self.lang)[-1]
        return view.graph, lambda only: frames_of(view.scene, view.graph, self.lang, (), only)
