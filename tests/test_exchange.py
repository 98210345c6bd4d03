"""Memory and numbers between tensors, NumPy, DLPack, buffers and matplotlib; devices and layouts."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from twins import Programs, assert_same_diary, dialect

import minigrad

programs = Programs()
pytestmark = pytest.mark.filterwarnings(
    "ignore:__array_wrap__:DeprecationWarning", "ignore:__array__:DeprecationWarning"
)


@programs
def numpys_functions(L, note):
    x, i = L.tensor([1.0, 4.0]), L.tensor([1, 2])
    for f in (np.sin, np.sqrt, np.isnan, np.negative, np.add.reduce):
        note(f(x), f(i))
    note(np.add(x, np.ones(2)), np.multiply(np.float32(3), x), np.matmul(np.ones((2, 2)), x.double()))
    note(np.argmax(x), np.concatenate([x, x]).tolist(), np.stack([x, x]).tolist(), np.allclose(x, x))
    note(
        np.float64(2) * x,
        np.asarray(x).tolist(),
        np.array(i, dtype="f4").tolist(),
        np.asarray(L.tensor(2.0)).tolist(),
    )
    note.error(lambda: np.ones(2) * x)
    note.error(lambda: np.sin(x.requires_grad_()))


@programs
def numpy_shares_what_it_gets(L, note):
    x = L.arange(4.0)
    np.multiply(x, 2, out=x.numpy())
    np.asarray(x)[0] = 9
    note(x)


@programs
def taken_as_tensors(L, note):
    a, x = np.arange(3.0), L.tensor([1.0, 2.0])
    for take in (L.as_tensor, L.asarray):
        shared = take(a)
        shared[0] = 7
        note(
            shared,
            a.tolist(),
            take(x) is x,
            take([1, 2.5]),
            take(3),
            take(a, dtype=L.float32),
            take(x, dtype=L.int64),
        )
    note(L.asarray(a, copy=True).mul_(2), a.tolist(), L.asarray(x, copy=True).add_(1), x)
    note(L.asarray([1.0], requires_grad=True))
    y = x.requires_grad_() * 2
    note(L.asarray(y), L.as_tensor(y, dtype=L.float64))
    note.error(lambda: L.asarray([1, 2], copy=False))
    note.error(lambda: L.asarray(L.ones(2), dtype=L.int64, copy=False))
    note.error(lambda: L.asarray(object()))
    note.error(lambda: L.as_tensor("a"))


@programs
def devices(L, note):
    note(
        *(repr(L.device(d)) for d in ("cpu", "cpu:0", "cuda:1")),
        str(L.device("cpu", 1)),
        repr(L.device(L.device("cpu"))),
    )
    cpu = L.device("cpu")
    note(
        cpu == L.device("cpu"),
        cpu == L.device("cpu", 0),
        cpu == "cpu",
        cpu.type,
        cpu.index,
        len({cpu, L.device("cpu")}),
    )
    t = L.ones(2, device=cpu)
    note(
        repr(t.device), t.cpu() is t, t.is_cuda, t.is_cpu, t.is_sparse, t.get_device(), t.layout is L.strided
    )
    with L.device("cpu"):
        note(L.ones(2))
    for wrong in ("abc", "cpu:x", "", 0):
        note.error(lambda w=wrong: L.device(w))
    note.error(lambda: L.device("cpu:0", 1))
    note.error(lambda: L.ones(2, device="abc"))
    note.error(lambda: setattr(cpu, "type", "cuda"))


@programs
def old_constructors(L, note):
    note(L.Tensor(2, 3).shape, L.Tensor([2, 3]), L.Tensor(), L.LongTensor([1, 2]), L.DoubleTensor([[1, 2]]))
    note(
        L.IntTensor(range(3)),
        L.BoolTensor([True, False]),
        L.ByteTensor(4).shape,
        L.HalfTensor([0.5]),
        L.ShortTensor([3]),
    )
    note.error(lambda: L.Tensor(1.5))
    note.error(lambda: L.Tensor(2, -1))
    note.error(lambda: L.Tensor("a"))


@pytest.mark.parametrize("program", programs, ids=programs.titles)
def test_as_in_pytorch(torch, program):
    with dialect("2"):
        assert_same_diary(program, torch)


@pytest.mark.parametrize(
    "make",
    [
        lambda: minigrad.ones(1, device="cuda"),
        lambda: minigrad.ones(1).cuda(),
        lambda: minigrad.Generator("cuda"),
    ],
)
def test_other_devices_are_refused(make):
    with pytest.raises(RuntimeError, match="CPU only"):
        make()


def test_there_are_no_graphics_processors():
    cuda, mps, cudnn = minigrad.cuda, minigrad.backends.mps, minigrad.backends.cudnn
    assert not (cuda.is_available() or mps.is_available() or cudnn.is_available() or cuda.device_count())
    cuda.manual_seed_all(3)
    cudnn.deterministic = True


def test_other_layouts_are_refused():
    with pytest.raises(RuntimeError, match="strided tensors only"):
        minigrad.zeros(1, layout=minigrad.sparse_coo)


def test_matplotlib_takes_tensors():
    pyplot = pytest.importorskip("matplotlib.figure")
    x = minigrad.linspace(0, 1, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = pyplot.Figure().subplots()
        (line,) = axes.plot(x, x**2)
        axes.scatter(x, x)
        axes.hist(x)
        axes.imshow(minigrad.rand(3, 3))
    assert line.get_ydata().tolist() == (x**2).tolist()


def test_matplotlib_refuses_tensors_that_require_grad():
    pyplot = pytest.importorskip("matplotlib.figure")
    x = minigrad.linspace(0, 1, 4, requires_grad=True)
    axes = pyplot.Figure().subplots()
    pictures = (axes.plot, axes.hist, lambda y: axes.scatter(y, y), lambda y: axes.imshow(y.view(2, 2)))
    for draw in pictures:
        with pytest.raises(RuntimeError, match=r"Use tensor\.detach\(\)\.numpy\(\) instead"):
            draw(x)
