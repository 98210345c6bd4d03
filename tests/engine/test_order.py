"""Running sums, order, rearrangements and padding, where PyTorch's table of ops does not look."""

from __future__ import annotations

import numpy as np
import pytest
from calls import assert_same_ends
from twins import outcome

import minigrad

NAN = float("nan")


CALLS = """
L.tensor([2.0, 1.0, 2.0, 1.0]).sort() | L.tensor([2.0, 1.0, 2.0, 1.0]).sort(descending=True)
L.tensor([nan, 1.0, inf]).sort() | L.tensor([nan, 1.0, inf]).sort(descending=True, stable=True)
L.tensor(1.0).sort() | L.tensor([1j]).sort() | L.argsort(x, 0, True)
L.tensor([nan, 1.0, 3.0, 2.0]).topk(2) | x.topk(2, 0, largest=False) | x.topk(9) | L.topk(x > 0, 1)
L.tensor([1j]).topk(1) | L.unique(L.tensor([nan, 1.0, nan]), return_counts=True)
L.tensor([[2, 1], [2, 3]]).unique(True, True, True)
L.tensor([[2, 1], [0, 3], [2, 1]]).unique(True, True, True, 0)
L.tensor([[2, 2, 0], [1, 1, 5]]).unique(dim=1) | L.unique(L.zeros(2, 0), dim=0)
L.unique(L.zeros(0, 2), dim=0, return_counts=True) | L.tensor([[1j]]).unique(dim=0)
L.tensor(1.0).unique(dim=0) | L.tensor([1j]).unique() | (x > 0.5).cumsum(0)
L.cumsum(x, 0, dtype=L.float16) | L.cumsum(x, 0, dtype=L.bool) | x.cumsum(axis=3) | x.cumsum_(1)
x.cumprod_(0) | L.tensor([1.0, 3.0, 3.0, 2.0]).cummax(0) | L.tensor([1.0, nan, 3.0, nan]).cummax(0)
L.tensor([1.0, nan, 3.0, nan, 0.0]).cummin(0) | L.tensor([False, True, False]).cummax(0)
L.tensor([1j]).cummax(0) | L.diff(L.tensor(1.0)) | L.diff(x > 0.5) | L.diff(x, 0) | L.diff(x, 9)
L.diff(x, -1) | L.diff(x, prepend=x[0]) | L.diff(x, dim=0, prepend=x[:, :2])
L.searchsorted(L.tensor([1, 3, 3, 5]), L.tensor([3, 6, 0]))
L.searchsorted(L.tensor([1, 3, 3]), 3, side='right') | L.searchsorted(x.sort()[0], x, out_int32=True)
L.searchsorted(x, x, sorter=x.argsort()) | L.searchsorted(L.tensor([1.0, nan]), L.tensor([nan]))
L.searchsorted(L.zeros(0), x) | L.searchsorted(L.tensor([2.0, nan, 0.5, 1.0]), x) | L.searchsorted(x, x[0])
L.searchsorted(x, 0.5) | L.searchsorted(L.tensor(1.0), x) | L.searchsorted(x[0], x, side='up')
L.searchsorted(x[0], x, right=True, side='left') | L.searchsorted(x[0], x, sorter=L.tensor([0]))
L.searchsorted(x[0], x, sorter=L.tensor([0, 1, 2, 9]))
L.searchsorted(x[0], x, sorter=x[0].argsort().int())
L.bucketize(L.tensor([1.0, 2.0]), L.tensor([1.0, 2.0]), right=True) | L.bucketize(2.5, L.tensor([1, 3]))
L.bucketize(x, x) | x.flip(0, 0) | x.flip(5) | x.repeat(2) | x.repeat(-1, 2) | x.repeat(0, 2)
x.repeat_interleave(-1) | x.repeat_interleave(L.tensor([1, 2]), 0) | x.repeat_interleave(L.tensor([2]), 0)
x.repeat_interleave(L.tensor([1.0]), 0) | L.repeat_interleave(L.tensor([1, 0, 2]))
L.repeat_interleave(x, 2, 0, output_size=5) | x.tril_(-1) | x.triu_(1) | L.hstack(x) | L.vstack([x, 2])
x.sum_to_size() | F.pad(x, (1,)) | F.pad(x, (1,) * 6)
F.pad(x, (-3, -3)) | L.constant_pad_nd(L.tensor([1, 2]), (1, 1), 2.5)
F.pad(i, (1, 1, 9, 1), 'reflect') | F.pad(L.zeros(3, 0), (1, 1), 'reflect')
F.pad(i, (1, 2, 0, 1, 3, 0), 'reflect')
F.pad(i, (1, 2, 0, 1, 3, -1), 'replicate') | F.pad(x > 0, (1, 1), 'replicate')
F.pad(i, (-3, -2, 1, 1), 'replicate') | F.pad(x, (1, 1), 'other')
F.pad(x, (1, 1), 'reflect', 1.0) | F.pad(x[0], (1, 1), 'replicate')
F.pixel_shuffle(i, 0) | F.pixel_shuffle(i, 3)
F.pixel_unshuffle(x, 2) | F.pixel_unshuffle(i, 3)
"""


