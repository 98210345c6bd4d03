"""The engines that are compared, each behind the same few names; those not installed are left out.

Three styles of differentiation are told apart, because the workloads are written once per style:
"tape" (leaves are made, `z.backward()` fills `x.grad`), "functional" (`gradients(f)` is a function) and
"by hand" (NumPy, with the derivative written out).
"""

from __future__ import annotations

import functools
import importlib
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # minigrad is measured as it stands beside this folder, installed or not


@dataclass(frozen=True)
class Peer:
    """One engine. What an engine cannot do is None: then it has no such workload."""

    name: str
    version: str
    style: str  # "tape", "functional" or "by hand"
    leaf: Callable[[float], Any] | None = (
        None  # a float32 scalar (or the engine's own kind) that needs a gradient
    )
    log: Callable[[Any], Any] | None = None
    grad: Callable[..., Any] | None = None  # tape: torch.autograd.grad
    gradients: Callable[..., Any] | None = None  # functional: f, argnum → f's gradient function
    both: Callable[..., Any] | None = None  # functional: f → x ↦ (f(x), f′(x))


def like_torch(name: str, module: str) -> Peer:
    """minigrad and PyTorch: the same code runs on both."""
    library = importlib.import_module(module)
    if hasattr(library, "set_num_threads"):
        library.set_num_threads(1)
    leaf = functools.partial(library.tensor, requires_grad=True)
    version = str(library.__version__)
    return Peer(name, version, "tape", leaf=leaf, log=library.log, grad=library.autograd.grad)


def micrograd() -> Peer:
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

    return Peer("micrograd", metadata.version("micrograd"), "tape", leaf=Value, log=log)


def mygrad() -> Peer:
    """MyGrad, on float32 arrays; it has first derivatives only."""
    library = importlib.import_module("mygrad")
    leaf = functools.partial(library.tensor, dtype=np.float32)
    return Peer("MyGrad", metadata.version("mygrad"), "tape", leaf=leaf, log=library.log)


def hips() -> Peer:
    """HIPS autograd, on the Python floats that it is called with."""
    library = importlib.import_module("autograd")
    log = importlib.import_module("autograd.numpy").log
    version = metadata.version("autograd")
    return Peer(
        "HIPS autograd", version, "functional", log=log, gradients=library.grad, both=library.value_and_grad
    )


def by_hand() -> Peer:
    """NumPy float32 scalars and a backward pass written out for each workload."""
    return Peer("NumPy by hand", np.__version__, "by hand")


MODULES = {  # what a fresh interpreter imports to have each engine
    "minigrad": "minigrad",
    "PyTorch": "torch",
    "micrograd": "micrograd.engine",
    "MyGrad": "mygrad",
    "HIPS autograd": "autograd",
}

LOADERS: dict[str, Callable[[], Peer]] = {
    "minigrad": functools.partial(like_torch, "minigrad", "minigrad"),
    "PyTorch": functools.partial(like_torch, "PyTorch", "torch"),
    "NumPy by hand": by_hand,
    "micrograd": micrograd,
    "MyGrad": mygrad,
    "HIPS autograd": hips,
}


def load() -> tuple[list[Peer], list[str]]:
    """The engines that are installed, minigrad first, and the names of those that are not.

    Raises ImportError only if minigrad itself cannot be imported.
    """
    found, missing = [], []
    for name, loader in LOADERS.items():
        try:
            found.append(loader())
        except ImportError:  # PackageNotFoundError is one too
            if name == "minigrad":
                raise
            missing.append(name)
    return found, missing
