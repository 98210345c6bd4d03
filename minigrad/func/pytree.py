"""Nested structures of arguments and results: taken apart into leaves and put together again.

Tuples, lists, sizes, dictionaries, named tuples, `OrderedDict`, `defaultdict` and `deque` are structure;
everything else is a leaf, None too."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..tensor import Size

NAMED = "namedtuple"
DICTIONARIES = (dict, OrderedDict, defaultdict)


class Spec(NamedTuple):
    """The structure of a tree: its container (None: a leaf), what else it takes to make one (keys, class),
    and the structures inside."""

    kind: Any
    context: Any
    children: tuple[Spec, ...]

    @property
    def leaves(self) -> int:
        """Return the number of leaves of a tree of this structure."""
        return 1 if self.kind is None else sum(child.leaves for child in self.children)

    def __str__(self) -> str:
        return self.text(0)

    def text(self, indent: int) -> str:
        """Return PyTorch's text for its errors: `TreeSpec(tuple, None, [*])`."""
        if self.kind is None:
            return "*"
        name = self.kind if self.kind == NAMED else self.kind.__name__
        inside = (",\n" + " " * (indent + 2)).join(child.text(indent + 2) for child in self.children)
        return f"TreeSpec({name}, {self.context}, [{inside}])"


LEAF = Spec(None, None, ())


def container_of(tree: Any) -> tuple[Any, Any, list[Any]] | None:
    """Return the container's kind, context and children; None for a leaf."""
    kind = type(tree)
    if kind in (tuple, list, Size):
        return kind, None, list(tree)
    if kind in (dict, OrderedDict):
        return kind, list(tree), list(tree.values())
    if kind is defaultdict:
        return kind, [tree.default_factory, list(tree)], list(tree.values())
    if kind is deque:
        return kind, tree.maxlen, list(tree)
    if isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return NAMED, kind, list(tree)
    return None


def flatten(tree: Any) -> tuple[list[Any], Spec]:
    """Return the leaves of a tree, from left to right, and its structure."""
    parts = container_of(tree)
    if parts is None:
        return [tree], LEAF
    kind, context, children = parts
    leaves: list[Any] = []
    specs = []
    for child in children:
        found, spec = flatten(child)
        leaves += found
        specs.append(spec)
    return leaves, Spec(kind, context, tuple(specs))


def unflatten(leaves: Any, spec: Spec) -> Any:
    """Return the tree of this structure with these leaves."""
    return build(iter(leaves), spec)


def build(leaves: Iterator[Any], spec: Spec) -> Any:
    """Build a tree from as many leaves as it needs."""
    if spec.kind is None:
        return next(leaves)
    children = [build(leaves, child) for child in spec.children]
    if spec.kind == NAMED:
        return spec.context(*children)
    if spec.kind in (dict, OrderedDict):
        return spec.kind(zip(spec.context, children, strict=True))
    if spec.kind is defaultdict:
        factory, keys = spec.context
        return defaultdict(factory, zip(keys, children, strict=True))
    return deque(children, spec.context) if spec.kind is deque else spec.kind(children)


def apply(function: Any, tree: Any) -> Any:
    """Return the tree with `function` applied to each leaf."""
    leaves, spec = flatten(tree)
    return unflatten([function(leaf) for leaf in leaves], spec)


def broadcast_prefix(tree: Any, spec: Spec) -> list[Any] | None:
    """Return a leaf for each leaf of `spec` from a tree that may end earlier: its leaf then stands for all of
    that branch. None where the structures do not agree; one kind of dictionary may stand for another.
    """
    parts = container_of(tree)
    if parts is None:
        return [tree] * spec.leaves
    kind, context, children = parts
    if kind in DICTIONARIES and spec.kind in DICTIONARIES:
        keys = spec.context[1] if spec.kind is defaultdict else spec.context
        if set(keys) != set(tree):
            return None
        children = [tree[key] for key in keys]
    else:
        same = kind == spec.kind and len(children) == len(spec.children)
        if not same or (kind is not deque and context != spec.context):
            return None
    result: list[Any] = []
    for child, inner in zip(children, spec.children, strict=True):
        found = broadcast_prefix(child, inner)
        if found is None:
            return None
        result += found
    return result


class Star:
    """A leaf as `written` shows it."""

    def __repr__(self) -> str:
        return "*"


def structure_text(spec: Spec) -> str:
    """Return a structure as Python writes it, with * for each leaf: `(*, {'a': *})`."""
    return repr(unflatten([Star()] * spec.leaves, spec))
