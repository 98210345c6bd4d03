"""What the viewer makes of a trace alone, for tests that look at one part of it."""

from __future__ import annotations

from typing import Any

from minigrad_viz import explaining
from minigrad_viz.model.scene import Scene, Scenes
from minigrad_viz.model.views import View, views_of
from minigrad_viz.steps import timeline
from minigrad_viz.trace.events import Trace
from minigrad_viz.trace.graph import Explanation, Graph


def scene_of(trace: Trace, call: int | None = None) -> Scene:
    """The scene of a backward call (the last one)."""
    return Scenes(trace).of(call or 0)


def build(trace: Trace, call: int | None = None) -> Graph:
    """Its graph, neither folded nor marked."""
    return scene_of(trace, call).graph


def scenes_of(trace: Trace, **options: Any) -> tuple[View, ...]:
    """The views of all calls that were kept."""
    return views_of(Scenes(trace), **options)


def frames_of(
    trace: Trace,
    graph: Graph,
    call: int | None = None,
    lang: str | None = None,
    explained: tuple[Explanation, ...] = (),
) -> tuple[timeline.Frame, ...]:
    """The steps of a call in a picture."""
    return timeline.frames_of(scene_of(trace, call), graph, lang, explained)


def explanations_of(trace: Trace, lang: str | None = None) -> tuple[Explanation, ...]:
    """What is explained of a trace."""
    return explaining.explanations_of(Scenes(trace), lang)
