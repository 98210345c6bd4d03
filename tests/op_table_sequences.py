"""Sequences of unequal lengths, bags of numbers, sequences of labels, weights by length and direction. See
`op_case`.
"""

from __future__ import annotations

import warnings
from typing import Any

from op_case import Case


def packed(L: Any, x: Any) -> Any:
    """Sequences of lengths 3, 1, 1, packed."""
    return L.nn.utils.rnn.pack_padded_sequence(x, [3, 1, 1]).data


def bags(mode: str, weighted: bool = False) -> Case:
    """Three bags of rows, one of them empty."""

    def function(L: Any, table: Any, weights: Any = None) -> Any:
        input, offsets = L.tensor([1, 0, 2, 1]), L.tensor([0, 3, 3])
        bag = L.nn.functional.embedding_bag
        return bag(input, table, offsets, mode=mode, per_sample_weights=weights, padding_idx=0)

    inputs = ((3, 2), (4,)) if weighted else ((3, 2),)
    return Case(f"embedding_bag {mode}", function, inputs, numbers="real", twice=False, forward=False)


def spelled(L: Any, x: Any) -> Any:
    """The loss of two sequences of labels, the first with a repeated one."""
    loss = L.nn.functional.ctc_loss
    return loss(x.log_softmax(2), L.tensor([[1, 1], [2, 1]]), [4, 4], [2, 2], reduction="none")


def by_length(L: Any, v: Any, g: Any) -> Any:
    """A weight of two rows, given by their lengths and directions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer = L.nn.utils.weight_norm(L.nn.Linear(3, 2, bias=False))
    del layer.weight_v, layer.weight_g
    layer.weight_v, layer.weight_g = v, g
    layer(L.ones(1, 3, dtype=v.dtype))  # which sets the weight
    return layer.weight


SEQUENCES: list[Case] = [
    Case("pack_padded_sequence", packed, ((3, 3, 2),), numbers="real", same_graph=False, forward=False),
    bags("sum", weighted=True),
    bags("mean"),
    bags("max"),
    Case("weight_norm", by_length, ((2, 3), (2, 1)), numbers="real", same_graph=False, forward=False),
    Case("ctc_loss", spelled, ((4, 2, 3),), numbers="real", twice=False, forward=False),
]
