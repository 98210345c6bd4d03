"""The catalogue in Korean. Every language has the same keys and placeholders."""

from __future__ import annotations

from . import (
    backward_errors,
    commands,
    errors,
    exercises_code,
    exercises_text,
    learning,
    picture,
    shapes,
    sheets,
    steps,
    why_none,
)

TOPICS = (
    backward_errors,
    commands,
    errors,
    exercises_code,
    exercises_text,
    learning,
    picture,
    shapes,
    sheets,
    steps,
    why_none,
)
WORDS: dict[str, str] = {key: words for topic in TOPICS for key, words in topic.WORDS.items()}
