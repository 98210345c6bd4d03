"""`backward` and `grad`: what a user calls to run the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dialect, dtypes, engine, modes
from ..graph import Node
from ..op import F
from ..tensor_base import TensorBase, edge, wrap

NO_GRAPH = "element {} of tensors does not require grad and does not have a grad_fn"
CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
    "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
    "avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters "
    "to None after use to break the cycle and avoid the leak."
)


ONES = {t: t(1) for t in dtypes.FAST_SCALARS}  # the gradient to start from, for a 0-dim root


def as_tuple(value: Any) -> tuple[Any, ...]:
    """One tensor, or a sequence of them, as a tuple; TypeError with Python's text for anything else."""
    return (value,) if isinstance(value, TensorBase) else tuple(value)


def given_gradients(value: Any, count: int) -> tuple[Any, ...]:
    """The gradients a caller gave for `count` roots: none, one tensor or a sequence; more than roots are left
    over.
    """
    gradients = (None,) * count if value is None else as_tuple(value)[:count]
    if len(gradients) != count:
        raise RuntimeError(f"got {count} tensors and {len(gradients)} gradients")
    return gradients


def start_gradients(roots: Sequence[Any], gradients: Sequence[Any]) -> list[Any]:
    """Each root's gradient: what was given, checked, or 1 for a root of one element."""
    result: list[Any] = []
    for i, (root, gradient) in enumerate(zip(roots, gradients)):
        if isinstance(gradient, TensorBase):
            check_gradient(i, root, gradient)
        elif gradient is not None:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        elif root.requires_grad:
            data = root._data
            if data.size != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            one = ONES.get(data.__class__)
            gradient = wrap(np.ones_like(data)[()] if one is None else one)
        result.append(gradient)
    return result


def check_gradient(i: int, root: Any, gradient: Any) -> None:
    """RuntimeError with PyTorch's text where a given gradient does not fit its root."""
    if gradient._data.shape != root._data.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {gradient.shape} and output[{i}] has a "
            f"shape of {root.shape}."
        )
    ours, theirs = dtypes.of(root._data), dtypes.of(gradient._data)
    if ours.is_complex != theirs.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{i}] has a dtype of {theirs} and output[{i}] has a dtype of "
            f"{ours}."
        )


def root_slots(roots: Sequence[Any]) -> list[tuple[Node, int]]:
    """The node and output number at which backward starts, per root; RuntimeError where there is none."""
    slots = []
    for i, root in enumerate(roots):
        node = edge(root)
        if node is None:
            raise RuntimeError(NO_GRAPH.format(i))
        slots.append((node, root._nr))
    return slots


def run(roots: Sequence[Any], gradients: Sequence[Any], *how: Any) -> list[Any] | None:
    """Check, tell the observers, run the engine; `how` are the fields of `Options`."""
    __tracebackhide__ = True
    given = start_gradients(roots, gradients)
    watchers = modes.observers() if modes.active else ()
    if not watchers:
        return start(roots, given, *how)
    for watcher in watchers:
        watcher.backward_started(roots, given, Options(*how))
    error: BaseException | None = None
    arrived: list[Any] | None = None
    try:
        arrived = start(roots, given, *how)
        return arrived
    except BaseException as raised:
        error = raised
        raise
    finally:
        for watcher in watchers:
            watcher.backward_ended(error, None if arrived is None else [wrap_raw(g) for g in arrived])
        error = None  # or the error and this frame would refer to each other, and so keep the roots


def start(
    roots: Sequence[Any],
    given: list[Any],
    call: str,
    retain_graph: bool | None,
    create_graph: bool,
    wanted: tuple[Any, ...] | None,
    accumulate: bool,
) -> list[Any] | None:
    """Run the engine from `roots` with the gradients `given`."""
    __tracebackhide__ = True
    slots = root_slots(roots)
    inputs = None if wanted is None else engine.Inputs(input_slots(wanted, accumulate), accumulate)
    starts = [cast_like(g, r._data, create_graph) for g, r in zip(given, roots)]
    keep = create_graph if retain_graph is None else retain_graph
    return engine.run(slots, starts, keep, create_graph, inputs)


def start_plain(root: Any, keep_graph: bool) -> bool:
    """Run the engine for `root.backward()` of a 0-dim result in the normal modes; False, and nothing is done,
    for any other root.
    """
    __tracebackhide__ = True
    try:
        one, node = ONES[root._data.__class__], root._fn
    except (AttributeError, KeyError):
        return False
    if node is None or root._view is not None:
        return False
    engine.run(((node, root._nr),), (one,), keep_graph, False)
    return True


def wrap_raw(gradient: Any) -> Any:
    """A gradient as a tensor."""
    return gradient if gradient is None or isinstance(gradient, TensorBase) else wrap(gradient)


def cast_like(gradient: Any, root: Any, create_graph: bool) -> Any:
    """A gradient in the dtype of the raw `root`: the tensor under `create_graph`, else its raw data."""
    data = gradient._data
    unsure = data.__class__ is not root.__class__ or data.__class__ is np.ndarray
    if unsure and data.dtype != root.dtype:
        return F.to(gradient, root.dtype) if create_graph else data.astype(root.dtype)
    return gradient if create_graph else data


def input_slots(inputs: Sequence[Any], accumulate: bool) -> list[tuple[Node, int]]:
    """The node and output number where the gradient of each input arrives; non-leaves keep what is
    accumulated.
    """
    slots = []
    for t in inputs:
        if accumulate:
            t.retain_grad()
        node = edge(t)
        if node is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        slots.append((node, t._nr))
    return slots


class Options(NamedTuple):
    """How a backward call was made: `call` is "backward" or "grad"; `inputs` limits it, None means all
    leaves.
    """

    call: str
    retain_graph: bool | None
    create_graph: bool
    inputs: tuple[Any, ...] | None
    accumulate: bool


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Run backward from `tensors` and add gradients to the `.grad` of the leaves, or of `inputs` only.

    `grad_tensors` are the gradients to start from (None: 1, for one element). `retain_graph` keeps saved
    values for another call (default: the value of `create_graph`); `create_graph` records the gradients' own
    graph.
    """
    plain = grad_tensors is inputs is grad_variables is None and not create_graph and not modes.active
    if plain and start_plain(tensors, bool(retain_graph)):
        return
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                "Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else as_tuple(inputs)
    if wanted is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    roots = as_tuple(tensors)
    gradients = given_gradients(grad_tensors, len(roots))
    run(roots, gradients, "backward", retain_graph, create_graph, wanted, True)
    if create_graph:
        dialect.warn(CYCLE)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Gradients of `outputs` with respect to `inputs`, as a tuple; no `.grad` changes.

    `allow_unused`: None instead of an error for an input that the outputs do not depend on;
    `materialize_grads`: zeros instead of that None. The other arguments are those of `backward`.
    """
    roots, wanted = as_tuple(outputs), as_tuple(inputs)
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    gradients = given_gradients(grad_outputs, len(roots))
    arrived = run(roots, gradients, "grad", retain_graph, create_graph, wanted, False)
    result = []
    for i, (t, g) in enumerate(zip(wanted, arrived or (), strict=True)):
        if g is None and not (allow_unused or materialize_grads):
            raise RuntimeError(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
        if g is None and materialize_grads:
            g = np.zeros_like(t._data)[()]
        result.append(wrap_raw(g))
    return tuple(result)


TensorBase.run_backward = staticmethod(backward)
