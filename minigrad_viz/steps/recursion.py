"""Why backward uses a queue instead of plain recursion: how often a depth-first walk would run each node, and
which gradients it would give the leaves.

Note [Plain recursion]
    The simplest walk calls itself for each input of a node. It runs a node once for every path that leads to
    it. If a node adds each incoming gradient to a sum, as `.grad` does, and passes the sum on each time, then
    the first gradient is passed on twice, and the results are wrong.
    This module runs no node. It counts the paths, and computes the wrong numbers from the recorded gradients
    where each node scaled one number to another. Where that is not certain, it gives no numbers.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import NamedTuple

from ..model.scene import Scene
from ..model.stage import Stage
from ..numbers import number, short
from ..protocol import Value, finite
from ..trace.events import NodeRan
from ..words import clean, text

LISTED = 12  # nodes where paths meet
RUNS = 10_000  # runs of nodes, up to which the wrong numbers are computed
COUNTED = 10**9  # paths; a larger number is not written exactly


class Recursion(NamedTuple):
    """`arrows` lead to each node that ran, over which a gradient came; a walk would run it so many `times`.
    `wrong` has, per leaf that would get another gradient, that and the right one."""

    arrows: dict[str, int]
    times: dict[str, int]
    wrong: dict[str, tuple[float, Value]]

    @property
    def meets(self) -> dict[str, int]:
        """The nodes where paths meet, with the times that each would run."""
        return {node: times for node, times in self.times.items() if times > 1 and self.arrows[node] > 1}


def recursion_of(scene: Scene) -> Recursion | None:
    """What plain recursion would do in a call; None if it did not end well, or is not known in full."""
    schedule, started = scene.schedule, scene.now.started
    if schedule is None or started is None or scene.now.ended is None or scene.now.error is not None:
        return None
    ran = scene.now.ran
    arrows, times = Counter[str](), Counter(scene.node_at(root) or "" for root in started.roots)
    for node in schedule.order:
        for (target, _), _ in scene.now.sends(scene.nodes[node]):
            if target in ran:
                arrows[target] += 1
                times[target] += times[node]
    times = Counter({node: times[node] for node in schedule.order})
    return Recursion(arrows, times, wrong_numbers(scene, ran) if times.total() <= RUNS else {})


def wrong_numbers(scene: Scene, ran: dict[str, NodeRan]) -> dict[str, tuple[float, Value]]:
    """What the leaves would get, where that is wrong; empty where the numbers are not certain."""
    started, nodes = scene.now.started, scene.nodes
    if (
        started is None
        or started.wanted is not None
        or not all(scales(scene, event) for event in ran.values())
    ):
        return {}
    hooks = (hook for hooks in scene.now.hooks.values() for hook in hooks)
    if scene.now.again or any(hook.before != hook.after for hook in hooks):
        return {}
    held: dict[str, float] = {}
    starts = zip(started.roots, started.gradients, strict=True)
    todo = [(scene.node_at(root) or "", finite(given)) for root, given in starts][::-1]
    while todo:
        node, gradient = todo.pop()
        if gradient is None or node not in ran:
            return {}
        held[node] = held.get(node, 0.0) + gradient
        if nodes[node].variable is None:
            came = finite(ran[node].received[0]) or math.nan
            sent = [(edge[0], finite(value)) for edge, value in scene.now.sends(nodes[node])]
            todo += [(target, held[node] * (value or 0.0) / came) for target, value in reversed(sent)]
    leaves = {nodes[node].variable or "": node for node in ran if nodes[node].variable is not None}
    found = {}
    for leaf, node in leaves.items():
        right = ran[node].received[0]
        if right is not None and not math.isclose(held[node], finite(right) or 0.0, rel_tol=1e-4):
            found[leaf] = held[node], right
    return found


def scales(scene: Scene, event: NodeRan) -> bool:
    """Whether it is certain that a node multiplies one number by others: what it would send for another
    gradient is known then."""
    node = scene.nodes[event.node]
    own = node.code is not None or any(saved.name.startswith("saved[") for saved in node.saved)
    known = all(finite(value) is not None for value in event.sent if value is not None)
    return not own and known and len(event.received) == 1 and bool(finite(event.received[0]))


def count(times: int) -> str:
    """A number of paths."""
    return str(times) if times <= COUNTED else f"≥ {COUNTED}"


def meeting(scene: Scene, found: Recursion, node: str, lang: str | None) -> str:
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
        told = {"name": stage.name(leaf), "wrong": number(wrong, right.dtype), "right": short(right)}
        lines.append(text("recursion_wrong", lang, **told))
    return "\n".join([*lines, text("recursion_right", lang)])
