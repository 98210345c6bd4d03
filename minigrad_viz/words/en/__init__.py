"""The catalogue in English. Every language has the same keys and placeholders."""

from __future__ import annotations

from . import commands, errors, exercises_code, exercises_text, picture, predictions, shapes, steps

PARTS = (commands, errors, exercises_code, exercises_text, picture, predictions, shapes, steps)
WORDS: dict[str, str] = {key: said for part in PARTS for key, said in part.WORDS.items()}
