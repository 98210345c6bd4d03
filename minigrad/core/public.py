"""The names that users call, and the signatures that `help` shows for them. Each name is published where its
function is defined; no other list of names exists.

The declaration of an elementwise op publishes it in all forms. `@public(…)` publishes a function made of ops,
or an op that is not elementwise. The package `minigrad` turns published names into its functions and into
methods of `Tensor` (see `tensor.publishing`), also those that are published later.

A wrapper takes `*args, **kwargs`, and the kernel of an op has no `out`. What a user may pass follows from the
function inside, so it is read from there, when somebody looks: reading a thousand signatures takes longer
than importing the package.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter, Signature
from keyword import iskeyword
from types import MappingProxyType
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


class ShownSignature(Signature):
    """The parameters of `source`, read when they are first needed, without annotations.

    The first one is shown as `first` if that is given: `input` of a function, `self` of a method. With
    `has_out` the keyword `out` follows the positional parameters. A trailing underscore, which keeps a name
    apart from Python's own, is left away; a default that marks what was not given is None.
    """

    __slots__ = ("_first", "_has_out", "_read", "_source")

    def __init__(self, source: Any, first: str = "", has_out: bool = False) -> None:
        self._source, self._first, self._has_out = source, first, has_out
        self._read: Any = None
        self._return_annotation = Signature.empty

    @property
    def parameters(self) -> Any:
        """The parameters by name, in order."""
        if self._read is None:
            self._read = MappingProxyType({p.name: p for p in self._found()})
        return self._read

    def _found(self) -> list[Parameter]:
        source = self._source
        if getattr(source, "__signature__", None) is self:
            found = own_parameters(source)
        else:
            known = source if isinstance(source, Signature) else inspect.signature(source)
            found = [p.replace(annotation=Parameter.empty) for p in known.parameters.values()]
        found = [p if iskeyword(p.name.rstrip("_")) else p.replace(name=p.name.rstrip("_")) for p in found]
        found = [p if p.default.__class__ is not object else p.replace(default=None) for p in found]
        if found and self._is_renamed(found[0]):
            found[0] = found[0].replace(name=self._first)
        if self._has_out:
            place = sum(p.kind < Parameter.KEYWORD_ONLY for p in found)
            found.insert(place, Parameter("out", Parameter.KEYWORD_ONLY, default=None))
        return found

    def _is_renamed(self, parameter: Parameter) -> bool:
        """Whether the first parameter is a tensor that is called differently in PyTorch's form."""
        placed = parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
        return placed and (self._first == "self" or (self._first == "input" and parameter.name == "self"))

    def replace(self, **changes: Any) -> Any:
        """A plain signature with some parts replaced, as `Signature.replace` gives it."""
        return Signature(list(self.parameters.values())).replace(**changes)

    def __reduce__(self) -> Any:
        return Signature(list(self.parameters.values())).__reduce__()


def own_parameters(function: Any) -> list[Parameter]:
    """The parameters of a function that wraps nothing and takes no stars, whatever signature it shows."""
    code, defaults, named = function.__code__, function.__defaults__ or (), function.__kwdefaults__ or {}
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = dict(zip(reversed(names[: code.co_argcount]), reversed(defaults), strict=False)) | named
    kinds = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    return [
        Parameter(name, kinds[i >= code.co_argcount], default=values.get(name, Parameter.empty))
        for i, name in enumerate(names)
    ]


def shown_as(parameters: Callable[..., Any]) -> Callable[[Any], Any]:
    """Decorate a function to show the parameters of another, which stands for PyTorch's documentation: for a
    function that has several forms, or takes arguments that PyTorch does not document.
    """

    def decorate(function: Any) -> Any:
        function.__signature__ = ShownSignature(parameters)
        return function

    return decorate
