"""The graph in words: for a terminal, a screen reader, and wherever a picture cannot be had.

    z = torch.log(y)   4.8283   root   grad (1., not kept)
      LogBackward   self 125. (freed)
      ← y: 0.008

One paragraph a station, each once: its tensors, below them the backward node with what it saved, and one line
for every input the gradient goes back to. Roots come first, then backwards through the program. The text
depends on the graph and the language alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..numbers import gradient_text, short
from ..protocol import Value
from ..trace.graph import RESULT, ROOT, Card, Deck, Fold, Graph, Route, Saved, Station
from ..words import clean, shorten, text
from .boxes import gather, name_cards
from .cards import Look, kept_words

GAP = "   "
INPUTS = 12  # lines for the inputs of one node
WIDTH = 60  # columns of a name or an expression
LONG = 1000  # characters of one detail


def outline(graph: Graph, lang: str | None = None, *, limit: int = 60, look: Look | None = None) -> str:
    """`graph` as text, at most `limit` stations of it: of a larger graph the first and the last, and a count
    between. `look` says whether values are told, and which of the saved ones.

    Never ends in a line break. Raises ValueError for an unknown language or a limit below 2.
    """
    if limit < 2:
        raise ValueError(f"limit must be at least 2, not {limit}")
    stations = _reading_order(graph.stations)
    shown = stations
    if len(stations) > limit:
        shown = stations[: limit - limit // 2] + stations[len(stations) - limit // 2 :]
    writer = _Writer(graph, lang, look or Look())
    lines = writer.notes()
    framed = any(station.order > 1 for station in stations)
    order = None
    for i, station in enumerate(shown):
        if len(shown) < len(stations) and i == limit - limit // 2:
            lines.append(text("outline_left_out", lang, n=len(stations) - limit))
        if framed and station.order != order:
            order = station.order
            lines.append(writer.frame(order))
        lines += writer.station(station)
    if graph.omitted:
        lines.append(text("omitted", lang, n=graph.omitted))
    return "\n".join(lines) or text("outline_empty", lang)


def _reading_order(stations: tuple[Station, ...]) -> list[Station]:
    """Higher derivatives first; of one order the roots first; then from the end to the beginning."""

    def rank(numbered: tuple[int, Station]) -> tuple[int, bool, int]:
        i, station = numbered
        return -station.order, all(card.role != ROOT for card in station.cards), -i

    return [station for _, station in sorted(enumerate(stations), key=rank)]


class _Writer:
    """Writes stations of one graph in one language."""

    def __init__(self, graph: Graph, lang: str | None, look: Look) -> None:
        self.graph, self.lang, self.look = graph, lang, look
        self.folds = {fold.station for fold in graph.folds}
        self.names = name_cards(graph, lang)
        self.shares = gather(graph)
        self.arriving: dict[str, list[Route]] = {}
        for route in graph.routes:
            self.arriving.setdefault(route.target, []).append(route)

    def notes(self) -> list[str]:
        """Why there is no graph, if somebody said so."""
        return [text(self.graph.note[0], self.lang, **self.graph.note[1])] if self.graph.note else []

    def frame(self, order: int) -> str:
        """The heading of the stations of one order."""
        key = {1: "outline_first", 2: "frame_2"}.get(order, "frame_n")
        return f"[{text(key, self.lang, n=order)}]"

    def station(self, station: Station) -> list[str]:
        """The paragraph of one station."""
        lines = [self.card(station, i, card) for i, card in enumerate(station.cards)]
        if station.deck is None:
            return lines
        shown = station.deck.saved if self.look.saved != "none" else ()
        saved = [_saved_line(saved, self.look, self.lang) for saved in shown]
        hooks = [text("hooks", self.lang, n=station.deck.hooks)] if station.deck.hooks else []
        hooks = describe_hooks(station.deck, self.lang) if station.deck.ran and self.look.values else hooks
        left_out = [text("outline_skipped", self.lang)] * station.deck.skipped
        lines.append("  " + GAP.join([shorten(clean(station.deck.name), WIDTH), *left_out, *saved, *hooks]))
        inputs = self.inputs(station)
        more = len(inputs) - INPUTS
        if more > 1:
            inputs = [*inputs[:INPUTS], text("outline_inputs_left_out", self.lang, n=more)]
        return lines + ["  " + line for line in inputs]

    def card(self, station: Station, i: int, card: Card) -> str:
        """One tensor: what it is called and made from, its value, role and gradient."""
        name = shorten(self.names[station.id, i], WIDTH)
        if card.name and card.expr and card.role in (RESULT, ROOT):
            name = f"{name} = {shorten(clean(card.expr), WIDTH)}"
        parts = [name]
        if card.value is not None and self.look.values:
            parts.append(short(card.value, WIDTH))
        if card.role != RESULT:
            parts.append(text(f"role_{card.role}", self.lang))
        parts += [text("outline_asked", self.lang)] * card.asked
        if not self.look.values:
            return GAP.join(parts)
        if card.tangent is not None:
            parts.append(text("outline_tangent", self.lang, value=short(card.tangent, WIDTH)))
        if card.grad is not None:
            kept = "outline_kept" if card.grad_kept else "outline_not_kept"
            value = gradient_text(card.grad, self.shares.get((station.id, i), ()), WIDTH, self.lang)
            parts.append(text(kept, self.lang, value=value))
        elif card.requires_grad and card.is_leaf:
            parts.append(text("outline_no_grad", self.lang))
        return GAP.join(parts)

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
            elif route is not None:
                lines.append(text("outline_input_none", self.lang, name=self.source(route)))
            else:
                lines.append(text("outline_none", self.lang))
        return lines

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
            return text("outline_input_waiting", self.lang, name=self.source(route))
        value = ", ".join(short(gradient, WIDTH) for gradient in route.gradients)
        return text("outline_input", self.lang, name=self.source(route), value=value)

    def source(self, route: Route) -> str:
        return shorten(self.names[route.source, route.card], WIDTH)


def _saved_line(saved: Saved, look: Look, lang: str | None) -> str:
    name = shorten(clean(saved.name), WIDTH)
    if not look.values:
        return name
    if saved.packed:
        return _packed_line(saved, name, lang)
    if saved.value is None:
        return text("outline_freed_unseen", lang, name=name) if saved.freed else name
    value = (
        short(saved.value, WIDTH) if isinstance(saved.value, Value) else shorten(clean(saved.value), WIDTH)
    )
    if saved.freed:
        return text("outline_freed", lang, name=name, value=value)
    whole = look.saved == "all" and saved.version is not None
    key = "outline_version" if saved.version or whole else "outline_saved"
    return text(key, lang, name=name, value=value, version=saved.version)


def _packed_line(saved: Saved, name: str, lang: str | None) -> str:
    """A saved value of which a hook made something else."""
    kept = shorten(kept_words(saved, lang), WIDTH)
    if saved.freed:
        return text("outline_packed_freed", lang, name=name, kept=kept)
    if not isinstance(saved.value, Value):
        return text("outline_packed_unseen", lang, name=name, kept=kept)
    return text("outline_packed", lang, name=name, value=short(saved.value, WIDTH), kept=kept)


# ---------------------------------------------------------------- details: what a tooltip of the picture says


def describe(
    station: Station, i: int, names: Mapping[tuple[str, int], str], lang: str | None = None,
    fold: Fold | None = None,
) -> str:  # fmt: skip
    """Everything known of card `i` of a station, a line each, in full (a single text to 1,000 columns)."""
    card = station.cards[i]
    title = f"{card.name} = {card.expr}" if card.name and card.expr else names[station.id, i]
    grad = short(card.grad, WIDTH) if card.grad else None
    known: dict[str, object] = {
        "role": text(f"role_{card.role}", lang),
        "value": short(card.value, WIDTH) if card.value else text("unknown", lang),
        **({} if card.tangent is None else {"tangent": short(card.tangent, WIDTH)}),
        "grad": text("not_kept", lang, value=grad) if card.grad and not card.grad_kept else grad,
        "requires_grad": card.requires_grad,
        "is_leaf": card.is_leaf,
        "retains_grad": card.retains_grad,
        "grad_fn": clean(station.deck.name) if station.deck and not card.is_leaf else None,
        "version": card.version,
    }
    if card.value:
        known |= {"shape": card.value.shape, "dtype": card.value.dtype}
    rows = [
        text("detail", lang, label=text(f"row_{name}", lang), value=value) for name, value in known.items()
    ]
    many = [] if fold is None else [text("tip_fold", lang, n=fold.operations)]
    many += [text("tip_asked", lang)] * card.asked
    return "\n".join([shorten(clean(title), LONG), *many, *rows])


def describe_deck(deck: Deck, lang: str | None = None) -> str:
    """A backward node with its saved values, a line each."""
    saved = [describe_saved(saved, lang) for saved in deck.saved]
    left_out = [text("legend_skipped", lang)] * deck.skipped
    return "\n".join([shorten(clean(deck.name), LONG), *left_out, *saved, *describe_hooks(deck, lang)])


def describe_hooks(deck: Deck, lang: str | None = None) -> list[str]:
    """The hooks of a node as they ran, or how many there are."""
    if not deck.ran:
        return [text("hooks", lang, n=deck.hooks)] if deck.hooks else []
    told = []
    for i, hook in enumerate(deck.ran, 1):
        name = shorten(
            clean(
                text(f"hook_{hook.kind}", lang, name=hook.name if hook.name.isidentifier() else "").strip()
            ),
            WIDTH,
        )
        before, after = (_gradients(values) for values in (hook.before, hook.after))
        key = "hook_saw" if hook.before == hook.after else "hook_made"
        saw = text(key, lang, before=before, after=after)
        told.append(text("tip_hook", lang, i=i, hook=name, saw=saw))
    return told


def _gradients(values: tuple[Value | None, ...]) -> str:
    return ", ".join("None" if value is None else short(value, WIDTH) for value in values)


def describe_saved(saved: Saved, lang: str | None = None) -> str:
    """A saved value in full, and what became of it."""
    name = shorten(clean(saved.name), LONG)
    if saved.value is None and saved.freed and not saved.packed:
        return text("tip_freed_unseen", lang, name=name)
    if isinstance(saved.value, Value):
        value = short(saved.value, WIDTH)
    else:
        value = text("unknown", lang) if saved.value is None else shorten(clean(saved.value), LONG)
    if saved.packed:
        kept = shorten(kept_words(saved, lang), LONG)
        key = "tip_packed" if saved.value is not None else "tip_packed_unseen"
        return text(key, lang, name=name, value=value, kept=kept)
    key = "tip_freed" if saved.freed else "tip_saved" if saved.version is None else "tip_saved_version"
    return text(key, lang, name=name, value=value, version=saved.version)
