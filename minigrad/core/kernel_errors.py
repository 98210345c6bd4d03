"""Errors of NumPy and of Python from inside a function become PyTorch's.

Note [Errors of kernels]
    A kernel need not check what NumPy checks. An error that no `raise` of minigrad made says something of
    arrays and axes that a user never sees, in a class that depends on how the kernel is written. `translated`
    gives the error that PyTorch raises in that case, or at least one of its class that names the arguments.
    Errors of a user's code that runs inside (hooks, callbacks) stay as they are.
"""

from __future__ import annotations

import dis
from typing import Any

import numpy as np

from .dtypes import kind_name
from .guards import check_broadcast, dimension_error
from .tensor_state import TensorBase

PACKAGE = __name__.partition(".")[0]
RAISE = dis.opmap["RAISE_VARARGS"]


def is_foreign(error: BaseException, depth: int = 0) -> bool:
    """Return whether NumPy raised an error, or Python inside a kernel; or, with a `depth`, inside a function
    of minigrad that is so many calls or more below where the error is caught.

    With a `depth` the code of a user that runs inside is not meant, nor a value without a method of tensors:
    PyTorch's functions in Python say so in the same words.
    """
    trace: Any = error.__traceback__
    frames = 0
    while trace.tb_next is not None:
        trace, frames = trace.tb_next, frames + 1
    home = trace.tb_frame.f_globals.get("__name__", "").partition(".")[0]
    if home == "numpy":
        return True
    if depth and (home != PACKAGE or frames < depth or lacks_method(error)):
        return False
    is_raised: bool = trace.tb_frame.f_code.co_code[trace.tb_lasti] == RAISE
    return not is_raised


def lacks_method(error: BaseException) -> bool:
    """Return whether a value has not a public attribute that it was asked for."""
    return isinstance(error, AttributeError) and not str(error.name).startswith("_")


def translate_error(name: str, error: Exception, args: Any) -> Exception:
    """Return what PyTorch raises instead of a foreign error of the function `name`, called with `args`."""
    if isinstance(error, np.exceptions.AxisError) and error.axis is not None:
        return dimension_error(error.axis, error.ndim or 0)
    if str(error).startswith("slice indices must be integers"):
        return TypeError(str(error))
    arrays = [a for a in map(data_of, args) if isinstance(a, np.ndarray)]
    if isinstance(error, ValueError) and "broadcast" in str(error) and len(arrays) == 2:
        try:
            check_broadcast(arrays[0].shape, arrays[1].shape)
        except RuntimeError as unfit:
            return unfit.with_traceback(None)
    if isinstance(error, (TypeError, AttributeError)):
        kind: type[Exception] = TypeError
    else:
        kind = IndexError if isinstance(error, IndexError) else RuntimeError
    return kind(f"{name}() cannot be computed for the arguments ({', '.join(map(describe_argument, args))})")


def data_of(value: Any) -> Any:
    """The array of a tensor, any other value as it is."""
    return value._data if isinstance(value, TensorBase) else value


def describe_argument(value: Any) -> str:
    """A tensor or array by its shape, a number as it is, anything else by its type."""
    value = data_of(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return f"Tensor {list(value.shape)}"
    return str(value) if isinstance(value, (int, float, complex, str)) else kind_name(value)
