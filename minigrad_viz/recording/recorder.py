"""The recorder: it writes down what a cell does, and changes nothing.

Note [What the recorder keeps]
    While it records, it knows tensors and nodes by their ids (see Note [Identity]) and keeps none alive.
    During a backward call it holds the nodes of the graph; where a library has no observers it has hooks on
    each of them, which refer to the recorder and to keys, never to their node. A fault of the recorder must
    not become an error of the cell: the first one ends the recording, and `stop` raises it.
"""

from __future__ import annotations

import functools
import math
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import numpy as np

from ..protocol import (
    array_of,
    edge_of,
    edges_of,
    finite,
    has_history,
    history_of,
    is_tensor,
    overlap,
    raw_array,
    text_of,
    value_of,
    variable_of,
)
from ..sources import Library, sources
from ..trace import notes
from ..trace.events import (
    AGAIN,
    BackwardEnded,
    BackwardStarted,
    Inside,
    Later,
    ModeChanged,
    Mutated,
    Trace,
)
from ..trace.ids import Ids
from ..trace.statements import Progress
from ..trace.walk import counting
from ..trace.where import Locator, Spot
from .compared import compared
from .crossing import Crossing, named_by
from .grads import Grads
from .guard import OPEN, observing, watching_lightly
from .listener import Listener, values_of
from .modules import Modules
from .named import assignment, named_tensors
from .packing import Packing
from .pruning import KEPT_CALLS, deposits_in, prune
from .resting import Rest, Rounds
from .states import States
from .stepping import OptimizerSteps


