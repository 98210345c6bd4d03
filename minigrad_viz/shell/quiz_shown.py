"""What a reader is asked of a recorded cell, before it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ..model.scene import Scenes
from ..player.acts import Act
from ..player.quiz_score import quiz_of
from ..predicting.asking import fair, to_text
from ..predicting.question import QuizQuestion
from ..predicting.questions import questions_of
from ..trace.explained import Explanation


class QuizShown:
    """The questions about a cell, but for an error that stands above them."""

    def __init__(self, scenes: Scenes, explained: Sequence[Explanation], lang: str) -> None:
        self.scenes, self.explained, self.lang = scenes, explained, lang

    @cached_property
    def questions(self) -> tuple[QuizQuestion, ...]:
        """All of them; they are found when they are first asked for."""
        failed = self.scenes.trace.error is not None
        return fair(questions_of(self.scenes, self.explained, self.lang), failed)

    def text(self) -> str:
        """The questions in words, numbered."""
        return to_text(self.questions, self.lang)

    def score(self, acts: Sequence[Act], calls: Sequence[int]) -> str:
        """What the player asks about its acts, which show these backward calls; "" if it asks nothing."""
        return quiz_of(self.questions, acts, calls, self.lang)
