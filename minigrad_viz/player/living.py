"""Live values for a player: which numbers of a picture can be changed, and what then stands where.

A score with live values has

    live    {"handles": [handle, …], "root": [name, text, value] or null, "states": {name: packed states},
             "left": [name, …] (of handles without states on the page), "words": {…}}
    handle  {"name", "leaf", "card" (its id in the picture), "value", "dtype", "xs": [value, …],
             "ys": [root, …], "cell": [text of the value, text of the gradient, gradient],
             "edit": [line, before, after] or null, "ends": [what is said below the first
             of xs, and above the last ("": nothing)]}
    state   {"at": [text of the value, of the root, of the gradient, root, gradient],
             "rows": {row: [what it says in the end, at each moment … as SVG]},
             "said": {chip, slot or pill: [line, …]}, "steps": {step: [text, lines, main]}}

where `rows`, `said` and `steps` have what differs from the cell. Packed states are those of all `xs`, see
`columns`; each entry of a state is JSON there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from ..drawing.boxes import Measured, measure
from ..drawing.heat import Heat
from ..drawing.picture import Picture
from ..drawing.rows import CardRow
from ..numbers import number
from ..replay.live import Handle, Live, Refused
from ..steps.timeline import Frame
from ..trace.events import Trace
from ..trace.graph import Graph
from ..words import templates, text
from .columns import stored
from .leaf_handles import card_of, ends, handles_in, root_of, root_told
from .score import line_to_json, packed, said_of, telling

Only = Container[int] | None  # numbers of steps, from 1; None: all
Remake = Callable[[Trace], tuple[Graph, Callable[[Only], Sequence[Frame]]]]  # a trace's graph, and its steps
T = TypeVar("T")

AROUND = 20  # numbers of a grid on either side of the cell's
STORED = 60_000  # characters of all packed states
STATIONS, MOST = 150, 12  # stations of all handles together, and handles, for which a grid is made
PATIENCE = 0.06  # seconds in which a kernel computes states that nobody may need
NICE = (1.0, 2.0, 2.5, 5.0)  # the steps of a grid, times a power of ten


@dataclass(frozen=True, slots=True)
class Shown:
    """What a picture says: rows as SVG, other texts line by line, steps."""

    rows: dict[str, list[str]]
    said: dict[str, list[str]]
    steps: list[list[Any]]


class Living:
    """The numbers of one picture that can be changed. `remake` makes the graph and the steps of a trace."""

    def __init__(self, live: Live, picture: Picture, frames: Sequence[Frame], remake: Remake) -> None:
        self.live, self.picture, self.remake = live, picture, remake
        self.sizes = measure(picture.graph, picture.look)
        self.own = Shown(*texts_of(self.sizes, self.sizes), steps_of(frames))
        self.handles = list(handles_in(live, picture.graph))

    def state(self, handle: Handle, numbers: Mapping[str, float], only: Only = None) -> dict[str, Any]:
        """What differs from the cell with these numbers by name, and what then stands at a handle; of the
        steps all, or `only` some. Refused as `Live.at`."""
        graph, frames = self.remake(self.live.at(numbers))
        rows, said = texts_of(measure(graph, self.picture.look), self.sizes)
        made = dict(enumerate(steps_of(frames(only)), 1))
        own = dict(enumerate(self.own.steps, 1))
        told = {str(i): now for i, now in made.items() if (only is None or i in only) and now != own.get(i)}
        return {
            "at": ends(graph, handle),
            "rows": different(rows, self.own.rows),
            "said": different(said, self.own.said),
            "steps": told if len(made) == len(own) else None,
        }

    def root(self, handle: Handle, numbers: Mapping[str, float]) -> float | None:
        """The root with these numbers by name. Refused as `Live.at`."""
        return ends(self.remake(self.live.at(numbers))[0], handle)[3]

    def grid(
        self, handle: Handle, at: Callable[[Handle, Mapping[str, float]], T], others: Mapping[str, float]
    ) -> tuple[list[float], list[T], list[str]]:
        """The numbers around the cell's that a handle can have beside `others`, what `at` gives for each, and
        what is to be said below the first and above the last of them ("" where nothing hinders)."""
        own = handle.value
        xs, states, said = [own], [at(handle, {**others, handle.name: own})], ["", ""]
        for side, sign in enumerate((-1, 1)):
            for value in around(handle.value, sign):
                try:
                    state = at(handle, {**others, handle.name: value})
                except Refused as refused:
                    said[side] = self.turning(handle, value, others) or str(refused)
                    break
                place = 0 if sign < 0 else len(xs)
                xs.insert(place, value)
                states.insert(place, state)
        return xs, states, said

    def turning(self, handle: Handle, value: float, others: Mapping[str, float]) -> str:
        """Where a branch of the cell changes before it comes to a number; "" if none does."""
        branch = self.live.branch(handle.name, value, others)
        if branch is None:
            return ""
        at = number(branch.far, handle.dtype)
        return text("live_branch", self.live.lang, line=branch.line, name=handle.name, value=at)

    def told(
        self, handle: Handle, xs: Sequence[float], ys: Sequence[float | None], said: Sequence[str]
    ) -> Any:
        """A handle as the player knows it."""
        card = card_of(self.picture.graph, handle)
        value, _, said_grad, _, grad = ends(self.picture.graph, handle)
        edit = self.live.written(handle)
        return {
            "name": handle.name, "leaf": handle.leaf, "card": card[0], "value": handle.value,
            "dtype": handle.dtype, "xs": list(xs), "ys": list(ys), "cell": [value, said_grad, grad],
            "edit": None if edit is None else list(edit), "ends": list(said),
        }  # fmt: skip

    def score(self) -> dict[str, Any] | None:
        """The part of a score that needs no kernel, as much as may be stored; None without any handle."""
        handles, states, room = [], {}, STORED
        for handle in self.handles[: max(1, min(MOST, STATIONS // max(1, len(self.own.said) // 2)))]:
            xs, found, said = self.grid(handle, self.state, {})
            told = self.packed(found)
            if len(told) > room:
                told = self.packed([{**state, "steps": None} for state in found])
            if len(xs) == 1 or len(told) > room:
                continue
            room -= len(told)
            handles.append(self.told(handle, xs, [state["at"][3] for state in found], said))
            states[handle.name] = told
        left = [handle.name for handle in self.handles if handle.name not in states]
        return self.scored(handles, states, left) if handles else None

    def asked(self) -> dict[str, Any]:
        """The part of a score for a kernel, which computes grids and states when a reader asks for them."""
        return self.scored([self.told(handle, [], [], ["", ""]) for handle in self.handles])

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What a kernel says when a reader asks for the `grid` of a handle beside other `numbers`, or for the
        states with `xs` at the handle, `only` with the step that is shown: the first, and the next as far as
        there is time."""
        handle = next(handle for handle in self.handles if handle.name == question["name"])
        numbers = {name: float(value) for name, value in question["numbers"].items()}
        if question["grid"]:
            try:
                return {"grid": self.told(handle, *self.grid(handle, self.root, numbers))}
            except Refused as refused:
                return {"refused": str(refused)}
        end = time.monotonic() + PATIENCE
        states: list[Any] = []
        for x in question["xs"]:
            if states and time.monotonic() > end:
                break
            at = {**numbers, handle.name: float(x)}
            try:
                states.append({"state": self.state(handle, at, question["only"])})
            except Refused as refused:
                states.append({"refused": str(refused)})
        return {"states": states}

    def packed(self, states: Sequence[dict[str, Any]]) -> str:
        """States as they are stored."""
        own = {"rows": self.own.rows, "said": self.own.said}
        own["steps"] = {str(i): step for i, step in enumerate(self.own.steps, 1)}
        whole = all(state["steps"] is not None for state in states)
        kinds = [kind for kind in own if whole or kind != "steps"]
        ids = {kind: dict.fromkeys(id for state in states for id in state[kind]) for kind in kinds}
        written = [
            {kind: {id: dumped(state[kind].get(id, own[kind][id])) for id in ids[kind]} for kind in kinds}
            | {"at": {"": dumped(state["at"])}}
            for state in states
        ]
        return packed({**stored(written), "whole": whole})

    def scored(
        self, handles: list[Any], states: Mapping[str, str] = MappingProxyType({}), left: Sequence[str] = ()
    ) -> dict[str, Any]:
        """The same with these handles, of which those on a page have `states`."""
        root = root_of(self.picture.graph)
        return {
            "handles": handles,
            "root": None if root is None else root_told(root),
            "states": dict(states),
            "left": list(left),
            "words": templates(WORDS, self.live.lang),
        }


