"""The parts of the cards of a strip: how wide a card must be for its name, what is written and drawn on it,
and arrows, arcs and labels around it."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..model.card_titles import DATA, LAYER, LOSS
from ..model.strip import StripCard
from ..number_text import number, shape_text
from ..protocol import BINS, Value
from ..words import clean, columns
from .heat_maps import cells, histogram
from .strip_words import short
from .style import area, num, text_label, xml

NARROWEST, WIDEST = 72.0, 168.0  # a card
MARGINS, PLUS = 13.0, 21.0  # beside the name in the head of a card, and the sign that opens it
LETTER, SMALL = 7.25, 6.63  # pixels of a letter of 12 and of 11 pixels


def marks_width(card: StripCard) -> float:
    """What the head of a card needs beside its name: margins, and the sign that opens it."""
    return MARGINS if card.role == DATA else MARGINS + PLUS


def name_width(card: StripCard, broken: bool) -> float:
    """How wide a card must be for its name, which may be `broken`."""
    name = clean(card.name)
    first, *second = head_lines(name, 0) if broken else [name]
    words = KIND_PARTS.findall(clean(card.kind)) if card.role == LAYER and not card.bars else []
    if card.role == LOSS and card.kind.isidentifier():
        words = lines_of_kind(card.kind, narrowest_kind(card.kind), LOSS_LINES)
    kind = 12 + SMALL * max((columns(word.rstrip()) for word in words), default=0)
    below = MARGINS + LETTER * columns(second[0]) if second else 0.0
    return min(WIDEST, max(NARROWEST, kind, marks_width(card) + LETTER * columns(first), below))


def head_lines(name: str, most: int) -> list[str]:
    """A name in one line, or, if it has more than `most` letters, in the two lines that need the least room;
    the first is beside a sign: broken after a space, a dot or an underscore."""
    places = [found.end() for found in re.finditer(r" |[._](?=\w)(?!\d+ …)", name)]
    if columns(name) <= most or not places:
        return [name]
    beside = math.ceil(PLUS / LETTER)
    at = min(places, key=lambda i: max(beside + columns(name[:i].rstrip()), columns(name[i:])))
    return [name[:at].rstrip(), name[at:]]


def dashes(places: Iterable[tuple[float, float, float, float]]) -> str:
    """What is shown for numbers that are not known yet: x, y, width and height of each."""
    path = "".join(f"M{num(x)} {num(y)}h{num(w)}v{num(h)}h{num(-w)}z" for x, y, w, h in places)
    return f'<path class="dash" d="{path}"/>'


def centered_text(content: str, x: float, y: float, kind: str = "") -> str:
    """A text with its middle at a place."""
    own = f' class="{kind}"' if kind else ""
    return f'<text{own} text-anchor="middle" x="{num(x)}" y="{num(y)}">{xml(content)}</text>'


def tip(x: float, y: float) -> str:
    """The head of an arrow to the right."""
    return f'<path class="tip" d="M{num(x - 7)} {num(y - 4)}l7 4l-7 4z"/>'


def nested_arcs(arcs: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Arcs with their heights, so that none crosses another that is inside it; at most three levels."""
    levels: list[tuple[int, int, int]] = []
    for a, b in sorted(arcs, key=lambda arc: arc[1] - arc[0]):
        level = 1 + max((high for c, d, high in levels if c < b and a < d), default=0)
        levels.append((a, b, min(level, 3)))
    return levels


def places_of_labels(values: Sequence[float], column: float) -> set[int]:
    """Which of several bars have their number: all where there is room, else the first, last, smallest
    and the largest, as far as these do not meet."""
    if column >= 44:
        return set(range(len(values)))
    first = [
        0,
        len(values) - 1,
        max(range(len(values)), key=values.__getitem__),
        min(range(len(values)), key=values.__getitem__),
    ]
    found: list[int] = []
    for i in first:
        if all(abs(i - j) * column >= 50 for j in found):
            found.append(i)
    return set(found)


def output_summary(
    value: Value | None, x: float, y: float, width: float, exact: bool, lang: str
) -> Iterator[str]:
    """Histogram and rms of a value; the number itself of one, and what needs attention instead of the
    histogram."""
    if value is None:
        return
    if value.items is None and value.summary is None and value.low is None and not value.special:
        yield text_label(shape_text(value), x, y, "rms")  # no numbers are known, as on the device "meta"
        return
    if value.size == 1 and value.items is not None:
        item = value.items[0]
        yield text_label(number(item, value.dtype), x, y, "name")
        return
    if value.special:
        yield badge(value.special, x, y - 12)
        return
    rms = value.rms
    if rms is None or value.dtype.startswith(("int", "uint", "bool")):
        yield text_label(first_numbers(value, int(width / SMALL)), x, y, "rms")
        return
    zeros = zeros_of(value)
    if value.size < BINS:
        yield text_label(f"rms {short(rms)}", x, y, "rms")
        return
    room = width - 6 * SMALL
    if zeros >= 0.5:
        yield text_label(f"0: {zeros:.0%}".replace("%", " %"), x, y - 14, "rms")
        yield text_label(f"rms {short(rms)}", x, y, "rms")
        return
    yield histogram(value, x, y, min(room, 64.0), 14)
    yield text_label(short(rms), x + min(room, 64.0) + 6, y, "rms")


