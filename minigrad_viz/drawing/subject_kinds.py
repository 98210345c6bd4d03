"""The kinds of subjects: attention, loss of classes, convolution, embedding, normalization, masks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..model.detail import Detail
from ..model.strip import Strip
from ..model.strip_insides import opened_cards
from ..protocol import Value
from ..words import shorten
from .heat_maps import bins_of, histogram
from .strip_parts import zeros_of
from .strip_words import short
from .style import area, num, text_label, xml
from .subjects import (
    LETTER,
    TITLE,
    Grid,
    Panel,
    Parts,
    Subject,
    grid_of,
    middle,
    moment,
    op,
    saved_numbers,
    saved_value,
    scale_of,
    station_name,
    variant,
)

PRODUCTS = ("bmm", "mm", "matmul")


def planes_of(grid: Grid, count: int) -> list[Any]:
    """The first planes of a grid."""
    return [grid.plane(i) for i in range(count)]


class Attention(Subject):
    """The weights of an attention, with what came back for them and what goes back to the scores."""

    key, choice = "subject_attention", "subject_head"

    def fits(self) -> bool:
        if op(self.station) != "softmax" or not any(
            op(u) in PRODUCTS for u in self.parts.users(self.station)
        ):
            return False
        found = grid_of(self.station.cards[0].value)
        self.weights = found
        if found is not None and len(found.shape) < 4:
            self.choice = "subject_sample"
        return found is not None and len(found.shape) > 1 and min(found.planes.shape[1:]) > 1

    def title(self) -> str:
        assert self.weights is not None
        return self.say(
            self.key, name=station_name(self.station), shape="×".join(map(str, self.weights.shape))
        )

    def thumbs(self) -> Sequence[Any]:
        assert self.weights is not None
        return planes_of(self.weights, self.weights.count)

    def labels(self, size: int, step: int) -> Sequence[str]:
        """The tokens of an axis; positions where the source has no text for them."""
        assert self.weights is not None
        tokens = self.parts.tokens
        if len(tokens) == size:
            return [t if t.strip() else "␣" for t in tokens[::step]]
        return [str(i) for i in range(0, size, step)]

    def panels(self) -> list[Panel]:
        grid = self.weights
        assert grid is not None
        axes = self.labels(grid.shape[-2], grid.down), self.labels(grid.shape[-1], grid.across)
        if max(map(len, axes[1]), default=0) > 2:
            axes = axes[0], [t[:2] for t in axes[1]]
        n = grid.count
        found = [
            Panel(self.station_name(), planes_of(grid, n), scale_of(grid.planes), said="0 … 1", tokens=axes)
        ]
        for key, value, sign in (
            ("subject_back", self.station.cards[0].grad, "⊙"),
            ("subject_scores", self.parts.sent(self.station), "→"),
        ):
            back = grid_of(value)
            if back is not None and back.planes.shape == grid.planes.shape:
                title = self.say(key, name=self.station_name())
                marks = [largest_magnitude(p) for p in planes_of(back, n)] if sign == "→" else ()
                found.append(
                    Panel(
                        title,
                        planes_of(back, n),
                        scale_of(back.planes),
                        True,
                        marks=marks,
                        tokens=axes,
                        between=sign,
                    )
                )
        return found

    def station_name(self) -> str:
        """What the weights are called."""
        return self.station.cards[0].name or "softmax"

    def readout(self) -> list[str]:
        """Of the first head: how the largest gradient of a score came about."""
        grid, back = self.weights, grid_of(self.station.cards[0].grad)
        scores = grid_of(self.parts.sent(self.station))
        if (
            grid is None
            or back is None
            or scores is None
            or not grid.whole
            or scores.planes.shape != grid.planes.shape
        ):
            return []
        row, column, _, _ = largest_magnitude(scores.plane(0))
        a, g = grid.plane(0)[int(row)], back.plane(0)[int(row)]
        mean, j = float(a @ g), int(column)
        query = self.labels(grid.shape[-2], 1)[int(row)]
        key = self.labels(grid.shape[-1], 1)[j]
        head = [f"{self.say(self.choice)} 0"] if grid.count > 1 else []
        return [
            *head,
            self.say("subject_query", of=query, to=key),
            f"{self.station_name()} {short(a[j])}",
            f"g {short(g[j])}",
            self.say("subject_row", value=short(mean)),
            f"{short(a[j])} · ({short(g[j])} − {short(mean)})",
            f"= {short(float(scores.plane(0)[int(row), j]))}",
        ]


def largest_magnitude(plane: Any) -> tuple[float, float, float, float]:
    """Around the number with the largest magnitude: row, column, one high, one wide."""
    row, column = np.unravel_index(int(np.argmax(np.abs(plane))), plane.shape)
    return float(row), float(column), 1.0, 1.0


class Classes(Subject):
    """Softmax with cross entropy: bars of the softmax, the one-hot of the label, and their difference."""

    key, choice = "subject_classes", "subject_sample"
    HIGH, COLUMN, SIDES = 44.0, 34.0, 110.0

    def fits(self) -> bool:
        if not op(self.station).startswith("nllloss"):
            return False
        routes = self.parts.into(self.station)
        source = self.parts.stations[routes[0].source] if routes else None
        log = None if source is None or op(source) != "logsoftmax" else grid_of(source.cards[0].value)
        labels = saved_value(self.station, "target")
        if (
            source is None
            or log is None
            or log.across > 1
            or not isinstance(labels, Value)
            or labels.items is None
        ):
            return False
        rows = [int(label) for label in labels.items[:: log.down]]
        self.source, self.shares = source, np.exp(log.plane(0))
        self.labels = rows[: len(self.shares)]
        return (
            len(log.shape) == 2
            and len(labels.shape) == 1
            and all(0 <= n < log.shape[-1] for n in self.labels)
        )

    def title(self) -> str:
        value = self.source.cards[0].value
        return self.say(self.key, n=len(self.labels), of="?" if value is None else value.shape[0])

    def thumbs(self) -> Sequence[Any]:
        return [row.reshape(1, -1) for row in self.shares[:8]]

    def outline_facts(self) -> list[str]:
        return [self.sentence(0)]

    def sentence(self, i: int) -> str:
        """What a sample says: its label, its share, and the class with the largest one."""
        row, label = self.shares[i], self.labels[i]
        return self.say(
            "subject_label", label=label, share=short(float(row[label])), best=int(np.argmax(row)),
            most=short(float(row.max())),
        )  # fmt: skip

    @property
    def most(self) -> int:
        """Classes that have a bar."""
        fit = int((self.room - self.before - self.SIDES) / self.COLUMN)
        return max(2, min(self.shares.shape[1], fit))

    def shown(self, i: int) -> list[int]:
        """The classes of a sample that have a bar: all, or its label and those with the largest shares."""
        row, label = self.shares[i], self.labels[i]
        order = [label, *(k for k in np.argsort(-row).tolist() if k != label)]
        return sorted(order[: self.most])

    @property
    def size(self) -> tuple[float, float]:
        wide = self.before + self.COLUMN * self.most + self.SIDES
        return wide, max(self.choices_height, TITLE + 2 * self.HIGH + 80) + 24

    def draw(self, x: float, y: float, prefix: str) -> str:
        id = f"{prefix}{self.station.id}-classes"
        parts = [f"<title>{xml(self.describe())}</title>", self.title_label(x, y)]
        parts.append("".join(self.draw_choice(x, y + 24, id)))
        left, top = x + self.before + 90, y + 40
        shown = min(8, len(self.shares)) if self.choices() else 1
        for i in range(shown):
            inner = "".join(self.bars(i, left, top))
            parts.append(variant(inner, i, shown, id))
        middle_line = top + 2 * self.HIGH + 26
        parts.append(text_label("softmax", x + self.before, top + self.HIGH, "name"))
        parts.append(text_label(self.say("subject_one_hot"), x + self.before, top + self.HIGH - 18, "say"))
        parts.append(
            text_label(self.say("subject_difference"), x + self.before, middle_line - 18, "name kept")
        )
        wide = self.COLUMN * self.most
        parts.append(f'<path class="axis" d="M{num(left)} {num(top + self.HIGH)}h{num(wide)}'
                     f'M{num(left)} {num(middle_line)}h{num(wide)}"/>')  # fmt: skip
        return (
            f'<g class="subject of-{self.station.id}" role="img" aria-label="{xml(self.describe())}">'
            f"{''.join(parts)}</g>"
        )

    def bars(self, i: int, left: float, top: float) -> Iterator[str]:
        """The bars of a sample."""
        row, label = self.shares[i], self.labels[i]
        base, zero = top + self.HIGH, top + 2 * self.HIGH + 26
        told = set(np.argsort(-np.abs(row - np.eye(len(row))[label]))[:4].tolist()) | {label}
        for at, k in enumerate(self.shown(i)):
            share = float(row[k])
            x, high = left + self.COLUMN * at + 8, self.HIGH * share
            yield moment(f'<rect class="bar" {area(x, base - high, 16, high)}/>', self.station.id, False)
            if k == label:
                yield f'<rect class="mark" {area(x - 2, base - self.HIGH, 20, self.HIGH)}/>'
            yield middle(str(k), x + 8, base + 14, "name" if k == label else "")
            over = share - (k == label)
            tall = self.HIGH * abs(over) * 0.9
            y = zero - tall if over > 0 else zero
            difference = f'<rect class="bar" {area(x, y, 16, tall)}/>'
            if k in told:
                end = zero - tall - 4 if over > 0 else zero + tall + 12
                difference += middle(short(over), x + 8, end, "bar kept")
            yield moment(difference, self.station.id, True)
        said = shorten(self.sentence(i), int((self.room - self.before) / LETTER))
        yield text_label(said, left - 90, zero + self.HIGH + 18, "say")


class Convolution(Subject):
    """Kernel, input, output and gradients of one channel, with the window that a kernel number saw."""

    key, choice = "subject_convolution", "subject_channel"

    def fits(self) -> bool:
        if op(self.station) != "convolution":
            return False
        weight = self.parts.parameter(self.station, "weight")
        self.kernel = grid_of(weight.value) if weight is not None else None
        self.kernel_grad = grid_of(weight.grad) if weight is not None else None
        self.input, self.output = (
            grid_of(saved_value(self.station, "input")),
            grid_of(self.station.cards[0].value),
        )
        self.came = grid_of(self.station.cards[0].grad)
        grids = (self.kernel, self.input, self.output)
        if any(grid is None or len(grid.shape) != 4 for grid in grids):
            return False
        assert self.kernel is not None and self.input is not None and self.output is not None
        self.transposed = str(saved_value(self.station, "transposed")) == "True"
        inner = self.kernel.shape[1]
        groups = int(str(saved_value(self.station, "groups") or 1))
        own = self.kernel.shape[0] // groups  # of a group; a transposed one has its inputs there
        # The plane of the kernel and that of the input for each channel of the output that can be chosen.
        if self.transposed:
            pairs = [(i, 0) for i in range(inner)]
        else:
            pairs = [(i * inner, i // own * inner) for i in range(self.kernel.shape[0])]
        known = len(self.kernel.planes), self.input.count
        self.pairs = [p for p in pairs if p[0] < known[0] and p[1] < known[1]][: self.output.count]
        return self.kernel.whole and len(self.pairs) > 0

    def title(self) -> str:
        assert self.kernel is not None
        return self.say(
            self.key, name=station_name(self.station), shape="×".join(map(str, self.kernel.shape))
        )

    def of_channels(self, grid: Grid) -> list[Any]:
        """A plane for each output channel that can be chosen."""
        return planes_of(grid, len(self.pairs))

    def kernels(self, grid: Grid) -> list[Any]:
        """Of the kernel, or of its gradient, the plane for each output channel that can be chosen."""
        return [grid.plane(i) for i, _ in self.pairs]

    def thumbs(self) -> Sequence[Any]:
        assert self.kernel is not None
        return self.kernels(self.kernel)

    def panels(self) -> list[Panel]:
        assert self.kernel is not None and self.input is not None and self.output is not None
        grad = None if self.kernel_grad is None else self.kernels(self.kernel_grad)
        kernels = self.kernels(self.kernel)
        spots = [largest_magnitude(plane) for plane in grad or kernels]
        images = [self.input.plane(i) for _, i in self.pairs]
        windows, outputs = [self.window(spot) for spot in spots], self.of_channels(self.output)
        seen, made = ((), windows) if self.transposed else (windows, ())
        found = [
            Panel(self.say("subject_kernel"), kernels, scale_of(*kernels), marks=spots),
            Panel(self.say("subject_input"), images, scale_of(*images), marks=seen),
            Panel(self.say("subject_output"), outputs, scale_of(*outputs), marks=made),
        ]
        if self.came is not None and self.came.planes.shape == self.output.planes.shape:
            came = self.of_channels(self.came)
            title = "g = ∂L/∂output"
            found.append(Panel(title, came, scale_of(*came), True, marks=made, between="⊙"))
        if grad is not None:
            title = self.say("subject_kernel_grad")
            found.append(Panel(title, grad, scale_of(*grad), True, marks=spots, between="→"))
        return found

    def window(self, spot: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """The part of the input that a number of the kernel saw, clipped to the image; of a transposed
        convolution the part of the output to which it led."""
        assert self.input is not None and self.output is not None
        image, output = (self.output, self.input) if self.transposed else (self.input, self.output)
        stride = saved_numbers(self.station, "stride") or (1, 1)
        padding = saved_numbers(self.station, "padding") or (0, 0)
        dilation = saved_numbers(self.station, "dilation") or (1, 1)
        bounds = []
        for d, step in ((0, image.down), (1, image.across)):
            first = spot[d] * dilation[d % len(dilation)] - padding[d % len(padding)]
            last = first + (output.shape[2 + d] - 1) * stride[d % len(stride)] + 1
            first, last = max(0.0, first), min(float(image.shape[2 + d]), last)
            bounds.append((first / step, max(1.0, (last - first) / step)))
        (row, high), (column, wide) = bounds
        return row, column, high, wide

    def readout(self) -> list[str]:
        if self.kernel_grad is None:
            return []
        row, column, _, _ = largest_magnitude(self.kernels(self.kernel_grad)[0])
        value = short(float(self.kernel_grad.plane(0)[int(row), int(column)]))
        return [
            self.say("subject_led_1" if self.transposed else "subject_saw_1"),
            self.say("subject_led_2" if self.transposed else "subject_saw_2"),
            f"[0, 0, {row:.0f}, {column:.0f}]: {value}",
        ]


class Lookup(Subject):
    """The rows of an embedding that were used, with their gradients."""

    key = "subject_lookup"
    ROWS = 10

    def fits(self) -> bool:
        if op(self.station) != "embedding":
            return False
        indices = saved_value(self.station, "indices")
        self.rows = grid_of(self.station.cards[0].value)
        self.back = grid_of(self.station.cards[0].grad)
        ids = grid_of(indices) if isinstance(indices, Value) and indices.shape else None
        if ids is None or self.rows is None or self.rows.down > 1 or ids.across > 1:
            return False
        self.ids = [int(n) for n in ids.plane(0)[0].tolist()][: self.ROWS]
        return len(self.ids) > 0 and self.rows.planes.shape[1] >= len(self.ids)

    def title(self) -> str:
        weight = self.parts.parameter(self.station, "weight")
        size = "?" if weight is None or weight.value is None else weight.value.shape[0]
        return self.say(self.key, used=len(set(self.ids)), size=size)

    def panels(self) -> list[Panel]:
        assert self.rows is not None
        n = len(self.ids)
        tokens = self.parts.tokens if len(self.parts.tokens) == self.rows.shape[-2] else ()
        distinct = len(set(tokens)) == len(set(self.ids)) if n == len(tokens) else False
        names = [f"{tokens[i]} {id}" if tokens and distinct else str(id) for i, id in enumerate(self.ids)]
        plane = self.rows.plane(0)[:n]
        found = [Panel(self.say("subject_rows"), [plane], scale_of(plane), tokens=(names, ()))]
        if self.back is not None and self.back.planes.shape == self.rows.planes.shape:
            grad = self.back.plane(0)[:n]
            found.append(Panel(self.say("subject_rows_back"), [grad], scale_of(grad), True))
        return found

    def readout(self) -> list[str]:
        twice = sorted({id for id in self.ids if self.ids.count(id) > 1})
        return [self.say("subject_twice", rows=", ".join(map(str, twice)))] if twice else []


class Normalization(Subject):
    """The distribution of the numbers before and after a normalization."""

    key = "subject_normalization"
    OPS = ("nativelayernorm", "nativebatchnorm", "nativegroupnorm")
    WIDE, HIGH = 190.0, 54.0

    def fits(self) -> bool:
        if op(self.station) not in self.OPS:
            return False
        before, after = saved_value(self.station, "input"), self.station.cards[0].value
        self.values = before, after
        return all(isinstance(v, Value) and v.rms is not None and bins_of(v) for v in self.values)

    def readout(self) -> list[str]:
        return []

    def facts(self, value: Value) -> str:
        """Mean and standard deviation, as far as the histogram tells."""
        bins, low, high = bins_of(value), value.low or 0.0, value.high or 0.0
        width = (high - low) / len(bins)
        mean = sum(n * (low + width * (i + 0.5)) for i, n in enumerate(bins)) / max(1, sum(bins))
        if value.items is not None:
            mean = math.fsum(value.items) / len(value.items)
        spread = math.sqrt(max(0.0, (value.rms or 0.0) ** 2 - mean**2))
        mean = 0.0 if abs(mean) < 0.02 * spread else mean
        return self.say("subject_mean", mean=short(mean), std=short(spread))

    def outline_facts(self) -> list[str]:
        before, after = self.values
        assert isinstance(before, Value) and isinstance(after, Value)
        return [
            f"{self.say('subject_before')} {self.facts(before)}",
            f"{self.say('subject_after')} {self.facts(after)}",
        ]

    @property
    def stacked(self) -> bool:
        """Whether one distribution is below the other."""
        return self.room < 2 * self.WIDE + 80

    @property
    def size(self) -> tuple[float, float]:
        high = self.HIGH + 66
        return (self.WIDE + 20, 2 * high + 24) if self.stacked else (2 * self.WIDE + 80, high + 24)

    def draw(self, x: float, y: float, prefix: str) -> str:
        parts = [f"<title>{xml(self.describe())}</title>", self.title_label(x, y)]
        known = [v for v in self.values if isinstance(v, Value)]
        low, high = min(v.low or 0.0 for v in known), max(v.high or 0.0 for v in known)
        for i, (key, value) in enumerate(zip(("subject_before", "subject_after"), known, strict=True)):
            left, top = (x, y + (self.HIGH + 66) * i) if self.stacked else (x + (self.WIDE + 60) * i, y)
            base = top + 44 + self.HIGH
            head = text_label(self.say(key), left, top + 34, "name")
            first = (value.low or 0.0) - low
            span = high - low or 1.0
            at, wide = (
                left + self.WIDE * first / span,
                self.WIDE * ((value.high or 0.0) - (value.low or 0.0)) / span,
            )
            inner = histogram(value, at, base, max(wide, 20.0), self.HIGH - 8)
            zero = left + self.WIDE * -low / span
            inner = (
                f'{head}<g class="bar">{inner}</g><path class="axis" d="M{num(left)} {num(base)}'
                f'h{num(self.WIDE)}M{num(zero)} {num(base)}v{num(8 - self.HIGH)}"/>'
                f"{middle('0', zero, base + 14)}{text_label(self.facts(value), left, base + 30, 'say')}"
            )
            parts.append(moment(inner, self.station.id, False))
            if not i and not self.stacked:
                parts.append(middle("→", left + self.WIDE + 30, base - self.HIGH / 2, "between"))
        return (
            f'<g class="subject of-{self.station.id}" role="img" aria-label="{xml(self.describe())}">'
            f"{''.join(parts)}</g>"
        )


class Mask(Subject):
    """What a ReLU set to 0, and what comes back through the rest."""

    key, choice = "subject_relu", "subject_channel"

    def fits(self) -> bool:
        self.output = grid_of(self.station.cards[0].value)
        if self.output is not None and len(self.output.shape) < 4:
            self.choice = "subject_sample"
        return op(self.station) == "relu" and self.output is not None

    def title(self) -> str:
        value = self.station.cards[0].value
        assert value is not None
        return self.say(self.key, share=f"{zeros_of(value):.0%}")

    def thumbs(self) -> Sequence[Any]:
        assert self.output is not None
        return planes_of(self.output, self.output.count)

    def panels(self) -> list[Panel]:
        assert self.output is not None
        n = self.output.count
        masks = [(plane > 0) * 1.0 for plane in planes_of(self.output, n)]
        found = [
            Panel(self.say("subject_output"), planes_of(self.output, n), scale_of(self.output.planes)),
            Panel(self.say("subject_mask"), masks, 1.0, said=self.say("subject_passes")),
        ]
        for title, value, sign in (
            (self.say("subject_arrives"), self.station.cards[0].grad, "⊙"),
            (self.say("subject_leaves"), self.parts.sent(self.station), "="),
        ):
            grid = grid_of(value)
            if grid is not None and grid.planes.shape == self.output.planes.shape:
                found.append(Panel(title, planes_of(grid, n), scale_of(grid.planes), True, between=sign))
        return found


class MaxPool(Subject):
    """The largest number of each window, which alone receives the gradient."""

    key, choice = "subject_max_pool", "subject_channel"

    def fits(self) -> bool:
        if not op(self.station).startswith("maxpool2d"):
            return False
        self.input, self.output = (
            grid_of(saved_value(self.station, "self")),
            grid_of(self.station.cards[0].value),
        )
        self.winners = grid_of(saved_value(self.station, "result1"))
        grids = (self.input, self.output, self.winners)
        return all(grid is not None and grid.whole for grid in grids)

    @property
    def count(self) -> int:
        """How many channels can be chosen."""
        return min(g.count for g in (self.input, self.output, self.winners) if g is not None)

    def thumbs(self) -> Sequence[Any]:
        assert self.input is not None
        return planes_of(self.input, self.count)

    def panels(self) -> list[Panel]:
        assert self.input is not None and self.output is not None and self.winners is not None
        n, shape = self.count, self.input.planes.shape[1:]
        masks = []
        for i in range(n):
            mask = np.zeros(shape[0] * shape[1])
            mask[self.winners.plane(i).reshape(-1).astype(int)] = 1.0
            masks.append(mask.reshape(shape))
        found = [
            Panel(self.say("subject_input"), planes_of(self.input, n), scale_of(self.input.planes)),
            Panel(self.say("subject_winners"), masks, 1.0, said=self.say("subject_passes")),
            Panel(
                self.say("subject_output"),
                planes_of(self.output, n),
                scale_of(self.output.planes),
                between="→",
            ),
        ]
        for title, value, like in (
            (self.say("subject_arrives"), self.station.cards[0].grad, self.output),
            (self.say("subject_leaves"), self.parts.sent(self.station), self.input),
        ):
            grid = grid_of(value)
            if grid is not None and grid.planes.shape[1:] == like.planes.shape[1:] and grid.count >= n:
                found.append(Panel(title, planes_of(grid, n), scale_of(grid.planes), True))
        return found


SUBJECTS: list[type[Subject]] = [Attention, Classes, Convolution, Lookup, Normalization, MaxPool, Mask]
MOST = 2  # subjects of one detail
LINES = 16  # of an outline


def subjects_of(detail: Detail, lang: str | None) -> list[Subject]:
    """What a detail has pictures of, at most `MOST`."""
    parts = Parts(detail)
    found = (kind.find(parts, lang) for kind in SUBJECTS)
    return [subject for subject in found if subject is not None][:MOST]


def subject_lines(strip: Strip, lang: str | None) -> list[str]:
    """The pictures of the subject in all that can be opened in a strip, in words."""
    lines = [
        f"{way}: {subject.outline()}"
        for _, way, detail in opened_cards(strip) for subject in subjects_of(detail, lang)
    ]  # fmt: skip
    return lines[:LINES]
