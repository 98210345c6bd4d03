"""The signatures that `help` and `inspect.signature` show for public names: PyTorch's.

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
from typing import Any


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