class Recorder:
    """Records one cell: `source` runs with `namespace` as its globals. Use it between `start()` and `stop()`.

    With `whole`, all of `source` runs in between; without, it is a file of which only a part may. It has ids,
    notes of the events that will be made (see Note [Notes] in `notes`), and parts that are told of their own
    matters: `states`, `grads`, `crossing`, `listener`, `packing`, `modules` and `steps`.

    `calls` counts the backward calls; `call` is the number of the one that is running, 0 outside; `depth` is
    greater than 1 inside one that runs inside another. `busy` is true while tensors are read for this; what
    went wrong first is `problem`.
    """

    def __init__(
        self,
        source: str,
        namespace: dict[str, Any],
        watched: Iterable[Library] | None = None,
        whole: bool = True,
    ) -> None:
        self.namespace = namespace
        self.source = source
        self.whole = whole
        self.watched = list(sources() if watched is None else watched)
        self.locator = Locator(source, namespace)
        self.notes: list[Any] = []
        self.numbers = notes.Numbers()
        self.spots: list[Any] = []  # points in the source that notes refer to by number
        self.ids = Ids()
        self.busy = False
        self.shield: Callable[[], Any] = OPEN  # to read tensors; a source may set it
        self.problem: Exception | None = None
        self.call = self.calls = self.depth = 0
        self.states = States(self)
        self.grads = Grads(self)
        self.crossing = Crossing(self)
        self.listener = Listener(self)
        self.packing = Packing(self)
        self.modules = Modules(self)
        self.steps = OptimizerSteps(self)
        self.rest = Rest()
        self.creates = False  # whether the running call builds a graph
        self.skipped = 0
        self.light = Rounds()
        self.rounds: list[float | None] = []  # the value of the root of each call
        self.norms: list[float | None] = []  # the norm of the gradients of each call
        self._leaves: list[weakref.ref[Any]] = []  # of the newest call in full
        self._noted = 0  # how many notes there were when the newest call in full had ended
        self.unkept: Counter[str] = Counter()  # the deposits in those calls, by leaf
        self.inside: Any = None  # the key of the custom Function whose backward runs
        self._nested = 0
        self.step = self._step = 0  # a source may number what it tells, if it tells of one op several times
        self._places: dict[int, int] = {}
        self._ends: list[int] = []  # where the notes of each call end that is kept
        self._live: Any = ()  # nodes of the running call
        self._keys: list[Any] = []  # theirs
        self._lost: Callable[..., list[Any]]  # says which have let go of what they saved
        self._budget = 1  # notes of the running library before its loops are watched more lightly
        self.compared: tuple[Any, ...] = ()  # the arguments of the last comparison in a gradcheck
        self._wanted: tuple[str, ...] = ()  # the tensors whose gradients grad() is to return

    @property
    def recorder(self) -> Recorder:
        """Itself, as its parts have it."""
        return self

    # ── beginning and end ───────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Begin to observe this thread."""
        for source in self.watched:
            source.attach(self)

    def stop(self, error: BaseException | None = None) -> Trace:
        """Stop observing and give the trace; `error` is what ended the cell. Raises what went wrong while
        recording."""
        for source in reversed(self.watched):
            source.detach()
        self.listener.stop()
        self._live, self.inside, self.steps.open = (), None, None
        if self.problem is not None:
            raise self.problem
        self.call = 0
        with self.shield():
            return self._finish(error)

    def _finish(self, error: BaseException | None) -> Trace:
        """Take in what the variables are at the end, and put the trace together."""
        self.states.adopt(
            [t.grad_fn for _, t in self.states.variables() if self.ids.known(t) and t.grad_fn is not None]
        )
        if len(self._ends) > KEPT_CALLS:
            self._prune()
        if self.light.light:
            self.states.snapshot(AGAIN)
        tops = self.locator.tops
        spot, top, frame = self.locator.raised(None if error is None else error.__traceback__)
        if self.whole:
            self.notes.append(("finished", len(tops) - 1 if error is None else top))
        if error is not None:
            span = None if spot is None else spot.span
            rows = [
                (text, self.states.state_of(t, self.states.id_of(t)))
                for text, t in named_tensors(spot, frame)
            ]
            self.notes.append(("failed", describe(error), span, rows, compared(error, self.compared)))
        self.compared = ()
        self.states.snapshot("end")
        named = self.states.named()
        rest = self.states.walk([t.grad_fn for _, t in named if t.grad_fn is not None], self.states.frozen)
        count = counting()
        nodes = tuple(notes.counted(self.states.freeze(key, node), count) for key, node in rest)
        inner = [(name, t) for name, t in self.states.parameters() if self.ids.known(t)]
        names = tuple((self.ids.known(t) or "", name) for name, t in [*named, *inner])
        writer = notes.Writer(self.ids, self.spots, Progress(tops, self.whole))
        events = Later(functools.partial(writer.events, self.notes))
        text = None if error is None else describe(error)
        unkept = tuple(self.unkept.items())
        more = {"deposits": unkept, "counted": self.rest.counted, "rounds": tuple(self.rounds)}
        more |= {"norms": tuple(self.norms), "light": self.light.counted}
        skipped = self.skipped + self.light.counted
        return Trace(self.source, events, text, names, nodes, skipped, **more)  # type: ignore[arg-type]

    # ── what sources tell: forward ──────────────────────────────────────────────────────────────────────────

    @observing
    def forward(
        self, title: str, inputs: list[Any], results: list[Any], grad_enabled: bool, ghost: str = ""
    ) -> None:
        """An op ran, which would have left a node called `ghost` with the grad mode on. Inside a backward
        call it counts only if the call builds a graph and the result is part of it."""
        results = [t for t in results if is_tensor(t)]
        if self.packing.again:
            return
        if self.call and not (self.creates and any(t.requires_grad for t in results)):
            return
        spot = self.own_place()
        at = notes.NOWHERE if spot is None else (self.place_of(spot), None, None)
        given = tuple(self.states.id_of(v) if is_tensor(v) else (text_of(v),) for v in inputs)
        rows = tuple(self.states.state_of(t, self.ids.claim(t)) for t in results)
        shares = self._viewed(inputs, given, results) if results else ""
        self.notes.append(("forward", title, given, rows, grad_enabled, at, self.call, shares, ghost))
        self.rest.note(*results)

    def _viewed(self, inputs: list[Any], given: tuple[Any, ...], results: list[Any]) -> str:
        """The input whose memory the results of an op use; "" if they have their own."""
        if not (results[0]._is_view() or results[0].is_inference()):
            return ""
        parts = [raw_array(t) for t in results]
        for value, name in zip(inputs, given, strict=True):
            memory = raw_array(value) if name.__class__ is str else None
            if memory is not None and all(overlap(part, memory) for part in parts):
                self.crossing.share(value, *results)
                return str(name)
        return ""

    @observing
    def mutated(self, title: str, values: list[Any], version: int, before: str | None = None) -> None:
        """An op wrote into the first of `values`, whose version was `version` and id `before`, if that is
        known; a tensor that nobody has seen yet is left for later."""
        tensor = values[0]
        if self.call:
            return
        readable = has_history(tensor)
        spot = self.place()
        span = self.write_at(spot)
        if readable:
            self.grads.written(title, tensor, version, span)
        before = self.ids.object(tensor) or before
        if before is None:
            return
        others = tuple(self.states.id_of(t) if is_tensor(t) else None for t in values[1:])
        if readable:
            self.states.rebase(tensor)
        after = (self.ids.known(tensor) or self.ids.new(tensor)) if readable else before
        state = self.states.state_of(tensor, after)
        also = self.crossing.sharing(tensor)
        self.notes.append(("event", Mutated, title, before, state, (before, *others), span, version, also))
        self.rest.note(tensor)

    def write_at(self, spot: Spot | None) -> Any:
        """The span of a write at a point in the source."""
        if spot is not None and spot.statement is not None and assignment(spot) is not None:
            return spot.statement  # `y[0] = 1.`, of which the target is the place
        return named_by(spot)[0]

    @observing
    def grad_set(self, tensor: Any, before: Any) -> None:
        """The cell assigned or deleted `.grad`."""
        if not self.call and has_history(tensor):
            self.grads.assigned(tensor, before, named_by(self.place())[0])

    @observing
    def mode_changed(self, mode: str, enabled: bool) -> None:
        """The cell switched a mode."""
        if not self.call and not self.packing.again:
            self.notes.append(ModeChanged(mode, enabled, named_by(self.place())[0]))

    def mode_stands(self, mode: str, enabled: bool) -> None:
        """A mode is not as usual when the cell begins."""
        self.notes.append(ModeChanged(mode, enabled, None))

    @observing
    def adopt_within(self, results: list[Any]) -> None:
        """Give ids to nodes inside an op that is made of several, before the op itself is told."""
        self.place()
        output, strange = self.ids.output, False
        nodes = [fn for t in results if (fn := history_of(t)) is not None]
        inner = [n for node in nodes for n, _ in edges_of(node) if n is not None]
        for node in inner:
            strange = strange or (output(node) is None and variable_of(node) is None)
        if strange:
            self.states.adopt(inner, users=nodes)

    # ── what sources tell: backward ─────────────────────────────────────────────────────────────────────────

    def backward_started(
        self, library: Any, kind: str, roots: Any, gradients: Any, create_graph: bool, wanted: Any,
        batched: bool = False,
    ) -> None:  # fmt: skip
        """A backward call starts, as the source `library` tells; `wanted` are the tensors or edges whose
        gradients are asked for, None for all leaves."""
        self.depth += 1
        if self.depth > 1:  # from inside a hook or a custom backward
            self._nested += 1
            return
        self._nested = 0
        if self.light.light:
            self._count_call(roots)
        else:
            self._begin_call(library, kind, roots, gradients, create_graph, wanted, batched)

    def backward_ended(self, error: BaseException | None, results: Any = None) -> None:
        """The call ended."""
        self.depth -= 1
        if self.depth == 0 and self.light.light:
            self._end_counted(results or ())
        elif self.depth == 0:
            self._end_call(error, results or ())

    @observing
    def _begin_call(
        self, library: Any, kind: str, roots: Any, gradients: Any, create_graph: bool, wanted: Any,
        batched: bool,
    ) -> None:  # fmt: skip
        """Freeze the graph of the call; the source listens to its nodes from now on."""
        self.rest.wake()
        self.rounds.append(root_of(roots))
        span, _ = named_by(self.place())
        names = tuple(self.states.end_of(t) for t in roots)
        ends = [edge_of(t) or (library.node_at(t), t.output_nr) for t in roots]
        nodes = [node for node, _ in ends if node is not None]
        self.states.adopt(nodes)
        asked = None if wanted is None else tuple(self.states.end_of(t) for t in wanted)
        self._wanted = (asked or ()) if kind == "grad" else ()
        self.calls += 1
        self.states.snapshot("before")
        given = values_of(gradients)
        ids = tuple(self.states.id_of(g) if g is not None and create_graph else None for g in gradients)
        self._live, frozen = library.freeze(nodes)
        self._lost, self._budget = library.lost, library.budget
        self._keys = [row[0] for row in frozen]
        self.states.frozen.update(self._keys)
        self.call, self.creates = self.calls, create_graph
        starts = [(node, nr, g) for (node, nr), g in zip(ends, gradients, strict=True)]
        library.listen(self._live, [s for s in starts if s[0] is not None and variable_of(s[0]) is None])
        told = self.call, kind, names, given, ids, create_graph, (), span, asked, batched
        event = BackwardStarted(*told)
        self.notes.append(("started", event, frozen))

    @watching_lightly
    def _count_call(self, roots: Any) -> None:
        """A call starts that is only counted. See Note [Lighter watching]."""
        self.calls += 1
        self.rounds.append(root_of(roots))

    @watching_lightly
    def _end_counted(self, results: Any) -> None:
        """It ended; perhaps the next ones are watched in full again."""
        leaves = [leaf for ref in self._leaves if (leaf := ref()) is not None]
        self.norms.append(norm_of(results or [leaf.grad for leaf in leaves]))
        known = (self.ids.known(leaf) for leaf in leaves if leaf.grad is not None)
        self.unkept.update(name for name in known if name is not None)
        if self.light.ended(self.calls, 0):
            self.states.snapshot(AGAIN)
            self._noted = len(self.notes)

    @observing
    def _end_call(self, error: BaseException | None, results: Any) -> None:
        """Take in the graph that the call built, note what was freed, remove every hook."""
        leaves = [v for node in self._live if (v := variable_of(node)) is not None]
        self.norms.append(norm_of(results or [leaf.grad for leaf in leaves]))
        if self.creates:
            built = [*results, *(leaf.grad for leaf in leaves)]
            self.states.adopt(
                [g.grad_fn for g in built if g is not None and g.grad_fn is not None], tensors=built
            )
        gone = self._lost(self._keys, self._live, self.listener.ran, error is None and not self._nested)
        self.packing.told_again("")
        found = list(zip(self._wanted, results, strict=False))
        captured = tuple((name, None if g is None else value_of(g)) for name, g in found)
        self.grads.returned(found, self.call)
        self.listener.stop()
        self._live, self.inside, self.packing.again = (), None, 0
        text = None if error is None else describe(error)
        event = BackwardEnded(self.call, text, (), captured, self._nested)
        self.notes.append(("ended", event, gone))
        self.call = 0
        self.states.snapshot("after")
        self._ends.append(len(self.notes))
        if self.light.ended(self.calls, (len(self.notes) - self._noted) / self._budget):
            self._leaves = [weakref.ref(leaf) for leaf in leaves]
            self.modules.forget()
            self.steps.open = None
        if len(self._ends) >= 2 * KEPT_CALLS:
            self._prune()
        self._noted = len(self.notes)

    @observing
    def node_ran(self, node: Any, received: Any, sent: Any) -> None:
        """A node that is no AccumulateGrad ran."""
        if self.depth == 1:
            self.listener.note_run(self.ids.node(node), values_of(received), sent)

    @observing
    def ran_inside(self, title: str, inputs: list[Any], result: Any) -> None:
        """An op ran in the backward of a custom Function."""
        if self.inside is not None and self.depth == 1 and is_tensor(result):
            values = tuple(value_of(v) if is_tensor(v) else text_of(v) for v in inputs)
            spot = self.locator.at(sys._getframe(2))
            span = None if spot is None else spot.span
            name = self.ids.name(self.inside)
            self.notes.append(Inside(self.call, name, title, values, value_of(result), span))

    # ── where, and how much ─────────────────────────────────────────────────────────────────────────────────

    def place(self) -> Spot | None:
        """Where in the source the user's code stands. Outside a backward call it is noted, for the statements
        of the cell."""
        frame: FrameType | None = sys._getframe(2)
        if self.call:
            return self.locator.at(frame)
        spot, top, inner = self.locator.reach(frame)
        before, self._step = self._step, self.step
        if spot is not None and not (self.step and self.step == before):
            self.notes.append(("reached", spot, top, inner))
        return spot

    def own_place(self) -> Spot | None:
        """The same for what an op made; None where a library ran the op for itself, inside a function that
        the cell called: then that expression is not what the op computed."""
        spot = self.place()
        return None if spot is not None and self.locator.inside(sys._getframe(2)) else spot

    def place_of(self, spot: Spot) -> int:
        """The number of a point in the source, for notes."""
        number = self._places.get(id(spot))
        if number is None:
            number = self._places[id(spot)] = len(self.spots)
            self.spots.append(spot)  # which keeps it, so that its identity holds
        return number

    def _prune(self) -> None:
        """Leave out all but the newest calls, and what was for them alone."""
        cut = self._ends[-KEPT_CALLS - 1]
        self.skipped += len(self._ends) - KEPT_CALLS
        self.unkept.update(deposits_in(self.notes[:cut]))
        alive = {known for _, t in self.states.variables() if (known := self.ids.known(t)) is not None}
        before = len(self.notes)
        self.notes[:], self.states.frozen = prune(self.notes, cut, self.ids, alive)
        gone = before - len(self.notes)
        self._ends = [end - gone for end in self._ends[-KEPT_CALLS:]]
        self.numbers.room = notes.ROOM


def root_of(roots: Any) -> float | None:
    """The value of the only root of a call, if that is a tensor (and no edge) with one finite number."""
    return finite(value_of(roots[0])) if len(roots) == 1 and is_tensor(roots[0]) else None


def norm_of(gradients: Iterable[Any]) -> float | None:
    """The Euclidean norm of all numbers of some gradients; None where it is not finite, or there are none."""
    arrays = [array_of(g) for g in gradients if g is not None]
    squares = [float(np.vdot(a, a).real) for a in arrays if a is not None]
    norm = math.sqrt(sum(squares)) if squares and sum(squares) >= 0 else math.inf
    return norm if math.isfinite(norm) else None


def describe(error: BaseException) -> str:
    """An error as one line: class and text."""
    try:
        text = str(error)
    except Exception:  # its own `__str__`
        text = ""
    return f"{type(error).__name__}: {text}".strip()
