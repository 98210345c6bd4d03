"""The stepper: a widget that walks through a picture, forward and backward, one step at a time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from ..drawing.picture import draw
from ..drawing.still import paragraph
from ..steps.timeline import frames_of
from ..words import text
from .acts import Act
from .coaching import Coach
from .living import Living
from .score import score_of
from .static import module, player_html, style, widgets_are_shown

VIEW = "application/vnd.jupyter.widget-view+json"
SPEEDS = (0.25, 8.0)  # steps are played at least and at most so many times as fast


class Stepper(anywidget.AnyWidget):
    """An ipywidgets widget over the steps of a cell.

    `step` is the step shown, 0 (before the first: the whole picture) to `steps`; `act` the backward call
    shown, counted from 0. The last is shown first, of a cell that failed at the step that did; choosing
    another goes back to step 0. `playing` says whether the steps go on by themselves, `speed` how fast
    (1.0: a step in a second and a half). Set them from Python, link or observe them.
    """

    _esm = module()
    _css = style()
    step = traitlets.Int(0).tag(sync=True)
    steps = traitlets.Int(0, read_only=True).tag(sync=True)
    act = traitlets.Int(0).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    speed = traitlets.Float(1.0).tag(sync=True)
    _score: Any = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        acts: Sequence[Act],
        source: str = "",
        lang: str | None = None,
        earlier: Sequence[float | None] = (),
        later: Sequence[float | None] = (),
        **kwargs: Any,
    ) -> None:
        """A player of `acts` beside the cell's `source`; of the `earlier` and the `later` backward calls
        only the values of the roots are known. ValueError without any act."""
        self.acts = tuple(acts)
        self._told = (source, lang, earlier, later)
        score = score_of(self.acts, source, lang, earlier, later)
        first = {"step": score["step"]} if "act" not in kwargs else {}  # where it failed, if it did
        first |= {name: kwargs.pop(name) for name in ("act", "step") if name in kwargs}
        kwargs.setdefault("layout", {"width": "100%"})  # in an HBox, too, as wide as there is room
        super().__init__(act=score["shown"], _score=score, **kwargs)
        self.set_trait("steps", len(self.acts[self.act].frames))
        for name, value in first.items():  # which depend on the acts
            setattr(self, name, value)

    @traitlets.validate("step")
    def _within(self, proposal: Any) -> int:
        return max(0, min(proposal["value"], self.steps))

    @traitlets.validate("act")
    def _known(self, proposal: Any) -> int:
        return max(0, min(proposal["value"], len(self.acts) - 1))

    @traitlets.validate("speed")
    def _sensible(self, proposal: Any) -> float:
        return max(SPEEDS[0], min(proposal["value"], SPEEDS[1]))

    @traitlets.observe("act")
    def _turned(self, change: Any) -> None:
        self.step = 0
        self.set_trait("steps", len(self.acts[change["new"]].frames))

    def outline(self) -> str:
        """The picture in words and its steps, one a line, with their arithmetic."""
        shown = self.acts[self.act]
        lines = [shown.picture.outline()]
        for i, frame in enumerate(shown.frames, 1):
            lines.append(f"{i}. [{frame.label}] {frame.text}")
            lines += [f"     {line.label}   {line.text}" for line in frame.lines]
        return "\n".join(lines)

    _ipython_display_ = None  # of ipywidgets 7, which would show the widget alone

    def _repr_mimebundle_(self, **_: Any) -> Any:
        data: dict[str, Any] = {
            "text/plain": self.outline(),
            "text/html": player_html(self.acts, *self._told),
        }
        if self.comm is not None and widgets_are_shown():
            data[VIEW] = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return data


class LiveStepper(Stepper):
    """A stepper in which a reader can change the numbers of leaves, or go on with the training: the kernel
    computes what follows."""

    _esm = module("live")
    _css = style("live")

    def __init__(self, *told: Any, living: Living | None, coach: Coach | None = None, **kwargs: Any) -> None:
        """`living` and `coach` compute what a reader asks for; the other arguments are those of a Stepper."""
        super().__init__(*told, **kwargs)
        self.living, self.coach = living, coach
        parts = {} if living is None else {"live": living.asked()}
        self._score = self._score | parts | ({} if coach is None else {"training": coach.score()})
        self.on_msg(self._asked)

    def _asked(self, _: Any, content: Any, buffers: Any) -> None:
        """A reader asks for a state, or for rounds."""
        question = content.get("live") or {}
        if self.coach is not None and "training" in question:
            self.send({"id": question["id"], **self.coach.answer(question["training"])})
        elif self.living is not None and "id" in question:
            self.send({"id": question["id"], **self.living.answer(question)})

    def _repr_mimebundle_(self, **options: Any) -> Any:
        data = super()._repr_mimebundle_(**options)
        data["text/html"] += paragraph(text("live_off", self._told[1]))
        return data


def stepper(*roots: Any, names: dict[str, Any] | None = None, **options: Any) -> Stepper:
    """A stepper over the graph that the tensors `roots` were computed from; arguments as for `draw`."""
    if names is None:
        frame = sys._getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    picture = draw(*roots, names=names, **options)
    assert picture.scene is not None
    frames = frames_of(picture.scene, picture.graph, picture.lang)
    return Stepper([Act("", picture, frames)], lang=picture.lang)
