"""What a run did, one thing after the other, in a form in which two runs can be compared.

A `Deed` is what one event of a trace says, without what is not part of the computation: ids, lines and names
differ between two cells that do the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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
    `detail` is the text of an error."""

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
            read = READ.get(type(event))
            deed = None if read is None else read(self, event)
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
                self.names[node.id] = NUMBERED.sub("", node.name)
                if node.variable is not None:
                    self.at[node.id] = node.variable

    def node_ran(self, event: NodeRan) -> Deed:
        """A node passed gradients on."""
        return Deed(
            0, PASSED, self.names.get(event.node, ""), (self.at.get(event.node),),
            values=(*event.received, *event.sent), span=self.calls.get(event.call), call=event.call,
            received=len(event.received),
        )  # fmt: skip

    def hook_ran(self, event: HookRan) -> Deed:
        """A hook saw a gradient."""
        at = (self.at.get(event.node),)
        span = self.calls.get(event.call)
        return Deed(0, HOOKED, event.kind, at, values=event.after, span=span, call=event.call)

    def deposited(self, event: Deposited) -> Deed:
        """A gradient was added to that of a leaf."""
        span = self.calls.get(event.call)
        return Deed(0, ADDED, "", (event.tensor,), values=(event.after,), span=span, call=event.call)

    def ended(self, event: BackwardEnded) -> Deed | None:
        """A call returned gradients. The error of one that failed ends the cell."""
        if event.error is not None or not event.captured:
            return None
        ids, values = zip(*event.captured, strict=True)
        return Deed(0, RETURNED, "", ids, values=values, span=self.calls.get(event.call), call=event.call)


def states_of(event: Event) -> tuple[TensorState, ...]:
    """The tensors that an event made or wrote."""
    if isinstance(event, Forward):
        return event.outputs
    made = getattr(event, "tensor", None)
    return (made,) if isinstance(made, TensorState) else ()


def created(_: DeedReader, event: Created) -> Deed:
    """A tensor came into the cell. One with a node is the result of a custom Function of PyTorch's, whose
    inputs nobody recorded."""
    if event.tensor.grad_fn:
        op = NUMBERED.sub("", event.tensor.grad_fn).removesuffix("Backward")
        return Deed(0, RAN, op, UNSEEN, (), (event.tensor,), (event.tensor.value,), event.span)
    of = (event.gradient_of,) if event.gradient_of else ()
    return Deed(0, CREATED, "", of, outputs=(event.tensor,), values=(event.tensor.value,), span=event.span)


def ran(_: DeedReader, event: Forward) -> Deed:
    """An op ran."""
    values = tuple(state.value for state in event.outputs)
    return Deed(
        0, RAN, event.op, event.inputs, event.arguments, event.outputs, values, event.span, event.call
    )


def left_graph(_: DeedReader, event: Detached | Left) -> Deed:
    """Numbers left the graph."""
    sources = (event.source,) if isinstance(event, Detached) else event.sources
    return Deed(0, RAN, event.how, sources, (), (event.tensor,), (event.tensor.value,), event.span)


def asked(_: DeedReader, event: Asked) -> Deed:
    """The cell set whether a tensor requires a gradient."""
    return Deed(0, ASKED, str(event.tensor.requires_grad), (event.tensor.id,), span=event.span)


def wrote(_: DeedReader, event: Mutated) -> Deed:
    """An op wrote into a tensor."""
    inputs = (event.before, *event.inputs)
    return Deed(0, WROTE, event.op, inputs, (), (event.tensor,), (event.tensor.value,), event.span)


def stepped(_: DeedReader, event: OptimizerStepped) -> Deed:
    """An optimizer took a step, with these settings."""
    settings = dict.fromkeys(f"{name}={value:g}" for row in event.rows for name, value in row.settings)
    tensors = tuple(row.tensor for row in event.rows)
    return Deed(0, STEPPED, event.kind, tensors, tuple(settings), span=event.span)


def started(_: DeedReader, event: BackwardStarted) -> Deed:
    """A backward call began."""
    arguments = (f"create_graph={event.create_graph}",)
    return Deed(0, STARTED, event.kind, event.roots, arguments, (), event.gradients, event.span, event.call)


def grad_set(_: DeedReader, event: GradSet) -> Deed:
    """The cell changed a gradient itself."""
    return Deed(0, SET, event.how, (event.tensor,), values=(event.after,), span=event.span)


def failed(_: DeedReader, event: Failed) -> Deed:
    """An error ended the cell."""
    return Deed(0, FAILED, event.error.partition(":")[0], span=event.span, detail=event.error)


READ: dict[type, Callable[[DeedReader, Any], Deed | None]] = {
    Created: created,
    Forward: ran,
    Detached: left_graph,
    Left: left_graph,
    Asked: asked,
    Mutated: wrote,
    OptimizerStepped: stepped,
    BackwardStarted: started,
    NodeRan: DeedReader.node_ran,
    HookRan: DeedReader.hook_ran,
    Deposited: DeedReader.deposited,
    BackwardEnded: DeedReader.ended,
    GradSet: grad_set,
    Failed: failed,
}
