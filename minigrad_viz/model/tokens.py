"""The text behind the positions of a sequence: the labels of the axes of an attention.

A string of the source is the text of a sequence if its letters, or its words, are equal at exactly those
positions at which the indices that an embedding looked up are equal.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..protocol import Value, op_of
from ..trace.graph import Graph
from ..trace.statements import parse_source

LONGEST = 64  # tokens


def tokens_of(source: str, graph: Graph) -> tuple[str, ...]:
    """The tokens of the first sequence that an embedding of the graph looked up; () where the source has no
    text for it."""
    texts = [tokens for text in strings_of(source) for tokens in (tuple(text), tuple(text.split()))]
    for station in graph.stations:
        if station.deck is None or op_of(station.deck.name) != "embedding":
            continue
        saved = next((chip.value for chip in station.deck.saved if chip.name == "indices"), None)
        ids = first_row(saved) if isinstance(saved, Value) else ()
        found = next((each for each in texts if len(each) > 1 and same_pattern(each, ids)), None)
        if found is not None:
            return found
    return ()


def strings_of(source: str) -> Iterator[str]:
    """The strings of a program, the documentation of functions left out."""
    tree = parse_source(source)
    for node in ast.walk(tree) if tree is not None else ():
        value = node.value if isinstance(node, ast.Assign | ast.keyword) else None
        values = node.args if isinstance(node, ast.Call) else [value] if value is not None else []
        for each in values:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value


def first_row(indices: Value) -> Sequence[float]:
    """The indices of the first sequence of a batch."""
    if indices.items is not None and indices.shape:
        return indices.items[: indices.shape[-1]]
    corner = None if indices.summary is None else indices.summary.corner
    return corner.items[: corner.columns] if corner is not None and corner.across == 1 else ()


def same_pattern(tokens: Sequence[str], ids: Sequence[float]) -> bool:
    """Whether tokens are equal where indices are, and nowhere else."""
    pairs = set(zip(tokens, ids, strict=False))
    return len(tokens) == len(ids) <= LONGEST and len(pairs) == len(set(tokens)) == len(set(ids))
