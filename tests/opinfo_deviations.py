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
DEVIATIONS |= {
    ("kthvalue", "values"): UNSTABLE,
}

# Networks.
BYTES = "pictures of bytes are not resampled in whole numbers: they have to be made floating-point first"
FOREIGN = "the table's distance is a module of PyTorch, which takes tensors of PyTorch only"
DEVIATIONS |= {
    ("nn.functional.interpolate bilinear", "values"): BYTES,
    ("nn.functional.upsample_bilinear", "values"): BYTES,
    ("nn.functional.triplet_margin_with_distance_loss", "values"): FOREIGN,
    ("nn.functional.triplet_margin_with_distance_loss", "gradients"): FOREIGN,
    ("nn.functional.triplet_margin_with_distance_loss", "tangents"): FOREIGN,
}

# Losses.
DEVIATIONS |= {}

# Grids.
DEVIATIONS |= {}

# Special functions.
EXACT = "SciPy computes in double precision, infinite at the poles, where PyTorch rounds"
DEVIATIONS |= {(f"polygamma polygamma_n_{n}", "values"): EXACT for n in range(5)}
DEVIATIONS |= {("special.polygamma special_polygamma_n_0", "values"): EXACT}

# Matrices.
SIGNS = "eigenvectors may have any sign (phase), and LAPACK libraries choose others"
PHASES = "singular vectors of complex matrices may have any phase; PyTorch's tangent fixes another"
DEVIATIONS |= {
    ("linalg.eigh", "values"): SIGNS,
    ("linalg.eigh", "gradients"): SIGNS,
    ("linalg.eigh", "tangents"): SIGNS,
    ("linalg.svd", "tangents"): PHASES,
    ("svd", "tangents"): PHASES,
    ("linalg.eig", "values"): SIGNS,
    ("linalg.eig", "tangents"): SIGNS,
}

# Convolution, pooling, attention.
ROUNDED_ELSEWHERE = "PyTorch's kernel adds in another order, which shows in the last digit of {}"
DEVIATIONS |= {
    ("nn.functional.scaled_dot_product_attention", "values"): ROUNDED_ELSEWHERE.format(
        "float32 and float16: it computes in blocks and in float32 throughout"
    ),
}

DEVIATIONS |= {
    (
        "fill",
        "gradients",
    ): "the function's node has the name of fill_'s, FillBackward2 in place of FillBackward0",
}
