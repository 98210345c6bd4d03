"""Version counters after writes: each in-place method, each `out=`, and the other ways to write to a tensor.

In-place methods are called with the same arguments on the same kinds of tensors, whether that suits them or
not. An end is `versions of x, its base and the operands`, with `!` where the call raised an error. A line is
`kind<TAB>name<TAB>arguments end  arguments end …`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .errors import NOT_CALLED, called
from .signatures import recorded as signatures
from .store import read, write
from .writes import WRITES

NAME = "versions.txt.xz"
SPACES = ("torch", "linalg", "fft", "special")  # whose functions take `out`

# By name what is passed on after x: of the tensors of `operands`, or plain values.
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "()": (),
    "(2)": (2,),
    "(0.5)": (0.5,),
    "(0, 1)": (0, 1),
    "(y)": ("y",),
    "(y, y)": ("y", "y"),
    "(mask, 2.0)": ("mask", 2.0),
    "(mask, y)": ("mask", "y"),
    "(0, i, 2.0)": (0, "i", 2.0),
    "(0, i, y)": (0, "i", "y"),
    "(0, rows, y)": (0, "rows", "y"),
    "(1, 0, 2.0)": (1, 0, 2.0),
}


def operands(library: Any) -> dict[str, Any]:
    """y, a mask, indices of elements, indices of rows."""
    return {
        "y": library.tensor([[0.5, 0.25], [0.75, 0.5]], dtype=library.float64),
        "mask": library.tensor([[True, False], [True, True]]),
        "i": library.tensor([[0, 1], [1, 0]]),
        "rows": library.tensor([1, 0]),
    }


def fresh(library: Any) -> Any:
    return library.tensor([[0.25, 0.5], [0.75, 1.0]], dtype=library.float64)


def result_of(library: Any, name: str) -> Any:
    """A tensor inside a graph, a view of one, a plain one or a view of that."""
    if name == "graph":
        return fresh(library).requires_grad_() * 1
    if name == "view in a graph":
        return (fresh(library).requires_grad_() * 1)[:]
    return fresh(library)[:] if name == "view" else fresh(library)


def versions_of(*tensors: Any) -> str:
    """The versions of tensors."""
    return ",".join("-" if t is None else str(t._version) for t in tensors)


def quietly(call: Callable[[], Any]) -> str:
    """`!` if a call raises an error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            call()
        except Exception:
            return "!"
    return ""


def in_place(library: Any, name: str, arguments: str, kind: str) -> str:
    """The versions of x, its base and the operands after an in-place method."""
    library.manual_seed(0)
    made = operands(library)
    taken = [made.get(a, a) if isinstance(a, str) else a for a in ARGUMENTS[arguments]]
    x = result_of(library, kind)
    base = x._base
    failed = quietly(lambda: getattr(x, name)(*taken))
    return failed + versions_of(x, base, *(t for t in taken if hasattr(t, "_version")))


def with_out(library: Any, space: str, name: str, arguments: str) -> str:
    """The versions of the `out` tensors, x and the operands after a call; empty if it cannot be called so."""
    library.manual_seed(0)
    function = called(library, space, name)
    made = operands(library)
    given = [fresh(library), *(made.get(a, a) if isinstance(a, str) else a for a in ARGUMENTS[arguments])]
    found: list[Any] = []
    if quietly(lambda: found.append(function(*given))):
        return ""
    outs = found[0] if isinstance(found[0], tuple) else (found[0],)
    if not all(hasattr(t, "_version") for t in outs):
        return ""
    empty = tuple(library.empty_like(t) for t in outs)
    failed = quietly(lambda: function(*given, out=empty if isinstance(found[0], tuple) else empty[0]))
    return failed + versions_of(*empty, *(t for t in given if hasattr(t, "_version")))


KINDS = ("plain", "view", "graph", "view in a graph")


def in_place_names() -> list[str]:
    import minigrad

    names = (n for n in signatures()["Tensor"] if n.endswith("_") and not n.endswith("__"))
    called = [n for n in names if not NOT_CALLED.match(n)]
    return [n for n in called if hasattr(minigrad.Tensor, n)]


def out_names() -> Iterator[tuple[str, str]]:
    import minigrad

    for space in SPACES:
        for name in signatures()[space]:
            if NOT_CALLED.match(name) or "." in name or name.endswith("_"):
                continue
            try:
                if callable(called(minigrad, space, name)):
                    yield space, name
            except AttributeError:
                continue  # `test_recorded` asks the signatures whether it may be gone


def of_method(library: Any, name: str, kind: str) -> str:
    """The end of a method with all arguments."""
    return "  ".join(f"{a} {in_place(library, name, a, kind)}" for a in ARGUMENTS)


def of_function(library: Any, space: str, name: str) -> str:
    """The end of a function with all arguments that it can be called with."""
    ends = {a: with_out(library, space, name, a) for a in ARGUMENTS}
    return "  ".join(f"{a} {how}" for a, how in ends.items() if how)


def end(library: Any, kind: str, name: str) -> str:
    """What the record says of a kind and name."""
    if kind == "write":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return versions_of(*WRITES[name](library))
    if kind.startswith("out "):
        return of_function(library, kind.removeprefix("out "), name)
    return of_method(library, name, kind)


def lines() -> Iterator[str]:
    import minigrad

    for name in in_place_names():
        for kind in KINDS:
            yield f"{kind}\t{name}\t{end(minigrad, kind, name)}"
    for space, name in out_names():
        if text := end(minigrad, f"out {space}", name):
            yield f"out {space}\t{name}\t{text}"
    yield from (f"write\t{name}\t{end(minigrad, 'write', name)}" for name in WRITES)


def make() -> None:
    write(NAME, lines())


def recorded() -> dict[str, dict[str, str]]:
    """Kind → name → end."""
    found: dict[str, dict[str, str]] = {}
    for line in read(NAME):
        kind, name, text = line.split("\t")
        found.setdefault(kind, {})[name] = text
    return found
