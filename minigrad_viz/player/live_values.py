"""Live values for a player: which numbers of a picture can be changed, what the picture then shows,
and training that goes on.

From state to state only numbers change: the states are a table of texts (see `texts`). A score with live
values has

    live    {"handles": [handle, …], "root": [name, text, value] or null, "states": {name: packed states},
             "left": [name, …] (of handles without states on the page), "words": {…}}
    handle  {"name", "leaf", "card" (its id in the picture), "value", "dtype", "xs": [value, …],
             "ys": [root, …], "cell": [text of the value, text of the gradient, gradient],
             "edit": [line, before, after] or null, "ends": [what is said below the first
             of xs, and above the last ("": nothing)]}
    state   {"at": [text of the value, of the root, of the gradient, root, gradient],
             "rows": {row: [what it says in the end, at each moment … as SVG]},
             "said": {chip, slot or pill: [line, …]}, "steps": {step: [text, lines, main]}}

where `rows`, `said` and `steps` have what differs from the cell. Packed states are those of all `xs`, a
table in which each entry of a state is JSON.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

from ..drawing.boxes import Measurements, measure
from ..drawing.card_parts import CardRow
from ..drawing.heat_maps import Heat
from ..drawing.picture import Picture
from ..drawing.strip_pictures import StripPicture
from ..model.strip import Strip
from ..number_text import number
from ..protocol import Value, finite
from ..replay.live import Handle, Live, ReplayRefusal
from ..replay.training import Training, movable_numbers, slice_of
from ..steps.frames import Frame
from ..trace.events import Trace
from ..trace.graph import ROOT, Card, Graph
from ..words import templates, text
from .score import line_to_json, main_line, pack_json, step_lines
from .texts import store_states

# ─── The handles of a picture


def handles_in(live: Live, graph: Graph) -> list[Handle]:
    """The handles of leaves that a picture shows, as long as they have the cell's number there."""
    found = []
    for handle in live.handles.values():
        card = next((c for _, c in graph.cards() if c.id == handle.id and c.is_leaf), None)
        if card is not None and item(card.value, handle) == handle.value:
            found.append(handle)
    return found


def card_of(graph: Graph, handle: Handle) -> tuple[str, Card]:
    """The leaf of a handle in a picture, with its id there."""
    for station in graph.stations:
        for i, card in enumerate(station.cards):
            if card.id == handle.id:
                return f"{station.id}-c{i}", card
    raise KeyError(handle.name)


def whole_graph(shown: Graph | Strip) -> Graph:
    """The graph with all leaves: of a strip with those inside of its cards."""
    return shown.whole if isinstance(shown, Strip) else shown


def single_root(graph: Graph) -> Card | None:
    """The root of a picture, if it is one number."""
    roots = [card for _, card in graph.cards() if card.role == ROOT]
    return roots[0] if len(roots) == 1 and roots[0].value is not None and roots[0].value.size == 1 else None


def ends(graph: Graph, handle: Handle) -> list[Any]:
    """The table of a handle: the texts of its value, of the root and of its gradient; the root
    and the gradient as numbers (None: there is none)."""
    card, root = card_of(graph, handle)[1], single_root(graph)
    value, grad = item(card.value, handle), item(card.grad, handle)
    said = number(value, handle.dtype) if value is not None else ""
    slope = "None" if grad is None else number(grad, handle.dtype)
    found = None if root is None else root.value
    return [said, number_label(found), slope, finite(found), real(grad)]


def root_entry(root: Card) -> list[Any]:
    """The root: what it is called, and its value as text and as a number."""
    return [root.name or root.letter or "", number_label(root.value), finite(root.value)]


def item(value: Value | None, handle: Handle) -> float | None:
    """The element of a value at the place of a handle."""
    if value is None or value.items is None:
        return None
    at = 0
    for size, index in zip(value.shape, handle.place, strict=True):
        at = at * size + index
    return float(value.items[at])


def real(value: float | None) -> float | None:
    """A number that JSON has."""
    return value if value is not None and abs(value) < float("inf") else None


def number_label(value: Value | None) -> str:
    """A single number as text."""
    return "" if value is None or not value.items else number(value.items[0], value.dtype)


# ─── Live values for a player


Only = Container[int] | None  # numbers of steps, from 1; None: all
Shown = Graph | Strip  # what a picture shows
Remake = Callable[
    [Trace], tuple[Shown, Callable[[Only], Sequence[Frame]]]
]  # what a trace shows, and its steps
T = TypeVar("T")

