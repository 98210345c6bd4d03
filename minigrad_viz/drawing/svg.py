"""The picture: stations, arrows, pills and legend as one SVG, at the positions that Graphviz computed.

Code that marks steps in the picture uses these ids and classes (`p` is the prefix, `s0` a station's id, and
`r0` a route's id):

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

from collections.abc import Iterator

from ..model.naming import PARALLEL
from ..trace.graph import LEAF, PARAMETER, ROOT, Graph, Route
from ..words import language, shorten, text
from .geometry import Cubic, Rect
from .heat_maps import legend_of_heat
from .lane import aside_text
from .look import CHIP, Tag, merge_tags
from .positions import Places, forward_arrow, gradient_arrow
from .stations import (
    SEED,
    Canvas,
    draw_cut,
    draw_fog,
    draw_frame,
    draw_pill,
    draw_reference,
    draw_seed,
    draw_shape,
    draw_station,
    ends,
    flow,
    why_cut,
)
from .style import MARGIN, area, css, legend, num, sentences, xml

NARROW = 420.0  # the legend and the sentences below a small graph may be this wide
PLUS = 24.0  # pixels of the sign that opens a box, before a sentence
ABOVE = (0.0, 23.0, 34.0, -23.0, -34.0)  # pixels that the label of an arrow may stand above it
# What few pictures have, and its style with them.
SELDOM = {"guilty", "cause", "stale", "removed", "cut", "fog", "ghost", "lost", "memory"}


def to_svg(
    graph: Graph, places: Places, *, lang: str | None = None, theme: str = "auto", prefix: str = ""
) -> str:
    """The SVG of `graph` at its `places`. `prefix` goes before every id, since many pictures share a page."""
    return Drawing(Canvas(graph, places, lang or language(), prefix)).svg(theme)


class Drawing:
    """What is drawn on a `canvas`: stations, arrows with their pills and signs, and what is below, with
    the legend of the `signs` or without. `frame` has its sides: left, top, right, bottom."""

    def __init__(self, canvas: Canvas, signs: bool = True) -> None:
        self.canvas = canvas
        self.content, self.frame = self.drawn(signs)

    def drawn(self, signs: bool) -> tuple[str, Rect]:
        """The content of the document, and the frame around it."""
        canvas = self.canvas
        stations = canvas.graph.stations
        frames = "".join(draw_frame(canvas, order) for order in sorted(canvas.places.frames))
        frames += "".join(draw_fog(canvas, station) for station in stations)
        standing = "".join(draw_station(canvas, station) for station in stations)
        chips = dict.fromkeys(canvas.measured.references.values())
        standing += "".join(draw_reference(canvas, chip) for chip in chips)
        arrows, pills = self.arrows()
        left, top, right, bottom = canvas.bounds if stations else [0.0, 0.0, 0.0, 0.0]
        lane = canvas.measured.lane
        width = max(right - left, NARROW, lane.width)
        left -= max(0.0, lane.width - (right - left)) / 2  # the graph stands above the middle of its lane
        canvas.kinds |= {"updates"} if lane.heads else set()
        top_below = bottom + 12
        scales = canvas.measured.scales
        updates, bottom = lane.draw(left, bottom + 24, width, scales, canvas.prefix, canvas.light)
        below, bottom = self.below(left, bottom + 16, width)
        below = (
            f'<g class="below" data-top="{num(top_below)}">{updates}{below}</g>' if updates + below else ""
        )
        said, end = legend(canvas.kinds, left, bottom, width, canvas.lang) if signs else ("", bottom)
        spread = any(row.spread is not None for _, _, row in canvas.measured.rows())
        canvas.kinds |= {"heat"} if canvas.measured.scales or spread else set()
        frame = left - MARGIN, top - MARGIN, left + width + MARGIN, end + MARGIN
        return f"{frames}{arrows}{standing}{pills}{below}{said}", frame

    def svg(self, theme: str, frame: Rect | None = None, pale: str = "") -> str:
        """The whole document, with its own frame or another one; with a style `pale`, of the class `pale`."""
        kinds, p = self.canvas.kinds, self.canvas.prefix
        parts = {"marks"} if kinds & SELDOM else set()
        style = css(theme, sorted(parts | kinds & {"updates", "heat"})) + pale
        left, top, right, bottom = frame or self.frame
        width = right - left
        size = f'width="{num(width)}" height="{num(bottom - top)}"'
        name = f"mg mg-{theme}" + (" pale" if pale else "")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{name}" {size} role="img"'
            f' viewBox="{num(left)} {num(top)} {num(width)} {num(bottom - top)}"'
            f' aria-labelledby="{p}title {p}desc"><title id="{p}title">{xml(self.title())}</title>'
            f'<desc id="{p}desc">{xml(self.description())}</desc><style>{style}</style>'
            f'<rect class="paper" {area(left, top, width, bottom - top)} rx="8"/>'
            f"{self.content}</svg>"
        )

    def title(self) -> str:
        """One line that says what the picture shows."""
        names = [name for name, role in self.roles() if role == ROOT]
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
        drawn = [r for r in self.canvas.graph.routes if self.canvas.measured.line(r) == r.id]
        paths = self.canvas.places.arrows
        if not paths:  # the first picture of this layout
            paths |= {r.id: forward_arrow(self.canvas.places, r, *self.spread(r, lower=False)) for r in drawn}
            for r in (r for r in drawn if r.tracked):
                paths[f"{r.id}-g"] = gradient_arrow(self.canvas.places, r, *self.spread(r, lower=True))
        for route in drawn:
            path = paths[route.id]
            forward.append(self.forward(route, path))
            tags.append((self.mark(route), path, route.id))
            shapes += [(route, path)] if route.id in self.canvas.measured.shapes else []
            if why_cut(self.canvas, route):
                pills.append(draw_cut(self.canvas, route, path))
            if route.tracked:
                path = paths[f"{route.id}-g"]
                gradient.append(self.gradient(route, path))
                tags.append((self.mark(route, "-g"), path, f"{route.id}-g"))
                if route.id in self.canvas.measured.pills:
                    pills.append(draw_pill(self.canvas, route, path))
        pills += [self.label(tag, path, id) for tag, path, id in tags if tag]
        pills += [draw_seed(self.canvas, id) for id in self.canvas.measured.pills if id.endswith(SEED)]
        pills += [draw_shape(self.canvas, route, path) for route, path in shapes]
        return "".join(forward + gradient), "".join(pills)

    def mark(self, route: Route, suffix: str = "") -> Tag | None:
        """The mark at an arrow, or at those that are drawn as one with it."""
        parts = (id + suffix for id in self.canvas.measured.drawn(route))
        return merge_tags(None, [self.canvas.tags[part] for part in parts if part in self.canvas.tags])

    def label(self, tag: Tag, path: list[Cubic], own: str) -> str:
        """The label of a marked arrow, on the arrow or near it, and if possible not where another arrow
        meets it."""
        half, up = tag.width / 2, CHIP / 2
        side = -1.0 if path[0][0][1] > path[-1][3][1] + 1 else 1.0
        x, y = self.canvas.spot(path, (half, up, half, up), [side * above for above in ABOVE], [own])
        self.canvas.stand(x - half, y - up, x + half, y + up)
        return self.canvas.tag(tag, x + half, y - up)

    def spread(self, route: Route, lower: bool) -> tuple[float, float]:
        """How far off the decks' middles an arrow with parallel ones begins and ends, as far as both allow;
        and how far off them it runs in between, so that there is room for its pill."""
        bundle = self.canvas.measured.bundles[route.id]
        if not 1 < len(bundle) <= PARALLEL:
            return 0.0, 0.0
        room = min(
            self.canvas.places.room(id, lower) for id in (self.canvas.measured.tail(route), route.target)
        )
        pills = (self.canvas.measured.pills[id].height for id in bundle if id in self.canvas.measured.pills)
        tall = 0.0 if self.canvas.places.axes.upright else max(pills, default=0.0)
        place, wide = bundle.index(route.id) - (len(bundle) - 1) / 2, max(26.0, tall + 6) if lower else 14.0
        return place * min(wide, (room - 10) / len(bundle)), place * wide

    def forward(self, route: Route, path: list[Cubic]) -> str:
        """The forward arrow of a route."""
        self.canvas.kinds.add("forward")
        tag = self.mark(route)
        cut = why_cut(self.canvas, route)
        said = text("tip_forward", self.canvas.lang, **ends(self.canvas, route))
        tip = "\n".join([*self.canvas.marked(tag), said, *([cut] if cut else [])])
        return self.canvas.edge(self.canvas.kind("fwd", tag), self.canvas.prefix + route.id, path, tip)

    def gradient(self, route: Route, path: list[Cubic]) -> str:
        """The gradient arrow of a route; a dashed one while nothing has flowed."""
        flowed = route.id in self.canvas.measured.flowed
        self.canvas.kinds.add("gradient" if flowed else "unseen" if self.canvas.graph.unseen else "todo")
        tag = self.mark(route, "-g")
        kind = self.canvas.kind("grad" if flowed else "grad todo", tag)
        tip = "\n".join([*self.canvas.marked(tag), flow(self.canvas, route)])
        return self.canvas.edge(kind, f"{self.canvas.prefix}{route.id}-g", path, tip)

    def below(self, left: float, top: float, width: float) -> tuple[str, float]:
        """Scales and sentences below the picture, and where they end."""
        canvas, graph = self.canvas, self.canvas.graph
        says = [text(graph.note[0], canvas.lang, **graph.note[1])] if graph.note else []
        if graph.omitted:
            says.append(text("omitted", canvas.lang, n=graph.omitted))
        numbered, room = any(pill.heat for pill in canvas.measured.pills.values()), width + MARGIN
        maps, top = legend_of_heat(canvas.measured.scales, numbered, left, top, room, canvas.lang)
        said, top = sentences(says, left, top, width)
        aside = aside_text(graph, canvas.lang)
        if aside:  # a sign before it opens what stands there
            beside, top = sentences([aside], left + PLUS, top, width)
            said += f'<g class="aside" id="{canvas.prefix}aside">{beside}</g>'
        return maps + said, top
