"""Where an op of PyTorch's table deviates, and why: by title and check."""

from __future__ import annotations

DEVIATIONS: dict[tuple[str, str], str] = {
    ("view_as_complex", "values"): "of float16 they are complex32, which NumPy does not have",
}

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

# Order.
UNSTABLE = "which of equal elements comes first depends on how PyTorch sorts; here it is the first"
DEVIATIONS |= {
    ("sort", "values"): UNSTABLE,
    ("argsort", "values"): UNSTABLE,
    ("topk", "values"): UNSTABLE,
}

# Reductions.
TOO_MANY = "the table tries 65 dimensions, which a NumPy array cannot have: an error of NumPy's comes first"
DEVIATIONS |= {
    ("amax", "errors"): TOO_MANY,
    ("amin", "errors"): TOO_MANY,
    ("aminmax", "errors"): TOO_MANY,
    ("mode", "values"): "which index of equal elements is given depends on how PyTorch sorts long rows",
}

# Indexing.
DEVIATIONS |= {
    ("as_strided_scatter", "gradients"): (
        "PyTorch gives `self` the gradient of the part that was replaced; it is 0 there, and the incoming one "
        "elsewhere"
    ),
}

# Networks.
FOREIGN = "the table's distance is a module of PyTorch, which takes tensors of PyTorch only"
DEVIATIONS |= {
    ("nn.functional.triplet_margin_with_distance_loss", "values"): FOREIGN,
    ("nn.functional.triplet_margin_with_distance_loss", "gradients"): FOREIGN,
    ("nn.functional.triplet_margin_with_distance_loss", "tangents"): FOREIGN,
}
