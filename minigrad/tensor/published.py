"""What was published, in its places: the functions of the package and the methods of `Tensor`."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ..core import public
from ..core.shown_signature import ShownSignature
from ..inplace.in_place import in_place_method
from . import out_arguments as outs
from .explained import PLAIN, attach_methods, explained_method

STARS = 4 | 8  # the flags of a code object that has *args or **kwargs


def install(functions: dict[str, Any], cls: Any) -> None:
    """Put all published names into `functions` and the class `cls`, now and whenever one is published. A
    method that the class defines itself stays.
    """
    attach_methods(cls)
    own = {name for part in cls.__mro__[:-1] for name in vars(part)}

    def put(each: public.Name) -> None:
        name, function, forms = each.name, each.function, each.forms
        if "method" in forms and name not in own:
            setattr(cls, name, shown(as_method(function, name), function, "self"))
        if "function" in forms:
            call = function if each.out is None else outs.attached(name, function, each.out)
            functions[name] = shown(call, function, "input", bool(each.out))
        if forms & {"method_", "function_"}:
            writing = in_place_method(function)
            if "method_" in forms and name + "_" not in own:
                setattr(cls, name + "_", shown(as_method(writing, name + "_"), function, "self"))
            if "function_" in forms:  # its errors count the tensor among the arguments
                functions[name + "_"] = outs.attached(name + "_", writing, "")

    public.connect(put)


def shown(call: Any, function: Any, first: str, has_out: bool = False) -> Any:
    """`call` with the signature of `function`. Where both are one, it is the one that `shown_as` gave it, or
    that of what `function` wraps, or its own.
    """
    if call.__class__ is FunctionType:
        source = function
        if call is function:
            source = getattr(function, "__signature__", None) or getattr(function, "__wrapped__", function)
        if source is not call or not call.__code__.co_flags & STARS:
            call.__signature__ = ShownSignature(source, first, has_out)  # type: ignore[attr-defined]
    return call


def as_method(function: Any, name: str) -> Any:
    """Return a function as the method `name`, with PyTorch's errors about its arguments."""
    if name in PLAIN or function.__class__ is not FunctionType:
        return function
    return explained_method(function, name)
