"""The same program in minigrad and in PyTorch, and everything that can be seen of a tensor and its graph as
plain data.

Dialect "2" is in force wherever names or texts are compared. Two things PyTorch saves are not looked for:
the strides and sizes by which its matrix products choose a memory layout, and the number of sizes where a
shape is known otherwise.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import own_texts

import minigrad
from minigrad.core.tensor_state import numbers as raw

LAYOUT_ONLY = ("_sym_numel", "_scalar_type")
TEXT_ONLY = ()


@contextlib.contextmanager
def dialect(name: str = "2") -> Iterator[None]:
    """A dialect for the time of a block; the warnings that only PyTorch 2 gives are left aside."""
    before = minigrad.get_dialect()
    minigrad.set_dialect(name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        minigrad.set_dialect(before)


def is_tensor(x: Any) -> bool:
    return hasattr(type(x), "grad_fn") and hasattr(type(x), "backward")


def numbers(t: Any) -> np.ndarray:
    """The numbers of a tensor as an array of its own."""
    if isinstance(t, minigrad.Tensor):
        return np.array(raw(t))
    if t._is_zerotensor():  # PyTorch's zeros without memory, in forward mode: `numpy()` would show anything
        return np.zeros(tuple(t.shape), dtype_of(t))
    return np.array(t.detach().resolve_conj().resolve_neg().numpy(force=True))


def dtype_of(t: Any) -> str:
    return str(t.dtype).rpartition(".")[2]


def same_numbers(ours: Any, theirs: Any, ulps: int = 4) -> bool:
    """Whether two tensors agree in shape, dtype and, to a few units in the last place, numbers."""
    a, b = numbers(ours), numbers(theirs)
    if a.shape != b.shape or dtype_of(ours) != dtype_of(theirs):
        return False
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    eps = np.finfo(a.dtype).eps * (4 if a.dtype.kind == "c" else 1)
    return bool(
        np.allclose(a, b, rtol=ulps * eps, atol=ulps * eps * max(1e-30, float(scale(b))), equal_nan=True)
    )


def scale(a: np.ndarray) -> float:
    finite = np.abs(a[np.isfinite(a)])
    return float(finite.max()) if finite.size else 0.0


def tangent(L: Any, x: Any) -> Any:
    """The tangent of a dual tensor, or None."""
    return L.autograd.forward_ad.unpack_dual(x).tangent


def node_name(node: Any) -> str:
    return node.name()


def saved_names(node: Any) -> list[str]:
    return sorted(n for n in dir(type(node)) if n.startswith("_saved_"))


def saved(node: Any) -> dict[str, Any]:
    """Name → tensor or plain value of everything a node saved that its derivative needs."""
    found = {}
    for name in saved_names(node):
        if name.endswith(LAYOUT_ONLY):
            continue
        value = getattr(node, name)
        found[name.removeprefix("_saved_")] = as_lists(value)
    return found


def as_lists(value: Any) -> Any:
    """Sequences as lists; a negative dimension, which PyTorch shows as a C++ size_t, as it was given."""
    if isinstance(value, (tuple, list)):
        return [as_lists(v) for v in value]
    return value - 2**64 if isinstance(value, int) and value >= 2**63 else value


def nodes(*roots: Any) -> list[Any]:
    """Every node that can be reached from the roots' grad_fns, in visiting order."""
    order: list[Any] = []
    seen: dict[Any, int] = {}
    stack = [r.grad_fn for r in reversed(roots) if r.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen[node] = len(order)
        order.append(node)
        stack.extend(n for n, _ in reversed(node.next_functions) if n is not None)
    return order


def graph(*roots: Any) -> list[Any]:
    """Names and edges of a graph: per node its name and, per edge, the target's place in the list and output
    number.
    """
    order = nodes(*roots)
    place = {node: i for i, node in enumerate(order)}
    return [
        (node_name(n), [(None if t is None else place[t], nr) for t, nr in n.next_functions]) for n in order
    ]


def ages(*roots: Any) -> list[int]:
    """The places of a graph's nodes in the order in which they were made; leaves left out."""
    order = nodes(*roots)
    made = [(n._sequence_nr(), i) for i, n in enumerate(order) if not hasattr(n, "variable")]
    return [i for _, i in sorted(made)]


def assert_same_tensor(ours: Any, theirs: Any, what: str = "") -> None:
    """Values, shape, dtype and the four attributes."""
    if ours is None or theirs is None:
        assert ours is theirs is None, f"{what}: {ours!r} against {theirs!r}"
        return
    assert dtype_of(ours) == dtype_of(theirs), f"{what}: {dtype_of(ours)} against {dtype_of(theirs)}"
    assert tuple(ours.shape) == tuple(theirs.shape), f"{what}: {ours.shape} against {theirs.shape}"
    assert same_numbers(ours, theirs), f"{what}: {ours!r} against {theirs!r}"
    for name in ("requires_grad", "is_leaf"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine == other, f"{what}.{name}: {mine!r} against {other!r}"


def assert_same_saved(ours: Any, theirs: Any) -> None:
    """What two nodes of one name saved."""
    mine, other = saved(ours), saved(theirs)
    for name in TEXT_ONLY:
        if name not in mine or name not in other:
            mine.pop(name, None), other.pop(name, None)
    where = node_name(ours)
    assert sorted(mine) == sorted(other), f"{where} saved {sorted(mine)}, PyTorch {sorted(other)}"
    for name, value in mine.items():
        assert_same_value(value, other[name], f"{where}.{name}")


def assert_same_value(ours: Any, theirs: Any, where: str) -> None:
    """A saved value: a tensor, a list of them, or anything else."""
    if isinstance(ours, list) and isinstance(theirs, list):
        assert len(ours) == len(theirs), f"{where}: {ours!r} against {theirs!r}"
        for a, b in zip(ours, theirs):
            assert_same_value(a, b, where)
    elif is_tensor(ours) or is_tensor(theirs):
        assert is_tensor(ours) and is_tensor(theirs), f"{where}: {ours!r} against {theirs!r}"
        assert same_numbers(ours, theirs), f"{where}: {ours!r} against {theirs!r}"
        assert ours.requires_grad == theirs.requires_grad, f"{where}.requires_grad"
        mine_fn, other_fn = (t.grad_fn and t.grad_fn.name() for t in (ours, theirs))
        assert mine_fn == other_fn, f"{where}.grad_fn: {mine_fn} against {other_fn}"
    else:
        assert ours == theirs, f"{where}: {ours!r} against {theirs!r}"


def assert_same_graph(ours: tuple[Any, ...], theirs: tuple[Any, ...], values: bool = True) -> None:
    """Names and edges of two graphs, and (`values`) what their nodes saved."""
    mine, other = graph(*ours), graph(*theirs)
    assert mine == other, "\n" + "\n".join(
        f"{i:3} {a!s:60} {b!s:60}{'' if a == b else '  <--'}" for i, (a, b) in enumerate(pad(mine, other))
    )
    assert ages(*ours) == ages(*theirs), "nodes were made in another order"
    if values:
        for a, b in zip(nodes(*ours), nodes(*theirs), strict=True):
            assert_same_saved(a, b)


def pad(a: list[Any], b: list[Any]) -> Iterator[tuple[Any, Any]]:
    for i in range(max(len(a), len(b))):
        yield (a[i] if i < len(a) else "-"), (b[i] if i < len(b) else "-")


def outcome(function: Any, *args: Any) -> Any:
    """What a call returns, or its error as (class name, text without PyTorch's tips for `checkpoint`)."""
    try:
        return function(*args)
    except Exception as error:
        return type(error).__name__, str(error).partition("\nTip: To see a more detailed")[0]


def outcome_and_warnings(function: Any, *args: Any) -> tuple[Any, list[tuple[str, str]]]:
    """What `outcome` gives, and the warnings (class name, text) on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = outcome(function, *args)
    return result, [(w.category.__name__, str(w.message).partition(" (Triggered")[0]) for w in caught]


class Diary:
    """What a program noted, as plain data that must be equal in both libraries."""

    def __init__(self) -> None:
        self.lines: list[Any] = []

    def __call__(self, *things: Any) -> None:
        self.lines.append(tuple(noted(thing) for thing in things))

    def error(self, function: Any, *args: Any) -> None:
        """Note how a call ends: its result or its error, word for word."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self(outcome(function, *args))


def noted(thing: Any) -> Any:
    """A tensor as (numbers, dtype, requires_grad, node), a node by its name, sequences item by item, the rest
    as it is.

    Five digits of each number, without the sign of zero. Versions are noted where they matter: those of
    gradients tell how PyTorch added them up.
    """
    if is_tensor(thing):
        fn = thing.grad_fn
        flat = [float(f"{n:.5g}") + 0.0 for n in numbers(thing).astype(np.float64).ravel().tolist()]
        return flat, list(thing.shape), dtype_of(thing), thing.requires_grad, fn and fn.name()
    if hasattr(thing, "next_functions"):
        return thing.name()
    if isinstance(thing, (tuple, list)):
        return [noted(t) for t in thing]
    return thing


def assert_same_diary(program: Any, torch: Any) -> None:
    """Run `program(library, note)` in both libraries (dialect "2") and compare what it noted."""
    ours, theirs = Diary(), Diary()
    with dialect("2"):
        program(minigrad, ours)
        program(torch, theirs)
    assert theirs.lines, "the program noted nothing"
    for i, (a, b) in enumerate(pad(ours.lines, theirs.lines)):
        assert own_texts.alike(a, b), f"line {i}:\n  ours    {a!r}\n  PyTorch {b!r}"
