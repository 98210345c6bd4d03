"""The strip in a narrow window: each card is a row with its name, its output, its gradient and its update, so
that all of the model can be read where cards beside each other would be cut.

Ids and classes are those of `strip`; the gradients of all rows share one scale, which runs to the right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..model.card_titles import DATA, FUNCTION, LAYER, LOSS
from ..model.strip import Ratio, StripCard
from ..number_text import shape_text
from ..words import clean, columns, shorten, shorten_name, text
from .look import merge_tags, tag_sign
from .strip import BAR, MOST_MOVED, SIDE, SPACE, TOP, StripDrawing, card_gradients
from .strip_parts import (
    LETTER,
    SMALL,
    badge,
    centered_text,
    dashes,
    head_lines,
    output_summary,
    places_of_labels,
)
from .strip_words import power, ratio_text, short
from .style import area, num, text_label, xml

HEADS, ROW, GAP = 22.0, 36.0, 6.0  # heights of the labels, of a row, and between rows
NAME, OUTPUT, UPDATE = 0.38, 0.15, 0.19  # shares of the width; the gradients have the rest
LABEL = 46.0  # pixels of the number beside a bar
DRAWN = 80.0  # pixels from which on an output has its histogram
LEVEL = 4.0  # pixels beside the rows for each arc


class RowsDrawing(StripDrawing):
    """The SVG of a strip whose cards are rows."""

    def spread(self) -> None:
        """Where the columns and the rows are."""
        width = self.across - 2 * SIDE
        self.right = self.across
        share = NAME if any(card.learns for card in self.strip.cards) else NAME + UPDATE / 2
        self.output_at = SIDE + share * width + 10
        self.grad_at = self.output_at + OUTPUT * width
        self.update_at = self.right - SIDE - UPDATE * width
        ends = self.update_at if any(card.learns for card in self.strip.cards) else self.right - SIDE
        self.room = ends - self.grad_at - LABEL - 8  # of bars
        self.name_wide = self.output_at - 10 - SIDE
        self.more = 0.0

    def svg(self) -> str:
        """The whole document."""
        self.bottom = self.row(len(self.strip.cards)) + (SPACE + MOST_MOVED if self.learns else GAP)
        return super().svg()

    def row(self, i: int) -> float:
        """Where a row begins."""
        return TOP + HEADS + (ROW + GAP) * i

    def along(self, exponent: float) -> float:
        """Where a power of ten is in the scale of gradients."""
        share = (exponent - self.low) / (self.high - self.low)
        return self.grad_at + self.room * min(1.0, max(0.0, share))

    # --------------------------------------------------------------------------------------- around the rows

    def scale(self) -> str:
        """The lines of the decades, and what the columns are."""
        y = TOP + 11
        parts = [text_label(text("strip_output", self.lang), self.output_at, y)]
        label = text("strip_grad", self.lang)
        if self.graded:
            parts.append(text_label(label, self.grad_at, y, "grad"))
        if self.learns:
            parts.append(text_label(text("strip_update", self.lang), self.update_at, y, "upd"))
        top, bottom = self.row(0), self.row(len(self.strip.cards)) - GAP
        first = self.grad_at + LETTER * (columns(label) + 1)
        step = 1 if self.high - self.low <= 4 else math.ceil((self.high - self.low) / 3)
        for exponent in range(self.low, self.high + 1, step) if self.graded else ():
            x = self.along(exponent)
            parts.append(f'<path d="M{num(x)} {num(top - 4)}V{num(bottom)}"/>')
            if x - 10 > first and exponent in (self.low, self.high):
                parts.append(centered_text(power(exponent), x, y))
        return f'<g class="scale">{"".join(parts)}</g>'

    def arrows(self) -> str:
        """Arrows from row to row, and arcs beside the rows."""
        parts = []
        x = SIDE + self.name_wide / 2
        for i in range(1, len(self.strip.cards)):
            y = self.row(i)
            parts.append(f'<path class="tip" d="M{num(x - 4)} {num(y - GAP)}h8l-4 {num(GAP)}z"/>')
        for a, b, level in self.arcs:
            y, to, left = self.row(a) + ROW - 8, self.row(b) + 8, SIDE - LEVEL * level
            parts.append(
                f'<path d="M{num(SIDE)} {num(y)}H{num(left)}V{num(to)}H{num(SIDE - 2)}"/>'
                f'<path class="tip" d="M{num(SIDE - 4)} {num(to - 3)}v6l4 -3z"/>'
            )
        return f'<g class="edge">{"".join(parts)}</g>'

    # ----------------------------------------------------------------------------------------------- one row

    def card(self, number: int, card: StripCard) -> str:
        """A row."""
        p, y = self.p, self.row(number)
        role = "result" if card.role in (LAYER, FUNCTION) else "constant" if card.role == DATA else "root"
        wide = self.name_wide
        name, kind = clean(card.name), clean(card.kind)
        most = int((wide - 12) / SMALL)
        sort = "kind size" if card.role == DATA else "kind"
        if card.role in (FUNCTION, LOSS) and columns(kind) > most:
            kind = "" if card.value is None else shape_text(card.value).removeprefix("()")
            sort = "kind size"
        # A name that needs both lines leaves none to what the card is.
        fits = int((wide - (36 if card.role != DATA else 12)) / LETTER)
        lines = head_lines(name, fits)
        parts = [
            f'<rect class="box" {area(SIDE, y, wide, ROW)} rx="7"/>',
            f'<rect class="head" {area(SIDE + 1, y + 1, wide - 2, ROW - 2)} rx="6"/>',
            *(
                text_label(shorten_name(line, fits), SIDE + 8, y + 15 + 14 * i, "name")
                for i, line in enumerate(lines)
            ),
            text_label(shorten(kind, most), SIDE + 8, y + 29, sort) if len(lines) == 1 else "",
            self.changing(f"{card.id}-known", "known", "".join(self.output_of(card, y))),
        ]
        said = xml(self.card_text(card))
        bars = "".join(self.bars(card, y, ROW)) if self.graded and card.role in (LAYER, FUNCTION) else ""
        both = self.decks(card, said, "".join(parts), bars)
        tab = f'<rect class="tab" {area(4, y - GAP / 2, self.right - 8, ROW + GAP)}/>'
        return f'<g class="station strip {role} {card.role}" id="{p}{card.id}">{tab}{both}</g>'

    def signs(self) -> str:
        """What is said at the cards that are marked, at the ends of their rows."""
        found = [
            (i, merge_tags(None, [tag for _, tag in self.tags[c.id]])) for i, c in enumerate(self.strip.cards)
        ]
        return "".join(
            tag_sign(tag, self.lang, self.right - SIDE, self.row(i) - 9)
            for i, tag in found
            if tag is not None
        )

    def output_of(self, card: StripCard, y: float) -> Iterator[str]:
        """The output of a card, or its first and its last repetition."""
        x, wide = self.output_at, self.grad_at - self.output_at - 8
        if card.bars:
            for bar, down in ((card.bars[0], 15), (card.bars[-1], 30)):
                if bar.value is not None and bar.value.rms is not None:
                    yield text_label(short(bar.value.rms), x, y + down, "rms")
        elif card.value is not None and card.value.rms is not None and card.value.size > 1:
            plain = not card.value.special and not card.value.dtype.startswith(("int", "uint", "bool"))
            if wide < DRAWN and plain:
                yield text_label(short(card.value.rms), x, y + 22, "rms")
            else:
                yield from output_summary(card.value, x, y + 30, wide, False, self.lang)
        else:
            yield from output_summary(card.value, x, y + 22, wide, True, self.lang)

    def bars(self, card: StripCard, y: float, height: float) -> Iterator[str]:
        """The gradient of a card, or one below the other those of its repetitions."""
        found = list(card_gradients(card))
        each = (height - 6) / len(found)
        high = min(BAR, max(1.0, each - 1))
        labeled = places_of_labels([value or 0.0 for value in found], each * 50 / 13)
        yield dashes(
            (self.grad_at, y + 3 + each * (i + 0.5) - high / 2, BAR, high) for i in range(len(found))
        )
        for i, value in enumerate(found):
            middle = y + 3 + each * (i + 0.5)
            x = self.grad_at
            if value is None:
                yield text_label("–", x, middle + 4) if len(found) == 1 else ""
            elif not math.isfinite(value):
                yield badge(str(value), x, middle - 7)
            elif value == 0:
                yield text_label("0", x, middle + 4) if len(found) == 1 else ""
            else:
                end = max(self.along(math.log10(value)), x + 3)
                yield f'<rect class="amount" {area(x, middle - high / 2, end - x, high)}/>'
                if i in labeled:
                    yield text_label(short(value), end + 5, middle + 4)

    def updates(self) -> str:
        """How far updates moved the parameters of all cards; of repetitions the first and the last."""
        parts, places = [], []
        for i, card in enumerate(self.strip.cards):
            if not card.learns:
                continue
            y = self.row(i)
            if card.bars:
                shown = [(card.bars[0].update, y + 15), (card.bars[-1].update, y + 30)]
            else:
                shown = [(card.update, y + 22)]
            parts += [self.ratio(ratio, middle) for ratio, middle in shown if ratio is not None]
            places += [
                (self.update_at + 1, middle - 8, 8.0, 8.0) for ratio, middle in shown if ratio is not None
            ]
        return self.all_moves([dashes(places), *parts], SIDE, self.right - SIDE)

    def ratio(self, ratio: Ratio, y: float) -> str:
        """One ratio: a dot, or a triangle where it is far from usual, and the number."""
        x = self.update_at + 5
        value = ratio.value
        sign = f'<circle cx="{num(x)}" cy="{num(y - 4)}" r="4"/>'
        if value > 0.3:
            sign = f'<path d="M{num(x - 4)} {num(y)}h8l-4 -7z"/>'
        elif not value >= 1e-5:
            sign = f'<path d="M{num(x - 4)} {num(y - 7)}h8l-4 7z"/>'
        return sign + text_label(ratio_text(ratio), x + 8, y)
