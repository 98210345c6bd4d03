"""The graph in words: for a terminal, a screen reader, and wherever a picture is not possible.

    z = torch.log(y)   4.8283   root   grad (1., not kept)
      LogBackward0   self 125. (freed)
      ← y: 0.008

One paragraph a station, each once: its tensors, below them the backward node with what it saved, and one line
for every input the gradient goes back to. Roots come first, then backwards through the program. The text
depends on the graph and the language alone.
"""

from __future__ import annotations

from dataclasses import replace

from ..model.naming import name_cards
from ..number_text import one_line
from ..protocol import Value
from ..trace.graph import RESULT, ROOT, Card, Deck, Graph, Route, Station
from ..words import clean, shorten, shorten_name, text
from .card_parts import GRAD, WIDTH, CardView, memories_of, part_outlines
from .details import code_places, describe_hooks, saved_line
from .lane import aside_text, update_lines
from .look import BARE, CUT_WORDS, FOG_WORDS, ROLE_WORDS, Look, tag_text, tags_of, whole_label

GAP = "   "
INPUTS = 12  # lines for the inputs of one node


def outline(graph: Graph, lang: str | None = None, *, limit: int = 60, look: Look | None = None) -> str:
    """`graph` as text with at most `limit` stations. A larger graph is shown by its first and last stations,
    with a count between them. `look` says whether values are written, and which saved values.

    The text never ends in a line break. Raises ValueError for an unknown language.
    """
    stations = _reading_order(graph.stations)
    writer = OutlineWriter(graph, lang, look or Look())
    lines = writer.notes()
    framed = any(station.order > 1 for station in stations)
    order, hidden = None, 0
    for i, station in enumerate(stations):
        if limit - limit // 2 <= i < len(stations) - limit // 2 and station.id not in writer.marked:
            hidden += 1
            continue
        if hidden:
            lines.append(text("outline_left_out", lang, n=hidden))
            hidden = 0
        if framed and station.order != order:
            order = station.order
            lines.append(writer.frame(order))
        lines += writer.station(station)
    lines += update_lines(graph, lang)
    if graph.omitted:
        lines.append(text("omitted", lang, n=graph.omitted))
    lines += filter(None, [aside_text(graph, lang)])
    return "\n".join(lines) or text("outline_empty", lang)


def _reading_order(stations: tuple[Station, ...]) -> list[Station]:
    """Higher derivatives first; of one order the roots first; then from the end to the beginning."""

    def rank(numbered: tuple[int, Station]) -> tuple[int, bool, int]:
        i, station = numbered
        return -station.order, all(card.role != ROOT for card in station.cards), -i

    return [station for _, station in sorted(enumerate(stations), key=rank)]


def gather(graph: Graph) -> dict[tuple[str, int], list[Value]]:
    """The gradients that met at each card, by station id and position: what `.grad` held before, and one for
    each route."""
    shares = {(s.id, i): [c.before] for s in graph.stations for i, c in enumerate(s.cards) if c.before}
    for route in graph.routes:
        if route.tracked and route.gradients:
            shares.setdefault((route.source, route.card), []).extend(route.gradients)
    return shares


