"""The picture: stations, arrows, pills and legend as one SVG, where Graphviz's positions say.

Ids and classes, for whoever marks steps in it (`p` is the prefix, `s0` a station's id, `r0` a route's):

    g.station   #p s0        classes of its role: leaf, parameter, root, constant, result; `bare` without lower deck
    g.card      #p s0-c0     its rows are g.row, #p s0-c0-value, #p s0-c0-grad, …
    g.deck      #p s0-d      its chips are g.chip, #p s0-k0, #p s0-k1, …; `freed` once released
    g.edge.fwd  #p r0        g.edge.grad #p r0-g and its g.pill #p r0-p (only if a value flowed; else edge is `todo`)
                             (arrows of a bundle of more than four between two stations are those of its first route)
    g.frame     #p frame2    the frame around the stations of order 2

`active`, `done`, `todo` and `error` are styled on all of them. Coordinates are Graphviz's, with y downwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .boxes import CHIP, HEAD, MORE, PAD, PARALLEL, Box, CardBox, Measured, Reference, measure, sans
from .dot import Cubic, Places, Point, at, forward_arrow, gradient_arrow, read
from .graph import CONSTANT, LEAF, PARAMETER, ROOT, Graph, Route, Station
from .numbers import short
from .outline import describe, describe_saved
from .style import css, legend, num, path_data, rounded, sentences, spaced, xml
from .words import clean, shorten, text

Rect = tuple[float, float, float, float]  # left, top, right, bottom

MARGIN = 16.0
NARROW = 420.0  # the legend and the sentences below a small graph may be this wide
TIP = 9.0  # length of an arrow head
# Where along its arrow a pill may stand: the middle if that is free.
ALONG = (0.5, 0.44, 0.56, 0.37, 0.63, 0.3, 0.7, 0.23, 0.77, 0.16, 0.84)


def to_svg(
    graph: Graph, positions: Mapping[str, Any], *, detail: str = "normal", theme: str = "auto",
    lang: str | None = None, prefix: str = "",
) -> str:  # fmt: skip
    """The SVG of `graph`, laid out as `positions` (Graphviz's json for `to_dot(graph, detail=detail, lang=lang)`) say.

    `prefix` goes before every id, since many pictures share a page. Raises ValueError for an unknown detail, theme or
    language, or a prefix that cannot be part of an id.
    """
    if not re.fullmatch(r"[\w.-]*", prefix):
        raise ValueError(f"prefix must consist of letters, digits, '_', '-' and '.', not {prefix!r}")
    measured = measure(graph, detail, lang)
    picture = Picture(graph, read(positions, measured), lang, prefix)
    return picture.svg(theme)


class Space:
    """Rectangles (left, top, right, bottom) that are taken, found quickly by place."""

    CELL = 160.0

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], list[Rect]] = {}

    def _around(self, rect: Rect) -> Iterator[tuple[int, int]]:
        left, top, right, bottom = (int(side // self.CELL) for side in rect)
        return ((i, j) for i in range(left, right + 1) for j in range(top, bottom + 1))

    def take(self, rect: Rect) -> None:
        """Mark `rect` as taken."""
        for cell in self._around(rect):
            self.cells.setdefault(cell, []).append(rect)

    def covered(self, rect: Rect) -> float:
        """How much of `rect` lies over rectangles that are taken, in square pixels; 0 if it is free."""
        near = {other for cell in self._around(rect) for other in self.cells.get(cell, ())}
        return sum(
            max(0.0, min(rect[2], other[2]) - max(rect[0], other[0]))
            * max(0.0, min(rect[3], other[3]) - max(rect[1], other[1]))
            for other in near
        )


class Picture:
    """One graph with its places, on the way to becoming SVG."""

    def __init__(self, graph: Graph, places: Places, lang: str | None, prefix: str) -> None:
        self.graph, self.places, self.lang, self.prefix = graph, places, lang, prefix
        self.measured: Measured = places.measured
        self.routes = {route.id: route for route in graph.routes}
        self.stations = {station.id: station for station in graph.stations}
        self.space = Space()
        self.bounds = [0.0, 0.0, 0.0, 0.0]  # of what is drawn; Graphviz leaves room for more
        self.kinds: set[str] = set()  # what occurs, for the legend

    def svg(self, theme: str) -> str:
        """The whole document."""
        frames = "".join(self.frame(order) for order in sorted(self.places.frames))
        stations = "".join(self.station(station) for station in self.graph.stations)
        chips = "".join(self.reference(chip) for chip in dict.fromkeys(self.measured.references.values()))
        arrows, pills = self.arrows()
        left, top, right, bottom = self.bounds
        right = max(right, left + NARROW)
        below, bottom = self.below(left, bottom + 24, right - left)
        left, top, width, height = left - MARGIN, top - MARGIN, right - left + 2 * MARGIN, bottom - top + 2 * MARGIN
        p = self.prefix
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mg mg-{theme}" width="{num(width)}" height="{num(height)}"'
            f' viewBox="{num(left)} {num(top)} {num(width)} {num(height)}" role="img"'
            f' aria-labelledby="{p}title {p}desc"><title id="{p}title">{xml(self.title())}</title>'
            f'<desc id="{p}desc">{xml(self.description())}</desc><style>{css(theme)}</style>'
            f'<rect class="paper" x="{num(left)}" y="{num(top)}" width="{num(width)}" height="{num(height)}" rx="8"/>'
            f"{frames}{arrows}{stations}{chips}{pills}{below}</svg>"
        )

    def title(self) -> str:
        """One line that says what the picture shows."""
        names = [name for name, role in self.roles() if role == ROOT]
        if not names:
            return text("picture_title_plain", self.lang)
        return text("picture_title", self.lang, names=shorten(", ".join(names), 200))

    def description(self) -> str:
        """The picture in a few words, for those who do not see it."""
        tensors = sum(len(station.cards) for station in self.graph.stations)
        if not self.graph.tracked:
            return text("picture_desc_plain", self.lang, tensors=tensors)
        nobody = text("nobody", self.lang)
        roots = ", ".join(name for name, role in self.roles() if role == ROOT) or nobody
        leaves = ", ".join(name for name, role in self.roles() if role in (LEAF, PARAMETER)) or nobody
        nodes = sum(station.deck is not None for station in self.graph.stations)
        return text(
            "picture_desc", self.lang, tensors=tensors, nodes=nodes, roots=shorten(roots, 200),
            leaves=shorten(leaves, 200),
        )  # fmt: skip

    def roles(self) -> Iterator[tuple[str, str]]:
        """Name and role of every card."""
        for station in self.graph.stations:
            for i, card in enumerate(station.cards):
                yield self.measured.names[station.id, i], card.role

    # ---------------------------------------------------------------------------------------------------- stations

    def station(self, station: Station) -> str:
        """A station with its cards and its deck."""
        box, (x, y) = self.measured.boxes[station.id], self.places.corner(station.id)
        self.stand(x, y, x + box.width, y + box.height)
        roles = dict.fromkeys(card.role for card in station.cards)
        id = self.prefix + station.id
        cards = "".join(
            self.card(station, i, card, box, f"{id}-c{i}") for i, card in enumerate(box.cards)
        )
        deck = self.deck(station, box, f"{id}-d") if station.deck else ""
        bare = "" if station.deck else " bare"
        return (
            f'<g class="station {" ".join(roles)}{bare}" id="{id}" transform="translate({num(x)} {num(y)})">{cards}{deck}</g>'
        )

    def card(self, station: Station, i: int, box: CardBox, whole: Box, id: str) -> str:
        """One card of a station."""
        card, x, width, upper = box.card, box.x, box.width, whole.upper
        bare = station.deck is None and (card.role == CONSTANT or not card.requires_grad)
        kind = f"{card.role} bare" if bare else card.role
        self.kinds.add("constant" if bare else card.role)
        foot = 8 if station.deck is None else 0
        parts = [
            f'<g class="card {kind}" id="{id}"><title>{xml(describe(station, i, self.measured.names, self.lang))}</title>',
            f'<path class="box" d="{rounded(x, 0, width, upper, 8, foot)}"/>',
            f'<path class="head" d="{rounded(x, 0, width, HEAD, 8, 0)}"/>',
            f'<text x="{num(x + PAD)}" y="18">{_heading(box)}</text>',
        ]
        if box.role:
            parts.append(f'<text class="role" x="{num(x + width - PAD)}" y="18" text-anchor="end">{xml(box.role)}</text>')
        for row in box.rows:
            tone = "" if row.tone == "plain" else f' class="{row.tone}"'
            self.kinds |= {"not_kept"} if row.tone == "gone" and card.grad else set()
            lines = "".join(
                f'<text{tone} x="{num(x + box.values_x)}" y="{num(row.y + MORE * n)}">{spaced(line)}</text>'
                for n, line in enumerate(row.lines)
            )
            parts.append(
                f'<g class="row" id="{id}-{row.name}"><text class="key" x="{num(x + PAD)}" y="{num(row.y)}">'
                f"{xml(row.label)}</text>{lines}</g>"
            )
        return "".join(parts) + "</g>"

    def deck(self, station: Station, box: Box, id: str) -> str:
        """The lower deck of a station: its backward node."""
        assert station.deck is not None
        self.kinds.add("node")
        name = clean(station.deck.name)
        parts = [
            f'<g class="deck" id="{id}"><title>{xml(shorten(name, 1000))}</title>',
            f'<path class="box" d="{rounded(0, box.upper, box.width, box.height - box.upper, 0, 10)}"/>',
            f'<text class="fn" x="{PAD}" y="{num(box.upper + 20)}">{xml(box.node or "")}</text>',
        ]
        if box.hooks:
            wide = len(box.hooks) * 7.4 + 8
            parts.append(_label("hooks", "", box.width - wide - 8, box.upper + 6, wide, box.hooks, ""))
        for n, chip in enumerate(box.chips):
            saved = chip.saved
            kind = "more" if saved is None else "freed" if saved.freed else ""
            self.kinds |= {"saved"} if kind == "" else {kind}
            hidden = station.deck.saved[n:] if saved is None else (saved,)
            tip = "\n".join(describe_saved(each, self.lang) for each in hidden)
            parts.append(
                _label(f"chip {kind}".strip(), f"{id[:-2]}-k{n}", chip.x, box.upper + chip.y, chip.width, chip.text, tip)
            )
        return "".join(parts) + self.nones(station, box) + "</g>"

    def nones(self, station: Station, box: Box) -> str:
        """A ∅ on the left border of a deck for every input without an edge; one with a count if they are many."""
        assert station.deck is not None
        missing = [i for i, route in enumerate(station.deck.inputs) if route is None]
        if not missing:
            return ""
        self.kinds.add("none")
        x, y = self.places.corner(station.id)
        bottom, fits = box.height - 14, max(1, int((box.height - box.upper) / 2 // 18))
        marks = [("∅", text("tip_none", self.lang, i=i)) for i in missing]
        if len(missing) > fits:
            marks = [(f"∅{len(missing)}", text("tip_nones", self.lang, n=len(missing)))]
        parts = []
        for n, (sign, tip) in enumerate(reversed(marks)):
            middle, half = bottom - 18 * n, 4.6 + 3.4 * len(sign)
            self.space.take((x - half, y + middle - 8, x, y + middle + 8))
            parts.append(
                f'<g class="none"><title>{xml(tip)}</title><rect x="{num(-half)}" y="{num(middle - 8)}"'
                f' width="{num(2 * half)}" height="16" rx="8"/><text x="0" y="{num(middle + 4)}">{xml(sign)}</text></g>'
            )
        return "".join(parts)

    def reference(self, chip: Reference) -> str:
        """The small stand-in for a much used leaf."""
        box, (x, y) = self.measured.boxes[chip.id], self.places.corner(chip.id)
        self.stand(x, y, x + box.width, y + box.height)
        source = self.stations[chip.source]
        role = source.cards[chip.card].role
        deck = f'<g class="deck"><path class="box" d="{rounded(0, 24, box.width, 20, 0, 8)}"/></g>' if source.deck else ""
        tip = text("tip_reference", self.lang, name=chip.text, n=chip.uses)
        return (
            f'<g class="reference" id="{self.prefix}{chip.id}" transform="translate({num(x)} {num(y)})">'
            f'<title>{xml(tip)}</title><g class="card {role}{"" if source.deck else " bare"}">'
            f'<path class="{"head" if source.deck else "box"}" d="{rounded(0, 0, box.width, 24, 8, 0 if source.deck else 8)}"/>'
            f'<text x="{PAD}" y="17">{xml(shorten(chip.text, 14))}</text></g>{deck}</g>'
        )

    def frame(self, order: int) -> str:
        """The frame around the stations of one order, with its title."""
        left, top, right, bottom = self.places.frames[order]
        for key in (f"frame_{order}" if order == 2 else "frame_n", "frame_2_short" if order == 2 else "frame_n_short"):
            title = text(key, self.lang, n=order)
            if sans(title) < right - left - 24:
                break
        self.reach((left, top), (right, bottom))
        whole = text("frame_2" if order == 2 else "frame_n", self.lang, n=order)
        fit = shorten(title, max(1, int((right - left - 24) / 7)))
        self.space.take((left + 8, top + 4, left + 16 + sans(fit), top + 20))
        return (
            f'<g class="frame" id="{self.prefix}frame{order}"><title>{xml(whole)}</title><rect x="{num(left)}"'
            f' y="{num(top)}" width="{num(right - left)}" height="{num(bottom - top)}" rx="12"/>'
            f'<text class="say" x="{num(left + 12)}" y="{num(top + 17)}">{xml(fit)}</text></g>'
        )

    # ------------------------------------------------------------------------------------------------------ arrows

    def arrows(self) -> tuple[str, str]:
        """All arrows, forward ones first, and the pills that lie on top of everything."""
        forward, gradient, pills = [], [], []
        for route in self.graph.routes:
            if self.measured.line(route) != route.id:
                continue
            forward.append(self.forward(route, self.spread(route, lower=False)))
            if route.tracked:
                path = gradient_arrow(self.places, route, self.spread(route, lower=True))
                gradient.append(self.gradient(route, path))
                if route.id in self.measured.pills:
                    pills.append(self.pill(route, path))
        return "".join(forward + gradient), "".join(pills)

    def spread(self, route: Route, lower: bool) -> float:
        """How far off the decks' middles an arrow with parallel ones runs: as far as the decks at both ends allow."""
        bundle = self.measured.bundles[route.id]
        if len(bundle) > PARALLEL:
            return 0.0
        boxes = [self.measured.boxes[id] for id in (self.measured.tail(route), route.target)]
        height = min(box.height - box.upper if lower else box.upper for box in boxes)
        pitch = min(24.0 if lower else 14.0, (height - 10) / len(bundle))
        return (bundle.index(route.id) - (len(bundle) - 1) / 2) * pitch

    def forward(self, route: Route, spread: float) -> str:
        """The forward arrow of a route."""
        self.kinds.add("forward")
        tip = text("tip_forward", self.lang, source=self.source(route), target=self.measured.names[route.target, 0])
        return self.edge("fwd", self.prefix + route.id, forward_arrow(self.places, route, spread), tip)

    def gradient(self, route: Route, path: list[Cubic]) -> str:
        """The gradient arrow of a route; a dashed one while nothing has flowed."""
        self.kinds.add("gradient" if route.gradients else "todo")
        kind = "grad" if route.gradients else "grad todo"
        return self.edge(kind, f"{self.prefix}{route.id}-g", path, self.flow(route))

    def source(self, route: Route) -> str:
        """Name of the tensor that a route comes from."""
        return self.measured.names[route.source, route.card]

    def flow(self, route: Route) -> str:
        """What flowed over a route, or over the bundle that is drawn along it, as a sentence."""
        ends = {"source": self.source(route), "target": self.measured.names[route.target, 0]}
        drawn = self.measured.bundles[route.id] if len(self.measured.bundles[route.id]) > PARALLEL else (route.id,)
        values = [short(value, 60) for id in drawn for value in self.routes[id].gradients]
        if not values:
            return text("tip_gradient_none", self.lang, **ends)
        return text("tip_gradient", self.lang, value=", ".join(values), **ends)

    def edge(self, kind: str, id: str, path: list[Cubic], tip: str) -> str:
        """An arrow along `path`, which ends level: its head points to the left or to the right."""
        for piece in path:
            self.reach(*(at(piece, t) for t in (0.25, 0.5, 0.75, 1.0)))
        (x, y), before = path[-1][3], path[-1][0]
        back = -TIP if x > before[0] else TIP
        line = [*path[:-1], (before, before, (x + back, y), (x + back, y))]
        head = f"M{num(x)} {num(y)}l{num(back)} -4v8z"
        return (
            f'<g class="edge {kind}" id="{id}"><title>{xml(shorten(tip, 500))}</title><path d="{path_data(line)}"/>'
            f'<path class="tip" d="{head}"/></g>'
        )

    def pill(self, route: Route, path: list[Cubic]) -> str:
        """The value that flowed, where it covers nothing, as near to the middle of its arrow as can be."""
        pill = self.measured.pills[route.id]
        along = _along(path)

        def around(share: float) -> Rect:
            x, y = along[round(share * (len(along) - 1))]
            return x - pill.width / 2, y - pill.height / 2, x + pill.width / 2, y + pill.height / 2

        def covers(share: float) -> float:
            left, top, right, bottom = around(share)
            return self.space.covered((left - 3, top - 2, right + 3, bottom + 2))

        best = min(ALONG, key=covers)  # the first, that is nearest to the middle, of those that cover least
        left, top, right, bottom = rect = around(best)
        self.space.take(rect)
        self.reach((left, top), (right, bottom))
        lines = "".join(
            f'<text x="{num((left + right) / 2)}" y="{num(top + 14 + 16 * i)}">{spaced(line)}</text>'
            for i, line in enumerate(pill.lines)
        )
        return (
            f'<g class="pill" id="{self.prefix}{route.id}-p"><title>{xml(self.flow(route))}</title><rect x="{num(left)}"'
            f' y="{num(top)}" width="{num(pill.width)}" height="{num(pill.height)}" rx="10"/>{lines}</g>'
        )

    def reach(self, *points: Point) -> None:
        """Make the picture large enough to hold some points."""
        for x, y in points:
            left, top, right, bottom = self.bounds
            self.bounds = [min(left, x), min(top, y), max(right, x), max(bottom, y)]

    def stand(self, left: float, top: float, right: float, bottom: float) -> None:
        """Take the place of a box, so that no pill covers it."""
        self.space.take((left, top, right, bottom))
        self.reach((left, top), (right, bottom))

    def below(self, left: float, top: float, width: float) -> tuple[str, float]:
        """Sentences and legend below the picture, and where they end."""
        says = [text(self.graph.note[0], self.lang, **self.graph.note[1])] if self.graph.note else []
        if self.graph.omitted:
            says.append(text("omitted", self.lang, n=self.graph.omitted))
        said, top = sentences(says, left, top, width)
        signs, bottom = legend(self.kinds, left, top, width, self.lang)
        return said + signs, bottom


def _heading(box: CardBox) -> str:
    """The title of a card: its name in bold, and the expression that made it."""
    name = f'<tspan class="name">{xml(box.name)}</tspan>' if box.name else ""
    if not box.expr:
        return name
    sign = " = " if box.name else ""
    return f"{name}<tspan>{spaced(sign)}</tspan><tspan>{xml(box.expr)}</tspan>"


def _label(kind: str, id: str, x: float, y: float, width: float, label: str, tip: str) -> str:
    """A small rounded sign with text: a chip."""
    named = f' id="{id}"' if id else ""
    title = f"<title>{xml(tip)}</title>" if tip else ""
    return (
        f'<g class="{kind}"{named}>{title}<rect x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{CHIP}" rx="4"/>'
        f'<text x="{num(x + 5)}" y="{num(y + 13)}">{xml(label)}</text></g>'
    )


def _along(path: list[Cubic]) -> list[Point]:
    """Points at equal distances along a path."""
    points = [path[0][0], *(at(piece, i / 24) for piece in path for i in range(1, 25))]
    lengths = [0.0]
    for (x, y), (u, v) in zip(points, points[1:]):
        lengths.append(lengths[-1] + ((u - x) ** 2 + (v - y) ** 2) ** 0.5)
    even: list[Point] = []
    i = 0
    for step in range(101):
        while i < len(points) - 1 and lengths[i] < lengths[-1] * step / 100:
            i += 1
        even.append(points[i])
    return even
