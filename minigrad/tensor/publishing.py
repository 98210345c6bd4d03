"""What was published, in its places: the functions of the package, with `out=`, and the methods of `Tensor`.

Only the public functions take `out`. Methods, operators and the ops themselves do not handle it, so they are
not slowed down by it.
"""

from __future__ import annotations

import warnings
from functools import partial
from types import FunctionType
from typing import Any

from .. import return_types
from ..core import F, dtypes, modes, public
from ..core.dtypes import kind_name
from ..core.public import ShownSignature
from ..core.tensor_state import TensorBase
from ..inplace.in_place import check_overlap, in_place, in_place_method
from . import memory
from .binder import PLAIN, as_method, attach_methods, with_bound_arguments

RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match the "
    "required output shape {}. This behavior is deprecated, and in a future PyTorch release outputs will not "
    "be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, "
    "inplace, to zero elements with t.resize_(0)."
)


def attach(name: str, function: Any, rule: str) -> Any:
    """`function` as users call it. `rule` says which tensors it takes as `out`; "" for none: see
    `public.Name`.
    """
    if rule:
        return with_bound_arguments(function, name, fill=partial(fill_out, rule))
    if function.__class__ is FunctionType and (
        name not in PLAIN or function.__code__.co_varnames[:1] == ("self",)
    ):
        return with_bound_arguments(function, name)
    if function.__class__ is FunctionType and function.__name__ == name and hasattr(function, "op"):
        function.__module__ = "minigrad"  # where it can be found when it is unpickled
    return function


def fill_out(
    rule: str, function: Any, name: str, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a function and write its results into the tensors `out`."""
    if out is None:
        return function(*args, **kwargs)
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    if not all(isinstance(t, TensorBase) for t in outs):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    kind, asked = dtypes.of(outs[0]._data), kwargs.get("dtype")
    if rule == "made" and asked not in (None, kind):
        raise RuntimeError(f"dtype {asked.title} does not match dtype of out parameter ({kind.title})")
    is_whole_mean = name == "mean" and args[0]._data.dtype.kind in "biu"  # which is refused whatever `out` is
    if rule in ("made", "dtype") and asked is None and not is_whole_mean:
        kwargs = kwargs | {"dtype": kind}
    result = function(*args, **kwargs)
    results = list(result) if isinstance(result, tuple) else [result]
    if len(results) != len(outs) or isinstance(out, TensorBase) == isinstance(result, tuple):
        raise TypeError(f"{name}() received an invalid combination of arguments - got (out={kind_name(out)})")
    if modes.is_recording() and any(t.requires_grad for t in (*results, *outs)) and rule != "made":
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of "
            "the arguments requires grad."
        )
    for t, made in zip(outs, results):
        check_dtype(rule, name, dtypes.of(made._data), dtypes.of(t._data))
        if rule == "cast":
            for value in args:
                if isinstance(value, TensorBase) and t._data.shape == made._data.shape:
                    check_overlap(t, value)
        write(made, t)
    if isinstance(result, tuple):
        return named_out(result, outs)
    return outs[0].requires_grad_() if kwargs.get("requires_grad") else outs[0]


def check_dtype(rule: str, name: str, made: dtypes.dtype, out: dtypes.dtype) -> None:
    """PyTorch's errors for a result of dtype `made` that is not written to one of dtype `out`."""
    if rule == "cast":
        if name in ("any", "all") and out.name not in ("bool", "uint8"):
            raise RuntimeError(f"{name} only supports bool tensor for result, got: {out.title}")
        if made.category > out.category and made.category > 0:
            error = TypeError if name in ("cat", "concat", "concatenate", "stack") else RuntimeError
            raise error(f"result type {made.title} can't be cast to the desired output type {out.title}")
    elif rule != "made" and made is not out:
        raise RuntimeError(f"Expected out tensor to have dtype {made.c_name}, but got {out.c_name} instead")


def write(made: Any, out: Any) -> None:
    """Put a result into `out`, which gets its shape."""
    before = list(out._data.shape)
    if out._data.shape != made._data.shape:
        if out._data.size:
            warnings.warn(RESIZED.format(before, list(made._data.shape)), UserWarning, stacklevel=5)
        memory.resize(out, made._data.shape)
    with modes.Within(grad_enabled=False):
        in_place(F.copy.op, out, made)


def named_out(result: Any, outs: list[Any]) -> Any:
    """Return the tensors in a named tuple of the fields that the result has."""
    if not hasattr(result, "_fields"):
        return tuple(outs)
    return return_types.return_type(f"{type(result).__name__}_out", *result._fields)(*outs)


STARS = 4 | 8  # the flags of a code object that has *args or **kwargs


def install(functions: dict[str, Any], cls: Any) -> None:
    """Put all published names into `functions` and the class `cls`, now and whenever one is published. A
    method that the class defines itself stays.
    """
    attach_methods(cls)
    own = {name for part in cls.__mro__[:-1] for name in vars(part)}

    def put(each: public.Name) -> None:
        name, function, forms = each.name, each.function, each.forms
        if forms == {"method"}:
            function.__qualname__ = "Tensor." + name  # as Python's own errors call it
        if "method" in forms and name not in own:
            setattr(cls, name, show_signature(as_method(function, name), function, "self"))
        if "function" in forms:
            call = function if each.out is None else attach(name, function, each.out)
            functions[name] = show_signature(call, function, "input", bool(each.out))
        if forms & {"method_", "function_"}:
            writing = in_place_method(function)
            if "method_" in forms and name + "_" not in own:
                setattr(cls, name + "_", show_signature(as_method(writing, name + "_"), function, "self"))
            if "function_" in forms:  # its errors count the tensor among the arguments
                functions[name + "_"] = attach(name + "_", writing, "")

    public.connect(put)


def show_signature(call: Any, function: Any, first: str, has_out: bool = False) -> Any:
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
