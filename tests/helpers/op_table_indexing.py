"""Ops that take tensors of indices, or masks. See `op_case`."""

from __future__ import annotations

from typing import Any

from op_case import Case

PLACES = [[2, 0], [1, 1]]


def grid(L: Any) -> Any:
    """Indices of the columns of a (2, 3) matrix, one of them twice."""
    return L.tensor(PLACES)


def rows(L: Any) -> Any:
    """Indices of the rows of a (3, 2) matrix."""
    return L.tensor([2, 0])


def twice(L: Any) -> Any:
    """The same with one row twice."""
    return L.tensor([2, 0, 2])


def mask(L: Any) -> Any:
    """A mask for a (2, 3) matrix."""
    return L.tensor([[True, False, True], [False, True, True]])


def put(key: Any) -> Any:
    """`a[key] = b` on a copy of `a`; the key is made of a library."""

    def run(L: Any, a: Any, b: Any) -> Any:
        y = a * 1
        y[key(L)] = b
        return y

    return run


INDEXING: list[Case] = [
    Case("index", lambda L, a: a[L.tensor([0, 2, 2])], ((3, 2),)),
    Case("index by a mask", lambda L, a: a[mask(L)], ((2, 3),)),
    Case("index by a list", lambda L, a: a[:, [1, 0]], ((2, 3),)),
    Case("index by two", lambda L, a: a[rows(L)[:, None], L.tensor([0, 1])], ((3, 2),)),
    Case("index apart", lambda L, a: a[[1, 0], 1:, [0, 2]], ((2, 2, 3),)),
    Case("index beside views", lambda L, a: a[None, :, [2, 0]][..., 0], ((2, 3),)),
    Case("index by True", lambda L, a: a[True], ((2,),)),
    Case("put at indices", put(lambda L: rows(L)), ((3, 2), (2, 2))),
    Case("put under a mask", put(lambda L: mask(L)), ((2, 3), ())),
    Case("put under a view", put(lambda L: (slice(1, None), [0, 2])), ((3, 3), (1, 2))),
    Case("put a row", put(lambda L: 0), ((2, 3), (3,))),
    Case("index_put", lambda L, a, b: a.index_put((twice(L),), b, accumulate=True), ((3, 2), (2,))),
    Case("take", lambda L, a: a.take(L.tensor([[1, -1], [1, 0]])), ((2, 3),)),
    Case("put", lambda L, a, b: a.put(L.tensor([4, 0]), b), ((2, 3), (2,))),
    Case("put added", lambda L, a, b: a.put(L.tensor([4, 4]), b, accumulate=True), ((2, 3), (2,))),
    Case("index_select", lambda L, a: a.index_select(1, L.tensor([2, 2, 0])), ((2, 3),)),
    Case("index_add", lambda L, a, b: a.index_add(0, twice(L), b, alpha=2), ((3, 2), (3, 2))),
    Case("index_fill", lambda L, a: a.index_fill(1, L.tensor([0, -1]), 5), ((2, 3),)),
    Case("index_fill tensor", lambda L, a, b: a.index_fill(1, L.tensor([0, 0]), b), ((2, 3), ())),
    Case("gather", lambda L, a: a.gather(1, grid(L)), ((2, 3),)),
    Case("scatter", lambda L, a, b: a.scatter(1, L.tensor([[2, 0], [1, 2]]), b), ((2, 3), (2, 2))),
    Case("scatter number", lambda L, a: a.scatter(1, grid(L), 7), ((2, 3),)),
    Case("scatter_add", lambda L, a, b: a.scatter_add(1, grid(L), b), ((2, 3), (2, 2))),
    Case("masked_select", lambda L, a: a.masked_select(mask(L)), ((3,),)),
    Case("masked_scatter", lambda L, a, b: a.masked_scatter(mask(L), b), ((2, 3), (5,))),
    Case(
        "masked_scatter broadcast",
        lambda L, a, b: a.masked_scatter(L.tensor([True, False, True]), b),
        ((2, 3), (5,)),
    ),
    Case("masked_fill broadcast", lambda L, a: a.masked_fill(mask(L), 2), ((3,),)),
    Case("masked_fill by a tensor", lambda L, a, b: a.masked_fill(mask(L), b), ((2, 3), ())),
    Case(
        "embedding",
        lambda L, a: L.nn.functional.embedding(grid(L), a, padding_idx=-1, scale_grad_by_freq=True),
        ((4, 2),),
        smooth=False,  # the gradient is another than the derivative: that is what the options are for
        numbers="real",
    ),
    Case(
        "unfold windows",
        lambda L, a: L.nn.functional.unfold(a, (2, 1), dilation=(1, 2), padding=1, stride=(1, 2)),
        ((1, 2, 2, 3),),
    ),
    Case("fold", lambda L, a: L.nn.functional.fold(a, (3, 2), 2, padding=(0, 1)), ((1, 4, 6),)),
]
