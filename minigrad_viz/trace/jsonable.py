"""Plain data in JSON's types, and back: named tuples, `Saved`, `Span`, tuples, numbers and text.

Non-finite and complex numbers become text; what it was is known by the type of the field that it comes back
to.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
from collections.abc import Collection
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..protocol import NAN, Value
from .graph import Saved
from .where import Span


def plain(value: Any) -> Any:
    """`value` in JSON's types."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, Saved | Span):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value


@functools.cache
def fields(kind: Any) -> dict[str, Any]:
    """The fields of a class with their types."""
    return get_type_hints(kind)


@functools.cache
def optional(kind: Any) -> Collection[str]:
    """The fields that have a value where none is given: an older trace may lack them."""
    if not dataclasses.is_dataclass(kind):
        return getattr(kind, "_field_defaults", ())
    return [f.name for f in dataclasses.fields(kind) if f.default is not dataclasses.MISSING]


def made(kind: Any, data: dict[str, Any]) -> Any:
    """An object of class `kind` from the dictionary that `plain` made of it."""
    if kind is Value and data["items"] is not None:
        data = {**data, "items": [number(item) for item in data["items"]]}
    told = {n: hint for n, hint in fields(kind).items() if n in data or n not in optional(kind)}
    return kind(**{name: back(data[name], hint) for name, hint in told.items()})


def back(value: Any, hint: Any) -> Any:
    """What `plain` made `value` of, which was of the type `hint`."""
    if isinstance(value, dict):
        kinds = [kind for kind in (hint, *get_args(hint)) if hasattr(kind, "__annotations__")]
        return made(kinds[0], value)
    if isinstance(value, list):
        if get_origin(hint) in (Union, types.UnionType):
            hint = next(one for one in get_args(hint) if get_origin(one) is tuple)
        inner = get_args(hint)
        each = inner[:1] * len(value) if inner[1:] == (...,) else inner
        return tuple(back(item, one) for item, one in zip(value, each, strict=True))
    return number(value) if isinstance(value, str) and float in (hint, *get_args(hint)) else value


def number(item: Any) -> Any:
    """A number that `plain` may have written as text; all NaNs are one object, so that they compare equal."""
    if not isinstance(item, str):
        return item
    return NAN if item == "nan" else complex(item) if "j" in item else float(item)
