"""An error in code that nobody recorded → Trace: what its traceback and the remaining graph still show.

Note [What is left after an error]
    The frames of a traceback still have their variables. The innermost one that is the user's has the tensors
    which the failing expression names; the library's own, below it, have the roots and the arguments of a
    backward call that failed. From there the graph is walked as the recorder walks one that was built before
    its cell. What ran, and what was done in place or under `no_grad`, nobody knows: it is left out. Nothing
    is run, and nothing of the traceback is kept.
"""

from __future__ import annotations

import linecache
import os
import sys
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from ..protocol import Value, edge_of, history_of, is_tensor, pytorch, value_of
from ..sources.shield import shield_of
from ..trace.events import BackwardEnded, BackwardStarted, CellFailed, Trace
from ..trace.notes import BackwardEndNote, BackwardStartNote
from .error_frames import entries
from .recorder import Recorder
from .tape import describe

LIBRARIES = ("minigrad", "torch", "minigrad_viz")
METHODS = (
    "minigrad.autograd.tensor_backward",
    "torch._tensor",
    "torch.overrides",
)  # `z.backward()` passes through
STARTS = ("minigrad.autograd.run", "torch.autograd")  # where `backward` and `grad` are
# These run the engine for them.
ENGINES = ("run_backward", "run_batch", "run_plain", "grad_plain", "_engine_run_backward")

# Where frames have the node that runs, and in which variable; the last is that of a custom Function.
NODES = (
    ("minigrad.core.engine", "node"),
    ("torch.autograd.function", "self"),
)


def trace_after(error: BaseException) -> Trace:
    """The trace of an error in code that was not recorded. If no frame of the traceback is the user's code,
    the trace has only the error."""
    stack = list(entries(error.__traceback__))
    users = [i for i, entry in enumerate(stack) if not in_library(entry.tb_frame)]
    if not users:
        return Trace("", (CellFailed(describe(error), None),), describe(error), (), (), recorded=False)
    return Aftermath(stack, users).trace(error)


def in_library(frame: FrameType) -> bool:
    """Whether the code of a frame belongs to one of the libraries: by its file or, where it was generated, by
    its module."""
    file = frame.f_code.co_filename
    if file.startswith("<"):
        return module_of(frame).partition(".")[0] in LIBRARIES
    modules = (sys.modules.get(name) for name in LIBRARIES)
    homes = [os.path.dirname(m.__file__) for m in modules if m is not None and m.__file__]
    if "-packages" not in file:  # `copy.deepcopy` passes through Python's own library
        homes.append(os.path.dirname(os.__file__))
    return any(os.path.abspath(file).startswith(home + os.sep) for home in homes)


class FailedBackward(NamedTuple):
    """A backward call that failed, as its frame still has it; `entry` is where the user made it, `node` what
    was running, if a frame tells."""

    kind: str
    roots: tuple[Any, ...]
    gradients: tuple[Any, ...]
    create_graph: bool
    wanted: tuple[Any, ...] | None
    entry: TracebackType
    node: Any


