"""Sequences of unequal lengths and bags of numbers. See `op_case`."""

from __future__ import annotations

from typing import Any

from op_case import Case


def packed(L: Any, x: Any) -> Any:
    """Sequences of lengths 3, 1, 1, packed."""
    return L.nn.utils.rnn.pack_padded_sequence(x, [3, 1, 1]).data


def bags(mode: str) -> Case:
    """Three bags of rows, one of them empty."""

    def function(L: Any, table: Any) -> Any:
        input, offsets = L.tensor([1, 0, 2, 1]), L.tensor([0, 3, 3])
        return L.nn.functional.embedding_bag(input, table, offsets, mode=mode, padding_idx=0)

    return Case(f"embedding_bag {mode}", function, ((3, 2),), numbers="real", twice=False, forward=False)


SEQUENCES: list[Case] = [
    Case("pack_padded_sequence", packed, ((3, 3, 2),), numbers="real", same_graph=False, forward=False),
    bags("sum"),
    bags("mean"),
]
