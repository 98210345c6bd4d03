"""Arguments that no form of a function takes, in PyTorch's words.

PyTorch checks arguments before anything runs, by the signatures in `signatures.txt`. Here a function just
runs; if that fails, whatever the error is, its arguments are checked as PyTorch would have done first, and
its error is the one that is raised. So the check costs nothing where all goes well.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core import devices, dtypes, public
from ..core.tensor_state import TensorBase
from ..ops.generator import Generator

WITH_NUMBERS = frozenset(
    ["add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide", "copy"]
)
NUMPYS = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
CALLED = {
    "Scalar": "Number", "dtype": "torch.dtype", "Layout": "torch.layout", "Device": "torch.device",
    "MemoryFormat": "torch.memory_format", "Generator": "torch.Generator", "Tensor[]": "tuple of Tensors",
    "int[]": "tuple of ints", "float[]": "tuple of floats", "Scalar[]": "tuple of Scalars",
}  # fmt: skip
DEFAULTS = {bool: "bool", int: "Scalar", float: "Scalar", str: "str"}  # what a parameter is, by its default
PARAMETER = re.compile(r"(\w+)(\[(\d?)\])?(\?)? (\w+)(=.*)?")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a signature; a list of `size` elements may be given as one."""

    name: str
    type: str
    size: int
    optional: bool
    none: bool
    keyword: bool


@dataclass(frozen=True)
class Form:
    """One signature of a function."""

    parameters: tuple[Parameter, ...]
    hidden: bool  # deprecated: no error is about it

    @property
    def positional(self) -> int:
        """How many arguments may be given by position."""
        return sum(not p.keyword for p in self.parameters)

    @property
    def required(self) -> int:
        """How many arguments must be given."""
        return sum(not p.optional for p in self.parameters)


@functools.cache
def signatures() -> dict[str, list[str]]:
    """Return the texts of all signatures by name; a method's is `Tensor.` and its own."""
    found: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "signatures.txt").read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition("(")
        found.setdefault(name, []).append(rest)
    return found


@functools.cache
def forms(name: str) -> list[Form]:
    """Return the signatures of a function, or of a method."""
    texts = [text.rpartition(")") for text in signatures().get(name, [])]
    if not texts:
        return [form for each in public.names for form in declared(each, name)]
    return [Form(tuple(parameters(text)), bool(deprecated)) for text, _, deprecated in texts]


def declared(each: public.Name, name: str) -> list[Form]:
    """The signature of an op that PyTorch does not have, from its declaration, if its name is that of the
    function or method `name`.
    """
    title = last(name)
    op = getattr(each.function, "op", None)
    if op is None or each.name not in (title, title.removesuffix("_")):
        return []
    required = len(op.params) - len(op.defaults)
    found = []
    for i, own in enumerate(op.params):
        default = op.defaults[i - required] if i >= required else None
        is_tensor = own in op.inputs
        kind = "Tensor" if is_tensor else DEFAULTS.get(default.__class__, "")
        none = i >= required and default is None
        found.append(Parameter("input" if own == "self" else own, kind, 0, i >= required, none, False))
    if each.out and title == each.name:
        found.append(Parameter("out", "Tensor", 0, True, True, True))
    return [Form(tuple(found[1:] if name.startswith("Tensor.") else found), False)]


def parameters(text: str) -> Any:
    """The parameters that the text of a signature names."""
    keyword = False
    for part in re.split(r", (?![^\[{]*[\]}])", text) if text else []:
        if part == "*":
            keyword = True
            continue
        match = PARAMETER.fullmatch(part)
        assert match is not None, text
        kind, listed, size, none, name, default = match.groups()
        yield Parameter(
            name,
            kind + "[]" if listed else kind,
            int(size or 0),
            default is not None,
            bool(none) or default == "=None",
            keyword,
        )


