"""The picture as the player shows it at one step, as SVG that needs no script.

What `stepper_painter.js` does in a page is done here once: parts that the steps have not come to are `later`,
those that the step is about are `active`, and a row says what its tensor holds at that step. What the style
sheet of the player hides is hidden here in the elements themselves: few programs know the selectors for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..drawing.export import VARIABLE, resolve_colors
from ..drawing.graphviz_wasm import LayoutError
from ..drawing.picture import Picture
from ..drawing.style import DARK, LIGHT, num
from ..steps.frames import Frame
from .score import frames_to_json

SVG = "http://www.w3.org/2000/svg"
PHASE, MARKS, SHOWS, FAILED = 0, 1, 11, 8  # where they stand in a frame
RUNS = re.compile(r"-[dgp]$")  # parts that are marked once in each phase
BEGIN = re.compile(r"M(-?[\d.]+)[ ,](-?[\d.]+)")  # of a path
Flowing = tuple[ElementTree.Element, ElementTree.Element]  # a gradient and its arrow
WALK = re.compile(r"^\.(?:mg\.)?walk .*$", re.M)  # rules for what is `later`
THEME = re.compile(r'(<svg[^>]* class="mg mg-)\w+')


class StillPictures:
    """A picture at each of its steps, with resolved colors: those of the picture's own theme, or of another.
    LayoutError where there is no picture."""

    def __init__(self, picture: Picture, frames: Sequence[Frame], theme: str | None = None) -> None:
        svg = picture.svg()
        if svg is None or picture.style != "house":
            raise LayoutError(picture.problem or "")
        if theme is not None:
            svg = THEME.sub(rf"\g<1>{theme}", svg, count=1)
        self.colors = DARK if 'class="mg mg-dark' in svg else LIGHT
        self.count = len(frames)
        self._svg, self._prefix = resolve_colors(svg), picture.prefix
        self._stood = picture.stood()
        self._told = list(frames_to_json(frames, picture.graph, self._stood, picture.counts()))
        self._first = first_steps(self._told)
        ElementTree.register_namespace("", SVG)

    def at(self, step: int, way: float = 1.0) -> ElementTree.Element:
        """The picture at a step, counted from 1. Gradients that flow are on the way from the beginning of
        their arrow (0) to their place (1). ValueError if there is no such step."""
        if not 1 <= step <= self.count:
            raise ValueError(f"step must be between 1 and {self.count}, not {step}")
        tree = ElementTree.fromstring(self._svg)
        parts = {id: part for part in tree.iter() if (id := part.get("id", "").removeprefix(self._prefix))}
        add_class(tree, "walk")
        style = next(tree.iter(f"{{{SVG}}}style"))
        style.text = (style.text or "") + walk_rules(self.colors)
        now = set(self._told[step - 1][MARKS])
        failed = bool(field(self._told[step - 1], FAILED))
        for id in now & parts.keys():
            add_class(parts[id], "active")
            if failed:
                add_class(parts[id], "error")
        for id, first in self._first.items():
            if id in parts and first > step and id not in now and id not in self._stood:
                add_class(parts[id], "later")
                conceal(parts[id])
        hide_totals(tree)
        if way < 1:
            for pill, arrow in self._flowing(step, parts):
                move_pill(pill, arrow, way)
        for part in parts.values():
            if not failed and classes(part) & {"later", "active"} and "deck" in classes(part):
                restore_saved(part)
        for row, moments in self._stood.items():
            shown = [n for frame in self._told[:step] for id, n in field(frame, SHOWS) or () if id == row]
            if shown and row in parts and 0 <= shown[-1] < len(moments):
                say(parts[row], moments[shown[-1]])
        return tree

    def flows(self, step: int) -> bool:
        """Whether gradients flow along arrows at a step."""
        tree = ElementTree.fromstring(self._svg)
        parts = {part.get("id", "").removeprefix(self._prefix): part for part in tree.iter()}
        return any(True for _ in self._flowing(step, parts))

    def _flowing(self, step: int, parts: dict[str, ElementTree.Element]) -> Iterator[Flowing]:
        """The gradients that a step is about, each with its arrow."""
        for id in self._told[step - 1][MARKS]:
            arrow = parts.get(f"{id[:-2]}-g")
            if id.endswith("-p") and id in parts and arrow is not None:
                yield parts[id], arrow


def move_pill(pill: ElementTree.Element, arrow: ElementTree.Element, way: float) -> None:
    """Put a gradient on the way from the beginning of its arrow to its place."""
    box, path = pill.find(f"{{{SVG}}}rect"), arrow.find(f"{{{SVG}}}path")
    begin = None if path is None else BEGIN.match(path.get("d", ""))
    if box is None or begin is None:
        return
    at = [
        float(box.get(x, "0")) + float(box.get(size, "0")) / 2
        for x, size in (("x", "width"), ("y", "height"))
    ]
    x, y = ((float(begin[i + 1]) - at[i]) * (1 - way) for i in (0, 1))
    pill.set("transform", f"translate({num(x)} {num(y)})")


def svg_at(picture: Picture, frames: Sequence[Frame], step: int) -> str:
    """The picture at a step, counted from 1, with resolved colors. ValueError if there is no such step,
    LayoutError where there is no picture."""
    return ElementTree.tostring(StillPictures(picture, frames).at(step), encoding="unicode")


def field(frame: list[Any], place: int) -> Any:
    """The entry at a place of a frame, which ends with its last entry."""
    return frame[place] if place < len(frame) else None


def first_steps(frames: Sequence[list[Any]]) -> dict[str, int]:
    """By part the step that marks it first; a node that ran in an earlier call, too, is to come until it runs
    in the one that is shown."""
    found: dict[str, int] = {}
    for i, frame in enumerate(frames, 1):
        for id in frame[MARKS]:
            if id not in found or (frames[found[id] - 1][PHASE] != frame[PHASE] and RUNS.search(id)):
                found[id] = i
    return found


def walk_rules(colors: dict[str, str]) -> str:
    """The style of what the steps have not come to, in these colors."""
    rules = WALK.findall(Path(__file__).with_name("stepper.css").read_text(encoding="utf-8"))
    return VARIABLE.sub(lambda found: colors.get(found[1], "none"), "".join(rules))


def classes(part: ElementTree.Element) -> set[str]:
    """The classes of a part."""
    return set(part.get("class", "").split())


def conceal(part: ElementTree.Element) -> None:
    """Hide the numbers of a part that is to come; labels and names stay. In a strip dashes stand for them."""
    for group in part.iter():
        if classes(group) & {"known", "bars", "dots"}:
            for drawn in group:
                drawn.set("visibility", "visible" if "dash" in classes(drawn) else "hidden")
    inside = [part]
    if "card" in classes(part):
        inside = [row for row in part.iter() if "row" in classes(row)]
    elif "deck" in classes(part):
        inside = []
    for one in inside:
        for drawn in one.iter():
            is_text = drawn.tag == f"{{{SVG}}}text" and "key" not in classes(drawn)
            if is_text or "heat" in classes(drawn):
                drawn.set("visibility", "hidden")


def hide_totals(tree: ElementTree.Element) -> None:
    """Hide each sum that a slot before it has not reached yet."""
    for parent in tree.iter():
        waits = False
        for child in parent:
            waits = waits or {"slot", "later"} <= classes(child)
            if waits and "total" in classes(child):
                child.set("visibility", "hidden")


def restore_saved(deck: ElementTree.Element) -> None:
    """A node that has not run, or runs now, still has what it saved."""
    for chip in deck.iter():
        if {"chip", "freed"} <= classes(chip):
            chip.set("class", chip.get("class", "").replace("freed", "").strip())


def add_class(part: ElementTree.Element, name: str) -> None:
    """Give a part one more class."""
    part.set("class", f"{part.get('class', '')} {name}".strip())


def say(row: ElementTree.Element, content: str) -> None:
    """Replace what follows the label of a row."""
    for child in list(row):
        if not {"key", "memory"} & set(child.get("class", "").split()):
            row.remove(child)
    row.extend(ElementTree.fromstring(f'<svg xmlns="{SVG}">{content}</svg>'))
