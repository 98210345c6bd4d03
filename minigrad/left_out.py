"""What an error says about a name that is not there.

`tables/left_out.txt` lists, by namespace, the names that PyTorch has and minigrad left out. Its lines that
begin with "-" list arguments that minigrad's functions do not take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .tables import lines


def table() -> dict[str, list[str]]:
    """The names that are left out, by namespace: "torch", "Tensor", or a module such as "nn.functional"."""
    found: dict[str, list[str]] = {}
    for line in lines("left_out.txt"):
        namespace, colon, names = line.partition(":")
        if colon and line[0] not in "#-":
            found.setdefault(namespace, []).extend(names.split())
    return found


def missing(namespace: str, name: str) -> AttributeError:
    """The error for `name` in a namespace. A name that PyTorch does not have either gets PyTorch's own
    text.
    """
    path = namespace if namespace == "torch" else f"torch.{namespace}"
    if name in table().get(namespace, ()):
        return AttributeError(f"minigrad has no {path}.{name} (see docs/ops.md)")
    if namespace == "Tensor":
        return AttributeError(f"'Tensor' object has no attribute '{name}'")
    return AttributeError(f"module '{path}' has no attribute '{name}'")


def without(function: str, what: str) -> NotImplementedError:
    """The error for arguments that PyTorch's function takes and minigrad's does not."""
    return NotImplementedError(f"minigrad's {function} has no {what} (see docs/ops.md)")


def refuse(function: str, **given: bool) -> None:
    """Raise NotImplementedError if one of the named arguments, which minigrad's function lacks, is given."""
    for name, is_given in given.items():
        if is_given:
            raise without(function, name)


def refusing(namespace: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module: names that are not there raise the error of `missing`."""

    def __getattr__(name: str) -> Any:
        raise missing(namespace, name)

    return __getattr__
