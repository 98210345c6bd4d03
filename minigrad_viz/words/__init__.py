"""What a learner reads: the catalogue of all words, and what is done to text that is not ours before it is
shown."""

from __future__ import annotations

from .catalogue import CATALOGUES, InventedName, fields, fix_of, language, set_language, templates, text
from .display_text import clean, columns, pad, shorten, shorten_name, shorten_names, text_pixels, wrap_text

__all__ = [
    "CATALOGUES",
    "InventedName",
    "clean",
    "columns",
    "fields",
    "fix_of",
    "language",
    "pad",
    "set_language",
    "shorten",
    "shorten_name",
    "shorten_names",
    "templates",
    "text",
    "text_pixels",
    "wrap_text",
]
