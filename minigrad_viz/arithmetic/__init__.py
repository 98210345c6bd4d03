"""The arithmetic of a backward step, with the cell's own names and numbers.

    ∂z/∂x = ∂z/∂y · ∂y/∂x = 0.008 · 3x² = 0.008 · 75 = 0.6

Every line is checked against what was recorded before it is shown: see Note [The formula cannot drift] in
`symbols`. `vjps` writes what one node computed, `sums` what met, `paths` the sum over the paths of a graph of
numbers, `own` what the backward of a custom Function did, `tangents` how forward mode goes on.
"""

from __future__ import annotations

from ..model.build import Builder
from ..trace.events import Deposited, NodeRan
from ..words import clean, text
from .facts import facts_of
from .lines import Line, latex_words
from .own import own_lines
from .paths import path_lines
from .step import Step
from .sums import gradient_name, hook_lines, leaf_lines, met_lines, sum_line
from .tangents import tangent_lines, value_lines
from .vjps import input_lines

__all__ = ["Line", "capture_lines", "deposit_lines", "lines_of", "tangent_lines", "value_lines"]


def lines_of(builder: Builder, event: NodeRan, lang: str | None = None) -> list[Line]:
    """What a node (not an AccumulateGrad) computed: the sum of what met at it, what hooks changed, and how
    the gradient of each input came about."""
    step = Step(builder, event, lang)
    states = step.place.states if step.place is not None else []
    outputs = [step.label(state.id) for state in states]
    inputs = [step.label(tensor) for tensor in step.tensors]
    lines = list(met_lines(builder, event, lang))
    lines += hook_lines(step.facts, event, outputs, inputs, lang, ("tensor", "pre"))
    changed = {
        k
        for hook in step.facts.changed(event.call, event.node)
        if hook.kind == "post"
        for k, (before, after) in enumerate(zip(hook.before, hook.after, strict=False))
        if before != after
    }
    if step.custom and (event.call, event.node) not in step.facts.again:
        lines += own_lines(step)
    for i, sent in enumerate(event.sent):
        if sent is not None and i < len(step.tensors) and i not in changed:
            lines += input_lines(step, i)
    if step.node.name == "CopySlices" and event.sent[0] is not None:
        words = clean(text("copy_slices", lang, name=step.label(step.tensors[0])))
        lines.append(Line("words", text("copy_slices_label", lang), (("", words),), latex_words(words)))
    return lines + list(hook_lines(step.facts, event, outputs, inputs, lang, ("post",)))


def deposit_lines(
    builder: Builder, event: NodeRan, deposited: Deposited | None, lang: str | None = None
) -> list[Line]:
    """What an AccumulateGrad did: the sum of what arrived at the leaf, what was in `.grad` before, and the
    paths that led here."""
    lines = list(leaf_lines(builder, event, deposited, lang))
    leaf = builder.nodes[event.node].variable
    if event.call == builder.call and leaf in builder.at and event.received:
        assert leaf is not None
        lines += path_lines(builder, leaf, event.received[0], lang)
    return lines


def capture_lines(builder: Builder, tensor: str, lang: str | None = None) -> list[Line]:
    """The same for a tensor whose gradient `autograd.grad` returned."""
    total = builder.captured.get(tensor)
    if total is None or tensor not in builder.at:
        return []
    place, nr = builder.at[tensor]
    node = builder.accumulators.get(tensor) or place.node
    shares = facts_of(builder).met.get((node or "", 0 if node != place.node else nr), [])
    left, latex = gradient_name(builder, builder.call, tensor, node)
    lines = list(sum_line(builder, tensor, shares, total, left, latex, lang))
    return lines + list(path_lines(builder, tensor, total, lang))
