"""Gradients that meet are summed, once, before a node runs; at a leaf the sum is then added to `.grad`.

Both sums are shown only if they add up to what was recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.scene import Scene
from ..numbers import SHARES
from ..protocol import Value
from ..snapshots import add_up
from ..trace.events import Deposited, HookRan, NodeRan
from ..words import clean, text
from .derivatives import derivative, label, root_of
from .flow import Flow, flow_of
from .glyphs import Both, bar, both, named
from .lines import COLON, NONE, Line, added, dotted, joined, line, result, sentence


def met_lines(scene: Scene, event: NodeRan, lang: str | None) -> Iterator[Line]:
    """`∂z/∂y = 1. (through u) + 0.6 (through v) = 1.6`, per output of a node where several gradients met."""
    flow = flow_of(scene)
    if event.call != scene.call:
        return
    place = scene.by_node.get(event.node)
    for nr, received in enumerate(event.received):
        shares = flow.met.get((event.node, nr), [])
        total = before_hooks(flow, event, nr, received)
        if place is not None and nr < len(place.states) and total is not None:
            left = gradient_name(scene, event.call, place.states[nr].id, event.node)
            yield from sum_line(scene, place.states[nr].id, shares, total, left, lang)


def before_hooks(flow: Flow, event: NodeRan, nr: int, received: Value | None) -> Value | None:
    """The sum as it was before hooks on the tensor changed it."""
    if event.call == flow.call and (event.node, nr) in flow.unseen:
        return flow.unseen[event.node, nr]
    for hook in flow.hooks(event):
        if hook.kind == "tensor" and hook.index == nr:
            return hook.before[0]
        if hook.kind == "pre":
            return hook.before[nr] if nr < len(hook.before) else received
    return received


def gradient_name(scene: Scene, call: int, tensor: str, node: str | None) -> Both:
    """What the gradient of a tensor is called: ∂z/∂x for a number, x̄ else."""
    name, root = label(scene, tensor), root_of(scene, call, node)
    place, i = scene.at[tensor]
    value = place.states[i].value
    if root is None or value is None or value.size != 1:
        return bar(name)
    return derivative(scene, root, tensor)


def sum_line(
    scene: Scene,
    tensor: str,
    shares: list[tuple[str, int, Value]],
    total: Value,
    left: Both,
    lang: str | None,
) -> Iterator[Line]:
    """The sum of the gradients that nodes sent to a tensor."""
    if len(shares) < 2 or not add_up([value for _, _, value in shares], total):
        return
    terms = []
    for node, _, value in shares[:SHARES]:
        place = scene.by_node.get(node)
        made = label(scene, place.states[0].id if place is not None else None)
        terms.append(sentence("share", lang, value=dotted(value), name=named(made)))
    if len(shares) > SHARES:
        terms.append(Both("…", r"\dots"))
    whole = joined([left, added(terms), result(dotted(total))])
    yield line("sum", text("sum_at", lang, name=label(scene, tensor)), whole)


def leaf_lines(scene: Scene, event: NodeRan, deposited: Deposited | None, lang: str | None) -> Iterator[Line]:
    """Two acts at a leaf: the sum of what arrived, and what was in `.grad` before plus that sum."""
    leaf = scene.nodes[event.node].variable
    if leaf is None or event.call != scene.call or leaf not in scene.at or not event.received:
        return
    flow = flow_of(scene)
    name = label(scene, leaf)
    stored = both(named(name), Both(".grad", r"\mathrm{.grad}"))
    changed = flow.changed(event) or (event.node, 0) in flow.unseen
    fresh = deposited is not None and deposited.before is None and not changed
    left = stored if fresh else gradient_name(scene, event.call, leaf, event.node)
    total = before_hooks(flow, event, 0, event.received[0])
    if total is not None:
        yield from sum_line(scene, leaf, flow.met.get((event.node, 0), []), total, left, lang)
    yield from hook_lines(flow, event, [name], [name], lang, ("tensor", "pre"))
    if deposited is not None and deposited.before is not None:
        terms, after = [deposited.before, deposited.added], deposited.after
        if not add_up(terms, after):
            return
        whole = joined([stored, added([dotted(v) for v in terms]), result(dotted(after))])
        yield line("deposit", text("deposit", lang, name=name), whole)


def hook_lines(
    flow: Flow,
    event: NodeRan,
    outputs: list[str],
    inputs: list[str],
    lang: str | None,
    kinds: tuple[str, ...],
) -> Iterator[Line]:
    """`x̄: 0.6 → 1.2` for each gradient that a hook of these kinds changed."""
    for (node, nr), before in flow.unseen.items() if "tensor" in kinds else ():
        if node == event.node and event.call == flow.call:
            told = HookRan(event.call, node, "tensor", "", nr, (before,), (event.received[nr],))
            yield from changes(told, outputs, lang)
    for hook in flow.changed(event):
        if hook.kind in kinds:
            named = inputs if hook.kind == "post" else outputs
            yield from changes(hook, named, lang)


def changes(hook: HookRan, named: list[str], lang: str | None) -> Iterator[Line]:
    """What one hook changed."""
    first = hook.index if hook.kind == "tensor" else 0
    for k, (before, after) in enumerate(zip(hook.before, hook.after, strict=False), first):
        if before != after:
            name = named[k] if k < len(named) else "…"
            old, new = (NONE if v is None else dotted(v) for v in (before, after))
            word = text("hook_changed", lang, name=clean(hook.name) or "hook")
            yield line("hook", word, both(bar(name), COLON, old, " → ", result(new)))
