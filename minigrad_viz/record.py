"""The recorder: it writes down what a cell does, and changes nothing.

Note [What the recorder keeps]
    While it records, it knows tensors and nodes by their ids (see Note [Identity]) and keeps none alive. During a backward
    call it holds the nodes of the graph and has hooks on each of them; the hooks refer to the recorder and to names, never
    to their node. A fault of the recorder must not become an error of the cell: the first one ends the recording, and
    `stop` raises it.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .events import (
    BackwardEnded,
    BackwardStarted,
    Created,
    Deposited,
    Detached,
    Event,
    Forward,
    Mutated,
    NodeRan,
    NodeState,
    Snapshot,
    TensorState,
    Trace,
)
from .graph import Saved
from .ids import Ids
from .protocol import (
    Value,
    edges_of,
    hooks_of,
    is_parameter,
    is_tensor,
    node_name,
    saved_of,
    value_of,
    variable_of,
    version_of,
)
from .sources import Source, sources
from .walk import in_order
from .where import Locator, Span

ADOPTED = 5000  # nodes of an older graph that are taken in


def observing(method: Callable[..., None]) -> Any:
    """A method through which a source tells: quiet while the recorder itself reads tensors, and it never raises."""

    @functools.wraps(method)
    def careful(self: Recorder, *args: Any) -> None:
        if self.busy or self.problem is not None:
            return
        self.busy = True
        try:
            method(self, *args)
        except Exception as problem:
            self.problem = problem
        finally:
            self.busy = False

    return careful


class Recorder:
    """Records one cell: `source` runs with `namespace` as its globals. Use it between `start()` and `stop()`.

    `call` is the number of the backward call that is running (0 outside), `busy` true while the recorder works.
    """

    def __init__(
        self, source: str, namespace: dict[str, Any], watched: Iterable[Source] | None = None
    ) -> None:
        self.source = source
        self.namespace = namespace
        self.watched = list(sources() if watched is None else watched)
        self.locator = Locator(source, namespace)
        self.events: list[Event] = []
        self.ids = Ids()
        self.busy = False
        self.problem: Exception | None = None
        self.call = 0
        self.calls = 0
        self._depth = 0
        self._creates = False  # whether the running call builds a graph
        self._names: dict[int, str | None] = {}  # by span
        self._frozen: set[str] = set()
        self._live: list[tuple[str, Any]] = []  # nodes of the running backward call
        self._handles: list[Any] = []
        self._before: dict[str, Value | None] = {}  # a leaf's gradient just before the deposit
        self._wanted: list[str] = []  # the tensors whose gradients grad() is to return

    # ── beginning and end ───────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Begin to observe this thread."""
        for source in self.watched:
            source.attach(self)

    def stop(self, error: BaseException | None = None) -> Trace:
        """Stop observing and give the trace; `error` is what ended the cell. Raises what went wrong while recording."""
        for source in reversed(self.watched):
            source.detach()
        self._forget()
        if self.problem is not None:
            raise self.problem
        self.call = 0
        self._adopt([t.grad_fn for _, t in self._variables() if self.ids.known(t) and t.grad_fn is not None])
        if self.calls == 0:
            self._snapshot("before")
        self._snapshot("end")
        named = self._named()
        rest = self._walk([t.grad_fn for _, t in named if t.grad_fn is not None])
        nodes = tuple(self._freeze(name, node) for name, node in rest if name not in self._frozen)
        names = tuple((self.ids.known(t) or "", name) for name, t in named)
        text = None if error is None else describe(error)
        return Trace(self.source, tuple(self.events), text, names, nodes)

    def _forget(self) -> None:
        """Remove every hook and let go of every node."""
        for handle in self._handles:
            handle.remove()
        self._handles, self._live = [], []

    # ── what sources tell: forward ──────────────────────────────────────────────────────────────────────────────────

    @observing
    def created(self, tensor: Any) -> None:
        """A tensor was made from data."""
        if not self.call:
            span, name = self._place()
            self.events.append(Created(self._state(tensor, self.ids.new(tensor)), span, name))

    @observing
    def forward(self, title: str, inputs: list[Any], results: list[Any], grad_enabled: bool) -> None:
        """An op ran. Inside a backward call it counts only if the call builds a graph and the result is part of it."""
        results = [t for t in results if is_tensor(t)]
        if self.call and not (self._creates and any(t.requires_grad for t in results)):
            return
        span, name = self._place()
        ids, arguments = [], []
        for value in inputs:
            tensor = is_tensor(value)
            ids.append(self._id(value) if tensor else None)
            arguments.append(None if tensor else str(value))
        states = tuple(self._state(t, self.ids.known(t) or self.ids.new(t)) for t in results)
        event = Forward(title, tuple(ids), tuple(arguments), states, grad_enabled, span, name, self.call)
        self.events.append(event)

    @observing
    def detached(self, source: Any, result: Any) -> None:
        """`detach()` was called."""
        if not self.call:
            span, name = self._place()
            before = self._id(source)
            self.events.append(Detached(before, self._state(result, self.ids.new(result)), span, name))

    @observing
    def mutated(self, title: str, values: list[Any]) -> None:
        """An op wrote into the first of `values`; a tensor that nobody has seen yet is left for later."""
        tensor = values[0]
        before = self.ids.object(tensor)
        if self.call or before is None:
            return
        span, _ = self._place()
        others = tuple(self._id(t) if is_tensor(t) else None for t in values[1:])
        after = self.ids.known(tensor) or self.ids.new(tensor)
        self.events.append(Mutated(title, before, self._state(tensor, after), (before, *others), span))

    @observing
    def adopt_within(self, results: list[Any]) -> None:
        """Give ids to nodes inside an op that is made of several, before the op itself is told."""
        nodes = [t.grad_fn for t in results if t.grad_fn is not None]
        inner = [n for node in dict.fromkeys(nodes) for n, _ in edges_of(node) if n is not None]
        self._adopt(inner, users=nodes)

    # ── what sources tell: backward ─────────────────────────────────────────────────────────────────────────────────

    def backward_started(
        self, kind: str, roots: Any, gradients: Any, create_graph: bool, wanted: Any
    ) -> None:
        """A backward call starts; `wanted` are the tensors whose gradients `grad()` is to return."""
        self._depth += 1
        if self._depth == 1:  # else from inside a hook or a custom backward
            self._begin_call(kind, roots, gradients, create_graph, wanted)

    def backward_ended(self, error: BaseException | None, results: Any = None) -> None:
        """The call ended."""
        self._depth -= 1
        if self._depth == 0:
            self._end_call(error, results or ())

    @observing
    def _begin_call(self, kind: str, roots: Any, gradients: Any, create_graph: bool, wanted: Any) -> None:
        """Freeze the graph of the call and listen to its nodes."""
        span, _ = self._place()
        names = tuple(self._id(t) for t in roots)
        nodes = [t.grad_fn for t in roots if t.grad_fn is not None]
        self._adopt(nodes)
        self._wanted = [self._id(t) for t in wanted or ()]
        self.calls += 1
        self._snapshot("before")
        given = tuple(None if g is None else value_of(g) for g in gradients)
        ids = tuple(self._id(g) if g is not None and create_graph else None for g in gradients)
        self._live = list(self._walk(nodes))
        frozen = tuple(self._freeze(name, node) for name, node in self._live)
        self.call, self._creates = self.calls, create_graph
        for name, node in self._live:
            self._listen(name, node)
        self.events.append(BackwardStarted(self.call, kind, names, given, ids, create_graph, frozen, span))

    @observing
    def _end_call(self, error: BaseException | None, results: Any) -> None:
        """Take in the graph that the call built, note what was freed, remove every hook."""
        leaves = [v for _, node in self._live if (v := variable_of(node)) is not None]
        if self._creates:
            built = [*results, *(leaf.grad for leaf in leaves)]
            self._adopt([g.grad_fn for g in built if g is not None and g.grad_fn is not None], tensors=built)
        freed = tuple(name for name, node in self._live if any(kept.freed for kept in saved_of(node)))
        found = zip(self._wanted, results, strict=False)
        captured = tuple((name, None if g is None else value_of(g)) for name, g in found)
        self._forget()
        text = None if error is None else describe(error)
        self.events.append(BackwardEnded(self.call, text, freed, captured))
        self.call = 0
        self._snapshot("after")

    def _listen(self, name: str, node: Any) -> None:
        """Put hooks on a node of the running call."""
        variable = variable_of(node)
        if variable is not None:
            leaf = weakref.ref(variable)
            self._handles.append(node.register_prehook(functools.partial(self._about_to_deposit, name, leaf)))
            self._handles.append(node.register_hook(functools.partial(self._deposited, name, leaf)))
        else:
            self._handles.append(node.register_hook(functools.partial(self._ran, name)))

    @observing
    def _about_to_deposit(self, name: str, leaf: Any, received: Any) -> None:
        """The pre-hook of an AccumulateGrad."""
        self._before[name] = None if leaf() is None or leaf().grad is None else value_of(leaf().grad)

    @observing
    def _deposited(self, name: str, leaf: Any, sent: Any, received: Any) -> None:
        """The post-hook of an AccumulateGrad."""
        if self._depth != 1:
            return
        added = None if received[0] is None else value_of(received[0])
        self.events.append(NodeRan(self.call, name, (added,), (), ()))
        tensor = leaf()
        if tensor is not None and tensor.grad is not None and added is not None:
            after, before = value_of(tensor.grad), self._before.get(name)
            self.events.append(Deposited(self.call, name, self._id(tensor), before, added, after))

    @observing
    def _ran(self, name: str, sent: Any, received: Any) -> None:
        """The post-hook of every other node."""
        if self._depth != 1:
            return
        got = tuple(None if g is None else value_of(g) for g in received)
        values = tuple(None if g is None else value_of(g) for g in sent)
        ids = tuple(self._id(g) if g is not None and g.grad_fn is not None else None for g in sent)
        self.events.append(NodeRan(self.call, name, got, values, ids))

    # ── tensors and nodes ───────────────────────────────────────────────────────────────────────────────────────────

    def _place(self) -> tuple[Span | None, str | None]:
        """Where in the source the user's code stands, and the name its result will get."""
        span = self.locator.here(4)
        if span is None:
            return None, None
        key = id(span)  # the locator keeps its spans, so the id stays
        if key not in self._names:
            self._names[key] = self.locator.name_of(span)
        return span, self._names[key]

    def _id(self, tensor: Any) -> str:
        """The id of a tensor. One that was never seen came from before the cell, or from where no source sees."""
        known = self.ids.known(tensor)
        if known is not None:
            return known
        before = self.ids.object(tensor)
        if tensor.grad_fn is not None and before is None:
            self._adopt([tensor.grad_fn], tensors=[tensor])
            known = self.ids.known(tensor)
            if known is not None:
                return known
        known = self.ids.new(tensor)
        state = self._state(tensor, known)
        if before is not None:  # its memory was written to through a view
            self.events.append(Mutated("", before, state, (before,), None))
        else:
            self.events.append(Created(state, None, None))
        return known

    def _state(self, tensor: Any, name: str) -> TensorState:
        """A tensor as it stands now."""
        fn = tensor.grad_fn
        retains = tensor.retains_grad
        grad = tensor.grad if fn is None or retains else None
        return TensorState(
            name,
            value_of(tensor),
            None if grad is None else value_of(grad),
            fn is not None or tensor.requires_grad,
            fn is None,
            retains,
            None if fn is None else node_name(fn),
            None if fn is None else self.ids.node(fn),
            version_of(tensor),
            fn is None and is_parameter(tensor),
        )

    def _adopt(self, roots: list[Any], tensors: Iterable[Any] = (), users: Iterable[Any] = ()) -> None:
        """Give ids to what the nodes `roots` and those before them made, inputs first, where nobody has yet.

        The tensors are looked for among `tensors`, the cell's variables, and what the new nodes and `users` saved; a
        result that nobody has any more is known by its node alone.
        """
        order, _ = in_order(roots, ADOPTED, lambda node: self.ids.output(node) is not None)
        strange = [node for node in order if variable_of(node) is None]
        if not strange:
            return
        kept = (k.value for node in [*strange, *users] for k in saved_of(node))
        found: dict[tuple[Any, int], Any] = {}
        for tensor in [*tensors, *(t for _, t in self._variables()), *kept]:
            if is_tensor(tensor) and tensor.grad_fn is not None:
                found.setdefault((tensor.grad_fn, tensor.output_nr), tensor)
        for node in order:
            variable = variable_of(node)
            if variable is not None:
                self._id(variable)
                continue
            made = [t for (fn, _), t in found.items() if fn is node] if len(found) < 3 else None
            del made
            tensor = found.get((node, 0))
            self._adopt_output(node, tensor)
