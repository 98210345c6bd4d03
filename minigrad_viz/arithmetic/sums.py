"""Gradients that meet are summed; the derivative of a graph of numbers is the sum over its paths.

Both sums are shown only if they add up to what was recorded.

    ∂²z/∂x² = 30·0.008 + 75·(−0.000064)·75 = 0.24 − 0.36 = −0.12

Per path the product of the local derivatives, from the tensor's end; runs of results that have no name and
from which only one path goes on are one factor (3·10 = 30), and factors of 1 are left out. Each path is
checked against the gradient that its last node sent, and the sum against the one that was recorded.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod

import numpy as np

from ..flow.backward_pass import Arrow, Flow, flow_of, is_single_real
from ..model.scene import Scene
from ..model.stations import Edge
from ..number_text import SHARES
from ..protocol import Value
from ..snapshots import add_up, close
from ..trace.events import GradAccumulated, HookRan, NodeRan
from ..words import clean, text
from .derivatives import derivative, root_tensor, tensor_label
from .formula_tree import IDENTIFIER, Formula, operator, row, sign
from .lines import (
    COLON,
    NONE,
    Line,
    addition,
    card_number,
    in_brackets,
    join_forms,
    join_with_sign,
    line,
    number_formula,
    result,
    sentence,
)
from .typeset import bar, name_formula, number_tree

# ─── Gradients that meet are summed, once, before a node runs


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


def gradient_name(scene: Scene, call: int, tensor: str, node: str | None) -> Formula:
    """What the gradient of a tensor is called: ∂z/∂x for a number, x̄ else."""
    name, root = tensor_label(scene, tensor), root_tensor(scene, call, node)
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
    left: Formula,
    lang: str | None,
) -> Iterator[Line]:
    """The sum of the gradients that nodes sent to a tensor."""
    if len(shares) < 2 or not add_up([value for _, _, value in shares], total):
        return
    terms = []
    for node, _, value in shares[:SHARES]:
        place = scene.by_node.get(node)
        made = tensor_label(scene, place.states[0].id if place is not None else None)
        terms.append(sentence("share", lang, value=card_number(value), name=name_formula(made)))
    if len(shares) > SHARES:
        terms.append(sign("…"))
    whole = join_forms([left, addition(terms), result(card_number(total))])
    yield line("sum", text("sum_at", lang, name=tensor_label(scene, tensor)), whole)


def leaf_lines(
    scene: Scene, event: NodeRan, deposited: GradAccumulated | None, lang: str | None
) -> Iterator[Line]:
    """Two acts at a leaf: the sum of what arrived, and what was in `.grad` before plus that sum."""
    leaf = scene.nodes[event.node].variable
    if leaf is None or event.call != scene.call or leaf not in scene.at or not event.received:
        return
    flow = flow_of(scene)
    name = tensor_label(scene, leaf)
    stored = row(name_formula(name), Formula(IDENTIFIER, ".grad"))
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
        whole = join_forms([stored, addition([card_number(v) for v in terms]), result(card_number(after))])
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
            old, new = (NONE if v is None else card_number(v) for v in (before, after))
            word = text("hook_changed", lang, name=clean(hook.name) or "hook")
            yield line("hook", word, row(bar(name), COLON, old, " → ", result(new)))


# ─── The derivative of a graph of numbers as the sum over its paths


MOST = 4  # paths that are written out
LONGEST = 60  # nodes of a path


def path_lines(scene: Scene, tensor: str, total: Value | None, lang: str | None) -> Iterator[Line]:
    """The line of a leaf or of a tensor whose gradient was asked for; `total` is its gradient."""
    end = end_of(scene, tensor)
    root = root_tensor(scene, scene.call, end[0])
    if root is None or total is None or not is_single_real(total):
        return
    place, _ = scene.at[root]
    found = None if place.node is None else flow_of(scene).paths(place.node, end, MOST, LONGEST)
    if found is None or not 2 <= len(found) <= MOST:
        return
    products = list(factors(scene, found))
    if any(p is None for p in products):
        return
    known = [p for p in products if p is not None]
    values = [prod(p) for p in known]
    assert total.items
    if np.isfinite(values).all() and close(sum(values), total.items[0], total.dtype, sum(map(abs, values))):
        yield equation(scene, root, tensor, known, values, total, lang)


def end_of(scene: Scene, tensor: str) -> Edge:
    """The output of a node (of an AccumulateGrad, for a leaf) that the gradients of a tensor are sent to."""
    place, nr = scene.at[tensor]
    leaf = scene.accumulators.get(tensor)
    return (leaf, 0) if leaf else (place.node or "", nr)


def equation(
    scene: Scene,
    root: str,
    tensor: str,
    known: list[list[float]],
    values: list[float],
    total: Value,
    lang: str | None,
) -> Line:
    """The line itself."""
    assert total.items
    kind, whole = total.dtype, total.items[0]  # a number, also where the tensor is an array of one
    products = [product_of([path_number(f, kind) for f in p if f != 1] or [number_tree(1)]) for p in known]
    forms, sums = [derivative(scene, root, tensor)], [path_number(v, kind) for v in values]
    forms.append(addition(products))
    forms += [] if [s.plain for s in sums] == [p.plain for p in products] else [addition(sums)]
    forms.append(result(path_number(whole, kind)))
    return line("paths", text("paths", lang, n=len(known)), join_forms(forms))


def product_of(factors: list[Formula]) -> Formula:
    """`30·0.008`."""
    return join_with_sign([factors[0], *map(in_brackets, factors[1:])], operator("·"))


def path_number(x: float, dtype: str) -> Formula:
    """A number as a formula has it."""
    return number_formula(x, dtype) or row()


def factors(scene: Scene, paths: list[list[Arrow]]) -> Iterator[list[float] | None]:
    """The factors of each path from the tensor's end; None if one is unknown or the last node sent another
    gradient than the product says."""
    ways: dict[str, set[int]] = {}
    for node, i in itertools.chain(*paths):
        ways.setdefault(node, set()).add(i)
    for path in paths:
        product: list[float] = []
        run = 1.0
        for node, i in path:
            local = flow_of(scene).scale(node, i)
            if local is None:
                yield None
                break
            run *= local
            if len(ways[node]) > 1 or has_name(scene, node, i):
                product.append(run)
                run = 1.0
        else:
            product.append(run)
            yield [f for f in reversed(product) if f != 1] or [1.0]


def has_name(scene: Scene, node: str, i: int) -> bool:
    """Whether what an edge leads to has a name."""
    edge = scene.nodes[node].edges[i]
    return edge is not None and scene.tensor_of(edge) in scene.named
