"""The derivative of a graph of numbers as the sum over its paths.

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

from ..model.scene import Scene
from ..protocol import Value
from ..snapshots import close
from ..words import text
from .derivatives import derivative, root_of
from .flow import flow_of
from .glyphs import Both
from .lines import Line, added, held_number, joined, line, result, single, summed, written
from .node_step import NodeStep
from .vjps import factor_of

MOST = 4  # paths that are written out
LONGEST = 60  # nodes of a path
Edge = tuple[str, int]  # a node and the number of its input


def path_lines(scene: Scene, tensor: str, total: Value | None, lang: str | None) -> Iterator[Line]:
    """The line of a leaf or of a tensor whose gradient was asked for; `total` is its gradient."""
    end = end_of(scene, tensor)
    root = root_of(scene, scene.call, end[0])
    if root is None or total is None or not single(total):
        return
    place, _ = scene.at[root]
    found = None if place.node is None else walk(scene, place.node, end)
    if found is None or not 2 <= len(found) <= MOST:
        return
    products = list(factors(scene, found, lang))
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
    products = [[number(f, kind) for f in p if f != 1] or [Both("1", "1")] for p in known]
    shown = ["·".join([p[0].plain, *(held_number(f).plain for f in p[1:])]) for p in products]
    latex = [r" \cdot ".join(held_number(f).latex for f in p) for p in products]
    forms, sums = [derivative(scene, root, tensor)], [number(v, kind) for v in values]
    forms.append(Both(summed(shown), " + ".join(latex)))
    forms += [] if [each.plain for each in sums] == shown else [added(sums)]
    forms.append(result(number(whole, kind)))
    return line("paths", text("paths", lang, n=len(known)), joined(forms))


def number(x: float, dtype: str) -> Both:
    """A number as a formula has it."""
    return written(x, dtype) or Both("", "")


def walk(scene: Scene, node: str, end: Edge) -> list[list[Edge]] | None:
    """All paths along which gradients flowed from a node to `end`, in the order in which they arrived; None
    if there are more, or longer ones, than are written out."""
    useful = leading(scene, end)
    found: list[list[Edge]] = []
    stack: list[tuple[str, list[Edge]]] = [(node, [])]
    while stack and useful is not None:
        current, path = stack.pop()
        for i in useful.get(current, ()):
            edge = scene.nodes[current].edges[i]
            assert edge is not None
            longer = [*path, (current, i)]
            if edge == end:
                found.append(longer)
            else:
                stack.append((edge[0], longer))
        if len(found) + len(stack) > MOST:
            return None
    order = [(source, i) for source, i, _ in flow_of(scene).met.get(end, ())]
    return None if useful is None else sorted(found, key=lambda path: order.index(path[-1]))


def leading(scene: Scene, end: Edge) -> dict[str, list[int]] | None:
    """Per node the inputs over which gradients flowed towards `end`, found from there upwards; None if those
    are too many for a few paths."""
    flow = flow_of(scene)
    useful: dict[str, list[int]] = {}
    todo = [(source, i) for source, i, _ in flow.met.get(end, ())]
    for source, i in todo:  # grows while it is read
        if source not in useful:
            todo += flow.into.get(source, ())
        useful.setdefault(source, []).append(i)
        if len(useful) > MOST * LONGEST:
            return None
    return useful


def factors(scene: Scene, paths: list[list[Edge]], lang: str | None) -> Iterator[list[float] | None]:
    """The factors of each path from the tensor's end; None if one is unknown or the last node sent another
    gradient than the product says."""
    ways: dict[str, set[int]] = {}
    for node, i in itertools.chain(*paths):
        ways.setdefault(node, set()).add(i)
    for path in paths:
        product: list[float] = []
        run = 1.0
        for node, i in path:
            local = local_factor(scene, (node, i), lang)
            if local is None:
                yield None
                break
            run *= local
            if len(ways[node]) > 1 or named(scene, node, i):
                product.append(run)
                run = 1.0
        else:
            product.append(run)
            yield [f for f in reversed(product) if f != 1] or [1.0]


def local_factor(scene: Scene, edge: Edge, lang: str | None) -> float | None:
    """The local derivative at an edge, found once for all paths over it."""
    flow = flow_of(scene)
    if edge not in flow.factors:
        node, i = edge
        flow.factors[edge] = factor_of(NodeStep(scene, flow.ran[node], lang), i)
    return flow.factors[edge]


def named(scene: Scene, node: str, i: int) -> bool:
    """Whether what an edge leads to has a name."""
    edge = scene.nodes[node].edges[i]
    return edge is not None and scene.tensor_of(edge) in scene.named
