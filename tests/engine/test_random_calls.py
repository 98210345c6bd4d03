"""Random calls, often wrong, end as in PyTorch, and never with an error of NumPy's or of Python's inside."""

import pytest
import random_calls
from tiers import full

import minigrad
from minigrad.tensor.binder import with_bound_arguments as explained

SEEDS = range(100) if full else range(3)
COUNT = 200


@pytest.mark.parametrize("seed", SEEDS)
def test_random_calls_end_as_in_pytorch(torch, seed):
    assert random_calls.found(torch, seed, COUNT) == []


CALLS = """
t('3', 'float32') + t('4', 'float32')
t('3', 'float32') * t('4', 'float32')
t('3', 'float32').mul_(t('4', 'float32'))
t('3', 'int64') % 0
t('3', 'float32')[t('3', 'int64')]
t('3', 'float32')[t('2, 3', 'bool')]
t('3', 'float32')['a']
t('3', 'float32')[5]
t('2, 3', 'float32').sum(5)
t('2, 3', 'float32').reshape(4)
t('2, 3', 'float32').dist(t('4', 'float32'))
F.hardshrink(t('2, 3', 'float32'), t('4', 'float32'))
F.smooth_l1_loss(t('3', 'float32'), t('3', 'float32'), beta='a')
F.mse_loss(t('3', 'float32'), t('3', 'float32'), reduction=[])
F.relu([1.0], True)
F.embedding(t('', 'int64'), None)
F.unfold(t('1, 2, 4, 4', 'float32'), 'a')
L.special.polygamma(-2, t('1', 'float32'))
L.norm(t('3', 'float32'), [1.0])
nn.ConstantPad1d(1.5, 0.0)(t('2, 3', 'float32'))
nn.CrossEntropyLoss(ignore_index='a')(t('2, 3', 'float32'), t('2', 'int64'))
nn.MSELoss()(t('3', 'float32'), t('3', 'float32'), 1)
nn.InstanceNorm2d(3, affine=True)(t('1, 2, 4, 4', 'float32'))
nn.RMSNorm((2, 3))(t('3', 'float32'))
t('3', 'int64').bitwise_and_(t('3', 'float32'))
t('3', 'complex64') < t('4', 'complex64')
t('3', 'float32').fill_(1e40)
t('3', 'uint8').fill_(300)
t('3', 'int64').__setitem__(0, float('nan'))
"""


def test_errors_have_pytorchs_class_and_no_other_error_before_them(torch):
    wrong = []
    for call in CALLS.strip().split("\n"):
        ours, theirs = (random_calls.End(library, call).error for library in (minigrad, torch))
        assert theirs is not None, call
        if type(ours).__name__ != type(theirs).__name__ or random_calls.is_chained(ours):
            wrong.append(f"{call}: {ours!r} | {theirs!r}")
    assert wrong == []


def test_an_error_of_a_users_code_inside_stays():
    with pytest.raises(ZeroDivisionError):
        explained(lambda function: function(), "called")(lambda: 1 / 0)


def test_a_kernel_without_checks_raises_pytorchs_errors():
    """What NumPy says inside a new op, of which nobody thought."""
    import numpy as np

    from minigrad.core import F, differentiable
    from minigrad.core.op import OPS

    before = dict(OPS)
    try:

        @differentiable(self=lambda g: g)
        def unchecked(self, dim):
            return np.add.reduce(self, axis=dim)

        @differentiable(self=lambda g: g)
        def untyped(self, other):
            return self.reshape(other)

        with pytest.raises(IndexError, match=r"^Dimension out of range .* \[-2, 1\], but got 5\)$") as caught:
            unchecked(minigrad.ones(2, 3), 5)
        assert not random_calls.is_chained(caught.value)
        with pytest.raises(RuntimeError, match=r"^untyped\(\) cannot be computed .*\(Tensor \[2, 3\], 4\)$"):
            untyped(minigrad.ones(2, 3), 4)
    finally:
        OPS.clear()
        OPS.update(before)
        for name in ("unchecked", "untyped"):
            delattr(F, name)
