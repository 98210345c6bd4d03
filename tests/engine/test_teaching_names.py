"""Names that teaching code uses, held against PyTorch."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import random
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.left_out import missing


@pytest.fixture(params=["minigrad", "torch"])
def library(request: Any) -> Any:
    """Each library: what a test says must hold in both."""
    return minigrad if request.param == "minigrad" else pytest.importorskip("torch")


# ── Variable, functional_call, stack_module_state


def test_variable(library):
    from_module = importlib.import_module(f"{library.__name__}.autograd.variable").Variable
    Variable = library.autograd.Variable
    assert from_module is Variable
    x = library.ones(3)
    v = Variable(x, requires_grad=True)
    assert type(v) is library.Tensor and v.requires_grad and v.is_leaf and not x.requires_grad
    assert v.data_ptr() == x.data_ptr()
    v.pow(2).sum().backward()
    assert v.grad.tolist() == [2.0] * 3
    assert not Variable(v * 2).requires_grad and Variable(v * 2).grad_fn is None
    assert isinstance(x, Variable) and isinstance(library.nn.Parameter(x), Variable)
    assert not isinstance(3.0, Variable) and Variable().shape == (0,)
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got list"):
        Variable([1.0])
    with pytest.warns(UserWarning, match="volatile was removed"):
        Variable(x, volatile=True)


def net(library: Any, seed: int) -> Any:
    """A net whose numbers are the same in both libraries."""
    nn = library.nn
    made = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))
    numbers = np.random.default_rng(seed)
    for p in made.parameters():
        p.data = library.tensor(numbers.standard_normal(tuple(p.shape)), dtype=library.float32)
    return made


def test_functional_call(library):
    call, made = library.func.functional_call, net(library, 0)
    x = library.arange(6.0).reshape(2, 3)
    other = {name: p.detach() * 2 for name, p in made.named_parameters()}
    before = made(x)
    doubled = copy.deepcopy(made)
    with library.no_grad():
        for p in doubled.parameters():
            p.mul_(2)
    assert call(made, other, x).tolist() == doubled(x).tolist()
    assert call(made, (other, {}), (x,)).tolist() == doubled(x).tolist()
    assert call(made, {}, x).tolist() == before.tolist()
    weight = other["0.weight"].requires_grad_()
    (g,) = library.autograd.grad(call(made, other, x).sum(), weight)
    assert g.shape == (4, 3) and made[0].weight.grad is None
    with pytest.raises(RuntimeError, match=r"key\(s\): 'c'\.\n\tMissing key\(s\): '0\.bias', '0\.weight'"):
        call(made, {"c": x}, x, strict=True)
    with pytest.raises(ValueError, match=r"\['0\.weight'\] appeared in multiple dictionaries"):
        call(made, [other, {"0.weight": weight}], x)
    with pytest.raises(ValueError, match="Expected parameter_and_buffer_dicts to be a dict"):
        call(made, 3, x)
    assert made[0].weight is dict(made.named_parameters())["0.weight"]
    assert call(made, {"0.other": x}, x).tolist() == before.tolist() and not hasattr(made[0], "other")


def test_functional_call_of_tied_weights_and_buffers(library):
    class Tied(library.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = library.nn.Linear(2, 2, bias=False)
            self.b = library.nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight
            self.register_buffer("count", library.zeros(()))

        def forward(self, x: Any) -> Any:
            self.count = self.count + 1
            return self.b(self.a(x))

    tied, call = Tied(), library.func.functional_call
    x, two = library.ones(1, 2), 2 * library.eye(2)
    assert call(tied, {"a.weight": two}, x).tolist() == [[4.0, 4.0]]
    tied.a.weight.data = library.eye(2)
    assert call(tied, {"a.weight": two}, x, tie_weights=False).tolist() == [[2.0, 2.0]]
    with pytest.raises(ValueError, match=r"got multiple values for keys \['a\.weight', 'b\.weight'\]"):
        call(tied, {"a.weight": two, "b.weight": two * 2}, x)
    state = {"count": library.tensor(5.0)}
    count = tied.count.item()
    call(tied, state, x)
    assert state["count"].item() == 6.0 and tied.count.item() == count


def test_models_in_a_stack(library):
    models = [net(library, seed).eval() for seed in range(3)]
    params, buffers = library.func.stack_module_state(models)
    assert params["0.weight"].shape == (3, 4, 3) and params["0.weight"].is_leaf
    assert params["0.weight"].requires_grad and list(buffers) == [n for n, _ in models[0].named_buffers()]
    base, x = models[0], library.arange(6.0).reshape(2, 3)
    run = library.vmap(lambda p, b: library.func.functional_call(base, (p, b), (x,)))
    expected = library.stack([model(x) for model in models])
    assert library.allclose(run(params, buffers), expected, atol=1e-6)
    for wrong, text in (
        ([], "at least one model, got 0"),
        ([models[0], net(library, 0).train()], "the same training/eval mode"),
        ([models[0], library.nn.Linear(1, 1).eval()], "of the same class"),
    ):
        with pytest.raises(RuntimeError, match=text):
            library.func.stack_module_state(wrong)


# ── parametrizations


def symmetric(library: Any) -> Any:
    class Symmetric(library.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).mT

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    return Symmetric()


def test_a_parametrized_weight(library):
    parametrize, nn = library.nn.utils.parametrize, library.nn
    layer = nn.Linear(3, 3)
    kept = layer.weight
    assert parametrize.register_parametrization(layer, "weight", symmetric(library)) is layer
    assert parametrize.is_parametrized(layer) and parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias") and not parametrize.is_parametrized(nn.Linear(1, 1))
    assert type(layer).__name__ == "ParametrizedLinear"
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    assert sorted(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert layer.parametrizations.weight.original is kept
    assert layer.weight.tolist() == layer.weight.mT.tolist()
    layer(library.ones(1, 3)).sum().backward()
    assert kept.grad is not None
    layer.weight = library.ones(3, 3)
    assert layer.weight.tolist() == [[1.0] * 3] * 3 and kept.tolist()[1] == [0.0, 1.0, 1.0]
    twin = copy.deepcopy(layer)
    assert twin.weight.tolist() == layer.weight.tolist()
    assert twin.parametrizations.weight.original is not kept
    with pytest.raises(RuntimeError, match="Serialization of parametrized modules"):
        pickle.dumps(layer)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and layer.weight is kept and kept.tolist() == [[1.0] * 3] * 3
    assert sorted(layer.state_dict()) == ["bias", "weight"]


def test_several_parametrizations_and_refusals(library):
    parametrize, nn = library.nn.utils.parametrize, library.nn
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", nn.Tanh())
    parametrize.register_parametrization(layer, "weight", nn.Sigmoid())
    original = layer.parametrizations.weight.original
    assert library.allclose(layer.weight, original.tanh().sigmoid())
    with pytest.raises(RuntimeError, match="parametrization Sigmoid does not implement right_inverse"):
        layer.weight = library.ones(2, 2)
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert layer.weight is original
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(layer, "weight")
    with pytest.raises(ValueError, match="with name 'other'"):
        parametrize.register_parametrization(layer, "other", nn.Tanh())
    with pytest.raises(ValueError, match=r"(?s)may not change the shape.*unparametrized shape.*parametrized"):
        parametrize.register_parametrization(layer, "weight", nn.Flatten(0))


def counting(library: Any) -> Any:
    """A parametrization that counts how often it is computed."""

    class Doubled(library.nn.Module):
        calls = 0

        def forward(self, x: Any) -> Any:
            Doubled.calls += 1
            return 2 * x

    return Doubled()


def test_a_parametrized_weight_is_computed_once_within_cached(library):
    parametrize, nn = library.nn.utils.parametrize, library.nn
    layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
    module = counting(library)
    for layer in layers:
        parametrize.register_parametrization(layer, "weight", module)
    parametrize.register_parametrization(layers[0], "bias", module)
    cls = type(module)
    cls.calls = 0
    assert layers[0].weight is not layers[0].weight and cls.calls == 2
    with parametrize.cached():
        for _ in range(3):
            out = layers[1](layers[0](library.ones(1, 2)))
        assert cls.calls == 5  # two weights and a bias
        inner = layers[0].weight
        with parametrize.cached():
            assert layers[0].weight is inner
        assert layers[0].weight is inner  # the inner block forgets nothing
    out.sum().backward()
    assert layers[0].parametrizations.weight.original.grad.shape == (2, 2)
    assert layers[0].weight is not inner and cls.calls == 6
    with pytest.raises(ZeroDivisionError), parametrize.cached():
        inner = layers[0].weight
        raise ZeroDivisionError
    assert layers[0].weight is not inner

    @parametrize.cached()
    def reads_one_tensor() -> bool:
        return layers[1].weight is layers[1].weight

    assert reads_one_tensor()


# ── old names and other paths

OLD = {
    "normal": (), "uniform": (), "constant": (0.5,), "xavier_normal": (), "xavier_uniform": (),
    "kaiming_normal": (), "kaiming_uniform": (), "orthogonal": (), "eye": (),
}  # fmt: skip


@pytest.mark.parametrize("name", OLD)
def test_old_names_of_init(library, name):
    text = f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`"
    library.manual_seed(1)
    with pytest.warns(FutureWarning, match=text):
        old = getattr(library.nn.init, name)(library.zeros(3, 3), *OLD[name])
    library.manual_seed(1)
    assert old.tolist() == getattr(library.nn.init, name + "_")(library.zeros(3, 3), *OLD[name]).tolist()


def test_other_old_names(library):
    x = library.ones(4, requires_grad=True)
    x.sum().backward()
    with pytest.warns(FutureWarning, match="clip_grad_norm` is now deprecated"):
        assert library.nn.utils.clip_grad_norm([x], 1.0).item() == 2.0
    assert abs(x.grad.norm().item() - 1) < 1e-5
    with pytest.warns(FutureWarning, match="`NLLLoss2d` has been deprecated"):
        loss = library.nn.NLLLoss2d(ignore_index=1)
    assert loss(library.zeros(1, 2, 1, 1), library.zeros(1, 1, 1, dtype=library.long)).item() == 0.0


PATHS = """
nn.modules.module:Module nn.modules.loss:CrossEntropyLoss nn.modules.activation:ReLU
nn.modules.activation:MultiheadAttention nn.modules.container:Sequential nn.modules.conv:Conv2d
nn.modules.linear:Linear nn.modules.linear:Identity nn.modules.flatten:Flatten
nn.modules.batchnorm:BatchNorm2d nn.modules.instancenorm:InstanceNorm2d nn.modules.normalization:LayerNorm
nn.modules.pooling:MaxPool2d nn.modules.dropout:Dropout nn.modules.rnn:LSTM nn.modules.rnn:GRUCell
nn.modules.sparse:Embedding nn.modules.transformer:TransformerEncoderLayer nn.modules.upsampling:Upsample
nn.modules.padding:ZeroPad2d nn.modules.distance:CosineSimilarity nn.modules.fold:Unfold
nn.modules.pixelshuffle:PixelShuffle nn.modules.lazy: nn.modules:Linear nn.parallel:DataParallel
nn.parameter:Parameter nn.parameter:UninitializedParameter nn.utils.rnn:pad_sequence
utils.data.dataloader:DataLoader utils.data.dataset:TensorDataset utils.data.sampler:SubsetRandomSampler
utils.benchmark:Timer autograd.function:Function
"""


@pytest.mark.parametrize("path", PATHS.split())
def test_paths_to_import_from(library, path):
    module, _, name = path.partition(":")
    found = importlib.import_module(f"{library.__name__}.{module}")
    assert not name or inspect.isclass(getattr(found, name)) or callable(getattr(found, name))


def test_classes_stand_where_pytorch_has_them(torch):
    for name in ("Linear", "Conv2d", "LSTM", "MSELoss", "BatchNorm1d", "LayerNorm", "Sequential", "ReLU"):
        theirs = getattr(torch.nn, name).__module__.replace("torch", "minigrad", 1)
        assert getattr(minigrad.nn, name).__module__ == theirs
    assert repr(minigrad.Tensor) == "<class 'minigrad.Tensor'>"
    assert repr(type(minigrad.ones(1))) == repr(torch.Tensor).replace("torch", "minigrad")


def test_data_parallel(library):
    nn = library.nn
    inner = nn.Linear(2, 1)
    model = nn.DataParallel(inner)
    assert model.module is inner and list(model.state_dict()) == ["module.weight", "module.bias"]
    x = library.ones(3, 2)
    assert model(x).tolist() == inner(x).tolist()
    with pytest.raises(RuntimeError, match=r"can't be used with nn\.DataParallel"):
        library.func.functional_call(model, {}, x)


def test_accelerators(library):
    accelerator = library.accelerator
    if accelerator.is_available():
        pytest.skip("PyTorch has an accelerator here")
    assert accelerator.device_count() == 0 and accelerator.current_accelerator() is None
    for call in (accelerator.current_device_index, accelerator.synchronize):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            call()


def test_a_timer(library):
    Timer = importlib.import_module(f"{library.__name__}.utils.benchmark").Timer
    timer = Timer("x + 1", globals={"x": library.ones(3)}, label="adding", sub_label="one")
    found = timer.timeit(20)
    assert found.number_per_run == 20 and len(found.times) == 1 and found.median == found.mean > 0
    assert repr(found).splitlines()[1] == "adding: one" and repr(found).endswith(
        "1 measurement, 20 runs , 1 thread"
    )
    told: list[Any] = []
    many = timer.blocked_autorange(lambda number, seconds: told.append((number, seconds)), min_run_time=0.01)
    assert many.raw_times == [seconds for _, seconds in told] and sum(many.raw_times) >= 0.01
    assert (many.iqr >= 0 and "measurements" in repr(many)) or len(many.times) == 1
    assert Timer("torch.ones(2)").timeit(2).mean > 0
    with pytest.raises(ValueError, match="Currently only a `str` stmt is supported"):
        Timer(3)


def test_timers_of_other_languages_are_refused():
    Timer = minigrad.utils.benchmark.Timer
    for how in ({"language": "c++"}, {"global_setup": "int x;"}):
        with pytest.raises(NotImplementedError, match=rf"Timer has no {next(iter(how))} .see docs/ops.md"):
            Timer("1", **how)


def test_modules_on_other_devices(library):
    layer = library.nn.Linear(2, 3)
    assert layer.to_empty(device="cpu") is layer and layer.weight.shape == (3, 2)
    assert layer.weight.is_leaf and layer.weight.requires_grad
    if not library.cuda.is_available():
        with pytest.raises((AssertionError, RuntimeError), match=r"CUDA|NVIDIA|'cuda' is not available"):
            layer.cuda()


# ── data


def test_some_examples_in_a_random_order(library):
    data = library.utils.data
    sampler = data.SubsetRandomSampler([5, 7, 9], generator=library.Generator().manual_seed(2))
    first, second = list(sampler), list(sampler)
    assert sorted(first) == [5, 7, 9] == sorted(second) and len(sampler) == 3
    order = library.randperm(3, generator=library.Generator().manual_seed(2)).tolist()
    assert first == [[5, 7, 9][i] for i in order]


def test_workers_are_told_of_once():
    from minigrad.utils.data import dataloader

    dataset = minigrad.utils.data.TensorDataset(minigrad.arange(4.0))
    dataloader.tell_of_workers.cache_clear()
    with pytest.warns(UserWarning, match="loads examples in this process") as told:
        loader = minigrad.utils.data.DataLoader(dataset, 2, num_workers=2, prefetch_factor=2, timeout=1)
        minigrad.utils.data.DataLoader(dataset, num_workers=1, persistent_workers=True)
    assert len(told) == 1 and told[0].filename == __file__
    assert [batch[0].tolist() for batch in loader] == [[0.0, 1.0], [2.0, 3.0]] and loader.num_workers == 2


# ── dtypes and numbers


def test_bfloat16_can_be_named_only():
    kind = minigrad.bfloat16
    assert repr(kind) == "torch.bfloat16" and kind.is_floating_point and kind.itemsize == 2
    assert kind != minigrad.float16 and pickle.loads(pickle.dumps(kind)) is kind
    x = minigrad.ones(2)
    assert x.dtype != kind
    for call in (
        lambda: minigrad.zeros(2, dtype=kind),
        lambda: minigrad.tensor([1.0], dtype=kind),
        lambda: x.to(kind),
        lambda: x.bfloat16(),
        lambda: minigrad.nn.Linear(1, 1).to(kind),
        lambda: minigrad.randn(2, dtype=kind),
    ):
        with pytest.raises(TypeError, match="minigrad has no bfloat16: NumPy has no such dtype"):
            call()


@pytest.mark.parametrize("name", ["FloatTensor", "DoubleTensor", "LongTensor", "BoolTensor", "HalfTensor"])
def test_kinds_of_tensors(library, name):
    kind = getattr(library, name)
    made = kind([1, 0])
    assert isinstance(made, kind) and isinstance(library.nn.Parameter(made, requires_grad=False), kind)
    assert not isinstance(library.ones(1, dtype=library.int8), kind) and not isinstance(3, kind)
    assert made.type() == f"torch.{name}" and library.ones(2).type(kind).dtype == made.dtype
    assert kind(2, 3).shape == (2, 3) and isinstance(kind, type) and kind.dtype == made.dtype


def test_linspace_has_the_bits_of_pytorch(torch):
    if torch.backends.cpu.get_cpu_capability() == "DEFAULT":
        pytest.skip("PyTorch's kernel without AVX2 rounds otherwise")
    draw = random.Random(5)
    for _ in range(3000):
        a, b = (draw.choice((draw.uniform(-10, 10), draw.randint(-5, 5), draw.gauss(0, 1e4))) for _ in "ab")
        n = draw.choice((1, 2, 3, 5, 7, 8, 9, 10, 16, 17, 20, 33, 50, 64, 100, 101, 200, 257, 1000, 1001))
        ours, theirs = minigrad.linspace(a, b, n), torch.linspace(a, b, n)
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy(), err_msg=f"linspace({a}, {b}, {n})")
    ours, theirs = minigrad.linspace(-3.3, 7.1, 100_001), torch.linspace(-3.3, 7.1, 100_001)
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_histogram_with_its_usual_bins(torch):
    numbers = np.random.default_rng(0).standard_normal(500).astype(np.float32)
    ours, theirs = (library.tensor(numbers).histogram() for library in (minigrad, torch))
    assert len(ours.hist) == 100
    np.testing.assert_array_equal(ours.hist.numpy(), theirs.hist.numpy())
    np.testing.assert_allclose(ours.bin_edges.numpy(), theirs.bin_edges.numpy(), rtol=1e-6, atol=1e-6)
    assert minigrad.histogram(minigrad.arange(10.0)).hist.sum() == 10


def test_writing_where_a_mask_is_nowhere_true(library):
    x = library.arange(6.0).reshape(2, 3)
    before = x.tolist()
    x[x > 9] = library.tensor([])
    x[x > 9] = library.tensor([1.0])
    x[x > 9] = 7.0
    x[library.zeros(2, dtype=library.bool)] = library.zeros(3)
    x[library.zeros(2, dtype=library.bool)] = library.zeros(0, 3)
    assert x.tolist() == before
    with pytest.raises(
        RuntimeError, match=r"shape mismatch: value tensor of shape \[2\] cannot be broadcast"
    ):
        x[x > 9] = library.tensor([1.0, 2.0])
    y = library.ones(3, requires_grad=True)
    z = y * 2
    z[z > 5] = library.tensor([])
    z.sum().backward()
    assert y.grad.tolist() == [2.0] * 3


def test_matplotlib_asks_for_the_whole_array(monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    asked = []
    usual = minigrad.Tensor.numpy
    monkeypatch.setattr(minigrad.Tensor, "numpy", lambda t, **how: asked.append(t) or usual(t, **how))
    x = minigrad.linspace(0, 1, 50)
    figure, axes = pyplot.subplots()
    for draw in (axes.hist, axes.plot, lambda x: axes.scatter(x, x)):
        asked.clear()
        draw(x)
        assert asked and len(asked) < 20
    pyplot.close(figure)


# ── names that were left out

LEFT_OUT = """
nn:CTCLoss nn:MaxUnpool2d nn:RReLU nn.functional:ctc_loss nn.functional:max_unpool2d nn.utils:skip_init
optim:Adafactor optim:swa_utils utils.data:DistributedSampler
"""


@pytest.mark.parametrize("name", LEFT_OUT.split())
def test_what_was_left_out_is_said(name):
    module, _, short = name.partition(":")
    scope = importlib.import_module(f"minigrad.{module}")
    with pytest.raises(
        AttributeError, match=rf"^minigrad has no torch\.{module}\.{short} \(see docs/ops\.md\)$"
    ):
        getattr(scope, short)


@pytest.mark.parametrize("module", ["nn", "nn.functional", "optim", "utils.data", "nn.init"])
def test_a_name_that_nobody_has(torch, module):
    texts = []
    for library in (minigrad, torch):
        with pytest.raises(AttributeError) as caught:
            importlib.import_module(f"{library.__name__}.{module}").no_such_name  # noqa: B018
        texts.append(str(caught.value))
    assert texts[0] == texts[1] == f"module 'torch.{module}' has no attribute 'no_such_name'"
    assert str(missing("torch", "no_such_name")) == "module 'torch' has no attribute 'no_such_name'"


def test_every_name_of_the_scope_is_there_or_listed(torch):
    """What PyTorch offers is here, or stands in the list."""
    for module in ("nn", "nn.functional", "nn.init", "nn.utils", "optim", "optim.lr_scheduler", "utils.data"):
        theirs, ours = (importlib.import_module(f"{lib.__name__}.{module}") for lib in (torch, minigrad))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in dir(theirs):
                value = getattr(theirs, name)
                home = getattr(value, "__module__", None) or ""
                if (
                    name[0] == "_"
                    or not callable(value)
                    or not home.startswith(f"torch.{module.split('.')[0]}")
                ):
                    continue
                told = str(missing(module, name))
                assert hasattr(ours, name) != told.startswith("minigrad has no"), (module, name)
