"""The public names of minigrad, which PyTorch has under the same name too, and how to look them up."""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Iterator
from typing import Any

NAMESPACES = (
    *("torch", "Tensor", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "nn.parameter"),
    *("optim", "optim.lr_scheduler", "autograd", "autograd.graph", "autograd.functional"),
    *("autograd.forward_ad", "autograd.grad_mode", "autograd.function", "autograd.anomaly_mode"),
    *("autograd.gradcheck", "func", "linalg", "fft", "special", "utils", "utils.checkpoint", "utils.data"),
    *("random", "testing", "cuda", "backends"),
)
OURS = ("get_dialect", "set_dialect")  # what PyTorch does not have


def find(library: Any, name: str) -> Any:
    """A name, or a namespace, of a library: `nn.Linear.forward`; AttributeError if there is none."""
    found = library
    path = library.__name__
    for part in name.removeprefix("torch").removeprefix(".").split(".") if name != "torch" else []:
        path = f"{path}.{part}"
        if inspect.ismodule(found) and not hasattr(found, part):
            try:
                found = importlib.import_module(path)
            except ModuleNotFoundError:
                raise AttributeError(path) from None
        else:
            found = getattr(found, part)
    return found


def public() -> Iterator[tuple[str, str, Any]]:
    """(namespace, name, what it is) of every public name; with `Class.method` for the methods of classes."""
    import torch

    import minigrad

    for namespace in NAMESPACES:
        ours, theirs = find(minigrad, namespace), find(torch, namespace)
        for name in sorted(dir(ours)):
            thing = getattr(ours, name)
            if name.startswith("_") or isinstance(thing, types.ModuleType):
                continue
            if not hasattr(theirs, name) and name not in OURS:
                continue
            if not getattr(thing, "__module__", "minigrad").startswith("minigrad"):
                continue  # imported from Python's library
            yield namespace, name, thing
            if inspect.isclass(thing) and not issubclass(thing, (Exception, minigrad.Tensor)):
                other = getattr(theirs, name, None)
                methods = (m for m in sorted(vars(thing)) if not m.startswith("_") and hasattr(other, m))
                yield from ((namespace, f"{name}.{m}", getattr(thing, m)) for m in methods)
