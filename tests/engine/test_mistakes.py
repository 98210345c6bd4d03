"""Arguments that no form of a function takes: class and text of the error as PyTorch's parser gives them."""

import pickle

import numpy as np
import pytest
from calls import assert_same_ends

import minigrad
from minigrad.tensor import signatures as mistakes

CALLS = """
L.add(x, 'a') | L.add(x) | L.add(x, 1, 2, 3) | L.add(x, 1, nonsense=1) | L.add(None, x) | L.exp('a')
L.exp([1.0]) | L.exp(a) | L.exp(None) | L.clamp(x, 'a', 1) | L.div(x, 'a', rounding_mode='floor')
L.cumsum(x) | L.cumsum(x, 1.5) | L.cumsum(x, dim='a') | L.cumsum(x, (0, 1)) | L.cumprod(3, 0)
L.topk(x, 1.5) | L.topk(x, 'a') | L.sort(x, 'a') | L.chunk(x, 2.5) | L.chunk(x, x) | L.unsqueeze(x, 'a')
L.unsqueeze(x) | L.squeeze(x, 'a') | L.flip(x, 'a') | L.flip(x, (0, 1.5)) | L.roll(x, 'a') | L.permute(x, 3)
L.permute(x, (0, 'a')) | L.cat(x) | L.cat([x, 3]) | L.cat(3) | L.cat([x, x], 'a') | L.stack(x, 0, 1)
L.stack(3) | L.where(x, 3, 'a') | L.where(1, 2, 3) | L.gather(x, 0, 3) | L.gather(x, 'a', i)
L.gather(3, 0, i) | L.index_select(x, 0, 3) | L.masked_fill(3, x > 0, 1) | L.masked_fill(x, 3, 1)
L.masked_fill(x, x > 0, 'a') | L.tril(x, 'a') | L.diag('a') | L.var(x, 'a') | L.prod('a') | L.prod(x, 'a')
L.amax(3) | L.argmax(x, 'a') | L.logsumexp(x, 'a') | L.median(x, 'a') | L.mm(x, 3) | L.bmm(3, x)
L.dot(x, [1]) | L.matmul(x, 3) | L.matmul([1], x) | L.outer(3, x) | L.addmm(x, 3, x) | L.zeros(2, 'a')
L.zeros(1.5) | L.zeros('a') | L.ones(2, dtype=3) | L.full((2,)) | L.full(3, 1) | L.full((2,), 'a')
L.eye(1.5) | L.eye('a') | L.linspace(0, 1) | L.linspace(0, 1, 1.5) | L.randn('a') | L.randperm(1.5)
L.rand(1.5) | L.zeros_like(3) | L.broadcast_to(3, (2,)) | L.broadcast_to(x, 'a') | L.isnan('a')
L.floor('a') | L.relu(3) | x.unsqueeze('a') | x.unsqueeze() | x.squeeze('a') | x.cumsum('a') | x.cumsum()
x.topk('a') | x.chunk(2.5) | x.expand('a') | x.expand(2, 1.5) | x.repeat('a') | x.flip('a')
x.permute(0, 1.5) | x.gather(0, 3) | x.argmax('a') | x.masked_fill(3, 1) | x.std('a') | x.clamp('a')
x.index_select(0, 3) | x.narrow(0, 'a', 1) | x.tril('a') | x.bmm(3) | x.fill_('a') | x.clamp_('a')
x.index_add(0, 3, x) | x.scatter(0, 3, x) | x.unfold(0, 'a', 1) | x.nonsense() | L.linalg.inv(3)
L.linalg.solve(x, 3) | L.special.expit([1]) | L.fft.fft('a') | L.exp_(3) | L.nn.functional.conv2d(3, x)
L.nn.functional.conv2d(x, 3) | L.nn.functional.avg_pool2d(3, 2) | L.nn.functional.avg_pool2d(x, 'a')
L.nn.functional.gelu(3) | L.nn.functional.softplus('a')
"""


def namespace(L):
    return {"x": L.ones(2, 3), "i": L.tensor([[0, 1]]), "a": np.ones(2)}


@pytest.mark.quick
def test_as_in_pytorch(torch):
    assert_same_ends(torch, CALLS, namespace)


def test_every_signature_can_be_read():
    for name in mistakes.signatures():
        assert mistakes.forms(name)


def test_an_error_of_another_kind_stays():
    with pytest.raises(IndexError, match="Dimension out of range"):
        minigrad.ones(2).cumsum(dim=3)
    with pytest.raises(RuntimeError, match="must match the size"):
        minigrad.atan2(minigrad.ones(2), minigrad.ones(3))


def test_functions_can_be_pickled():
    F = minigrad.nn.functional
    functions = (minigrad.exp, minigrad.relu, minigrad.cumsum, minigrad.linalg.inv, minigrad.special.expit)
    for function in (*functions, F.relu, F.max_pool2d, F.conv2d, minigrad.Tensor.cumsum, minigrad.exp_):
        assert pickle.loads(pickle.dumps(function)) is function


def test_names_stay():
    for function in (minigrad.exp, minigrad.add, minigrad.cumsum, minigrad.Tensor.cumsum, minigrad.zeros):
        assert function.__doc__ and function.__name__ in ("exp", "add", "cumsum", "zeros")
