"""Settings, leftovers of the namespace, what can be asked of a tensor, and `testing.assert_close`, against
PyTorch.
"""

import itertools
import warnings
from operator import add

import numpy as np
import pytest
from calls import assert_same_ends
from twins import outcome, outcome_and_warnings

import minigrad

pytestmark = pytest.mark.quick


def test_threads_and_determinism(L, note):
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


def test_names(L, note):
    x = L.ones(2)
    note(L.inf, L.nan, L.pi, L.e, L.newaxis)
    note(L.get_device(x), L.is_signed(x), L.is_same_size(x, x), L.version.cuda)
    note(L.exp_(x), L.clamp_(x, 0, 1), L.fill_(x, 2), L.negative(x), x.negative_())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        note(L.range(0, 3), L.range(0, 1, 0.25), L.range(3, 0, -1))
        note.error(lambda: L.range(3, 0))


def test_properties(L, note):
    x, i = L.arange(6.0).view(2, 3), L.tensor([1, 2])
    note(x.itemsize, x.nbytes, x.ndimension(), x.name, x.is_meta, x.is_nested)
    note(x.is_signed(), i.to(L.uint8).is_signed(), (i > 0).is_signed(), x.is_same_size(i))
    note(x.grad_dtype is x.dtype)
    note(x.is_contiguous(memory_format=L.contiguous_format), x.is_contiguous(memory_format=L.channels_last))
    pictures = L.ones(1, 2, 3, 4).contiguous(memory_format=L.channels_last)
    note(pictures.stride(), pictures.is_contiguous(), pictures.is_contiguous(memory_format=L.channels_last))
    for wrong in (L.channels_last, 3):
        note.error(lambda w=wrong: x.contiguous(memory_format=w))
    note(x.new(2, 3).shape, x.new([1, 2]), x.new().shape, x.new(()).shape, x.new(x[0, 0].size()).shape)
    note(type(x.as_subclass(L.nn.Parameter)) is L.nn.Parameter)
    note(x.untyped_storage().nbytes(), x[1].untyped_storage().nbytes(), len(x.untyped_storage()))
    note(x, x.untyped_storage().data_ptr() == x.data_ptr())


def test_shapes(L, note):
    s = L.Size([1, 2])
    for made in (add(s, (3,)), add((3,), s), s * 2, 2 * s, s[:1], s[::-1], L.ones(2, 3).shape[1:]):
        note(type(made) is L.Size, tuple(made), repr(made))
    note(s == (1, 2), s[0], s.numel(), s.count(1))


def test_pythons_types(L, note):
    x = L.tensor([1.0, 0.0])
    for kind in (int, float, bool):
        note(x.to(kind), x.to(dtype=kind), L.ones(2, dtype=kind))
        note(x.sum(dtype=kind if kind is not bool else int))
    note(
        L.cumsum(x, 0, dtype=float), L.softmax(x, 0, dtype=float), L.prod(x, dtype=int), x.type(L.LongTensor)
    )
    note(L.int8.is_signed, L.uint8.is_signed, L.bool.is_signed, L.complex64.is_signed)


def test_odd_data(L, note):
    i, x = L.tensor([1, 2]), L.ones(2)
    note(L.Tensor(L.Size([2, 3])).shape, L.Tensor(i), L.LongTensor(i))
    shared = L.Tensor(x)
    shared[0] = 5
    note(x)


ENDS = """
L.tensor([1, [2]]) | L.tensor([1.5, [2]]) | L.tensor([[1, 2], [3]]) | L.tensor([x, x]) | L.tensor([i, 2])
L.tensor(1 << 70) | L.tensor([1 << 70]) | L.tensor("a") | L.tensor(["a"]) | L.tensor(None) | L.tensor([None])
L.tensor([300, 0], dtype=L.uint8) | L.tensor([300, 0], dtype=L.int8) | L.tensor([-1, 0], dtype=L.uint8)
L.tensor([-1, 0], dtype=L.int8) | L.tensor([100, 0], dtype=L.uint8) | L.tensor([100, 0], dtype=L.int8)
L.Tensor(None) | L.Tensor({1: 2}) | L.Tensor(2.5) | L.Tensor(True) | L.LongTensor(x) | L.Tensor(2, 2.5)
F.binary_cross_entropy(p, L.tensor([0, 1])) | F.binary_cross_entropy(p, L.tensor([True, False]))
F.binary_cross_entropy(p, p.double()) | F.binary_cross_entropy_with_logits(p, L.tensor([0, 1]))
F.binary_cross_entropy_with_logits(p, L.tensor([True, False]))
F.binary_cross_entropy_with_logits(p, p.double()) | F.cross_entropy(p, L.tensor([1]))
F.cross_entropy(p, L.tensor([1]), reduction="none") | F.cross_entropy(p, L.tensor([1, 0]))
F.embedding(1, L.ones(2, 2)) | F.cross_entropy(p, 3) | F.cross_entropy(p, [1, 0])
F.cross_entropy(p, np.ones(2)) | F.cross_entropy(3, p) | F.cross_entropy([1, 0], p)
F.cross_entropy(np.ones(2), p) | L.nn.Embedding(-1, 3) | L.nn.Linear(2, "a") | L.nn.HuberLoss(delta=1j)
F.layer_norm(mixed, (3,), w) | F.layer_norm(mixed, (3,), w.long()) | F.batch_norm(mixed, w, w, w, w)
F.batch_norm(mixed, w.long(), w.long(), w.long(), w.long()) | F.linear(o, L.ones(2, 2).double(), x)
F.linear(o, L.ones(2, 2), x.double()) | F.linear(o.double(), L.ones(2, 2), x)
3 in m | 7 in m | m in m | L.tensor(2.0) in m | reversed(m) | "a" in m | None in m | m.__delitem__(0)
+(m > 0) | L.Size([1, 2]) + [2] | L.ones(2).size(1.5) | L.ones(2).size("a") | L.Size([1, 2]) + ("a",)
"""


def namespace(L):
    ones = {"x": L.ones(2), "w": L.ones(3), "o": L.ones(1, 2), "mixed": L.ones(2, 3, dtype=L.float64)}
    return {
        **ones,
        "i": L.tensor([1, 2]),
        "p": L.tensor([0.25, 0.5]),
        "m": L.tensor([[1.0, 2.0], [3.0, 4.0]]),
    }


def test_calls(torch):
    assert_same_ends(torch, ENDS, namespace)


def test_with_arrays(L, note):
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


def test_promotion_of_all_pairs(L, note):
    kinds = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64")
    for a, b in itertools.product(kinds, (*kinds, "complex128")):
        mine = getattr(L, a), getattr(L, b)
        note(a, b, str(L.promote_types(*mine)), L.can_cast(*mine))


def test_the_old_warnings(L, note):
    note(*outcome_and_warnings(lambda: L.tensor(L.ones(1))))
    note(*outcome_and_warnings(lambda: L.nn.functional.softmax(L.ones(2))))


def test_what_changes_nothing():
    minigrad.set_float32_matmul_precision("high")
    assert minigrad.get_float32_matmul_precision() == "high"
    minigrad.set_float32_matmul_precision("highest")
    assert minigrad.compile(len) is len and minigrad.compile(mode="default")(len) is len
    assert outcome(lambda: minigrad.set_default_device("cuda"))[0] == "RuntimeError"
    assert outcome(minigrad.cuda.synchronize)[0] == "AssertionError"
    assert minigrad.cuda.memory_allocated() == 0 and not minigrad.cuda.is_initialized()
