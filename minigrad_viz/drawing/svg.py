"""The picture: stations, arrows, pills and legend as one SVG, where Graphviz's positions say.

Ids and classes, for whoever marks steps in it (`p` is the prefix, `s0` a station's id, `r0` a route's):

    g.station   #p s0        class of its role: leaf, parameter, root, constant, result; `bare` without deck;
                             `fold` (#p f0) if it stands for many
    g.card      #p s0-c0     its rows are g.row, #p s0-c0-value, #p s0-c0-grad, …
    g.deck      #p s0-d      its chips are g.chip, #p s0-k0, #p s0-k1, …; `freed` once released
                             its hooks are g.hooks, `changed` where one changed the gradient
                             where nothing was recorded a g.ghost, #p s0-ghost, in a g.fog, #p s0-fog
    g.edge.fwd  #p r0        of a bundle of more than four between two stations, only the first route is drawn
    g.edge.grad #p r0-g      `todo` while nothing has flowed, else with its g.pill #p r0-p
                             a hook that saw the value is a g.hooks in the pill
    g.edge.grad #p s0-c0-seed  the gradient that the call was given, with its g.pill
    g.cut       #p r0-cut    scissors, with the ghost of the gradient arrow, g.edge.ghost #p r0-ghost
    g.frame     #p frame2    the frame around the stations of order 2
    g.lane                   the updates below the graph: see `lane`

`active`, `error` and `cause` are styled on all of them: what an explanation marks as guilty is an `error`,
and has its label in a g.tag. Coordinates are Graphviz's, y downwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ..model.card_names import PARALLEL
from ..numbers import shape_text, short
from ..trace.graph import LEAF, PARAMETER, ROOT, Graph, Route
from ..words import columns, shorten, text
from .arrows import forward_arrow, gradient_arrow, read, seed_arrow
from .boxes import Pill, measure
from .canvas import Canvas
from .curves import Cubic, at
from .decks import Sign
from .heat import heat_map, legend_of_heat
from .lane import Lane, aside_text
from .look import CHIP, SMALL, Look, settled
from .marks import Tag, merged
from .scissors import Scissors
from .signs import legend, sentences
from .stations import Stations
from .style import area, css, num, path_data, spaced, xml

MARGIN = 16.0
NARROW = 420.0  # the legend and the sentences below a small graph may be this wide
TIP = 9.0  # length of an arrow head
SEED = "-seed"
ABOVE = (0.0, 23.0, 34.0, -23.0, -34.0)  # pixels that the label of an arrow may stand above it
TOLD = 250  # gradients of a bundle that its tooltip tells, before it is cut short
# What few pictures have, and its style with them.
SELDOM = {"guilty", "cause", "stale", "removed", "cut", "fog", "ghost", "lost", "memory"}


def to_svg(
    graph: Graph, positions: Mapping[str, Any], *, look: Look | None = None, direction: str = "LR",
    theme: str = "auto", prefix: str = "",
) -> str:  # fmt: skip
    """The SVG of `graph`, laid out as `positions` (Graphviz's json for `to_dot` of the same graph, look and
    direction) say.

    `prefix` goes before every id, since many pictures share a page. Raises ValueError for an unknown theme or
    language, or a prefix that cannot be part of an id.
    """
    if not re.fullmatch(r"[\w.-]*", prefix):
        raise ValueError(f"prefix must consist of letters, digits, '_', '-' and '.', not {prefix!r}")
    look = settled(look)
    places = read(positions, measure(graph, look), direction)
    return Drawing(Canvas(graph, places, look.lang, prefix)).svg(theme)


class Drawing:
    """What is drawn on a `canvas`: stations, arrows with their pills and signs, and what stands below."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas, self.stations, self.scissors = canvas, Stations(canvas), Scissors(canvas)

    def svg(self, theme: str) -> str:
        """The whole document."""
        frames = "".join(self.stations.frame(order) for order in sorted(self.canvas.places.frames))
        frames += "".join(self.stations.fog(station) for station in self.canvas.graph.stations)
        stations = "".join(self.stations.station(station) for station in self.canvas.graph.stations)
        chips = "".join(
            self.stations.reference(chip) for chip in dict.fromkeys(self.canvas.measured.references.values())
        )
        arrows, pills = self.arrows()
        left, top, right, bottom = self.canvas.bounds if self.canvas.graph.stations else [0.0, 0.0, 0.0, 0.0]
        lane = Lane(self.canvas.graph, self.canvas.lang, self.canvas.prefix)
        width = max(right - left, NARROW, lane.width)
        self.canvas.kinds |= {"updates"} if lane.updates else set()
        updates, bottom = lane.draw(left, bottom + 24, width, self.canvas.measured.scales)
        below, bottom = self.below(left, bottom + (16 if updates else 0), width)
        self.canvas.kinds |= {"heat"} if self.canvas.measured.scales else set()
        parts = {"marks"} if self.canvas.kinds & SELDOM else set()
        style = css(theme, sorted(parts | self.canvas.kinds & {"updates", "heat"}))
        left, top, bottom, width = left - MARGIN, top - MARGIN, bottom + MARGIN, width + 2 * MARGIN
        size = f'width="{num(width)}" height="{num(bottom - top)}"'
        p = self.canvas.prefix
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mg mg-{theme}" {size} role="img"'
            f' viewBox="{num(left)} {num(top)} {num(width)} {num(bottom - top)}"'
            f' aria-labelledby="{p}title {p}desc"><title id="{p}title">{xml(self.title())}</title>'
            f'<desc id="{p}desc">{xml(self.description())}</desc><style>{style}</style>'
            f'<rect class="paper" {area(left, top, width, bottom - top)} rx="8"/>'
            f"{frames}{arrows}{stations}{chips}{pills}{updates}{below}</svg>"
        )

    def title(self) -> str:
        """One line that says what the picture shows."""
        names = [name for name, role in self.roles() if role == ROOT]
        if not names:
            return text("picture_title_plain", self.canvas.lang)
        return text("picture_title", self.canvas.lang, names=shorten(", ".join(names), 200))

    def description(self) -> str:
        """The picture in a few words, for those who do not see it."""
        tensors = sum(len(station.cards) for station in self.canvas.graph.stations)
        if not self.canvas.graph.tracked:
            return text("picture_desc_plain", self.canvas.lang, tensors=tensors)
        nobody = text("nobody", self.canvas.lang)
        roots = ", ".join(name for name, role in self.roles() if role == ROOT) or nobody
        leaves = ", ".join(name for name, role in self.roles() if role in (LEAF, PARAMETER)) or nobody
        nodes = sum(station.deck is not None for station in self.canvas.graph.stations)
        said = text(
            "picture_desc", self.canvas.lang, tensors=tensors, nodes=nodes, roots=shorten(roots, 200),
            leaves=shorten(leaves, 200),
        )  # fmt: skip
        labels = "; ".join(dict.fromkeys(tag.whole for tag in self.canvas.tags.values() if tag.whole))
        if labels:
            said = text("picture_marked", self.canvas.lang, picture=said, labels=shorten(labels, 400))
        return said

    def roles(self) -> Iterator[tuple[str, str]]:
        """Name and role of every card."""
        for station in self.canvas.graph.stations:
            for i, card in enumerate(station.cards):
                yield self.canvas.measured.names[station.id, i], card.role

    # ------------------------------------------------------------------------------------------------- arrows

    def arrows(self) -> tuple[str, str]:
        """All arrows, forward ones first, and the pills that lie on top of everything."""
        forward, gradient, pills, tags, shapes = [], [], [], [], []
        for route in self.canvas.graph.routes:
            if self.canvas.measured.line(route) != route.id:
                continue
            path = forward_arrow(self.canvas.places, route, self.spread(route, lower=False))
            forward.append(self.forward(route, path))
            tags.append((self.mark(route), path))
            shapes += [(route, path)] if self.canvas.folds else []
            if self.scissors.cut_of(route):
                pills.append(self.scissors.cut(route, path))
            if route.tracked:
                path = gradient_arrow(self.canvas.places, route, self.spread(route, lower=True))
                gradient.append(self.gradient(route, path))
                tags.append((self.mark(route, "-g"), path))
                if route.id in self.canvas.measured.pills:
                    pills.append(self.pill(route, path))
        pills += [self.label(tag, path) for tag, path in tags if tag]
        pills += [self.seed(id) for id in self.canvas.measured.pills if id.endswith(SEED)]
        pills += [self.shape(route, path) for route, path in shapes]
        return "".join(forward + gradient), "".join(pills)

    def seed(self, id: str) -> str:
        """The gradient that the call was given for a root, at an arrow that comes from outside."""
        station, card = id.removesuffix(SEED).split("-c")
        pill, upright = self.canvas.measured.pills[id], self.canvas.places.axes.upright
        length = 24 + (pill.height if upright else pill.width)
        path = seed_arrow(self.canvas.places, station, int(card), length)
        (x, y), (right, bottom) = path[0][0], path[-1][3]
        away = (x > right) - (x < right), (y > bottom) - (y < bottom)
        x, y = x - away[0] * pill.width / 2, y - away[1] * pill.height / 2
        name, value = self.canvas.measured.names[station, int(card)], "".join(pill.lines)
        tip = text("tip_seed", self.canvas.lang, value=value, name=name)
        self.canvas.kinds.add("gradient")
        arrow = self.edge("grad", self.canvas.prefix + id, path, tip)
        left, top = x - pill.width / 2, y - pill.height / 2
        self.canvas.stand(left, top, left + pill.width, top + pill.height)
        return arrow.removesuffix("</g>") + f'<g class="pill">{self.inner(pill, left, top)}</g></g>'

    def inner(self, pill: Pill, left: float, top: float) -> str:
        """What stands in a pill, around which it is drawn."""
        first, right = top + 14, left + pill.width
        heat = ""
        if pill.heat is not None:
            first += pill.heat.height + 5
            scale = self.canvas.measured.scales[pill.heat.of]
            heat = heat_map(pill.heat, scale, (left + right - pill.heat.width) / 2, top + 5)
        lines = "".join(
            f'<text x="{num((left + right) / 2)}" y="{num(first + 16 * i)}">{spaced(line)}</text>'
            for i, line in enumerate(pill.lines)
        )
        return f'<rect {area(left, top, pill.width, pill.height)} rx="10"/>{lines}{heat}'

    def shape(self, route: Route, path: list[Cubic]) -> str:
        """The sizes of what flows forward, above the arrow; told where boxes of many hide the tensors."""
        value = self.canvas.stations[route.source].cards[route.card].value
        if value is None:
            return ""
        said = shape_text(value)
        half = columns(said) * SMALL / 2
        x, y = self.canvas.spot(path, (half, 6, half, 6), (11.0, -11.0, 22.0))
        self.canvas.stand(x - half, y - 6, x + half, y + 6)
        return f'<text class="shape" x="{num(x)}" y="{num(y + 4)}">{xml(said)}</text>'

    def mark(self, route: Route, suffix: str = "") -> Tag | None:
        """The mark at an arrow, or at those that are drawn as one with it."""
        bundle = self.canvas.measured.bundles[route.id]
        drawn = bundle if len(bundle) > PARALLEL else (route.id,)
        return merged(
            None, [self.canvas.tags[id + suffix] for id in drawn if id + suffix in self.canvas.tags]
        )

    def label(self, tag: Tag, path: list[Cubic]) -> str:
        """The label of a marked arrow, on the arrow or near it, rather not where another one comes to meet
        it."""
        half, up = tag.width / 2, CHIP / 2
        side = -1.0 if path[0][0][1] > path[-1][3][1] + 1 else 1.0
        x, y = self.canvas.spot(path, (half, up, half, up), [side * above for above in ABOVE])
        self.canvas.stand(x - half, y - up, x + half, y + up)
        return self.canvas.tag(tag, x + half, y - up)

    def spread(self, route: Route, lower: bool) -> float:
        """How far off the decks' middles an arrow with parallel ones runs: as far as both ends allow."""
        bundle = self.canvas.measured.bundles[route.id]
        if len(bundle) > PARALLEL:
            return 0.0
        room = min(
            self.canvas.places.room(id, lower) for id in (self.canvas.measured.tail(route), route.target)
        )
        pitch = min(24.0 if lower else 14.0, (room - 10) / len(bundle))
        return (bundle.index(route.id) - (len(bundle) - 1) / 2) * pitch

    def forward(self, route: Route, path: list[Cubic]) -> str:
        """The forward arrow of a route."""
        self.canvas.kinds.add("forward")
        tag = self.mark(route)
        cut = [self.scissors.why_cut(route)] if self.scissors.cut_of(route) else []
        tip = "\n".join(
            [*self.canvas.marked(tag), text("tip_forward", self.canvas.lang, **self.ends(route)), *cut]
        )
        return self.edge(self.canvas.kind("fwd", tag), self.canvas.prefix + route.id, path, tip)

    def gradient(self, route: Route, path: list[Cubic]) -> str:
        """The gradient arrow of a route; a dashed one while nothing has flowed."""
        flowed = route.id in self.canvas.measured.flowed
        self.canvas.kinds.add("gradient" if flowed else "unseen" if self.canvas.graph.unseen else "todo")
        tag = self.mark(route, "-g")
        kind = self.canvas.kind("grad" if flowed else "grad todo", tag)
        tip = "\n".join([*self.canvas.marked(tag), self.flow(route)])
        return self.edge(kind, f"{self.canvas.prefix}{route.id}-g", path, tip)

    def ends(self, route: Route) -> dict[str, str]:
        """Names of the tensors that a route runs between."""
        names = self.canvas.measured.names
        return {"source": names[route.source, route.card], "target": names[route.target, 0]}

    def flow(self, route: Route) -> str:
        """What flowed over a route, or over the bundle that is drawn along it, as a sentence."""
        bundle = self.canvas.measured.bundles[route.id]
        drawn = bundle if len(bundle) > PARALLEL else (route.id,)
        flowed = (value for id in drawn for value in self.canvas.routes[id].gradients)
        values = [short(value, 60) for value in islice(flowed, TOLD)]
        if not values:
            key = "tip_gradient_unseen" if self.canvas.graph.unseen else "tip_gradient_none"
            return text(key, self.canvas.lang, **self.ends(route))
        return text("tip_gradient", self.canvas.lang, value=", ".join(values), **self.ends(route))

    def edge(self, kind: str, id: str, path: list[Cubic], tip: str) -> str:
        """An arrow along `path`, which ends straight: its head points along one of the axes."""
        for piece in path:
            self.canvas.reach(*(at(piece, t) for t in (0.25, 0.5, 0.75, 1.0)))
        (x, y), before = path[-1][3], path[-1][0]
        level = abs(x - before[0]) > abs(y - before[1])
        back = -TIP if x + y > before[0] + before[1] else TIP
        end = (x + back, y) if level else (x, y + back)
        line = [*path[:-1], (before, before, end, end)]
        head = f"M{num(x)} {num(y)}l" + (f"{num(back)} -4v8z" if level else f"-4 {num(back)}h8z")
        return (
            f'<g class="edge {kind}" id="{id}"><title>{xml(shorten(tip, 500))}</title>'
            f'<path d="{path_data(line)}"/><path class="tip" d="{head}"/></g>'
        )

    def pill(self, route: Route, path: list[Cubic]) -> str:
        """The value that flowed, where it covers nothing, as near to the middle of its arrow as can be."""
        pill = self.canvas.measured.pills[route.id]
        across, half = (pill.width + pill.beside) / 2, pill.height / 2
        x, y = self.canvas.spot(path, (across, half, across, half))
        left, top, right, bottom = x - across, y - half, x + across, y + half
        self.canvas.stand(left, top, right, bottom)
        deck = self.canvas.stations[route.source].deck
        hooks = ""
        for i, hook in enumerate(pill.hooks):
            assert deck is not None
            hooks += self.stations.decks.hook(
                deck, Sign(str(hook + 1), hook), left + i * (CHIP + 2), y - CHIP / 2
            )
        tip = shorten(self.flow(route), 500)
        return (
            f'<g class="pill" id="{self.canvas.prefix}{route.id}-p"><title>{xml(tip)}</title>'
            f"{self.inner(pill, left + pill.beside, top)}{hooks}</g>"
        )

    def below(self, left: float, top: float, width: float) -> tuple[str, float]:
        """Sentences and legend below the picture, and where they end."""
        says = (
            [text(self.canvas.graph.note[0], self.canvas.lang, **self.canvas.graph.note[1])]
            if self.canvas.graph.note
            else []
        )
        if self.canvas.graph.omitted:
            says.append(text("omitted", self.canvas.lang, n=self.canvas.graph.omitted))
        says += filter(None, [aside_text(self.canvas.graph, self.canvas.lang)])
        norms = any(pill.heat for pill in self.canvas.measured.pills.values())
        maps, top = legend_of_heat(self.canvas.measured.scales, norms, left, top, self.canvas.lang)
        said, top = sentences(says, left, top, width)
        signs, bottom = legend(self.canvas.kinds, left, top, width, self.canvas.lang)
        return maps + said + signs, bottom
