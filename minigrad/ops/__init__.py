"""Every op, one declaration each. Importing this package fills `F` and checks the names that vjps use."""

from __future__ import annotations

import builtins

from ..op import F
from . import (
    activations,
    adaptive,
    arithmetic,
    attention,
    batches,
    bessel,
    binary,
    bits,
    blocks,
    bounds,
    chance,
    circular,
    class_losses,
    comparing,
    complexes,
    convolution,
    counting,
    cumulative,
    distances,
    division,
    embedding,
    entropies,
    exponential,
    extremes,
    factors,
    gamma,
    hard,
    indexing,
    indexing_along,
    inverses,
    joining,
    linalg,
    losses,
    masking,
    matrix_sums,
    normal,
    normalisation,
    norms,
    order,
    padding,
    picking,
    places,
    pointwise,
    pooling,
    rearranging,
    reducing_along,
    reduction,
    rounding,
    scattering,
    shape,
    smooth,
    softmax,
    sorting,
    spread,
    strided,
    ternary,
    view_copies,
    views,
    views_in_place,
    windows,
    writing_views,
    xlogy,
)

__all__ = [
    "arithmetic", "complexes", "indexing", "joining", "linalg", "pointwise", "reduction", "shape", "views",
    "strided", "views_in_place",
    "activations", "batches", "class_losses", "distances", "entropies", "hard", "losses", "normalisation",
    "smooth",
    "cumulative", "padding", "rearranging", "sorting", "view_copies",
    "counting", "extremes", "norms", "order", "softmax", "spread",
    "binary", "bits", "bounds", "comparing", "division", "ternary", "xlogy",
    "bessel", "circular", "exponential", "gamma", "normal", "rounding",
    "embedding", "indexing_along", "masking", "picking", "places", "reducing_along", "scattering", "windows",
    "writing_views",
    "blocks", "chance",
    "adaptive", "attention", "convolution", "pooling",
    "factors", "inverses", "matrix_sums",
]  # fmt: skip

_ATTRIBUTES = {"mT", "ndim", "shape", "dtype", "F"}


def _check_names() -> None:
    """A vjp may use operators, `.mT`, `.shape` and ops of `F`: a misspelt name fails here, at import."""
    for op in (entry.op for entry in vars(F).values() if hasattr(entry, "op")):
        for vjp in op.vjps.values():
            for name in vjp.__code__.co_names:
                if (
                    name not in _ATTRIBUTES
                    and not hasattr(F, name)
                    and name not in vjp.__globals__
                    and not hasattr(builtins, name)
                ):
                    raise NameError(f"the vjp of {op.name} uses {name!r}, which is not an op")


_check_names()
