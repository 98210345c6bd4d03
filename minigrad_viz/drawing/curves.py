"""Bézier curves: cutting, joining and shifting them."""

from __future__ import annotations

from itertools import pairwise

Point = tuple[float, float]
Cubic = tuple[Point, Point, Point, Point]


def level(start: Point, x: float) -> Cubic:
    """A straight line to `x`."""
    return start, start, (x, start[1]), (x, start[1])


def bend(a: Point, b: Point, lean: float, share: float = 0.5) -> Cubic:
    """One S from `a` to `b`, level at both ends and steepest at a `share` of the way."""
    gap, rise = b[0] - a[0], b[1] - a[1]
    x = a[0] + gap * share + lean * max(-1.0, min(1.0, -rise / 90)) * 0.2 * gap
    return a, (x, a[1]), (x, b[1]), b


def join(a: Point, piece: Cubic) -> Cubic:
    """From `a`, level, into the beginning of `piece`, in its direction."""
    (x, y), gap = piece[0], piece[0][0] - a[0]
    dx, dy = next(((p[0] - x, p[1] - y) for p in piece[1:] if p != piece[0]), (1.0, 0.0))
    size = 0.45 * gap / max(abs(dx), abs(dy), 1e-9)
    return a, (a[0] + gap / 2, a[1]), (x - dx * size, y - dy * size), (x, y)


def mirrored(piece: Cubic) -> Cubic:
    """Mirrored left to right and run the other way: the end of a route is its beginning, seen in a mirror."""
    a, b, c, d = ((-x, y) for x, y in piece)
    return d, c, b, a


def shifted(piece: Cubic, dy: float) -> Cubic:
    """`dy` lower."""
    a, b, c, d = ((x, y + dy) for x, y in piece)
    return a, b, c, d


def between(curve: list[Cubic], left: float, right: float) -> list[Cubic]:
    """The part of a curve from where it first reaches `left` to where it last leaves `right`."""
    rest = [piece for piece in curve if piece[3][0] > left]
    rest[0] = _split(rest[0], _reach(rest[0], left))[1]
    while len(rest) > 1 and rest[-1][0][0] >= right:
        rest.pop()
    rest[-1] = _split(rest[-1], _reach(rest[-1], right))[0]
    return rest


def _reach(piece: Cubic, x: float) -> float:
    """The parameter at which a piece that runs from left to right reaches `x`; 0 or 1 if it lies beyond."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if at(piece, middle)[0] < x else (low, middle)
    return high


def _split(piece: Cubic, t: float) -> tuple[Cubic, Cubic]:
    """Both parts of a Bézier piece, cut at parameter `t` (de Casteljau)."""
    a, b, c, d = piece
    ab, bc, cd = _mix(a, b, t), _mix(b, c, t), _mix(c, d, t)
    abc, bcd = _mix(ab, bc, t), _mix(bc, cd, t)
    middle = _mix(abc, bcd, t)
    return (a, ab, abc, middle), (middle, bcd, cd, d)


def _mix(p: Point, q: Point, t: float) -> Point:
    return p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t


def at(piece: Cubic, t: float) -> Point:
    """The point of a Bézier piece at parameter `t`, 0 to 1."""
    a, b, c, d = piece
    s = 1 - t
    u, v, w, z = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
    return u * a[0] + v * b[0] + w * c[0] + z * d[0], u * a[1] + v * b[1] + w * c[1] + z * d[1]


def along(path: list[Cubic]) -> list[Point]:
    """Points at equal distances along a path."""
    points = [path[0][0], *(at(piece, i / 24) for piece in path for i in range(1, 25))]
    lengths = [0.0]
    for (x, y), (u, v) in pairwise(points):
        lengths.append(lengths[-1] + ((u - x) ** 2 + (v - y) ** 2) ** 0.5)
    even: list[Point] = []
    i = 0
    for step in range(101):
        while i < len(points) - 1 and lengths[i] < lengths[-1] * step / 100:
            i += 1
        even.append(points[i])
    return even
