"""Steps → text: the sentence of each step, with its numbers, lines of arithmetic, the active parts of the
picture, and the place in the source.

    x ** 3 makes y = 125.                         PowBackward0 at y takes 0.008 and sends 0.6 to x
    saved   PowBackward0 keeps self = 5.          chain rule   ∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 75. = 0.6
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..model.stage import Stage
from ..trace.events import (
    Asked,
    BackwardEnded,
    Created,
    Detached,
    Failed,
    Forward,
    HookRan,
    Left,
    Mutated,
    NodeRan,
    Recomputed,
    Statement,
)
from ..trace.explained import Explanation
from ..trace.graph import Update
from . import backward, forward
from .closed_box import together, updated
from .story import Step, Story
from .told import Frame, recomputed

TOLD: dict[type, Callable[[Stage, Any], Frame]] = {  # by the event alone
    Update: updated,
    Detached: forward.detached,
    Left: forward.left,
    Asked: forward.asked,
    Mutated: forward.mutated,
    Recomputed: recomputed,
}


def tell(story: Story, explained: Sequence[Explanation], steps: Sequence[Step]) -> Frame:
    """Steps that are one to the reader, in words; `explained` says why errors came up."""
    events = [step.event for step in steps]
    told = together(story.stage, events) if len(events) > 1 else one(story, explained, steps[0])
    modes = forward.modes(story.stage, (mode for step in steps for mode in step.modes))
    return told._replace(lines=(*modes, *told.lines))


def one(story: Story, explained: Sequence[Explanation], step: Step) -> Frame:
    """A single step."""
    stage, event = story.stage, step.event
    match event:
        case Created():
            return forward.created(stage, event, step.state or event.tensor, story.is_seed(event))
        case Forward():
            return forward.computed(stage, event, step.owner, step.opens)
        case NodeRan():
            return backward.ran(stage, event, step.ran == 1, story.so_far.get(event.node, ()))
        case HookRan():
            return backward.hooked(stage, event.node)
        case Statement():
            return forward.beside(stage, event, step.tensor)
        case BackwardEnded(error=None):
            return backward.captured(stage, event)
        case BackwardEnded() | Failed():
            return backward.failed(stage, event, step.ran, story.total, explained)
    return TOLD[type(event)](stage, event)
