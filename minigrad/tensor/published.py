"""What was published, in its places: the functions of the package and the methods of `Tensor`."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ..core import public
from ..inplace.in_place import in_place_method
from . import out_arguments as outs
from .explained import PLAIN, attach_methods, explained_method


def install(functions: dict[str, Any], cls: Any) -> None:
    """Put all published names into `functions` and the class `cls`, now and whenever one is published. A
    method that the class defines itself stays.
    """
    attach_methods(cls)
    own = {name for part in cls.__mro__[:-1] for name in vars(part)}

    def put(each: public.Name) -> None:
        name, function, forms = each.name, each.function, each.forms
        if "function" in forms:
            functions[name] = function if each.out is None else outs.attached(name, function, each.out)
        if "method" in forms and name not in own:
            setattr(cls, name, as_method(function, name))
        if forms & {"method_", "function_"}:
            writing = in_place_method(function)
            if "method_" in forms and name + "_" not in own:
                setattr(cls, name + "_", as_method(writing, name + "_"))
            if "function_" in forms:  # its errors count the tensor among the arguments
                functions[name + "_"] = outs.attached(name + "_", writing, "")

    public.connect(put)


def as_method(function: Any, name: str) -> Any:
    """A function as the method `name`, with PyTorch's errors about its arguments."""
    if name in PLAIN or function.__class__ is not FunctionType:
        return function
    return explained_method(function, name)
