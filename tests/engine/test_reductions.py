"""Reductions: what PyTorch's table does not show. NaN, ties, results by name, forms of call, errors."""

from math import inf, nan

import numpy as np
import own_texts
import pytest
from calls import each
from twins import assert_same_tensor, dialect

import minigrad

TIES = [[1.0, 3.0, 3.0], [2.0, 0.5, 2.0]]
MISSING = [[1.0, nan, 3.0], [2.0, 0.5, nan]]


def tried(library, call, data):
    """The results of a call on a leaf, the gradient of their sum; or the error's class and text."""
    x = library.tensor(data, requires_grad=True)
    scope = {"L": library, "F": library.nn.functional, "x": x, "inf": inf}
    try:
        result = eval(call, scope)
    except (TypeError, ValueError, IndexError, RuntimeError) as error:
        return type(error).__name__, str(error).partition(" - got (")[0]
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    learned = [t for t in results if t.requires_grad]
    if learned:
        library.autograd.backward(learned, [library.ones_like(t) for t in learned])
    return results + [x.grad for _ in learned]


def assert_same(torch, call, data):
    ours, theirs = (tried(library, call, data) for library in (minigrad, torch))
    if isinstance(theirs, tuple):
        assert own_texts.alike(ours, theirs), (ours, theirs)
        return
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert_same_tensor(a.detach(), b.detach(), call)


WITH_NAN = """
x.amax(1) | x.amin((0, 1)) | x.argmax(1) | x.argmin() | x.max() | x.max(1) | x.min(0, keepdim=True)
L.max(x, x.detach() * 0 + 2) | x.median() | x.median(1) | x.nanmedian() | x.nanmedian(1) | x.nansum()
x.nanmean(1) | x.quantile(0.25, 1) | x.norm(inf) | x.norm(-inf, 1) | x.softmax(1)[:, :1] | x.all(1)
x.count_nonzero()
"""


@pytest.mark.quick
@pytest.mark.parametrize("data", [TIES, MISSING, [[nan, nan, nan]], [[inf, -inf, inf], [-inf, -inf, -inf]]])
def test_ties_nan_and_infinities(torch, data):
    for call in each(WITH_NAN):
        assert_same(torch, call, data)


FORMS = """
x.sum(axis=1, keepdims=True) | x.sum(()) | L.sum(x, [0, 1]) | L.sum(input=x, dim=-1) | x.sum((0, 0))
x.sum(2) | x.sum('a') | x.sum(dim=True) | x.sum(0, 1) | L.sum([1.0]) | x.detach().sum(0, dtype=L.int32)
x.mean(dtype=L.int64) | x.long().mean() | x.var(True) | L.var(x, False) | x.var(1, unbiased=False)
x.std(dim=0, correction=0, keepdim=True) | x[:1, :1].std() | x.long().var() | x.max((0, 1))
L.max(x, 1, keepdims=True) | x.max(other=x.detach()) | (x * 1j).max() | x.prod((0, 1)) | x.all(())
L.tensor([1, 0], dtype=L.uint8).any() | (x > 1).argmax() | x.long().norm() | x.long().softmax(0)
F.softmax(x.long(), dim=0, dtype=L.float64) | x.long().quantile(0.5) | x.quantile(2)
x[0].trace() | x.detach().histc(4, -1, 3) | L.bincount(L.tensor([0, 2, 2]), L.tensor([0.5, 1.0, 2.0]))
L.bincount(L.tensor([0, -2])) | x.cov(fweights=L.tensor([1, 2, 1])) | x[None].cov()
"""


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_forms_of_call_and_errors(torch):
    for call in each(FORMS):
        assert_same(torch, call, TIES)


EMPTY = """
x.sum() | x.mean() | x.prod(0) | x.max() | x.max(0) | x.max(1) | x.amax(0) | x.argmax() | x.median()
x.median(0) | x.nanmedian() | x.nanmedian(0) | x.cov() | x.corrcoef() | x.var(0) | x.logsumexp(0)
x.softmax(0) | x.norm() | x.norm(inf) | L.linalg.vector_norm(x, inf, 0) | x.quantile(0.5) | x.all(0)
"""


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_of_nothing(torch):
    for call in each(EMPTY):
        assert_same(torch, call, np.zeros((0, 3), np.float32))


def test_results_by_name(torch):
    with dialect("2"):
        for name in ("max", "min", "median", "nanmedian"):
            texts = []
            for library in (minigrad, torch):
                found = getattr(library.tensor(TIES, requires_grad=True), name)(1)
                assert found.values is found[0] and found.indices is found[1]
                assert found.values.requires_grad and not found.indices.requires_grad
                texts.append(repr(found))
            assert texts[0] == texts[1]


def test_indices_that_were_written_to(torch):
    errors = []
    for library in (minigrad, torch):
        x = library.tensor(TIES, requires_grad=True)
        values, indices = x.max(1)
        indices.add_(0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
            values.sum().backward()
        errors.append(str(error.value).partition(" Hint")[0])
    assert errors[0] == errors[1]


def test_half_precision_is_added_in_single(torch):
    numbers = np.full(5000, 1.001, np.float16)
    for name in ("sum", "mean", "norm", "var", "std"):
        ours, theirs = (getattr(library.tensor(numbers), name)() for library in (minigrad, torch))
        assert_same_tensor(ours, theirs, name)
