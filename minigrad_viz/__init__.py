"""minigrad_viz: see the graph, the numbers and the chain rule of ordinary autograd code.

In a notebook: `%load_ext minigrad_viz`, then `%%autograd` above a cell. Anywhere: `draw(z)`,
`make_dot(z)`, `stepper(z)`. What a cell or a block of a program did is a `Report`: `last()`, `record()`.
Why training does not learn: `doctor()`.
After an error: `explain()`. Numbers to compare with: `check_gradients()`, `derivative()`.
"""

from __future__ import annotations

from typing import Any

from .words import set_language

_HOMES = {
    "draw": "shell.model_drawing",
    "Picture": "drawing.picture",
    "make_dot": "drawing.digraph",
    "Digraph": "drawing.digraph",
    "stepper": "player.widget",
    "Stepper": "player.widget",
    "record": "shell.run",
    "Report": "shell.report",
    "last": "shell.explain",
    "explain": "shell.explain",
    "why_none": "shell.explain",
    "check_gradients": "shell.numerical_derivatives",
    "derivative": "shell.numerical_derivatives",
    "memory": "drawing.sheets",
    "compare": "comparing.comparison",
    "predict": "shell.explain",
    "check_prediction": "shell.explain",
    "Prediction": "shell.explain",
    "Trace": "trace.events",
    "Doctor": "training_runs",
    "doctor": "training_runs",
}
__all__ = [
    "Digraph",
    "Doctor",
    "Picture",
    "Prediction",
    "Report",
    "Stepper",
    "Trace",
    "check_gradients",
    "check_prediction",
    "compare",
    "derivative",
    "doctor",
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
    from .training_runs.magic import register_magic as load_doctor

    load(shell)
    load_doctor(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext minigrad_viz`."""
    from .shell.magic import unload
    from .training_runs.magic import unload as unload_doctor

    unload(shell)
    unload_doctor(shell)
