"""Every op, one declaration each. Importing this package fills `F` and checks the names that vjps use."""

from __future__ import annotations

import builtins

from ..op import F
from . import (
    activations,
    arithmetic,
    batches,
    bessel,
    binary,
    bits,
    bounds,
    circular,
    class_losses,
    comparing,
    complexes,
    counting,
    distances,
    division,
    embedding,
    exponential,
    extremes,
    gamma,
    indexing,
    indexing_along,
    joining,
    linalg,
    losses,
    masking,
    normal,
    normalisation,
    order,
    picking,
    places,
    pointwise,
    reducing_along,
    reduction,
    rounding,
    scattering,
    shape,
    smooth,
    softmax,
    spread,
    strided,
    views,
    views_in_place,
    windows,
    writing_views,
    xlogy,
)

__all__ = [
    "arithmetic", "complexes", "indexing", "joining", "linalg", "pointwise", "reduction", "shape", "views",
    "strided", "views_in_place",
    "activations", "batches", "class_losses", "distances", "losses", "normalisation", "smooth",
    "counting", "extremes", "order", "softmax", "spread",
    "binary", "bits", "bounds", "comparing", "division", "xlogy",
    "bessel", "circular", "exponential", "gamma", "normal", "rounding",
    "embedding", "indexing_along", "masking", "picking", "places", "reducing_along", "scattering", "windows",
    "writing_views",
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
