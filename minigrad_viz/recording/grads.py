"""What a cell itself does to gradients: `x.grad = None`, `x.grad.zero_()`."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..protocol import Value, dtype_name, memory_of, version_of
from ..trace.events import Created

if TYPE_CHECKING:
    from .recorder import Recorder

ZERO = ("zero", "foreach_zero")  # the ops by which gradients are reset
RETURNED = 1000  # gradients that `grad()` returned, after which those that are gone are forgotten


class Held(NamedTuple):
    """A `.grad` as it was last seen: which object it was, its version, and what was taken of its numbers."""

    address: int
    version: int
    taken: Any


class Grads:
    """Which tensors of the trace have which `.grad`, so that a write into one is known for what it is."""

    def __init__(self, recorder: Recorder) -> None:
        self.ids, self.notes, self.states = recorder.ids, recorder.notes, recorder.states
        self.held: dict[str, Held] = {}  # by the id of the tensor whose gradient it is
        self.aliases: dict[str, str] = {}  # of the gradient (`x.grad.data`), by their ids
        self.owners: dict[int, str] = {}  # of what was a `.grad`, by address, which another may have now
        # What `grad()` returned, by address: the object, the tensor whose gradient it is, and the call.
        self.results: dict[int, tuple[weakref.ref[Any], str, int]] = {}

    def hold(self, tensor: str, grad: Any, taken: Any) -> None:
        """The tensor's gradient is this one, with these numbers."""
        self.held[tensor] = Held(id(grad), version_of(grad), taken)
        self.owners[id(grad)] = tensor

    def returned(self, gradients: Iterable[tuple[str, Any]], call: int) -> None:
        """`grad()` returned gradients of these tensors."""
        if len(self.results) > RETURNED:
            self.results = {at: kept for at, kept in self.results.items() if kept[0]() is not None}
        for name, grad in gradients:
            if grad is not None:
                self.results[id(grad)] = weakref.ref(grad), name, call

    def origin(self, tensor: Any) -> tuple[str, int]:
        """The tensor whose gradient this object is, and the call whose `grad()` returned it (0: it is the
        `.grad` of that tensor); ("", 0) for what is none."""
        kept = self.results.get(id(tensor))
        if kept is not None and kept[0]() is tensor:
            return kept[1:]
        name = self.owners.get(id(tensor), "")
        owner = self.ids.alive(name)
        has = owner is not None and (owner.is_leaf or owner.retains_grad)  # else PyTorch warns
        return (name, 0) if has and owner.grad is tensor else ("", 0)

    def alias(self, source: Any, result: str) -> None:
        """`result` has the memory of `source`, be that a gradient or not."""
        tensor = self._direct(source)
        if tensor is not None:
            self.aliases[result] = tensor

    def assigned(self, tensor: Any, before: Any, span: Any) -> None:
        """`.grad` of a tensor was assigned or deleted; `before` is what it was."""
        grad = tensor.grad
        if grad is before:  # as in `x.grad *= 2`, of which the op has told
            return
        held = self.held.get(self.ids.known(tensor) or "")
        if before is None or (held is not None and held[:2] == (id(before), version_of(before))):
            old = None if before is None or held is None else held.taken
        else:
            old = self.states.taken(before)
        name = self._known(tensor, old)
        if name is None:
            return
        new = None if grad is None else self.states.taken(grad)
        self.notes.append(("grad_set", name, "none" if grad is None else "assigned", old, new, span))
        if grad is None:
            self.held.pop(name, None)
        else:
            self.hold(name, grad, new)

    def written(self, op: str, written: Any, version: int, span: Any) -> None:
        """An op wrote into a tensor, whose version was `version`; only if that is a gradient, it is noted."""
        if written.requires_grad and written.is_leaf:
            return
        name = self._direct(written) or self._by_alias(written) or self._by_part(written)
        own = None if name is not None else self._among_variables(written)
        if own is not None:
            name = self._known(own, unknown(written))
        if name is None:
            return
        grad, held = self.ids.alive(name).grad, self.held.get(name)
        now = version_of(grad)
        before = version if grad is written else now  # `.data` has a counter of its own
        same = held is not None and own is None and held.version in (before, now - 1)
        old = held.taken if held is not None and same else unknown(grad)
        new = self.states.taken(grad)
        self.notes.append(("grad_set", name, "zero" if op in ZERO else "written", old, new, span))
        self.hold(name, grad, new)

    def _direct(self, grad: Any) -> str | None:
        """The tensor whose gradient this object is."""
        address = id(grad)
        for name, held in self.held.items():
            if held.address == address:
                tensor = self.ids.alive(name)
                if tensor is not None and tensor.grad is grad:
                    return name
        return None

    def _by_alias(self, tensor: Any) -> str | None:
        """The tensor whose gradient has the memory of this one."""
        name = self.aliases.get(self.ids.object(tensor) or "")
        owner = self.ids.alive(name)
        grad = None if owner is None else owner.grad
        return name if grad is not None and memory_of(grad) == memory_of(tensor) else None

    def _by_part(self, part: Any) -> str | None:
        """The tensor of whose gradient this is a part (`x.grad[0]`)."""
        data = getattr(part, "_data", None)
        base = part._base if data is None else data.base
        memory = None if base is None else memory_of(part)
        for name in self.held if memory is not None else ():
            tensor = self.ids.alive(name)
            grad = None if tensor is None else tensor.grad
            if grad is not None and memory_of(grad) == memory:
                return name
        return None

    def _among_variables(self, grad: Any) -> Any:
        """The leaf whose gradient this is, if a variable names it that the trace has not met yet."""
        if self.ids.object(grad) is not None:
            return None
        for _, tensor in self.states.variables():
            if tensor.grad_fn is None and tensor.requires_grad and tensor.grad is grad:
                return tensor
        return None

    def _known(self, tensor: Any, before: Any) -> str | None:
        """The id of a tensor. A leaf that only a variable knows comes in now, with the gradient that it had
        before."""
        known = self.ids.known(tensor)
        if known is None and tensor.grad_fn is None and any(t is tensor for _, t in self.states.variables()):
            known = self.ids.new(tensor)
            row = self.states.state_of(tensor, known)
            self.notes.append(("event", Created, (*row[:2], before, *row[3:]), None, None))
        return known


def unknown(grad: Any) -> Value:
    """A gradient of which nobody knows the numbers any more."""
    return Value(tuple(grad.shape), dtype_name(grad), None)
