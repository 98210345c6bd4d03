"""Many gradients of one tensor: the rows of a Jacobian, from passes over one graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import F, engine, modes
from ..core.tensor_state import TensorBase, edge, fresh, wrap
from .run import run
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
    if not (create_graph or modes.is_watched(False)):
        found = raw_rows(root, inputs, at_once or AT_ONCE)
        if found is not None:
            return found
    rows = [
        run((root,), [wrap(unit)], "grad", True, create_graph, inputs)
        for chunk in units(root, 1)
        for unit in chunk
    ]
    return [stacked(column) for column in zip(*rows)]


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


def units(root: TensorBase, at_once: int) -> Iterator[np.ndarray]:
    """For each element of `root`, zeros of its shape with 1 in its place; `at_once` of them together."""
    count, data = root._data.size, root._data
    for start in range(0, count, at_once):
        rows = min(at_once, count - start)
        yield np.eye(rows, count, start, data.dtype).reshape(rows, *data.shape)


def stacked(rows: tuple[Any, ...]) -> Any:
    """One tensor of gradients that are raw or tensors; None if there are none."""
    if rows[0] is None:
        return None
    return F.stack([row if isinstance(row, TensorBase) else fresh(row) for row in rows])
