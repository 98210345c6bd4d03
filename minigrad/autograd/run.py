"""`backward` and `grad`: what a user calls to run the engine, with PyTorch's errors for the arguments."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import F, dialect, dtypes, engine, modes
from ..core.modes import hidden_from_observers
from ..core.node import AccumulateGrad, Node, output_of
from ..core.tensor_state import TensorBase, edge, fresh, numbers, wrap
from .graph import GradientEdge

# ─── Where a backward call starts, and what it is asked for


NO_GRAPH = "element {} of tensors does not require grad and does not have a grad_fn"
WRONG_SHAPE = "Mismatch in shape: grad_output[{0}] has a shape of {1} and output[{0}] has a shape of {2}."
WRONG_BATCH = (
    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
    "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
    "output, but a mismatch was detected: grad_output[{0}] has a shape of {1} and output[{0}] has a shape of "
    "{2}. If you only want some tensors in `grad_output` to be considered batched, consider using vmap."
)
ONES = {t: t(1) for t in dtypes.FAST_SCALARS}  # the gradient to start from, for a 0-dim root


def as_tuple(value: Any) -> tuple[Any, ...]:
    """One tensor or GradientEdge, or a sequence of them, as a tuple; TypeError with Python's text for
    anything else.
    """
    return (value,) if isinstance(value, (TensorBase, GradientEdge)) else tuple(value)


def wanted_inputs(value: Any, function: str) -> tuple[Any, ...]:
    """What `inputs=` asks for; the values of a dict."""
    if isinstance(value, TensorBase):
        return (value,)
    if type(value) is dict:
        wanted = tuple(value.values())
    elif not isinstance(value, (list, tuple)) and isinstance(value, Mapping):
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(value).__name__}. Other Mapping "
            "types are not supported."
        )
    else:
        wanted = as_tuple(value)
    if not wanted:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return wanted


def flags(retain_graph: Any, create_graph: Any) -> tuple[bool, bool]:
    """Both flags as bools, the first like the second if it is None; TypeError with Python's text for what is
    neither bool nor integer.
    """
    create = create_graph if create_graph.__class__ is bool else bool(operator.index(create_graph))
    if retain_graph is None:
        return create, create
    return bool(operator.index(retain_graph)), create


def start_gradients(roots: Sequence[Any], given: Any, batched: bool = False) -> list[Any]:
    """Each root's gradient: what was given (None, a tensor or a sequence), checked, or 1 for a root of one
    element.

    Gradients beyond the number of roots are left out, as in PyTorch; too few are an error.
    """
    result: list[Any] = []
    gradients = (None,) * len(roots) if given is None else as_tuple(given)
    for i, (root, gradient) in enumerate(zip(roots, gradients)):
        if isinstance(gradient, TensorBase):
            check_gradient(i, root, *gradient_kind(root), gradient, batched)
        elif gradient is not None:
            gradient_kind(root)
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        elif isinstance(root, TensorBase):
            ready = ONES.get(root._data.__class__)
            if root.requires_grad:
                gradient = wrap(ready) if ready is not None else one(*gradient_kind(root))
        else:
            gradient = one(*gradient_kind(root))
        result.append(gradient)
    if len(result) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(result)} gradients")
    return result


def gradient_kind(root: Any) -> tuple[Any, Any]:
    """Shape and NumPy dtype of a root."""
    if isinstance(root, TensorBase):
        return root._data.shape, root._data.dtype
    if not isinstance(root, GradientEdge):
        raise AssertionError("Expected output to be a torch.Tensor")
    kind = output_of(*slot_of(root))
    if kind is None:
        raise RuntimeError("the shape of this GradientEdge is not known; use get_gradient_edge(tensor)")
    return kind


def one(shape: tuple[int, ...], dtype: Any) -> Any:
    """The gradient of a root of one element when none is given."""
    if math.prod(shape) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if dtype.kind != "f":
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but got "
            f"{dtype_name(dtypes.of(dtype.type(0)))}"
        )
    return wrap(np.ones(shape, dtype)[()])


def check_gradient(i: int, root: Any, shape: Any, dtype: Any, gradient: Any, batched: bool) -> None:
    """RuntimeError with PyTorch's text where a given gradient does not fit its root."""
    size = type(gradient.shape)
    given = gradient[0].shape if batched else gradient.shape
    if given != shape:
        if batched and isinstance(root, GradientEdge):
            raise RuntimeError("Batched grads are not supported with GradientEdge")
        text, given = (WRONG_BATCH, given[1:]) if batched else (WRONG_SHAPE, given)
        raise RuntimeError(text.format(i, size(given), size(shape)))
    ours, theirs = dtypes.of(dtype.type(0)), dtypes.of(gradient._data)
    if ours.is_complex != theirs.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{i}] has a dtype of {dtype_name(theirs)} and output[{i}] has a "
            f"dtype of {dtype_name(ours)}."
        )


