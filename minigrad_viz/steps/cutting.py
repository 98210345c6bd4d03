"""Where a path ends, in words: what was made without a graph, and what would have been; and which tensors
change with one that uses the same memory."""

from __future__ import annotations

from ..arithmetic import Line
from ..model.cuts import ghost_of
from ..model.place import Place
from ..model.places import reader_of
from ..trace.events import Asked, Detached, Forward, Left, Mutated
from ..words import clean, text
from .keeping import Keeping
from .stage import LISTED, Told, in_cell, written


class Cutting(Keeping):
    """Tells of cuts, fog and shared memory."""

    def computed_as(self, event: Forward, place: Place) -> str:
        """The sentence for an op of the forward pass, by whether it left a node and why not."""
        values = {"expr": self.expression(place), "made": self.made(event.outputs)}
        if place.fog:
            ghost = ghost_of(reader_of(self.trace), place)
            if place.fog == "inference":
                key = "step_forward_inference_ghost" if ghost else "step_forward_inference"
            else:
                key = "step_forward_off_ghost" if ghost else "step_forward_off"
            return text(key, self.lang, ghost=ghost, **values)
        if place.cut == "integer" and place.asking:
            dtype = event.outputs[0].value.dtype if event.outputs[0].value is not None else ""
            return text("step_forward_integer", self.lang, dtype=dtype, names=self.askers(place), **values)
        if self.no_node(event):
            return text("step_forward_none", self.lang, **values)
        if event.op == "clone" and place.node is not None and event.inputs[0] is not None:
            return text("step_forward_clone", self.lang, source=self.name(event.inputs[0]), **values)
        return text("step_forward", self.lang, **values)

    def no_node(self, event: Forward) -> bool:
        """Whether an op left no node, in a cell with nodes, because no input asks for a gradient."""
        made = any(state.node is not None for state in event.outputs)
        return event.grad_enabled and bool(self.builder.by_node) and not made

    def askers(self, place: Place) -> str:
        """The inputs whose path ends at a place."""
        ids = [id for id in dict.fromkeys(place.inputs or ()) if id is not None and id in place.asking]
        return ", ".join([self.name(id) for id in ids[:LISTED]] + ["…"] * (len(ids) > LISTED))

    def detached(self, event: Detached) -> Told:
        """`detach()` or `.data` was called, or `detach_()`."""
        place = self.builder.at[event.tensor.id][0]
        if event.source == event.tensor.id:
            values = {"expr": "…" if event.span is None else written(event.span), "made": ""}
            key = "step_detached_in_place"
        else:
            values = {"expr": self.expression(place), "made": self.made((event.tensor,))}
            key = "step_detached" if event.how == "detach" else "step_data"
            key = key if place.asking else "step_shared"
        told = text(key, self.lang, source=self.name(event.source), **values)
        return Told(self.card_marks((event.tensor.id,)), clean(told), (), in_cell(event.span))

    def left(self, event: Left) -> Told:
        """Numbers left the library and came back."""
        place = self.builder.at[event.tensor.id][0]
        sources = (event.shares,) if event.shares else event.sources[:LISTED]
        source = ", ".join(map(self.name, sources))
        key = "step_left_shared" if event.shares else "step_left"
        values = {"expr": self.expression(place), "made": self.made((event.tensor,)), "source": source}
        told = text(key, self.lang, **values)
        return Told(self.card_marks((event.tensor.id,)), clean(told), (), in_cell(event.span))

    def asked(self, event: Asked) -> Told:
        """`requires_grad` was set."""
        id, place = event.tensor.id, self.builder.at[event.tensor.id][0]
        key = "step_requires_grad" if event.tensor.requires_grad else "step_requires_grad_off"
        key = "step_requires_grad_cut" if place.cut and place.asking and event.tensor.requires_grad else key
        expr = "…" if event.span is None else written(event.span)
        told = text(key, self.lang, expr=expr, name=self.name(id), source=self.askers(place))
        return Told(self.card_marks((id,))[:1], clean(told), (), in_cell(event.span))

    def sharing(self, event: Mutated) -> list[Line]:
        """The other tensors that a write has changed."""
        states = [state for state in event.also if state.id in self.builder.named]
        if not states:
            return []
        return [self.line("shared", self.say("also_label"), self.say("also", made=self.made(states)))]
