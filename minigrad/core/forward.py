"""Forward mode: when an op has run inside a level, its result gets a tangent.

`jvps` has the rules by which tangents are computed, and `tangents` stores which tensors have one.
"""

from __future__ import annotations

from typing import Any

from . import dtypes, modes
from .call import is_learnable
from .jvps import derive, inputs_of, nothing, primal
from .op import RAW, F, Op, zeros
from .tangents import SavedTangents, adopt, aside, fitted, note, put, tangent_of, tie
from .tensor_state import TensorBase
from .vjps import parameters

WRITES = ("copy", "fill", "fill_tensor", "zero")  # ops whose result does not depend on the old value
DRAWN = (  # ops whose result does not depend on any value
    *("uniform", "normal", "random", "random_to", "random_from", "exponential", "bernoulli_float"),
    "bernoulli_tensor",
)
# linear ops that write to some elements: in place, PyTorch runs them on the tangent itself
SETS = (
    *("index_put", "index_fill", "index_fill_tensor", "put", "scatter"),
    *("masked_fill", "masked_fill_tensor", "masked_scatter"),
    *WRITES,
)


def push(op: Op, values: Any, result: Any) -> None:
    """Give the result of an op its tangent, if an input has one and the result can be differentiated."""
    results = result if op.several else (result,)
    if op.view:
        for view in results:
            tie(view, values[0])
    if not results or results[0]._data.dtype not in dtypes.DIFFERENTIABLE:
        return
    if not modes.is_forward():  # saved values have tangents nevertheless
        keep_tangents(op, results[0]._fn, values, None)
        return
    tangents = [tangent_of(v) for v in inputs_of(op, values)]
    if all(t is None for t in heard(op, tangents)):
        return
    with aside():
        found = derive(op, values, tangents, result)
        for nr, (out, tangent) in enumerate(zip(results, found if op.several else (found,), strict=True)):
            if is_learnable(op, nr, out):
                put(out, tangent if op.view else fitted(out, tangent, False))
    keep_tangents(op, results[0]._fn, values, result)


def heard(op: Op, tangents: list[Any]) -> list[Any]:
    """Return the tangents on which that of the result depends. For an op with its own formula, these are the
    ones that the formula names; a formula that only raises an error names none.
    """
    if op.listed:
        return tangents
    if op.linear and op.jvp is None:
        return [t for t, vjp in zip(tangents, op.vjps.values(), strict=True) if vjp is not zeros]
    names = () if op.jvp is None else parameters(op.jvp)
    if not names:
        return tangents
    return [t for name, t in zip(op.inputs, tangents, strict=True) if name + "_t" in names]


def keep_tangents(op: Op, node: Any, values: Any, result: Any) -> None:
    """Let the node of an op that ran keep the tangents of what it saved."""
    if node is None or node.op is not op or op.listed:
        return
    found = result if op.several and result is not None else (result,) * len(op.results)
    made = dict(zip(op.results, found))
    carriers = {n: made[n] if n in made else values[op.params.index(n)] for n in op.tensors}
    kept = SavedTangents()
    for name, t in carriers.items():
        tangent = t._tangent if isinstance(t, TensorBase) else None
        if tangent is not None and isinstance(getattr(node, "_raw_" + name), RAW):
            kept[name] = tangent
    if kept:
        note(kept)
        node._extra_made.tangents = kept


# ── in place
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def originals(op: Op, values: list[Any]) -> list[Any] | None:
    """Return the arguments of an in-place op, for `push_in_place` after it has run; None if none is dual."""
    if not modes.is_forward() or all(tangent_of(v) is None for v in values):
        return None
    t, *others = values
    if t._data.dtype not in dtypes.DIFFERENTIABLE:
        return None
    if op.name in WRITES:
        return values
    with modes.Within(observers=()):
        return [F.clone(t), *others]


def push_in_place(op: Op, t: TensorBase, values: list[Any], node: Any) -> None:
    """Update the tangent of `t`, which `op` has modified, in place.

    `values` are the arguments as they were before (see `originals`); `node` is the op's node, or None.
    """
    mine = tangent_of(t)
    tangents = [tangent_of(v) for v in inputs_of(op, values)]
    source = tangent_of(values[-1]) if op.name == "copy" else None
    with aside():
        if op.name in DRAWN:
            if mine is not None:
                mine.zero_()
        elif mine is None:
            adopt(t, copied(t, source) if op.name == "copy" else derive(op, values, tangents, primal(t)))
        elif op.name == "copy":
            mine.fill_(0) if source is None else mine.copy_(source)
        elif op.name in SETS:
            F.in_place(op, mine, *tangent_arguments(op, values, tangents))
        else:
            mine.copy_(derive(op, values, tangents, primal(t)))
    keep_tangents(op, node, values, t)


def copied(t: TensorBase, source: Any) -> Any:
    """Return the tangent of `t`, which had none, after `copy_` of a value with the tangent `source`."""
    shape = t._data.shape
    return F.clone(source) if source._data.shape == shape else F.expand(source, shape)


def tangent_arguments(op: Op, values: list[Any], tangents: list[Any]) -> list[Any]:
    """Return the arguments of a linear op after the first, with tangents instead of values."""
    given = dict(zip(op.params, values, strict=True))
    for name, tangent in zip(op.inputs, tangents, strict=True):
        given[name] = nothing(given[name]) if tangent is None else tangent
    if "value" not in op.inputs and "value" in given:
        given["value"] = 0
    return list(given.values())[1:]
