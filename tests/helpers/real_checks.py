"""What the picture of a program says, held against the objects that the program left."""

from __future__ import annotations

import re
from typing import Any

from minigrad_viz.model.scene import Scene
from minigrad_viz.protocol import Value, is_tensor, value_of
from minigrad_viz.shell.explain import known_to_last
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.graph import MODULE

NOTHING = object()
STEP = re.compile(r"\.?(\w+)|\[(\d+)\]")


def looked_up(names: dict[str, Any], path: str) -> Any:
    """What `model.0.weight` stands for, NOTHING for what is no such path."""
    parts = list(STEP.finditer(path))
    if not parts or "".join(part[0] for part in parts) != path or parts[0][0] not in names:
        return NOTHING
    thing = names[parts[0][0]]
    for part in parts[1:]:
        name, place = part[1], part[2]
        if place is not None or (name or "").isdigit():
            at = int(place or name)
            thing = thing[at] if hasattr(thing, "__getitem__") and at < len(thing) else NOTHING
        else:
            thing = getattr(thing, name, NOTHING)
        if thing is NOTHING:
            return NOTHING
    return thing


def checked(report: Report, names: dict[str, Any]) -> dict[str, Any]:
    """How many stations are shown first, whether a root of the call is among them, and what is not true."""
    view = report.views[-1]
    shown = {station.id for station in view.graph.stations}
    inside = {member for fold in view.graph.folds for member in fold.members}
    started = view.scene.now.started
    roots = [view.scene.at[root][0].id for root in started.roots] if started is not None else []
    return {
        "stations": len(view.graph.stations),
        "root": not roots or any(root in shown | inside for root in roots),
        "calls": len(report.views),
        "names": list(wrong_names(view.scene, view.whole.stations, names)),
        "modules": list(wrong_modules(report, names)),
        "values": list(wrong_values(view.scene, view.whole.stations, names)),
    }


def live(card: Any, names: dict[str, Any]) -> Any:
    """The tensor that a card's name stands for now; NOTHING if it is no name of one."""
    thing = looked_up(names, card.name) if card.name else NOTHING
    return thing if is_tensor(thing) else NOTHING


def wrong_names(scene: Scene, stations: Any, names: dict[str, Any]) -> Any:
    """Names of boxes that are variables of the program, which stand for another tensor."""
    places = {place.id: place for place in scene.shown}
    for station in stations:
        place = places.get(station.id)
        for card, state in zip(station.cards, place.states if place is not None else (), strict=False):
            tensor = live(card, names)
            known = None if tensor is NOTHING else known_to_last(tensor)
            if known is not None and known[1] != state.id:
                yield f"{card.name} of {station.id} is {state.id}, not {known[1]}"


def wrong_modules(report: Report, names: dict[str, Any]) -> Any:
    """Boxes of modules whose path leads to no module of that class, or whose parameters are others."""
    view = report.views[-1]
    places = {place.id: place for place in view.scene.shown}
    for group in view.whole.groups:
        module = looked_up(names, group.path) if group.kind == MODULE and group.path else NOTHING
        if module is NOTHING:
            continue
        several = group.times > 1 or "…" in group.title  # blocks of one structure are one box
        if type(module).__name__ not in group.title and not several:
            yield f"{group.title} at {group.path} is a {type(module).__name__}"
        for name, station in group.parameters:
            own = looked_up({"m": module}, f"m.{name}")
            known = known_to_last(own) if is_tensor(own) else None
            ids = [state.id for state in places[station].states]
            if known is None or known[1] not in ids:
                yield f"{group.path}.{name} is not at {station}"


def wrong_values(scene: Scene, stations: Any, names: dict[str, Any]) -> Any:
    """Values of computed results that a variable still holds and that nothing wrote to: these cannot have
    changed since, so the picture must show them."""
    for station in stations:
        for card in station.cards:
            tensor = live(card, names)
            if tensor is NOTHING or tensor.is_leaf or tensor._version or card.value is None:
                continue
            known = known_to_last(tensor)
            where = scene.at.get(known[1]) if known is not None else None
            here, now = where is not None and where[0].id == station.id, value_of(tensor)
            if here and not equal_numbers(card.value, now):
                yield f"{card.name}: {card.value} is now {now}"


def equal_numbers(a: Value, b: Value) -> bool:
    """Whether two snapshots have the same numbers; NaN equals NaN in a snapshot."""
    return a == b
