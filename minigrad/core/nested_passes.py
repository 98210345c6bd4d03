"""The backward passes of a thread, and anomaly detection.

Note [Nested passes]
    A hook or a custom Function may run backward, whose hooks may run backward. Each pass needs a dozen Python
    frames, so with Python's usual limit of 1000 some 80 may run in one another; a RecursionError ends the
    innermost then. (PyTorch goes on in new threads.)

`modes.set_anomaly` switches it. While it is on, a new node stores two entries in its `metadata`: the call
that made it ("traceback_", a list of lines) and, if a backward pass made it, the node whose backward it
belongs to ("parent_").
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

# ─── The state of the backward passes of a thread


class Here(threading.local):
    """State of this thread: the innermost pass that runs user code; the node that runs (only in anomaly
    mode); the node whose hook was called last (only with observers). `limited` is True if the pass, or one
    around it, computes only certain gradients.
    """

    task: Any = None
    limited = False
    node: Any = None
    hooked: Any = None


here = Here()


def call_within_pass(task: Any, function: Callable[..., None], *args: Any) -> None:
    """Call `function(*args)`, which runs user code as part of the pass `task`."""
    __tracebackhide__ = True
    before, limited = here.task, here.limited
    task.notes = {}
    here.task, here.limited = task, limited or task.needed is not None
    try:
        function(*args)
    finally:
        here.task, here.limited = before, limited


# ─── Anomaly detection: it records where a node was made, and reports it when the node fails


UNKNOWN = (
    "Error detected in {}. No forward pass information available. Enable detect anomaly during forward pass "
    "for more information."
)
KNOWN = "Error detected in {}. Traceback of forward call that caused the error:\n{}"
BEFORE = (
    "\n\nPrevious calculation was induced by {}. Traceback of forward call that induced the previous "
    "calculation:\n{}"
)


def is_ours(frame: Any) -> bool:
    """Return whether a frame belongs to minigrad."""
    name: str = frame.f_globals.get("__name__") or ""
    return name.partition(".")[0] == "minigrad"


def remember(node: Any) -> None:
    """Store in a new node the call that made it: the user's frames, without minigrad's."""
    import traceback  # here, because it would add 0.5 ms to the import of minigrad

    stack = traceback.walk_stack(sys._getframe(1))
    frames = [(frame, line) for frame, line in stack if not is_ours(frame)]
    node.metadata["traceback_"] = traceback.StackSummary.extract(reversed(frames)).format()
    if here.node is not None:
        node.metadata["parent_"] = here.node


def report(node: Any) -> None:
    """Warn with the call that made a node which failed, and with the calls that made its parents."""
    seen: set[Any] = set()
    text = KNOWN
    while node is not None and node not in seen:
        seen.add(node)
        lines = node.metadata.get("traceback_")
        warn_before_error((UNKNOWN if lines is None else text).format(node.name(), "".join(lines or ())))
        node, text = node.metadata.get("parent_"), BEFORE


def warn_before_error(text: str) -> None:
    """Warn at the user's line. Where warnings are errors the text is printed instead, because another error
    is being raised already.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and is_ours(frame):
        frame, level = frame.f_back, level + 1
    try:
        warnings.warn(text, UserWarning, stacklevel=level)
    except UserWarning:
        import traceback

        traceback.print_exc()


def check_nan(node: Any, gradients: tuple[Any, ...]) -> None:
    """Raise RuntimeError if a gradient that `node` sends, raw or a tensor, contains NaN."""
    for i, gradient in enumerate(gradients):
        if gradient is not None and np.isnan(getattr(gradient, "_data", gradient)).any():
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")
