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

WORDS: dict[str, str] = {
    **backward_errors.WORDS, **commands.WORDS, **comparisons.WORDS, **errors.WORDS, **exercises_code.WORDS,
    **exercises_text.WORDS, **learning.WORDS, **live.WORDS, **picture.WORDS, **predictions.WORDS,
    **shapes.WORDS, **sheets.WORDS, **steps.WORDS, **why_none.WORDS, **wrong_types.WORDS,
}  # fmt: skip
