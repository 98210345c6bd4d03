"""Every op, one declaration each, by topic. What is not imported here comes with what imports it.

Kernels and vjps have no annotations: a vjp runs on arrays, tensors and symbols.
"""

from __future__ import annotations

from . import (
    batches,
    compare,
    complexes,
    convolution,
    elementary,
    embedding,
    entropies,
    grid_sampling,
    pooling,
    recurrent,
    resampling,
    spectral,
)