class OutlineWriter:
    """Writes stations of one graph in one language."""

    def __init__(self, graph: Graph, lang: str | None, look: Look) -> None:
        self.graph, self.lang, self.look = graph, lang, replace(look, lang=lang)
        self.folds = {fold.station: fold for fold in graph.folds}
        self.names = name_cards(graph, lang)
        self.shares = gather(graph)
        cards = ((s.id, i, card) for s in graph.stations for i, card in enumerate(s.cards))
        self.letters = {(id, i): card.letter for id, i, card in cards if card.expr and not card.name}
        self.arriving: dict[str, list[Route]] = {}
        for route in graph.routes:
            self.arriving.setdefault(route.target, []).append(route)
        self.tags, self.memories = tags_of(graph), memories_of(graph, self.names)
        ends = {route.id: route.target for route in graph.routes}  # a marked arrow is described at its end
        parts = (part.partition("-")[0] for part in self.tags)
        self.marked = {ends.get(part, part) for part in parts}  # stations that are never left out

    def notes(self) -> list[str]:
        """Why there is no graph, if that is known."""
        return [text(self.graph.note[0], self.lang, **self.graph.note[1])] if self.graph.note else []

    def frame(self, order: int) -> str:
        """The heading of the stations of one order."""
        key = {1: "outline_first", 2: "frame_2"}.get(order, "frame_n")
        return f"[{text(key, self.lang, n=order)}]"

    def station(self, station: Station) -> list[str]:
        """The paragraph of one station."""
        lines = [self.card(station, i, card) for i, card in enumerate(station.cards)]
        if station.deck is None:
            inputs = [*self.ghost(station), *self.cuts(station)]
        else:
            lines.append("  " + GAP.join(self.deck(station, station.deck)))
            lines += self.inside(station)
            inputs = self.inputs(station)
            more = len(inputs) - INPUTS
            if more > 1:
                inputs = [*inputs[:INPUTS], text("outline_inputs_left_out", self.lang, n=more)]
        return lines + ["  " + line for line in [*inputs, *self.used(station)]]

    def inside(self, station: Station) -> list[str]:
        """The parameters inside a closed box."""
        fold = self.folds.get(station.id)
        if fold is None or not self.look.values:
            return []
        lines = []
        for name, card in fold.parameters:
            value = [] if card.value is None else [one_line(card.value, WIDTH)]
            grad = filter(None, [GRAD.outline(CardView(card, self.look))])
            lines.append("  " + GAP.join([shorten_name(name, WIDTH), *value, *grad]))
        return lines

    def deck(self, station: Station, deck: Deck) -> list[str]:
        """A backward node: its name, what it saved, its hooks, and what is marked."""
        chips = deck.saved if self.look.saved != "none" else ()
        saved = [
            GAP.join([saved_line(each, self.look, self.lang), *self.mark(f"{station.id}-k{i}")])
            for i, each in enumerate(chips)
        ]
        hidden = range(len(chips), len(deck.saved))
        marks = [*self.mark(f"{station.id}-d"), *(m for i in hidden for m in self.mark(f"{station.id}-k{i}"))]
        hooks = [text("hooks", self.lang, n=deck.hooks)] if deck.hooks else []
        hooks = describe_hooks(deck, self.lang) if deck.ran and self.look.values else hooks
        left_out = [text("outline_skipped", self.lang)] * deck.skipped
        name = shorten(clean(deck.name), WIDTH)
        return [name, *marks, *left_out, *code_places(deck, self.lang), *saved, *hooks]

    def mark(self, part: str) -> list[str]:
        """What an explanation says about a part."""
        if part not in self.tags:
            return []
        tag = self.tags[part]
        label = tag_text(tag, self.lang).replace("\n", "; ")
        return [f"{BARE[tag.kind]} {label}"]

    def ghost(self, station: Station) -> list[str]:
        """Why there is no node, where one would have been."""
        card = next((card for card in station.cards if card.fog), None)
        if card is None:
            return []
        fog = text(FOG_WORDS[card.fog], self.lang)
        node = shorten(clean(card.ghost), WIDTH)
        return [f"({node}) {fog}" if node else fog]

    def cuts(self, station: Station) -> list[str]:
        """Where the path of a gradient was cut on its way to a tensor without a node."""
        return [self.cut(route) for route in self.arriving.get(station.id, []) if route.cut]

    def cut(self, route: Route) -> str:
        """What ended the path along a route."""
        return f"✂ {self.source(route)}: {text(CUT_WORDS[route.cut], self.lang)}"

    def used(self, station: Station) -> list[str]:
        """The arrows that are marked."""
        lines = []
        for route in self.arriving.get(station.id, []):
            for mark in self.mark(route.id):
                lines.append(text("outline_used", self.lang, name=self.source(route), mark=mark))
            for mark in self.mark(f"{route.id}-g"):
                lines.append(f"← {self.source(route)}: {mark}")
        return lines

    def card(self, station: Station, i: int, card: Card) -> str:
        """One tensor: what it is called and made from, its value, role and gradient."""
        name = shorten_name(self.names[station.id, i], WIDTH)
        if card.name and card.expr and card.role in (RESULT, ROOT):
            name = replace(card, expr=shorten(clean(card.expr), WIDTH)).titled(name)
        elif card.letter and card.expr:
            name = replace(card, expr=name).titled(card.letter)
        parts = [name]
        if card.value is not None and self.look.values:
            parts.append(one_line(card.value, WIDTH))
        if card.role != RESULT:
            parts.append(text(ROLE_WORDS[card.role], self.lang))
        parts += filter(None, [whole_label(card, self.lang)])
        parts += [text("outline_asked", self.lang)] * card.asked
        parts += self.mark(f"{station.id}-c{i}")
        known = self.memories.get((station.id, i)), station.deck, self.shares.get((station.id, i), ())
        return GAP.join([*parts, *part_outlines(CardView(card, self.look, *known))])

    def inputs(self, station: Station) -> list[str]:
        """One line for every entry of the node's `next_functions`; of a fold one for each tensor."""
        assert station.deck is not None
        arriving = self.arriving.get(station.id, [])
        if station.id in self.folds:
            return self.into_fold(arriving)
        tracked = {route.id: route for route in arriving}
        # An entry that is None belongs to the tensor that came in at the same place, where that is known.
        others = {route.input: route for route in arriving if not route.tracked}
        lines = []
        for i, id in enumerate(station.deck.inputs):
            route = others.get(i) if id is None else tracked.get(id)
            if id is not None and route is not None:
                lines.append(self.gradient(route))
            elif route is not None and route.cut:
                lines.append(self.cut(route))
            else:
                name = "" if route is None else self.source(route)
                lines.append(text("outline_input_none", self.lang, name=name))
        told = {route.id for route in others.values()} if None in station.deck.inputs else set()
        return lines + [self.cut(route) for route in arriving if route.cut and route.id not in told]

    def into_fold(self, arriving: list[Route]) -> list[str]:
        """What a fold sends gradients to, and how many."""
        lines = []
        for route in arriving:
            key = "outline_input_many" if route.gradients else "outline_input_many_waiting"
            many = text(key, self.lang, name=self.source(route), n=route.times)
            lines += [many if route.times > 1 else self.gradient(route)] if route.tracked else []
        return lines

    def gradient(self, route: Route) -> str:
        """Where a gradient goes, and the value if one flowed."""
        if not route.gradients or not self.look.values:
            return f"← {self.source(route)}"
        value = ", ".join(one_line(gradient, WIDTH) for gradient in route.gradients)
        return f"← {self.source(route)}: {value}"

    def source(self, route: Route) -> str:
        """What to call the tensor that a route comes from."""
        return self.letters.get((route.source, route.card)) or shorten_name(
            self.names[route.source, route.card], WIDTH
        )
