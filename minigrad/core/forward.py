"""Forward mode: when an op has run inside a level, its result gets a tangent.

Note [Forward mode]
    Few ops have their own formula for this. Their declaration is enough:

        linear        in all inputs together (sums, views, `where`): the op itself, run on the tangents;
                      an input whose vjp is `zeros` stays as it is (the mask of a gradient)
        multilinear   in each input (products): the op once per input with its tangent in its place, summed
        elementwise   the Jacobian is diagonal, so the vjp of the tangent is the jvp
        otherwise     the vjp is linear in the upstream gradient: its transpose, which backward computes, is
                      the jvp. That is exact. Ops whose derivative is not holomorphic use it too

    A few ops declare their `jvp`: arithmetic, whose tangents have PyTorch's graph, products with a sum and
    convolutions, which are faster with it. It is a function of what its parameters name; `<input>_t` is the
    tangent of an input.

    Ops compute the tangent, in the current grad mode, so it has a graph if its inputs have one. Backward
    through it gives second derivatives (forward over reverse). An op that runs inside backward gives its
    result a tangent like any other op (reverse over forward); for this, nodes keep the tangents of what they
    save. A primal that takes part in a tangent enters its graph through an `Identity` node, and an input
    without a tangent enters as zeros, as in PyTorch.

`jvps` has the rules by which tangents are computed, and `tangents` stores which tensors have one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dtypes, engine, modes
from .apply import conjugate, uncast
from .call import compute, is_learnable, record
from .dtypes import DIFFERENTIABLE
from .modes import Within
from .op import DERIVE, DERIVED, RAW, F, Op, arguments, composite, parameters, zeros
from .tangents import SavedTangents, adopt, fit_tangent, note, put_tangent, tangent_of, tie, without_tangents
from .tensor_state import TensorBase, alias, edge, operand, wrap

# ─── Forward mode: the tangent of an op's result, from those of its inputs


def inputs_of(op: Op, values: Any) -> list[Any]:
    """Return the arguments that can be differentiated."""
    return list(values[0]) if op.listed else [values[i] for i in op.places]


def derive(op: Op, values: Any, tangents: list[Any], result: Any) -> Any:
    """Return the tangent of `result` (a tuple for an op with several results). See Note [Forward mode]."""
    if op.jvp is not None:
        return by_formula(op, values, tangents, result)
    if op.linear:
        return linear_jvp(op, values, tangents)
    if op.multilinear:
        return multilinear(op, values, tangents, result)
    if op.elementwise and not (op.complexes and has_complex(op, values, result)):  # else not holomorphic
        return elementwise(op, values, tangents, result)
    return transpose_vjp(op, values, tangents, result)


def has_complex(op: Op, values: Any, result: Any) -> bool:
    """Return whether an input or a result is complex."""
    tensors = [*inputs_of(op, values), *(result if op.several else (result,))]
    return any(isinstance(t, TensorBase) and t._data.dtype.kind == "c" for t in tensors)


def by_formula(op: Op, values: Any, tangents: list[Any], result: Any) -> Any:
    """Apply the op's own formula, with zeros for an input without a tangent."""
    given = {
        name + "_t": zero_tangent(v if has_gradients(v) else result) if t is None else t
        for name, v, t in zip(op.inputs, inputs_of(op, values), tangents)
    }
    return op.jvp(*(given[n] if n in given else argument(op, n, values, result) for n in parameters(op.jvp)))


def has_gradients(value: Any) -> bool:
    """Return whether this is a tensor of a dtype that can have gradients."""
    return isinstance(value, TensorBase) and value._data.dtype in DIFFERENTIABLE


@composite
def product_jvp(tangent: Any, factor: Any) -> Any:
    """Return a tangent times a factor, for the `jvp` of an op. Without a tangent return zeros, whatever the
    factor is.
    """
    if not is_nothing(tangent):
        return tangent * factor
    out = wrap(np.broadcast_to(tangent._data, np.broadcast_shapes(tangent._data.shape, factor._data.shape)))
    if modes.state.grad_enabled:
        out._fn = record(F.mul.op, [tangent, factor], out._data)
    out._nothing = True
    return out


