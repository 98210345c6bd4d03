"""Calls with indices and masks, right and wrong ones: what they give is compared in `test_indexing`."""

from __future__ import annotations

KEYS = """
5 | -3 | T([5]) | T([-4]) | T([1.0]) | 'a' | 1.5 | {} | np.bool_(True) | (0, 0, 0)
(T([0]), T([1]), 0) | T([True, False]) | T([[True] * 4] * 2) | (T([0, 1]), T([0, 1, 2]))
[[0, 1], [1, 2]] | [[0, 1], 2] | [0, 2] | [True, False, True] | [True, False] | True | False
(True, 0) | (0, True) | (0, False) | T(True) | T(False) | T(1) | T(-1) | T(7) | T(1.0) | (T(1.0),)
T(1, dtype=L.uint8) | T([1, 0, 1], dtype=L.uint8) | T([1, 0], dtype=L.int32) | T([1, 0], dtype=L.int16)
np.array([0, 2]) | np.array([True, False, True]) | np.int64(1) | np.array(1) | range(2) | (range(2), 0)
(None, [0, 1]) | (..., [0, 1]) | ([0, 1], slice(None), None) | [slice(0, 2), 1] | [None, 0] | []
T([]) | T([], dtype=L.int64) | (T(1), T([0, 1])) | [0.5] | (slice(0, 2), 5) | (0, 5) | (T([0]), 5)
(slice(0, 2), T([7])) | T([[0, 1], [1, 0]]) | (x > 3, 0) | x > 3 | (0, T([True, True])) | [T(0), T(1)]
[T([0]), T([1])] | (..., ...) | (..., 0, ...) | slice(None, None, -1)
(None, T([0, 2]), None, slice(1, 3)) | (T([0, 2]), None, T([1, 1])) | (slice(None), T([0, 1]), None)
(T([[0], [1]]), T([1, 2])) | (x[0] > 1,) | (slice(None), x[0] > 1) | ()
"""

OF_A_NUMBER = "0 | ... | None | () | True | T(True) | (0,) | T([0]) | slice(None) | T([True]) | [0] | T(0)"

ASSIGNMENTS = """
x[0] = 1 | x[T([0, 1])] = L.ones(3) | x[T([0, 1])] = L.ones(5, 2, 4)
x[T([0, 1])] = L.ones(2, 4).double() | x[T([0, 1])] = 5 | x[T([0, 1])] = 1j | x[0] = 1j
x[0] = L.ones(5) | x[0] = [1, 2, 3, 4] | x[0] = 'a' | x[T([9])] = 1.0 | x[True] = L.ones(1, 3, 4)
x[False] = 1.0 | x[T([True, False, True])] = L.ones(3, 4) | x[x > 3] = L.arange(8.0)
x[x > 3] = L.arange(7.0) | x[x > 3] = 2 | x[x > 3] = T(2.0) | x[x > 3] = T(2)
x[x > 3] = np.arange(8.0) | x[...] = 2.0 | x[None] = L.ones(1, 3, 4) | x[:2, [0, 1]] = L.ones(1, 1, 1, 2)
x[[0, 1]] = L.ones(1, 1) | x[0] = np.ones(4) | x[0] = L.ones(1, 4) | x[0] = L.ones(2, 4)
x[:2] = L.ones(4, dtype=L.float64) | x[0] = T(1 + 1j) | x[0] = None | x[[1, 1]] = T([[1.0], [2.0]])
x[T([0])] = T(1) | x[0][1:][x[0, 1:] > 1] = 0.0 | x.t()[T([1])] = 7.0 | x[1, 2] = T(5.0)
x[:, -1] = x[:, 0] | x.index_put_((i,), T(1.0), True) | x.index_add_(0, i, s)
x.index_fill_(1, i, 3) | x.index_fill_(1, i, T(3.0))
x.put_(i, T([1.0, 2.0])) | x.scatter_(1, g, s) | x.scatter_(1, g, 3)
x.scatter_add_(1, g, s)
x.masked_fill_(x > 3, 1)
x.masked_fill_(x[0] > 1, T(2.0)) | x.masked_scatter_(x > 3, L.ones(9))
x.masked_fill_(L.ones(2, 3, 4) > 0, 1) | x.scatter_(1, g, s.double()) | x.index_add_(0, i, s.double())
x[1:].scatter_(0, T([[0, 0]]), x[:2]) | x.index_add_(0, i, x[:2])
"""