def explain(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError | None:
    """Return the error for arguments that PyTorch refuses before it runs the function `name`, else None."""
    known = forms(name)
    if not known:
        return None
    found = [mistake(name, form, args, kwargs) for form in known]
    if not all(found):
        return None
    count = len(args) + len(kwargs)
    plausible = [e for e, f in zip(found, known) if fits_count(f, count)]
    if len(known) == 1 or len(plausible) == 1:
        return TypeError((plausible or found)[0])
    given = [*map(dtypes.kind_name, args), *(f"{k}={dtypes.kind_name(v)}" for k, v in kwargs.items())]
    return TypeError(
        f"{last(name)}() received an invalid combination of arguments - got ({', '.join(given)})"
    )


def explain_given(name: str, given: dict[str, Any]) -> TypeError | None:
    """Return the error for arguments that are of the wrong type, whatever others there have to be."""
    for form in forms(name)[:1]:
        for i, parameter in enumerate(form.parameters):
            if parameter.name in given:
                wrong = misfit(name, i, parameter, given[parameter.name], f" (position {i + 1})")
                if wrong:
                    return TypeError(wrong)
    return None


def fits_count(form: Form, count: int) -> bool:
    """Return whether that many arguments may be for this signature."""
    return not form.hidden and form.required <= count <= len(form.parameters)


def last(name: str) -> str:
    """Return a function's name without the class that it is in."""
    return name.rpartition(".")[2]


def mistake(name: str, form: Form, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What is wrong with arguments for one signature; empty if nothing is."""
    title = last(name)
    args = gathered(form, args)
    if len(args) > form.positional:
        least = sum(not (p.optional or p.keyword) for p in form.parameters)
        takes = f"{form.positional}" if least == form.positional else f"from {least} to {form.positional}"
        plural = "" if form.positional == 1 else "s"
        was = "was" if len(args) == 1 else "were"
        return f"{title}() takes {takes} positional argument{plural} but {len(args)} {was} given"
    left = dict(kwargs)
    for i, parameter in enumerate(form.parameters):
        by_place = i < len(args)
        if by_place:
            value = args[i]
        else:
            key = next((n for n in (parameter.name, *NUMPYS.get(parameter.name, ())) if n in left), None)
            if key is None:
                if not parameter.optional:
                    return missing(title, form, len(args), left)
                continue
            value = left.pop(key)
        wrong = misfit(title, i, parameter, value, f" (position {i + 1})" if by_place else "")
        if wrong:
            return wrong
    for key in left:
        twice = key in [p.name for p in form.parameters]
        wrong = (
            f"multiple values for argument '{key}'" if twice else f"an unexpected keyword argument '{key}'"
        )
        return f"{title}() got {wrong}"
    return ""


def gathered(form: Form, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, of which the integers of a list that comes first may have been given one by one."""
    places = [i for i, p in enumerate(form.parameters) if p.type == "int[]" and not p.size][:1]
    if places and form.positional == places[0] + 1 and places[0] < 1 and args and is_whole(args[0]):
        return (args,)
    return args


def missing(title: str, form: Form, given: int, left: dict[str, Any]) -> str:
    """Return the text for arguments that are not there."""
    names = [p.name for p in form.parameters[given:] if not p.optional and p.name not in left]
    listed = ", ".join(f'"{n}"' for n in names)
    return f"{title}() missing {len(names)} required positional arguments: {listed}"


def misfit(title: str, i: int, parameter: Parameter, value: Any, where: str) -> str:
    """What is wrong with one argument; empty if nothing is."""
    about = f"{title}(): argument '{parameter.name}'"
    if (value is None and parameter.none) or fits(title, parameter, value):
        # PyTorch looks only at the first of several integers when it chooses a form
        for k, n in enumerate(
            value if parameter.type == "int[]" and isinstance(value, (list, tuple)) else ()
        ):
            if not is_whole(n):
                got = f"type must be tuple of ints,but got {dtypes.kind_name(n)}"
                return f'{about} failed to unpack the object at pos {k + 1} with error "{got}"'
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


def is_whole(x: Any) -> bool:
    """Return whether `x` counts as an integer: a number or a 0-dim tensor of integers, but no bool."""
    if isinstance(x, TensorBase):
        return not x._data.ndim and x._data.dtype.kind in "iu" and not x.requires_grad
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def is_number(x: Any) -> bool:
    """Return whether `x` counts as a number."""
    if isinstance(x, TensorBase):
        return not x._data.ndim and not x.requires_grad
    return isinstance(x, (int, float, complex, np.generic))


def is_real(x: Any) -> bool:
    """Return whether `x` counts as a real number."""
    return is_number(x) and not isinstance(x, (complex, np.complexfloating))


def fits(title: str, parameter: Parameter, value: Any) -> bool:
    """Return whether an argument is of the type of its parameter."""
    kind = parameter.type
    if kind == "Tensor":
        numbers = title.rstrip("_") in WITH_NUMBERS and isinstance(value, (int, float, complex, np.generic))
        return isinstance(value, TensorBase) or numbers
    if kind.endswith("[]"):
        one = ELEMENTS[kind]
        if isinstance(value, (list, tuple)):
            checked = value[:1] if kind == "int[]" else value
            return all(map(one, checked))
        return parameter.size > 0 and kind != "Tensor[]" and one(value)
    return FITS[kind](value) if kind in FITS else True


ELEMENTS: dict[str, Any] = {
    "int[]": is_whole,
    "float[]": is_real,
    "Scalar[]": is_number,
    "bool[]": lambda x: isinstance(x, bool),
    "Tensor[]": lambda x: isinstance(x, TensorBase),
}
FITS: dict[str, Any] = {
    "int": is_whole,
    "float": is_real,
    "Scalar": is_number,
    "bool": lambda x: isinstance(x, (bool, np.bool_)),
    "str": lambda x: isinstance(x, str),
    "dtype": lambda x: isinstance(x, (dtypes.dtype, type)),
    "Layout": lambda x: isinstance(x, devices.layout),
    "Device": lambda x: isinstance(x, (str, int, devices.device)),
    "MemoryFormat": lambda x: isinstance(x, devices.memory_format),
    "Generator": lambda x: isinstance(x, Generator),
}