AROUND, LEAST = 20, 5  # numbers of a grid on either side of the cell's, and the fewest
WORK = 480  # operations of a cell times its handles times these, beyond which a page has fewer numbers
STORED = 60_000  # characters of all packed states
STATIONS, MOST_VALUES = 150, 12  # stations of all handles together, and handles, for which a grid is made
NAMED_LEFT = 6  # of what has no states on the page
PATIENCE = 0.06  # seconds in which a kernel computes states that nobody may need
NICE = (1.0, 2.0, 2.5, 5.0)  # the steps of a grid, times a power of ten


@dataclass(frozen=True, slots=True)
class PictureTexts:
    """What a picture says: rows as SVG, other texts line by line, steps."""

    rows: dict[str, list[str]]
    said: dict[str, list[str]]
    steps: list[list[Any]]


class LivePicture:
    """The numbers of one picture that can be changed. `remake` makes what a trace shows, and its steps."""

    def __init__(self, live: Live, picture: Picture, frames: Sequence[Frame], remake: Remake) -> None:
        self.live, self.picture, self.remake = live, picture, remake
        shown = picture.strip if isinstance(picture, StripPicture) else picture.graph
        self.whole = whole_graph(shown)
        self.own = PictureTexts(*self.texts(shown), steps_of(frames))
        self.handles = list(handles_in(live, self.whole))

    @cached_property
    def sizes(self) -> Measurements:
        """The sizes of all that a picture without a strip has."""
        return self.picture.measured()

    def texts(self, shown: Shown) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """What rows and other texts of the picture say where it shows other numbers, see `texts_of`."""
        picture = self.picture
        if isinstance(shown, Graph):
            return texts_of(measure(shown, picture.look), self.sizes)
        assert isinstance(picture, StripPicture)
        return {id: [svg] for id, svg in picture.with_numbers_of(shown).texts().items()}, {}

    def state(self, handle: Handle, numbers: Mapping[str, float], only: Only = None) -> dict[str, Any]:
        """The texts that change with these numbers, by name, and the text at a handle; of all steps, or of
        `only` some. Refused as `Live.at`."""
        shown, frames = self.remake(self.live.at(numbers))
        rows, said = self.texts(shown)
        made = dict(enumerate(steps_of(frames(only)), 1))
        own = dict(enumerate(self.own.steps, 1))
        told = {str(i): now for i, now in made.items() if (only is None or i in only) and now != own.get(i)}
        return {
            "at": ends(whole_graph(shown), handle),
            "rows": different(rows, self.own.rows),
            "said": different(said, self.own.said),
            "steps": told if len(made) == len(own) else None,
        }

    def state_without_steps(self, handle: Handle, numbers: Mapping[str, float]) -> dict[str, Any]:
        """The same without what the steps say."""
        return {**self.state(handle, numbers, only=()), "steps": None}

    def root(self, handle: Handle, numbers: Mapping[str, float]) -> float | None:
        """The root with these numbers by name. Refused as `Live.at`."""
        return ends(whole_graph(self.remake(self.live.at(numbers))[0]), handle)[3]

    def grid(
        self,
        handle: Handle,
        at: Callable[[Handle, Mapping[str, float]], T],
        others: Mapping[str, float],
        around: int = AROUND,
    ) -> tuple[list[float], list[T], list[str]]:
        """The numbers around the cell's that a handle can have beside `others`, what `at` gives for each, and
        what is to be said below the first and above the last of them ("" where nothing hinders)."""
        own = handle.value
        xs, states, said = [own], [at(handle, {**others, handle.name: own})], ["", ""]
        for side, sign in enumerate((-1, 1)):
            for value in grid_numbers(handle.value, sign, around):
                try:
                    state = at(handle, {**others, handle.name: value})
                except ReplayRefusal as refused:
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

    def place(self, handle: Handle) -> str:
        """The id of the leaf of a handle in the picture; of a leaf inside a box that of the box."""
        id = card_of(self.whole, handle)[0]
        station = id.partition("-")[0]
        folds = (fold.station for fold in self.picture.graph.folds if station in fold.members)
        around = next(folds, None) if isinstance(self.picture, StripPicture) else None
        return id if around is None else f"{around}-c0"

    def told(
        self, handle: Handle, xs: Sequence[float], ys: Sequence[float | None], said: Sequence[str]
    ) -> Any:
        """A handle as the player knows it."""
        value, _, said_grad, _, grad = ends(self.whole, handle)
        edit = self.live.written(handle)
        return {
            "name": handle.name, "leaf": handle.leaf, "card": self.place(handle), "value": handle.value,
            "dtype": handle.dtype, "xs": list(xs), "ys": list(ys), "cell": [value, said_grad, grad],
            "edit": None if edit is None else list(edit), "ends": list(said),
        }  # fmt: skip

    def score(self) -> dict[str, Any] | None:
        """The part of a score that needs no kernel, as much as may be stored; None without any handle. Each
        state is the cell, computed and drawn again, so a long cell has fewer states."""
        handles, states, room, with_steps = [], {}, STORED, True
        operations = max(1, len(self.live.program.steps))
        many = min(MOST_VALUES, STATIONS // max(1, len(self.own.said) // 2), WORK // (operations * LEAST))
        chosen = self.handles[: max(1, many)]
        around = WORK // (operations * max(1, len(chosen)))
        for handle in chosen:
            at = self.state if with_steps else self.state_without_steps
            xs, found, said = self.grid(handle, at, {}, max(LEAST, min(AROUND, around)))
            told = self.packed(found)
            if len(told) > room:
                with_steps = False  # those of the handles that follow are not made for nothing
                told = self.packed([{**state, "steps": None} for state in found])
            if len(xs) == 1 or len(told) > room:
                continue
            room -= len(told)
            handles.append(self.told(handle, xs, [state["at"][3] for state in found], said))
            states[handle.name] = told
        return self.scored(handles, states, self.left_out(states)) if handles else None

    def left_out(self, states: Container[str]) -> list[str]:
        """What has no states on the page: elements, or a leaf of which no element has any; not all names."""
        some = {handle.leaf for handle in self.handles if handle.name in states}
        left = dict.fromkeys(
            handle.name if handle.leaf in some else handle.leaf
            for handle in self.handles
            if handle.name not in states
        )
        return [*left][:NAMED_LEFT] + ["…"] * (len(left) > NAMED_LEFT)

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
            except ReplayRefusal as refused:
                return {"refused": str(refused)}
        end = time.monotonic() + PATIENCE
        states: list[Any] = []
        for x in question["xs"]:
            if states and time.monotonic() > end:
                break
            at = {**numbers, handle.name: float(x)}
            try:
                states.append({"state": self.state(handle, at, question["only"])})
            except ReplayRefusal as refused:
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
            {kind: {id: entry_json(state[kind].get(id, own[kind][id])) for id in ids[kind]} for kind in kinds}
            | {"at": {"": entry_json(state["at"])}}
            for state in states
        ]
        return pack_json({**store_states(written), "whole": whole})

    def scored(
        self, handles: list[Any], states: Mapping[str, str] = MappingProxyType({}), left: Sequence[str] = ()
    ) -> dict[str, Any]:
        """The same with these handles, of which those on a page have `states`."""
        root = single_root(self.whole)
        return {
            "handles": handles,
            "root": None if root is None else root_entry(root),
            "states": dict(states),
            "left": list(left),
            "words": templates(LIVE_WORDS, self.live.lang),
        }


