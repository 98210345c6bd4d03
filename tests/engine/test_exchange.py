"""Memory and numbers between tensors, NumPy, DLPack, buffers and matplotlib; devices and layouts."""

import copy
import warnings

import numpy as np
import pytest

import minigrad

pytestmark = [
    pytest.mark.filterwarnings("ignore:__array_wrap__:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning"),
    pytest.mark.quick,
]


def test_numpys_functions(L, note):
    x, i = L.tensor([1.0, 4.0]), L.tensor([1, 2])
    for f in (np.sin, np.sqrt, np.isnan, np.negative, np.add.reduce):
        note(f(x), f(i))
    note(np.add(x, np.ones(2)), np.multiply(np.float32(3), x), np.matmul(np.ones((2, 2)), x.double()))
    note(np.argmax(x), np.concatenate([x, x]).tolist(), np.stack([x, x]).tolist(), np.allclose(x, x))
    note(np.float64(2) * x, np.asarray(x).tolist(), np.array(i, dtype="f4").tolist())
    note(np.asarray(L.tensor(2.0)).tolist())
    note.error(lambda: np.ones(2) * x)
    note.error(lambda: np.sin(x.requires_grad_()))


def test_numpy_shares_what_it_gets(L, note):
    x = L.arange(4.0)
    np.multiply(x, 2, out=x.numpy())
    np.asarray(x)[0] = 9
    note(x)


def test_taken_as_tensors(L, note):
    a, x = np.arange(3.0), L.tensor([1.0, 2.0])
    for take in (L.as_tensor, L.asarray):
        shared = take(a)
        shared[0] = 7
        note(shared, a.tolist(), take(x) is x, take([1, 2.5]), take(3), take(a, dtype=L.float32))
        note(take(x, dtype=L.int64))
    note(L.asarray(a, copy=True).mul_(2), a.tolist(), L.asarray(x, copy=True).add_(1), x)
    note(L.asarray([1.0], requires_grad=True))
    y = x.requires_grad_() * 2
    note(L.asarray(y), L.as_tensor(y, dtype=L.float64))
    note.error(lambda: L.asarray([1, 2], copy=False))
    note.error(lambda: L.asarray(L.ones(2), dtype=L.int64, copy=False))
    note.error(lambda: L.asarray(object()))
    note.error(lambda: L.as_tensor("a"))


def test_devices(L, note):
    note(*(repr(L.device(d)) for d in ("cpu", "cpu:0", "cuda:1")), str(L.device("cpu", 1)))
    note(repr(L.device(L.device("cpu"))))
    cpu = L.device("cpu")
    note(cpu == L.device("cpu"), cpu == L.device("cpu", 0), cpu == "cpu", cpu.type, cpu.index)
    note(len({cpu, L.device("cpu")}))
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


@pytest.mark.parametrize(
    "make",
    [
        lambda: minigrad.ones(1, device="meta"),
        lambda: minigrad.ones(1).to("meta"),
        lambda: minigrad.nn.Linear(1, 1).to(device=minigrad.device("meta")),
    ],
)
def test_for_tensors_without_numbers_the_error_says_what_to_do(make):
    with pytest.raises(RuntimeError, match=r"device 'meta' is not available\. Leave out \.to\('meta'\)"):
        make()


def test_an_ensemble_needs_no_tensors_without_numbers():
    models = [minigrad.nn.Linear(2, 3) for _ in range(4)]
    parameters, buffers = minigrad.func.stack_module_state(models)
    base, x = copy.deepcopy(models[0]), minigrad.randn(5, 2)

    def predict(parameters, buffers):
        return minigrad.func.functional_call(base, (parameters, buffers), (x,))

    found = minigrad.func.vmap(predict)(parameters, buffers)
    assert minigrad.allclose(found, minigrad.stack([model(x) for model in models]))


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
