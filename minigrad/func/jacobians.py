"""`jacrev`, `jacfwd` and `hessian`: whole Jacobians of functions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, modes
from ..autograd.rows import element_rows
from ..op import F
from ..tensor_base import TensorBase, wrap
from . import pytree
from .argnums import Argnums, wanted
from .forward import pushforward
from .levels import Level, Transform
from .mapping import Randomness, check_randomness
from .reverse import run_inside, zeros


def refuse_complex(who: str, tree: Any, what: str) -> None:
    """RuntimeError with PyTorch's text for complex tensors."""
    for i, leaf in enumerate(pytree.flatten(tree)[0]):
        if isinstance(leaf, TensorBase) and dtypes.of(leaf._data).is_complex:
            raise RuntimeError(
                f"{who}: Expected all {what} to be real but received complex tensor at flattened input idx: "
                f"{i}"
            )


def units(leaves: list[Any]) -> list[list[Any]]:
    """For each element of all leaves together, leaves of zeros with 1 in the place of that element."""
    result = []
    for n, leaf in enumerate(leaves):
        for k in range(leaf.numel()):
            flat = np.zeros(leaf.numel(), leaf._data.dtype)
            flat[k] = 1
            unit = [zeros(other) for other in leaves]
            unit[n] = wrap(flat.reshape(leaf._data.shape)[()])
            result.append(unit)
    return result


def shaped(parts: list[Any], dim: int, outer: Any, inner: Any, like: Any) -> Any:
    """Rows (or columns) side by side along `dim`, in the shape of the Jacobian of `outer` by `inner`."""
    shape = (*outer.shape, *inner.shape)
    return (F.stack(parts, dim) if parts else wrap(np.zeros(shape, like._data.dtype))).reshape(shape)


def by_rows(
    who: str, func: Callable[..., Any], args: tuple[Any, ...], argnums: Any, has_aux: bool, at_once: int | None
) -> tuple[Any, Any]:
    """The Jacobian of `func` and aux: `func` runs once, and backward for all elements of an output together."""
    refuse_complex(who, args, "inputs")
    wanted(args, argnums)
    level = Level()
    with Transform("grad"):
        ran = run_inside(level, func, args, argnums, has_aux)
        refuse_complex(who, ran.outputs, "outputs")
        rows = [rows_of(level, out, ran.leaves, at_once) for out in ran.outputs]
        parts = [split(column, ran.outputs, x) for column, x in zip(zip(*rows), ran.leaves)]
        result = [level.outward(blocks) for blocks in zip(*parts)] or [[] for _ in ran.outputs]
        others, aux_spec = pytree.flatten(ran.aux) if has_aux else ([], pytree.LEAF)
        others = level.outward(others)
        level.leave([*itertools.chain(*result), *others])
    jacobian = pytree.unflatten([pytree.unflatten(blocks, ran.spec) for blocks in result], ran.output_spec)
    return jacobian, pytree.unflatten(others, aux_spec) if has_aux else None


def rows_of(level: Level, out: Any, leaves: list[Any], at_once: int | None) -> list[Any]:
    """For each inner leaf the gradients of all elements of `out`, with a graph if they depend on something outside."""
    rows: list[Any] = [None] * len(leaves)
    if out.requires_grad and out.numel():
        create_graph = modes.is_forward() or (level.recording and level.connected(out))
        rows = element_rows(out, tuple(leaves), create_graph, at_once)
    for n, (part, leaf) in enumerate(zip(rows, leaves)):
        if part is None:
            rows[n] = wrap(np.zeros((out.numel(), *leaf.shape), leaf._data.dtype))
        elif not part.requires_grad:
            part._batched = out._batched
    return rows


def split(rows: Any, outputs: list[Any], x: Any) -> list[Any]:
    """The rows for one input, per output, as blocks of the Jacobian. As in PyTorch they are parts of one tensor: if one
    of them has a graph, all of them require grad.
    """
    if len(rows) == 1:
        return [rows[0].reshape(*outputs[0].shape, *x.shape)]
    parts = F.cat(rows).split([out.numel() for out in outputs])
    return [part.reshape(*out.shape, *x.shape) for part, out in zip(parts, outputs)]


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func` with respect to the arguments `argnums`, in reverse
    mode: `func` runs once, and backward once for each element of its output.

    Of each output, per argument, a tensor of the output's sizes followed by the argument's, in the structure
    of the output, and inside it that of the arguments. With `has_aux` the result is `(jacobian, aux)`.
    `chunk_size`, how many rows PyTorch computes together, makes no difference here.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        jacobian, aux = by_rows("jacrev", func, args, argnums, has_aux, chunk_size)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func` as `jacrev` does, in forward mode: `func` runs once
    for each element of the arguments `argnums` (PyTorch batches these runs into one)."""

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacfwd", args, "inputs")
        check_randomness(randomness)
        chosen = args if argnums is None else wanted(args, argnums)
        inputs, input_spec = pytree.flatten(chosen)
        columns: list[list[Any]] = []
        output: Any = None
        aux: Any = None
        for unit in units(inputs) or [[zeros(x) for x in inputs]]:
            tangent = pytree.unflatten(unit, input_spec)
            tangent = (tangent,) if isinstance(argnums, int) else tangent
            output, found, other = pushforward(func, args, tangent, argnums, has_aux=has_aux)
            aux = aux if columns else other
            refuse_complex("jacfwd", output, "outputs")
            columns.append(pytree.flatten(found)[0])
        outputs, output_spec = pytree.flatten(output)
        result = []
        for n, out in enumerate(outputs):
            parts, start = [], 0
            for x in inputs:
                mine = columns[start : start + x.numel()]
                start += x.numel()
                parts.append(shaped([column[n] for column in mine], -1, out, x, out))
            result.append(pytree.unflatten(parts, input_spec))
        jacobian = pytree.unflatten(result, output_spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that returns the Hessian of `func`: `jacfwd(jacrev(func))`."""
    inner = jacrev(func, argnums)

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        with Randomness("error"):
            return by_rows("jacfwd", inner, args, argnums, False, None)[0]

    return wrapper
