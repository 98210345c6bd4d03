"""Every op, one declaration each, by topic."""

from __future__ import annotations

from . import (
    activations,
    adaptive,
    affine_grids,
    arithmetic,
    bags,
    batches,
    binary,
    bits,
    class_losses,
    complexes,
    convolution,
    convolution_checks,
    cumulative,
    distances,
    division,
    eigen,
    elementwise,
    embedding,
    entropies,
    exponential,
    factors,
    grid_sampling,
    grid_taps,
    indexing,
    indexing_along,
    inverses,
    joining,
    least_squares,
    linalg,
    losses,
    masking,
    matrix_sums,
    normal,
    norms,
    packing,
    padding,
    pointwise,
    pooling,
    pooling_greatest,
    pooling_means,
    pooling_parts,
    rearranging,
    recurrent,
    reduction,
    resampling,
    rounding,
    scattering,
    shape,
    sliding,
    softmax,
    sorting,
    special,
    spectral,
    strided,
    ternary,
    underivable,
    views,
    views_in_place,
)
from . import clamp as bounds
from . import compare as comparing
from . import copy as copies
from . import count as counting
from . import half_precision as halves
from . import hard_activations as hard
from . import index as picking
from . import into_zeros as places
from . import max_min as extremes
from . import median as order
from . import normalization as normalisation
from . import pow as powers
from . import random_numbers as chance
from . import smooth_activations as smooth
from . import trigonometric as circular
from . import unfold as windows
from . import variance as spread
