"""Plain data in JSON's types, and back: named tuples, tuples, numbers and text.

Non-finite and complex numbers become text; what it was is known by the type of the field that it comes back
to.
"""

from __future__ import annotations

import functools
import math
import types
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..protocol import NAN, Value


def plain(value: Any) -> Any:
    """`value` in JSON's types."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value


@functools.cache
def fields(kind: Any) -> dict[str, Any]:
    """The fields of a class with their types."""
    return get_type_hints(kind)


def made(kind: Any, data: dict[str, Any]) -> Any:
    """An object of class `kind` from what `plain` made of it; a trace of an older version may lack fields."""
    if kind is Value and data["items"] is not None:
        data = {**data, "items": [number(item) for item in data["items"]]}
    return kind(**{name: back(data[name], hint) for name, hint in fields(kind).items() if name in data})


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
