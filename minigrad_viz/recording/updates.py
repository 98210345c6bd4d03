"""What a cell itself does to gradients and parameters: `x.grad = None`, `x.grad.zero_()`, the steps of
optimizers."""

from __future__ import annotations

from typing import Any

from ..isolation import silence
from ..protocol import Value, dtype_name, is_tensor, memory_of, shape_of, version_of
from ..trace.calls import Ref
from ..trace.events import GradSet, InPlaceWrite, OptimizerStepped, Stepping, TensorCreated
from .calls import Calls
from .error_frames import write_at
from .provenance import Crossing
from .states import States
from .tape import Tape, observer_method

# ─── What a cell itself does to gradients


ZERO = ("zero", "foreach_zero")  # the ops by which gradients are reset


class Grads:
    """The part of a recorder that receives what the cell does to gradients."""

    def __init__(self, tape: Tape, states: States, calls: Calls) -> None:
        self.tape, self.states, self.calls, self.owners = tape, states, calls, states.owners
        self.ids, self.notes = tape.ids, tape.notes

    def assigned(self, tensor: Any, before: Any, span: Any) -> None:
        """`.grad` of a tensor was assigned or deleted; `before` is what it was."""
        with silence():  # reading it of a tensor that is not a leaf warns
            grad = tensor.grad
        if grad is before is not None:  # as in `x.grad *= 2`, of which the op has told
            return
        held = self.owners.held.get(self.ids.known(tensor) or "")
        if before is None or (held is not None and held[:2] == (id(before), version_of(before))):
            old = None if before is None or held is None else held.taken
        else:
            old = self.tape.taken(before)
        name = self._known(tensor, old)
        if name is None:
            return
        new = None if grad is None else self.tape.taken(grad)
        how = "assigned" if grad is not None else "none" if before is not None else "empty"
        self.notes.append(GradSet(name, how, old, new, span))
        if how != "empty":
            self.calls.add("call", setattr, (Ref(int(name[1:])), "grad", self.calls.ref_or_data(grad)))
        if grad is None:
            self.owners.held.pop(name, None)
        else:
            self.owners.hold(name, grad, new)

    def note_write(self, op: str, written: Any, version: int, span: Any) -> str | None:
        """An op wrote into a tensor, whose version was `version`; only if that is a gradient, it is noted,
        and the tensor given whose gradient it is."""
        if written.requires_grad and written.is_leaf:
            return None
        name = self.owners.owner_of(written) or self._by_alias(written) or self._by_part(written)
        own = None if name is not None else self._among_variables(written)
        if own is not None:
            name = self._known(own, unknown(written))
        if name is None:
            return None
        grad, held = self.ids.alive(name).grad, self.owners.held.get(name)
        now = version_of(grad)
        before = version if grad is written else now  # `.data` has a counter of its own
        same = held is not None and own is None and held.version in (before, now - 1)
        old = held.taken if held is not None and same else unknown(grad)
        new = self.tape.taken(grad)
        self.notes.append(GradSet(name, "zero" if op in ZERO else "written", old, new, span))
        self.owners.hold(name, grad, new)
        return name if grad is written else None

    def _by_alias(self, tensor: Any) -> str | None:
        """The tensor whose gradient has the memory of this one."""
        name = self.owners.aliases.get(self.ids.object(tensor) or "")
        owner = self.ids.alive(name)
        grad = None if owner is None else owner.grad
        return name if grad is not None and memory_of(grad) == memory_of(tensor) else None

    def _by_part(self, part: Any) -> str | None:
        """The tensor of whose gradient this is a part (`x.grad[0]`)."""
        data = getattr(part, "_data", None)
        base = part._base if data is None else data.base
        memory = None if base is None else memory_of(part)
        for name in self.owners.held if memory is not None else ():
            tensor = self.ids.alive(name)
            grad = None if tensor is None else tensor.grad
            if grad is not None and memory_of(grad) == memory:
                return name
        return None

    def _among_variables(self, grad: Any) -> Any:
        """The leaf whose gradient this is, if a variable names it that the trace has not met yet."""
        if self.ids.object(grad) is not None:
            return None
        for name, tensor in self.tape.variables():
            if tensor.grad_fn is None and tensor.requires_grad and tensor.grad is grad:
                self.calls.add("names", None, answer={name: self.calls.ref(tensor)})
                return tensor
        return None

    def _known(self, tensor: Any, before: Any) -> str | None:
        """The id of a tensor. A leaf that only a variable or a model knows comes in now, with the gradient
        that it had before."""
        known = self.ids.known(tensor)
        leaf = known is None and tensor.grad_fn is None
        if leaf and (tensor.requires_grad or any(t is tensor for _, t in self.tape.variables())):
            known = self.ids.new(tensor)
            state = self.states.state_of(tensor, known)._replace(grad=before)
            self.notes.append(TensorCreated(state, None, None))
        return known


