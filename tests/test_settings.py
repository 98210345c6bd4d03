"""Settings, leftovers of the namespace, what can be asked of a tensor, and `testing.assert_close`, against
PyTorch.
"""

from __future__ import annotations

import itertools
import warnings
from operator import add

import numpy as np
import pytest
from twins import Programs, assert_same_diary, dialect, outcome, told

import minigrad

programs = Programs()


@programs
def threads_and_determinism(L, note):
    L.set_num_threads(2)
    note(L.get_num_threads())
    L.set_num_threads(1)
    for wrong in (0, 1.5, "a"):
        note.error(lambda w=wrong: L.set_num_threads(w))
    note(L.are_deterministic_algorithms_enabled())
    L.use_deterministic_algorithms(True, warn_only=True)
    note(L.are_deterministic_algorithms_enabled())
    L.use_deterministic_algorithms(False)
    note(L.are_deterministic_algorithms_enabled(), L.get_float32_matmul_precision())
    note(L.is_warn_always_enabled())
    note.error(lambda: L.use_deterministic_algorithms(3))
    note(repr(L.get_default_device()), L.set_default_device("cpu"), L.set_default_device(None))
    note.error(lambda: L.set_default_device("abc"))


@programs
def names(L, note):
    x = L.ones(2)
    note(L.inf, L.nan, L.pi, L.e, L.newaxis)
    note(
        L.get_device(x),
        L.is_signed(x),
        L.is_same_size(x, x),
        L.version.cuda,
    )
    note(L.exp_(x), L.clamp_(x, 0, 1), L.fill_(x, 2), L.negative(x), x.negative_())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        note(L.range(0, 3), L.range(0, 1, 0.25), L.range(3, 0, -1))
        note.error(lambda: L.range(3, 0))


@programs
def properties(L, note):
    x, i = L.arange(6.0).view(2, 3), L.tensor([1, 2])
    note(x.itemsize, x.nbytes, x.ndimension(), x.name, x.is_meta, x.is_quantized, x.is_nested)
    note(
        x.is_signed(),
        i.to(L.uint8).is_signed(),
        (i > 0).is_signed(),
        x.is_same_size(i),
        x.grad_dtype is x.dtype,
    )
    note(x.is_contiguous(memory_format=L.contiguous_format), x.is_contiguous(memory_format=L.channels_last))
    pictures = L.ones(1, 2, 3, 4).contiguous(memory_format=L.channels_last)
    note(pictures.stride(), pictures.is_contiguous(), pictures.is_contiguous(memory_format=L.channels_last))
    for wrong in (L.channels_last, 3):
        note.error(lambda w=wrong: x.contiguous(memory_format=w))
    note.error(x.pin_memory)
    note(x.new(2, 3).shape, x.new([1, 2]), x.new().shape, x.new(()).shape, x.new(x[0, 0].size()).shape)
    note(type(x.as_subclass(L.nn.Parameter)) is L.nn.Parameter)
    note(x.untyped_storage().nbytes(), x[1].untyped_storage().nbytes(), len(x.untyped_storage()))
    note(x, x.untyped_storage().data_ptr() == x.data_ptr())


@programs
def elements(L, note):
    x = L.tensor([[1.0, 2.0], [3.0, 4.0]])
    note(3 in x, 7 in x, x in x, L.tensor(2.0) in x, reversed(x))
    for wrong in ("a", None):
        note.error(lambda w=wrong: w in x)
    note.error(lambda: x.__delitem__(0))
    note.error(lambda: +(x > 0))


@programs
def shapes(L, note):
    s = L.Size([1, 2])
    for made in (add(s, (3,)), add((3,), s), s * 2, 2 * s, s[:1], s[::-1], L.ones(2, 3).shape[1:]):
        note(type(made) is L.Size, tuple(made), repr(made))
    note(s == (1, 2), s[0], s.numel(), s.count(1))
    note.error(lambda: add(s, [2]))
    note.error(lambda: add(s, ("a",)))
    for wrong in (1.5, "a"):
        note.error(lambda w=wrong: L.ones(2).size(w))


@programs
def pythons_types(L, note):
    x = L.tensor([1.0, 0.0])
    for kind in (int, float, bool):
        note(
            x.to(kind),
            x.to(dtype=kind),
            L.ones(2, dtype=kind),
            x.sum(dtype=kind if kind is not bool else int),
        )
    note(
        L.cumsum(x, 0, dtype=float), L.softmax(x, 0, dtype=float), L.prod(x, dtype=int), x.type(L.LongTensor)
    )
    note(L.int8.is_signed, L.uint8.is_signed, L.bool.is_signed, L.complex64.is_signed)


