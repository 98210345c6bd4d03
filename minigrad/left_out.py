"""The error for a name that is not there: it says so if PyTorch has it and minigrad leaves it out."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def left_out() -> dict[str, list[str]]:
    """The names that minigrad leaves out, by namespace of PyTorch: `torch`, `Tensor`, `nn.functional` …"""
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        namespace, colon, names = line.partition(":")
        if colon and not line.startswith("#"):
            found.setdefault(namespace, []).extend(names.split())
    return found


def missing(namespace: str, name: str) -> AttributeError:
    """The error for `name` in a namespace: "torch", "Tensor", or a module such as "nn.functional". A name
    that PyTorch does not have either gets PyTorch's own text.
    """
    path = namespace if namespace == "torch" else f"torch.{namespace}"
    if name in left_out().get(namespace, ()):
        return AttributeError(f"minigrad has no {path}.{name} (see docs/ops.md)")
    if namespace == "Tensor":
        return AttributeError(f"'Tensor' object has no attribute '{name}'")
    return AttributeError(f"module '{path}' has no attribute '{name}'")


def refusing(module: str) -> Any:
    """The `__getattr__` of a module of minigrad."""

    def __getattr__(name: str) -> Any:
        raise missing(module.partition(".")[2] or "torch", name)

    return __getattr__
