"""`jacrev`, `jacfwd` and `hessian`: whole Jacobians of functions."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes, modes
from ..autograd.rows import element_rows
from ..dtypes import DIFFERENTIABLE
from ..hook_calls import Mode
from ..op import F
from ..op.tangents import Aside
from ..tensor_base import TensorBase, wrap
from . import pytree
from .argnums import Argnums, wanted
from .forward import pushforward
from .levels import Level, Transform
from .mapping import Randomness, check_randomness
from .reverse import gradients, run_inside, zeros


def refuse_complex(who: str, tree: Any, what: str) -> None:
    """RuntimeError with PyTorch's text for complex tensors."""
    for i, leaf in enumerate(pytree.flatten(tree)[0]):
        if isinstance(leaf, TensorBase) and dtypes.of(leaf._data).is_complex:
            raise RuntimeError(
                f"{who}: Expected all {what} to be real but received complex tensor at flattened input idx: "
                f"{i}"
            )


def by_rows(
    who: str, func: Callable[..., Any], args: tuple[Any, ...], argnums: Any, has_aux: bool, at_once: int | None
) -> tuple[Any, Any]:
    """The Jacobian of `func` and aux: `func` runs once, and backward for all elements of an output together."""
    refuse_complex(who, args, "inputs")
    level = Level()
    with Transform("grad"):
        ran = run_inside(level, func, args, argnums, has_aux)
        refuse_complex(who, ran.outputs, "outputs")
        rows = [rows_of(level, out, ran.leaves, at_once) for out in ran.outputs]
        parts = [split(column, ran.outputs, x, False) for column, x in zip(zip(*rows), ran.leaves)]
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


def split(rows: Any, parts: list[Any], other: Any, turned: bool) -> list[Any]:
    """The rows for the elements of all `parts`, as the blocks of the Jacobian of each part with respect to `other`, or
    if `turned` of `other` with respect to each part. As in PyTorch they are parts of one tensor: if one of them has a
    graph, all of them require grad.
    """
    whole = rows[0] if len(rows) == 1 else F.cat(rows)
    blocks = whole.split([part.numel() for part in parts]) if len(parts) > 1 else [whole]
    if turned:
        return [
            block.movedim(0, -1).reshape(*other.shape, *part.shape) for block, part in zip(blocks, parts)
        ]
    return [block.reshape(*part.shape, *other.shape) for block, part in zip(blocks, parts)]


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
        wanted(args, argnums)
        jacobian, aux = by_rows("jacrev", func, args, argnums, has_aux, chunk_size)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def by_columns(func: Callable[..., Any], args: tuple[Any, ...], argnums: Any, has_aux: bool) -> tuple[Any, Any]:
    """The Jacobian of `func` and aux, from one run of `func` in forward mode. See Note [Columns]."""
    inputs, spec = pytree.flatten(args if argnums is None else wanted(args, argnums))
    level = Level()
    before = modes.switch("record_tangents", True)
    try:
        given, leaves = directions(level, inputs)
        tree = pytree.unflatten(given, spec)
        tree = (tree,) if isinstance(argnums, int) else tree
        output, tangents, aux = pushforward(func, args, tree, argnums, has_aux=has_aux)
    finally:
        modes.switch("record_tangents", before)
    refuse_complex("jacfwd", output, "outputs")
    outputs, output_spec = pytree.flatten(output)
    with Transform("jvp"), Mode(True):
        sent = pytree.flatten(tangents)[0]
        starts = [level.inner(zeros(out)) for out in outputs]
        products = gradients(sent, leaves, starts)
        columns = [rows_of(level, product, starts, None) for product in products]
        result = []
        for parts, tangent in zip(zip(*columns), sent):
            if level.recording and level.connected(tangent):
                parts = (*parts, tangent.unsqueeze(0)[:0])  # no numbers, but its graph
            result.append(split(parts, inputs, tangent, True))
    blocks = [level.outward(row) for row in result] or [[] for _ in outputs]
    level.leave(itertools.chain(*blocks))
    return pytree.unflatten([pytree.unflatten(row, spec) for row in blocks], output_spec), aux


def directions(level: Level, inputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """Tangents for `inputs`, and the inner leaves that they are copies of, for a tangent may be written to."""
    leaves = [level.inner(zeros(x)) if x._data.dtype in DIFFERENTIABLE else x for x in inputs]
    with Aside():
        return [F.clone(leaf) for leaf in leaves], leaves


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """A function that returns the Jacobian of `func` as `jacrev` does, in forward mode: `func` runs once."""

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacfwd", args, "inputs")
        check_randomness(randomness)
        with Randomness(randomness):
            if "jvp" in modes.state.transforms:
                jacobian, aux = by_rows("jacfwd", func, args, argnums, has_aux, None)
            else:
                jacobian, aux = by_columns(func, args, argnums, has_aux)
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
