"""Running sums, order, rearrangements and padding, where PyTorch's table of ops does not look."""

from __future__ import annotations

import numpy as np
import own_texts
import pytest
from twins import dialect, numbers

import minigrad

NAN = float("nan")


def told(x) -> str:
    """Results as text: types, dtypes, shapes and numbers."""
    if isinstance(x, (tuple, list)):
        return f"{type(x).__name__} {[told(t) for t in x]}"
    if hasattr(x, "requires_grad"):
        kind = str(x.dtype).rpartition(".")[2]
        return f"{kind} {tuple(x.shape)} {np.round(numbers(x).astype(complex), 5).tolist()}"
    return str(x)


def outcome(library, call) -> str:
    """What a call gives, or its error."""
    x = library.tensor((np.arange(12).reshape(3, 4) * 7 % 12 / 12).astype(np.float32))
    images = library.tensor((np.arange(64).reshape(1, 4, 4, 4) * 37 % 64 / 64).astype(np.float32))
    try:
        return told(call(library, x, images))
    except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError) as error:
        text = str(error).split("\n")[0].partition("received an invalid")[0]
        return f"{type(error).__name__}: {text.replace('minigrad', 'torch')}"


CALLS = {
    # ties and NaN
    "sort equal": lambda L, x, i: L.tensor([2.0, 1.0, 2.0, 1.0]).sort(),
    "sort equal down": lambda L, x, i: L.tensor([2.0, 1.0, 2.0, 1.0]).sort(descending=True),
    "sort nan": lambda L, x, i: L.tensor([NAN, 1.0, np.inf]).sort(),
    "sort nan down": lambda L, x, i: L.tensor([NAN, 1.0, np.inf]).sort(descending=True, stable=True),
    "sort 0-d": lambda L, x, i: L.tensor(1.0).sort(),
    "sort complex": lambda L, x, i: L.tensor([1j]).sort(),
    "argsort down": lambda L, x, i: L.argsort(x, 0, True),
    "topk of nan": lambda L, x, i: L.tensor([NAN, 1.0, 3.0, 2.0]).topk(2),
    "topk smallest": lambda L, x, i: x.topk(2, 0, largest=False),
    "topk too many": lambda L, x, i: x.topk(9),
    "topk of bools": lambda L, x, i: L.topk(x > 0, 1),
    "topk complex": lambda L, x, i: L.tensor([1j]).topk(1),
    # different elements
    "unique of nan": lambda L, x, i: L.unique(L.tensor([NAN, 1.0, NAN]), return_counts=True),
    "unique all": lambda L, x, i: L.tensor([[2, 1], [2, 3]]).unique(True, True, True),
    "unique rows": lambda L, x, i: L.tensor([[2, 1], [0, 3], [2, 1]]).unique(True, True, True, 0),
    "unique columns": lambda L, x, i: L.tensor([[2, 2, 0], [1, 1, 5]]).unique(dim=1),
    "unique nothing": lambda L, x, i: L.unique(L.zeros(2, 0), dim=0),
    "unique empty": lambda L, x, i: L.unique(L.zeros(0, 2), dim=0, return_counts=True),
    "unique complex rows": lambda L, x, i: L.tensor([[1j]]).unique(dim=0),
    "unique rows of a number": lambda L, x, i: L.tensor(1.0).unique(dim=0),
    "unique of complex": lambda L, x, i: L.tensor([1j]).unique(),
    # running sums and differences
    "cumsum of bools": lambda L, x, i: (x > 0.5).cumsum(0),
    "cumsum dtype": lambda L, x, i: L.cumsum(x, 0, dtype=L.float16),
    "cumsum to bool": lambda L, x, i: L.cumsum(x, 0, dtype=L.bool),
    "cumsum axis": lambda L, x, i: x.cumsum(axis=3),
    "cumsum in place": lambda L, x, i: x.cumsum_(1),
    "cumprod in place": lambda L, x, i: x.cumprod_(0),
    "cummax of equal": lambda L, x, i: L.tensor([1.0, 3.0, 3.0, 2.0]).cummax(0),
    "cummax of nan": lambda L, x, i: L.tensor([1.0, NAN, 3.0, NAN]).cummax(0),
    "cummin of nan": lambda L, x, i: L.tensor([1.0, NAN, 3.0, NAN, 0.0]).cummin(0),
    "cummax of bools": lambda L, x, i: L.tensor([False, True, False]).cummax(0),
    "cummax of complex": lambda L, x, i: L.tensor([1j]).cummax(0),
    "diff of a number": lambda L, x, i: L.diff(L.tensor(1.0)),
    "diff of bools": lambda L, x, i: L.diff(x > 0.5),
    "diff never": lambda L, x, i: L.diff(x, 0),
    "diff too often": lambda L, x, i: L.diff(x, 9),
    "diff less than never": lambda L, x, i: L.diff(x, -1),
    "diff other": lambda L, x, i: L.diff(x, prepend=x[0]),
    "diff other size": lambda L, x, i: L.diff(x, dim=0, prepend=x[:, :2]),
    # looked up
    "searchsorted": lambda L, x, i: L.searchsorted(L.tensor([1, 3, 3, 5]), L.tensor([3, 6, 0])),
    "searchsorted right": lambda L, x, i: L.searchsorted(L.tensor([1, 3, 3]), 3, side="right"),
    "searchsorted rows": lambda L, x, i: L.searchsorted(x.sort()[0], x, out_int32=True),
    "searchsorted by sorter": lambda L, x, i: L.searchsorted(x, x, sorter=x.argsort()),
    "searchsorted nan": lambda L, x, i: L.searchsorted(L.tensor([1.0, NAN]), L.tensor([NAN])),
    "searchsorted among nothing": lambda L, x, i: L.searchsorted(L.zeros(0), x),
    "searchsorted unsorted": lambda L, x, i: L.searchsorted(L.tensor([2.0, NAN, 0.5, 1.0]), x),
    "searchsorted other rows": lambda L, x, i: L.searchsorted(x, x[0]),
    "searchsorted number": lambda L, x, i: L.searchsorted(x, 0.5),
    "searchsorted 0-d": lambda L, x, i: L.searchsorted(L.tensor(1.0), x),
    "searchsorted side": lambda L, x, i: L.searchsorted(x[0], x, side="up"),
    "searchsorted both": lambda L, x, i: L.searchsorted(x[0], x, right=True, side="left"),
    "searchsorted short": lambda L, x, i: L.searchsorted(x[0], x, sorter=L.tensor([0])),
    "searchsorted outside": lambda L, x, i: L.searchsorted(x[0], x, sorter=L.tensor([0, 1, 2, 9])),
    "searchsorted int32 sorter": lambda L, x, i: L.searchsorted(x[0], x, sorter=x[0].argsort().int()),
    "bucketize right": lambda L, x, i: L.bucketize(L.tensor([1.0, 2.0]), L.tensor([1.0, 2.0]), right=True),
    "bucketize a number": lambda L, x, i: L.bucketize(2.5, L.tensor([1, 3])),
    "bucketize by rows": lambda L, x, i: L.bucketize(x, x),
    # rearranged
    "flip twice": lambda L, x, i: x.flip(0, 0),
    "flip outside": lambda L, x, i: x.flip(5),
    "repeat too few": lambda L, x, i: x.repeat(2),
    "repeat negative": lambda L, x, i: x.repeat(-1, 2),
    "repeat never": lambda L, x, i: x.repeat(0, 2),
    "each negative": lambda L, x, i: x.repeat_interleave(-1),
    "each other": lambda L, x, i: x.repeat_interleave(L.tensor([1, 2]), 0),
    "each one": lambda L, x, i: x.repeat_interleave(L.tensor([2]), 0),
    "each float": lambda L, x, i: x.repeat_interleave(L.tensor([1.0]), 0),
    "indices repeated": lambda L, x, i: L.repeat_interleave(L.tensor([1, 0, 2])),
    "each size": lambda L, x, i: L.repeat_interleave(x, 2, 0, output_size=5),
    "tril in place": lambda L, x, i: x.tril_(-1),
    "triu in place": lambda L, x, i: x.triu_(1),
    "hstack tensor": lambda L, x, i: L.hstack(x),
    "vstack number": lambda L, x, i: L.vstack([x, 2]),
    "sum_to_size none": lambda L, x, i: x.sum_to_size(),
    # borders and pixels
    "pad odd": lambda L, x, i: L.nn.functional.pad(x, (1,)),
    "pad long": lambda L, x, i: L.nn.functional.pad(x, (1,) * 6),
    "pad away": lambda L, x, i: L.nn.functional.pad(x, (-3, -3)),
    "pad whole": lambda L, x, i: L.constant_pad_nd(L.tensor([1, 2]), (1, 1), 2.5),
    "reflect far": lambda L, x, i: L.nn.functional.pad(i, (1, 1, 9, 1), "reflect"),
    "reflect nothing": lambda L, x, i: L.nn.functional.pad(L.zeros(3, 0), (1, 1), "reflect"),
    "reflect 3d": lambda L, x, i: L.nn.functional.pad(i, (1, 2, 0, 1, 3, 0), "reflect"),
    "replicate 3d": lambda L, x, i: L.nn.functional.pad(i, (1, 2, 0, 1, 3, -1), "replicate"),
    "replicate bools": lambda L, x, i: L.nn.functional.pad(x > 0, (1, 1), "replicate"),
    "replicate away": lambda L, x, i: L.nn.functional.pad(i, (-3, -2, 1, 1), "replicate"),
    "pad mode": lambda L, x, i: L.nn.functional.pad(x, (1, 1), "other"),
    "pad value": lambda L, x, i: L.nn.functional.pad(x, (1, 1), "reflect", 1.0),
    "pad dims": lambda L, x, i: L.nn.functional.pad(x[0], (1, 1), "replicate"),
    "shuffle by 0": lambda L, x, i: L.nn.functional.pixel_shuffle(i, 0),
    "shuffle by 3": lambda L, x, i: L.nn.functional.pixel_shuffle(i, 3),
    "shuffle a matrix": lambda L, x, i: L.nn.functional.pixel_unshuffle(x, 2),
    "unshuffle by 3": lambda L, x, i: L.nn.functional.pixel_unshuffle(i, 3),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_as_in_pytorch(torch, call):
    with dialect("2"):
        assert own_texts.alike(outcome(minigrad, call), outcome(torch, call))


@pytest.mark.parametrize("row", [[2.0, 0.0, 3.0], [0.0, 2.0, 0.0, 1.0], [2.0, 3.0, 0.0], [0.0]])
def test_products_up_to_and_beyond_zero(torch, row):
    found = []
    for library in (minigrad, torch):
        x = library.tensor(np.array(row), requires_grad=True)
        seed = library.tensor(np.arange(1.0, len(row) + 1))
        (first,) = library.autograd.grad(x.cumprod(0), x, seed, create_graph=True)
        second = library.autograd.grad(first, x, seed, allow_unused=True) if first.requires_grad else (None,)
        plain = library.autograd.grad(x.cumprod(0), x, seed)
        found.append([None if g is None else numbers(g).tolist() for g in (first, *second, *plain)])
    assert found[0] == found[1]


@pytest.mark.parametrize("change", ["cumsum_", "cumprod_", "tril_"])
def test_gradient_of_what_was_changed_in_place(torch, change):
    found = []
    for library in (minigrad, torch):
        x = library.tensor([[2.0, 3.0], [4.0, 5.0]], requires_grad=True)
        y = x * 2
        getattr(y, change)(*[0] if change != "tril_" else [])
        (y * y).sum().backward()
        found.append((type(y.grad_fn).__name__, y._version, x.grad.tolist()))
    with dialect("2"):
        assert found[0][1:] == found[1][1:] and found[0][0] == found[1][0]


def test_different_elements_have_no_derivative(torch):
    for library in (minigrad, torch):
        y = library.unique(library.tensor([1.0, 1.0], requires_grad=True))
        with pytest.raises((RuntimeError, NotImplementedError), match="not implemented"):
            y.sum().backward()


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
        assert same(values, expected.values.narrow(dim, 0, k))
        assert values.is_contiguous() and indices.is_contiguous()


def same(a, b):
    return np.array_equal(a.numpy(), b.numpy(), equal_nan=a.dtype.is_floating_point)
