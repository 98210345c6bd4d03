"""Where an op of PyTorch's table deviates, and why: by title and check."""

from __future__ import annotations

DEVIATIONS: dict[tuple[str, str], str] = {}

# Operators of two operands and casts.
METHODS = "a method of minigrad is a function of Python's, which takes a number as self; PyTorch's refuses it"
DEVIATIONS |= {
    ("__radd__", "errors"): METHODS,
    ("__rmul__", "errors"): METHODS,
    ("__rand__", "errors"): METHODS,
    ("__ror__", "errors"): METHODS,
    ("__rxor__", "errors"): METHODS,
    ("bfloat16", "values"): "NumPy has no bfloat16: the method says so",
    ("chalf", "values"): "NumPy has no complex32: the method says so",
}
