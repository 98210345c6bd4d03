"""What an error says of a name that is not there.

`left_out.txt` lists, by namespace, the names that PyTorch has and minigrad left out.
"""

from __future__ import annotations

from pathlib import Path


def missing(namespace: str, name: str) -> AttributeError:
    """The error for `name` in a namespace: "torch", "Tensor", or a module such as "nn.functional". A name
    that PyTorch does not have either gets PyTorch's own text.
    """
    path = namespace if namespace == "torch" else f"torch.{namespace}"
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        listed, _, names = line.partition(":")
        if listed == namespace and name in names.split():
            return AttributeError(f"minigrad has no {path}.{name} (see docs/ops.md)")
    if namespace == "Tensor":
        return AttributeError(f"'Tensor' object has no attribute '{name}'")
    return AttributeError(f"module '{path}' has no attribute '{name}'")
