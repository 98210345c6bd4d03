"""The picture: stations, arrows, pills and legend as one SVG, where Graphviz's positions say.

Ids and classes, for whoever marks steps in it (`p` is the prefix, `s0` a station's id, `r0` a route's):

    g.station   #p s0        class of its role: leaf, parameter, root, constant, result; `bare` without deck
    g.card      #p s0-c0     its rows are g.row, #p s0-c0-value, #p s0-c0-grad, …
    g.deck      #p s0-d      its chips are g.chip, #p s0-k0, #p s0-k1, …; `freed` once released
    g.edge.fwd  #p r0        of a bundle of more than four between two stations, only the first route is drawn
    g.edge.grad #p r0-g      `todo` while nothing has flowed, else with its g.pill #p r0-p
    g.frame     #p frame2    the frame around the stations of order 2

`active`, `done`, `todo` and `error` are styled on all of them. Coordinates are Graphviz's, y downwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from .boxes import CHIP, HEAD, MORE, PAD, PARALLEL, Box, CardBox, Measured, Reference, measure
from .dot import Cubic, Places, Point, Rect, Space, along, at, forward_arrow, gradient_arrow, read
from .graph import CONSTANT, LEAF, PARAMETER, ROOT, Graph, Route, Station
from .numbers import short
from .outline import describe, describe_saved
from .style import area, css, legend, num, path_data, rounded, sentences, spaced, xml
from .words import clean, sans, shorten, text

MARGIN = 16.0
NARROW = 420.0  # the legend and the sentences below a small graph may be this wide
TIP = 9.0  # length of an arrow head
# Where along its arrow a pill may stand: the middle if that is free.
ALONG = (0.5, 0.44, 0.56, 0.37, 0.63, 0.3, 0.7, 0.23, 0.77, 0.16, 0.84)


def to_svg(
    graph: Graph, positions: Mapping[str, Any], *, detail: str = "normal", theme: str = "auto",
    lang: str | None = None, prefix: str = "",
) -> str:  # fmt: skip
    """The SVG of `graph`, laid out as `positions` (Graphviz's json for `to_dot(graph, detail=detail,
    lang=lang)`) say.

    `prefix` goes before every id, since many pictures share a page. Raises ValueError for an unknown detail,
    theme or language, or a prefix that cannot be part of an id.
    """
    if not re.fullmatch(r"[\w.-]*", prefix):
        raise ValueError(f"prefix must consist of letters, digits, '_', '-' and '.', not {prefix!r}")
    measured = measure(graph, detail, lang)
    picture = Picture(graph, read(positions, measured), lang, prefix)
    return picture.svg(theme)


class Picture:
    """One graph with its places, on the way to becoming SVG."""

    def __init__(self, graph: Graph, places: Places, lang: str | None, prefix: str) -> None:
        self.graph, self.places, self.lang, self.prefix = graph, places, lang, prefix
        self.measured: Measured = places.measured
        self.routes = {route.id: route for route in graph.routes}
        self.stations = {station.id: station for station in graph.stations}
        self.space = Space()
        self.bounds = [inf, inf, -inf, -inf]  # of what is drawn; Graphviz leaves room for more
        self.kinds: set[str] = set()  # what occurs, for the legend

    def svg(self, theme: str) -> str:
        """The whole document."""
        frames = "".join(self.frame(order) for order in sorted(self.places.frames))
        stations = "".join(self.station(station) for station in self.graph.stations)
        chips = "".join(self.reference(chip) for chip in dict.fromkeys(self.measured.references.values()))
        arrows, pills = self.arrows()
        left, top, right, bottom = self.bounds if self.graph.stations else [0.0, 0.0, 0.0, 0.0]
        width = max(right - left, NARROW)
        below, bottom = self.below(left, bottom + 24, width)
        left, top, bottom, width = left - MARGIN, top - MARGIN, bottom + MARGIN, width + 2 * MARGIN
        size = f'width="{num(width)}" height="{num(bottom - top)}"'
        p = self.prefix
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mg mg-{theme}" {size} role="img"'
            f' viewBox="{num(left)} {num(top)} {num(width)} {num(bottom - top)}"'
            f' aria-labelledby="{p}title {p}desc"><title id="{p}title">{xml(self.title())}</title>'
            f'<desc id="{p}desc">{xml(self.description())}</desc><style>{css(theme)}</style>'
            f'<rect class="paper" {area(left, top, width, bottom - top)} rx="8"/>'
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

    # ----------------------------------------------------------------------------------------------- stations

    def station(self, station: Station) -> str:
        """A station with its cards and its deck."""
        box, (x, y) = self.measured.boxes[station.id], self.places.corner(station.id)
        self.stand(x, y, x + box.width, y + box.height)
        roles = dict.fromkeys(card.role for card in station.cards)
        id = self.prefix + station.id
        cards = "".join(self.card(station, i, card, box, f"{id}-c{i}") for i, card in enumerate(box.cards))
        deck = self.deck(station, box, f"{id}-d") if station.deck else ""
        bare = "" if station.deck else " bare"
        return (
            f'<g class="station {" ".join(roles)}{bare}" id="{id}" transform="translate({num(x)} {num(y)})">'
            f"{cards}{deck}</g>"
        )

    def card(self, station: Station, i: int, box: CardBox, whole: Box, id: str) -> str:
        """One card of a station."""
        card, x, width, upper = box.card, box.x, box.width, whole.upper
        bare = station.deck is None and (card.role == CONSTANT or not card.requires_grad)
        kind = f"{card.role} bare" if bare else card.role
        self.kinds.add("constant" if bare else card.role)
        foot = 8 if station.deck is None else 0
        tip = describe(station, i, self.measured.names, self.lang)
        parts = [
            f'<g class="card {kind}" id="{id}"><title>{xml(tip)}</title>',
            f'<path class="box" d="{rounded(x, 0, width, upper, 8, foot)}"/>',
            f'<path class="head" d="{rounded(x, 0, width, HEAD, 8, 0)}"/>',
            f'<text x="{num(x + PAD)}" y="18">{_heading(box)}</text>',
        ]
        if box.role:
            parts.append(f'<text class="role" x="{num(x + width - PAD)}" y="18">{xml(box.role)}</text>')
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
            parts.append(_label('class="hooks"', box.width - wide - 8, box.upper + 6, wide, box.hooks))
        for n, chip in enumerate(box.chips):
            saved = chip.saved
            kind = "more" if saved is None else "freed" if saved.freed else ""
            self.kinds |= {"saved"} if kind == "" else {kind}
            hidden = station.deck.saved[n:] if saved is None else (saved,)
            tip = "\n".join(describe_saved(each, self.lang) for each in hidden)
            named = f'class="{f"chip {kind}".strip()}" id="{id[:-2]}-k{n}"'
            parts.append(_label(named, chip.x, box.upper + chip.y, chip.width, chip.text, tip))
        return "".join(parts) + self.nones(station, box) + "</g>"

    def nones(self, station: Station, box: Box) -> str:
        """A ∅ on the left border of a deck for every input without an edge, or one with their number."""
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
            around = area(-half, middle - 8, 2 * half, 16)
            self.space.take((x - half, y + middle - 8, x, y + middle + 8))
            parts.append(
                f'<g class="none"><title>{xml(tip)}</title><rect {around} rx="8"/>'
                f'<text x="0" y="{num(middle + 4)}">{xml(sign)}</text></g>'
            )
        return "".join(parts)

    def reference(self, chip: Reference) -> str:
        """The small stand-in for a much used leaf."""
        box, (x, y) = self.measured.boxes[chip.id], self.places.corner(chip.id)
        self.stand(x, y, x + box.width, y + box.height)
        source = self.stations[chip.source]
        role = source.cards[chip.card].role
        upper = rounded(0, 0, box.width, box.upper, 8, 0 if source.deck else 8)
        lower = rounded(0, box.upper, box.width, box.height - box.upper, 0, 8)
        deck = f'<g class="deck"><path class="box" d="{lower}"/></g>' if source.deck else ""
        tip = text("tip_reference", self.lang, name=chip.text, n=chip.uses)
        return (
            f'<g class="reference" id="{self.prefix}{chip.id}" transform="translate({num(x)} {num(y)})">'
            f'<title>{xml(tip)}</title><g class="card {role}{"" if source.deck else " bare"}">'
            f'<path class="{"head" if source.deck else "box"}" d="{upper}"/>'
            f'<text x="{PAD}" y="17">{xml(shorten(chip.text, 14))}</text></g>{deck}</g>'
        )

    def frame(self, order: int) -> str:
        """The frame around the stations of one order, with its title."""
        left, top, right, bottom = self.places.frames[order]
        whole = text("frame_2" if order == 2 else "frame_n", self.lang, n=order)
        brief = text("frame_2_short" if order == 2 else "frame_n_short", self.lang, n=order)
        room = right - left - 24
        title = whole if sans(whole) < room else shorten(brief, max(1, int(room / 7)))
        self.reach((left, top), (right, bottom))
        self.space.take((left + 8, top + 4, left + 16 + sans(title), top + 20))
        return (
            f'<g class="frame" id="{self.prefix}frame{order}"><title>{xml(whole)}</title>'
            f'<rect {area(left, top, right - left, bottom - top)} rx="12"/>'
            f'<text class="say" x="{num(left + 12)}" y="{num(top + 17)}">{xml(title)}</text></g>'
        )

    # ------------------------------------------------------------------------------------------------- arrows

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
        """How far off the decks' middles an arrow with parallel ones runs: as far as both ends allow."""
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
        tip = text("tip_forward", self.lang, **self.ends(route))
        return self.edge("fwd", self.prefix + route.id, forward_arrow(self.places, route, spread), tip)

    def gradient(self, route: Route, path: list[Cubic]) -> str:
        """The gradient arrow of a route; a dashed one while nothing has flowed."""
        flowed = route.id in self.measured.pills
        self.kinds.add("gradient" if flowed else "todo")
        kind = "grad" if flowed else "grad todo"
        return self.edge(kind, f"{self.prefix}{route.id}-g", path, self.flow(route))

    def ends(self, route: Route) -> dict[str, str]:
        """Names of the tensors that a route runs between."""
        names = self.measured.names
        return {"source": names[route.source, route.card], "target": names[route.target, 0]}

    def flow(self, route: Route) -> str:
        """What flowed over a route, or over the bundle that is drawn along it, as a sentence."""
        bundle = self.measured.bundles[route.id]
        drawn = bundle if len(bundle) > PARALLEL else (route.id,)
        values = [short(value, 60) for id in drawn for value in self.routes[id].gradients]
        if not values:
            return text("tip_gradient_none", self.lang, **self.ends(route))
        return text("tip_gradient", self.lang, value=", ".join(values), **self.ends(route))

    def edge(self, kind: str, id: str, path: list[Cubic], tip: str) -> str:
        """An arrow along `path`, which ends level: its head points to the left or to the right."""
        for piece in path:
            self.reach(*(at(piece, t) for t in (0.25, 0.5, 0.75, 1.0)))
        (x, y), before = path[-1][3], path[-1][0]
        back = -TIP if x > before[0] else TIP
        line = [*path[:-1], (before, before, (x + back, y), (x + back, y))]
        head = f"M{num(x)} {num(y)}l{num(back)} -4v8z"
        return (
            f'<g class="edge {kind}" id="{id}"><title>{xml(shorten(tip, 500))}</title>'
            f'<path d="{path_data(line)}"/><path class="tip" d="{head}"/></g>'
        )

    def pill(self, route: Route, path: list[Cubic]) -> str:
        """The value that flowed, where it covers nothing, as near to the middle of its arrow as can be."""
        pill = self.measured.pills[route.id]
        points = along(path)

        def around(share: float) -> Rect:
            x, y = points[round(share * (len(points) - 1))]
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
        tip = shorten(self.flow(route), 500)
        return (
            f'<g class="pill" id="{self.prefix}{route.id}-p"><title>{xml(tip)}</title>'
            f'<rect {area(left, top, pill.width, pill.height)} rx="10"/>{lines}</g>'
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


def _label(attributes: str, x: float, y: float, width: float, label: str, tip: str = "") -> str:
    """A small rounded sign with text: a chip."""
    title = f"<title>{xml(tip)}</title>" if tip else ""
    return (
        f'<g {attributes}>{title}<rect {area(x, y, width, CHIP)} rx="4"/>'
        f'<text x="{num(x + 5)}" y="{num(y + 13)}">{xml(label)}</text></g>'
    )
