"""The inside of a card of the strip as SVG: small stations from left to right, in rows that fit the window.

Ids and classes are those of any picture (see `svg`), so steps mark stations, decks and arrows as there.
What a station leaves out, its saved values for instance, is said where it is pointed at or picked.

Note [Left to right]
    A station is one column after all that it uses; one without inputs is one column before its first
    user. Columns that do not fit beside each other go on in a row below, as the words of a line do. An
    arrow to the next column is a curve; one over other columns runs above them, and its gradient below them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

from ..model.card_titles import brief as brief_expression
from ..model.detail import Detail
from ..model.naming import name_cards
from ..number_text import number, shape_text
from ..protocol import Value, finite
from ..trace.graph import LEAF, PARAMETER, Route, Station
from ..words import clean, columns, shorten, shorten_name, text
from .card_parts import GRAD, VALUE
from .details import describe, saved_line
from .heat_maps import GRADIENTS, VALUES, are_real, cells
from .look import Look, Tag, merge_tags, tag_sign, tag_text, tags_of
from .picture import Picture
from .strip_parts import zeros_of
from .strip_words import short
from .style import area, css, num, text_label, xml
from .subject_kinds import subjects_of

LABELED = {part.name: part for part in (VALUE, GRAD)}  # the rows of a station
BROAD, WIDE = 1148.0, 832.0  # pixels across at most, in windows of 1,366 and of 900
NARROWER = 592.0, 316.0  # the same in windows of 700 and of 400
HEAD, ROW, DECK = 24.0, 21.0, 24.0  # heights of the parts of a station
LETTER = 7.25
LEAST, MOST = 84.0, 196.0  # how wide a station is
BETWEEN, ABOVE, ROWS = 62.0, 14.0, 30.0  # from column to column, from station to station, from row to row
LANE, EDGE = 11.0, 16.0  # between arrows beside each other; around all
CELLS = 16  # numbers of a map


@dataclass(slots=True)
class Box:
    """A station with its place: `rows` are its facts, each a label and a value; `outside` of a card it is its
    name alone."""

    station: Station
    name: str
    said: str
    rows: tuple[tuple[str, Value | None], ...]
    outside: bool
    width: float = 0.0
    x: float = 0.0
    y: float = 0.0
    column: int = 0
    line: int = 0

    @property
    def upper(self) -> float:
        """How high the tensor is."""
        return HEAD + ROW * len(self.rows)

    @property
    def height(self) -> float:
        """How high all of it is."""
        return self.upper + (DECK if self.station.deck is not None else 0.0)

    @property
    def above(self) -> float:
        """Where forward arrows meet it."""
        return self.y + (HEAD / 2 if not self.rows else HEAD + ROW / 2)

    @property
    def below(self) -> float:
        """Where gradient arrows meet it."""
        return self.y + (self.upper + DECK / 2 if self.station.deck is not None else self.height - 5)


class DetailPicture(Picture):
    """The picture of what is inside a card."""

    def __init__(self, detail: Detail, usual: Picture, across: float = WIDE) -> None:
        super().__init__(
            detail.graph, theme=usual.theme, lang=usual.lang, values=usual.look.values, limit=usual.limit
        )
        self.detail, self.usual, self.across = detail, usual, across
        self._drawing: DetailDrawing | None = None

    def forms(self) -> list[DetailPicture]:
        """The same for windows of other widths, where it would look otherwise there."""
        self.svg()
        drawing = self._drawing
        wider = [BROAD] if drawing is not None and len(drawing.tops) > 1 else []
        narrower = [across for across in NARROWER if drawing is not None and drawing.width > across]
        return [DetailPicture(self.detail, self.usual, across) for across in (*wider, *narrower)]

    def stood(self) -> dict[str, list[str]]:
        """What the rows of parameters say at each moment."""
        self.svg()
        return {} if self._drawing is None else dict(self._drawing.stood())

    def counts(self) -> dict[str, list[str]]:
        """Nothing: there are no slots."""
        return {}

    def _draw(self) -> None:
        ids = [(s.id, *(c.name or c.expr for c in s.cards)) for s in self.graph.stations]
        self.prefix = f"g{hashlib.sha256(repr(ids).encode()).hexdigest()[:6]}-"
        self._drawing = DetailDrawing(self.detail, self.prefix, self.look.lang or "", self.lang, self.across)
        self._svg = self._drawing.svg(self.theme)


class DetailDrawing:
    """The stations of a detail at their places, and the arrows between them."""

    def __init__(self, detail: Detail, prefix: str, words: str, lang: str | None, across: float) -> None:
        self.graph, self.p, self.lang, self.across = detail.graph, prefix, lang, across
        self.names = name_cards(self.graph, lang)
        self.tags = tags_of(self.graph)
        self.folds = {fold.station: fold for fold in self.graph.folds}
        self.brief_names: set[str] = set()
        self.boxes = {s.id: self.box(s, s.id in detail.outside) for s in self.graph.stations}
        there = [r for r in self.graph.routes if r.source in self.boxes and r.target in self.boxes]
        drawn: dict[tuple[str, str], Route] = {}
        for route in there:  # several uses are one arrow
            known = drawn.get((route.source, route.target))
            if known is None or (not known.tracked and route.tracked):
                drawn[route.source, route.target] = route
        self.routes = list(drawn.values())
        pills = (pill_width(pill_text(route)) for route in self.routes if route.gradients)
        self.between = max(BETWEEN, *pills, 0.0) + 8
        self.scales = self.scaled()
        self.columns()
        self.place()
        self.subjects = subjects_of(detail, lang)

    # ----------------------------------------------------------------------------------------------- stations

    def box(self, station: Station, outside: bool) -> Box:
        """A station, measured."""
        card = station.cards[0]
        name = clean(self.names[station.id, 0])
        if outside:  # in short, unless two would be called the same
            brief_name = clean(brief_expression(name))
            name = name if brief_name in self.brief_names else brief_name
            self.brief_names.add(brief_name)
        fold = self.folds.get(station.id)
        if card.name and card.expr and not outside and card.role not in (LEAF, PARAMETER):
            name = card.name
        said = "" if card.value is None or not card.value.shape else shape_text(card.value)
        rows: list[tuple[str, Value | None]] = []
        if not outside:
            rows = [("value", card.value)]
            if card.role in (LEAF, PARAMETER):
                rows.append(("grad", card.grad))
        node = "" if station.deck is None else self.node(station)
        longest = max(
            columns(shorten_name(name, 22)) + (columns(said) + 2 if outside else 0), columns(node),
            *(5 + self.columns_of(value) for _, value in rows),
            0 if fold is None else columns(shorten(name, 22)) + 3,
        )  # fmt: skip
        return Box(station, name, said, tuple(rows), outside, min(MOST, max(LEAST, 18 + LETTER * longest)))

    def node(self, station: Station) -> str:
        """The name of a backward node; of a box how many nodes it has."""
        assert station.deck is not None
        fold = self.folds.get(station.id)
        return station.deck.name if fold is None else text("fold_nodes", self.lang, n=fold.operations)

    def columns_of(self, value: Value | None) -> int:
        """How many letters a value is wide."""
        if is_map(value):
            assert value is not None and value.items is not None
            return math.ceil(len(value.items) * 8 / LETTER)
        return columns(brief_value(value))

    def scaled(self) -> dict[str, float]:
        """The largest magnitude in all maps of values, and in all of gradients."""
        found = {VALUES: 0.0, GRADIENTS: 0.0}
        for box in self.boxes.values():
            for label, value in box.rows:
                if is_map(value) and value is not None:
                    of = GRADIENTS if label == "grad" else VALUES
                    sizes = (abs(n) for n in value.items or () if math.isfinite(n))
                    found[of] = max(found[of], max(sizes, default=0.0))
        return found

    def columns(self) -> None:
        """Which column each station is in."""
        sources: dict[str, list[str]] = {id: [] for id in self.boxes}
        users: dict[str, list[str]] = {id: [] for id in self.boxes}
        for route in self.routes:
            sources[route.target].append(route.source)
            users[route.source].append(route.target)
        for id in self.boxes:  # in program order
            self.boxes[id].column = max((self.boxes[s].column + 1 for s in sources[id]), default=0)
        for id in reversed(list(self.boxes)):
            if not sources[id] and users[id]:
                self.boxes[id].column = max(0, min(self.boxes[u].column for u in users[id]) - 1)
        self.sources, self.users = sources, users

    def place(self) -> None:
        """Where the stations are."""
        several: dict[int, list[Box]] = {}
        for box in self.boxes.values():
            several.setdefault(box.column, []).append(box)
        lines: list[list[int]] = [[]]
        x = 0.0
        for column in sorted(several):
            width = max(box.width for box in several[column])
            if lines[-1] and x + width > self.across - 2 * EDGE:
                lines.append([])
                x = 0.0
            lines[-1].append(column)
            x += width + self.between
        over = [r for r in self.routes if self.boxes[r.target].column > self.boxes[r.source].column + 1]
        lanes = [0] * len(lines)
        row_of = {column: i for i, line in enumerate(lines) for column in line}
        for route in over:
            a, b = row_of[self.boxes[route.source].column], row_of[self.boxes[route.target].column]
            if a == b:
                lanes[a] += 1
        self.lane_used = [0] * len(lines)
        top, self.width, self.tops, self.bottoms = EDGE, 0.0, [], []
        for i, line in enumerate(lines):
            room = LANE * lanes[i]
            high = max(sum(b.height + ABOVE for b in several[c]) - ABOVE for c in line)
            x = EDGE
            for column in line:
                boxes = self.ordered(several[column])
                total = sum(b.height + ABOVE for b in boxes) - ABOVE
                y = top + room + (high - total) / 2
                width = max(b.width for b in boxes)
                for box in boxes:
                    box.x, box.y, box.line = x + (width - box.width) / 2, y, i
                    y += box.height + ABOVE
                x += width + self.between
            self.width = max(self.width, x - self.between + EDGE)
            self.tops.append(top + room)
            self.bottoms.append(top + room + high)
            top += room + high + room + ROWS
        self.height = top - ROWS + EDGE

    def ordered(self, boxes: list[Box]) -> list[Box]:
        """The stations of a column from top to bottom: near what they use, leaves first."""

        def height(box: Box) -> float:
            known = [self.boxes[s].y for s in self.sources[box.station.id]]
            return sum(known) / len(known) if known else 0.0

        return sorted(boxes, key=lambda box: (height(box), bool(self.sources[box.station.id])))

    def svg(self, theme: str) -> str:
        """The whole document."""
        arrows, pills = self.arrows()
        stations = "".join(self.station(box) for box in self.boxes.values())
        p = self.p
        title = shorten(", ".join(box.name for box in self.boxes.values() if not box.outside), 200)
        subjects = "".join(self.draw_subjects())
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="mg mg-{theme} detail" width="{num(self.width)}"'
            f' height="{num(self.height)}" role="img" viewBox="0 0 {num(self.width)} {num(self.height)}"'
            f' aria-labelledby="{p}title"><title id="{p}title">{xml(title)}</title>'
            f"<style>{css(theme, ['heat', 'strip', 'subjects', *['marks'] * bool(self.tags)])}</style>"
            f'<rect class="paper" {area(0, 0, self.width, self.height)} rx="8"/>'
            f"{arrows}{stations}{pills}{subjects}</svg>"
        )

    def draw_subjects(self) -> Iterator[str]:
        """The pictures of the subject below the stations, a line between."""
        for subject in self.subjects:
            subject.room = min(subject.room, self.across - 2 * EDGE)
            width, height = subject.size
            if width + 2 * EDGE > self.across:
                continue
            top = self.height + 4
            self.width = max(self.width, width + 2 * EDGE)
            line = f"M{num(EDGE)} {num(top)}H{num(self.width - EDGE)}"
            yield f'<g class="subject"><path class="axis" d="{line}"/></g>'
            yield subject.draw(EDGE, top + 12, self.p)
            self.height = top + height + 12

    def station(self, box: Box) -> str:
        """One station."""
        station, card = box.station, box.station.cards[0]
        id, x, y, width = self.p + station.id, box.x, box.y, box.width
        tip = describe(station, 0, self.names, self.lang, self.folds.get(station.id), None)
        fits = int((width - 16 - (18 if station.id in self.folds else 0)) / LETTER)
        kind = "name" if card.name or box.outside else ""
        round_below = 0 if station.deck is not None else 7
        parts = [
            f'<path class="box" d="{outline(x, y, width, box.upper, 7, round_below)}"/>',
            f'<path class="head" d="{outline(x, y, width, HEAD, 7, 7 if box.outside else 0)}"/>',
        ]
        if box.outside:
            name = shorten_name(box.name, max(3, fits - columns(box.said) - 1))
            parts += [text_label(name, x + 9, y + 16, "name")]
            parts += [
                text_at(box.said, x + width - 8, y + 16, "say", "end"),
            ]
        else:
            parts += [text_label(self.distinct(box, fits), x + 9, y + 16, kind)]
        for i, (label, value) in enumerate(box.rows):
            top = y + HEAD + ROW * i
            content = self.content(label, value, x, top)
            key = text_label(LABELED[label].label(self.lang), x + 9, top + 15, "key")
            parts.append(f'<g class="row" id="{id}-c0-{label}">{key}{content}</g>')
        tag = self.tag(station, "c")
        marked = "" if tag is None else f" {tag.kind}"
        sign = "" if tag is None else tag_sign(tag, self.lang, x + width, y - 10)
        upper = (
            f'<g class="card {card.role}{marked}" id="{id}-c0"><title>{xml(tip)}</title>{"".join(parts)}</g>'
        )
        outside = " outside" * box.outside
        return f'<g class="station {card.role}{outside}" id="{id}">{upper}{self.deck(box)}{sign}</g>'

    def tag(self, station: Station, kinds: str) -> Tag | None:
        """What is said at the parts of a station whose ids have these letters."""
        found = [
            tag for part, tag in self.tags.items()
            if part.partition("-")[0] == station.id and part.partition("-")[2][:1] in kinds
        ]  # fmt: skip
        return merge_tags(None, found)

    def distinct(self, box: Box, fits: int) -> str:
        """The name of a station as far as there is room: its end, where another one begins alike."""
        short = shorten_name(box.name, fits)
        others = (other.name for other in self.boxes.values() if other is not box)
        if short == box.name or all(shorten_name(other, fits) != short for other in others):
            return short
        tail = ""
        for letter in reversed(box.name):
            if columns(letter + tail) > fits - 1:
                break
            tail = letter + tail
        return f"…{tail}"

    def content(self, label: str, value: Value | None, x: float, top: float) -> str:
        """What a row says behind its label."""
        kept = label == "grad"
        if is_map(value):
            assert value is not None and value.items is not None
            scale = self.scales[GRADIENTS if kept else VALUES]
            return f"<g>{cells(value.items, len(value.items), (8.0, 12.0), scale, x + 48, top + 5)}</g>"
        return text_label(
            brief_value(value) if value is not None else "None" if kept else "–",
            x + 48,
            top + 15,
            "kept" if kept and value is not None else "",
        )

    def deck(self, box: Box) -> str:
        """The backward node of a station."""
        deck = box.station.deck
        if deck is None:
            return ""
        x, y = box.x, box.y + box.upper
        look = Look("normal", True, "all", self.lang)
        saved = [saved_line(each, look, self.lang) for each in deck.saved]
        tag = self.tag(box.station, "dk")
        tip = xml("\n".join([*([tag_text(tag, self.lang)] if tag else []), clean(deck.name), *saved]))
        fits = int((box.width - 14) / LETTER)
        marked = "" if tag is None else f" {tag.kind}"
        sign = "" if tag is None else tag_sign(tag, self.lang, x + box.width, y + DECK - 6)
        return (
            f'<g class="deck{marked}" id="{self.p}{box.station.id}-d"><title>{tip}</title>'
            f'<path class="box" d="{outline(x, y, box.width, DECK, 0, 7)}"/>'
            f"{text_label(shorten(self.node(box.station), fits), x + 9, y + 16, 'fn')}</g>{sign}"
        )

    def stood(self) -> Iterator[tuple[str, list[str]]]:
        """By row, what it says at each moment of its tensor."""
        for box in self.boxes.values():
            card = box.station.cards[0]
            for label, value in box.rows:
                if card.stood and any(pair[label == "grad"] != value for pair in card.stood):
                    top = box.y + HEAD + ROW * [each for each, _ in box.rows].index(label)
                    said = [self.content(label, pair[label == "grad"], box.x, top) for pair in card.stood]
                    yield f"{box.station.id}-c0-{label}", said

    # ------------------------------------------------------------------------------------------------- arrows

    def arrows(self) -> tuple[str, str]:
        """All arrows, and the numbers at those of gradients."""
        forward, back, pills = [], [], []
        self.stand: list[tuple[float, float, float]] = []  # the pills so far: middle and width
        for i, route in enumerate(self.routes):
            a, b = self.boxes[route.source], self.boxes[route.target]
            up, down, spot = self.paths(a, b, i)
            tip = f"<title>{xml(f'{a.name} → {b.name}')}</title>"
            forward.append(f'<g class="edge fwd" id="{self.p}{route.id}">{tip}{up}</g>')
            if not route.tracked:
                continue
            flowed = [brief_value(value) for value in route.gradients]
            title = f"<title>{xml(f'{b.name} → {a.name}: ' + ', '.join(flowed))}</title>"
            todo = "" if flowed else " todo"
            back.append(f'<g class="edge grad{todo}" id="{self.p}{route.id}-g">{title}{down}</g>')
            if flowed:
                pills.append(self.pill(route, *spot))
        return "".join(forward + back), "".join(pills)

    def pill(self, route: Route, x: float, y: float, along: float) -> str:
        """The number at a gradient arrow: at its middle, or near that, where it lies on no station and on no
        other number; `along` a horizontal arrow as far as that goes."""
        said = pill_text(route)
        width = pill_width(said)
        steps = [k * sign * 6.0 for k in range(40) for sign in ((1, -1) if k else (1,))]
        across = [(x + d, y) for d in steps if abs(d) <= along]
        spots = [*across, *((x, y + d) for d in steps), *((x + d, y + 12) for d in steps)]
        x, y = next((spot for spot in spots if self.is_free(*spot, width)), spots[0])
        self.stand.append((x, y, width))
        box = f'<rect {area(x - width / 2, y - 8, width, 16)} rx="8"/>'
        number_there = f'<text x="{num(x)}" y="{num(y + 4)}">{xml(said)}</text>'
        return f'<g class="pill small" id="{self.p}{route.id}-p">{box}{number_there}</g>'

    def is_free(self, x: float, y: float, width: float) -> bool:
        """Whether a number at a place lies inside the picture, on no station and on no other number."""
        left, right = x - width / 2, x + width / 2
        if left < 1 or right > self.width - 1 or y < 9 or y > self.height - 9:
            return False
        for box in self.boxes.values():
            beside = right <= box.x - 1 or left >= box.x + box.width + 1
            if not beside and y - 8 < box.y + box.height + 1 and y + 8 > box.y - 1:
                return False
        return all(abs(x - other) >= (width + w) / 2 or abs(y - at) >= 17 for other, at, w in self.stand)

    def paths(self, a: Box, b: Box, i: int) -> tuple[str, str, tuple[float, float, float]]:
        """The forward arrow and the gradient arrow of a route, and where the number of the latter is: its
        middle, and how far along the arrow it may be moved."""
        right, left = a.x + a.width, b.x
        if a.line == b.line and b.column == a.column + 1:
            half = (left - right) / 2
            up = curve(right, a.above, half, left - 6, b.above) + head(left, b.above, 1)
            down = curve(left, b.below, -half, right + 6, a.below) + head(right, a.below, -1)
            return up, down, (right + half, 0.6 * a.below + 0.4 * b.below, 0.0)
        if a.line == b.line:
            self.lane_used[a.line] += 1
            away = LANE * self.lane_used[a.line] - 3
            top, bottom = self.tops[a.line] - away, self.bottoms[a.line] + away
            x, to = right - 14, left + 14
            up = f'<path d="M{num(x)} {num(a.y)}V{num(top)}H{num(to)}V{num(b.y - 6)}"/>{tip_down(to, b.y)}'
            low, end = b.y + b.height, a.y + a.height
            down = f'<path d="M{num(to)} {num(low)}V{num(bottom)}H{num(x)}V{num(end + 6)}"/>{tip_up(x, end)}'
            return up, down, ((x + to) / 2, bottom, abs(to - x) / 2 - 20)
        x, to = right + 10 + 3 * (i % 5), left - 12 - 3 * (i % 5)
        between = self.bottoms[a.line] + (self.tops[b.line] - self.bottoms[a.line]) / 2 - 6 + 3 * (i % 4)
        up = elbow(right, a.above, x, between, to, left - 6, b.above) + head(left, b.above, 1)
        down = elbow(left, b.below, to + 6, between + 6, x + 6, right + 6, a.below) + head(right, a.below, -1)
        return up, down, ((x + to) / 2, between + 6, abs(to - x) / 2 - 20)


def is_map(value: Value | None) -> bool:
    """Whether a value is drawn as colored cells, lying."""
    if value is None or value.items is None or not 1 < len(value.items) <= CELLS or not value.shape:
        return False
    return are_real(value) and not value.dtype.startswith(("int", "uint"))


def brief_value(value: Value | None) -> str:
    """A value in few letters: its number, or its root mean square, and what needs attention."""
    if value is None:
        return "–"
    one = finite(value)
    if value.size == 1 and value.items is not None:
        return number(value.items[0], value.dtype) if one is None else number(one, value.dtype)
    if value.special:
        return f"× {value.special}"
    rms = value.rms
    if rms is None or value.dtype.startswith(("int", "uint", "bool")):
        return shape_text(value)
    zeros = zeros_of(value)
    return f"rms {short(rms)}" + (f", 0: {zeros:.0%}" if zeros >= 0.5 else "")


def pill_text(route: Route) -> str:
    """The gradient of an arrow, in short."""
    return in_pill(route.gradients[0]) + " …" * (len(route.gradients) > 1)


def pill_width(said: str) -> float:
    """Pixels of a number at an arrow."""
    return 6.7 * columns(said) + 8


def in_pill(value: Value) -> str:
    """A gradient at an arrow: its number, or its root mean square."""
    return brief_value(value).removeprefix("rms ").partition(",")[0]


def outline(x: float, y: float, width: float, height: float, upper: float, lower: float) -> str:
    """A rectangle with round corners above and below."""
    return (
        f"M{num(x)} {num(y + upper)}q0 {num(-upper)} {num(upper)} {num(-upper)}h{num(width - 2 * upper)}"
        f"q{num(upper)} 0 {num(upper)} {num(upper)}v{num(height - upper - lower)}"
        f"q0 {num(lower)} {num(-lower)} {num(lower)}h{num(2 * lower - width)}"
        f"q{num(-lower)} 0 {num(-lower)} {num(-lower)}z"
    )


def text_at(content: str, x: float, y: float, kind: str, anchor: str) -> str:
    """A text that ends at a place, or has it in its middle."""
    return f'<text class="{kind}" text-anchor="{anchor}" x="{num(x)}" y="{num(y)}">{xml(content)}</text>'


def curve(x: float, y: float, bend: float, to: float, end: float) -> str:
    """A curve from one side of a station to the side of another."""
    bends = f"{num(x + bend)} {num(y)} {num(to - bend)} {num(end)}"
    return f'<path d="M{num(x)} {num(y)}C{bends} {num(to)} {num(end)}"/>'


def elbow(x: float, y: float, out: float, level: float, back: float, to: float, end: float) -> str:
    """A line with corners from a station to one of another row."""
    return f'<path d="M{num(x)} {num(y)}H{num(out)}V{num(level)}H{num(back)}V{num(end)}H{num(to)}"/>'


def head(x: float, y: float, way: int) -> str:
    """The head of an arrow that ends at a side of a station."""
    return f'<path class="tip" d="M{num(x - 7 * way)} {num(y - 4)}l{num(7 * way)} 4l{num(-7 * way)} 4z"/>'


def tip_down(x: float, y: float) -> str:
    """The head of an arrow that comes from above."""
    return f'<path class="tip" d="M{num(x - 4)} {num(y - 7)}h8l-4 7z"/>'


def tip_up(x: float, y: float) -> str:
    """The head of an arrow that comes from below."""
    return f'<path class="tip" d="M{num(x - 4)} {num(y + 7)}h8l-4 -7z"/>'