LIVE_WORDS = (
    "live", "live_drag", "live_fine", "live_cell", "live_now", "live_off",
    "live_pick", "live_reset", "live_write", "live_written", "live_short", "live_own", "live_at", "live_head",
    "live_curve", "live_slope", "live_foretold", "live_foretold_all", "live_line",
    "live_alone", "live_left_out", "live_stays",
)  # fmt: skip


def grid_numbers(value: float, sign: int, around: int = AROUND) -> list[float]:
    """The numbers of a grid on one side of a number, so many."""
    size = max(abs(value), 1.0) * 0.9 / around
    power = 10.0 ** int(f"{size:e}".partition("e")[2])
    step = max(nice * power for nice in NICE if nice * power <= size * 1.0000001)
    return [float(f"{value + sign * i * step:.12g}") for i in range(1, around + 1)]


# ── texts ───────────────────────────────────────────────────────────────────────────────────────────────────


def texts_of(sizes: Measurements, own: Measurements) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What rows say in the end and at each moment, as SVG, and what chips, slots and pills say. `own` are the
    sizes of the cell's picture, which has the places and the scales."""
    places = {id: (card, row) for id, card, row in own.rows()}
    rows = {}
    for id, _, row in sizes.rows():
        if id in places:
            card, mine = places[id]
            x = card.x + card.values_x
            moments = (clip_row(each, mine, own.scales) for each in (row, *row.others))
            rows[id] = [each.content(x, own.scales) for each in moments]
    said = {f"{id}-p": list(pill.lines) for id, pill in sizes.pills.items()}
    for id, box in sizes.boxes.items():
        if box.deck is not None:
            said |= {f"{id}-k{n}": [chip.text] for n, chip in enumerate(box.deck.chips)}
            said |= {f"{slot.route}-s": [slot.text] for slot in box.deck.slots if slot.route}
            said |= {f"{id}-total": [f"= {box.deck.total}"]} if box.deck.total else {}
    return rows, said


