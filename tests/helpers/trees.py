"""Nested results as plain data, for comparisons between two libraries, and what tests of transforms share."""

from __future__ import annotations

from typing import Any

from twins import is_tensor, noted, outcome


def spelled(tree: Any) -> Any:
    """Each container with its class, each tensor with its numbers, dtype, `requires_grad` and node."""
    if is_tensor(tree):
        return noted(tree)
    if isinstance(tree, dict):
        return type(tree).__name__, [(key, spelled(value)) for key, value in tree.items()]
    if isinstance(tree, (tuple, list)):
        return type(tree).__name__, [spelled(part) for part in tree]
    return type(tree).__name__ if callable(tree) else as_text(tree)


def as_text(leaf: Any) -> Any:
    """An error's text that names a dtype names it as PyTorch does."""
    return leaf.replace("minigrad.", "torch.") if isinstance(leaf, str) else leaf


def values(tree: Any) -> Any:
    """The same without nodes: where the ways to a result differ, as those through a loop and a batch do."""
    if is_tensor(tree):
        return noted(tree)[:4]
    if isinstance(tree, dict):
        return type(tree).__name__, [(key, values(value)) for key, value in tree.items()]
    if isinstance(tree, (tuple, list)):
        return type(tree).__name__, [values(part) for part in tree]
    return as_text(tree)


def tensors(L: Any) -> tuple[Any, Any, Any]:
    """What transforms are tried on: a tensor without gradient, one with, and one from outside."""
    x, w = L.tensor([1.0, 2.0]), L.tensor([3.0, 4.0], requires_grad=True)
    return x, x.clone().requires_grad_(), w


def run(note: Any, function: Any, *args: Any, **kwargs: Any) -> None:
    """Note a result with its structure, or the error."""
    note(spelled(outcome(lambda: function(*args, **kwargs))))
