"""What a gradcheck that failed had compared.

Note [The checker's own matrices]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    The text of the error shortens matrices and has four digits. The frame that raised it still has the
    matrices themselves, and how exact they had to be. Only PyTorch's fast mode has let go of the whole
    Jacobians by then; the last that it did with them was to compare them with `torch.allclose`, which the
    recorder of a cell has seen. Nothing is computed again, so the user's function is not called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np

from ..protocol import NAN, Value, array_of, dtype_name, is_tensor
from ..trace.events import Compared

LARGEST = 10_000  # numbers of a matrix that is kept
Seen = tuple[Any, ...]


def compared(error: BaseException, seen: Seen = ()) -> Compared | None:
    """What the gradcheck compared that raised `error`; None if none did, or for large matrices. `seen` are
    the arguments of its last `torch.allclose`."""
    for frame in frames(error):
        reader = READERS.get((frame.f_globals.get("__name__"), frame.f_code.co_name))
        if reader is not None:
            return reader(frame.f_locals, seen)
    return None


def of_minigrad(held: Any, seen: Seen) -> Compared | None:
    """What minigrad's checker has, in both modes."""
    limits = held["problem"].limits
    return kept(held["expected"], held["found"], limits.eps, limits.atol, limits.rtol)


def of_pytorch(held: Any, seen: Seen) -> Compared | None:
    """What PyTorch's checker has in slow mode; None before it has compared anything."""
    return kept(held["n"], held["a"], held["eps"], held["atol"], held["rtol"]) if "a" in held else None


def of_fast_pytorch(held: Any, seen: Seen) -> Compared | None:
    """What PyTorch's checker compared last in fast mode."""
    return kept(seen[1], seen[0], held["eps"], held["atol"], held["rtol"]) if seen else None


READERS: dict[tuple[Any, str], Callable[[Any, Seen], Compared | None]] = {
    ("minigrad.autograd.gradcheck.compare", "compare"): of_minigrad,
    ("minigrad.autograd.gradcheck.compare", "judge"): of_minigrad,
    ("torch.autograd.gradcheck", "_slow_gradcheck"): of_pytorch,
    ("torch.autograd.gradcheck", "_check_analytical_numerical_equal"): of_fast_pytorch,
}


def frames(error: BaseException | None) -> Iterator[FrameType]:
    """The frames that an error came through, and those of the error in whose place it was raised."""
    while error is not None:
        traceback = error.__traceback__
        while traceback is not None:
            yield traceback.tb_frame
            traceback = traceback.tb_next
        error = error.__context__


def kept(numerical: Any, analytical: Any, *limits: float) -> Compared | None:
    """Both matrices as plain data."""
    if np.prod(numerical.shape) > LARGEST:
        return None
    return Compared(whole(numerical), whole(analytical), *map(float, limits))


def whole(matrix: Any) -> Value:
    """All numbers of a matrix, without −0."""
    data = np.asarray(array_of(matrix) if is_tensor(matrix) else matrix)
    dtype = dtype_name(matrix) if is_tensor(matrix) else data.dtype.name
    numbers = (data + 0.0).reshape(-1).tolist()
    return Value(tuple(data.shape), dtype, tuple(n if n == n else NAN for n in numbers))
