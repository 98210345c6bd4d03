"""Every op against PyTorch: values, gradients, nodes, saved values, second derivatives and their graphs."""

from __future__ import annotations

import numpy as np
import pytest
from op_table import CASES, PLAIN, Case
from twins import assert_same_graph, assert_same_tensor, dialect, graph

import minigrad

DTYPES = ("float32", "float64")
case_ids = [case.name for case in CASES]


def leaves(library, case: Case, dtype: str):
    return [library.tensor(a, requires_grad=True) for a in case.arrays(dtype)]


def seed(library, result, requires_grad: bool = False):
    """A gradient to start from: different numbers in the result's shape and dtype."""
    shape = tuple(result.shape)
    n = int(np.prod(shape))
    values = (1 + np.arange(n) * 0.25).reshape(shape).astype(str(result.dtype).rpartition(".")[2])
    return library.tensor(values, requires_grad=requires_grad)


def both(torch, case: Case, dtype: str):
    """The op in both libraries: ((inputs, result), (inputs, result))."""
    made = []
    for library in (minigrad, torch):
        inputs = leaves(library, case, dtype)
        made.append((inputs, case.function(library, *inputs)))
    return made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=case_ids)
def test_result_graph_and_saved_values(torch, case, dtype):
    with dialect("2"):
        (_, ours), (_, theirs) = both(torch, case, dtype)
        assert_same_tensor(ours, theirs, case.name)
        assert_same_graph((ours,), (theirs,))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=case_ids)
def test_gradients(torch, case, dtype):
    results = []
    for library in (minigrad, torch):
        inputs = leaves(library, case, dtype)
        result = case.function(library, *inputs)
        result.backward(seed(library, result))
        results.append([t.grad for t in inputs])
    for i, (ours, theirs) in enumerate(zip(*results, strict=True)):
        assert_same_tensor(ours, theirs, f"{case.name}: gradient {i}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=case_ids)
def test_second_order(torch, case, dtype):
    """The graph that create_graph leaves, what its nodes saved, and the second derivatives it gives."""
    if not case.twice:
        pytest.skip("infinite second derivative, NaN in places that depend on the order of factors")
    first, second = [], []
    with dialect("2"):
        for library in (minigrad, torch):
            inputs = leaves(library, case, dtype)
            result = case.function(library, *inputs)
            start = seed(library, result, requires_grad=True)
            grads = library.autograd.grad(result, inputs, start, create_graph=True, allow_unused=True)
            first.append(grads)
            roots = [g for g in grads if g is not None and g.requires_grad]
            starts = [seed(library, g) for g in roots]
            again = {"retain_graph": True, "allow_unused": True}
            second.append(library.autograd.grad(roots, [*inputs, start], starts, **again) if roots else ())
        for i, (ours, theirs) in enumerate(zip(*first, strict=True)):
            assert_same_tensor(ours, theirs, f"{case.name}: gradient {i}")
            if ours is not None and not (case.other_order and i == 1):
                assert_same_graph((ours,), (theirs,))
    for i, (ours, theirs) in enumerate(zip(*second, strict=True)):
        assert_same_tensor(ours, theirs, f"{case.name}: second derivative {i}")


@pytest.mark.parametrize("case", CASES, ids=case_ids)
def test_finite_differences(case):
    if not case.smooth:
        pytest.skip("float32 inside, or no derivative from both sides")
    inputs = leaves(minigrad, case, "float64")
    assert minigrad.autograd.gradcheck(lambda *t: case.function(minigrad, *t), inputs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", PLAIN, ids=[case.name for case in PLAIN])
def test_without_gradient(torch, case, dtype):
    (_, ours), (_, theirs) = both(torch, case, dtype)
    assert_same_tensor(ours, theirs, case.name)


def test_every_op_is_tried(torch):
    """No op is declared that no line of the table reaches, forward or under create_graph."""
    from minigrad.op import OPS

    seen = set()
    with dialect("2"):
        for case in CASES:
            inputs = leaves(minigrad, case, "float64")
            result = case.function(minigrad, *inputs)
            start = seed(minigrad, result, requires_grad=True)
            grads = minigrad.autograd.grad(result, inputs, start, create_graph=True, allow_unused=True)
            for t in (result, *(g for g in grads if g is not None)):
                seen |= {name for name, _ in graph(t)}
    assert {name for name, op in OPS.items() if op.inputs} - seen == WITHOUT_A_LINE


# Used in place only (tests/test_storage.py), and a sum that sigmoid's second derivative leaves for the third.
WITHOUT_A_LINE = {
    "AddBackward1",
    "AsStridedBackward0",
    "AsStridedBackwardBackward0",
    "CopyBackwards",
    "FillBackward2",
    "ZeroBackward0",
}
