"""Files of what is shown of a recorded cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ..drawing.picture import Picture

ENDINGS = (".html", ".svg", ".png", ".pdf", ".dot", ".gv", ".mmd", ".json", ".txt")


def save_as(
    path: str | Path, texts: Mapping[str, Callable[[], str]], picture: Picture, *, embed_fonts: bool
) -> Path:
    """Write what the ending of a file names: one of the `texts`, or the picture. ValueError for other
    endings."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind in texts:
        path.write_text(texts[kind](), encoding="utf-8")
    elif kind in ENDINGS:
        picture.save(path, embed_fonts=embed_fonts)
    else:
        raise ValueError(f"cannot write {path.suffix!r}: use one of {', '.join(ENDINGS)}")
    return path
