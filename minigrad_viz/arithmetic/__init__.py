"""The arithmetic of a backward step, with the cell's own names and numbers.

    ∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75 = 0.6

Every line is checked against what was recorded before it is shown: see Note [The formula cannot drift] in
`symbols`. `vjps` writes what one node computed, the backward of a custom Function too, `sums` what met and
the sum over the paths of a graph of numbers, `update_rules` what an update computed, `tangents` how forward
mode goes on. A formula is a tree (`formula_tree`) until it is printed.
"""

from __future__ import annotations

import numpy as np

from ..flow.backward_pass import flow_of
from ..model.scene import Scene
from ..trace.events import GradAccumulated, NodeRan
from ..words import clean, text
from .lines import Line, line, words_formula
from .sums import gradient_name, hook_lines, leaf_lines, met_lines, path_lines, sum_line
from .tangents import tangent_lines, value_lines
from .update_rules import change_lines
from .vjps import NodeStep, input_lines, own_lines, where_lines

WRITTEN = 40  # inputs of one node whose arithmetic is written out

__all__ = [
    "Line",
    "capture_lines",
    "change_lines",
    "deposit_lines",
    "lines_of",
    "tangent_lines",
    "value_lines",
]


@np.errstate(all="ignore")  # numbers of a formula may be inf and nan
def lines_of(scene: Scene, event: NodeRan, lang: str | None = None) -> list[Line]:
    """What a node (not an AccumulateGrad) computed: the sum of what met at it, what hooks changed, and how
    the gradient of each input came about."""
    step = NodeStep(scene, event, lang)
    states = step.place.states if step.place is not None else []
    outputs = [step.label(state.id) for state in states]
    inputs = [step.label(tensor) for tensor in step.tensors]
    lines = list(met_lines(scene, event, lang))
    lines += hook_lines(step.flow, event, outputs, inputs, lang, ("tensor", "pre"))
    changed = {
        k
        for hook in step.flow.changed(event)
        if hook.kind == "post"
        for k, (before, after) in enumerate(zip(hook.before, hook.after, strict=False))
        if before != after
    }
    if step.custom and event.node not in scene.index.calls[event.call].again:
        lines += own_lines(step)
    places = [
        i for i, sent in enumerate(event.sent[: len(step.tensors)]) if sent is not None and i not in changed
    ]
    written = [each for i in places[:WRITTEN] for each in input_lines(step, i)]
    lines += [*written, *where_lines(step, written)]
    if len(places) > WRITTEN:
        more = text("update_more", lang, n=len(places) - WRITTEN)
        lines.append(line("words", "…", words_formula(more)))
    if step.node.name == "CopySlices" and event.sent[0] is not None:
        words = clean(text("copy_slices", lang, name=step.label(step.tensors[0])))
        lines.append(line("words", text("copy_slices_label", lang), words_formula(words)))
    return lines + list(hook_lines(step.flow, event, outputs, inputs, lang, ("post",)))


@np.errstate(all="ignore")
def deposit_lines(
    scene: Scene, event: NodeRan, deposited: GradAccumulated | None, lang: str | None = None
) -> list[Line]:
    """What an AccumulateGrad did: the sum of what arrived at the leaf, what was in `.grad` before, and the
    paths that led here."""
    lines = list(leaf_lines(scene, event, deposited, lang))
    leaf = scene.nodes[event.node].variable
    if event.call == scene.call and leaf in scene.at and event.received:
        assert leaf is not None
        lines += path_lines(scene, leaf, event.received[0], lang)
    return lines


def capture_lines(scene: Scene, tensor: str, lang: str | None = None) -> list[Line]:
    """The same for a tensor whose gradient `autograd.grad` returned."""
    total = scene.captured.get(tensor)
    if total is None or tensor not in scene.at:
        return []
    place, nr = scene.at[tensor]
    node = scene.accumulators.get(tensor) or place.node
    shares = flow_of(scene).met.get((node or "", 0 if node != place.node else nr), [])
    left = gradient_name(scene, scene.call, tensor, node)
    lines = list(sum_line(scene, tensor, shares, total, left, lang))
    return lines + list(path_lines(scene, tensor, total, lang))