class Aftermath:
    """Uses a recorder that comes too late. `stack` are the entries of a traceback, `users` the places of
    those that are the user's."""

    def __init__(self, stack: list[TracebackType], users: list[int]) -> None:
        frame = stack[users[-1]].tb_frame
        source = "".join(linecache.getlines(frame.f_code.co_filename))
        self.recorder = Recorder(source, frame.f_globals, (), whole=False)
        self.recorder.tape.namespace = dict(frame.f_globals)
        for i in users:  # an inner variable hides an outer one of the same name
            if stack[i].tb_frame.f_globals is frame.f_globals:
                self.recorder.tape.namespace |= stack[i].tb_frame.f_locals
        if torch := pytorch():
            self.recorder.tape.shield = shield_of(torch)
        self.started = failed_backward(stack, users)

    def trace(self, error: BaseException) -> Trace:
        """What is known, as a trace."""
        try:
            if self.started is not None:
                with self.recorder.tape.shield():
                    self.note_call(self.started, describe(error))
            return self.recorder.stop(error)._replace(recorded=False)
        finally:
            self.started, self.recorder.tape.namespace = None, {}

    def note_call(self, call: FailedBackward, error: str) -> None:
        """Take in the present graph of a call that failed."""
        recorder, states = self.recorder, self.recorder.states
        names = tuple(map(states.end_of, call.roots))
        ends = [edge_of(root) or (history_of(root), 0) for root in call.roots]
        nodes = [node for node, _ in ends if node is not None]
        wanted = None if call.wanted is None else tuple(map(states.end_of, call.wanted))
        given = tuple(map(first_gradient, call.roots, call.gradients))
        recorder.tape.calls = 1
        _, frozen = states.freeze_all(nodes)
        states.frozen.update(dict.fromkeys(row[0] for row in frozen))
        spot = recorder.tape.locator.point(call.entry)
        span = None if spot is None else spot.span
        ids = (None,) * len(names)
        event = BackwardStarted(1, call.kind, names, given, ids, call.create_graph, (), span, wanted)
        recorder.tape.notes.append(BackwardStartNote(event, frozen))
        known = call.node is not None and recorder.tape.ids.key(call.node) in states.frozen
        stopped = recorder.tape.ids.node(call.node) if known else None
        recorder.tape.notes.append(BackwardEndNote(BackwardEnded(1, error, (), (), stopped=stopped)))


def failed_backward(stack: list[TracebackType], users: list[int]) -> FailedBackward | None:
    """The backward call that the user's code made and in which the engine failed; None if there is none."""
    for i in reversed(users):
        inside = [entry.tb_frame for entry in stack[i + 1 :]]
        while inside and module_of(inside[0]) in METHODS:
            inside = inside[1:]
        if not inside or module_of(inside[0]) not in STARTS:
            continue
        kind, given = inside[0].f_code.co_name, inside[0].f_locals
        if kind in ("backward", "grad") and any(f.f_code.co_name in ENGINES for f in inside[1:3]):
            return of_arguments(kind, given, stack[i], running_node(inside))
    return None


def running_node(frames: list[FrameType]) -> Any:
    """The node that was running; None where PyTorch's engine, which is written in C++, ran it."""
    found = [
        frame.f_locals.get(variable)
        for frame in frames
        for module, variable in NODES
        if module_of(frame) == module and hasattr(frame.f_locals.get(variable), "next_functions")
    ]
    return found[-1] if found else None


def module_of(frame: FrameType) -> str:
    """The name of the module whose code a frame runs."""
    return str(frame.f_globals.get("__name__", ""))


def of_arguments(kind: str, given: Any, entry: TracebackType, node: Any) -> FailedBackward | None:
    """A call from the variables of `backward` or `grad`, which have the same names in both libraries."""
    roots = as_tuple(given.get("tensors" if kind == "backward" else "outputs"))
    gradients = as_tuple(given.get("grad_tensors" if kind == "backward" else "grad_outputs"))
    wanted = given.get("inputs")
    asked = as_tuple(wanted) if wanted is not None or kind == "grad" else None
    ends = (*roots, *(asked or ()))
    if not roots or given.get("is_grads_batched") or not all(map(is_end, ends)):
        return None
    gradients = gradients or (None,) * len(roots)
    return FailedBackward(kind, roots, gradients, bool(given.get("create_graph")), asked, entry, node)


def as_tuple(given: Any) -> tuple[Any, ...]:
    """One or several tensors, as a tuple."""
    if isinstance(given, dict):
        return tuple(given.values())
    return () if given is None else tuple(given) if isinstance(given, list | tuple) else (given,)


def is_end(thing: Any) -> bool:
    """Whether a backward call can begin or end at a thing: a tensor or a GradientEdge."""
    return is_tensor(thing) or (hasattr(thing, "node") and hasattr(thing, "output_nr"))


def first_gradient(root: Any, given: Any) -> Value | None:
    """The gradient that the call started with at a root: 1 for one element, if none was given."""
    if given is not None or not is_tensor(root):
        return value_of(given) if is_tensor(given) else None
    value = value_of(root)
    return value._replace(items=(1.0,), low=1.0, high=1.0) if value.size == 1 else None
