"""What is assigned to `.grad` and does not fit the tensor."""

from __future__ import annotations

import re

from minigrad.observing import CPP_NAMES

from ..trace.events import TensorState
from ..trace.explained import Explanation
from .case import Case
from .subject import about, subject


def any_tensor(state: TensorState) -> bool:
    """Every tensor."""
    return True


def assigned_grad(case: Case, match: re.Match[str]) -> Explanation:
    """What was assigned to `.grad` does not fit the tensor."""
    found = subject(case, any_tensor)
    if found is None or found.state.value is None:
        return case.explain("assigned_grad")
    shape, dtype = found.state.value.shape, found.state.value.dtype
    for pattern, keys in ASSIGNED.items():
        given = re.search(pattern, case.error)
        if given is not None:
            named = given.groupdict().get("type") or plainly(given["given"])
            return about(case, "assigned_grad", found, *keys, shape=shape, dtype=dtype, given=named)
    return case.explain("assigned_grad")


def plainly(given: str) -> str:
    """A shape or a dtype as a tensor shows it, from how the error does: `(2,)` for `[2]`, `float64` for
    `double`."""
    if re.fullmatch(r"\[[\d, ]*\]", given):
        return str(tuple(int(size) for size in re.findall(r"\d+", given)))
    return next((name for name, title in CPP_NAMES.items() if title == given), given)


ASSIGNED = {
    r"a gradient of size '(?P<given>[^']*)'": (
        "assigned_shape_why",
        "assigned_shape_fix",
        "mark_assigned_shape",
    ),
    r"a gradient with dtype '(?P<given>[^']*)'": (
        "assigned_dtype_why",
        "assigned_dtype_fix",
        "mark_assigned_dtype",
    ),
    r"a Tensor or None but got grad of type (?P<type>\S+)": (
        "assigned_type_why",
        "assigned_type_fix",
        "mark_assigned_type",
    ),
    r"can't assign Variable as its own (?P<given>grad)": (
        "assigned_self_why",
        "assigned_self_fix",
        "mark_assigned_self",
    ),
}
