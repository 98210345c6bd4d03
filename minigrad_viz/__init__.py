"""minigrad_viz: see the graph, the numbers and the chain rule of ordinary autograd code.

In a notebook: `%load_ext minigrad_viz`, then `%%autograd` above a cell. Anywhere: `draw(z)`,
`make_dot(z)`, `stepper(z)`. What a cell or a block of a program did is a `Report`: `last()`, `record()`.
After an error: `explain()`. Numbers to compare with: `check_gradients()`, `derivative()`.
"""

from __future__ import annotations

from typing import Any

from .words import set_language

_HOMES = {
    "draw": "drawing.picture",
    "Picture": "drawing.picture",
    "make_dot": "drawing.torchviz",
    "Digraph": "drawing.digraph",
    "stepper": "player.widget",
    "Stepper": "player.widget",
    "record": "shell.run",
    "Report": "shell.report",
    "last": "shell.last",
    "explain": "shell.explain",
    "why_none": "shell.why",
    "check_gradients": "shell.checked",
    "derivative": "shell.derivative",
    "memory": "drawing.memory_sheet",
    "compare": "comparing.kept_runs",
    "predict": "shell.predict",
    "check_prediction": "shell.predict",
    "Prediction": "shell.predict",
    "Trace": "trace.events",
}
__all__ = [
    "Digraph",
    "Picture",
    "Prediction",
    "Report",
    "Stepper",
    "Trace",
    "check_gradients",
    "check_prediction",
    "compare",
    "derivative",
    "draw",
    "explain",
    "last",
    "make_dot",
    "memory",
    "predict",
    "record",
    "set_language",
    "stepper",
    "why_none",
]


def __getattr__(name: str) -> Any:
    # Widgets and Graphviz's runtime are loaded when they are first used, not at import.
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext minigrad_viz`."""
    from .shell.magic import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext minigrad_viz`."""
    from .shell.magic import unload

    unload(shell)
