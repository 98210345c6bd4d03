"""The engines that are compared, each behind the same few names; those not installed are left out.

An engine is added by one function here: how it makes a leaf, how gradients are cleared and a step of descent
is taken, and under which names it has the ops. There are two styles: a "tape" fills `x.grad` when
`z.backward()` is called; a "functional" engine turns a function into the function of its gradients.
"""

from __future__ import annotations

import functools
import importlib
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import custom_ops
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # minigrad is measured as it stands beside this folder, installed or not

OURS = "minigrad"
PYTORCH = "PyTorch"
BY_HAND = "NumPy by hand"


def nothing(*_: Any) -> None:
    """What an engine does where nothing is to be done."""


@dataclass(frozen=True)
class Engine:
    """One engine. `ops` has what the engine can do: a workload that needs another op does not run on it."""

    name: str
    version: str
    style: str  # "tape" or "functional"
    ops: SimpleNamespace
    leaf: Callable[[Any], Any] = nothing  # tape: a number or a float32 array, as a leaf that needs a gradient
    constant: Callable[[Any], Any] = nothing  # an array without gradient, in the engine's own kind
    clear: Callable[[Sequence[Any]], None] = nothing  # tape: forget the gradients of these leaves
    descend: Callable[[Sequence[Any], float], None] = (
        nothing  # tape: a step against the gradients, then clear
    )
    gradients: Callable[..., Any] = nothing  # functional: f, argument numbers → f's gradient function


def like_torch(name: str, module: str) -> Engine:
    """minigrad and PyTorch: the same code runs on both."""
    torch: Any = importlib.import_module(module)
    functional = importlib.import_module(module + ".nn.functional")
    derivatives, func = torch.autograd.functional, importlib.import_module(module + ".func")

    def clear(leaves: Sequence[Any]) -> None:
        for leaf in leaves:
            leaf.grad = None

    def descend(leaves: Sequence[Any], rate: float) -> None:
        with torch.no_grad():
            for leaf in leaves:
                leaf -= rate * leaf.grad
                leaf.grad = None

    ops = SimpleNamespace(arrays=True, log=torch.log, exp=torch.exp, tanh=torch.tanh, relu=torch.relu)
    ops.library, ops.cross_entropy = torch, functional.cross_entropy
    ops.conv2d, ops.pool2d = functional.conv2d, functional.max_pool2d
    ops.grad, ops.stack = torch.autograd.grad, torch.stack
    ops.hessian, ops.jacobian = derivatives.hessian, derivatives.jacobian
    ops.func_hessian, ops.func_jacobian = func.hessian, func.jacrev
    ops.custom = custom_ops.like_torch(torch)
    leaf = functools.partial(torch.tensor, requires_grad=True)
    getattr(torch, "set_num_threads", nothing)(1)  # as NumPy has
    return Engine(name, str(torch.__version__), "tape", ops, leaf, torch.tensor, clear, descend)


def micrograd() -> Engine:
    """micrograd, on Python floats. It has no logarithm, so it gets one, written as its own operations are."""
    Value = importlib.import_module("micrograd.engine").Value
    # It walks the graph by recursion: without this it stops at chains of some 1,000 steps.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 1_000_000))

    def log(self: Any) -> Any:
        out = Value(math.log(self.data), (self,), "log")

        def _backward() -> None:
            self.grad += out.grad / self.data

        out._backward = _backward
        return out

    def descend(leaves: Sequence[Any], rate: float) -> None:
        for leaf in leaves:
            leaf.data -= rate * leaf.grad
            leaf.grad = 0.0

    ops = SimpleNamespace(log=log, relu=lambda x: x.relu())
    version = metadata.version("micrograd")
    return Engine("micrograd", version, "tape", ops, leaf=Value, descend=descend)


def mygrad() -> Engine:
    """MyGrad, on float32 arrays; it has first derivatives only."""
    library, nets = importlib.import_module("mygrad"), importlib.import_module("mygrad.nnet")

    def clear(leaves: Sequence[Any]) -> None:
        for leaf in leaves:
            leaf.null_grad()

    def descend(leaves: Sequence[Any], rate: float) -> None:
        for leaf in leaves:
            leaf.data -= np.float32(rate) * leaf.grad
            leaf.null_grad()

    ops = SimpleNamespace(arrays=True, log=library.log, exp=library.exp, tanh=library.tanh, relu=nets.relu)
    ops.cross_entropy = nets.softmax_crossentropy
    ops.conv2d = functools.partial(nets.conv_nd, stride=1)
    ops.pool2d = lambda x, size: nets.max_pool(x, (size, size), size)
    ops.custom = custom_ops.mygrad(library)
    leaf = functools.partial(library.tensor, dtype=np.float32)
    return Engine("MyGrad", metadata.version("mygrad"), "tape", ops, leaf, np.asarray, clear, descend)


def hips() -> Engine:
    """HIPS autograd, on the floats and float32 arrays that it is called with; it has no convolution."""
    library, numpy = importlib.import_module("autograd"), importlib.import_module("autograd.numpy")

    def cross_entropy(scores: Any, labels: Any) -> Any:
        shifted = scores - numpy.max(scores, axis=1, keepdims=True)
        picked = shifted[np.arange(len(labels)), labels]
        return numpy.mean(numpy.log(numpy.sum(numpy.exp(shifted), axis=1)) - picked)

    ops = SimpleNamespace(arrays=True, log=numpy.log, exp=numpy.exp, tanh=numpy.tanh, grad=library.grad)
    ops.relu, ops.cross_entropy = (lambda x: numpy.maximum(x, 0)), cross_entropy
    ops.hessian = lambda f, x: library.hessian(f)(x)
    ops.jacobian = lambda f, x: library.jacobian(f)(x)
    ops.custom, ops.value_and_grad = custom_ops.hips(), library.value_and_grad
    version = metadata.version("autograd")
    return Engine("HIPS autograd", version, "functional", ops, constant=np.asarray, gradients=library.grad)


MODULES = {  # what a fresh interpreter imports to have each engine
    OURS: "minigrad",
    PYTORCH: "torch",
    "micrograd": "micrograd.engine",
    "MyGrad": "mygrad",
    "HIPS autograd": "autograd.numpy",
}

LOADERS: dict[str, Callable[[], Engine]] = {
    OURS: functools.partial(like_torch, OURS, "minigrad"),
    PYTORCH: functools.partial(like_torch, PYTORCH, "torch"),
    "micrograd": micrograd,
    "MyGrad": mygrad,
    "HIPS autograd": hips,
}


def load() -> tuple[list[Engine], list[str]]:
    """The engines that are installed, minigrad first, and the names of those that are not.

    Raises ImportError only if minigrad itself cannot be imported.
    """
    found, missing = [], []
    for name, loader in LOADERS.items():
        try:
            found.append(loader())
        except ImportError:  # PackageNotFoundError is one too
            if name == OURS:
                raise
            missing.append(name)
    return found, missing
