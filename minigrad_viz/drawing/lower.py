"""The lower decks as they are drawn: nodes with their chips, hooks and marks, and the ghosts of nodes.

Ids and classes are those that `svg` tells of.
"""

from __future__ import annotations

from math import inf

from ..kept import RECOMPUTED
from ..trace.graph import Deck, Graph, Station
from ..words import text
from .arrows import AXES, Places, Space
from .boxes import Measured
from .cards import Box
from .curves import Point
from .decks import Chip, Sign, stale
from .details import describe_deck, describe_ghost, describe_hooks, describe_saved
from .look import CHIP, PAD
from .marks import Tag, told
from .style import area, num, rounded, xml

TAGGED = {"error": "guilty", "cause": "cause"}  # the legend's word for what a mark says


class Decks:
    """Draws lower decks, keeps note of the places that are taken and of what occurs."""

    def __init__(self, graph: Graph, places: Places, lang: str | None, prefix: str) -> None:
        self.graph, self.places, self.lang, self.prefix = graph, places, lang, prefix
        self.measured: Measured = places.measured
        self.tags = places.measured.tags
        self.routes = {route.id: route for route in graph.routes}
        self.stations = {station.id: station for station in graph.stations}
        self.folds = {fold.station: fold for fold in graph.folds}
        self.space = Space()
        self.bounds = [inf, inf, -inf, -inf]  # of what is drawn; Graphviz leaves room for more
        self.kinds: set[str] = set()  # what occurs, for the legend

    def deck(self, station: Station, box: Box, id: str) -> str:
        """The lower deck of a station: its backward node."""
        deck, drawn = station.deck, box.deck
        assert deck is not None and drawn is not None
        self.kinds.add("skipped" if deck.skipped else "node")
        tip = "\n".join([*self.marked(drawn.tag), describe_deck(deck, self.lang)])
        kind = self.kind(" ".join(["deck", *["skipped"] * deck.skipped]), drawn.tag)
        left, right, line = float(PAD), box.width - 8, box.upper + 6
        early, late = drawn.before, drawn.after
        if self.places.axes == AXES["RL"]:  # the gradient comes in on the left
            early, late = late, early
        hooks = []
        for sign in late:
            hooks.append(self.hook(deck, sign, left, line))
            left += sign.width + 4
        right -= sum(sign.width + 4 for sign in early)
        x = right + 4
        for sign in early:
            hooks.append(self.hook(deck, sign, x, line))
            x += sign.width + 4
        parts = [
            f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title>',
            f'<path class="box" d="{rounded(0, box.upper, box.width, box.height - box.upper, 0, 10)}"/>',
            f'<text class="fn" x="{num(left)}" y="{num(box.upper + 20)}">{xml(drawn.name)}</text>',
            *hooks,
            self.tag(drawn.tag, right, line),
            *(self.chip(deck, chip, n, box.upper, f"{id[:-2]}-k{n}") for n, chip in enumerate(drawn.chips)),
        ]
        return "".join(parts) + self.nones(station, box) + "</g>"

    def chip(self, deck: Deck, chip: Chip, n: int, top: float, id: str) -> str:
        """One saved value, the `n`th; or the count of those without room, told in its tooltip."""
        saved = chip.saved
        states = ["more"] if saved is None else []
        if saved is not None:
            states += ["packed"] * bool(saved.packed) + ["freed"] * saved.freed + ["stale"] * stale(saved)
            again = saved.packed == RECOMPUTED
            self.kinds |= {"again" if state == "packed" and again else state for state in states} or {"saved"}
        hidden = deck.saved[n:] if saved is None else (saved,)
        tip = "\n".join([*self.marked(chip.tag), *(describe_saved(each, self.lang) for each in hidden)])
        x, y = num(chip.x + 5), num(top + chip.y + 13)
        words = f'<text x="{x}" y="{y}">{xml(chip.text)}</text>'
        if chip.was:  # the steps before the failure show the chip without its mark
            words = f'<text class="why" x="{x}" y="{y}">{xml(chip.text)}</text>'
            words += f'<text class="was" x="{x}" y="{y}">{xml(chip.was)}</text>'
        kind = self.kind(" ".join(["chip", *states]), chip.tag)
        return (
            f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title>'
            f'<rect {area(chip.x, top + chip.y, chip.width, CHIP)} rx="4"/>{words}</g>'
        )

    def hook(self, deck: Deck, sign: Sign, x: float, y: float) -> str:
        """The sign of one hook that ran, or was removed before it could; or of all hooks of a node."""
        tips = describe_hooks(deck, self.lang)
        ran = deck.ran[sign.hook] if sign.hook >= 0 else None
        removed = ran is not None and ran.removed
        changed = ran is not None and not removed and ran.before != ran.after
        self.kinds.add("node" if ran is None else "removed" if removed else "hook")
        kind = "hooks" + " changed" * changed + " removed" * removed
        tip = "\n".join(tips) if ran is None else tips[sign.hook]
        label = f'<text x="{num(x + sign.width / 2)}" y="{num(y + 13)}">{xml(sign.text)}</text>'
        around = area(x, y, sign.width, CHIP)
        return f'<g class="{kind}"><title>{xml(tip)}</title><rect {around} rx="9"/>{label}</g>'

    def ghost(self, station: Station, box: Box, id: str) -> str:
        """The place of a node that was not made, and why."""
        assert box.deck is not None
        self.kinds |= {"ghost", "fog"}
        *node, said = box.deck.ghost
        places = (f'x="{PAD}" y="{num(box.upper + 20 + 17 * i)}"' for i in range(2))
        lines = "".join(f"<text {next(places)}>{xml(line)}</text>" for line in node)
        lines += f'<text class="say" {next(places)}>{xml(said)}</text>'
        return (
            f'<g class="ghost" id="{id}"><title>{xml(describe_ghost(station, self.lang))}</title>'
            f'<path class="box" d="{rounded(0, box.upper, box.width, box.height - box.upper, 0, 10)}"/>'
            f"{lines}</g>"
        )

    def nones(self, station: Station, box: Box) -> str:
        """A ∅ on the border of a deck, where inputs come in, for every one without an edge, or one with their
        number."""
        assert station.deck is not None
        missing = [i for i, route in enumerate(station.deck.inputs) if route is None]
        if not missing:
            return ""
        self.kinds.add("none")
        x, y = self.places.corner(station.id)
        side = box.width if self.places.axes == AXES["RL"] else 0.0
        bottom, fits = box.height - 14, max(1, int((box.height - box.upper) / 2 // 18))
        marks = [("∅", text("tip_none", self.lang, i=i)) for i in missing]
        if len(missing) > fits:
            marks = [(f"∅{len(missing)}", text("tip_nones", self.lang, n=len(missing)))]
        parts = []
        for n, (sign, tip) in enumerate(reversed(marks)):
            middle, half = bottom - 18 * n, 4.6 + 3.4 * len(sign)
            around = area(side - half, middle - 8, 2 * half, 16)
            self.space.take((x + side - half, y + middle - 8, x + side + half, y + middle + 8))
            parts.append(
                f'<g class="none"><title>{xml(tip)}</title><rect {around} rx="8"/>'
                f'<text x="{num(side)}" y="{num(middle + 4)}">{xml(sign)}</text></g>'
            )
        return "".join(parts)

    # -------------------------------------------------------------------------------------------------- marks

    def kind(self, plain: str, tag: Tag | None) -> str:
        """The class of a part, with that of its mark."""
        if tag is None:
            return plain
        self.kinds.add(TAGGED[tag.kind])
        return f"{plain} {tag.kind}"

    def marked(self, tag: Tag | None) -> list[str]:
        """What a tooltip says of a mark."""
        return [] if tag is None else [told(tag, self.lang)]

    def tag(self, tag: Tag | None, right: float, top: float) -> str:
        """The sign with the label of a mark, its right side at `right`."""
        if tag is None:
            return ""
        left = right - tag.width
        return (
            f'<g class="tag {tag.kind}"><title>{xml(told(tag, self.lang))}</title>'
            f'<rect {area(left, top, tag.width, CHIP)} rx="4"/>'
            f'<text x="{num(left + tag.width / 2)}" y="{num(top + 13)}">{xml(tag.label)}</text></g>'
        )

    # -------------------------------------------------------------------------------------------------- space

    def reach(self, *points: Point) -> None:
        """Make the picture large enough to hold some points."""
        for x, y in points:
            left, top, right, bottom = self.bounds
            self.bounds = [min(left, x), min(top, y), max(right, x), max(bottom, y)]

    def stand(self, left: float, top: float, right: float, bottom: float) -> None:
        """Take the place of a box, so that no pill covers it."""
        self.space.take((left, top, right, bottom))
        self.reach((left, top), (right, bottom))
