"""Calls of transforms, which run a function many times or differentiate it element by element.

Note [Counted calls]
    `vmap`, `jacrev` or `hessian` may run thousands of ops for one expression of the cell, and to watch them
    takes a multiple of their own time. The ops of a short call are recorded one by one. Once a call has run
    more than `FEW`, its other ops are only counted, and in the end the call is one op, as if nothing had
    been recorded inside it: its notes go, and so do the ids of what was computed there.

    The graph behind its result is still there, and backward goes through it. If it has more than `FEW` nodes,
    the result's node is *contracted*: it stands for all of them, and its edges are those that leave them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..protocol import history_of, is_tensor, text_of
from ..trace import notes
from .backward_calls import BackwardCalls
from .modules import Modules
from .states import States
from .tape import Tape, observer_method

FEW = 100  # ops of a call that are recorded one by one, and nodes behind its result that are taken in


class Extent(NamedTuple):
    """How much there was when a call began: notes, tensors, nodes with outputs, frozen nodes, backward calls,
    calls of modules that run."""

    notes: int
    tensors: int
    frozen: int
    calls: int
    modules: int


class Transforms:
    """The part of a recorder that receives calls of transforms. `depth` counts the running ones, of which
    only the outermost counts; it has run so many ops (`ran`); `silent` says that they are only counted."""

    def __init__(self, tape: Tape, states: States, backward: BackwardCalls, modules: Modules) -> None:
        self.tape, self.states, self.backward, self.modules = tape, states, backward, modules
        self.depth = self.ran = 0
        self.silent = False
        self._mark: Extent | None = None

    def starts(self) -> None:
        """A transform begins."""
        self.depth += 1
        tape = self.tape
        if self.depth > 1:
            return
        self.ran = 0
        if not (tape.call or tape.again or tape.busy):
            counts = len(self.states.frozen), tape.calls, len(self.modules.calls)
            self._mark = Extent(len(tape.notes), next(tape.ids.tensors), *counts)
            self.silent = tape.rounds.light
            self.backward.paused = True

    def many(self) -> bool:
        """An op ran; whether those that follow are only counted."""
        self.ran += 1
        tape = self.tape
        if self.ran > FEW and self._mark is not None and not (tape.call or tape.again):
            self.silent = True
        return self.silent

    def ended(self, name: str, args: Any, result: Any) -> None:
        """A transform ended with `result`; None after an error."""
        self.depth = max(0, self.depth - 1)  # it may have begun before the recorder
        if self.depth or self._mark is None:
            return
        mark, silent, self._mark, self.silent = self._mark, self.silent, None, False
        self.backward.paused = False
        if not silent:
            if self.tape.calls > mark.calls:
                self.backward.settle()
        elif not self.tape.rounds.light:
            self._forget(mark)
            self._note(name, list(nested_leaves(args)), [t for t in nested_leaves(result) if is_tensor(t)])

    @observer_method
    def _forget(self, mark: Extent) -> None:
        """Take back all that was recorded since."""
        tape, states = self.tape, self.states
        del tape.notes[mark.notes :]
        for key in list(states.frozen)[mark.frozen :]:
            del states.frozen[key]
        del self.modules.calls[mark.modules :]
        self.backward.forget(mark.calls)
        states.owners.forget(mark.tensors, mark.calls)
        states.exits.forget(mark.tensors)
        tape.ids.forget(mark.tensors)

    @observer_method
    def _note(self, name: str, args: list[Any], results: list[Any]) -> None:
        """Note the call as one op; as several, if its results have several nodes."""
        tape, states = self.tape, self.states
        spot = tape.place()
        at = notes.NOWHERE if spot is None else (tape.place_of(spot), None, None)
        given = tuple(states.id_of(v) if is_tensor(v) else (text_of(v),) for v in args)
        by_node: dict[Any, list[Any]] = {}
        for tensor in results:
            if tape.ids.known(tensor) is None:
                by_node.setdefault(history_of(tensor), []).append(tensor)
        for node, made in by_node.items():
            states.take_in(node, FEW)
            rows = tuple(states.state_of(t, tape.ids.new(t)) for t in made)
            tape.notes.append(notes.OpNote(name, given, rows, True, at, 0, counted=self.ran))


def nested_leaves(value: Any) -> Iterator[Any]:
    """What arguments or results consist of, in lists, tuples and dictionaries."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from nested_leaves(each)
    elif isinstance(value, dict):
        yield from nested_leaves(list(value.values()))
    else:
        yield value
