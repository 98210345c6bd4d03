"""The stepper: a widget that walks through a picture, forward and backward, one step at a time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from ..drawing.export import paragraph
from ..drawing.picture import draw
from ..predicting.answer_log import note_answer, parse_note
from ..steps.timeline import frames_of
from ..words import text
from .acts import Act
from .live_values import Coach, LivePicture
from .score import score_of
from .static_html import extra_of, module, player_html, widgets_are_shown

VIEW = "application/vnd.jupyter.widget-view+json"
SPEEDS = (0.25, 8.0)  # steps are played at least and at most so many times as fast


class Stepper(anywidget.AnyWidget):
    """An ipywidgets widget over the steps of a cell.

    `step` is the step shown, from 0 (the whole picture, before the first step) to `steps`; `act` is the
    backward call shown, counted from 0. At first it shows the last call, and for a cell that failed the step
    that failed; choosing another call goes back to step 0. `playing` says whether the steps run by
    themselves, from the first call on, `speed` how fast (at 1.0 a step stands for 1.4 to 4 seconds, as long
    as its caption is). You can set, link and observe all of them.
    """

    also = "learning"  # what it uses besides, see `static_html.EXTRAS`
    _esm = module(also)
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
        *,
        learning: dict[str, Any] | None = None,
        offers: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A player of `acts` beside the cell's `source`; of the `earlier` and the `later` backward calls
        only the values of the roots are known; `learning` is what the model of a loop computes,
        `offers` what else a reader can do. ValueError without any act."""
        self.acts = tuple(acts)
        self._told = source, lang, earlier, later
        self._parts: dict[str, Any] = {"learning": learning, "offers": offers}
        score = score_of(self.acts, source, lang, earlier, later)
        score |= {name: part for name, part in self._parts.items() if part}
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

    def goto(self, step: int, act: int | None = None) -> None:
        """Show a step, from 0 to `steps`, and before that another backward call, counted from 0. ValueError
        if there is no such step or call."""
        act = self.act if act is None else act
        if not 0 <= act < len(self.acts):
            raise ValueError(f"act must be between 0 and {len(self.acts) - 1}, not {act}")
        if not 0 <= step <= len(self.acts[act].frames):
            raise ValueError(f"step must be between 0 and {len(self.acts[act].frames)}, not {step}")
        self.act = act
        self.step = step

    def outline(self) -> str:
        """The picture in words and its steps, one a line, with their arithmetic."""
        shown = self.acts[self.act]
        lines = [shown.picture.outline()]
        for i, frame in enumerate(shown.frames, 1):
            lines.append(f"{i}. [{frame.label}] {frame.text}")
            lines += [f"     {line.label}   {line.text}" for line in frame.lines]
        return "\n".join(lines)

    def _html(self) -> str:
        """The player for a page without a kernel."""
        return player_html(self.acts, *self._told, **self._parts)

    _ipython_display_ = None  # of ipywidgets 7, which would show the widget alone

    def _repr_mimebundle_(self, **_: Any) -> Any:
        data: dict[str, Any] = {
            "text/plain": self.outline(),
            "text/html": self._html(),
        }
        if self.comm is not None and widgets_are_shown():
            data[VIEW] = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        return data


class StripStepper(Stepper):
    """A stepper whose pictures are strips of cards."""

    also = "strip learning"
    _esm = module(also)


def stepper_of(acts: Sequence[Act], *told: Any, **parts: Any) -> Stepper:
    """The stepper for some acts; arguments as for `Stepper`."""
    return (StripStepper if extra_of(acts) else Stepper)(acts, *told, **parts)


class QuizStepper(Stepper):
    """A stepper that asks first. Answers go to the kernel, which notes them where that was asked for."""

    also = "quiz"
    _esm = module(also)

    def __init__(self, *told: Any, quiz: str, instead: str, **kwargs: Any) -> None:
        """`quiz` has the questions, packed, and `instead` the same as text; the other arguments are those of
        a Stepper."""
        super().__init__(*told, **kwargs)
        self._quiz, self._instead = quiz, instead
        self._score = self._score | {"quiz": quiz}
        self.on_msg(self._take_answer)

    def _take_answer(self, _: Any, content: Any, buffers: Any) -> None:
        """A reader has answered."""
        if "answer" in content and note_answer(*parse_note(content["answer"])):
            self.send({"noted": True})

    def outline(self) -> str:
        """The questions, for the picture in words would answer them."""
        return self._instead

    def _html(self) -> str:
        return player_html(self.acts, *self._told, quiz=self._quiz, instead=self._instead)


class LiveStepper(Stepper):
    """A stepper, of strips or others, in which a reader can change the numbers of leaves, or go on with the
    training: the kernel computes what follows."""

    also = "strip live"
    _esm = module(also)

    def __init__(
        self, *told: Any, living: LivePicture | None, coach: Coach | None = None, **kwargs: Any
    ) -> None:
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
    """Return a stepper over the graph of the tensors `roots`. Arguments as for `draw`."""
    if names is None:
        frame = sys._getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    picture = draw(*roots, names=names, **options)
    assert picture.scene is not None
    frames = frames_of(picture.scene, picture.graph, picture.lang)
    return Stepper([Act("", picture, frames)], lang=picture.lang)
