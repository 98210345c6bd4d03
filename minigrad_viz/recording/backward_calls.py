"""The backward calls of a cell: their graphs as they begin, what is left as they end, which are kept."""

from __future__ import annotations

import math
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..protocol import array_of, edge_of, finite, is_tensor, value_of, variable_of
from ..trace import notes
from ..trace.events import AGAIN, BackwardEnded, BackwardStarted, GradAccumulated
from .calls import Calls
from .error_frames import named_by
from .listener import Listener, Packing, values_of
from .long_loops import FEWEST, KEPT_CALLS, KEPT_NOTES, prune
from .modules import Modules
from .states import States
from .tape import Tape, describe, observer_method, watching_lightly
from .updates import OptimizerSteps


class BackwardCalls:
    """The part of a recorder that receives backward calls. `values` has the root's value in each call, and
    `norms` the norm of the gradients, also for calls that are not kept. The `skipped` calls were left out
    later; `unkept` counts their deposits by leaf."""

    def __init__(
        self, tape: Tape, states: States, calls: Calls, packing: Packing, listener: Listener,
        modules: Modules, steps: OptimizerSteps,
    ) -> None:  # fmt: skip
        self.tape, self.states, self.packing, self.listener = tape, states, packing, listener
        self.calls, self.modules, self.steps = calls, modules, steps
        self.values: list[float | None] = []
        self.norms: list[float | None] = []
        self.skipped = 0
        self._odd = range(0)  # the notes of the first call that is not finite, and of the one before
        self.unkept: Counter[str] = Counter()
        self.paused = False  # whether a transform runs, after which these calls may be taken back
        self._nested = 0
        self._ends: list[int] = []  # where the notes of each call end that is kept
        self.begin = 0  # where those of the first of them begin
        self._done = 0  # the work that was done when the newest call in full had ended
        self._leaves: list[weakref.ref[Any]] = []  # of that call
        self._live: Any = ()  # nodes of the running call
        self._keys: list[Any] = []  # theirs
        self._lost: Callable[..., list[Any]]  # says which have let go of what they saved
        self._budget = 1  # notes of the running library before its loops are watched more lightly
        self._library: Any = None  # the module whose function makes the running call
        self._wanted: tuple[str, ...] = ()  # the tensors whose gradients grad() is to return

    def backward_started(
        self, library: Any, kind: str, roots: Any, gradients: Any, create_graph: bool, wanted: Any,
        batched: bool = False, keeps: Any = None, run: Any = None,
    ) -> None:  # fmt: skip
        """A backward call starts, as the source `library` tells; `wanted` are the tensors or edges whose
        gradients are asked for, None for all leaves. `run` makes such a call, which `keeps` its graph or not
        (None: as PyTorch's functions decide)."""
        if self.tape.depth and not library.is_running():
            self._close()  # an interrupt has come between the end of a call and its notice
        self.tape.depth += 1
        if self.tape.depth == 1 and not self.tape.rounds.light:
            if self.tape.rest.whole:
                self.modules.forget()
            self.tape.rest.wake(self.tape.work)
        if self.tape.depth > 1:  # from inside a hook or a custom backward
            self._nested += 1
            return
        self._nested = 0
        if self.tape.rounds.light:
            self._count_call(roots)
        else:
            self._begin_call(library, kind, roots, gradients, create_graph, wanted, batched, keeps, run)

    def backward_ended(self, error: BaseException | None, results: Any = None) -> None:
        """The call ended, or was interrupted before it began."""
        if self.tape.depth > 1:
            self.tape.depth -= 1
        elif self.tape.depth == 1:
            try:
                if self.tape.rounds.light:
                    self._end_counted(results or ())
                elif self.tape.call:
                    self._end_call(error, results or ())
            finally:
                self._close()

    def _close(self) -> None:
        """No call is running now, even if its beginning or its end was interrupted."""
        if self.tape.call:
            text = describe(sys.exception() or KeyboardInterrupt())
            ended = BackwardEnded(self.tape.call, text, (), ())
            self.tape.notes.append(notes.BackwardEndNote(ended))
        self.listener.stop()
        self.let_go()
        self.tape.call = self.tape.depth = self.tape.again = 0
        for rows in (self.values, self.norms):
            rows += [None] * (self.tape.calls - len(rows))
            del rows[self.tape.calls :]

    @observer_method
    def _begin_call(
        self, library: Any, kind: str, roots: Any, gradients: Any, create_graph: bool, wanted: Any,
        batched: bool, keeps: Any, run: Any,
    ) -> None:  # fmt: skip
        """Freeze the graph of the call; the source listens to its nodes from now on."""
        self.values.append(single_root_value(roots))
        span, _ = named_by(self.tape.place())
        names = tuple(self.states.end_of(t) for t in roots)
        ends = [edge_of(t) or (library.node_at(t), t.output_nr) for t in roots]
        nodes = [node for node, _ in ends if node is not None]
        self.states.adopt(nodes)
        asked = None if wanted is None else tuple(self.states.end_of(t) for t in wanted)
        self._wanted = (asked or ()) if kind == "grad" else ()
        number = self.tape.calls + 1
        self.states.snapshot("before", ahead=True)
        given = values_of(gradients)
        ids = tuple(self.states.id_of(g) if g is not None and create_graph else None for g in gradients)
        self._live, frozen = library.freeze(nodes)
        self._lost, self._budget = library.lost, library.budget
        self._keys = [row[0] for row in frozen]
        self.states.frozen.update(dict.fromkeys(self._keys))
        self._note_call(number, kind, run, roots, gradients, wanted, keeps, create_graph)
        told = number, kind, names, given, ids, create_graph, (), span, asked, batched
        begun = [notes.BackwardStartNote(BackwardStarted(*told), frozen)]
        # What it builds of nodes that stand for others is taken in when somebody uses it.
        creates = create_graph and self.states.contracted.isdisjoint(self._keys)
        self.tape.notes += begun  # with the numbers: nothing can interrupt between these
        self.tape.call = self.tape.calls = number
        self.tape.creates = creates
        starts = [(node, nr, g) for (node, nr), g in zip(ends, gradients, strict=True)]
        starts = [each for each in starts if each[0] is not None and variable_of(each[0]) is None]
        library.listen(self._live, frozen, starts)

    def _note_call(
        self, number: int, kind: str, run: Any, roots: Any, gradients: Any, wanted: Any, keeps: Any,
        creates: bool,
    ) -> None:  # fmt: skip
        """Note how a call is made once more."""
        calls, self._library = self.calls, sys.modules[run.__module__.partition(".")[0]]
        if any(edge_of(root) is not None for root in (*roots, *(wanted or ()))):
            calls.hinder("live_no_argument", kind="GradientEdge")
            return
        given = [None if is_implied(g, self.tape) else calls.ref_or_data(g) for g in gradients]
        options = {"retain_graph": keeps, "create_graph": creates}
        ends = None if wanted is None else tuple(map(calls.ref, wanted))
        args: tuple[Any, ...] = tuple(map(calls.ref, roots)), tuple(given)
        if kind == "grad":
            args, options["allow_unused"] = (args[0], ends, args[1]), True
        else:
            options["inputs"] = ends
        calls.add("backward", run, args, options, answer=number)

    @watching_lightly
    def _count_call(self, roots: Any) -> None:
        """A call starts that is only counted. See Note [Lighter watching]."""
        self.tape.calls += 1
        self.values.append(single_root_value(roots))

    @watching_lightly
    def _end_counted(self, results: Any) -> None:
        """It ended; perhaps the next ones are watched in full again."""
        leaves = [leaf for ref in self._leaves if (leaf := ref()) is not None]
        self.norms.append(norm_of(results or [leaf.grad for leaf in leaves]))
        known = (self.tape.ids.known(leaf) for leaf in leaves if leaf.grad is not None)
        self.unkept.update(name for name in known if name is not None)
        if self.tape.rounds.ended(self.tape.calls, 0, self.tape.loops.round):
            self.states.snapshot(AGAIN)
            self._done = self.tape.work
            self.tape.rest.wake(self._done)

    @observer_method
    def _end_call(self, error: BaseException | None, results: Any) -> None:
        """Take in the graph that the call built, note what was freed, remove every hook."""
        leaves = [v for node in self._live if (v := variable_of(node)) is not None]
        gradients = [g for g in results or [leaf.grad for leaf in leaves] if g is not None]
        self.norms.append(norm_of(gradients))
        if self.tape.creates:
            built = [*results, *(leaf.grad for leaf in leaves)]
            self.states.adopt(
                [g.grad_fn for g in built if g is not None and g.grad_fn is not None], tensors=built
            )
        gone = self._lost(self._keys, self._live, self.listener.ran, error is None and not self._nested)
        self.packing.told_again("")
        found = list(zip(self._wanted, results, strict=False))
        captured = tuple((name, None if g is None else value_of(g)) for name, g in found)
        if found:
            self.calls.add("captured", None, results=self.calls.numbers(results), answer=self.tape.call)
        self.states.owners.returned(found, self.tape.call)
        self.listener.stop()
        self._live, self.tape.inside, self.tape.again, self.tape.built = (), None, 0, []
        text = None if error is None else describe(error)
        ended = [notes.BackwardEndNote(BackwardEnded(self.tape.call, text, (), captured), gone)]
        self.tape.notes += ended
        self.tape.call = 0
        if self.calls.rounds is not None:
            self.calls.rounds.ended(self.values[-1], self._library)
        self.states.snapshot("after")
        self._ends.append(len(self.tape.notes))
        if not self._odd and self.tape.calls > 1:
            rows = [self.values, *([self.norms] if gradients else [])]
            if any(row[-1] is None and row[-2] is not None for row in rows):
                self._odd = range([self.begin, *self._ends][-3:][0], self._ends[-1])
        if not self.paused:
            self.settle(leaves)

    def settle(self, leaves: Iterable[Any] = ()) -> None:
        """After a call, or what stands for several: decide how the next ones are watched, and prune."""
        share, kept = (self.tape.work - self._done) / self._budget, self._kept()
        lightly = self.calls.rounds is None and self.tape.rounds.ended(
            self.tape.calls, share, self.tape.loops.round, kept
        )
        if lightly:
            self._leaves = [weakref.ref(leaf) for leaf in leaves]
            self.modules.forget()
            self.steps.open = None
        if len(self._ends) >= 2 * kept:
            self._prune(kept)
        self._done = self.tape.work
        self.tape.rest.wake(self._done)

    @observer_method
    def node_ran(self, node: Any, received: Any, sent: Any) -> None:
        """A node that is not an AccumulateGrad ran."""
        if self.tape.depth == 1:
            self.listener.note_run(self.tape.ids.node(node), values_of(received), sent)

    @observer_method
    def ran_inside(self, title: str, inputs: list[Any], result: Any) -> None:
        """An op ran in the backward of a custom Function."""
        if self.tape.inside is not None and self.tape.depth == 1 and is_tensor(result):
            name, span = self.tape.ids.name(self.tape.inside), self.tape.here()
            self.tape.notes.append(self.tape.inside_op(name, title, inputs, result, span))

    def forget(self, calls: int) -> None:
        """Take back all but so many calls."""
        gone = self.tape.calls - calls
        del self.values[calls:], self.norms[calls:], self._ends[max(0, len(self._ends) - gone) :]
        self._odd = self._odd if self._odd.stop <= len(self.tape.notes) else range(0)
        self.tape.calls = calls
        self._done = min(self._done, self.tape.work)

    def _kept(self) -> int:
        """How many of the newest calls are kept: fewer than `KEPT_CALLS` where they have very many notes."""
        begins = [self.begin, *self._ends[:-1]][-KEPT_CALLS:]
        fitting = sum(self._ends[-1] - begin <= KEPT_NOTES for begin in begins)
        return KEPT_CALLS if fitting == len(begins) else max(FEWEST, fitting)

    def _prune(self, kept: int) -> None:
        """Leave out all but the newest calls, and what was for them alone."""
        cut = self._ends[-kept - 1]
        self.skipped += len(self._ends) - kept
        self.calls.prune(self.begin, cut)
        self.unkept.update(note.tensor for note in self.tape.notes[:cut] if isinstance(note, GradAccumulated))
        alive = {known for _, t in self.tape.variables() if (known := self.tape.ids.known(t)) is not None}
        before = len(self.tape.notes)
        odd = [end for end in self._ends[:-kept] if end - 1 in self._odd]
        self.skipped -= len(odd)
        self.tape.notes[:], frozen, self._odd = prune(self.tape.notes, cut, self.tape.ids, alive, self._odd)
        self.states.frozen = dict.fromkeys(frozen)
        gone = before - len(self.tape.notes)
        self.begin = cut - gone
        self._ends = [end - gone for end in self._ends[-kept:]]
        self.tape.numbers.room = notes.ROOM

    def finish(self) -> None:
        """The cell has ended."""
        if self._ends and len(self._ends) > (kept := self._kept()):
            self._prune(kept)
        if self.tape.rounds.light:
            self.states.snapshot(AGAIN)

    def let_go(self) -> None:
        """Keep no node alive."""
        self._live, self.tape.inside, self.tape.built = (), None, []


def single_root_value(roots: Any) -> float | None:
    """The value of the only root of a call, if that is a tensor (and no edge) with one finite number."""
    return finite(value_of(roots[0])) if len(roots) == 1 and is_tensor(roots[0]) else None


def is_implied(gradient: Any, tape: Tape) -> bool:
    """Whether a gradient is the 1 from which a call starts without one."""
    if gradient is None or tape.ids.known(gradient) is not None or math.prod(gradient.shape) != 1:
        return gradient is None
    data = array_of(gradient)
    return data is not None and data.item() == 1


def norm_of(gradients: Iterable[Any]) -> float | None:
    """The Euclidean norm of all numbers of some gradients; None where it is not finite, or there are none."""
    arrays = [array for g in gradients if g is not None and (array := array_of(g)) is not None]
    squares = sum(float(np.vdot(a, a).real) for a in arrays)
    if not math.isfinite(squares):  # perhaps only the squares are too large for the dtype
        with np.errstate(all="ignore"):
            squares = sum(float((np.abs(a).astype(float) ** 2).sum()) for a in arrays)
    return math.sqrt(squares) if arrays and math.isfinite(squares) else None
