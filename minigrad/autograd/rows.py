"""Many gradients of one tensor: the rows of a Jacobian, from passes over one graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core import F, engine, modes
from ..core.tensor_state import TensorBase, edge, fresh, wrap
from .run import Options, run
from .starts import input_slots

AT_ONCE = 256  # rows of a pass, unless the caller says how many: memory for them is needed per node


def element_rows(
    root: TensorBase, inputs: tuple[Any, ...], create_graph: bool, at_once: int | None = None
) -> list[Any]:
    """Return, for each of the `inputs`, the gradients of all elements of `root`, stacked along a first
    dimension; None for an input that `root` does not depend on. The graph stays.

    One pass computes `at_once` rows. Under `create_graph` each row takes a pass of its own, and also where
    somebody watches, who then sees a call of `grad` for each.
    """
    if not (root.requires_grad and root._data.size):
        return [None] * len(inputs)
    if not (create_graph or modes.is_watched(False)):
        found = raw_rows(root, inputs, at_once or AT_ONCE)
        if found is not None:
            return found
    options = Options("grad", True, create_graph, inputs)
    rows = [run((root,), [wrap(unit)], options) or [] for chunk in units(root, 1) for unit in chunk]
    return [None if column[0] is None else F.stack(column) for column in zip(*rows)]


def raw_rows(root: TensorBase, inputs: tuple[Any, ...], at_once: int) -> list[Any] | None:
    """`element_rows` without a graph; None where a pass cannot take several rows."""
    slots = input_slots(inputs, False)
    start = edge(root), root._nr
    chunks = []
    for unit in units(root, at_once):
        arrived = engine.run_rows(start, unit, slots)  # type: ignore[arg-type]
        if arrived is None:
            return None
        chunks.append(arrived)
    return [parts[0] if parts[0] is None else fresh(np.concatenate(parts)) for parts in zip(*chunks)]


def no_rows(root: TensorBase, x: TensorBase) -> Any:
    """Return the rows of an input that `root` does not depend on: zeros."""
    return wrap(np.zeros((root._data.size, *x._data.shape), x._data.dtype))


def blocks(rows: Any, parts: Sequence[Any], other: Any, turned: bool = False) -> list[Any]:
    """Return the rows for the elements of all `parts` as blocks: the Jacobians of each part with respect to
    `other`, or if `turned` of `other` with respect to each part.

    As in PyTorch, all blocks are parts of one tensor: if one has a graph, all of them require grad.
    """
    whole = rows[0] if len(rows) == 1 else F.cat(rows)
    found = whole.split([part.numel() for part in parts]) if len(parts) > 1 else [whole]
    if turned:
        last = [block.movedim(0, -1) for block in found]
        return [block.reshape((*other.shape, *part.shape)) for block, part in zip(last, parts)]
    return [block.reshape((*part.shape, *other.shape)) for block, part in zip(found, parts)]


def units(root: TensorBase, at_once: int) -> Iterator[np.ndarray]:
    """For each element of `root`, zeros of its shape with 1 in its place; `at_once` of them together."""
    count, data = root._data.size, root._data
    for start in range(0, count, at_once):
        rows = min(at_once, count - start)
        yield np.eye(rows, count, start, data.dtype).reshape(rows, *data.shape)
