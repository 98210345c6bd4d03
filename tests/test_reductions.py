"""Reductions: what PyTorch's table does not show. NaN, ties, results by name, forms of call, errors."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import own_texts
import pytest
from twins import assert_same_tensor, dialect

import minigrad

TIES = [[1.0, 3.0, 3.0], [2.0, 0.5, 2.0]]
MISSING = [[1.0, nan, 3.0], [2.0, 0.5, nan]]


def tried(library, call, *data):
    """The results of a call on leaves, the gradients of their sum; or the error's class and text."""
    leaves = [library.tensor(d, requires_grad=True) for d in data]
    try:
        result = call(library, *leaves)
    except (TypeError, ValueError, IndexError, RuntimeError) as error:
        return type(error).__name__, str(error).partition(" - got (")[0]
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    learned = [t for t in results if t.requires_grad]
    if learned:
        library.autograd.backward(learned, [library.ones_like(t) for t in learned])
    return results + [t.grad for t in leaves if t.grad is not None]


def assert_same(torch, call, *data):
    ours, theirs = (tried(library, call, *data) for library in (minigrad, torch))
    if isinstance(theirs, tuple):
        assert own_texts.alike(ours, theirs), (ours, theirs)
        return
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert_same_tensor(a.detach(), b.detach(), "result")


WITH_NAN = {
    "amax": lambda L, x: x.amax(1),
    "amin": lambda L, x: x.amin((0, 1)),
    "argmax": lambda L, x: x.argmax(1),
    "argmin": lambda L, x: x.argmin(),
    "max": lambda L, x: x.max(),
    "max dim": lambda L, x: x.max(1),
    "min dim": lambda L, x: x.min(0, keepdim=True),
    "max of two": lambda L, x: L.max(x, x.detach() * 0 + 2),
    "median": lambda L, x: x.median(),
    "median dim": lambda L, x: x.median(1),
    "nanmedian": lambda L, x: x.nanmedian(),
    "nanmedian dim": lambda L, x: x.nanmedian(1),
    "nansum": lambda L, x: x.nansum(),
    "nanmean": lambda L, x: x.nanmean(1),
    "quantile": lambda L, x: x.quantile(0.25, 1),
    "norm inf": lambda L, x: x.norm(inf),
    "norm -inf": lambda L, x: x.norm(-inf, 1),
    "softmax": lambda L, x: x.softmax(1)[:, :1],
    "all": lambda L, x: x.all(1),
    "count_nonzero": lambda L, x: x.count_nonzero(),
}


@pytest.mark.parametrize("data", [TIES, MISSING, [[nan, nan, nan]], [[inf, -inf, inf], [-inf, -inf, -inf]]])
@pytest.mark.parametrize("call", WITH_NAN.values(), ids=WITH_NAN)
def test_ties_nan_and_infinities(torch, call, data):
    assert_same(torch, call, data)


FORMS = {
    "sum axis": lambda L, x: x.sum(axis=1, keepdims=True),
    "sum ()": lambda L, x: x.sum(()),
    "sum list": lambda L, x: L.sum(x, [0, 1]),
    "sum input": lambda L, x: L.sum(input=x, dim=-1),
    "sum twice": lambda L, x: x.sum((0, 0)),
    "sum far": lambda L, x: x.sum(2),
    "sum text": lambda L, x: x.sum("a"),
    "sum bool": lambda L, x: x.sum(dim=True),
    "sum keepdim": lambda L, x: x.sum(0, 1),
    "sum of list": lambda L, x: L.sum([1.0]),
    "sum as int": lambda L, x: x.detach().sum(0, dtype=L.int32),
    "mean as int": lambda L, x: x.mean(dtype=L.int64),
    "mean of int": lambda L, x: x.long().mean(),
    "var True": lambda L, x: x.var(True),
    "var False": lambda L, x: L.var(x, False),
    "var unbiased": lambda L, x: x.var(1, unbiased=False),
    "std correction": lambda L, x: x.std(dim=0, correction=0, keepdim=True),
    "std of one": lambda L, x: x[:1, :1].std(),
    "var of int": lambda L, x: x.long().var(),
    "max dims": lambda L, x: x.max((0, 1)),
    "max keepdims": lambda L, x: L.max(x, 1, keepdims=True),
    "max other": lambda L, x: x.max(other=x.detach()),
    "max of complex": lambda L, x: (x * 1j).max(),
    "prod dims": lambda L, x: x.prod((0, 1)),
    "all ()": lambda L, x: x.all(()),
    "any of uint8": lambda L, x: L.tensor([1, 0], dtype=L.uint8).any(),
    "argmax of bool": lambda L, x: (x > 1).argmax(),
    "norm of int": lambda L, x: x.long().norm(),
    "softmax of int": lambda L, x: x.long().softmax(0),
    "softmax dtype": lambda L, x: L.nn.functional.softmax(x.long(), dim=0, dtype=L.float64),
    "quantile of int": lambda L, x: x.long().quantile(0.5),
    "quantile 2": lambda L, x: x.quantile(2),
    "trace of vector": lambda L, x: x[0].trace(),
    "histc": lambda L, x: x.detach().histc(4, -1, 3),
    "bincount": lambda L, x: L.bincount(L.tensor([0, 2, 2]), L.tensor([0.5, 1.0, 2.0])),
    "bincount negative": lambda L, x: L.bincount(L.tensor([0, -2])),
    "cov weights": lambda L, x: x.cov(fweights=L.tensor([1, 2, 1])),
    "cov of three": lambda L, x: x[None].cov(),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("call", FORMS.values(), ids=FORMS)
def test_forms_of_call_and_errors(torch, call):
    assert_same(torch, call, TIES)


EMPTY = {
    "sum": lambda L, x: x.sum(),
    "mean": lambda L, x: x.mean(),
    "prod": lambda L, x: x.prod(0),
    "max": lambda L, x: x.max(),
    "max dim": lambda L, x: x.max(0),
    "max other dim": lambda L, x: x.max(1),
    "amax": lambda L, x: x.amax(0),
    "argmax": lambda L, x: x.argmax(),
    "median": lambda L, x: x.median(),
    "median dim": lambda L, x: x.median(0),
    "nanmedian": lambda L, x: x.nanmedian(),
    "nanmedian dim": lambda L, x: x.nanmedian(0),
    "cov": lambda L, x: x.cov(),
    "corrcoef": lambda L, x: x.corrcoef(),
    "var": lambda L, x: x.var(0),
    "logsumexp": lambda L, x: x.logsumexp(0),
    "softmax": lambda L, x: x.softmax(0),
    "norm": lambda L, x: x.norm(),
    "norm inf": lambda L, x: x.norm(inf),
    "norm inf dim": lambda L, x: L.linalg.vector_norm(x, inf, 0),
    "quantile": lambda L, x: x.quantile(0.5),
    "all": lambda L, x: x.all(0),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("call", EMPTY.values(), ids=EMPTY)
def test_of_nothing(torch, call):
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
