"""Checking derivatives by finite differences, in PyTorch's words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dialect, dtypes
from ..inplace import Unobserved
from ..tensor_base import TensorBase, share, wrap
from .run import grad


class GradcheckError(RuntimeError):
    """Raised by gradcheck in dialect "2"; dialect "1.4" raises the plain RuntimeError it was then."""


class Limits(NamedTuple):
    """The step of the differences and what may differ; see `gradcheck`."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float


def fail(message: str) -> None:
    """Raise the error of a failed check in the class of the dialect in force."""
    raise (RuntimeError if dialect.get_dialect() == "1.4" else GradcheckError)(message)


def gradcheck(
    func: Any,
    inputs: Any,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
) -> bool:
    """Compare the backward of `func` with central differences (f(x + eps) - f(x - eps)) / 2 eps.

    True when every element of every Jacobian agrees: |analytical - numerical| <= atol + rtol · |numerical|.
    Otherwise an error with both matrices, or False without `raise_exception`. Inputs that require a gradient
    should be float64.
    """
    limits = Limits(eps, atol, rtol, nondet_tol)
    args = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    try:
        check_inputs(args)
        with Unobserved(True):
            outputs = differentiable_outputs(func(*args))
        checked = [(j, t) for j, t in enumerate(args) if isinstance(t, TensorBase) and t.requires_grad]
        for i in range(len(outputs)):
            for j, t in checked:
                compare(func, args, t, i, j, limits)
    except RuntimeError:
        if raise_exception:
            raise
        return False
    return True


def check_inputs(args: Sequence[Any]) -> None:
    """ValueError when nothing requires a gradient; a warning for single precision."""
    found = False
    for j, t in enumerate(args):
        if isinstance(t, TensorBase) and t.requires_grad:
            found = True
            if dtypes.of(t._data) not in (dtypes.float64, dtypes.complex128):
                warnings.warn(
                    f"Input #{j} requires gradient and is not a double precision floating point or complex. "
                    "This check will likely fail if all the inputs are not of double precision floating "
                    "point or complex. ",
                    stacklevel=3,
                )
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


def differentiable_outputs(result: Any) -> list[Any]:
    """The outputs that have a gradient."""
    outputs = result if isinstance(result, (tuple, list)) else (result,)
    return [o for o in outputs if isinstance(o, TensorBase) and o.requires_grad]


def compare(func: Any, args: Sequence[Any], t: Any, i: int, j: int, limits: Limits) -> None:
    """Compare the Jacobians, (input elements, output elements), of output `i` by input `j`."""
    numerical = numerical_jacobian(func, args, t, i, limits.eps)
    analytical = analytical_jacobian(func, args, t, i)
    again = analytical_jacobian(func, args, t, i)
    if np.abs(analytical - again).max(initial=0) > limits.nondet_tol:
        fail(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple "
            "times gives different values, although analytical gradient matches numerical gradient.The "
            f"tolerance for nondeterminism was {limits.nondet_tol}."
        )
    if not np.allclose(analytical, numerical, rtol=limits.rtol, atol=limits.atol):
        fail(
            f"Jacobian mismatch for output {i} with respect to input "
            f"{j},\nnumerical:{wrap(numerical)}\nanalytical:{wrap(analytical)}\n"
        )


def numerical_jacobian(func: Any, args: Sequence[Any], t: Any, i: int, eps: float) -> np.ndarray:
    """Central differences, one row per element of `t`."""
    share(t)
    flat = t._data.reshape(-1) if t._data.flags.c_contiguous else None
    if flat is None:
        raise ValueError("gradcheck needs inputs with contiguous memory")
    rows = []
    with Unobserved(True):
        for k in range(flat.size):
            keep = flat[k]
            flat[k] = keep + eps
            plus = differentiable_outputs(func(*args))[i]._data.copy()
            flat[k] = keep - eps
            minus = differentiable_outputs(func(*args))[i]._data.copy()
            flat[k] = keep
            rows.append(np.ravel((plus - minus) / (2 * eps)))
    return np.stack(rows).astype(t._data.dtype)


def analytical_jacobian(func: Any, args: Sequence[Any], t: Any, i: int) -> np.ndarray:
    """One backward per element of the output, one column each."""
    with Unobserved(True):
        output = differentiable_outputs(func(*args))[i]
        columns = []
        for k in range(output._data.size):
            start = np.zeros_like(output._data).reshape(-1)
            start = np.atleast_1d(start)
            start[k] = 1
            gradient = wrap(start.reshape(output._data.shape))
            (g,) = grad(output, t, gradient, retain_graph=True, allow_unused=True)
            columns.append(np.zeros(t._data.size, t._data.dtype) if g is None else np.ravel(g._data).copy())
    return np.stack(columns, axis=1)
