"""The arguments of an op: PyTorch's errors for what is not a tensor or does not fit, and promotion of dtypes.
Broadcasting, and the sums that undo it.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy import ndarray

from . import dtypes
from .guards import argument_error, check_broadcast, check_elements
from .op import NO_CLASSES, RAW, Op
from .tensor_state import TensorBase, operand, wrap

ROWS = 4096  # the largest number of ones that is kept, for sums over rows
FLOAT32, FLOAT64, generic = np.float32, np.float64, np.generic


@functools.lru_cache(64)
def ones(count: int, dtype: Any) -> np.ndarray:
    """Return a row of ones, which must not be modified."""
    return np.ones(count, dtype)


def sum_to(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum raw `gradient` over the dimensions along which `shape` was broadcast."""
    if gradient.shape == shape:
        return gradient
    lead = gradient.ndim - len(shape)
    if len(shape) == 1 and gradient.shape[lead] == shape[0] and gradient.dtype.char in "fd":
        rows = gradient if lead == 1 else gradient.reshape(-1, shape[0])
        if len(rows) <= ROWS and rows.flags.c_contiguous:  # a bias: a product is three times as fast
            return ones(len(rows), rows.dtype).dot(rows)
    axes = tuple(range(lead)) + tuple(
        i + lead for i, n in enumerate(shape) if n == 1 and gradient.shape[i + lead] != 1
    )
    total = np.add.reduce(gradient, axis=axes) if axes else gradient
    if total.shape == shape:
        return total  # a view of it would be copied into `.grad`
    return total.reshape(shape)[()]


def check_any_tensor(op: Op, values: list[Any]) -> None:
    """Raise TypeError with PyTorch's text unless the operands are tensors, or numbers beside a tensor. The
    first of `lone_numbers` becomes one.
    """
    if op.listed:
        return check_list(op, values[0])
    any_tensor = False
    for i, v in enumerate(values):
        if isinstance(v, TensorBase):
            any_tensor = True
        elif op.kinds[i] is NO_CLASSES:
            raise no_tensor(op, i, v)
        elif isinstance(v, np.generic):
            values[i] = v.item()
        elif op.params[i] in op.free and isinstance(v, (str, type(None))):
            continue
        elif op.elementwise and not isinstance(v, (int, float, complex)):
            raise no_tensor(op, i, v, "Tensor" if i in op.promoted else "Number")
    else:
        if any_tensor:
            return
        if op.lone_numbers:
            values[0] = wrap(np.asarray(values[0], dtypes.of_number(values[0]).numpy)[()])
            return
    wrong = next(i for i, v in enumerate(values) if not isinstance(v, TensorBase))
    raise no_tensor(op, wrong, values[wrong])


def no_tensor(op: Op, i: int, value: Any, wanted: str = "Tensor") -> TypeError:
    """Return the error for an argument that must be a tensor, or a number."""
    return argument_error(op.name, "input" if i == 0 else op.params[i], i + 1, wanted, value)


def check_list(op: Op, tensors: Any) -> None:
    """Raise TypeError with PyTorch's text unless `tensors` is a list or tuple of tensors."""
    if not isinstance(tensors, (list, tuple)):
        raise argument_error(op.name, "tensors", 1, "tuple of Tensors", tensors)
    check_elements(tensors)


def prepare(op: Op, values: Any) -> list[Any]:
    """Return the raw arguments for the kernel, with dtypes promoted. Errors have PyTorch's texts, for
    arguments that are not tensors and for dtypes and shapes that do not fit.
    """
    if op.listed:
        check_list(op, values[0])
        arrays = [operand(t) for t in values[0]]
        if len({a.dtype for a in arrays}) > 1:
            dtype = dtypes.result_type(*arrays)
            arrays = [a.astype(dtype, copy=False) for a in arrays]
        return [arrays, *values[1:]]
    raws: list[Any] = []
    first: Any = None
    elementwise = op.elementwise
    for v, kinds in zip(values, op.kinds):
        if isinstance(v, TensorBase):
            a = v._data
            if v._storage is not None:
                if v._bits:
                    a = operand(v)
                if elementwise and a.__class__ is ndarray and not a.ndim:
                    a = a[()]
            if first is None:
                first = a
            raws.append(a)
        elif not isinstance(v, generic) if kinds is None else v.__class__ in kinds:
            raws.append(v)
        else:
            check_any_tensor(op, values)  # which replaces NumPy's numbers with Python's
            return prepare(op, values)
    if first is None and (op.inputs or op.elementwise):
        check_any_tensor(op, values)
        return prepare(op, values)
    kind: Any = None
    for i in op.promoted:
        r: Any = raws[i]
        if r is None or r.__class__ is int or r.__class__ is float:
            continue
        if r.__class__ not in KINDS or (kind is not None and r.dtype is not kind) or r.shape != first.shape:
            kind = None
            break
        kind = r.dtype
    if op.promoted and kind not in op.passes:  # as for a comparison with a number; it takes half of the time
        promote(op, raws)
    return raws


KINDS: Any = frozenset((ndarray, FLOAT32, FLOAT64))


def promote(op: Op, raws: list[Any]) -> None:
    """Convert the operands of an elementwise op to one dtype, in place; PyTorch's errors if there is none."""
    given = [i for i in op.promoted if raws[i] is not None]
    at = [i for i in given if isinstance(raws[i], RAW)]
    unfit: Exception | None = None
    if op.check is not None:
        try:
            op.check([dtypes.of(raws[i]) if i in at else dtypes.of_number(raws[i]) for i in given])
        except NotImplementedError as error:
            unfit = error  # PyTorch's kernel says so, after the shapes were compared
    for i in at[1:]:
        check_broadcast(raws[at[0]].shape, raws[i].shape)
    if unfit is not None:
        raise unfit
    dtype = dtypes.result_type(*(raws[i] for i in given))
    if op.floating:
        dtype = dtypes.floating(dtype)
    for i in given:
        if i in at:
            raws[i] = raws[i] if raws[i].dtype == dtype else raws[i].astype(dtype)
        elif dtype.kind not in "fc":
            raws[i] = dtypes.is_integer_dtype(
                raws[i], dtype
            )  # NumPy would give True + 1 its own integer size
