"""Every op, one declaration each, by topic. What is not imported here comes with what imports it.

Kernels and vjps have no annotations: a vjp runs on arrays, tensors and symbols.
"""

from __future__ import annotations

from . import (
    activations,
    convolution,
    elementary,
    embedding,
    pooling,
    recurrent,
    sampling,
    spectral,
)
from . import comparison as compare
from . import complex as complexes
from . import normalization as batches
from . import softmax_losses as entropies
