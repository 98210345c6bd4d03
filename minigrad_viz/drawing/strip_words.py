"""The strip in words: short numbers, what a card says, and all cards as a table."""

from __future__ import annotations

import math

from ..model.card_titles import DATA, LAYER, LOSS
from ..model.strip import Ratio, Strip, StripCard
from ..number_text import number, shape_text
from ..protocol import Value
from ..words import clean, columns, shorten_name, text
from .outline import GAP as BETWEEN

SHOWN = 64  # repetitions of one card
LINE = 100  # columns of a sentence


def short(x: float) -> str:
    """A number with two digits."""
    size = abs(x)
    if not size or not math.isfinite(x):
        return "0" if not size else str(x)
    if not 1e-3 <= size < 1e4:
        mantissa, exponent = f"{x:.1e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{x:.0f}" if size >= 99.5 else f"{x:.2g}"


def power(exponent: int) -> str:
    """`10⁻³`"""
    return (
        "1" if not exponent else "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    )


def sentence(card: StripCard, lang: str | None) -> str:
    """`2 Linear 8→1, output rms 0.40, gradient rms 0.066, update 0.12 of the weight`."""
    parts = [f"{clean(card.name)} {clean(card.kind)}".strip()]
    if card.bars:
        parts.append(text("strip_times", lang, n=len(card.bars)))
    value = card.value
    if value is not None and value.size == 1 and value.items is not None:
        parts.append(number(value.items[0], value.dtype))
    elif value is not None and value.rms is not None and card.role != DATA:
        parts.append(text("strip_says_output", lang, rms=short(value.rms)))
    if card.grad is not None and card.grad.rms is not None and card.role != LOSS:
        parts.append(text("strip_says_grad", lang, rms=short(card.grad.rms)))
    if card.update is not None:
        parts.append(text("strip_says_update", lang, ratio=ratio_text(card.update)))
    return ", ".join(parts)


def ratio_text(ratio: Ratio) -> str:
    """How far an update moved what it changed."""
    return ("≈ " if ratio.sampled else "") + short(ratio.value)


def moved_most_text(strip: Strip, width: int, lang: str | None) -> str:
    """`moved most: net.2.bias, 0.51 of its size`, of so many columns at most; "" without an update."""
    if strip.most is None:
        return ""
    name, ratio = strip.most
    far = ratio_text(ratio)
    over = max(0, columns(text("strip_most", lang, name=name, ratio=far)) - width)
    return text("strip_most", lang, name=shorten_name(name, max(8, columns(name) - over)), ratio=far)


def table_lines(strip: Strip, lang: str | None) -> list[str]:
    """The strip as a table: module, output rms, gradient rms, update ÷ weight; below a card that repeats its
    repetitions. The line below the table says which parameter moved most."""
    heads = [text(key, lang) for key in ("strip_module", "strip_output_rms", "strip_grad_rms", "strip_ratio")]
    rows = [heads]
    for card in strip.cards:
        rows.append(
            [
                f"{clean(card.name)} {clean(card.kind)}".strip(),
                *numbers(card.value, card.grad, card.update, card.role),
            ]
        )
        rows += [
            [f"  {clean(bar.name)}", *numbers(bar.value, bar.grad, bar.update, LAYER)]
            for bar in card.bars[:SHOWN]
        ]
    if not any(card.learns for card in strip.cards):
        rows = [row[:-1] for row in rows]
    if all(row[2] == "–" for row in rows[1:]):  # of a forward pass alone
        rows = [[*row[:2], *row[3:]] for row in rows]
    widths = [max(columns(row[i]) for row in rows) for i in range(len(rows[0]))]
    padded = [
        BETWEEN.join(cell + " " * (wide - columns(cell)) for cell, wide in zip(row, widths)) for row in rows
    ]
    most = moved_most_text(strip, LINE, lang)
    return [*(line.rstrip() for line in padded), *([most] if most else [])]


def numbers(value: Value | None, grad: Value | None, update: Ratio | None, role: str) -> list[str]:
    """The numbers of one row of the table."""
    output = "–"
    if value is not None and value.size == 1 and value.items is not None and role == LOSS:
        output = number(value.items[0], value.dtype)
    elif value is not None and value.special:
        output = value.special
    elif value is not None and value.rms is not None:
        output = short(value.rms)
    elif value is not None and value.items is None and value.low is None:
        output = shape_text(value)
    arrived = (
        "–" if grad is None or role in (LOSS, DATA) or grad.rms is None else grad.special or short(grad.rms)
    )
    return [output, arrived, "" if update is None else ratio_text(update)]