def batch_size(given: list[Any]) -> int:
    """How many rows all gradients have; ValueError with PyTorch's text if there is no such number."""
    for g in given:
        checked_dim("vmap(vjp, in_dims=0, ...)(<inputs>): ", g, 0, "0")
    return common_size([len(g._data) for g in given])


def checked_dim(who: str, leaf: Any, dim: int, least: str = "-{}") -> int:
    """Return the dimension of a batch, counted from the front; ValueError with PyTorch's texts, which call
    `least` the lowest number.
    """
    if not isinstance(leaf, TensorBase):
        raise ValueError(
            f"{who}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    n = leaf._data.ndim
    if not -n <= dim < n:
        raise ValueError(
            f"{who}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {n} so "
            f"expected in_dim to satisfy {least.format(n)} <= in_dim < {n}."
        )
    return dim % n


def common_size(sizes: list[int]) -> int:
    """Return the size of a batch, which all tensors have; ValueError with PyTorch's text if they differ."""
    if len(set(sizes)) != 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def dtype_name(dtype: dtypes.dtype) -> str:
    """A dtype as PyTorch's errors name it."""
    return "torch." + str(dtype).rpartition(".")[2]


def slot_of(given: GradientEdge) -> tuple[Node, int]:
    """Node and output number of a GradientEdge, checked."""
    node, nr = given.node, given.output_nr
    if not isinstance(node, Node):
        raise RuntimeError(
            f"GradientEdge's first object must be an autograd.graph.Node but got {type(node).__name__}"
        )
    if not 0 <= nr < node._outputs:
        raise RuntimeError(f"{node.name()} has no output {nr} for a GradientEdge")
    return node, nr


def root_slots(roots: Sequence[Any]) -> list[tuple[Node, int]]:
    """The node and output number at which backward starts, per root; RuntimeError where there is none."""
    slots = []
    for i, root in enumerate(roots):
        if isinstance(root, TensorBase):
            node = edge(root)
            if node is None:
                raise RuntimeError(NO_GRAPH.format(i))
            slots.append((node, root._nr))
        else:
            slots.append(slot_of(root))
    return slots


def input_slots(inputs: Sequence[Any], accumulate: bool) -> list[tuple[Node, int]]:
    """The node and output number where the gradient of each input arrives; non-leaves keep what is
    accumulated.
    """
    slots = []
    for t in inputs:
        if isinstance(t, TensorBase):
            if accumulate:
                t.retain_grad()  # type: ignore[attr-defined]
            node = edge(t)
            if node is None:
                if not t.requires_grad:
                    raise RuntimeError("One of the differentiated Tensors does not require grad")
                node = AccumulateGrad(t)  # of a view that was made outside the graph: it is never reached
            slots.append((node, t._nr))
        elif isinstance(t, GradientEdge):
            slots.append(slot_of(t))
        else:
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(t).__name__}")
    return slots


def cast_like(gradient: Any, root: Any, create_graph: bool) -> Any:
    """A gradient in the dtype of its root: the tensor under `create_graph`, else its raw data."""
    if gradient is None:
        return None
    data = numbers(gradient)
    dtype = root._data.dtype if isinstance(root, TensorBase) else gradient_kind(root)[1]
    if data.dtype is not dtype and data.dtype != dtype:
        return F.to(gradient, dtype) if create_graph else data.astype(dtype)
    return gradient if create_graph else data


# ─── `backward` and `grad`: what a user calls to run the engine


CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
    "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
    "avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters "
    "to None after use to break the cycle and avoid the leak."
)


class Options(NamedTuple):
    """How a backward call was made: `call` is "backward" or "grad"; `inputs` limits it, None means all
    leaves. A `batched` call is one row of a call with `is_grads_batched`. Without `allow_unused` no input may
    stay without a gradient.
    """

    call: str
    retain_graph: bool
    create_graph: bool
    inputs: tuple[Any, ...] | None
    batched: bool = False
    allow_unused: bool = True


