"""The lower decks as they are drawn: nodes with their chips, hooks and marks, and the ghosts of nodes.

Ids and classes are those that `svg` tells of.
"""

from __future__ import annotations

from ..kept import RECOMPUTED
from ..trace.graph import Deck, Station
from ..words import text
from .arrows import AXES
from .canvas import Canvas
from .cards import Box
from .decks import Chip, Sign, stale
from .details import describe_deck, describe_ghost, describe_hooks, describe_saved
from .look import CHIP, PAD
from .style import area, num, rounded, xml


class Decks:
    """Draws lower decks on a `canvas`."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas

    def deck(self, station: Station, box: Box, id: str) -> str:
        """The lower deck of a station: its backward node."""
        deck, drawn = station.deck, box.deck
        assert deck is not None and drawn is not None
        self.canvas.kinds.add("skipped" if deck.skipped else "node")
        tip = "\n".join([*self.canvas.marked(drawn.tag), describe_deck(deck, self.canvas.lang)])
        kind = self.canvas.kind(" ".join(["deck", *["skipped"] * deck.skipped]), drawn.tag)
        left, right, line = float(PAD), box.width - 8, box.upper + 6
        early, late = drawn.before, drawn.after
        if self.canvas.places.axes == AXES["RL"]:  # the gradient comes in on the left
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
            self.canvas.tag(drawn.tag, right, line),
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
            self.canvas.kinds |= {"again" if state == "packed" and again else state for state in states} or {
                "saved"
            }
        hidden = deck.saved[n:] if saved is None else (saved,)
        tip = "\n".join(
            [*self.canvas.marked(chip.tag), *(describe_saved(each, self.canvas.lang) for each in hidden)]
        )
        x, y = num(chip.x + 5), num(top + chip.y + 13)
        words = f'<text x="{x}" y="{y}">{xml(chip.text)}</text>'
        if chip.was:  # the steps before the failure show the chip without its mark
            words = f'<text class="why" x="{x}" y="{y}">{xml(chip.text)}</text>'
            words += f'<text class="was" x="{x}" y="{y}">{xml(chip.was)}</text>'
        kind = self.canvas.kind(" ".join(["chip", *states]), chip.tag)
        return (
            f'<g class="{kind}" id="{id}"><title>{xml(tip)}</title>'
            f'<rect {area(chip.x, top + chip.y, chip.width, CHIP)} rx="4"/>{words}</g>'
        )

    def hook(self, deck: Deck, sign: Sign, x: float, y: float) -> str:
        """The sign of one hook that ran, or was removed before it could; or of all hooks of a node."""
        tips = describe_hooks(deck, self.canvas.lang)
        ran = deck.ran[sign.hook] if sign.hook >= 0 else None
        removed = ran is not None and ran.removed
        changed = ran is not None and not removed and ran.before != ran.after
        self.canvas.kinds.add("node" if ran is None else "removed" if removed else "hook")
        kind = "hooks" + " changed" * changed + " removed" * removed
        tip = "\n".join(tips) if ran is None else tips[sign.hook]
        label = f'<text x="{num(x + sign.width / 2)}" y="{num(y + 13)}">{xml(sign.text)}</text>'
        around = area(x, y, sign.width, CHIP)
        return f'<g class="{kind}"><title>{xml(tip)}</title><rect {around} rx="9"/>{label}</g>'

    def ghost(self, station: Station, box: Box, id: str) -> str:
        """The place of a node that was not made, and why."""
        assert box.deck is not None
        self.canvas.kinds |= {"ghost", "fog"}
        *node, said = box.deck.ghost
        places = (f'x="{PAD}" y="{num(box.upper + 20 + 17 * i)}"' for i in range(2))
        lines = "".join(f"<text {next(places)}>{xml(line)}</text>" for line in node)
        lines += f'<text class="say" {next(places)}>{xml(said)}</text>'
        return (
            f'<g class="ghost" id="{id}"><title>{xml(describe_ghost(station, self.canvas.lang))}</title>'
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
        self.canvas.kinds.add("none")
        x, y = self.canvas.places.corner(station.id)
        side = box.width if self.canvas.places.axes == AXES["RL"] else 0.0
        bottom, fits = box.height - 14, max(1, int((box.height - box.upper) / 2 // 18))
        marks = [("∅", text("tip_none", self.canvas.lang, i=i)) for i in missing]
        if len(missing) > fits:
            marks = [(f"∅{len(missing)}", text("tip_nones", self.canvas.lang, n=len(missing)))]
        parts = []
        for n, (sign, tip) in enumerate(reversed(marks)):
            middle, half = bottom - 18 * n, 4.6 + 3.4 * len(sign)
            around = area(side - half, middle - 8, 2 * half, 16)
            self.canvas.space.take((x + side - half, y + middle - 8, x + side + half, y + middle + 8))
            parts.append(
                f'<g class="none"><title>{xml(tip)}</title><rect {around} rx="8"/>'
                f'<text x="{num(side)}" y="{num(middle + 4)}">{xml(sign)}</text></g>'
            )
        return "".join(parts)