WORDS = (
    "live", "live_drag", "live_fine", "live_cell", "live_now", "live_off",
    "live_pick", "live_reset", "live_write", "live_written", "live_short", "live_own", "live_at", "live_head",
    "live_curve", "live_slope", "live_foretold", "live_foretold_all", "live_line",
    "live_alone", "live_left_out", "live_stays",
)  # fmt: skip


def around(value: float, sign: int) -> list[float]:
    """The numbers of a grid on one side of a number."""
    size = max(abs(value), 1.0) * 0.9 / AROUND
    power = 10.0 ** int(f"{size:e}".partition("e")[2])
    step = max(nice * power for nice in NICE if nice * power <= size * 1.0000001)
    return [float(f"{value + sign * i * step:.12g}") for i in range(1, AROUND + 1)]


# ── texts ───────────────────────────────────────────────────────────────────────────────────────────────────


def texts_of(sizes: Measured, own: Measured) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What rows say in the end and at each moment, as SVG, and what chips, slots and pills say. `own` are the
    sizes of the cell's picture, which has the places and the scales."""
    places = {id: (card, row) for id, card, row in own.rows()}
    rows = {}
    for id, _, row in sizes.rows():
        if id in places:
            card, mine = places[id]
            x = card.x + card.values_x
            moments = (clipped(each, mine, own.scales) for each in (row, *row.others))
            rows[id] = [each.content(x, own.scales) for each in moments]
    said = {f"{id}-p": list(pill.lines) for id, pill in sizes.pills.items()}
    for id, box in sizes.boxes.items():
        if box.deck is not None:
            said |= {f"{id}-k{n}": [chip.text] for n, chip in enumerate(box.deck.chips)}
            said |= {f"{slot.route}-s": [slot.text] for slot in box.deck.slots if slot.route}
            said |= {f"{id}-total": [f"= {box.deck.total}"]} if box.deck.total else {}
    return rows, said


def clipped(row: CardRow, place: CardRow, scales: dict[str, float]) -> CardRow:
    """A row at the place of another, with maps that stay within its scales."""
    return replace(row, y=place.y, heats=tuple(within(heat, scales.get(heat.of, 0.0)) for heat in row.heats))


def within(heat: Heat, scale: float) -> Heat:
    """A map whose numbers stay within a scale."""
    items = tuple(max(-scale, min(scale, item)) for item in heat.value.items or ())
    return replace(heat, value=heat.value._replace(items=items))


def steps_of(frames: Sequence[Frame]) -> list[list[Any]]:
    """Of each step what it says: sentence, lines of arithmetic, and which of them says most."""
    told = []
    for frame in frames:
        lines = said_of(frame)
        told.append([frame.text, [line_to_json(line) for line in lines], telling(lines)])
    return told


def different(now: dict[str, Any], was: dict[str, Any]) -> dict[str, Any]:
    """What says something else."""
    return {id: told for id, told in now.items() if id in was and told != was[id]}


def dumped(entry: Any) -> str:
    """An entry of a state as JSON, with its signs as they are."""
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