def run_backward(roots: Sequence[Any], given: list[Any], options: Options) -> list[Any] | None:
    """Run the engine from `roots` with the gradients `given`, and notify the observers. Return the gradients
    of the inputs of `grad`, as tensors.
    """
    __tracebackhide__ = True
    if not options.create_graph:
        modes.repeat_for_each()  # the derivatives of an example would be arrays
    watchers = modes.observers()
    error: BaseException | None = None
    arrived: list[Any] | None = None
    _, keep_graph, create_graph, wanted, _, allow_unused = options
    try:
        for watcher in watchers:
            watcher.backward_started(roots, given, options)
        slots = root_slots(roots)
        accumulate = options.call == "backward"
        inputs = None if wanted is None else input_slots(wanted, accumulate)
        tensors = create_graph or modes.is_forward()
        starts = [cast_like(g, root, tensors) for g, root in zip(given, roots, strict=True)]
        found = engine.run(slots, starts, keep_graph, create_graph, inputs, accumulate)
        if found is not None:
            if not allow_unused:
                check_used(found)
            arrived = [g if g is None or isinstance(g, TensorBase) else fresh(g) for g in found]
        return arrived
    except BaseException as raised:
        error = raised
        raise
    finally:
        for watcher in watchers:
            watcher.backward_ended(error, arrived)
        error = None  # or the error and this frame would refer to each other, and so keep the roots


def check_used(arrived: Sequence[Any]) -> None:
    """Raise PyTorch's RuntimeError unless every input received a gradient."""
    for i, g in enumerate(arrived):
        if g is None:
            raise RuntimeError(
                f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )


def run_batch(roots: Sequence[Any], given: list[Any], options: Options) -> list[Any]:
    """Call `run_backward` for each row of the gradients, and stack the results."""
    count = batch_size(given)
    arrived = []
    for k in range(count):
        with hidden_from_observers(options.create_graph):
            rows = [g[k] for g in given]
        ahead = k + 1 < count
        how = options._replace(
            retain_graph=options.retain_graph or ahead, allow_unused=options.allow_unused or ahead
        )
        arrived.append(run_backward(roots, rows, how) or [])
    with hidden_from_observers(options.create_graph):
        return [
            None if any(g is None for g in rows) else F.stack(rows) for rows in zip(*arrived, strict=True)
        ]