CALLS = """
x.index_select(2, i) | x.index_select(0, T([5])) | x.index_select(0, T([-1]))
x.index_select(0, T([[0]])) | x.index_select(0, T([0.0])) | x.index_select(0, T(1))
n.index_select(0, T([0])) | n.index_select(0, T([0, 0])) | x.index_select(0, T([0], dtype=L.int32))
x.index_add(0, T([5, 0]), s) | x.index_add(0, T([[0]]), s) | x.index_add(0, T([0.0, 1]), s)
x.index_add(0, T([0]), s) | x.index_add(0, i, L.ones(2, 3)) | x.index_add(0, i, s, alpha=1j)
x.long().index_add(0, i, s.long(), alpha=1.5)
x.index_fill(0, T([5, 0]), 1) | x.index_fill(0, T([-1, 0]), 1)
x.index_fill(0, T([[0]]), 1) | x.index_fill(0, T([0.0]), 1) | x.index_fill(0, i, 1j)
x.index_fill(0, i, T([1.0])) | x.index_fill(0, T(1), 7) | n.index_fill(0, T(0), 7)
x.gather(0, T([[0.0]]))
x.gather(2, g) | x.gather(0, T([[-1]])) | x.gather(0, T(0)) | n.gather(0, T([0, 0]))
x[0].gather(0, T(1)) | x.scatter(0, T([[0.0]]), s) | x.scatter(1, g, s[:, :1])
x.scatter(1, T([[0, 1, 2, 3, 0]]), s) | x.scatter(0, T([[0, 1, 2, 0, 0]]), 1.0)
x.scatter(1, T([[-1]]), s) | x.scatter(1, g, 1j)
x.scatter(1, g.int(), s) | x.scatter_add(1, g, 3.0)
x.take(T([12]))
x.take(T([-13])) | x.take(T([1.0])) | x.take(T(3)) | L.ones(0).take(T([0])) | x.put(T([12]), T([1.0]))
x.put(T([1]), T([1.0, 2.0])) | x.put(T([1]), T([1.0], dtype=L.float64))
x.masked_select(T([1, 0, 1, 0])) | x.masked_select(T([True, False]))
x.masked_scatter(x > 3, L.ones(3)) | x.masked_scatter(x > 3, L.ones(8).double())
x.masked_fill(T([True, False]), 1) | L.nonzero(x, as_tuple=True) | n.nonzero() | n.nonzero(as_tuple=True)
T(0.0).nonzero() | n.argwhere() | L.where(x > 5) | L.where(T([1, 0, 1, 0]), x, x) | L.where(x > 3, 1, 2)
L.where(x > 3, 1.0, 2) | L.where(x > 3, x.long(), 1.5) | L.where(x > 3, L.ones(3), x)
x.where(x > 3, -x) | x.where(x > 3, 0)
N.embedding(i, x, padding_idx=5)
N.embedding(T([5]), x) | N.embedding(T([1.0]), x) | N.embedding(i, x, max_norm=1.0)
N.embedding(i, x[0]) | N.one_hot(T([0.0])) | N.one_hot(T([-1])) | N.one_hot(T([3]), 2)
N.one_hot(T([]).long()) | N.one_hot(T([]).long(), 3).shape | N.one_hot(T(2)) | N.unfold(x[None], 5)
N.unfold(x[None], 0) | N.unfold(x[None], 2, stride=0) | N.unfold(x[None], 2, dilation=0)
N.unfold(x[None], 2, padding=-1) | N.unfold(x[None], (2, 2, 2)) | N.unfold(x[None].long(), 2)
N.unfold(x[None], 2) | N.fold(L.ones(1, 3, 2), (3, 4), 2) | N.fold(L.ones(1, 4, 5), (3, 4), 2)
N.fold(L.ones(4), (3, 4), 2) | N.fold(L.ones(4, 6), (3, 4), 2)
N.fold(L.ones(1, 4, 6), (3, 4), 2, stride=0) | x.index_put((i,), T(1)) | x.index_put((x > 3,), T(1))
x.index_put(i, n) | x.index_put([None], n) | x.index_put((i, i, i), n) | x.index_put((x > 3,), L.ones(3))
x.index_put((i,), 2.0)
"""
