"""What `vmap` remembers of one example: the ops that ran, to run each of them once for all examples."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core import F, modes
from ..core.node import sequence_numbers
from ..core.op import Op
from ..core.tensor_state import TensorBase, Tensors
from .batching import BatchedTensor, run, whole

# The argument of the first is a place in the memory of one example; the shapes of the others' results differ.
UNREPEATED = [getattr(F, name).op for name in ("as_strided", "masked_select", "unique2", "bincount")]
UNREPEATED += [F.nonzero.op, F._pack_padded_sequence.op]


class Slot(NamedTuple):
    """A value that depends on the example, by its number."""

    number: int


class Step(NamedTuple):
    """An op that ran: its arguments with slots, its results, the number of the first one's slot, and whether
    it was recorded for gradients.
    """

    op: Any  # an Op, or "detach"
    args: tuple[Any, ...]
    results: tuple[Any, ...]
    first: int
    graph: bool


class Tape:
    """The ops that ran on one example, in order, and which tensors they made.

    A tensor is known again by itself or, where a node saved it and rebuilds it, by its place in the graph;
    by its numbers where it has none any more, such as the leaf of a level that has ended.
    """

    def __init__(self, batch: Any, example: list[Any], dims: list[int | None]) -> None:
        self.batch = batch  # which marks tensors that depend on the example
        self.outer = modes.state.tape  # of a `vmap` around this one, which sees everything too
        self.complete = True  # whether running these ops again is all that the function does
        self.steps: list[Step] = []
        self.values: list[Any] = []  # by slot; they stay alive, so that no other gets the same id
        self.slots: dict[Any, int | None] = {}  # by the id of a tensor, and by its place in the graph
        self.arrays: dict[
            int, tuple[Any, int | None]
        ] = {}  # by the id of a tensor's numbers: they, and its slot
        self.constants: list[Any] = []  # what ops made that did not run on the example; they stay alive too
        self.start = next(sequence_numbers)
        self.inputs = [None if d is None else self.follow(t) for t, d in zip(example, dims)]

    def follow(self, t: Any) -> int:
        """Give a tensor that depends on the example a slot."""
        self.values.append(t)
        self.batch.mark(t)
        return self.alias(t, len(self.values) - 1)

    def alias(self, t: Any, number: int | None) -> Any:
        """Let a tensor stand for the value in a slot; None for a constant."""
        self.slots[id(t)] = number
        self.arrays[id(t._data)] = t._data, number
        if t._fn is not None:
            self.slots[id(t._fn), t._nr] = number
        return number

    def slot(self, t: Any) -> int | None:
        """Return the slot of a tensor; None if it is the same for all examples.

        It is not known whether it is where something other than an op made it from the example.
        """
        key = id(t)
        if key not in self.slots and t._fn is not None:
            key = id(t._fn), t._nr  # type: ignore[assignment]
            if key not in self.slots and t._fn._seq > self.start:
                self.complete = False
        if key not in self.slots and id(t._data) in self.arrays:
            return self.arrays[id(t._data)][1]
        if self.batch.marked(t) and self.slots.get(key) is None:
            self.complete = False
        return self.slots.get(key)

    def marked(self, value: Any) -> Any:
        """Return an argument of an op with slots instead of tensors that depend on the example."""
        if isinstance(value, TensorBase):
            number = self.slot(value)
            if number is not None:
                return Slot(number)
            self.arrays.setdefault(id(value._data), (value._data, None))
            return value
        if isinstance(value, Tensors):
            return Tensors([self.marked(v) for v in value])
        if value.__class__ in (list, tuple):
            return value.__class__([self.marked(v) for v in value])
        return value

    def record(self, op: Op | str, args: Any, result: Any) -> None:
        """Note an op that ran, if it ran on the example."""
        if self.outer is not None:
            self.outer.record(op, args, result)
        marked = tuple([self.marked(v) for v in args])
        results = result if isinstance(result, tuple) else (result,)
        if op in UNREPEATED:
            self.complete = False
        if not slots_of(marked):
            self.constants += results
            for t in results:
                self.alias(t, None)
            return
        graph = any(t.requires_grad for t in results)
        self.steps.append(Step(op, marked, results, len(self.values), graph))
        for t in results:
            self.follow(t)

    def enter(self, source: Any, leaf: Any, entry: Any) -> None:
        """Note that at a level an inner leaf stands for `source`, with what that depends on outside; and that
        a node which saved the leaf may rebuild it at `entry`.
        """
        if self.outer is not None:
            self.outer.enter(source, leaf, entry)
        self.slots[id(entry), 0] = self.alias(leaf, self.slot(source))
        self.constants += [leaf, entry]

    def rebuilt(self, data: Any) -> None:
        """Note that a node gets a constant, which has the numbers that it had saved of a tensor."""
        if id(data) not in self.arrays:
            self.complete = False
        if self.outer is not None:
            self.outer.rebuilt(data)

    def give_up(self) -> None:
        """Note that the function does something that must happen for each example."""
        self.complete = False
        if self.outer is not None:
            self.outer.give_up()

    def knows(self, outputs: list[Any]) -> bool:
        """Return whether running the ops again gives these outputs of the other examples."""
        for t in outputs:
            if isinstance(t, TensorBase):
                self.marked(t)
        return self.complete

    def needed(self, outputs: list[Any]) -> list[Step]:
        """Return the steps on which outputs depend."""
        wanted = {n for t in outputs if isinstance(t, TensorBase) and (n := self.slot(t)) is not None}
        steps = []
        for step in reversed(self.steps):
            made = range(step.first, step.first + len(step.results))
            if not wanted.isdisjoint(made):
                steps.append(step)
                wanted.update(slots_of(step.args))
        return steps[::-1]

    def replay(self, size: int, inputs: list[Any], outputs: list[Any]) -> list[Any]:
        """Return the outputs of all `size` examples along a new first dimension, from such inputs."""
        batches = {number: BatchedTensor(t) for number, t in zip(self.inputs, inputs) if number is not None}
        for op, args, results, first, graph in self.needed(outputs):
            given = [fill_slots_with_batches(v, batches) for v in args]
            with modes.Within(grad_enabled=graph and modes.is_grad_enabled()):
                if isinstance(op, str):  # "detach", which is no op
                    found = [given[0].tensor.detach()]
                else:
                    found = run(op, given, results, size)
            batches.update(zip(range(first, first + len(results)), map(BatchedTensor, found)))
        return [whole(fill_slots_with_batches(self.marked(t), batches), size) for t in outputs]


def slots_of(args: Any) -> list[int]:
    """Return the numbers of all slots in arguments."""
    found: list[int] = []
    for v in args:
        if isinstance(v, Slot):
            found.append(v.number)
        elif v.__class__ in (list, tuple, Tensors):
            found += slots_of(v)
    return found


def fill_slots_with_batches(value: Any, batches: dict[int, Any]) -> Any:
    """Return an argument with batches in its slots."""
    if isinstance(value, Slot):
        return batches[value.number]
    if value.__class__ in (list, tuple, Tensors):
        return value.__class__([fill_slots_with_batches(v, batches) for v in value])
    return value