def plain_start(root: Any, given: Any, tensors: Any) -> tuple[tuple[Any, int], Any] | None:
    """Node, output number and gradient to start from: what is `given`, or 1 for a 0-dim result. The gradient
    is raw, unless `tensors`. None if there is something to check or to convert.
    """
    if given.__class__ in (list, tuple) and len(given) == 1:
        given = given[0]
    try:
        data, node, view = root._data, root._fn, root._view
        one: Any = None
        if given is None:
            one = ONES.get(data.__class__) or (ONES[data.dtype.type] if data.ndim == 0 else None)
        else:
            one = None if given._bits or given._data.shape != data.shape else given._data
    except (AttributeError, KeyError):
        return None
    if one is None or node is None or one.dtype is not data.dtype:
        return None
    if view is not None and view.version != root._storage.version:
        return None
    if tensors:
        one = wrap(one) if given is None else given
    return (node, root._nr), one


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Compute the gradients of tensors and add them to the `.grad` of the leaves.

    Each node multiplies its upstream gradient by the derivative of its op (a vector-Jacobian product) and
    passes the result on, until it reaches the leaves.

    Args:
        tensors: tensor or tensors to start from, or GradientEdges.
        grad_tensors: upstream gradient of each tensor; None means 1 and needs a single element.
        retain_graph: True keeps the saved tensors for another call; create_graph if None.
        create_graph: True records the computation of the gradients, for higher derivatives.
        grad_variables: deprecated; use grad_tensors.
        inputs: tensors that receive a gradient; all leaves if None.

    Returns:
        None.

    Raises:
        RuntimeError: a tensor has no graph, has several elements but no upstream gradient, or its graph was
            freed by an earlier call.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> torch.autograd.backward(x * x)
        >>> x.grad
        tensor(6.)

    Source: PyTorch's page `torch.autograd.backward`.
    """
    plain = inputs is grad_variables is None and create_graph is False
    plain = plain and not (modes.active or modes.state.transforms)
    if plain and (retain_graph is None or retain_graph.__class__ is bool):
        start_at = plain_start(tensors, grad_tensors, False)
        if start_at is not None:
            node, one = start_at
            engine.run_plain(node, one, retain_graph is True)
            return
    if modes.state.transforms:
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms."
        )
    if grad_variables is not None:
        text = "`grad_variables` is deprecated. Use `grad_tensors` instead."
        warnings.warn(text, FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                "Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else wanted_inputs(inputs, "backward")
    roots = as_tuple(tensors)
    given = start_gradients(roots, grad_tensors)
    keep_graph, create_graph = flags(retain_graph, create_graph)
    if create_graph:
        root_slots(roots)  # no warning where there is no graph
        dialect.warn_of_dialect(CYCLE)
    run_backward(roots, given, Options("backward", keep_graph, create_graph, wanted))


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Compute and return the gradients of `outputs` with respect to `inputs`; `.grad` does not change.

    Args:
        outputs: tensor or tensors to start from, or GradientEdges.
        inputs: tensor or tensors whose gradients are returned; a dictionary gives a dictionary.
        grad_outputs: upstream gradient of each output; None means 1 and needs a single element.
        retain_graph: True keeps the saved tensors for another call; create_graph if None.
        create_graph: True records the computation of the gradients, for higher derivatives.
        only_inputs: deprecated and ignored.
        allow_unused: True returns None for an input that the outputs do not depend on.
        is_grads_batched: True takes each row of grad_outputs as one upstream gradient.
        materialize_grads: True returns zeros instead of None.

    Returns:
        A tuple with the gradient of each input.

    Raises:
        RuntimeError: an input is not used in the graph, or the cases of `backward`.
        ValueError: materialize_grads is True and allow_unused is False.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> torch.autograd.grad(x * x, x)
        (tensor(6.),)

    Source: PyTorch's page `torch.autograd.grad`.
    """
    plain = only_inputs is True and not modes.active
    if plain and not is_grads_batched and not materialize_grads and type(inputs) is not dict:
        single = outputs.__class__ is tuple and len(outputs) == 1
        start_at = plain_start(outputs[0] if single else outputs, grad_outputs, create_graph)
        if start_at is not None:
            wanted = wanted_inputs(inputs, "grad")
            return grad_plain(start_at, wanted, *flags(retain_graph, create_graph), bool(allow_unused))
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    roots = as_tuple(outputs)
    wanted = wanted_inputs(inputs, "grad")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    given = start_gradients(roots, grad_outputs, is_grads_batched)
    keep_graph, create_graph = flags(retain_graph, create_graph)
    may_miss = bool(allow_unused or materialize_grads)
    options = Options("grad", keep_graph, create_graph, wanted, bool(is_grads_batched), may_miss)
    result = tuple((run_batch if is_grads_batched else run_backward)(roots, given, options) or ())
    if materialize_grads:
        result = materialize_gradients(result, wanted, create_graph)
    return dict(zip(inputs, result, strict=True)) if type(inputs) is dict else result


def grad_plain(
    start_at: tuple[Any, Any],
    wanted: tuple[Any, ...],
    keep_graph: bool,
    create_graph: bool,
    allow_unused: bool,
) -> tuple[Any, ...]:
    """`grad` from a plain start (see `plain_start`), which takes half as long for a few nodes."""
    node, one = start_at
    slots = tuple(input_slots(wanted, False))
    arrived: Any = engine.run_plain(node, one, keep_graph, create_graph, slots)
    if not allow_unused:
        check_used(arrived)
    return tuple(arrived) if create_graph else tuple([g if g is None else wrap(g) for g in arrived])


def materialize_gradients(
    gradients: tuple[Any, ...], wanted: tuple[Any, ...], create_graph: bool
) -> tuple[Any, ...]:
    """Replace missing gradients by zeros, which require a gradient under `create_graph`."""
    result = []
    for g, t in zip(gradients, wanted, strict=True):
        if g is None:
            if isinstance(t, GradientEdge):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            g = wrap(np.zeros_like(t._data)[()])
            g._acc = True if create_graph else None
        result.append(g)
    return tuple(result)


# ─── Many gradients of one tensor: the rows of a Jacobian, from passes over one graph


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
    rows = [run_backward((root,), [wrap(unit)], options) or [] for chunk in units(root, 1) for unit in chunk]
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
