"""Docstrings of nn, optim, utils.data and autograd: their sections are there and their examples run.

`NAMES` are the names that teaching code uses most, and autograd's main names.
"""

from __future__ import annotations

import doctest
import inspect
import re

import pytest

import minigrad

LISTED = """
nn.AdaptiveAvgPool2d nn.AvgPool2d nn.BCELoss nn.BCEWithLogitsLoss nn.BatchNorm1d nn.BatchNorm2d nn.Conv1d
nn.Conv2d nn.Conv3d nn.ConvTranspose2d nn.CrossEntropyLoss nn.DataParallel nn.Dropout nn.Dropout2d
nn.Embedding nn.Embedding.from_pretrained nn.EmbeddingBag nn.Flatten nn.GELU nn.GRU nn.GRUCell nn.Identity
nn.InstanceNorm2d nn.L1Loss nn.LSTM nn.LSTMCell nn.LayerNorm nn.LazyLinear nn.LeakyReLU nn.Linear
nn.LogSoftmax nn.MSELoss nn.MaxPool2d nn.Module nn.ModuleDict nn.ModuleList nn.MultiheadAttention nn.NLLLoss
nn.PReLU nn.Parameter nn.RNN nn.RNNCell nn.ReLU nn.ReflectionPad2d nn.Sequential nn.Sigmoid nn.Softmax
nn.Softplus nn.Tanh nn.Transformer nn.TransformerDecoder nn.TransformerDecoderLayer nn.TransformerEncoder
nn.TransformerEncoderLayer
nn.functional.adaptive_avg_pool2d nn.functional.affine_grid nn.functional.avg_pool2d
nn.functional.binary_cross_entropy nn.functional.binary_cross_entropy_with_logits nn.functional.conv2d
nn.functional.cosine_similarity nn.functional.cross_entropy nn.functional.dropout nn.functional.elu
nn.functional.grid_sample nn.functional.leaky_relu nn.functional.linear nn.functional.log_softmax
nn.functional.max_pool2d nn.functional.mse_loss nn.functional.nll_loss nn.functional.normalize
nn.functional.one_hot nn.functional.relu nn.functional.scaled_dot_product_attention nn.functional.sigmoid
nn.functional.silu nn.functional.softmax nn.functional.softplus nn.functional.tanh
nn.init.constant_ nn.init.kaiming_normal_ nn.init.kaiming_uniform_ nn.init.normal_ nn.init.ones_
nn.init.uniform_ nn.init.xavier_uniform_ nn.init.zeros_
nn.utils.clip_grad_norm nn.utils.clip_grad_norm_ nn.utils.clip_grad_value_
nn.utils.rnn.pack_padded_sequence nn.utils.rnn.pad_packed_sequence nn.utils.rnn.pad_sequence
optim.Adadelta optim.Adagrad optim.Adam optim.AdamW optim.LBFGS optim.Optimizer optim.RMSprop optim.SGD
optim.lr_scheduler.CosineAnnealingLR optim.lr_scheduler.MultiStepLR optim.lr_scheduler.ReduceLROnPlateau
optim.lr_scheduler.StepLR
utils.data.DataLoader utils.data.Dataset utils.data.RandomSampler utils.data.TensorDataset
utils.data.random_split
autograd.Function autograd.Variable autograd.backward autograd.detect_anomaly autograd.enable_grad
autograd.function.once_differentiable autograd.functional.hessian autograd.functional.hvp
autograd.functional.jacobian autograd.functional.jvp autograd.functional.vhp autograd.functional.vjp
autograd.grad autograd.gradcheck autograd.gradgradcheck autograd.graph.GradientEdge autograd.graph.Node
autograd.graph.allow_mutation_on_saved_tensors autograd.graph.disable_saved_tensors_hooks
autograd.graph.get_gradient_edge autograd.graph.increment_version autograd.graph.register_multi_grad_hook
autograd.graph.save_on_cpu autograd.graph.saved_tensors_hooks autograd.inference_mode autograd.no_grad
autograd.set_detect_anomaly autograd.set_grad_enabled
distributions.Bernoulli distributions.Categorical distributions.Independent distributions.Normal
distributions.kl_divergence
"""
NAMES = LISTED.split()

ORDER = ["Args", "Shape", "Returns", "Raises", "Example"]
RAISE_NOTHING = """
nn.Identity nn.ReLU nn.Sigmoid nn.Tanh nn.Softplus nn.functional.sigmoid nn.functional.softplus
nn.functional.tanh autograd.no_grad autograd.enable_grad autograd.graph.GradientEdge
autograd.graph.increment_version nn.init.constant_ nn.init.ones_ nn.init.zeros_
"""


def found(name: str) -> object:
    """The object of a dotted name."""
    value: object = minigrad
    for part in name.split("."):
        value = getattr(value, part)
    return value


def sections(name: str) -> dict[str, list[str]]:
    """The lines of each section of a docstring; "" for the text before the first one."""
    parts: dict[str, list[str]] = {"": []}
    current = ""
    for line in inspect.cleandoc(found(name).__doc__ or "").split("\n"):
        header = re.fullmatch(r"([A-Z]\w+):", line)
        source = re.match(r"(Source): ", line)
        if header or source:
            current = (header or source)[1]
            parts[current] = []
        parts[current].append(line)
    return parts


def arguments(name: str) -> list[str]:
    """The public parameters of a function or class."""
    return [p for p in inspect.signature(found(name)).parameters if not p.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_sections(name):
    """Summary, arguments, shapes, result, errors, example and source, in this order."""
    parts = sections(name)
    summary, *rest = parts[""]
    assert re.fullmatch(r"[A-Z].*\.", summary), summary
    assert not rest or rest[0] == ""
    wanted = {"Example", "Source"}
    if arguments(name):
        wanted.add("Args")
    if name.startswith("nn.") and not name.startswith(("nn.init.", "nn.utils.clip")):
        wanted.add("Shape")
    if not inspect.isclass(found(name)):
        wanted.add("Returns")
    if name not in RAISE_NOTHING.split():
        wanted.add("Raises")
    assert wanted <= set(parts), wanted - set(parts)
    assert [part for part in parts if part in ORDER] == [part for part in ORDER if part in parts]
    assert "PyTorch's page `torch." in " ".join(parts["Source"])


@pytest.mark.parametrize("name", [name for name in NAMES if arguments(name)])
def test_args(name):
    """Every public parameter has its line, in the order of the signature."""
    told = [m[1] for line in sections(name)["Args"] if (m := re.match(r"    (\w+): \S", line))]
    assert told == arguments(name)


@pytest.mark.parametrize("name", NAMES)
def test_example(name):
    """The example prints what it says."""
    torch = minigrad
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "optim": torch.optim}
    text = inspect.cleandoc(found(name).__doc__ or "")
    example = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    assert example.examples
    report: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(example, out=report.append).failed
    assert not failed, "".join(report)
