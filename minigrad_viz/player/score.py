"""What the player plays: pictures with their steps, as plain data that both of its forms read.

    {"words": {…}, "theme": "auto", "source": "…", "counted": 0, "total": 1,
     "known": [[place, value], …], "loop": whether all calls are in one place,
     "shown": 0, "step": 0, "acts": [act, …]}

    act     {"label", "name" (of its root), "root" (its value, or null), "chapters": [[phase, steps], …],
             "again": true if it says what the act before says with other numbers,
             "svg", "prefix", "width", "outline", "narrow": {"svg", "prefix", "width", "stood"} where
                 another picture of it is for narrow windows,
             "widths": the same of a strip, and of what is inside a card, for windows of other widths,
             "modules" of a strip: [[path, box, …], …] the boxes to open for each, "open" those open at first,
             "updates": tables of updates with more lines than the picture has, see `update_tables`,
             "routes": [[id, source, target], …], "frames": [frame, …],
             "stood": {row: [what it says at each moment, as SVG …]},
             "panels": {box: {"title", and all of what an act has from svg on but panels, "ends": how many of
                 its steps are over at each step of the act; none: as many as of the act}}}; of
             those not shown first all after chapters may be packed in "z". An act like others has
             "table", and these have instead of all after chapters "base", its number, and "row", theirs in
             the table (see `texts`)
    frame   [phase, marks, label, text, lines, span, ready, waiting, failed, recursion, cause, shows, main,
             goal]
    lines   [[label, content, kind], …]; of kind 2 it is a formula, as `page` of
            `arithmetic.formula_tree` lists it; of kind 1 a sentence; of kind 0 words that need the label;
            of kind 3 one of many, for the details alone; of kind 4 the sentence above the formula
    main    the number, from 1, of the line that says most; 0 if none is a formula
    ready   [how many, the first of them …]
    shows   [[row, the number of its moment], …] where that differs from the step before
    waiting [[station, arrows], …] where that differs from the step before; 0 arrows: it waits no longer

`marks` are those of the Frame and, with them, the parts of a station that only then can be read: the saved
values when the op has run and when its node runs, the gradient when the node has received it.
"""

from __future__ import annotations

import base64
import itertools
import json
import re
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..arithmetic import Line
from ..arithmetic.formula_tree import page
from ..drawing.detail import DetailPicture
from ..drawing.picture import Picture
from ..drawing.strip_pictures import StripPicture
from ..drawing.update_tables import update_tables
from ..model.strip_insides import ways_to_modules
from ..protocol import finite
from ..steps.frames import IN_WORDS, Frame
from ..trace.graph import ROOT, Graph
from ..words import clean, templates
from .acts import ACTS, Act, narrow_picture, picture_content
from .texts import pieces_of, table_of

POINTS = 200  # of the curve, of the calls before those that are played, and of those after
# Lines by what a step is about, and those that are sentences.
FIRST = ("own", "chain_rule", "vjp")  # whichever of these comes first says most
LATER = ("tangent", "update", "sum", "deposit", "paths", "hook")
RANK = dict.fromkeys(FIRST, 0) | {kind: i for i, kind in enumerate(LATER, 1)}
SENTENCES = {"saved", "so_far", "start", "shared", "graph", "kept"}
BESIDE = {"why", "fix"}  # which stand above the player, under the error
LISTS = {"update", "grad", "again", "packed"}  # one line for each tensor: in the details
READY = 12  # stations of the ready queue that are named; the others are counted
WORDS = (
    "player", "first", "previous", "play", "pause", "next", "last", "slider", "speed", "source",
    "step_start", "step_click", "step_failed", "acts", "queue", "who_runs_next", "queue_now", "queue_next",
    "queue_order", "queue_none", "queue_rule", "zoom_in", "zoom_out", "zoom_fit", "full", "legend", "copy",
    "copied",
    "copied_file", "keys", "details", "close", "details_in", "details_out", "details_steps",
    "details_formula", "legend_node", "picture", "beyond_none", "menu", "row_grad", "act_previous",
    "act_next", "curve",
    "vjp", "vjp_is", "box_open", "box_close", "forward", "backward", "update", "say_over", "say_squared",
    "say_power",
    "say_root", "say_times", "say_equals", "say_minus", "say_plus", "say_becomes",
    "of", "of_all", "round", "call", "line", "following", "formula_previous", "formula_next", "beyond",
    "find", "find_none", "strip_keys", "strip_pinned", "strip_unpin", "strip_moved",
    "strip_stations", "strip_picture",
)  # fmt: skip


