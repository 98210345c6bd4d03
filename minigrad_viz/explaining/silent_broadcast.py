"""A note about a loss that compares every prediction with every target: a column minus a row.

Note [When a broadcast is a mistake]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
`x[:, None] - y` is often meant: pairs of points, a kernel. So a note is given only where n×1 meets n (or the
other way round), one of them requires gradients and the other is data, the difference is squared or its
absolute value is taken, and the root of a backward call comes from that. A loss function that takes
predictions and targets says itself what is meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model.births import came_from, sources_of
from ..model.scene import Scenes
from ..model.stage import written
from ..trace.events import Forward, TensorState
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .edits import node_at, rewritten
from .lost import Silent
from .operation import Shape, shape_mark, sized, taken
from .subject import called

LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
MEASURES = ("pow", "pow_scalar", "square", "abs")


def broadcast_losses(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """The note, if the root of the last backward call comes from such a difference."""
    calls = [call.started for call in scenes.index.calls.values() if call.started is not None]
    if not calls or scenes.trace.error or calls[-1].span is None:
        return []
    case = Silent(scenes, calls[-1].call, calls[-1].span, lang)
    for event in compared(case, calls[-1].roots):
        pair = column_and_row(case, event)
        if pair is not None:
            return [told(case, event, *pair)]
    return []


def compared(case: Silent, roots: tuple[str, ...]) -> Iterator[Forward]:
    """The losses and the measured differences that the roots were computed from."""
    born = case.scene.index.births
    behind = [born[id] for root in roots for id in sources_of(born, root) if id in born]
    for event in behind:
        if not isinstance(event, Forward) or event.span is None or event.span.origin:
            continue
        if event.op in LOSSES:
            yield event
        elif event.op in MEASURES or (event.op == "mul" and len(set(came_from(event))) == 1):
            source = born.get(came_from(event)[0])
            if isinstance(source, Forward) and source.op == "sub" and source.span is not None:
                yield source


def column_and_row(case: Silent, event: Forward) -> tuple[TensorState, TensorState] | None:
    """The two inputs of a comparison, if one is n×1, the other has n elements, and only one of them requires
    gradients."""
    given = [unexpanded(case, id) for id in event.inputs[:2] if id is not None]
    states = [case.state(id) or case.made(id) for id in given]
    if len(states) != 2 or states[0] is None or states[1] is None:
        return None
    a, b = states[0], states[1]
    shapes: list[Shape] = [() if each.value is None else each.value.shape for each in (a, b)]
    short, long = sorted(shapes, key=len)
    fits = len(short) == 1 and short[0] > 1 and long == (short[0], 1)
    return (a, b) if fits and case.scene.asks(a.id) != case.scene.asks(b.id) else None


def unexpanded(case: Silent, tensor: str) -> str:
    """What a tensor was before the loss expanded it."""
    event = case.scene.index.births.get(tensor)
    expanded = isinstance(event, Forward) and event.op == "expand"
    return came_from(event)[0] if expanded and event is not None and came_from(event) else tensor


def told(case: Silent, event: Forward, a: TensorState, b: TensorState) -> Explanation:
    """The note about one comparison."""
    assert event.span is not None and a.value is not None and b.value is not None
    size = max(a.value.shape)
    values = {"a": case.name(a.id), "b": case.name(b.id), "size": size}
    shapes = {"left": sized(case, a.value.shape), "right": sized(case, b.value.shape)}
    source = {"source": written(event.span), "line": event.span.line}
    why = case.words("broadcast_loss_why", **values, **shapes, **source)
    data = 1 if case.scene.asks(a.id) else 0
    code = turned(case, event, data, len((a, b)[data].value.shape))  # type: ignore[union-attr]
    marks = shape_mark(case, a, CAUSE) + shape_mark(case, b, CAUSE)
    if code is None:
        return case.explain("broadcast_loss", why, case.words("broadcast_loss_fix"), marks, event.span)
    fix = case.words("broadcast_loss_fix_line", code=code, line=event.span.line)
    return case.explain("broadcast_loss", why, fix, marks, event.span)


def turned(case: Silent, event: Forward, place: int, dims: int) -> str | None:
    """The statement with the data in the shape of the predictions."""
    node = node_at(case, event.span)
    trees = list(taken(node))
    if isinstance(node, ast.Call):
        trees = node.args
    if node is None or len(trees) < 2:
        return None
    method = ".unsqueeze(1)" if dims == 1 else ".squeeze(1)"
    return rewritten(case, node, {trees[place]: called(ast.unparse(trees[place])) + method})