@programs
def odd_data(L, note):
    i, x = L.tensor([1, 2]), L.ones(2)
    for data in (
        [1, [2]],
        [1.5, [2]],
        [[1, 2], [3]],
        [x, x],
        [i, 2],
        1 << 70,
        [1 << 70],
        "a",
        ["a"],
        None,
        [None],
    ):
        note.error(lambda d=data: L.tensor(d))
    for value, kind in itertools.product((300, -1, 100), (L.uint8, L.int8)):
        note.error(lambda v=value, k=kind: L.tensor([v, 0], dtype=k))
    note(L.Tensor(L.Size([2, 3])).shape, L.Tensor(i), L.LongTensor(i))
    for wrong in (None, {1: 2}, 2.5, True):
        note.error(lambda w=wrong: L.Tensor(w))
    note.error(lambda: L.LongTensor(x))
    note.error(lambda: L.Tensor(2, 2.5))
    shared = L.Tensor(x)
    shared[0] = 5
    note(x)


@programs
def losses_of_other_dtypes(L, note):
    F, p = L.nn.functional, L.tensor([0.25, 0.5])
    for target in (L.tensor([0, 1]), L.tensor([True, False]), p.double()):
        note.error(lambda t=target: F.binary_cross_entropy(p, t))
        note.error(lambda t=target: F.binary_cross_entropy_with_logits(p, t))
    note(F.cross_entropy(p, L.tensor([1])), F.cross_entropy(p, L.tensor([1]), reduction="none"))
    note.error(lambda: F.cross_entropy(p, L.tensor([1, 0])))
    note.error(lambda: F.embedding(1, L.ones(2, 2)))
    for wrong in (3, [1, 0], np.ones(2)):
        note.error(lambda w=wrong: F.cross_entropy(p, w))
        note.error(lambda w=wrong: F.cross_entropy(w, p))
    note.error(lambda: L.nn.Embedding(-1, 3))
    note.error(lambda: L.nn.Linear(2, "a"))
    note.error(lambda: L.nn.HuberLoss(delta=1j))
    mixed = L.ones(2, 3, dtype=L.float64)
    for weight in (L.ones(3), L.ones(3, dtype=L.int64)):
        note.error(lambda w=weight: F.layer_norm(mixed, (3,), w))
        note.error(lambda w=weight: F.batch_norm(mixed, w, w, w, w))
    for weight, bias in ((L.ones(2, 2).double(), L.ones(2)), (L.ones(2, 2), L.ones(2).double())):
        note.error(lambda w=weight, b=bias: F.linear(L.ones(1, 2), w, b))
    note.error(lambda: F.linear(L.ones(1, 2).double(), L.ones(2, 2), L.ones(2)))


@programs
def with_arrays(L, note):
    t, a = L.ones(3), np.arange(3.0)
    note(t == a, a == t, a / (t + 1), t / (a + 1))
    note.error(lambda: t < a)
    note.error(lambda: a @ t)
    t += a
    note(t)
    for array in (np.arange(3)[::-1], np.arange(3, dtype=">f4")):
        note.error(lambda w=array: L.from_numpy(w))
        note.error(lambda w=array: L.tensor(w))
    note.error(lambda: L.from_numpy(np.float32(1)))
    note(L.ones(2, dtype=L.complex64).conj().numpy(force=True).tolist())


@pytest.mark.parametrize("program", programs, ids=programs.titles)
def test_as_in_pytorch(torch, program):
    with warnings.catch_warnings(), dialect("2"):
        warnings.simplefilter("ignore")
        assert_same_diary(program, torch)


def test_promotion_of_all_pairs(torch):
    kinds = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64")
    for a, b in itertools.product(kinds, (*kinds, "complex128")):
        mine, theirs = ((getattr(L, a), getattr(L, b)) for L in (minigrad, torch))
        assert str(minigrad.promote_types(*mine)) == str(torch.promote_types(*theirs)), (a, b)
        assert minigrad.can_cast(*mine) == torch.can_cast(*theirs), (a, b)


def test_the_old_warnings(torch):
    def copied(L):
        return L.tensor(L.ones(1)).tolist()

    before = minigrad.get_dialect()
    minigrad.set_dialect("2")
    try:
        assert told(copied, minigrad) == told(copied, torch)
        assert told(lambda L: L.nn.functional.softmax(L.ones(2)).tolist(), minigrad) == told(
            lambda L: L.nn.functional.softmax(L.ones(2)).tolist(), torch
        )
    finally:
        minigrad.set_dialect(before)


def test_what_changes_nothing():
    minigrad.set_float32_matmul_precision("high")
    assert minigrad.get_float32_matmul_precision() == "high"
    minigrad.set_float32_matmul_precision("highest")
    assert minigrad.compile(len) is len and minigrad.compile(mode="default")(len) is len
    assert outcome(lambda: minigrad.set_default_device("cuda"))[0] == "RuntimeError"
    assert outcome(minigrad.cuda.synchronize)[0] == "AssertionError"
    assert minigrad.cuda.memory_allocated() == 0 and not minigrad.cuda.is_initialized()
