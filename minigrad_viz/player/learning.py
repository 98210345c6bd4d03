"""What the model of a loop computes, round by round: the curve over its data, the plane with its decision
border, or its predictions for a few examples.

All of it is computed from what was recorded. Where a model has to be evaluated beside its data, the recorded
operations are computed again with the recorded parameters; that is believed only if it gives the recorded
results at the data themselves. Where the data are too many to be recorded there is nothing to show.

    learning  {"kind": "curve", "plane" or one of those in `examples`, "x": [name, …], "y": name, "rounds":
               […], "words": {…}}

A curve has "points" [x, target], a plane [x, y, class]. For each act `rounds` has its part, or null: of a
curve [[x, …], [y, …]], of a plane its rows from top to bottom as runs of cells, "a70b50" for 70 cells of
class 0 and 50 of class 1. A plane has also its "box": [left, right, bottom, top].
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..isolation import pass_on
from ..protocol import Value, value_from
from ..snapshots import close, whole_array, without_warnings
from ..trace.events import Trace
from ..words import clean, templates
from .examples import examples, has_news, rounded_numbers
from .fits import CLASSIFIED, LOGITS, Fit, Op, above, fits_of

CLASSES = 10  # that have a color of their own
POINTS = 61  # of a curve
NODES = (48, 36)  # of a plane: where the model is computed
CELLS = (120, 90)  # that are drawn of it, about two pixels each; between nodes the scores are interpolated
MARGIN = 0.12  # of the data's extent, beside them
WORDS = (
    "learning",
    "learning_curve",
    "learning_plane",
    "learning_bars",
    "learning_images",
    "learning_letters",
    "learning_loss",
    "learning_log",
    "round",
)

# How operations are computed again, by name: those that a small model of a few inputs consists of.
OPS: Mapping[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
    "pow_scalar": np.power, "pow": np.power, "mm": np.matmul, "matmul": np.matmul, "mv": np.matmul,
    "linear": lambda x, w, bias=0.0: x @ w.T + bias,
    "addmm": lambda bias, x, w: bias + x @ w, "tanh": np.tanh, "sin": np.sin, "cos": np.cos, "exp": np.exp,
    "relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "log_softmax": lambda x, *_: x - np.log(np.exp(x).sum(-1, keepdims=True)),
}  # fmt: skip
TRANSPOSED = {
    "t",
    "T",
    "mT",
    "transpose",
    "permute",
}  # of a matrix; what else `permute` may do fails at the data
RESHAPED = {"squeeze", "squeeze_dim", "unsqueeze", "view", "reshape", "flatten"}


# ─── The model at other data


@without_warnings
def prediction_at(fit: Fit, data: Any) -> Any:
    """The prediction at other `data`, by the recorded operations; None where one of them cannot be computed
    again."""
    rows = fit.values[fit.data].shape[0]
    moved: dict[str, Any] = {fit.data: data}
    try:
        for id in reversed([one for one in above(fit.prediction, fit.ops) if one in fit.ops]):
            result(id, fit, moved, rows)
        return moved.get(fit.prediction)
    except (KeyError, ValueError, TypeError, IndexError, RecursionError) as problem:
        pass_on(problem)
        return None


def result(id: str, fit: Fit, moved: dict[str, Any], rows: int) -> Any:
    """The result of an operation where it follows from the data, and its recorded one elsewhere; where that
    is not known whole, it is computed again."""
    if id in moved:
        return moved[id]
    op = fit.ops.get(id)
    if op is None:
        return whole_array(fit.values.get(id))
    parts = []
    follows = False
    for one, value, said in zip(op.forward.inputs, op.inputs, op.forward.arguments, strict=True):
        if one is None:
            parts.append(said)
            continue
        part, known = result(one, fit, moved, rows), whole_array(value)
        follows = follows or one in moved
        parts.append(part if one in moved or known is None else known)
    if not follows:
        known = whole_array(op.result)
        return result_of(op, parts, rows) if known is None else known
    moved[id] = result_of(op, parts, rows)
    return moved[id]


def result_of(op: Op, parts: Sequence[Any], rows: int) -> Any:
    """An operation on arrays. KeyError, TypeError or ValueError where it cannot be computed."""
    name, shape = op.forward.op, op.result.shape if op.result else ()
    first = parts[0]
    if name in RESHAPED and shape[:1] == (rows,):
        return first.reshape(len(first), *shape[1:])
    if name in TRANSPOSED and np.ndim(first) == 2:
        return first.T
    if name == "select" and parts[1] == "1":
        return first[:, int(parts[2])]
    if name == "getitem" and parts[1] == "slice(None, None, None)" and is_numeral(str(parts[2])):
        return first[:, int(parts[2])]
    arrays = [
        float(part) if isinstance(part, str) else part
        for part in parts
        if not isinstance(part, str) or is_numeral(part)
    ]
    if any(each is None for each in arrays):
        raise TypeError(name)
    most = {"addmm": 3, "linear": 3, "log_softmax": 1}.get(name, 2)
    if name == "addmm" and arrays[3:] not in ([], [1.0], [1.0, 1.0]):
        raise ValueError(name)
    return OPS[name](*arrays[:most])


def is_numeral(said: str) -> bool:
    """Whether an argument is a number."""
    try:
        float(said)
    except ValueError:
        return False
    return True


def at_data(fit: Fit) -> bool:
    """Whether the recorded operations give the recorded prediction at the data themselves."""
    x, recorded = whole_array(fit.values.get(fit.data)), fit.values.get(fit.prediction)
    again = None if x is None else prediction_at(fit, np.asarray(x, "float64"))
    return (
        again is not None
        and recorded is not None
        and np.shape(again) == recorded.shape
        and agrees(again, recorded)
    )


def agrees(computed: Any, recorded: Value) -> bool:
    """Whether numbers are those of a snapshot: all of them, or what a summary has of them."""
    known, have = whole_array(recorded), recorded.summary
    if known is not None:
        return close(computed, known, "float32", np.abs(known).max(initial=1.0))
    want = value_from(np.asarray(computed, "float32"), "float32").summary
    if have is None or want is None or len(have.sample) != len(want.sample) or not have.sample:
        return False
    scale = max(1.0, *map(abs, have.sample))
    return close([want.rms, *want.sample], [have.rms, *have.sample], "float32", scale)


# ─── What is shown of it


def learning_of(
    trace: Trace, calls: Sequence[int], lang: str | None = None, source: str = ""
) -> dict[str, Any] | None:
    """What a player shows of the model beside the acts of these backward `calls`; None where that is not
    known for at least two of them. `source` is that of the earlier cells as well."""
    if len(calls) < 2:
        return None
    found = fits_of(trace)
    fits = [found.get(call) for call in calls]
    shown = curve(fits) or plane(fits) or examples(fits, source or trace.source)
    if shown is None:
        return None
    some = next(fit for fit in fits if fit is not None)
    names = dict(reversed(trace.names))
    x = clean(names.get(some.data) or "x")
    return {
        **shown,
        "x": [f"{x}[:, {i}]" for i in range(2)] if shown["kind"] == "plane" else [x],
        "y": clean(names.get(some.target) or "y"),
        "words": templates(WORDS, lang),
    }


def data_table(value: Value | None) -> Any:
    """Data as a table with a row an example; None where they are not known, or have more dimensions."""
    data = whole_array(value)
    return (
        None
        if data is None or not 0 < np.ndim(data) < 3
        else np.asarray(data, "float64").reshape(len(data), -1)
    )


def same_data(fits: Sequence[Fit | None]) -> tuple[Fit, Any, Any] | None:
    """The last of what the rounds compare, its data and its targets, if all have the same; None otherwise."""
    some = [fit for fit in fits if fit is not None]
    pairs = [(fit.values.get(fit.data), fit.values.get(fit.target)) for fit in some]
    if len(some) < 2 or any(pair != pairs[-1] for pair in pairs) or len({fit.op for fit in some}) != 1:
        return None
    x, y = map(data_table, pairs[-1])
    return None if x is None or y is None or y.shape[1] != 1 else (some[-1], x, y[:, 0])


def around(values: Any, count: int) -> Any:
    """Numbers from below the minimum to above the maximum."""
    low, high = values.min(), values.max()
    far = MARGIN * (high - low or 1)
    return np.linspace(low - far, high + far, count)


def curve(fits: Sequence[Fit | None]) -> dict[str, Any] | None:
    """The prediction over one input, in each round."""
    same = same_data(fits)
    if same is None or same[1].shape[1] != 1 or same[0].op.startswith(CLASSIFIED):
        return None
    last, x, y = same
    grid = around(x, POINTS).reshape(-1, *last.values[last.data].shape[1:])
    order = np.argsort(x[:, 0])

    def of(fit: Fit) -> list[list[float]] | None:
        recorded = fit.values.get(fit.prediction)
        if recorded is None or recorded.size != len(x):
            return None
        if at_data(fit) and np.size(again := prediction_at(fit, grid)) == len(grid):
            xs, ys = grid, again
        elif (known := whole_array(recorded)) is not None:
            xs, ys = x[order, 0], np.ravel(known)[order]
        else:
            return None
        ys = 1 / (1 + np.exp(-np.asarray(ys))) if fit.op.startswith(LOGITS) else ys
        return [rounded_numbers(xs), rounded_numbers(ys)]

    rounds = [None if fit is None else of(fit) for fit in fits]
    points = [rounded_numbers(pair) for pair in zip(x[:, 0], y)]
    return {"kind": "curve", "points": points, "rounds": rounds} if has_news(rounds) else None


def plane(fits: Sequence[Fit | None]) -> dict[str, Any] | None:
    """The class that is predicted at each place of the plane of two inputs, in each round."""
    same = same_data(fits)
    if same is None or same[1].shape[1] != 2:
        return None
    last, x, y = same
    classes, border = sorted(set(y.tolist())), 0.0
    if last.op.startswith(CLASSIFIED):
        if max(classes, default=CLASSES) >= CLASSES:
            return None
    elif classes in ([0, 1], [-1, 1]):
        zero = last.op.startswith(LOGITS) or classes[0] < 0
        border = 0.0 if zero else 0.5
    else:
        return None
    across, up = around(x[:, 0], NODES[0]), around(x[:, 1], NODES[1])
    grid = np.array([(a, b) for b in up[::-1] for a in across])

    def of(fit: Fit) -> list[str] | None:
        again = prediction_at(fit, grid) if at_data(fit) else None
        if again is None:
            return None
        scores = in_between(np.reshape(again, (*NODES[::-1], -1)))
        chosen = scores.argmax(2) if scores.shape[2] > 1 else (scores[..., 0] > border).astype(int)
        return [runs(row) for row in chosen.tolist()] if scores.shape[2] <= CLASSES else None

    rounds = [None if fit is None else of(fit) for fit in fits]
    named = [int(each) if last.op.startswith(CLASSIFIED) else classes.index(each) for each in y.tolist()]
    points = [[*rounded_numbers(pair), each] for pair, each in zip(x, named)]
    box = rounded_numbers([across[0], across[-1], up[0], up[-1]])
    return {"kind": "plane", "points": points, "box": box, "rounds": rounds} if has_news(rounds) else None


@without_warnings
def in_between(scores: Any) -> Any:
    """Scores at the centers of the cells of a plane, from those at its nodes."""
    right, down = (
        np.array(
            [
                np.interp((np.arange(cells) + 0.5) / cells, np.linspace(0, 1, nodes), one)
                for one in np.eye(nodes)
            ]
        )
        for cells, nodes in zip(CELLS, NODES)
    )
    return np.einsum("yj,yxk,xi->jik", down, scores, right, optimize=True)


def runs(row: Sequence[int]) -> str:
    """A row of classes as runs: a letter for the class, and how many cells are of it."""
    return "".join(f"{chr(ord('a') + kind)}{len(list(same))}" for kind, same in itertools.groupby(row))
