"""Arguments of transforms: nested structures taken apart into leaves; which to differentiate.

Tuples, lists, sizes, dictionaries, named tuples, `OrderedDict`, `defaultdict` and `deque` are structure;
everything else is a leaf, None too.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..autograd.run import checked_dim, common_size
from ..tensor import Size

# ─── Nested structures of arguments and results: taken apart into leaves and put together again


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


def flatten_tree(tree: Any) -> tuple[list[Any], Spec]:
    """Return the leaves of a tree, from left to right, and its structure."""
    parts = container_of(tree)
    if parts is None:
        return [tree], LEAF
    kind, context, children = parts
    leaves: list[Any] = []
    specs = []
    for child in children:
        found, spec = flatten_tree(child)
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
    leaves, spec = flatten_tree(tree)
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


# ─── The arguments of transforms, checked with PyTorch's errors: which to differentiate, and `vmap`'s
# dims


Argnums = int | tuple[int, ...]


def checked_argnums(argnums: Any, count: int) -> tuple[int, ...]:
    """Return the argument numbers, counted from the front; raise PyTorch's RuntimeErrors."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    found = []
    for argnum in argnums if isinstance(argnums, tuple) else (argnums,):
        if not isinstance(argnum, int):
            raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
        if not -count <= argnum < count:
            raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
        found.append(argnum % count)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {tuple(found)}")
    return tuple(found)


def select_arguments(args: tuple[Any, ...], argnums: Any) -> Any:
    """Return the argument of that number, or a tuple of those."""
    found = tuple(args[i] for i in checked_argnums(argnums, len(args)))
    return found if isinstance(argnums, tuple) else found[0]


def replace(args: tuple[Any, ...], argnums: Any, new: Any) -> tuple[Any, ...]:
    """Return all arguments, with `new` in the places of `argnums`."""
    result = list(args)
    places = checked_argnums(argnums, len(args))
    for i, value in zip(places, new if isinstance(argnums, tuple) else (new,), strict=True):
        result[i] = value
    return tuple(result)


Dims = Any  # an int, or a nested structure of them and None


def name_of(func: Any) -> str:
    """Return the name by which errors call a function."""
    if hasattr(func, "__name__"):
        return str(func.__name__)
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return repr(func)


def check_out_dims(func: Any, out_dims: Dims) -> None:
    """Raise ValueError unless `out_dims` consists of numbers and None."""
    for d in flatten_tree(out_dims)[0]:
        if not (d is None or isinstance(d, int)):
            raise ValueError(
                f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a "
                "python collection of ints representing where in the outputs the vmapped dimension should "
                "appear."
            )


def batch_arguments(func: Any, in_dims: Dims, args: tuple[Any, ...]) -> tuple[list[Any], list[Any], Any, int]:
    """Return each leaf's batch dimension (or None), the leaves, their structure, and the size of the batch.

    Raise ValueError with PyTorch's texts.
    """
    name = name_of(func)
    who = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{who}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
            f"inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
            "vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = flatten_tree(args)
    dims = broadcast_prefix(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{who}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{flatten_tree(in_dims)[1]} but inputs has structure {spec}."
        )
    dims = [dim_of(who, t, d) for t, d in zip(leaves, dims, strict=True)]
    sizes = [t._data.shape[d] for t, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    return dims, leaves, spec, common_size(sizes)


def dim_of(who: str, leaf: Any, dim: Any) -> int | None:
    """Return one batch dimension, counted from the front."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{who}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    return checked_dim(who, leaf, dim)


def spread_out_dims(func: Any, out_dims: Dims, spec: Any) -> list[Any]:
    """Return the batch dimension of each leaf of the outputs; raise ValueError if the structures differ."""
    if spec == LEAF and isinstance(out_dims, tuple) and len(out_dims) == 1:
        return list(out_dims)
    dims = broadcast_prefix(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
            f"structure of `outputs`. out_dims has structure {flatten_tree(out_dims)[1]} but outputs has "
            f"structure {spec}."
        )
    return dims
