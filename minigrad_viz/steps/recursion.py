"""Why backward uses a queue instead of plain recursion, in words: how often a depth-first walk would run each
node, and which gradients it would give the leaves. See Note [Plain recursion] in `flow.engine`."""

from __future__ import annotations

import itertools

from ..flow.engine import Recursion, recursion_of
from ..model.scene import Scene
from ..model.views import Stage
from ..number_text import number, one_line
from ..words import clean, text

LISTED = 12  # nodes where paths meet
COUNTED = 10**9  # paths; a larger number is not written exactly


def count(times: int) -> str:
    """A number of paths."""
    return str(times) if times <= COUNTED else f"≥ {COUNTED}"


def wait_text(scene: Scene, found: Recursion, node: str, lang: str | None) -> str:
    """What is said where the queue has waited for several arrows; "" elsewhere."""
    if found.times.get(node, 0) < 2 or found.arrows.get(node, 0) < 2:
        return ""
    name = clean(scene.nodes[node].name)
    values = {"n": found.arrows[node], "node": name, "times": count(found.times[node])}
    return text("recursion", lang, **values)


def recursion_text(stage: Stage) -> str:
    """The whole answer to "why not just recurse?" for a call, a sentence a line."""
    scene, lang = stage.scene, stage.lang
    found = recursion_of(scene)
    if found is None:
        return text("recursion_unknown", lang)
    if not found.meets:
        return text("recursion_none", lang)
    runs, nodes = count(sum(found.times.values())), len(found.times)
    lines = [text("recursion_head", lang, runs=runs, nodes=nodes)]
    for node, times in itertools.islice(found.meets.items(), LISTED):
        place = stage.place_of(node)
        name = "…" if place is None else stage.name(place.states[0].id)
        values = {"node": clean(scene.nodes[node].name), "name": name, "times": count(times)}
        lines.append("  " + text("recursion_node", lang, **values))
    if len(found.meets) > LISTED:
        lines.append("  " + text("recursion_more", lang, n=len(found.meets) - LISTED))
    for leaf, (wrong, right) in found.wrong.items():
        told = {"name": stage.name(leaf), "wrong": number(wrong, right.dtype), "right": one_line(right)}
        lines.append(text("recursion_wrong", lang, **told))
    return "\n".join([*lines, text("recursion_right", lang)])
