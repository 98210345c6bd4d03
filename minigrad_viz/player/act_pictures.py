"""The pictures of a player: the usual one, and where that is wide another for narrow windows, which runs from
top to bottom."""

from __future__ import annotations

from typing import Any

from ..drawing.picture import AUTO, Picture
from ..drawing.still import SMALLEST, bare, width_of

ROOM = 656.0  # pixels; a picture that is wider than this does not fit a window of 700
FEW = 40  # stations; a larger graph fits no narrow window
ACTS = 3  # pictures; a player of more would store and lay out twice as much
SHARE = 0.85  # of the usual width; its updates, which lie below it, may be wider than the graph


def narrow(picture: Picture) -> Picture | None:
    """The picture from top to bottom, if the usual one is too wide for a narrow window and this one is not as
    wide by far. None if a direction was asked for, or where the picture is large."""
    if picture.direction != AUTO or picture.style != "house" or len(picture.graph.stations) > FEW:
        return None
    wide = width_of(picture.svg() or "")
    if wide <= ROOM:
        return None
    look = picture.look
    other = Picture(
        picture.graph, detail=look.detail, values=look.values, saved=look.saved, direction="TB",
        theme=picture.theme, lang=picture.lang, engine=picture.engine, limit=picture.limit,
        deadline=picture.deadline, sliders=look.sliders,
    )  # fmt: skip
    return other if 0 < width_of(other.svg() or "") <= SHARE * wide else None


def shown(picture: Picture) -> dict[str, Any]:
    """What a player needs of a picture. The page has the style of all its pictures."""
    svg = picture.svg() or ""
    width = round(width_of(svg) * SMALLEST)
    return {"svg": bare(svg), "prefix": picture.prefix, "width": width, "stood": picture.stood()}
