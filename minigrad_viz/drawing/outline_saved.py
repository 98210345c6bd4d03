"""The saved values of a node in words."""

from __future__ import annotations

from ..model.card_names import kept_words
from ..numbers import short
from ..protocol import Value
from ..trace.graph import Saved
from ..words import clean, shorten, text
from .details import stale
from .look import Look

WIDTH = 60  # columns of a name or a value


def saved_line(saved: Saved, look: Look, lang: str | None) -> str:
    """A saved value, and what became of it."""
    name = shorten(clean(saved.name), WIDTH)
    if not look.values:
        return name
    if saved.packed:
        return packed_line(saved, name, lang)
    if saved.value is None and stale(saved):
        return text("outline_stale_unseen", lang, name=name, version=saved.version, now=saved.now)
    if saved.value is None:
        return text("outline_freed_unseen", lang, name=name) if saved.freed else name
    value = (
        short(saved.value, WIDTH) if isinstance(saved.value, Value) else shorten(clean(saved.value), WIDTH)
    )
    known = {"name": name, "value": value, "version": saved.version, "now": saved.now}
    whole = look.saved == "all"
    told = f"{name} {value}"
    if saved.freed:
        told = text("outline_freed", lang, **known)
    elif stale(saved):
        told = text("outline_stale", lang, **known)
    elif saved.version or (whole and saved.version is not None):
        told = text("outline_version", lang, **known)
    return f"{told} {saved.nbytes:,} B" if whole and saved.nbytes else told


def packed_line(saved: Saved, name: str, lang: str | None) -> str:
    """A saved value of which a hook made something else."""
    kept = shorten(kept_words(saved, lang), WIDTH)
    if saved.freed:
        return text("outline_packed_freed", lang, name=name, kept=kept)
    if not isinstance(saved.value, Value):
        return f"{name} → {kept}"
    return f"{name} {short(saved.value, WIDTH)} → {kept}"
