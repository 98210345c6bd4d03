"""The stepper: a widget that walks through a picture, forward and backward, one step at a time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from .graph import Graph
from .picture import SMALLEST, Picture, width_of
from .timeline import Frame, frames_of_graph
from .walk import graph_of
from .words import text

HERE = Path(__file__).parent


class Stepper(anywidget.AnyWidget):
    """An ipywidgets widget over the steps of a picture.

    `step` is the step shown, 0 (before the first) to `steps`; set it from Python, link it or observe it.
    The picture is drawn once; a step only changes classes.
    """

    _esm = HERE / "stepper.js"
    _css = HERE / "stepper.css"
    step = traitlets.Int(0).tag(sync=True)
    steps = traitlets.Int(0, read_only=True).tag(sync=True)
    _svg = traitlets.Unicode("").tag(sync=True)
    _prefix = traitlets.Unicode("").tag(sync=True)
    _width = traitlets.Int(0).tag(sync=True)  # the least, in pixels
    _frames: Any = traitlets.List().tag(sync=True)
    _words: Any = traitlets.Dict().tag(sync=True)

    def __init__(self, picture: Picture, frames: tuple[Frame, ...], **kwargs: Any) -> None:
        """`picture` with its `frames`; a graph that cannot be drawn steps through the texts alone."""
        self.picture = picture
        self.frames = frames
        super().__init__(**kwargs)
        self.set_trait("steps", len(frames))
        self._svg = picture.svg() or ""
        self._prefix = picture.prefix
        self._width = round(width_of(self._svg) * SMALLEST)
        self._frames = [[f.phase, list(f.marks), f.label, f.text] for f in frames]
        keys = ("previous", "next", "slider", "step_start")
        self._words = {key: text(key, picture.lang) for key in keys}

    @traitlets.validate("step")
    def _within(self, proposal: Any) -> int:
        return max(0, min(proposal["value"], self.steps))

    def outline(self) -> str:
        """The picture in words and its steps, one a line."""
        lines = [
            self.picture.outline(),
            *(f"{i + 1}. [{f.label}] {f.text}" for i, f in enumerate(self.frames)),
        ]
        return "\n".join(lines)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        data = dict(data or {})
        data["text/plain"] = self.outline()
        data["text/html"] = self.picture.html()
        return data, metadata


def stepper(*roots: Any, names: dict[str, Any] | None = None, **options: Any) -> Stepper:
    """A stepper over the graph that the tensors `roots` were computed from; arguments as for `draw`."""
    if names is None:
        frame = sys._getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    graph: Graph = graph_of(list(roots), names)
    picture = Picture(graph, **options)
    return Stepper(picture, frames_of_graph(graph, picture.lang))
