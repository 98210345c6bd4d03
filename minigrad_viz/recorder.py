"""The recorder: it writes down what a cell does, and changes nothing.

Note [What the recorder keeps]
    While it records, it knows tensors and nodes by their ids (see Note [Identity]) and keeps none alive.
    During a backward call it holds the nodes of the graph and has hooks on each of them; the hooks refer
    to the recorder and to names, never to their node. A fault of the recorder must not become an error of
    the cell: the first one ends the recording, and `stop` raises it.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from .events import (
    BackwardEnded,
    BackwardStarted,
    Created,
    Deposited,
    Detached,
    Forward,
    Mutated,
    NodeRan,
    Trace,
)
from .ledger import Ledger
from .protocol import Value, edges_of, is_tensor, saved_of, value_of, variable_of
from .sources import Source, sources
from .where import Locator, Span


def observing(method: Callable[..., None]) -> Any:
    """A method through which a source tells: quiet while the recorder itself reads tensors, and it never
    raises."""

    @functools.wraps(method)
    def careful(self: Recorder, *args: Any) -> None:
        if self.busy or self.problem is not None:
            return
        self.busy = True
        try:
            with self.shield():
                method(self, *args)
        except Exception as problem:
            self.problem = problem
        finally:
            self.busy = False

    return careful


class Recorder(Ledger):
    """Records one cell: `source` runs with `namespace` as its globals. Use it between `start()` and `stop()`.

    `busy` is true while the recorder works.
    """

    def __init__(
        self, source: str, namespace: dict[str, Any], watched: Iterable[Source] | None = None
    ) -> None:
        super().__init__(namespace)
        self.source = source
        self.watched = list(sources() if watched is None else watched)
        self.locator = Locator(source, namespace)
        self.busy = False
        self.shield: Callable[[], Any] = (
            contextlib.nullcontext
        )  # entered to read tensors; a source may set it
        self.problem: Exception | None = None
        self._depth = 0
        self._creates = False  # whether the running call builds a graph
        self._names: dict[int, str | None] = {}  # by span
        self._live: list[tuple[str, Any]] = []  # nodes of the running backward call
        self._handles: list[Any] = []
        self._before: dict[str, Value | None] = {}  # a leaf's gradient just before the deposit
        self._wanted: list[str] = []  # the tensors whose gradients grad() is to return

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
        self._forget()
        if self.problem is not None:
            raise self.problem
        self.call = 0
        with self.shield():
            return self._finish(error)

    def _finish(self, error: BaseException | None) -> Trace:
        """Take in what the variables are at the end, and put the trace together."""
        self.adopt([t.grad_fn for _, t in self.variables() if self.ids.known(t) and t.grad_fn is not None])
        self.snapshot("end")
        named = self.named()
        rest = self.walk([t.grad_fn for _, t in named if t.grad_fn is not None])
        nodes = tuple(self.freeze(name, node) for name, node in rest if name not in self.frozen)
        inner = [(name, t) for name, t in self.parameters() if self.ids.known(t)]
        names = tuple((self.ids.known(t) or "", name) for name, t in [*named, *inner])
        text = None if error is None else describe(error)
        return Trace(self.source, tuple(self.events), text, names, nodes)

    def _forget(self) -> None:
        """Remove every hook and let go of every node."""
        for handle in self._handles:
            handle.remove()
        self._handles, self._live = [], []

    # ── what sources tell: forward ──────────────────────────────────────────────────────────────────────────

    @observing
    def created(self, tensor: Any) -> None:
        """A tensor was made from data."""
        if not self.call:
            span, name = self._place()
            self.events.append(Created(self.state_of(tensor, self.ids.new(tensor)), span, name))

    @observing
    def forward(self, title: str, inputs: list[Any], results: list[Any], grad_enabled: bool) -> None:
        """An op ran. Inside a backward call it counts only if the call builds a graph and the result is
        part of it."""
        results = [t for t in results if is_tensor(t)]
        if self.call and not (self._creates and any(t.requires_grad for t in results)):
            return
        span, name = self._place()
        ids, arguments = [], []
        for value in inputs:
            tensor = is_tensor(value)
            ids.append(self.id_of(value) if tensor else None)
            arguments.append(None if tensor else str(value))
        states = tuple(self.state_of(t, self.ids.claim(t)) for t in results)
        event = Forward(title, tuple(ids), tuple(arguments), states, grad_enabled, span, name, self.call)
        self.events.append(event)

    @observing
    def detached(self, source: Any, result: Any) -> None:
        """`detach()` was called."""
        if not self.call:
            span, name = self._place()
            before = self.id_of(source)
            self.events.append(Detached(before, self.state_of(result, self.ids.new(result)), span, name))

    @observing
    def mutated(self, title: str, values: list[Any]) -> None:
        """An op wrote into the first of `values`; a tensor that nobody has seen yet is left for later."""
        tensor = values[0]
        before = self.ids.object(tensor)
        if self.call or before is None:
            return
        span, _ = self._place()
        others = tuple(self.id_of(t) if is_tensor(t) else None for t in values[1:])
        after = self.ids.known(tensor) or self.ids.new(tensor)
        self.events.append(Mutated(title, before, self.state_of(tensor, after), (before, *others), span))

    @observing
    def adopt_within(self, results: list[Any]) -> None:
        """Give ids to nodes inside an op that is made of several, before the op itself is told."""
        nodes = [t.grad_fn for t in results if t.grad_fn is not None]
        inner = [n for node in dict.fromkeys(nodes) for n, _ in edges_of(node) if n is not None]
        self.adopt(inner, users=nodes)

    # ── what sources tell: backward ─────────────────────────────────────────────────────────────────────────

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
        names = tuple(self.id_of(t) for t in roots)
        nodes = [t.grad_fn for t in roots if t.grad_fn is not None]
        self.adopt(nodes)
        self._wanted = [self.id_of(t) for t in wanted or ()]
        self.calls += 1
        self.snapshot("before")
        given = tuple(None if g is None else value_of(g) for g in gradients)
        ids = tuple(self.id_of(g) if g is not None and create_graph else None for g in gradients)
        self._live = list(self.walk(nodes))
        frozen = tuple(self.freeze(name, node) for name, node in self._live)
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
            self.adopt([g.grad_fn for g in built if g is not None and g.grad_fn is not None], tensors=built)
        freed = tuple(name for name, node in self._live if any(kept.freed for kept in saved_of(node)))
        found = zip(self._wanted, results, strict=False)
        captured = tuple((name, None if g is None else value_of(g)) for name, g in found)
        self._forget()
        text = None if error is None else describe(error)
        self.events.append(BackwardEnded(self.call, text, freed, captured))
        self.call = 0
        self.snapshot("after")

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
            self.events.append(Deposited(self.call, name, self.id_of(tensor), before, added, after))

    @observing
    def _ran(self, name: str, sent: Any, received: Any) -> None:
        """The post-hook of every other node."""
        if self._depth != 1:
            return
        got = tuple(None if g is None else value_of(g) for g in received)
        values = tuple(None if g is None else value_of(g) for g in sent)
        ids = tuple(self.id_of(g) if g is not None and g.grad_fn is not None else None for g in sent)
        self.events.append(NodeRan(self.call, name, got, values, ids))

    # ── tensors and nodes ───────────────────────────────────────────────────────────────────────────────────

    def _place(self) -> tuple[Span | None, str | None]:
        """Where in the source the user's code stands, and the name its result will get."""
        span = self.locator.here(4)
        if span is None:
            return None, None
        key = id(span)  # the locator keeps its spans, so the id stays
        if key not in self._names:
            self._names[key] = self.locator.name_of(span)
        return span, self._names[key]


def describe(error: BaseException) -> str:
    """An error as one line: class and text."""
    return f"{type(error).__name__}: {error}".strip()
