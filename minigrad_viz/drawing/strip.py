"""The strip of a view as SVG: all cards of the model side by side.

    g.station.strip  #p g1     a card with what is under it; `data`, `layer`, `function` or `loss`
    g.card           #p g1-c0  its box, with its output in a g.known
    g.deck           #p g1-d   the gradient with respect to its output: one bar, or one for each repetition
    g.moves          #p u1-strip  update ÷ weight of all cards

So steps mark the parts of a strip as they mark those of any picture, see `svg`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from ..model.card_titles import DATA, FUNCTION, LAYER, LOSS
from ..model.strip import Ratio, Strip, StripCard
from ..number_text import one_line, shape_text
from ..protocol import BINS
from ..words import clean, columns, language, shorten, shorten_name, text
from .heat_maps import histogram, scales_of
from .lane import aside_text, lane_of
from .look import merge_tags, tag_sign, tags_of
from .picture import Picture
from .strip_parts import (
    CURVES,
    LETTER,
    LOSS_LINES,
    MARGINS,
    NARROWEST,
    SMALL,
    WIDEST,
    badge,
    centered_text,
    dashes,
    drawn_curve,
    first_operand,
    function_name,
    head_lines,
    lines_for_kind,
    lines_of_kind,
    marks_width,
    name_width,
    nested_arcs,
    output_summary,
    places_of_labels,
    tip,
    weight_map,
    zeros_of,
)
from .strip_words import SHOWN, moved_most_text, power, ratio_text, sentence, short
from .style import area, css, num, sentences, text_label, xml

NORMAL, BROAD = 858.0, 1180.0  # pixels across
NARROW, SLIM = 620.0, 344.0  # the same in windows of 700 and of 400, where each card is a row
GUTTER, SIDE = 86.0, 16.0  # before the first card and behind the last
TOP, CARD, HEAD, GRAD, MOVES, SPACE = 10.0, 104.0, 24.0, 40.0, 22.0, 9.0  # heights
ARC = 16.0  # pixels above the cards for each arc
SIGN = 14.0  # pixels above the cards where one is marked
CLOSEST = 8.0  # pixels between cards at least
HEAD_LINE = 13.0  # pixels that a second line of a name adds
MOST_MOVED = 15.0  # the line of the parameter that moved most
TILE = 34.0  # a repetition that has a tile
BAR = 13.0
LABEL = 40.0  # pixels of the number of a bar
DECADES = 2  # that a scale has at least


def decades(*strips: Strip) -> tuple[int, int]:
    """The first and the last decade of the gradients of strips."""
    values = [
        v for strip in strips for card in strip.cards for v in card_gradients(card) if v and math.isfinite(v)
    ]
    if not values:
        return -DECADES, 0
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return min(low, high - DECADES), high


def card_gradients(card: StripCard) -> Iterator[float | None]:
    """What the bars of a card show."""
    if card.role == LOSS:
        return
    for value in [bar.grad for bar in card.bars] or [card.grad]:
        yield None if value is None else value.rms


class StripDrawing:
    """The SVG of a strip."""

    def __init__(self, picture: Picture, strip: Strip, across: float, scale: tuple[int, int]) -> None:
        self.picture, self.strip, self.across = picture, strip, across
        self.p, self.lang = picture.prefix, picture.look.lang or language()
        self.texts: dict[str, str] = {}  # by id what other numbers would change
        self.low, self.high = scale
        self.arcs = nested_arcs(self.strip.arcs)
        self.tags = {
            card.id: [
                (part[-2:], tag)
                for part, tag in tags_of(self.strip.graph).items()
                if part.partition("-")[0] == card.id
            ]
            for card in self.strip.cards
        }
        signs = SIGN if any(self.tags.values()) else 0.0
        self.top = TOP + signs + ARC * max((level for _, _, level in self.arcs), default=0)
        self.spread()
        self.foot = self.top + CARD + self.more
        self.band = self.foot + SPACE
        self.graded = any(True for card in self.strip.cards for v in card_gradients(card) if v is not None)
        self.moves = self.band + (GRAD + SPACE if self.graded else 0)
        self.learns = any(card.learns for card in self.strip.cards)
        self.bottom = self.moves + (MOVES + MOST_MOVED if self.learns else 0) + SPACE

    def spread(self) -> None:
        """The widths and places of the cards. Names that do not fit beside each other are broken
        into lines; if that is not enough, the cards move closer."""
        cards, room = self.strip.cards, self.across - GUTTER - SIDE
        n = len(cards)
        most = 40.0 if self.across > NORMAL else 30.0
        gap = min(most, 30.0 if n < 6 else 22.0 if n < 8 else 16.0 if self.across > NORMAL else 10.0)
        left = room - gap * (n - 1)
        for broken in (False, True):
            least = [name_width(card, broken) for card in cards]
            if sum(least) <= left:
                break
        if sum(least) > left:
            left += (gap - CLOSEST) * (n - 1)
            gap = CLOSEST
            over = max(0.0, sum(least) - left)
            longer = sum(width - NARROWEST for width in least) or 1.0
            least = [width - over * (width - NARROWEST) / longer for width in least]
        # Cards with tiles get what is left, then all cards.
        tiles = [TILE * min(len(card.bars), 12) for card in cards]
        share = min(1.0, max(0.0, left - sum(least)) / (sum(tiles) or 1.0))
        wants = [max(width, NARROWEST + share * tile) if tile else width for width, tile in zip(least, tiles)]
        spare = max(0.0, left - sum(wants)) / n
        self.widths = [
            want + spare if card.bars else min(WIDEST, want + spare) for want, card in zip(wants, cards)
        ]
        rest = self.across - GUTTER - SIDE - sum(self.widths) - gap * (n - 1)
        gap += max(0.0, min(40.0 - gap, rest / max(1, n - 1)))
        self.heads = [
            head_lines(clean(card.name), int((width - marks_width(card)) / LETTER + 0.01))
            for card, width in zip(cards, self.widths)
        ]
        self.more = HEAD_LINE * (max(map(len, self.heads)) - 1)
        x, self.lefts = GUTTER, []
        for width in self.widths:
            self.lefts.append(x)
            x += width + gap
        self.right = x - gap + SIDE

    def svg(self) -> str:
        """The whole document."""
        p, strip, graph = self.p, self.strip, self.strip.graph
        cards = "".join(self.card(i, card) for i, card in enumerate(strip.cards))
        body = self.scale() + self.arrows() + cards + (self.updates() if self.learns else "") + self.signs()
        top_below, width = self.bottom + 4, self.right - 2 * SIDE
        lane = lane_of(graph, self.lang).fitting(width)
        drawn, end = lane.draw(
            SIDE, self.bottom + 12, max(width, lane.width), scales_of(lane.heats()), p, lambda _: ""
        )
        said, end = self.sentences(end, width)
        drawn = self.changing("lane", "lane", drawn) if drawn else ""
        below = f'<g class="below" data-top="{num(top_below)}">{drawn}{said}</g>' if drawn + said else ""
        across = max(self.right, (lane.width + 2 * SIDE) if drawn else 0.0)
        height = (end if below else self.bottom) + SPACE
        names = ", ".join(card.name for card in strip.cards)
        title = text("strip_title", self.lang, names=shorten(names, 200))
        desc = " ".join(f"{sentence(card, self.lang)}." for card in strip.cards)
        theme = self.picture.theme
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mg mg-{theme}" width="{num(across)}"'
            f' height="{num(height)}"'
            f' role="img" viewBox="0 0 {num(across)} {num(height)}" aria-labelledby="{p}title {p}desc">'
            f'<title id="{p}title">{xml(title)}</title><desc id="{p}desc">{xml(desc)}</desc>'
            f"<style>{css(theme, ['heat', 'strip', 'updates', *['marks'] * bool(graph.marks)])}</style>"
            f'<rect class="paper" {area(0, 0, across, height)} rx="8"/>{body}{below}</svg>'
        )

    def sentences(self, top: float, width: float) -> tuple[str, float]:
        """What is left aside, below everything; a sign before it opens it."""
        aside = aside_text(self.strip.graph, self.lang)
        if not aside:
            return "", top
        said, top = sentences([aside], SIDE + 24, top + 12, width - 24)
        return f'<g class="aside" id="{self.p}aside">{said}</g>', top

    # --------------------------------------------------------------------------------------- around the cards

    def scale(self) -> str:
        """The lines and labels of the bands."""
        step = 1 if self.high - self.low <= 4 else math.ceil((self.high - self.low) / 3)
        right = num(self.right - SIDE)
        parts = [text_label(text("strip_output", self.lang), SIDE, self.foot - 8)]
        if self.graded:
            parts.append(text_label(text("strip_grad", self.lang), SIDE, self.band + 14, "grad"))
            parts.append(text_label("rms", SIDE, self.band + 28))
        for exponent in range(self.high, self.low - 1, -step) if self.graded else ():
            y = self.height_of(exponent)
            parts.append(f'<path d="M{num(GUTTER - 4)} {num(y)}H{right}"/>')
            if self.high - self.low <= 2 or exponent in (self.low, self.high) or step > 1:
                parts.append(
                    f'<text text-anchor="end" x="{num(GUTTER - 8)}" y="{num(y + 4)}">{power(exponent)}</text>'
                )
        if self.learns:
            y = self.moved_to(-3)
            parts.append(text_label(text("strip_update", self.lang), SIDE, y + 4, "upd"))
            parts.append(f'<text text-anchor="end" x="{num(GUTTER - 8)}" y="{num(y + 4)}">{power(-3)}</text>')
            parts.append(f'<path class="guide" d="M{num(GUTTER - 4)} {num(y)}H{right}"/>')
        return f'<g class="scale">{"".join(parts)}</g>'

    def height_of(self, exponent: float) -> float:
        """Where a power of ten is in the band of gradients."""
        share = (exponent - self.low) / (self.high - self.low)
        return self.band + GRAD * (1 - min(1.0, max(0.0, share)))

    def moved_to(self, exponent: float) -> float:
        """Where a power of ten is in the band of updates, from 10⁻⁵ to 0.3."""
        return self.moves + MOVES * (1 - (exponent + 5) / (math.log10(0.3) + 5))

    def arrows(self) -> str:
        """Arrows from card to card, and arcs over the cards."""
        parts = []
        y = self.top + self.more + CARD / 2
        for left, width, right in zip(self.lefts, self.widths, self.lefts[1:]):
            parts.append(f'<path d="M{num(left + width)} {num(y)}H{num(right - 6)}"/>{tip(right, y)}')
        for a, b, level in self.arcs:
            x, to = self.lefts[a] + self.widths[a] - 14, self.lefts[b] + 14
            high, top = self.top - ARC * level + 6, self.top
            parts.append(
                f'<path d="M{num(x)} {num(top)}V{num(high + 6)}q0 -6 6 -6H{num(to - 6)}q6 0 6 6'
                f'V{num(top - 6)}"/>'
                f'<path class="tip" d="M{num(to - 3.5)} {num(top - 7)}h7l-3.5 7z"/>'
            )
        return f'<g class="edge">{"".join(parts)}</g>'

    # ----------------------------------------------------------------------------------------------- one card

    def card(self, number: int, card: StripCard) -> str:
        """A card with what is under it."""
        x, width, top = self.lefts[number], self.widths[number], self.top
        p, role = (
            self.p,
            "result" if card.role in (LAYER, FUNCTION) else "constant" if card.role == DATA else "root",
        )
        fits, below = (
            int((width - margin) / LETTER + 0.01) for margin in (marks_width(card), MARGINS)
        )  # in the first line of the head, and in the second
        head, kind = HEAD + self.more, clean(card.kind)
        lower = top + self.more  # where what is below the head would begin if that had one line
        most = int((width - 11) / SMALL)
        sort = "kind size" if card.role == DATA else "kind"
        lines = [kind] if card.bars else lines_of_kind(kind, most, lines_for_kind(card))
        whole = "".join(lines).replace(" ", "") == kind.replace(" ", "")
        if card.role == LOSS and not whole:
            lines = lines_of_kind(first_operand(kind), most, LOSS_LINES)
        elif card.role == FUNCTION and not (whole and max(map(columns, lines)) <= most):
            lines = ["" if card.value is None else shape_text(card.value).removeprefix("()")]
            sort = "kind size"
        known = [
            *self.thumbnail(card, x, width, lower, 12.0 * (len(lines) - 1)),
            *self.output(card, x, width, lower),
        ]
        if card.bars:
            known = [*self.tiles(card, x, width)]
        parts = [
            f'<rect class="box" {area(x, top, width, CARD + self.more)} rx="7"/>',
            f'<path class="head" d="M{num(x)} {num(top + head)}v{num(7 - head)}q0 -7 7 -7h{num(width - 14)}'
            f'q7 0 7 7v{num(head - 7)}z"/>',
            *(
                text_label(shorten_name(line, max(2, most)), x + 9, top + 16 + HEAD_LINE * i, "name")
                for i, (line, most) in enumerate(zip(self.heads[number], (fits, below)))
            ),
            *(
                text_label(shorten_name(line, most), x + 8, lower + 38 + 12 * i, sort)
                for i, line in enumerate(lines)
            ),
            self.changing(f"{card.id}-known", "known", "".join(known)),
        ]
        said = xml(self.card_text(card))
        bars = "".join(self.bars(card, x, width)) if self.graded and card.role in (LAYER, FUNCTION) else ""
        bars += self.slope(number)
        both = self.decks(card, said, "".join(parts), bars)
        tab = f'<rect class="tab" {area(x - 5, top - 5, width + 10, self.bottom - top + 14)}/>'
        return f'<g class="station strip {role} {card.role}" id="{p}{card.id}">{tab}{both}</g>'

    def decks(self, card: StripCard, said: str, upper: str, lower: str) -> str:
        """The output of a card and its gradient, each with the class of its mark."""
        kinds = {part.lstrip("-")[:1]: f" {tag.kind}" for part, tag in self.tags[card.id]}
        id = f"{self.p}{card.id}"
        lower = self.changing(f"{card.id}-bars", "bars", lower) if lower else ""
        return (
            f'<g class="card{kinds.get("c", "")}" id="{id}-c0"><title>{said}</title>{upper}</g>'
            f'<g class="deck{kinds.get("d", "")}" id="{id}-d">{lower}</g>'
        )

    def changing(self, id: str, kind: str, inner: str) -> str:
        """A part that other numbers would change; its id has the width of the strip."""
        id = f"{id}-{num(self.across)}"
        self.texts[id] = inner
        return f'<g class="{kind}" id="{self.p}{id}">{inner}</g>'

    def signs(self) -> str:
        """What is said at the cards that are marked, above them, or where there is no room below."""
        parts, ends = [], [-math.inf, -math.inf]
        for x, width, card in zip(self.lefts, self.widths, self.strip.cards):
            tags = [tag for _, tag in self.tags[card.id]]
            tag = merge_tags(None, tags)
            if tag is None:
                continue
            right = min(max(x + width / 2 + tag.width / 2, 4 + tag.width), self.right - 4)
            level = 0 if right - tag.width > ends[0] + 4 else 1
            ends[level] = right
            parts.append(
                tag_sign(tag, self.lang, right, self.top - SIGN - 3 if level == 0 else self.foot - 8)
            )
        return "".join(parts)

    def card_text(self, card: StripCard) -> str:
        """What the card says to those who do not see it, and when it is pointed at."""
        lines = [sentence(card, self.lang)]
        if card.value is not None and card.value.low is not None and card.value.size > 1:
            lines.append(one_line(card.value, 60))
        return "\n".join(lines)

    def thumbnail(self, card: StripCard, x: float, width: float, top: float, used: float) -> Iterator[str]:
        """The weight of a card, or the curve of its function; a longer kind has `used` some of the room."""
        top += used
        height = 28.0 - used
        if card.value is not None and card.value.size >= BINS and zeros_of(card.value) >= 0.5:
            height -= 14  # there the share of zeros stands
        curve = CURVES.get(function_name(card))
        if curve is not None and card.weight is None:
            yield drawn_curve(curve, x + 8, top + 44, min(width - 16, 90.0), height + 2)
            return
        shown = card.weight
        if shown is None and card.value is not None and card.value.items is not None and card.role != LOSS:
            shown = card.value
        if shown is not None and height > 6:
            yield weight_map(shown, x + 8, top + 45, width - 16, height)

    def output(self, card: StripCard, x: float, width: float, top: float) -> Iterator[str]:
        """The summary of a card's output, at its foot."""
        yield from output_summary(
            card.value, x + 8, top + CARD - 8, width - 16, card.role in (LOSS, DATA), self.lang
        )

    def tiles(self, card: StripCard, x: float, width: float) -> Iterator[str]:
        """One small tile for each repetition, as far as there is room; else a row of bars of their rms."""
        column, top = (width - 12) / len(card.bars), self.top + self.more
        for i, bar in enumerate(card.bars):
            left = x + 6 + column * i
            if column >= TILE - 2:
                yield f'<rect class="tile" {area(left + 2, top + 46, column - 4, 52)} rx="4"/>'
                fits = int((column - 4) / SMALL)
                name = bar.name if columns(bar.name) <= fits else bar.name.rpartition(".")[2]
                name = shorten(name, fits)
                yield centered_text(name, left + column / 2, top + 59, "rms")
                yield histogram(bar.value, left + 5, top + 80, column - 10, 14)
                rms = None if bar.value is None else bar.value.rms
                if rms is not None:
                    yield centered_text(short(rms), left + column / 2, top + 94, "rms")
        if column < TILE - 2:
            values = [0.0 if b.value is None else b.value.rms or 0.0 for b in card.bars]
            most = max(values) or 1.0
            path = "".join(
                f"M{num(x + 7 + column * i)} {num(top + 82)}v{num(-30 * v / most)}"
                f"h{num(max(1.0, column - 2))}v{num(30 * v / most)}z"
                for i, v in enumerate(values)
            )
            yield f'<path class="hist" d="{path}"/>'
            ends = f"{short(values[0])} … {short(values[-1])}"
            yield text_label(ends, x + 8, top + CARD - 8, "rms")

    def bars(self, card: StripCard, x: float, width: float) -> Iterator[str]:
        """The gradient of a card, or one of each repetition."""
        found = list(card_gradients(card))[:SHOWN]
        column = (width - 12) / len(found)
        several = len(found) > 1
        told = places_of_labels([v or 0.0 for v in found], column)
        wide = min(BAR, max(2.0, column - 3))
        lefts = [x + 6 + column * (i + 0.5) - wide / 2 if several else x + 10 for i in range(len(found))]
        yield dashes((left, self.band + GRAD - BAR, wide, BAR) for left in lefts)
        tops = [self.bar_top(value) for value in found]
        for left, (i, value) in zip(lefts, enumerate(found)):
            if value is None:
                yield "" if several else text_label("–", left, self.band + GRAD - 2)
            elif not math.isfinite(value):
                yield badge(str(value), left, self.band + GRAD - 16)
            elif value == 0:
                yield f'<text x="{num(left)}" y="{num(self.band + GRAD - 2)}">0</text>'
            else:
                top = tops[i]
                yield f'<rect class="amount" {area(left, top, wide, self.band + GRAD - top)}/>'
                if not several:
                    yield text_label(
                        short(value),
                        left + wide + 5,
                        max(top + 10, self.band + GRAD - 5 if top > self.band + GRAD - 12 else top + 10),
                    )
                elif i in told:
                    middle = left + wide / 2
                    around = [each for each, x in zip(tops, lefts) if abs(x - left) < LABEL / 2 + wide / 2]
                    yield centered_text(short(value), middle, max(self.band - 1, min(around) - 3))

    def bar_top(self, value: float | None) -> float:
        """Where the bar of a gradient ends, which is never lower than can be seen."""
        least = self.band + GRAD - 3
        return min(self.height_of(math.log10(value)), least) if value and math.isfinite(value) else least

    def slope(self, i: int) -> str:
        """The line of a film that shows for each round how the gradient changes from right to left."""
        if i not in self.strip.film or i + 1 not in self.strip.film:
            return ""
        if self.strip.cards[i].bars or self.strip.cards[i + 1].bars:
            return ""  # bars show it
        ends = []
        for at in (i, i + 1):
            grad = self.strip.cards[at].grad
            if grad is None or not grad.rms or not math.isfinite(grad.rms):
                return ""
            ends.append(f"{num(self.lefts[at] + 10 + BAR / 2)} {num(self.bar_top(grad.rms))}")
        return f'<path class="slope" d="M{ends[0]}L{ends[1]}"/>'

    def updates(self) -> str:
        """How far updates moved the parameters of all cards, beside what those were."""
        parts, places = [], []
        for x, width, card in zip(self.lefts, self.widths, self.strip.cards):
            ratios: list[Ratio | None] = [bar.update for bar in card.bars] if card.bars else [card.update]
            if not card.learns:
                continue
            column = (width - 12) / len(ratios)
            for i, ratio in enumerate(ratios):
                middle = x + 6 + column * (i + 0.5) if card.bars else x + 10 + BAR / 2
                if ratio is not None:
                    parts.append(self.dot(ratio, middle, not card.bars))
                    places.append((middle - 4, self.moved_to(-3) - 4, 8.0, 8.0))
        return self.all_moves([dashes(places), *parts], GUTTER, self.right - SIDE)

    def all_moves(self, parts: Iterable[str], left: float, right: float) -> str:
        """The updates of all cards, which an update of the cell marks; below them what moved most."""
        said = moved_most_text(self.strip, int((right - left) / SMALL), self.lang)
        most = text_label(said, left, self.bottom - SPACE + 1, "most") if said else ""
        inner = self.changing("moves", "dots", "".join((*parts, most)))
        return f'<g class="moves" id="{self.p}{self.strip.update}-strip">{inner}</g>'

    def dot(self, ratio: Ratio, x: float, told: bool) -> str:
        """One ratio: a dot between 10⁻⁵ and 0.3, a triangle outside."""
        value = ratio.value
        exponent = math.log10(value) if value > 0 and math.isfinite(value) else -math.inf
        if exponent < -5:
            y = self.moves + MOVES - 3
            sign = f'<path d="M{num(x - 4)} {num(y - 3)}h8l-4 7z"/>'
        elif value > 0.3:
            y = self.moves + 3
            sign = f'<path d="M{num(x - 4)} {num(y + 4)}h8l-4 -7z"/>'
        else:
            y = self.moved_to(exponent)
            sign = f'<circle cx="{num(x)}" cy="{num(y)}" r="4"/>'
        return sign + (
            text_label(ratio_text(ratio), x + BAR / 2 + 5, self.moves + MOVES / 2 + 12) if told else ""
        )
