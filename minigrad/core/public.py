"""The names that users call. Each is published where its function is defined; nothing else lists them.

An elementwise op is published by its declaration, in all forms. `@public(…)` publishes a function made of
ops, or an op that is not elementwise. The package `minigrad` then turns what was published into its functions
and the methods of `Tensor` (see `minigrad.published`), also when that happens later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

ALL = "function method function_ method_"
FORMS = frozenset(ALL.split())
OUTS = (None, "", "cast", "same", "dtype", "made")


class Name(NamedTuple):
    """A published name.

    `forms` are the ways to call it: "function" (`torch.log(x)`), "method" (`x.log()`), and both in place,
    "function_" (`torch.log_(x)`) and "method_" (`x.log_()`). `out` tells which tensors the function takes as
    `out=`: "" for none, None where the function is taken as it is, "cast" where the result may be cast to the
    dtype of `out`, "same" where the dtypes must be equal, "dtype" where the function then works in the dtype
    of `out`, "made" where it makes a tensor of that dtype.
    """

    name: str
    function: Any
    forms: frozenset[str]
    out: str | None


names: list[Name] = []
_install: Callable[[Name], None] | None = None


def publish(
    function: Any, name: str, forms: str = "function method", out: str | None = "", also: str = ""
) -> None:
    """Publish a function under `name`, and under the names in `also` as well.

    ValueError for a form, or a rule for `out`, that there is not.
    """
    given = frozenset(forms.split())
    if not given <= FORMS or out not in OUTS:
        raise ValueError(f"{name}: the forms are {ALL!r}, `out` is one of {OUTS}; got {forms!r}, {out!r}")
    for each in (name, *also.split()):
        names.append(Name(each, function, given, out))
        if _install is not None:
            _install(names[-1])


def public(
    forms: str = "function method", *, out: str | None = "", also: str = "", name: str = ""
) -> Callable[[Any], Any]:
    """Decorate a function to publish it under its own name, or under `name`. See `publish`."""

    def decorate(function: Any) -> Any:
        publish(function, name or function.__name__, forms, out, also)
        return function

    return decorate


def connect(install: Callable[[Name], None]) -> None:
    """Let `install` put every name in its place: those that were published, and from now on each that is."""
    global _install
    _install = install
    for each in names:
        install(each)