def linear_jvp(op: Op, values: Any, tangents: list[Any]) -> Any:
    """Run the op on the tangents."""
    inputs = inputs_of(op, values)
    given = [zero_tangent(v) if t is None else t for v, t in zip(inputs, tangents)]
    if op.listed:
        return compute(op, [given, *values[1:]])
    arguments = list(values)
    for i, t, vjp in zip(op.places, given, op.vjps.values()):
        arguments[i] = primal(values[i]) if vjp is zeros else t
    return compute(op, arguments)


def zero_tangent(value: Any) -> Any:
    """Return the tangent of an input that has none: zeros, or 0 for a number."""
    if not isinstance(value, TensorBase):
        return type(value)(0)
    data = value._data
    t = wrap(np.broadcast_to(data.dtype.type(0), data.shape) if data.ndim else data.dtype.type(0))
    t._nothing = True
    return t


def is_nothing(t: TensorBase) -> bool:
    """Return whether `t` stands for a missing tangent."""
    return hasattr(t, "_nothing")


def multilinear(op: Op, values: Any, tangents: list[Any], result: TensorBase) -> Any:
    """Run the op once per input, with the tangent instead of that input, and return the sum.

    In an elementwise product the tangent is the first factor, and the second input's term comes first, as in
    PyTorch. Terms without a tangent are nodes of the graph, if there is one, and nothing is computed for
    them.
    """
    primals = [primal(v) for v in values]
    terms: list[Any] = []
    for k, i in enumerate(op.places):
        t = tangents[k]
        arguments = [*primals]
        arguments[i] = (
            zero_tangent(values[i] if isinstance(values[i], TensorBase) else result) if t is None else t
        )
        if op.elementwise:
            arguments[:2] = arguments[i], arguments[1 - i]
        if t is not None:
            terms.append(compute(op, arguments))
        else:
            terms.append(zero_tangent(result))
            terms[-1]._fn = record(op, arguments, result._data) if modes.state.grad_enabled else None
    if op.elementwise:
        terms.reverse()
    recorded = any(t._fn is not None for t in terms)
    given = [t for t in terms if recorded or not is_nothing(t)]
    tangent = total(given)
    promotes = len(given) < len(terms) and tangent._data.dtype != result._data.dtype
    return F.add(tangent, zero_tangent(result)) if promotes else tangent


def total(terms: list[Any]) -> Any:
    """Return the sum."""
    first, *others = terms
    for term in others:
        first = F.add(first, term)
    return first


def elementwise(op: Op, values: Any, tangents: list[Any], result: TensorBase) -> Any:
    """Return the sum of the vjps of the tangents. It is never a tangent itself, which would be modified
    together with it.
    """
    terms = [vjp_of(op, k, t, values, result) for k, t in enumerate(tangents) if t is not None]
    tangent = total(terms)
    return F.clone(tangent) if any(tangent is t for t in tangents) else tangent


def vjp_of(op: Op, k: int, g: Any, values: Any, result: Any, adjoint: bool = False) -> Any:
    """Return the vjp of input `k`, applied to `g`. With `adjoint`, saved values are conjugated as in backward
    (see Note [Complex numbers] in `apply`).
    """
    own = op.complexes.get(op.inputs[k]) if adjoint else None
    vjp = own or op.vjps[op.inputs[k]]
    given = [argument(op, name, values, result) for name in arguments(vjp)]
    return vjp(g, *([conjugate(v, False) for v in given] if adjoint and own is None else given))


def argument(op: Op, name: str, values: Any, result: Any) -> Any:
    """Return what a vjp receives for the parameter `name`."""
    if name in op.results:
        return result[op.results.index(name)] if op.several else result
    suffix = next((s for s in DERIVED if name.endswith(s)), None)
    if suffix is None:
        return primal(values[op.params.index(name)])
    value = values[op.params.index(name.removesuffix(suffix))]
    kind = DERIVE[suffix]
    return [kind(v._data) for v in value] if op.listed else kind(value._data)