def score_of(
    acts: Sequence[Act],
    source: str = "",
    lang: str | None = None,
    earlier: Sequence[float | None] = (),
    later: Sequence[float | None] = (),
    *,
    pack: bool = True,
) -> dict[str, Any]:
    """The score of `acts`, the last of which is shown first, beside the cell's `source`; the `earlier` and
    the `later` backward calls ran before and after them; of these at most the value of the root is known.
    JSON-able; `pack` the acts that are not shown first. ValueError without any act."""
    if not acts:
        raise ValueError("a player needs at least one act")
    last = len(acts) - 1
    whole = [content(act, len(acts) <= ACTS) for act in acts]
    parts = with_tables(whole)
    if pack:
        parts = [
            {"z": pack_json(part)} if i != last and "base" not in part
            else part | {"table": pack_json(part["table"])} if "table" in part
            else part
            for i, part in enumerate(parts)
        ]  # fmt: skip
    failed = [i for i, frame in enumerate(acts[last].frames, 1) if frame.failed]
    return {
        "words": templates(WORDS, lang),
        "theme": acts[last].picture.theme,
        "source": source,
        "counted": len(earlier),
        "total": (total := len(earlier) + len(acts) + len(later)),
        "known": sample_values(earlier) + sample_values(later, total - len(later)),
        "loop": None not in (places := {act.at for act in acts}) and len(places) == 1,
        "shown": last,
        "step": failed[0] if failed else 0,
        "acts": [
            {
                "label": clean(act.label),
                "name": root_name(act.picture.graph),
                "root": root_value(act.picture.graph),
                "chapters": [
                    [phase, len(list(steps))]
                    for phase, steps in itertools.groupby(frame.phase for frame in act.frames)
                ],
                **({"again": True} if i and says_again(acts[i - 1 : i + 1], whole[i - 1 : i + 1]) else {}),
                **part,
            }
            for i, (act, part) in enumerate(zip(acts, parts))
        ],
    }


