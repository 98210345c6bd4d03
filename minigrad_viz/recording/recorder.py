"""The recorder: it writes down what a cell does, and changes nothing.

Note [What the recorder keeps]
    While it records, it knows tensors and nodes by their ids (see Note [Identity]) and keeps none alive.
    During a backward call it holds the nodes of the graph; where a library has no observers it has hooks on
    each of them, which refer to the recorder and to keys, never to their node. A fault of the recorder must
    not become an error of the cell: the first one ends the recording, and `stop` raises it.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from ..isolation import complete_work
from ..protocol import TENSORS, WITH_VARIABLE, has_history, history_of, is_tensor, variable_of
from ..sources import Library, sources
from ..trace import notes
from ..trace.calls import GradOf, Ref
from ..trace.events import AGAIN, CellFailed, InPlaceWrite, Later, ModeChanged, Trace
from ..trace.graph_walk import numbering
from ..trace.statements import Progress
from .backward_calls import BackwardCalls
from .calls import Calls, CellCalls
from .error_frames import gradcheck_comparison, named_by, named_tensors, write_at
from .listener import Listener, Packing, snapshot
from .modules import Modules, held_tensors, loop_variables
from .provenance import Crossing
from .round_states import RoundStates
from .states import States, has_own_memory, overlap, raw_array
from .tape import Tape, describe, observer_method
from .transforms import FEW, Transforms
from .updates import Grads, OptimizerSteps


class Recorder:
    """Records one cell: `source` runs with `namespace` as its globals. Use it between `start()` and `stop()`.

    With `whole`, all of `source` runs in between; without it, `source` is a file of which only a part may
    run. The recorder has a `tape`, and parts that each receive one kind of event: `states`, `grads`,
    `crossing`, `listener`, `packing`, `modules`, `steps` and `backward`. What the cell would need to be
    computed again is noted by `calls`; with `rounds` also the state after the newest rounds of a loop.
    """

    def __init__(
        self,
        source: str,
        namespace: dict[str, Any],
        watched: Iterable[Library] | None = None,
        whole: bool = True,
        rounds: bool = False,
    ) -> None:
        self.tape = Tape(source, namespace)
        self.source = source
        self.whole = whole
        self.watched = list(sources() if watched is None else watched)
        self.states = States(self.tape)
        self.calls = Calls(self.tape, self.states)
        self.calls.rounds = RoundStates(self.tape, self.calls) if rounds else None
        self.cell: CellCalls | None = None  # what `calls` has noted, in the end
        self.grads = Grads(self.tape, self.states, self.calls)
        self.crossing = Crossing(self.tape, self.states, self.calls)
        self.packing = Packing(self.tape)
        self.listener = Listener(self.tape, self.states, self.packing)
        self.modules = Modules(self.tape, self.states.id_of)
        self.steps = OptimizerSteps(self.tape, self.states, self.crossing, self.calls)
        more = self.packing, self.listener, self.modules, self.steps
        self.backward = BackwardCalls(self.tape, self.states, self.calls, *more)
        self.transforms = Transforms(self.tape, self.states, self.backward, self.modules)
        self.compared: tuple[Any, ...] = ()  # the arguments of the last comparison in a gradcheck

    # ── beginning and end ───────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Begin to observe this thread."""
        try:
            for source in self.watched:
                source.attach(self)
        except BaseException:
            complete_work(self.detach)
            raise

    def detach(self) -> None:
        """Stop observing, and leave nothing behind; it may be called again."""
        for source in reversed(self.watched):
            source.detach()
        self.listener.stop()
        self.backward.let_go()
        self.steps.open = None

    def stop(self, error: BaseException | None = None) -> Trace:
        """Stop observing and give the trace; `error` is what ended the cell. Raises what went wrong while
        recording."""
        complete_work(self.detach)
        if self.tape.problem is not None:
            raise self.tape.problem
        self.tape.call = 0
        with self.tape.shield():
            return self._finish(error)

    def _finish(self, error: BaseException | None) -> Trace:
        """Take in what the variables are at the end, and put the trace together."""
        tape = self.tape
        self.states.adopt(
            [t.grad_fn for _, t in tape.variables() if tape.ids.known(t) and t.grad_fn is not None]
        )
        if tape.rest.whole:
            self.modules.forget()
        self.backward.finish()
        tops = tape.locator.tops
        spot, top, frame = tape.locator.raised(None if error is None else error.__traceback__)
        if self.whole:
            tape.notes.append(notes.CellEndNote(len(tops) - 1 if error is None else top))
        if error is not None:
            span = None if spot is None else spot.span
            states, found = self.states, named_tensors(spot, frame)
            rows = tuple((text, states.state_of(t, states.id_of(t))) for text, t in found)
            frames = tuple(dict.fromkeys(tape.locator.frames(error.__traceback__)))
            tape.notes.append(
                CellFailed(describe(error), span, rows, gradcheck_comparison(error, self.compared), frames)
            )
        self.compared = ()
        self.states.snapshot("end")
        named = self.states.named()
        rest = self.states.walk([t.grad_fn for _, t in named if t.grad_fn is not None], self.states.frozen)
        count = numbering()
        nodes = tuple(
            notes.settled_node(self.states.freeze(key, node, ends), count, snapshot)
            for key, node, ends in rest
        )
        inner = [(name, t) for name, t in self.states.parameters() if tape.ids.known(t)]
        held = [
            (way, t)
            for way, t in held_tensors(tape.namespace)
            if (known := tape.ids.known(t)) and (t.is_leaf or known in self.states.adopted)
            if not self.states.owners.origin(t)[0]
        ]
        loops = loop_variables(tape.locator.tree())
        named = sorted([*named, *held], key=lambda entry: entry[0] in loops)  # stable
        names = tuple((tape.ids.known(t) or "", name) for name, t in [*named, *inner])
        writer = notes.Writer(tape.ids, tape.spots, Progress(tops, self.whole))
        events = Later(functools.partial(writer.events, tape.notes))
        text = None if error is None else describe(error)
        calls, light = self.backward, tape.rounds.counted
        leaves = [id for (id, _), (_, t) in zip(names, [*named, *inner]) if t.requires_grad and t.is_leaf]
        if error is not None:
            self.calls.hinder("live_no_error")
        self.cell = self.calls.finish(calls.begin, leaves)
        library = " ".join(sorted({type(t).__module__.partition(".")[0] for _, t in named}))
        trace = Trace(
            self.source, events, text, names, nodes, calls.skipped + light, light=light, library=library
        )
        deposits, values, norms = tuple(calls.unkept.items()), tuple(calls.values), tuple(calls.norms)
        counted, passed = tape.rest.counted, tape.rest.passed
        return trace._replace(deposits=deposits, rounds=values, norms=norms, counted=counted, passed=passed)

    # ── what sources tell: forward ──────────────────────────────────────────────────────────────────────────

    @observer_method
    def forward(
        self, title: str, inputs: Sequence[Any], results: Sequence[Any], grad_enabled: bool, ghost: str = "",
        composite: bool = False, run: Any = None, names: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """An op ran, which would have left a node called `ghost` with the grad mode on; it may be made of
        several that nobody reports (`composite`). Inside a backward call it counts only if the call builds a
        graph and the result is part of it. For `run` and `names` see `OpNote`."""
        tape = self.tape
        if composite:
            self._adopt_within(results, inputs)
        if tape.again or (tape.call and not (tape.creates and any(t.requires_grad for t in results))):
            return
        at, known = tape.op_place(), tape.ids.known
        if len(results) > 1:  # of a dual tensor, the tangent that was given is among them
            results = [
                made for made in results if history_of(made) is not None or known(made) is None
            ] or results
        argument = self.calls.argument
        given = [known(v) if type(v) in TENSORS or is_tensor(v) else argument(v) for v in inputs]
        if None in given:  # what is noted of strange tensors comes after the place
            at = tape.come(at)
            given = [self.states.id_of(v) if g is None else g for v, g in zip(inputs, given, strict=True)]
        rows = tuple(map(self.states.result, results))
        own = not results or has_own_memory(results[0])
        shares = "" if own else self._viewed(inputs, given, results)
        how = grad_enabled, at, tape.call, shares, ghost, 0, run, names
        tape.notes.append(notes.OpNote(title, tuple(given), rows, *how))
        for row in rows:
            if row[3]:  # it requires gradients
                tape.rest.note(False, tape.work)
                break
        else:
            tape.rest.note(True, tape.work)

    def _viewed(self, inputs: Sequence[Any], given: Sequence[Any], results: Sequence[Any]) -> str:
        """The input whose memory the results of an op use; "" if they have their own."""
        parts = [raw_array(t) for t in results]
        for value, name in zip(inputs, given, strict=True):
            memory = raw_array(value) if name.__class__ is str else None
            if memory is not None and all(overlap(part, memory) for part in parts):
                self.states.exits.share(value, *results)
                return str(name)
        return ""

    @observer_method
    def mutated(
        self, title: str, values: list[Any], version: int, before: str | None = None, run: Any = None,
        args: Sequence[Any] = (), options: Any = None, enabled: bool = True, random: Any = None,
    ) -> None:  # fmt: skip
        """An op wrote into the first of `values`, whose version was `version` and id `before`, if that is
        known; a tensor that nobody has seen yet is left for later. `run` does this again, if something can,
        with arguments of which the first is that tensor."""
        tape = self.tape
        tensor = values[0]
        if tape.call:
            return
        readable = has_history(tensor)
        spot = tape.place()
        span = write_at(spot)
        owner = self.grads.note_write(title, tensor, version, span) if readable else None
        before = tape.ids.object(tensor) or before
        if before is None:
            self._note_strange_write(owner, run, args, options, enabled)
            return
        others = tuple(self.states.id_of(t) if is_tensor(t) else None for t in values[1:])
        self.tape.large.forget(tensor)
        if readable:
            self.states.rebase(tensor)
        after = (tape.ids.known(tensor) or tape.ids.new(tensor)) if readable else before
        state = self.states.state_of(tensor, after)
        also = self.crossing.sharing(tensor)
        tape.notes.append(InPlaceWrite(title, before, state, (before, *others), span, version, also))
        if run is not None:
            given = Ref(int(before[1:])), *map(self.calls.template, args[1:])
            named = {name: self.calls.template(value) for name, value in (options or {}).items()}
            kind = "call" if random is None else "draw"
            self.calls.add(kind, run, given, named, (), enabled, random)
        tape.rest.note(not tensor.requires_grad, tape.work)

    def _note_strange_write(
        self, owner: str | None, run: Any, args: Sequence[Any], options: Any, enabled: bool
    ) -> None:
        """A tensor was written to that has no id; it may be the gradient of one that has (`owner`)."""
        others = [value for value in (*args[1:], *(options or {}).values()) if is_tensor(value)]
        if owner is None:
            if any(self.tape.ids.known(other) is not None for other in others):
                self.calls.hinder("live_no_history")
        elif run is not None:
            given = GradOf(int(owner[1:])), *map(self.calls.ref_or_data, args[1:])
            self.calls.add("call", run, given, options, enabled=enabled)

    @observer_method
    def bring(self, tensors: Sequence[tuple[str, Any]]) -> None:
        """Take in tensors as they are before the cell runs, because it may write to them, with the ways to
        them ("" for those inside modules)."""
        for way, tensor in tensors:
            if has_history(tensor):
                self.states.brought.add(self.states.id_of(tensor))
                if not way.isidentifier() and way:
                    self.states.ways.append((way, weakref.ref(tensor)))
        if tensors:
            self.states.snapshot(AGAIN)

    @observer_method
    def grad_set(self, tensor: Any, before: Any) -> None:
        """The cell assigned or deleted `.grad`."""
        if not self.tape.call and has_history(tensor):
            self.grads.assigned(tensor, before, named_by(self.tape.place())[0])

    @observer_method
    def mode_changed(self, mode: str, enabled: bool) -> None:
        """The cell switched a mode."""
        if not self.tape.call and not self.tape.again:
            self.tape.notes.append(ModeChanged(mode, enabled, named_by(self.tape.place())[0]))

    def mode_stands(self, mode: str, enabled: bool) -> None:
        """A mode is not as usual when the cell begins."""
        self.tape.notes.append(ModeChanged(mode, enabled, None))

    @observer_method
    def take_in(self, results: list[Any]) -> None:
        """Take in what a call that is shown as a whole has computed inside, before the call itself is
        reported."""
        self.tape.place()
        for tensor in results:
            self.states.take_in(history_of(tensor), FEW)

    def _adopt_within(self, results: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Give ids to what an op was given, and to nodes inside one that is made of several, before the op
        itself is reported."""
        outputs, key_of = self.tape.ids.outputs, self.tape.ids.key
        for tensor in results:
            node = history_of(tensor)
            for inner, _ in () if node is None else node.next_functions:
                if inner is None or key_of(inner) in outputs:  # the key numbers it, as on minigrad
                    continue
                if inner.__class__ not in WITH_VARIABLE and variable_of(inner) is None:
                    return self._adopt_inner(results, inputs)

    def _adopt_inner(self, results: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Give ids to the nodes inside an op that is made of several."""
        nodes = [fn for t in results if (fn := history_of(t)) is not None]
        inner = [n for node in nodes for n, _ in node.next_functions if n is not None]
        self.tape.place()
        self.states.adopt(inner, tensors=inputs, users=nodes)
