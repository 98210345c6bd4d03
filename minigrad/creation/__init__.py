"""How tensors are made that no op makes."""

from __future__ import annotations

from .data import (
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
    announce,
    constructed,
    leaf,
    tensor,
)
from .exchange import as_tensor, asarray, from_numpy
from .random import (
    bernoulli,
    multinomial,
    normal,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
)
from .ranges import arange, eye, linspace, logspace, tril_indices, triu_indices
from .sized import (
    empty,
    empty_like,
    empty_strided,
    full,
    full_like,
    ones,
    ones_like,
    scalar_tensor,
    zeros,
    zeros_like,
)

__all__ = [
    "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor",
    "LongTensor", "ShortTensor", "announce", "arange", "as_tensor", "asarray", "bernoulli", "constructed",
    "empty", "empty_like", "empty_strided", "eye", "from_numpy",
    "full", "full_like", "leaf", "linspace", "logspace", "multinomial", "normal", "ones",
    "ones_like", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like",
    "randperm", "scalar_tensor", "tensor", "tril_indices", "triu_indices", "zeros", "zeros_like",
]  # fmt: skip