def namespace(L):
    x = L.tensor((np.arange(12).reshape(3, 4) * 7 % 12 / 12).astype(np.float32))
    return {"x": x, "i": L.tensor((np.arange(64).reshape(1, 4, 4, 4) * 37 % 64 / 64).astype(np.float32))}


@pytest.mark.quick
def test_as_in_pytorch(torch):
    assert_same_ends(torch, CALLS, namespace)


@pytest.mark.parametrize("row", [[2.0, 0.0, 3.0], [0.0, 2.0, 0.0, 1.0], [2.0, 3.0, 0.0], [0.0]])
def test_products_up_to_and_beyond_zero(L, note, row):
    x = L.tensor(np.array(row), requires_grad=True)
    seed = L.tensor(np.arange(1.0, len(row) + 1))
    (first,) = L.autograd.grad(x.cumprod(0), x, seed, create_graph=True)
    second = L.autograd.grad(first, x, seed, allow_unused=True) if first.requires_grad else None
    note(first.tolist(), second, *L.autograd.grad(x.cumprod(0), x, seed))


@pytest.mark.parametrize("change", ["cumsum_", "cumprod_", "tril_"])
def test_gradient_of_what_was_changed_in_place(L, note, change):
    x = L.tensor([[2.0, 3.0], [4.0, 5.0]], requires_grad=True)
    y = x * 2
    getattr(y, change)(*[0] if change != "tril_" else [])
    (y * y).sum().backward()
    note(y, y._version, x.grad)


def test_different_elements_have_no_derivative(L, note):
    y = L.unique(L.tensor([1.0, 1.0], requires_grad=True))
    note(outcome(y.sum().backward)[1].partition("not implemented")[1])


def test_copies_share_no_memory():
    x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    for copied in (x.diag(), x.flip(())):
        copied.zero_()
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("numbers_of", ["different", "equal", "nan", "int64", "float16"])
def test_topk_of_many_is_the_beginning_of_a_sort(numbers_of, largest):
    """With equal elements in the order of their indices, and NaN as the largest."""
    pick = np.random.default_rng(0)
    data = pick.permutation(4 * 5 * 600).reshape(4, 5, 600).astype("f4")
    if numbers_of in ("equal", "int64"):
        data = data // 100
    if numbers_of == "nan":
        data[pick.random(data.shape) < 0.01] = NAN
    data = data.astype(numbers_of) if numbers_of in ("int64", "float16") else data
    x = minigrad.from_numpy(data)
    for k, dim in ((1, 2), (3, 2), (150, -1), (1, 1), (0, 2), (600, 2)):
        values, indices = x.topk(k, dim, largest=largest)
        expected = x.sort(dim, descending=largest)
        assert np.array_equal(indices.numpy(), expected.indices.narrow(dim, 0, k).numpy())
        assert equal_arrays(values, expected.values.narrow(dim, 0, k))
        assert values.is_contiguous() and indices.is_contiguous()


def equal_arrays(a, b):
    return np.array_equal(a.numpy(), b.numpy(), equal_nan=a.dtype.is_floating_point)
