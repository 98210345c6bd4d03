"""Where an op of PyTorch's table deviates, and why: by title and check."""

from __future__ import annotations

DEVIATIONS: dict[tuple[str, str], str] = {
    ("view_as_complex", "values"): "for float16 the result would be complex32, which NumPy does not have",
}

# Operators of two operands and casts.
METHODS = "a method of minigrad is a Python function, which accepts a number as self; PyTorch's refuses it"
DEVIATIONS |= {
    ("__rsub__", "gradients"): "of two tensors, minigrad takes the ordinary difference, with its node",
    ("__radd__", "errors"): METHODS,
    ("__rmul__", "errors"): METHODS,
    ("__rand__", "errors"): METHODS,
    ("__ror__", "errors"): METHODS,
    ("__rxor__", "errors"): METHODS,
    ("bfloat16", "values"): "NumPy has no bfloat16; the method raises an error that says so",
    ("chalf", "values"): "NumPy has no complex32; the method raises an error that says so",
}

# Order.
UNSTABLE = "the order of equal elements depends on PyTorch's sorting algorithm; minigrad keeps their order"
DEVIATIONS |= {
    ("sort", "values"): UNSTABLE,
    ("argsort", "values"): UNSTABLE,
    ("topk", "values"): UNSTABLE,
}

# Reductions.
DEVIATIONS |= {}

# Networks.
BYTES = "PyTorch resamples uint8 images in integer arithmetic; minigrad needs floating-point images"
FOREIGN = "the distance function in the table is a PyTorch module, which accepts only PyTorch tensors"
DEVIATIONS |= {
    ("nn.functional.interpolate bilinear", "values"): BYTES,
}

# Losses.
DEVIATIONS |= {}

# Grids.
DEVIATIONS |= {
    ("nn.functional.grid_sample", "gradients"): "grid_sample has no second derivative in minigrad",
}

# Special functions.
EXACT = "SciPy computes in double precision and is infinite at the poles, where PyTorch rounds"
DEVIATIONS |= {(f"polygamma polygamma_n_{n}", "values"): EXACT for n in range(5)}
DEVIATIONS |= {("special.polygamma special_polygamma_n_0", "values"): EXACT}

# Matrices.
SIGNS = "eigenvectors may have any sign (phase), and LAPACK libraries choose different ones"
PHASES = "singular vectors of complex matrices may have any phase; PyTorch's tangent assumes another one"
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
ROUNDED_ELSEWHERE = "PyTorch's kernel adds in another order, so the last digit can differ in {}"
DEVIATIONS |= {
    ("nn.functional.scaled_dot_product_attention", "values"): ROUNDED_ELSEWHERE.format(
        "float32 and float16: it computes in blocks and in float32 throughout"
    ),
}
