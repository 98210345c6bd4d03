"""Steps → text: the sentence of each step, with its numbers, lines of arithmetic, the active parts of the
picture, and the place in the source.

    x ** 3 makes y = 125.                         PowBackward0 at y takes 0.008 and sends 0.6 to x
    saved   PowBackward0 keeps self = 5.          chain rule   ∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 75. = 0.6
"""

from __future__ import annotations

from collections.abc import Sequence

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


class Narrator:
    """Tells the steps of a `story` on a `stage`, and what is `explained` of its errors."""

    def __init__(self, stage: Stage, story: Story, explained: Sequence[Explanation] = ()) -> None:
        self.stage, self.story, self.explained = stage, story, explained

    def tell(self, steps: Sequence[Step]) -> Frame:
        """Steps that are one to the reader, in words."""
        events = [step.event for step in steps]
        told = together(self.stage, events) if len(events) > 1 else self.event(steps[0])
        modes = forward.modes(self.stage, (mode for step in steps for mode in step.modes))
        return told._replace(lines=(*modes, *told.lines))

    def event(self, step: Step) -> Frame:
        """A single step."""
        stage, story, event = self.stage, self.story, step.event
        match event:
            case Update():
                return updated(stage, event)
            case Created():
                return forward.created(stage, event, step.state or event.tensor, story.is_seed(event))
            case Forward():
                return forward.computed(stage, event, step.owner, step.opens)
            case Detached():
                return forward.detached(stage, event)
            case Left():
                return forward.left(stage, event)
            case Asked():
                return forward.asked(stage, event)
            case Mutated():
                return forward.mutated(stage, event)
            case NodeRan():
                return backward.ran(stage, event, step.ran == 1, story.so_far.get(event.node, ()))
            case HookRan():
                return backward.hooked(stage, event.node)
            case Statement():
                return forward.beside(stage, event, step.tensor)
            case Recomputed():
                return recomputed(stage, event)
            case BackwardEnded(error=None):
                return backward.captured(stage, event)
        assert isinstance(event, BackwardEnded | Failed)
        return backward.failed(stage, event, step.ran, story.total, self.explained)
