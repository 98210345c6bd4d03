"""Runs that are kept under a name, to be compared with later ones; and what can be compared."""

from __future__ import annotations

from typing import Any

from ..trace.events import Trace
from ..words import text
from .comparison import Comparison

MOST = 20  # runs; the one that was kept first goes first
_runs: dict[str, Trace] = {}


def keep(name: str, trace: Trace) -> None:
    """Keep a run under a name, instead of an earlier one with this name."""
    _runs.pop(name, None)
    _runs[name] = trace
    while len(_runs) > MOST:
        del _runs[next(iter(_runs))]


def kept(name: str) -> Trace | None:
    """The run of that name, if there is one."""
    return _runs.get(name)


def versus(name: str, trace: Trace, lang: str | None = None) -> Comparison | None:
    """What `%%autograd --vs NAME` shows of a cell: the comparison with the run of that name. None where there
    is none yet, or where the same cell has run again on the same library: then it is kept under the name."""
    known = kept(name)
    if known is None or (known.source, known.library) == (trace.source, trace.library):
        keep(name, trace)
        return None
    return Comparison(known, trace, (name, text("compare_this_cell", lang)), lang=lang)


def compare(a: Any, b: Any, *, lang: str | None = None, theme: str = "auto") -> Comparison:
    """Two runs side by side, with the first difference marked.

    `a` and `b` are each a name that `%%autograd --vs NAME` has kept, a `Trace`, or anything that has one:
    what `last()` returns, or the object of `with record() as r`. KeyError for a name that nothing is kept
    under, TypeError for anything else.
    """
    (first, mine), (second, other) = (traced(each, lang) for each in (a, b))
    return Comparison(first, second, (mine, other), lang=lang, theme=theme)


def traced(run: Any, lang: str | None) -> tuple[Trace, str]:
    """The trace of a run, and its name if it has one."""
    if isinstance(run, str):
        trace = kept(run)
        if trace is None:
            names = ", ".join(_runs) or "–"
            raise KeyError(text("compare_unknown", lang, name=run, names=names))
        return trace, run
    trace = run if isinstance(run, Trace) else getattr(run, "trace", None)
    if not isinstance(trace, Trace):
        raise TypeError(text("compare_no_run", lang, kind=type(run).__name__))
    return trace, ""
