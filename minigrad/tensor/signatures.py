"""PyTorch's signatures of functions and methods, read from `tables/signatures.txt`, and PyTorch's errors for
arguments that none of them takes.

A function may have several signatures, its forms. An op that PyTorch does not have gets the one of its
declaration.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .. import tables
from ..core import devices, dtypes, public
from ..core.guards import NUMBERS, invalid_arguments
from ..core.tensor_state import TensorBase
from ..ops.arguments import is_integer_like
from ..ops.generator import Generator

# ─── The forms of a function


DEFAULTS = {bool: "bool", int: "Scalar", float: "Scalar", str: "str"}  # what a parameter is, by its default
PARAMETER = re.compile(r"(\w+)(\[(\d?)\])?(\?)? (\w+)(=.*)?")


class Parameter(NamedTuple):
    """One parameter of a signature; a list of `size` elements may be given as one."""

    name: str
    type: str
    size: int = 0
    optional: bool = False
    none: bool = False
    keyword: bool = False


Form = list[Parameter]  # one signature of a function


@functools.cache
def signatures() -> dict[str, list[str]]:
    """Return the texts of all signatures by name; a method's is `Tensor.` and its own."""
    found: dict[str, list[str]] = {}
    for line in tables.lines("signatures.txt"):
        name, _, rest = line.partition("(")
        found.setdefault(name, []).append(rest)
    return found


@functools.cache
def forms(name: str) -> list[tuple[Form, bool]]:
    """Return the signatures of a function, or of a method, and whether an error may be about each: about none
    that is deprecated.
    """
    texts = [text.rpartition(")") for text in signatures().get(name, [])]
    if not texts:
        return [(form, True) for each in public.names for form in declared_signature(each, name)]
    return [(list(parameters(text)), not deprecated) for text, _, deprecated in texts]


def declared_signature(each: public.Name, name: str) -> list[Form]:
    """The signature of an op that PyTorch does not have, from its declaration, if its name is that of the
    function or method `name`.
    """
    title = last(name)
    op = getattr(each.function, "op", None)
    if op is None or each.name not in (title, title.removesuffix("_")):
        return []
    required = len(op.params) - len(op.defaults)
    form = []
    for own, default in zip(op.params, (*(public,) * required, *op.defaults)):  # a module is no default
        kind = "Tensor" if own in op.inputs else DEFAULTS.get(default.__class__, "")
        form.append(
            Parameter("input" if own == "self" else own, kind, 0, default is not public, default is None)
        )
    if each.out and title == each.name:
        form.append(Parameter("out", "Tensor", 0, True, True, True))
    return [form[1:] if name.startswith("Tensor.") else form]


def parameters(text: str) -> Iterator[Parameter]:
    """The parameters that the text of a signature names."""
    keyword = False
    for part in re.split(r", (?![^\[{]*[\]}])", text) if text else []:
        match = PARAMETER.fullmatch(part)
        if match is None:
            keyword = True  # all that follow "*"
            continue
        kind, listed, size, none, name, default = match.groups()
        kind += "[]" if listed else ""
        yield Parameter(name, kind, int(size or 0), bool(default), bool(none) or default == "=None", keyword)


def last(name: str) -> str:
    """Return a function's name without the class that it is in."""
    return name.rpartition(".")[2]


# ─── The errors


UNPACKED = "failed to unpack the object at pos"
# Functions whose tensors may be numbers
WITH_NUMBERS = re.compile("(add|sub|subtract|mul|multiply|div|divide|true_divide|floor_divide|copy)_?")
CALLED = {
    "Scalar": "Number", "dtype": "torch.dtype", "Layout": "torch.layout", "Device": "torch.device",
    "MemoryFormat": "torch.memory_format", "Generator": "torch.Generator", "Tensor[]": "tuple of Tensors",
    "int[]": "tuple of ints", "float[]": "tuple of floats", "Scalar[]": "tuple of Scalars",
}  # fmt: skip


def check_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise the error for arguments that PyTorch refuses before it runs the function `name`."""
    known = forms(name)
    found = [mistake(last(name), form, args, kwargs) for form, _ in known]
    if not known or not all(found):
        return
    unpacked = [error for error in found if UNPACKED in error]  # by a form that takes the first of integers
    if unpacked:
        raise TypeError(unpacked[0]) from None
    count = len(args) + len(kwargs)
    plausible = [
        error
        for error, (form, shown) in zip(found, known)
        if shown and sum(not p.optional for p in form) <= count <= len(form)
    ]
    if len(known) == 1 or len(plausible) == 1:
        raise TypeError((plausible or found)[0]) from None
    raise invalid_arguments(last(name), *args, **kwargs) from None


def check_given(known: Any, only: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The same for arguments whose names PyTorch's signature has, or for those in `only`, if a function of
    the parameters `known` takes them, whatever others there have to be.
    """
    given = dict(zip([p.name for p in known], args)) | kwargs
    if len(args) > len(known) or any(p.name not in given for p in known if p.default is p.empty):
        return
    for i, parameter in enumerate(forms(name)[0][0]):
        if parameter.name == "reduction":
            continue  # a text, which is handed on as a number
        if parameter.name in (only.split(",") if only else given) and parameter.name in given:
            wrong = misfit(name, i, parameter, given[parameter.name], f" (position {i + 1})")
            if wrong:
                raise TypeError(wrong) from None


