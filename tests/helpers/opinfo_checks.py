"""What is compared for each op of PyTorch's table: each check yields every comparison that it made.

The number of comparisons per dtype is recorded (`record/verdicts.txt.xz`). So a test fails when a
comparison is no longer made.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import own_texts
import pytest
from opinfo import DTYPES, Sample, call, entries, numbers, samples, tensors
from opinfo_deviations import DEVIATIONS
from record.verdicts import missing
from twins import dialect

import minigrad

TOLERANCE = {  # relative and absolute, those of torch.testing
    "float16": (1e-3, 1e-3),
    "float32": (1.3e-6, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}
PRECISE = ("float64", "complex128")
NUMPYS_DIMENSIONS = 64  # an array cannot have more
UNFILLED = ("empty", "empty_like", "new_empty")


class Comparison(NamedTuple):
    """One sample of a dtype, and the differences that it showed: an empty text if there is none."""

    dtype: str
    sample: Sample
    difference: str

    def __str__(self) -> str:
        return f"{self.dtype}: {self.sample}: {self.difference}"


def name_of(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


@contextmanager
def quietly() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"), dialect("2"):
        warnings.simplefilter("ignore")
        yield


def attempt(entry: Any, library: Any, sample: Sample) -> Any:
    """The results, or the error, of the op on a sample."""
    try:
        return call(entry, library, sample)
    except Exception as error:
        return error


def differs(mine: Any, theirs: Any, slack: float = 1.0) -> str:
    """How one result differs from PyTorch's; empty if it does not."""
    if not hasattr(theirs, "requires_grad"):
        same = mine == theirs or (mine != mine and theirs != theirs) or repr(mine).endswith(repr(theirs))
        return "" if same else f"{mine!r} for {theirs!r}"
    if not hasattr(mine, "requires_grad"):
        return f"no tensor: {mine!r}"
    if name_of(theirs.dtype) not in DTYPES:
        return ""  # a dtype that NumPy does not have, such as bfloat16 and complex32
    if (name_of(mine.dtype), tuple(mine.shape)) != (name_of(theirs.dtype), tuple(theirs.shape)):
        return f"{mine.dtype} {tuple(mine.shape)} for {theirs.dtype} {tuple(theirs.shape)}"
    relative, absolute = TOLERANCE.get(name_of(theirs.dtype), (0, 0))
    a, b = numbers(mine), numbers(theirs)
    whole = np.abs(b[np.isfinite(b)]).max(initial=0) * relative  # a sum is as exact as its largest part
    if not np.allclose(a, b, rtol=relative * slack, atol=max(absolute, whole) * slack, equal_nan=True):
        return f"{a.ravel()[:4]} for {b.ravel()[:4]}"
    return ""


def compared(mine: Any, theirs: Any, slack: float = 1.0) -> str:
    """How lists of results differ."""
    if isinstance(theirs, Exception):
        return "" if isinstance(mine, Exception) else f"no error, but {type(theirs).__name__}: {theirs}"
    if isinstance(mine, Exception):
        return f"{type(mine).__name__}: {mine}"
    if len(mine) != len(theirs):
        return f"{len(mine)} results for {len(theirs)}"
    return next(filter(None, (differs(a, b, slack) for a, b in zip(mine, theirs))), "")


def supported(entry: Any, backward: bool = False) -> list[str]:
    """The dtypes that PyTorch has the op, or its derivative, for."""
    kinds = entry.supported_backward_dtypes("cpu") if backward else entry.supported_dtypes("cpu")
    return [dtype for dtype in DTYPES if dtype in {name_of(kind) for kind in kinds}]


def values(entry: Any) -> Iterator[Comparison]:
    """Values, dtypes and shapes, in every dtype."""
    import torch

    for dtype in supported(entry):
        for sample in samples(entry, dtype):
            theirs = attempt(entry, torch, sample.of(torch))
            if entry.name in UNFILLED and isinstance(theirs, list):
                theirs[0].zero_()  # PyTorch's hold anything
            mine = attempt(entry, minigrad, sample.of(minigrad))
            yield Comparison(dtype, sample, compared(mine, theirs))


def saved_names(node: Any) -> list[str]:
    return sorted(name for name in dir(node) if name.startswith("_saved_"))


def gradients_of(entry: Any, library: Any, sample: Sample) -> Any:
    """First and second gradients of weighted sums of the results; name and saved names of each node."""
    taken = sample.of(library)
    results = [t for t in call(entry, library, taken) if getattr(t, "requires_grad", False)]
    leaves = taken.leaves()
    nodes = [(t.grad_fn.name(), saved_names(t.grad_fn)) for t in results if t.grad_fn is not None]
    first = pulled(library, results, leaves)
    again = [t for t in first if t is not None and t.requires_grad]
    return nodes, first, pulled(library, again, leaves) if again else []


def pulled(library: Any, results: list[Any], leaves: list[Any]) -> list[Any]:
    seeds = [seed(library, t) for t in results]
    return list(library.autograd.grad(results, leaves, seeds, create_graph=True, allow_unused=True))


def seed(library: Any, t: Any) -> Any:
    """Different numbers in the shape and dtype of a tensor."""
    made = np.cos(np.arange(t.detach().numel() if library is not minigrad else t._data.size) + 0.5)
    return library.tensor(made.reshape(tuple(t.shape)).astype(name_of(t.dtype)))


def both(entry: Any, sample: Sample, take: Callable[..., Any]) -> tuple[Any, Any]:
    """What `take` gives for minigrad and for PyTorch: its result or its error."""
    import torch

    found = []
    for library in (minigrad, torch):
        try:
            found.append(take(entry, library, sample))
        except Exception as error:
            found.append(error)
    return found[0], found[1]


