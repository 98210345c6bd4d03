"""Whether a formula gives what was recorded: otherwise it is not shown."""

from __future__ import annotations

import numpy as np

from minigrad.observing import F

from ..protocol import Value
from .lines import array_of, close, coarser
from .node_step import NodeStep
from .symbols import ADD, SUB, Symbol

NOISE = 0.1  # of the precision, as a share of 1: what a difference of numbers of that size may be off


def fits(step: NodeStep, received: Value, factor: Symbol, sent: Value) -> bool:
    """Whether incoming · local, summed back to the shape of the input, is what the node sent. Where numbers
    are not known, whether the shapes are right and no hook ran."""
    incoming, recorded = array_of(received), array_of(sent)
    shapes_fit = broadcasts(factor.shape, received.shape) and broadcasts(sent.shape, received.shape)
    shapes_fit = shapes_fit and (factor.value is not None or not unsure(received, sent))
    if not shapes_fit or incoming is None or recorded is None or factor.value is None:
        return shapes_fit and quiet(step)
    with np.errstate(all="ignore"):
        whole = np.broadcast_to(incoming * factor.value, received.shape)
        terms = np.abs(whole) + (NOISE * np.abs(incoming) if cancels(factor) else 0)
        summed, scale = F.sum_to(whole, sent.shape), F.sum_to(terms, sent.shape)
    return close(summed, recorded, coarser(sent, received), scale)


def quiet(step: NodeStep) -> bool:
    """Whether no hook stands between what a node computed and what it sent."""
    return not step.node.hooks and not step.flow.changed(step.event)


def unsure(*values: Value) -> bool:
    """Whether numbers are complex: a formula that cannot be compared with them might lack a conjugate."""
    return any(value.dtype.startswith("complex") for value in values)


def broadcasts(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Whether a shape can be broadcast to a larger one."""
    if len(small) > len(large):
        return False
    return all(n in (1, m) for n, m in zip(reversed(small), reversed(large), strict=False))


def cancels(factor: Symbol) -> bool:
    """Whether a formula has a difference (`1 − t²`), which may lose digits."""
    return factor.head in (ADD, SUB) or any(cancels(a) for a in factor.args if isinstance(a, Symbol))


def same(step: NodeStep, found: Symbol, sent: Value) -> bool:
    """Whether a formula gives what the node sent. Where numbers are not known, whether its shape is right and
    no hook ran."""
    recorded = array_of(sent)
    if found.value is None or recorded is None:
        return not unsure(sent) and quiet(step) and tuple(found.shape) == sent.shape
    largest = np.max(np.abs(recorded), initial=0)
    received = step.event.received[0] or sent
    agree = tuple(found.shape) == sent.shape
    return agree and close(found.value, recorded, coarser(sent, received), largest)
