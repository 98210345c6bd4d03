"""Checks of dtypes and arguments, with PyTorch's errors."""

from __future__ import annotations

from typing import Any

from ..core.dtypes import dtype, kind_name, of
from ..core.tensor_state import TensorBase

BOOL, INTEGER, COMPLEX = 0, 1, 3  # categories of dtypes


def not_implemented(name: str, kind: dtype) -> NotImplementedError:
    """PyTorch's error for a dtype that a kernel does not have."""
    return NotImplementedError(f"\"{name}\" not implemented for '{kind.title}'")


def refuse(x: Any, unfit: str, name: str) -> None:
    """Raise PyTorch's error for an array of a kind in `unfit`, letters of NumPy's, that a kernel has not."""
    if x.dtype.kind in unfit:
        raise not_implemented(name, of(x))


def refuses(text: str, *unfit: Any, error: type[Exception] = NotImplementedError) -> Any:
    """A check that refuses dtypes, or categories of them (see `dtypes.dtype`): complex numbers unless told
    otherwise. `{}` in the text is the word for the dtype.
    """
    refused = set(unfit or (COMPLEX,))

    def check(kinds: list[dtype]) -> None:
        for kind in kinds:
            if kind in refused or kind.category in refused:
                raise error(text.format(kind.title))

    return check


def no_kernel(name: str, *unfit: Any) -> Any:
    """A check that refuses complex numbers, or what is said, in PyTorch's words for a missing kernel."""
    return refuses(f"\"{name}\" not implemented for '{{}}'", *unfit)


def floats_only(name: str, complexes: bool = False) -> Any:
    """A check that refuses integers and bools, and complex numbers unless `complexes`, in PyTorch's words."""
    return no_kernel(name, BOOL, INTEGER, *() if complexes else (COMPLEX,))


def strongest(kinds: list[dtype]) -> dtype:
    """Return the dtype of the highest category, which names what an op on them works in."""
    return max(kinds, key=lambda k: k.category)


def only(categories: str, name: str) -> Any:
    """A check that refuses, in PyTorch's words, all but these `categories`, letters of NumPy's kinds."""

    def check(kinds: list[dtype]) -> None:
        kind = strongest(kinds)
        if kind.numpy.kind not in categories:
            raise not_implemented(name, kind)

    return check


def each(*checks: Any) -> Any:
    """A check that makes several, one after the other."""

    def check(kinds: list[dtype]) -> None:
        for one in checks:
            one(kinds)

    return check


no_clamp = refuses("clamp is not supported for complex types")


def must_be(kind: type, where: str, name: str, value: Any, place: int) -> None:
    """TypeError with PyTorch's text unless an argument is an integer, or any real number for `float`."""
    fits = isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool)
    if not fits:
        given = type(value).__name__
        raise TypeError(
            f"{where}(): argument '{name}' (position {place}) must be {kind.__name__}, not {given}"
        )


def must_be_tensor(where: str, value: Any, place: int = 1, name: str = "input") -> None:
    """TypeError with PyTorch's text unless an argument is a tensor."""
    if not isinstance(value, TensorBase):
        kind = kind_name(value)
        raise TypeError(f"{where}(): argument '{name}' (position {place}) must be Tensor, not {kind}")