def with_tables(parts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The contents of acts; of those that differ in their texts only, the last is whole and has their table,
    in which the others are rows."""
    groups: dict[Hashable, list[int]] = {}
    for i, part in enumerate(parts):
        groups.setdefault(form_of(part), []).append(i)
    made = list(parts)
    for *others, base in groups.values():
        if others:
            table = table_of([parts[i] for i in (*others, base)])
            made[base] = {**parts[base], "table": table}
            for row, i in enumerate(others):
                made[i] = {"base": base, "row": row}
    return made


def form_of(part: Mapping[str, Any]) -> Hashable:
    """What contents have in common that a table can tell apart: their pictures have the same parts."""
    panels = (panel for box, panel in part.get("panels", {}).items())
    sizes = len(pieces_of(part["svg"])), len(part.get("frames", ()))
    return (part["prefix"], *sizes, *part["stood"], *part.get("panels", {}), *map(form_of, panels))


def says_again(acts: Sequence[Act], parts: Sequence[dict[str, Any]]) -> bool:
    """Whether the second of two acts, whose contents are `parts`, says what the first says with other
    numbers. The first may begin with data, which are shown once."""
    if parts[0]["prefix"] != parts[1]["prefix"] or not acts[1].frames:
        return False
    before, after = ([(frame.phase, frame.marks) for frame in act.frames] for act in acts)
    return before[-len(after) :] == after


def root_name(graph: Graph) -> str:
    """The name of the root of a picture; "" if it has none, or several roots."""
    names = [card.name or "" for _, card in graph.cards() if card.role == ROOT]
    return clean(names[0]) if len(names) == 1 else ""


def root_value(graph: Graph) -> float | None:
    """The value of the root of a picture; None if it has none, or several numbers."""
    values = [card.value for _, card in graph.cards() if card.role == ROOT]
    return finite(values[0]) if len(values) == 1 else None


def sample_values(values: Sequence[float | None], first: int = 0) -> list[list[float]]:
    """The values that are known with their places, from `first` on, at most `POINTS` of them."""
    known = [[i, value] for i, value in enumerate(values, first) if value is not None]
    every = -(-len(known) // POINTS) or 1
    return known[::every]


def content(act: Act, both: bool = False) -> dict[str, Any]:
    """Picture and steps of one act, and of what can be opened in it; `both` also the picture for narrow
    windows."""
    panels = {
        panel.box: {
            "title": clean(panel.title),
            **picture_and_steps(panel.picture, panel.frames),
            "ends": list(panel.ends),
        }
        for panel in act.panels
    }
    other = narrow_picture(act.picture) if both else None
    more: dict[str, Any] = {} if other is None else {"narrow": picture_content(other)}
    if isinstance(act.picture, StripPicture):
        strip = act.picture.strip
        more = {
            "modules": [[path, *ways] for path, ways in ways_to_modules(strip, panels)],
            "open": list(act.open),
            "updates": update_tables(strip.graph, act.picture.lang),
        }
    return {**picture_and_steps(act.picture, act.frames), "panels": panels, **more}


def picture_and_steps(picture: Picture, frames: Sequence[Frame]) -> dict[str, Any]:
    """A picture and its steps; in an outline nothing can be marked."""
    told = picture_content(picture)
    if isinstance(picture, (StripPicture, DetailPicture)):
        told["widths"] = [picture_content(form) for form in picture.forms()]
    steps = list(frames_to_json(frames, picture.graph, told["stood"], picture.counts()))
    if not told["svg"]:
        for step in steps:
            step[MARKS] = step[WAITING] = []
    return {
        **told,
        "outline": "" if told["svg"] else picture.outline(),
        "routes": [[r.id, r.source, r.target] for r in picture.graph.routes] if told["svg"] else [],
        "frames": steps,
    }


def pack_json(part: Any) -> str:
    """JSON, deflated, in base64: what `DecompressionStream("deflate")` reads."""
    written = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(written.encode("utf-8", "replace"), 9)).decode()


MARKS, WAITING = 1, 7  # where they stand in a frame


def frames_to_json(
    frames: Sequence[Frame],
    graph: Graph,
    stood: Mapping[str, Sequence[str]] = MappingProxyType({}),
    counts: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Iterator[list[Any]]:
    """Every frame as a list; `stood` are the rows that change, `counts` the routes over which gradients come
    to slots."""
    waited: dict[str, int] = {}
    rows: dict[str, list[str]] = {}  # by card, or by the parameter of a closed box
    for row in stood:
        rows.setdefault(row if re.search(r"-p\d+$", row) else row.rpartition("-")[0], []).append(row)
    came: dict[str, int] = {}
    for frame, marks in zip(frames, all_marks(frames, graph, counts)):
        shows = [[row, n] for card, n in frame.shows for row in rows.get(card, ())]
        for id, routes in counts.items():
            n = came.get(id, 0) + sum(f"{route}-s" in marks for route in routes)
            if came.get(id) != n:
                came[id] = n
                shows.append([f"{id}-n", min(n, len(routes))])
        waiting = dict(frame.waiting)
        changed = [[id, n] for id, n in waiting.items() if waited.get(id) != n]
        changed += [[id, 0] for id in waited if id not in waiting]
        waited = waiting
        said = step_lines(frame)
        lines = [line_to_json(line) for line in said]
        span = None if frame.span is None else list(frame.span)
        ready = [len(frame.ready), *frame.ready[:READY]]
        told: list[Any] = [
            frame.phase,
            marks,
            frame.label,
            frame.text,
            lines,
            span,
            ready,
            changed,
            frame.failed,
        ]
        told += [frame.recursion, list(frame.cause) if frame.cause else 0, shows, main_line(said)]
        told.append(frame.goal)
        while len(told) > 9 and not told[-1]:
            told.pop()
        yield told


def step_lines(frame: Frame) -> list[Line]:
    """The lines of a step except those that are above the player."""
    return [line for line in frame.lines if line.kind not in BESIDE]


def line_to_json(line: Line) -> list[Any]:
    """A line of arithmetic."""
    if line.formula is not None:
        return [line.label, page(line.formula), 2]
    kind = 4 if line.kind == IN_WORDS else 3 if line.kind in LISTS else int(line.kind in SENTENCES)
    return [line.label, line.text, kind]


def main_line(lines: Sequence[Line]) -> int:
    """The number of the line that a step is about, from 1: the formula of the kind that says most. 0 if no
    line is a formula."""
    formulas = [
        (i, line) for i, line in enumerate(lines, 1) if line.formula is not None and line.kind in RANK
    ]
    return min(formulas, key=lambda each: (RANK[each[1].kind], each[0]))[0] if formulas else 0


def all_marks(
    frames: Sequence[Frame], graph: Graph, counts: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> list[list[str]]:
    """The marks of every frame with the parts that show at the same time.

    Chips show when the station's first card is made and are marked again when its node runs. A gradient
    shows when the node has it, in the call that is shown; without such a step when its card is marked for
    the last time, not the first; else at the end.
    """
    marks = [list(frame.marks) for frame in frames]
    at: dict[str, list[int]] = {}
    for i, mine in enumerate(marks):
        for mark in mine:
            at.setdefault(mark, []).append(i)
    flows = {route.id: route for route in graph.routes if route.gradients}
    for route in (route for routes in counts.values() for route in routes if route in flows):
        for i in at.get(f"{route}-g", []):
            marks[i].append(f"{route}-s")
    for tensor, part in gradients_of(graph):
        for i in at.get(f"{part}-d", [])[-1:]:
            marks[i] += [
                f"{u.id}-{c.id}-grad" for u in graph.updates for c in u.changes if c.tensor == tensor
            ]
    for update in graph.updates:
        for i in at.get(update.id, []):
            marks[i].append(f"{update.id}-strip")
    for station in graph.stations if marks else ():
        made, runs = at.get(f"{station.id}-c0", [])[:1], at.get(f"{station.id}-d", [])
        saved = station.deck.saved if station.deck else ()
        for i in dict.fromkeys((*made, *runs)):
            marks[i] += [f"{station.id}-k{n}" for n in range(len(saved))]
        for n, card in enumerate(station.cards):
            id = f"{station.id}-c{n}"
            if card.returned is not None:
                marks[-1].append(f"{id}-returned")
            if card.seed is not None and runs:
                marks[runs[0]].append(f"{id}-seed")
            if card.grad is not None and f"{id}-grad" not in at:
                step = (runs or at.get(id, [])[1:] or [len(marks) - 1])[-1]
                marks[step].append(f"{id}-grad")
    return marks


def gradients_of(graph: Graph) -> Iterator[tuple[str, str]]:
    """Where the gradients of tensors arrive that updates change: the tensor and its station, or the box that
    it is in."""
    changed = {change.tensor for update in graph.updates for change in update.changes}
    inside = ((card.id, fold.station) for fold in graph.folds for _, card in fold.parameters)
    shown = ((card.id, station.id) for station, card in graph.cards())
    return ((tensor, part) for tensor, part in (*inside, *shown) if tensor in changed)
