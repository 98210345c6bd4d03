"""What a run did, one thing after the other, in a form in which two runs can be compared.

A `Deed` is what one event of a trace says, without what is not part of the computation: ids, lines and names
differ between two cells that do the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..protocol import Value
from ..trace.events import (
    Asked,
    BackwardEnded,
    BackwardStarted,
    Created,
    Deposited,
    Detached,
    Event,
    Failed,
    Forward,
    GradSet,
    HookRan,
    Left,
    Mutated,
    NodeRan,
    OptimizerStepped,
    TensorState,
    Trace,
)
from ..trace.spots import Span

CREATED, RAN, WROTE, STEPPED, ASKED = "created", "ran", "wrote", "stepped", "asked"
STARTED, PASSED, HOOKED, ADDED, SET = "started", "passed", "hooked", "added", "set"
RETURNED, FAILED = "returned", "failed"
UNSEEN = ("…",)  # the inputs of an op that nobody saw
NUMBERED = re.compile(r"\d+$")  # PyTorch 2 numbers its nodes, minigrad does so on request only


class Deed(NamedTuple):
    """One thing that a run did: its `kind` and the `op` that did it, on the tensors `inputs` and with
    `arguments` that are none; the tensors that it made or wrote, and the `values` that came of it. Of a node
    that ran, these are the gradients that it received, `received` of them, and those that it passed on.
    `detail` is the text of an error, or the whole name of a node."""

    time: int
    kind: str
    op: str = ""
    inputs: tuple[str | None, ...] = ()
    arguments: tuple[str | None, ...] = ()
    outputs: tuple[TensorState, ...] = ()
    values: tuple[Value | None, ...] = ()
    span: Span | None = None
    call: int = 0
    received: int = 0
    detail: str = ""

    @property
    def tensors(self) -> tuple[str, ...]:
        """What it is about: the tensors that it made, or those that it was done to."""
        return tuple(state.id for state in self.outputs) or tuple(id for id in self.inputs if id is not None)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes of what it made, without their numbers; "" for none."""
        return tuple(NUMBERED.sub("", state.grad_fn or "") for state in self.outputs)


class DeedReader:
    """Reads a trace into deeds; knows by then which tensor each node belongs to."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.at: dict[str, str] = {}  # the tensor of a node
        self.names: dict[str, str] = {}  # of nodes
        self.calls: dict[int, Span | None] = {}  # where each backward call stands

    def deeds(self) -> Iterator[Deed]:
        """The deeds in the order in which they happened."""
        for time, event in enumerate(self.trace.events):
            self.note(event)
            deed = self.read(event)
            if deed is not None:
                yield deed._replace(time=time)

    def note(self, event: Event) -> None:
        """Remember the nodes of an event."""
        for state in states_of(event):
            if state.node is not None:
                self.at.setdefault(state.node, state.id)
        if isinstance(event, BackwardStarted):
            self.calls[event.call] = event.span
            for node in event.nodes:
                self.names[node.id] = node.name
                if node.variable is not None:
                    self.at[node.id] = node.variable

    def read(self, event: Event) -> Deed | None:
        """What an event tells; None if that is no deed."""
        span, call = getattr(event, "span", None), getattr(event, "call", 0)
        flowed: dict[str, Any] = {"span": self.calls.get(call), "call": call}
        match event:
            case Created(tensor=made) if made.grad_fn:
                # The result of a custom Function of PyTorch's, whose inputs nobody recorded.
                op = NUMBERED.sub("", made.grad_fn).removesuffix("Backward")
                return Deed(0, RAN, op, UNSEEN, (), (made,), (made.value,), span)
            case Created(tensor=made, gradient_of=leaf):
                return Deed(0, CREATED, "", (leaf,) if leaf else (), (), (made,), (made.value,), span)
            case Forward(op=op, inputs=inputs, outputs=made):
                values = tuple(state.value for state in made)
                return Deed(0, RAN, op, inputs, event.arguments, made, values, span, call)
            case Detached() | Left():
                sources = (event.source,) if isinstance(event, Detached) else event.sources
                return Deed(0, RAN, event.how, sources, (), (event.tensor,), (event.tensor.value,), span)
            case Asked(tensor=state):
                return Deed(0, ASKED, str(state.requires_grad), (state.id,), span=span)
            case Mutated(tensor=made):
                inputs = (event.before, *event.inputs)
                return Deed(0, WROTE, event.op, inputs, (), (made,), (made.value,), span)
            case OptimizerStepped(rows=rows):
                settings = dict.fromkeys(f"{name}={value:g}" for row in rows for name, value in row.settings)
                tensors = tuple(row.tensor for row in rows)
                return Deed(0, STEPPED, event.kind, tensors, tuple(settings), span=span)
            case BackwardStarted():
                graph = (f"create_graph={event.create_graph}",)
                return Deed(0, STARTED, event.kind, event.roots, graph, (), event.gradients, span, call)
            case NodeRan(node=node, received=received):
                values, at = (*received, *event.sent), (self.at.get(node),)
                name = self.names.get(node, "")
                op, flowed["received"] = NUMBERED.sub("", name), len(received)
                return Deed(0, PASSED, op, at, values=values, detail=name, **flowed)
            case HookRan():
                return Deed(0, HOOKED, event.kind, (self.at.get(event.node),), values=event.after, **flowed)
            case Deposited():
                return Deed(0, ADDED, "", (event.tensor,), values=(event.after,), **flowed)
            case BackwardEnded(captured=captured, error=None) if captured:
                ids, values = zip(*captured, strict=True)
                return Deed(0, RETURNED, "", ids, values=values, **flowed)
            case GradSet():
                return Deed(0, SET, event.how, (event.tensor,), values=(event.after,), span=span)
            case Failed(error=error):  # also that of a backward call
                return Deed(0, FAILED, error.partition(":")[0], span=span, detail=error)
        return None


def states_of(event: Event) -> tuple[TensorState, ...]:
    """The tensors that an event made or wrote."""
    if isinstance(event, Forward):
        return event.outputs
    made = getattr(event, "tensor", None)
    return (made,) if isinstance(made, TensorState) else ()
