"""What a learner reads: the catalogue of all words, and what is done to text that is not ours before it is
shown."""

from __future__ import annotations

from .catalogue import CATALOGUES, Invented, fields, fix_of, language, set_language, templates, text
from .shown import clean, columns, padded, sans, shorten, shorten_name, wrapped

__all__ = [
    "CATALOGUES",
    "Invented",
    "clean",
    "columns",
    "fields",
    "fix_of",
    "language",
    "padded",
    "sans",
    "set_language",
    "shorten",
    "shorten_name",
    "templates",
    "text",
    "wrapped",
]