def unknown(grad: Any) -> Value:
    """A gradient of which nobody knows the numbers any more."""
    return Value(shape_of(grad), dtype_name(grad), None)


# ─── The steps of optimizers


class OptimizerSteps:
    """Notes the steps of optimizers, each as one event and a write for every parameter."""

    def __init__(self, tape: Tape, states: States, crossing: Crossing, calls: Calls) -> None:
        self.tape, self.states, self.crossing, self.calls = tape, states, crossing, calls
        # Of the step that runs: where it stands, of each parameter its id, its version and its state, and
        # which known parameters have no gradient.
        self.open: tuple[Any, dict[str, tuple[Any, int, dict[str, Any]]], tuple[str, ...]] | None = None

    @observer_method
    def starts(self, optimizer: Any) -> None:
        """An optimizer is about to change its parameters."""
        tape, states, self.open = self.tape, self.states, None
        if tape.call:
            return  # from a hook
        spot = tape.place()
        found, idle = {}, []
        for group in optimizer.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    found[states.id_of(param)] = param, version_of(param), self._state(optimizer, param)
                elif (known := tape.ids.known(param)) is not None:
                    idle.append(known)
        self.open = write_at(spot), found, tuple(idle)

    @observer_method
    def ended(self, optimizer: Any) -> None:
        """It has changed them."""
        if self.open is None:
            return
        (span, found, idle), self.open = self.open, None
        groups = [(group_numbers(group), group["params"]) for group in optimizer.param_groups]
        settings = {id(param): numbers for numbers, params in groups for param in params}
        rows, writes = [], []
        for name, (param, version, before) in found.items():
            now = self._state(optimizer, param)
            state = tuple((key, before.get(key), taken) for key, taken in now.items())
            rows.append(Stepping(name, settings.get(id(param), ()), state))
            row = self.states.state_of(param, name)
            shared = self.crossing.sharing(param)
            writes.append(InPlaceWrite("step", name, row, (name,), span, version, shared))
        self.tape.notes.append(OptimizerStepped(type(optimizer).__name__, tuple(rows), span, idle))
        self.tape.notes.extend(writes)
        if self.calls.rounds is not None:
            self.calls.rounds.stepped(optimizer)

    def _state(self, optimizer: Any, param: Any) -> dict[str, Any]:
        """The optimizer's own tensors for a parameter, as they are now."""
        known = optimizer.state.get(param, {})
        return {name: self.tape.taken(t) for name, t in known.items() if is_tensor(t)}


def group_numbers(group: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    """The settings of a group that are numbers; of a pair (`betas`) each with its number."""
    found = []
    for name, value in group.items():
        several = value if name != "params" and isinstance(value, tuple | list) else [value]
        for i, number in enumerate(several, 1):
            if isinstance(number, bool | int | float):
                found.append((f"{name}{i}" if len(several) > 1 else name, float(number)))
    return tuple(found)
