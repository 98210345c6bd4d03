"""The names that users call. Each is published where its function is defined; no other list of names exists.

The declaration of an elementwise op publishes it in all forms. `@public(…)` publishes a function made of ops,
or an op that is not elementwise. The package `minigrad` turns published names into its functions and into
methods of `Tensor` (see `tensor.published`), also those that are published later.
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
    "function_" (`torch.log_(x)`) and "method_" (`x.log_()`). `out` says which tensors the function accepts as
    `out=`: "" for none; None to publish the function unchanged; "cast" if the result may be cast to the dtype
    of `out`; "same" if the dtypes must be equal; "dtype" if the function works in the dtype of `out`; "made"
    if it makes a tensor of that dtype.
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
    """Publish a function under `name`, and also under the names in `also`.

    ValueError for an unknown form, or an unknown rule for `out`.
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
    """Call `install` for every name that was published, and from now on for each new one."""
    global _install
    _install = install
    for each in names:
        install(each)
