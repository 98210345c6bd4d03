"""The error for a name that is not there: it says so if PyTorch has it and minigrad leaves it out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent / "left_out.txt"


def left_out() -> dict[str, list[str]]:
    """The names that minigrad leaves out, by namespace of PyTorch: `torch`, `Tensor`, `nn.functional` …"""
    found: dict[str, list[str]] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        namespace, colon, names = line.partition(":")
        if colon and not line.startswith("#"):
            found.setdefault(namespace, []).extend(names.split())
    return found


def no_attribute(module: str, name: str) -> AttributeError:
    """The error for a name that the module `minigrad` or `minigrad.….….` does not have."""
    path = module.partition(".")[2]
    if name in left_out().get(path or "torch", ()):
        return leaves_out(f"{path}.{name}" if path else name)
    return AttributeError(f"module {'.'.join(filter(None, ('torch', path)))!r} has no attribute {name!r}")


def leaves_out(name: str) -> AttributeError:
    """The error for a name that minigrad leaves out, which is `name` in the module `torch`."""
    return AttributeError(f"minigrad has no torch.{name} (see docs/ops.md)")


def refusing(module: str) -> Any:
    """The `__getattr__` of a module."""

    def __getattr__(name: str) -> Any:
        raise no_attribute(module, name)

    return __getattr__
