"""How large the pills at gradient arrows are, and what is written in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..model.card_names import PARALLEL
from ..numbers import number, pill
from ..protocol import Value
from ..trace.graph import Graph, Station
from ..words import columns, text
from .chips import gradient_routes
from .decks import AFTER, HOOKS
from .heat import GRADIENTS, MOST, Heat, heat_beyond, in_short, norm
from .look import CHIP, SMALL, Look

BOLD = 7.4  # pixels a column of a pill, 12px
CELL = 6.0  # pixels of a cell of a map in a pill, at most


@dataclass(frozen=True, slots=True)
class Pill:
    """The value that flowed over a route, `width` by `height`; `hooks`, those of the node that it reaches by
    their places among all that ran, begin `beside` pixels left of it and reach a little into it. A `heat` map
    stands above the lines."""

    lines: tuple[str, ...]
    width: float
    height: float
    hooks: tuple[int, ...] = ()
    beside: float = 0.0
    heat: Heat | None = None

    @property
    def above(self) -> float:
        """How much of it is above its arrow, where that is level: half of it, or of its map."""
        return self.height / 2 if self.heat is None else self.heat.height / 2 + 2


def pills_of(
    graph: Graph, bundles: dict[str, tuple[str, ...]], look: Look
) -> tuple[dict[str, Pill], frozenset[str]]:
    """What stands at gradient arrows, and the lines over which something flowed."""
    routes = {route.id: route for route in graph.routes}
    pills: dict[str, Pill] = {}
    flowed: set[str] = set()
    for id, bundle in bundles.items():
        drawn = bundle if len(bundle) > PARALLEL else (id,)
        if id != drawn[0]:
            continue
        values = [value for each in drawn if routes[each].tracked for value in routes[each].gradients]
        if values:
            flowed.add(id)
            if look.values:
                pills[id] = pill_of(values, look.lang)
    if look.values:
        seeds = ((f"{s.id}-c{i}-seed", card.seed) for s in graph.stations for i, card in enumerate(s.cards))
        pills |= {id: pill_of([seed], look.lang) for id, seed in seeds if seed is not None}
    return pills, frozenset(flowed)


def pill_of(values: Sequence[Value], lang: str | None) -> Pill:
    """What flowed along a line: its value, and how often if more than once; different values are counted."""
    heat = heat_beyond(values[-1], GRADIENTS, 16)
    if heat is not None:
        heat = replace(heat, cell=(min(CELL, heat.cell[0]), min(CELL, heat.cell[1])))
    if heat is not None:
        lines: tuple[str, ...] = (number(norm(values[-1]), digits=3),)
    elif values[-1].size > MOST:
        lines = (in_short(values[-1], lang),)
    else:
        lines = pill(values[-1])
    if len(values) > 1:
        count = f"×{len(values)}"
        same = all(value == values[0] for value in values)
        lines = (*lines, count) if same else (text("pill_many", lang, n=len(values)),)
        heat = heat if same else None
    if heat is not None:
        width = max(max(map(columns, lines)) * SMALL, heat.width) + 4
        return Pill(lines, width, 16.0 * len(lines) + heat.height + 4, heat=heat)
    width, height = max(map(columns, lines)) * BOLD + 13, 16.0 * len(lines) + 4
    return Pill(lines, width, height, heat=heat)


def arrow_hooks(graph: Graph, look: Look) -> dict[str, tuple[str, tuple[int, ...]]]:
    """By station id, the arrow at which the hooks that run before its node are shown, and their places among
    all that ran: those of a tensor whose whole gradient came over one arrow. All others stand on the deck, at
    which a sum comes in."""
    arriving, found = gradient_routes(graph), {}
    for s in graph.stations:
        routes = arriving.get(s.id, [])
        alone = look.values and len(s.cards) == len(routes) == 1
        if not alone or s.deck is None or len(s.deck.ran) > HOOKS:
            continue
        which = tuple(i for i, hook in enumerate(s.deck.ran) if hook.kind not in AFTER)
        saw = [hook for i, hook in enumerate(s.deck.ran) if i in which and not hook.removed]
        first = saw[0].before if saw else routes[0].gradients
        if which and len(routes[0].gradients) == 1 and first == routes[0].gradients:
            found[s.id] = routes[0].id, which
    return found


def with_hooks(plain: Pill, station: Station, which: tuple[int, ...]) -> Pill:
    """A pill with the hooks that saw its value on the way, and what they made of it."""
    assert station.deck is not None
    ran = [station.deck.ran[i] for i in which if not station.deck.ran[i].removed]
    lines = plain.lines
    if ran and ran[0].before != ran[-1].after:
        made = pill(ran[-1].after[0]) if ran[-1].after[0] is not None else ("None",)
        lines = (*lines, f"→ {made[0]}", *(f"  {line}" for line in made[1:]))
    width = max(plain.width, max(map(columns, lines)) * BOLD + 14)
    height = plain.height + 16 * (len(lines) - len(plain.lines))
    return Pill(lines, width, height, which, len(which) * (CHIP + 2) - 4, plain.heat)
