"""Arguments are converted by PyTorch's signatures before a function runs."""

import pytest
from calls import assert_same_ends

import minigrad

CALLS = """
x.sum(np.int64(1)) | x.sum((np.int32(0), 1)) | x.sum(L.tensor(1)) | x.sum([0, 1])
x.sum(axis=1, keepdims=True) | x.sum(1, np.True_) | x.sum(1, 1) | x.sum(True) | x.sum((0, 1.5))
x.sum(dim=(0, 'a')) | x.sum(1, dtype=float) | x.sum(1, dtype=3) | x.sum(dtype=int) | L.sum(axis=0, input=x)
x.max(y, True) | x.mean(1, True, 3) | x.view(3, 2) | x.view([3, 2])
x.view(L.tensor(3), np.int64(2)) | x.view(size=(6,)) | x.view(3, 2.0) | x.view((3, True)) | x.reshape(-1)
x.permute(1, 0) | x.permute((1, 0)) | x.flip(0, 1) | x.repeat(1, True) | x.expand(2, 2, 3)
x.expand((2, 2, 3), implicit=False) | x.expand(2, 2, 3, implicit=1) | x.resize_(2, 2) | x.squeeze(0)
x.squeeze(0, 1) | x.squeeze((0,)) | x.squeeze(np.int64(0)) | x.squeeze(True) | x.max(1).values | x.max(y)
x.max(np.int64(1)).values | x.max(1.0) | x.max(dim=1, keepdim=True).values | x.var(True) | x.var(1, True)
x.var(1, correction=0) | x.var(1, 0) | x.std((0, 1), keepdim=True) | L.zeros(2, 3)
L.zeros((2, 3), dtype=float) | L.zeros(2, dtype=L.int64) | L.zeros(2.0) | L.zeros(True) | L.zeros(size=(2,))
L.zeros([2, 'a']) | L.ones(2, requires_grad=1) | L.ones(L.tensor(2)) | L.zeros(-1)
L.full((2,), L.tensor(3.0)) | L.full((2,), np.float32(1.5)) | L.full(2, 1) | L.full((2,), 1, dtype=bool)
L.arange(L.tensor(3)) | L.arange(np.int64(3)) | L.arange(0, 1, 0.25, dtype=float) | L.arange('a')
L.eye(2, np.int64(3)) | L.eye(2.0) | L.linspace(L.tensor(0.0), 1, 3) | L.linspace(0, 1, np.int64(3))
x.sort(np.int64(1)).values | x.sort(descending=True).values | x.sort(1, 1) | x.cumsum(np.int64(0))
x.cumsum(0, dtype=float) | x.cumsum(0, dtype=bool) | x.cumsum_(axis=1) | x.topk(np.int64(2)).values
x.topk(2, largest=0) | x.new_zeros(2, 3) | x.new_zeros((2,), dtype=int) | x.new_full((2,), np.int64(3))
L.movedim(x, 0, 1) | L.movedim(x, (0, 1), (1, 0)) | L.movedim(x, 0, (1,)) | x.count_nonzero(np.int64(0))
x.all(1) | x.all((0, 1)) | x.all(1, True) | x.any(1.0) | x.amax(1) | x.logsumexp(1) | x.logsumexp(None)
x.to(int) | x.to(L.float64, L.float64) | x.to('cpu', L.float64, False, 1) | x.size(np.int64(1))
x.size(True) | L.linalg.norm(x, dim=1) | L.linalg.vector_norm(x, dim=[0, 1]) | L.fft.fftn(x, dim=1).abs()
L.special.logsumexp(x, 1) | F.avg_pool2d(x[None], 2) | F.avg_pool2d(x[None], (2, 2), stride=[1])
F.avg_pool2d(x[None], 2.0) | x.roll(1) | x.roll((1, 1), (0, 1)) | x.roll(1, dims=np.int64(0)) | x.tile(2)
L.tile(x, (2, 1)) | L.flip(x, 0) | L.flip(x, (0, 1)) | x.rot90(1, [0, 1]) | L.fft.fft(x, 2).abs()
L.fft.fftshift(x, 1) | x.repeat_interleave(np.int64(2))
"""


def namespace(L):
    x = L.tensor([[1.0, -2.0, 3.0], [0.5, 2.0, -1.0]])
    return {"x": x, "y": x.flip(1)}


@pytest.mark.quick
def test_as_in_pytorch(torch):
    assert_same_ends(torch, CALLS, namespace)


def test_a_form_is_chosen_by_all_arguments():
    x = minigrad.ones(2, 3)
    assert x.max(minigrad.zeros(2, 3)).shape == (2, 3)
    assert x.max(1).values.shape == (2,)


def test_plans_are_not_kept_without_end():
    kinds = [type(f"Kind{i}", (minigrad.Tensor,), {}) for i in range(150)]
    tensors = [minigrad.ones(2, 3).as_subclass(kind) for kind in kinds]
    for t in tensors:
        assert t.sum((0,)).shape == (3,)
    (plans,) = (
        cell.cell_contents
        for cell in minigrad.Tensor.sum.__closure__
        if isinstance(cell.cell_contents, dict) and cell.cell_contents
    )
    assert len(plans) <= 100