def mistake(title: str, form: Form, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What is wrong with arguments for one signature; empty if nothing is."""
    most = sum(not p.keyword for p in form)
    if most == 1 and form[0].type == "int[]" and not form[0].size and args and is_integer_like(args[0]):
        args = (args,)  # the integers of a list that comes first may be given one by one
    if len(args) > most:
        least = sum(not (p.optional or p.keyword) for p in form)
        takes = f"{most}" if least == most else f"from {least} to {most}"
        arguments = "argument" if least == most == 1 else "arguments"
        given = f"{len(args)} {'was' if len(args) == 1 else 'were'} given"
        return f"{title}() takes {takes} positional {arguments} but {given}"
    left = dict(kwargs)
    for i, parameter in enumerate(form):
        if i >= len(args) and parameter.name not in left:
            if not parameter.optional:
                names = [p.name for p in form[len(args) :] if not p.optional and p.name not in left]
                listed = ", ".join(f'"{n}"' for n in names)
                plural = "s" * (len(names) == 1)  # PyTorch has it the wrong way round
                return f"{title}() missing {len(names)} required positional argument{plural}: {listed}"
            continue
        value, where = (args[i], f" (position {i + 1})") if i < len(args) else (left.pop(parameter.name), "")
        wrong = misfit(title, i, parameter, value, where)
        if wrong:
            return wrong
    for key in left:
        what = "multiple values for" if key in [p.name for p in form] else "an unexpected keyword"
        return f"{title}() got {what} argument '{key}'"
    return ""


def misfit(title: str, i: int, parameter: Parameter, value: Any, where: str) -> str:
    """What is wrong with one argument; empty if nothing is."""
    about = f"{title}(): argument '{parameter.name}'"
    if (value is None and parameter.none) or fits(title, parameter, value):
        # PyTorch looks only at the first of several integers when it chooses a form
        for k, n in enumerate(
            value if parameter.type == "int[]" and isinstance(value, (list, tuple)) else ()
        ):
            if not (is_integer_like(n) or (k and isinstance(n, bool))):
                got = f"type must be tuple of ints,but got {dtypes.kind_name(n)}"
                return f'{about} {UNPACKED} {k + 1} with error "{got}"'
        return ""
    if parameter.type == "Tensor[]" and isinstance(value, (list, tuple)):
        at = next(k for k, t in enumerate(value) if not isinstance(t, TensorBase))
        kind = dtypes.kind_name(value[at])
        return f"expected Tensor as element {at} in argument {i}, but got {kind}"
    wanted = CALLED.get(parameter.type, parameter.type)
    if where and parameter.type == "int[]" and isinstance(value, (list, tuple)):
        kind = dtypes.kind_name(value[0])
        return f"{about}{where} must be {wanted}, but found element of type {kind} at pos 0"
    return f"{about}{where} must be {wanted}, not {dtypes.kind_name(value)}"


def is_number(x: Any) -> bool:
    """Return whether `x` counts as a number."""
    return isinstance(x, NUMBERS) or (isinstance(x, TensorBase) and not x._data.ndim and not x.requires_grad)


def fits(title: str, parameter: Parameter, value: Any) -> bool:
    """Return whether an argument is of the type of its parameter."""
    kind = parameter.type.removesuffix("[]")
    one = FITS.get(kind, lambda x: True)
    if kind == parameter.type:
        is_number = kind == "Tensor" and isinstance(value, NUMBERS) and WITH_NUMBERS.fullmatch(title)
        return bool(one(value) or is_number)
    if isinstance(value, (list, tuple)):
        return all(map(one, value[:1] if kind == "int" else value))
    return parameter.size > 0 and kind != "Tensor" and one(value)


FITS: dict[str, Any] = {
    "Tensor": lambda x: isinstance(x, TensorBase),
    "int": is_integer_like,
    "float": lambda x: is_number(x) and not isinstance(x, (complex, np.complexfloating)),
    "Scalar": is_number,
    "bool": lambda x: isinstance(x, bool),
    "str": lambda x: isinstance(x, str),
    "dtype": lambda x: isinstance(dtypes.as_dtype(x), dtypes.dtype),
    "Layout": lambda x: isinstance(x, devices.layout),
    "Device": lambda x: isinstance(x, (str, int, devices.device)),
    "MemoryFormat": lambda x: isinstance(x, devices.memory_format),
    "Generator": lambda x: isinstance(x, Generator),
}
