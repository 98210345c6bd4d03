"""What the loss of each round of a loop compares: the prediction of a model, its target and its data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..protocol import Value
from ..trace.events import BackwardStarted, Forward, Trace

LEAST = 3  # rows of the data
DIFFERENCES = ("sub", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
LOGITS, PROBABILITIES = "binary_cross_entropy_with_logits", "binary_cross_entropy"
CLASSIFIED = ("nll_loss", "cross_entropy")  # of logarithms of probabilities, and of scores


class Op(NamedTuple):
    """An operation, with the state of its inputs when it ran."""

    forward: Forward
    inputs: tuple[Value | None, ...]

    @property
    def result(self) -> Value | None:
        """Its result."""
        return self.forward.outputs[0].value


class Fit(NamedTuple):
    """What a loss compares: the `prediction` with its `target`, by the operation `op`; `data` is the tensor
    from which the prediction comes ("": several), `ops` are the operations by their results."""

    op: str
    prediction: str
    target: str
    data: str
    ops: Mapping[str, Op]
    values: Mapping[str, Value]


# ─── What a round compares


def fits_of(trace: Trace) -> dict[int, Fit]:
    """What the loss of each backward call compares, by the number of the call."""
    ops: dict[str, Op] = {}
    values: dict[str, Value] = {}
    learns: dict[str, bool] = {}
    found = {}
    for event in trace.events:
        match event:
            case BackwardStarted(roots=(root,)):
                fit = fit_of(root, ops, values, learns)
                if fit is not None:
                    found[event.call] = fit
            case Forward() if event.outputs:
                given = tuple(values.get(id or "") for id in event.inputs)
                ops[event.outputs[0].id] = Op(event, given)
        for state in event.states:
            learns[state.id] = state.requires_grad
            if state.value is not None:
                values[state.id] = state.value
    return found


def fit_of(
    root: str, ops: Mapping[str, Op], values: Mapping[str, Value], learns: Mapping[str, bool]
) -> Fit | None:
    """What the loss `root` compares; None if that is not plain."""
    for id in above(root, ops):
        op = ops.get(id)
        if op is None or not op.forward.op.startswith((*DIFFERENCES, PROBABILITIES, *CLASSIFIED)):
            continue
        pairs = [(one, value) for one, value in zip(op.forward.inputs, op.inputs) if one and value]
        moving = [(one, value) for one, value in pairs if learns.get(one)]
        fixed = [(one, value) for one, value in pairs if not learns.get(one)]
        if len(moving) != 1 or len(fixed) != 1:
            continue
        (prediction, value), (target, wanted) = moving[0], fixed[0]
        rows = value.shape[0] if value.shape else 0
        if rows < LEAST or not wanted.shape or wanted.shape[0] != rows:
            continue
        data = data_of(prediction, rows, ops, values, learns)
        return Fit(op.forward.op, prediction, target, data, dict(ops), dict(values))
    return None


def data_of(
    prediction: str, rows: int, ops: Mapping[str, Op], values: Mapping[str, Value], learns: Mapping[str, bool]
) -> str:
    """The one tensor with a row an example that enters the model, or from which all come that do; "" if
    there are several."""

    def plain(id: str) -> bool:
        return not learns.get(id, True) and id in values and values[id].shape[:1] == (rows,)

    inside = [id for id in above(prediction, ops) if id in ops and learns.get(id)]
    entries = dict.fromkeys(one for id in inside for one in ops[id].forward.inputs if one and plain(one))
    first = dict.fromkeys(one for id in entries for one in above(id, ops) if one not in ops and plain(one))
    found = entries if len(entries) == 1 else first
    return next(iter(found)) if len(found) == 1 else ""


def above(root: str, ops: Mapping[str, Op]) -> Iterator[str]:
    """A tensor and all from which it was computed, the nearest first, each once."""
    known, queue = {root}, [root]
    for id in queue:
        yield id
        for one in ops[id].forward.inputs if id in ops else ():
            if one and one not in known:
                known.add(one)
                queue.append(one)
