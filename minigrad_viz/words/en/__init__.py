"""The catalogue in English. Every language has the same keys and placeholders."""

from __future__ import annotations

from . import (
    backward_errors,
    commands,
    comparisons,
    errors,
    exercises_code,
    exercises_text,
    learning,
    live,
    picture,
    predictions,
    shapes,
    sheets,
    steps,
    why_none,
    wrong_types,
)

TOPICS = (
    backward_errors,
    commands,
    comparisons,
    errors,
    exercises_code,
    exercises_text,
    learning,
    live,
    picture,
    predictions,
    shapes,
    sheets,
    steps,
    why_none,
    wrong_types,
)
WORDS: dict[str, str] = {key: words for topic in TOPICS for key, words in topic.WORDS.items()}