def clip_row(row: CardRow, place: CardRow, scales: dict[str, float]) -> CardRow:
    """A row at the place of another, with maps that stay within its scales."""
    return replace(
        row, y=place.y, heats=tuple(heat_within(heat, scales.get(heat.of, 0.0)) for heat in row.heats)
    )


def heat_within(heat: Heat, scale: float) -> Heat:
    """A map whose numbers stay within a scale."""
    items = tuple(max(-scale, min(scale, item)) for item in heat.value.items or ())
    return replace(heat, value=heat.value._replace(items=items))


def steps_of(frames: Sequence[Frame]) -> list[list[Any]]:
    """Of each step what it says: sentence, lines of arithmetic, and which of them says most."""
    told = []
    for frame in frames:
        lines = step_lines(frame)
        told.append([frame.text, [line_to_json(line) for line in lines], main_line(lines)])
    return told


def different(now: dict[str, Any], was: dict[str, Any]) -> dict[str, Any]:
    """What says something else."""
    return {id: told for id, told in now.items() if id in was and told != was[id]}


def entry_json(entry: Any) -> str:
    """An entry of a state as JSON, with its signs as they are."""
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))


# ─── The training of a cell for a player with a kernel


MOST_ROUNDS = 100  # rounds that are asked for at once
TOLD = 6  # leaves whose values are shown
TRAINING_WORDS = (
    "training", "training_more", "training_ten", "training_lr", "training_rewind", "training_known",
    "live_pick", "training_at", "training_curve", "training_slice", "training_step", "live_slope",
    "live_stays",
)  # fmt: skip


class Coach:
    """Goes on with a `training` as a reader asks; without one it says `why` there is none."""

    def __init__(self, training: Training | None, name: str, why: str = "", lang: str | None = None) -> None:
        self.training, self.name, self.why, self.lang = training, name, why, lang
        self.leaf = ""  # along which the loss is shown

    def score(self) -> dict[str, Any]:
        """The part of a score for the training: {"words", "name" (of the root), "why" (not), "state"}."""
        state = None if self.training is None else self.state(self.training)
        return {
            "words": templates(TRAINING_WORDS, self.lang),
            "name": self.name,
            "why": self.why,
            "state": state,
        }

    def state(self, training: Training) -> dict[str, Any]:
        """The state of the training: {"round", "cell" (the cell's last round), "lr", "rounds" to go back to,
        "losses": [[round, loss], …], "loss" as text, "values": [[name, text], …], "slice"}."""
        losses = [[i, loss] for i, loss in sorted(training.losses.items()) if math.isfinite(loss)]
        values = [[name, leaf_value_text(value)] for name, value in list(training.values().items())[:TOLD]]
        return {
            "round": training.round, "cell": training.cell, "lr": training.rate, "losses": losses,
            "rounds": list(training.rounds), "loss": number(training.loss), "values": values,
            "slice": self.slice(training),
        }  # fmt: skip

    def slice(self, training: Training) -> dict[str, Any] | None:
        """The loss when one number of a leaf moves: {"leaf", "leaves" that there are, "xs", "ys", "here" and
        "next": [x, root, slope], "grad": whether the slope is in the leaf's `.grad`}."""
        leaves = list(movable_numbers(training))[:MOST_ROUNDS]
        if not leaves:
            return None
        self.leaf = self.leaf if self.leaf in leaves else leaves[0]
        found = slice_of(training, self.leaf)
        if found is None:
            return None
        return {
            "leaf": self.leaf, "leaves": leaves,
            "xs": found.xs, "ys": [json_number(y) for y in found.ys],
            "here": [json_number(each) for each in found.here],
            "next": [json_number(each) for each in found.next],
            "grad": math.isclose(found.here.slope, found.grad, rel_tol=1e-5),
        }  # fmt: skip

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What a kernel says when a reader asks for `more` rounds, with a rate `lr`, to `rewind`, or for
        another `leaf`."""
        training = self.training
        if training is None:
            return {"refused": self.why}
        try:
            if "leaf" in question:
                self.leaf = str(question["leaf"])
            elif "rewind" in question:
                training.rewind(int(question["rewind"]))
            else:
                training.more(min(MOST_ROUNDS, int(question["more"])), question.get("lr"))
        except ReplayRefusal as refused:
            return {"refused": str(refused), "training": self.state(training)}
        return {"training": self.state(training)}


def json_number(value: float) -> float | None:
    """A number that JSON has."""
    return value if math.isfinite(value) else None


def leaf_value_text(value: Any) -> str:
    """The value of a leaf as text, shortened."""
    if isinstance(value, list):
        inner = [leaf_value_text(item) for item in value[:4]]
        return f"[{' '.join(inner)}{' …' if len(value) > 4 else ''}]"
    return number(value)
