"""Plain data in JSON's types: named tuples, tuples, numbers and text. Non-finite and complex numbers become
text; `reading` knows by the type of a field what it was."""

from __future__ import annotations

import math
from typing import Any


def plain(value: Any) -> Any:
    """`value` in JSON's types."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return value