def transpose_vjp(op: Op, values: Any, tangents: list[Any], result: Any) -> Any:
    """Return the transpose of `g ↦ vjp(g)`, by running backward from the vjps with the
    tangents as gradients.
    """
    results = result if op.several else (result,)
    adjoint = has_complex(op, values, result)
    seeds = [wrap(np.zeros_like(r._data)[()]) for r in results]
    for seed in seeds:
        seed._acc = True
    create_graph = modes.is_grad_enabled()
    slots: list[Any] = []
    starts: list[Any] = []
    with Within(grad_enabled=True):
        for k, t in enumerate(tangents):
            if t is None:
                continue
            g = vjp_of(op, k, seeds if op.several else seeds[0], values, result, adjoint)
            if g is None:
                continue
            sent = back_to(g, values[op.places[k]])
            if sent.requires_grad:
                slots.append((edge(sent), sent._nr))
                starts.append(t if create_graph else operand(t))
        asked: list[Any] = [(edge(seed), 0) for seed in seeds]
        arrived = engine.run(slots, starts, True, create_graph, asked) if slots else [None] * len(seeds)
    made = tuple(as_tangent(g, r) for g, r in zip(arrived or (), results, strict=True))
    return made if op.several else made[0]


def as_tangent(gradient: Any, result: TensorBase) -> Any:
    """Return the gradient that arrived in `transpose_vjp`, as a tangent of `result`."""
    if gradient is None:
        return wrap(np.zeros_like(result._data)[()])
    return F.resolve_conj(gradient) if isinstance(gradient, TensorBase) else wrap(gradient)


def back_to(gradient: Any, value: TensorBase) -> Any:
    """Return the gradient of an input in the input's shape and dtype."""
    data, g = value._data, gradient._data
    if g.shape == data.shape and g.dtype == data.dtype:
        return gradient
    return uncast(((data.shape, data.dtype),), [gradient])[0]


def primal(t: Any) -> Any:
    """Return `t` without its tangent, for use in the graph of another tensor."""
    if not isinstance(t, TensorBase) or not modes.state.grad_enabled:
        return t
    if t.requires_grad and not modes.state.constant_primals:
        result = F.fw_primal(t)
        result._tangent_base = False
        return result
    if t._tangent is None and not t.requires_grad:
        return t
    return alias(t, t._data) if isinstance(t._data, np.ndarray) else wrap(t._data)


# ─── Forward mode: when an op has run inside a level, its result gets a tangent


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
    with without_tangents():
        found = derive(op, values, tangents, result)
        for nr, (out, tangent) in enumerate(zip(results, found if op.several else (found,), strict=True)):
            if is_learnable(op, nr, out):
                put_tangent(out, tangent if op.view else fit_tangent(out, tangent, False))
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
    with without_tangents():
        if op.name in DRAWN:
            if mine is not None:
                mine.zero_()
        elif mine is None:
            adopt(
                t,
                tangent_of_copy(t, source) if op.name == "copy" else derive(op, values, tangents, primal(t)),
            )
        elif op.name == "copy":
            mine.fill_(0) if source is None else mine.copy_(source)
        elif op.name in SETS:
            F.in_place(op, mine, *tangent_arguments(op, values, tangents))
        else:
            mine.copy_(derive(op, values, tangents, primal(t)))
    keep_tangents(op, node, values, t)


def tangent_of_copy(t: TensorBase, source: Any) -> Any:
    """Return the tangent of `t`, which had none, after `copy_` of a value with the tangent `source`."""
    shape = t._data.shape
    return F.clone(source) if source._data.shape == shape else F.expand(source, shape)


def tangent_arguments(op: Op, values: list[Any], tangents: list[Any]) -> list[Any]:
    """Return the arguments of a linear op after the first, with tangents instead of values."""
    given = dict(zip(op.params, values, strict=True))
    for name, tangent in zip(op.inputs, tangents, strict=True):
        given[name] = zero_tangent(given[name]) if tangent is None else tangent
    if "value" not in op.inputs and "value" in given:
        given["value"] = 0
    return list(given.values())[1:]