def gradients(entry: Any) -> Iterator[Comparison]:
    """Gradients and second gradients in double precision; names of nodes and of what they saved."""
    for dtype in supported(entry, backward=True):
        for sample in samples(entry, dtype, True) if dtype in PRECISE and entry.supports_autograd else []:
            mine, theirs = both(entry, sample, gradients_of)
            if not isinstance(theirs, Exception):
                yield Comparison(dtype, sample, "; ".join(derived(mine, theirs)))


def derived(mine: Any, theirs: Any) -> Iterator[str]:
    """How the nodes, gradients and second gradients of one sample differ."""
    if isinstance(mine, Exception):
        yield f"{type(mine).__name__}: {mine}"
        return
    if mine[0] != theirs[0]:
        yield f"node {mine[0]} for {theirs[0]}"
    for order in (1, 2):
        got, expected = without_none(mine[order], theirs[order])
        if found := compared(got, expected, 10.0):
            yield f"gradient of order {order}: {found}"


def without_none(mine: list[Any], theirs: list[Any]) -> tuple[list[Any], list[Any]]:
    """Both lists of gradients; None and zeros are the same."""

    def plain(gradients: list[Any], others: list[Any]) -> list[Any]:
        pairs = zip(gradients, others) if len(gradients) == len(others) else []
        return [g if g is not None else None if o is None else o * 0 for g, o in pairs]

    if len(mine) != len(theirs):
        return mine, theirs
    filled, filled_theirs = plain(mine, theirs), plain(theirs, mine)
    keep = [i for i, t in enumerate(filled_theirs) if t is not None]
    return [filled[i] for i in keep], [filled_theirs[i] for i in keep]


def tangents_of(entry: Any, library: Any, sample: Sample) -> list[Any]:
    """The tangents of the results, for tangents of every leaf."""
    ad = library.autograd.forward_ad
    taken = sample.of(library)
    with ad.dual_level():
        duals = {id(t): ad.make_dual(t.detach(), seed(library, t)) for t in taken.leaves()}

        def put(x: Any) -> Any:
            if isinstance(x, (list, tuple)):
                return type(x)(map(put, x))
            if isinstance(x, dict):
                return {key: put(item) for key, item in x.items()}
            return duals.get(id(x), x)

        results = call(entry, library, Sample(put(taken.args), put(taken.kwargs)))
        found = [ad.unpack_dual(t) for t in results if hasattr(t, "requires_grad")]
        return [t.tangent if t.tangent is not None else t.primal * 0 for t in found]


def tangents(entry: Any) -> Iterator[Comparison]:
    """Forward mode, in double precision."""
    for dtype in supported(entry, backward=True) if entry.supports_forward_ad else []:
        for sample in samples(entry, dtype, True, 6) if dtype in PRECISE else []:
            mine, theirs = both(entry, sample, tangents_of)
            if not isinstance(theirs, Exception):
                yield Comparison(dtype, sample, compared(mine, theirs, 10.0))


def errors(entry: Any) -> Iterator[Comparison]:
    """Class and text of the errors for bad arguments."""
    import torch

    for bad in entry.error_inputs("cpu") if entry.error_inputs_func else []:
        given = bad.sample_input
        sample = Sample((given.input, *given.args), dict(given.kwargs))
        if any(t.ndim > NUMPYS_DIMENSIONS for t in tensors((sample.args, sample.kwargs))):
            continue
        if "out" in given.kwargs or name_of(given.kwargs.get("dtype", "float32")) == "bfloat16":
            continue
        if any(t.is_meta for t in tensors((sample.args, sample.kwargs))):
            continue  # there is one device only
        theirs = attempt(entry, torch, sample.of(torch))
        mine = attempt(entry, minigrad, sample.of(minigrad))
        if isinstance(theirs, Exception):
            yield Comparison("any", sample, refused_otherwise(mine, theirs))


def refused_otherwise(mine: Any, theirs: Exception) -> str:
    """How an error differs from PyTorch's in class or text; empty if it does not."""
    if not isinstance(mine, Exception):
        return f"no error for {type(theirs).__name__}: {theirs}"
    is_same = words(mine) == words(theirs) or own_texts.OWN.match(str(mine))
    if type(mine).__name__ == type(theirs).__name__ and is_same:
        return ""
    return f"{type(mine).__name__}: {mine}\n      for {type(theirs).__name__}: {theirs}"


def words(error: Exception) -> str:
    """The first line of an error's text, with neither library named."""
    text = str(error).split("\n")[0].split("Exception raised from")[0]
    text = text.partition("received an invalid combination of arguments")[0]
    return re.sub(r"\b(torch|minigrad)\b", "LIBRARY", text).strip()


CHECKS: dict[str, Callable[[Any], Iterator[Comparison]]] = {
    check.__name__: check for check in (values, gradients, tangents, errors)
}


def comparisons(title: str, check: str) -> list[Comparison]:
    """Everything that one check of one entry of the table compared."""
    with quietly():
        return list(CHECKS[check](entries()[title]))


def compare(title: str, check: str) -> None:
    """Fail unless one check of one entry of the table finds nothing, or what is known and listed; and unless
    it compares at least as many samples of each dtype as the record says."""
    made = comparisons(title, check)
    found = [str(comparison) for comparison in made if comparison.difference]
    if not found:
        fewer = missing(title, check, Counter(comparison.dtype for comparison in made))
        assert not fewer, f"fewer comparisons than recorded: {fewer}"
    if found and (title, check) in DEVIATIONS:  # some deviate only beside other libraries for linear algebra
        pytest.xfail(DEVIATIONS[title, check])
    assert not found, "\n".join(["", *found[:5], f"{len(found)} in all"])