def first_numbers(value: Value, most: int) -> str:
    """The first integers of a value, as many as `most` letters hold; its dtype where they are not known."""
    if value.items is None:
        return value.dtype if value.low is None else f"{value.low} … {value.high}"
    items = [str(item if isinstance(item, complex) else int(item)) for item in value.items]
    shown = list(items)
    while len(shown) > 1 and columns(" ".join(shown)) + 2 * (len(shown) < len(items)) > most:
        shown.pop()
    return " ".join([*shown, *["…"] * (len(shown) < len(items))])


def zeros_of(value: Value) -> float:
    """The share of zeros."""
    if value.summary is not None:
        return value.summary.zeros
    return sum(item == 0 for item in value.items) / len(value.items) if value.items else 0.0


def badge(said: str, x: float, y: float) -> str:
    """What is not finite, on a filled badge with a cross."""
    width = 12 + SMALL * (columns(said) + 1)
    return (
        f'<g class="bad"><rect {area(x, y, width, 15)} rx="4"/>{text_label(f"× {said}", x + 5, y + 11)}</g>'
    )


# Where what a card is may be broken: after a space or an underscore, and before a capital.
KIND_PARTS = re.compile(r"[^ _]+?(?: |_|(?=[A-Z][a-z])|$)")


def lines_of_kind(kind: str, most: int, lines: int = 2) -> list[str]:
    """What a card is in at most so many lines, the later ones after a space, an underscore or before a
    capital. Words at the end that do not fit are left out: they appear when the card is pointed at."""
    if columns(kind) <= most:
        return [kind]
    parts = KIND_PARTS.findall(kind)
    found = [parts.pop(0) if parts else kind]
    while parts:
        if columns((found[-1] + parts[0]).rstrip()) <= most:
            found[-1] += parts.pop(0)
        elif len(found) < lines:
            found.append(parts.pop(0))
        elif found[-1].endswith(" "):
            break
        else:
            found[-1] += parts.pop(0)
    return [line.rstrip(", ") if i == len(found) - 1 else line.rstrip() for i, line in enumerate(found)]


LOSS_LINES = 4  # that a loss has for the name of its function


def lines_for_kind(card: StripCard) -> int:
    """How many lines what a card is may have."""
    return LOSS_LINES if card.role == LOSS else 3 if "…" in card.kind and card.role == LAYER else 2


def narrowest_kind(kind: str) -> int:
    """The fewest letters in a line with which the name of a loss has lines enough."""
    return next(
        n for n in range(1, len(kind) + 1) if max(map(columns, lines_of_kind(kind, n, LOSS_LINES))) <= n
    )


def first_operand(written: str) -> str:
    """What is left of an expression that is too long: `mse_loss(…) - …`."""
    try:
        node = ast.parse(written.replace("…", "..."), mode="eval").body
    except SyntaxError:
        return written
    if isinstance(node, ast.BinOp):
        node.right = ast.Constant(...)
    return ast.unparse(node).replace("...", "…")


def weight_map(weight: Value, x: float, y: float, width: float, height: float) -> str:
    """Some numbers of a weight as colored cells, lying."""
    items = weight.items if weight.items is not None else weight.summary.sample if weight.summary else ()
    found = [item for item in items if isinstance(item, float)]
    if not found:
        return ""
    rows = 1
    if len(weight.shape) == 2 and weight.items is not None and 1 < min(weight.shape) <= 4:
        rows = min(weight.shape)
        if weight.shape[0] > weight.shape[1]:  # a tall one is turned
            found = np.array(found).reshape(weight.shape).T.reshape(-1).tolist()
    elif len(found) > 16:
        rows = 4 if len(found) > 32 else 2
    wide = max(1, len(found) // rows)
    shown = min(wide, int(width // 4))
    kept = [found[r * wide + c] for r in range(rows) for c in range(shown)]
    scale = max((abs(item) for item in kept if math.isfinite(item)), default=0.0)
    size = min(9.0, width / shown), min(9.0, height / rows)
    return cells(kept, shown, size, scale, x, y)


def sigmoid(x: float) -> float:
    """The logistic function."""
    return 1 / (1 + math.exp(-x))


CURVES: dict[str, Any] = {
    "relu": lambda x: max(0.0, x),
    "leakyrelu": lambda x: max(0.1 * x, x),
    "tanh": math.tanh,
    "sigmoid": sigmoid,
    "gelu": lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))),
    "silu": lambda x: x * sigmoid(x),
    "elu": lambda x: x if x > 0 else math.exp(x) - 1,
    "softplus": lambda x: math.log1p(math.exp(x)),
}


def function_name(card: StripCard) -> str:
    """The name of an activation as `CURVES` has it."""
    words = f"{card.name} {card.kind}".lower().replace("_", "").split()
    return next((word for word in words if word in CURVES), "")


def drawn_curve(curve: Any, x: float, y: float, width: float, height: float) -> str:
    """The curve of a function from −3 to 3, over its axes."""
    ys = [curve(-3 + 6 * i / 24) for i in range(25)]
    low, high = min(*ys, 0.0), max(ys)
    points = " ".join(
        f"{num(x + width * i / 24)},{num(y + height * (high - v) / (high - low))}" for i, v in enumerate(ys)
    )
    zero = y + height * high / (high - low)
    across = f"M{num(x)} {num(zero)}h{num(width)}"
    axis = f'<path class="axis" d="{across}M{num(x + width / 2)} {num(y)}v{num(height)}"/>'
    return f'{axis}<polyline class="curve" points="{points}"/>'
