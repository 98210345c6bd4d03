"""The recorder: an observer that writes down what a cell does, and changes nothing.

Note [What the recorder keeps]
    While it records, it finds tensors and nodes again by weak reference (leaves, constants), by (node, output number)
    (results), and by a number in the node's `metadata`. It keeps none alive. During a backward call it has a post-hook
    on every node of the graph; the hooks refer to the recorder and to a number, never to their node.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from minigrad import modes

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
from .protocol import (
    Value,
    edges_of,
    is_parameter,
    is_tensor,
    node_name,
    saved_of,
    value_of,
    variable_of,
)
from .walk import in_order
from .where import Locator

_serial = itertools.count()
ADOPTED = 5000  # nodes of an older graph that are taken in


class Recorder:
    """Records one cell: `source` runs with `namespace` as its globals. Use it between `start()` and `stop()`."""

    def __init__(self, source: str, namespace: dict[str, Any]) -> None:
        self.source = source
        self.namespace = namespace
        self.locator = Locator(source, namespace)
        self.events: list[Event] = []
        self.call = 0  # number of the backward call that is running, 0 outside
        self.calls = 0
        self._depth = 0
        self._key = ("minigrad_viz", next(_serial))
        self._objects: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._outputs: dict[tuple[str | None, int], str] = {}
        self._tensors = itertools.count()
        self._nodes = itertools.count()
        self._frozen: dict[str, NodeState] = {}
        self._live: list[tuple[str, Any]] = []  # nodes of the running backward call
        self._handles: list[Any] = []
        self._grads: dict[str, Value | None] = {}
        self._inputs: list[str] = []
        self._watched: list[tuple[str, weakref.ref[Any]]] = []

    # ── ids ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def node_id(self, node: Any) -> str:
        """The id of a node, given on first sight."""
        known = node.metadata.get(self._key)
        if known is None:
            known = node.metadata[self._key] = f"n{next(self._nodes)}"
        return known

    def known_id(self, tensor: Any) -> str | None:
        """The id of a tensor that was seen before."""
        fn = tensor.grad_fn
        if fn is not None:
            return self._outputs.get((fn.metadata.get(self._key), tensor.output_nr))
        entry = self._objects.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else None

    def new_id(self, tensor: Any) -> str:
        """A fresh id for a tensor."""
        name = f"t{next(self._tensors)}"
        fn = tensor.grad_fn
        if fn is not None:
            self._outputs[self.node_id(fn), tensor.output_nr] = name
        self._objects[id(tensor)] = (weakref.ref(tensor), name)
        return name

    def tensor_id(self, tensor: Any) -> str:
        """The id of a tensor; one that was never seen came along from before the cell."""
        known = self.known_id(tensor)
        if known is None:
            known = self.new_id(tensor)
            self.events.append(Created(self.state(tensor, known), None, None))
        return known

    def state(self, tensor: Any, id: str) -> TensorState:
        """A tensor as it stands now."""
        fn = tensor.grad_fn
        grad = tensor.grad if fn is None or tensor.retains_grad else None
        return TensorState(
            id=id,
            value=value_of(tensor),
            grad=None if grad is None else value_of(grad),
            requires_grad=tensor.requires_grad,
            is_leaf=fn is None,
            retains_grad=tensor.retains_grad,
            grad_fn=None if fn is None else node_name(fn),
            node=None if fn is None else self.node_id(fn),
            version=tensor._version,
            parameter=is_parameter(tensor),
        )

    def _place(self) -> tuple[Any, str | None]:
        """Where in the source the user's code stands, and the name its result will get."""
        span = self.locator.here(3)
        return span, None if span is None else self.locator.name_of(span)

    # ── what the engine tells ───────────────────────────────────────────────────────────────────────────────────────

    def created(self, tensor: Any) -> None:
        """A tensor was made from data."""
        span, name = self._place()
        if not self.call:
            self.events.append(Created(self.state(tensor, self.new_id(tensor)), span, name))

    def forward(self, op: Any, inputs: list[Any], outputs: Any) -> None:
        """An op ran."""
        span, name = self._place()
        results = [t for t in (outputs if isinstance(outputs, tuple | list) else (outputs,)) if is_tensor(t)]
        if self.call and not any(t.requires_grad for t in results):
            return
        title = getattr(op, "name", None) or getattr(op, "__name__", "")
        if self.call and title == "copy":
            inputs = inputs[1:]  # the destination is new memory, nobody's tensor
        ids = tuple(self.tensor_id(t) if is_tensor(t) else None for t in inputs)
        arguments = tuple(None if is_tensor(a) else str(a) for a in inputs)
        states = tuple(self.state(t, self.known_id(t) or self.new_id(t)) for t in results)
        enabled = modes.is_grad_enabled()
        self.events.append(Forward(title, ids, arguments, states, enabled, span, name, self.call))

    def detached(self, source: Any, result: Any) -> None:
        """`detach()` was called."""
        span, name = self._place()
        if not self.call:
            before = self.tensor_id(source)
            self.events.append(Detached(before, self.state(result, self.new_id(result)), span, name))

    def mutated(self, op: Any, values: list[Any]) -> None:
        """An op wrote into its first argument."""
        span, _ = self._place()
        tensor, *others = values
        entry = self._objects.get(id(tensor))
        before = entry[1] if entry is not None and entry[0]() is tensor else None
        if self.call or before is None:
            return
        after = self.known_id(tensor) or self.new_id(tensor)
        ids = (before, *(self.tensor_id(t) if is_tensor(t) else None for t in others))
        self.events.append(Mutated(op.name, before, self.state(tensor, after), ids, span))

    def backward_started(self, roots: Any, gradients: Any, options: Any) -> None:
        """A backward call starts: freeze its graph and listen to its nodes."""
        self._depth += 1
        if self._depth > 1:  # a call from inside a hook or a custom backward
            return
        span, _ = self._place()
        names = tuple(self.tensor_id(t) for t in roots)
        self.adopt([t.grad_fn for t in roots if t.grad_fn is not None])
        if self.calls == 0:
            self.snapshot()
        self.calls += 1
        self.call = self.calls
        self._watched = [(self.tensor_id(t), weakref.ref(t)) for t in options.inputs or ()] if options.call == "grad" else []
        self._live = list(self._walk([t.grad_fn for t in roots if t.grad_fn is not None]))
        nodes = tuple(self.freeze(name, node) for name, node in self._live)
        self._frozen.update((n.id, n) for n in nodes)
        for name, node in self._live:
            self._handles.append(node.register_hook(self._listener(name, variable_of(node) is not None)))
        given = tuple(None if g is None else value_of(g) for g in gradients)
        ids = tuple(self.tensor_id(g) if g is not None and options.create_graph else None for g in gradients)
        started = BackwardStarted(self.call, options.call, names, given, ids, options.create_graph, nodes, span)
        self.events.append(started)

    def backward_ended(self, error: BaseException | None, results: Any = None) -> None:
        """The call ended: remove every hook, note what was freed."""
        self._depth -= 1
        if self._depth:
            return
        for handle in self._handles:
            handle.remove()
        freed = tuple(name for name, node in self._live if any(kept.freed for kept in saved_of(node)))
        self._handles, self._live = [], []
        captured = tuple((name, None if g is None else value_of(g)) for (name, _), g in zip(self._watched, results or (), strict=False))
        text = None if error is None else describe(error)
        self.events.append(BackwardEnded(self.call, text, freed, captured))
        self.call = 0
        self.snapshot()

    def _listener(self, name: str, leaf: bool) -> Any:
        """The post-hook of one node."""
        call = self.call

        def ran(sent: Any, received: Any) -> None:
            got = tuple(None if g is None else value_of(g) for g in received)
            ids = tuple(self.known_id(g) if g is not None and g.grad_fn is not None else None for g in sent)
            self.events.append(NodeRan(call, name, got, tuple(None if g is None else value_of(g) for g in sent), ids))

        def deposited(sent: Any, received: Any) -> None:
            ran(sent, received)
            state = self._frozen[name]
            tensor = self._tensor(state.variable)
            if tensor is None or tensor.grad is None or received[0] is None:
                return
            after = value_of(tensor.grad)
            before = self._grads.get(state.variable or "")
            self._grads[state.variable or ""] = after
            self.events.append(Deposited(call, name, state.variable or "", before, value_of(received[0]), after))

        return deposited if leaf else ran

    def _tensor(self, id: str | None) -> Any:
        """The live tensor of an id, if it is a leaf or constant and still exists."""
        return next((ref() for ref, name in self._objects.values() if name == id), None)

    def _walk(self, roots: list[Any]) -> Any:
        """Every node that can be reached, roots first, each once; never recursive."""
        stack, seen = list(reversed(roots)), set()
        while stack:
            node = stack.pop()
            name = self.node_id(node)
            if name in seen:
                continue
            seen.add(name)
            yield name, node
            stack.extend(n for n, _ in reversed(edges_of(node)) if n is not None)

    def adopt(self, roots: list[Any]) -> None:
        """Give ids to the tensors of a graph that was built before the cell, inputs first. What nobody has any more is
        known by its node alone."""
        order, _ = in_order(roots, ADOPTED)
        strange = [n for n in order if variable_of(n) is None and (n.metadata.get(self._key), 0) not in self._outputs]
        if not strange:
            return
        known = {}
        for tensor in (t for t in self.namespace.values() if is_tensor(t) and t.grad_fn is not None):
            known.setdefault((tensor.grad_fn, tensor.output_nr), tensor)
        for kept in (k.value for n in order for k in saved_of(n)):
            if is_tensor(kept) and kept.grad_fn is not None:
                known.setdefault((kept.grad_fn, kept.output_nr), kept)
        for node in order:
            variable = variable_of(node)
            if variable is not None:
                self.tensor_id(variable)
            elif (node, 0) in known:
                self.tensor_id(known[node, 0])
            elif (self.node_id(node), 0) not in self._outputs:
                name = self._outputs[self.node_id(node), 0] = f"t{next(self._tensors)}"
                unseen = TensorState(name, None, None, True, False, None, node_name(node), self.node_id(node), 0)
                self.events.append(Created(unseen, None, None))

    def freeze(self, name: str, node: Any) -> NodeState:
        """A node as it stands now."""
        variable = variable_of(node)
        leaf = None
        if variable is not None:
            leaf = self.tensor_id(variable)
            self._grads[leaf] = None if variable.grad is None else value_of(variable.grad)
        saved = tuple(
            Saved(
                kept.name,
                value_of(kept.value) if is_tensor(kept.value) else None if kept.freed else str(kept.value),
                kept.value._version if is_tensor(kept.value) else None,
                kept.freed,
            )
            for kept in saved_of(node)
        )
        edges = tuple(None if n is None else (self.node_id(n), nr) for n, nr in edges_of(node))
        return NodeState(name, node_name(node), saved, edges, leaf, 0)

    # ── moments ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def named(self) -> list[tuple[str, Any]]:
        """The variables of the namespace that are tensors of this trace, in the order in which the tensors came."""
        found = []
        for name, value in self.namespace.items():
            if name.startswith("_") or not is_tensor(value):
                continue
            known = self.known_id(value)
            if known is not None:
                found.append((int(known[1:]), name, value))
        return [(name, value) for _, name, value in sorted(found, key=lambda f: f[:2])]

    def snapshot(self) -> None:
        """Write down every named tensor, and `.grad` where it has become a tensor of the trace itself."""
        rows = []
        for name, tensor in self.named():
            rows.append((name, self.state(tensor, self.known_id(tensor) or "")))
            grad = tensor.grad if tensor.grad_fn is None else None
            if grad is not None and self.known_id(grad) is not None:
                rows.append((f"{name}.grad", self.state(grad, self.known_id(grad) or "")))
        self.events.append(Snapshot(self.calls, tuple(rows)))

    # ── beginning and end ───────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Begin to observe this thread."""
        modes.add_observer(self)

    def stop(self, error: BaseException | None = None) -> Trace:
        """Stop observing and give the trace; `error` is what ended the cell."""
        modes.remove_observer(self)
        for handle in self._handles:
            handle.remove()
        if self.calls == 0:
            self.snapshot()
        named = self.named()
        roots = [t.grad_fn for _, t in named if t.grad_fn is not None]
        self.adopt(roots)
        rest = tuple(self.freeze(name, node) for name, node in self._walk(roots) if name not in self._frozen)
        names = [(self.known_id(t) or "", n) for n, t in named]
        for n, t in named:
            grad = t.grad if t.grad_fn is None else None
            if grad is not None and self.known_id(grad) is not None:
                names.append((self.known_id(grad) or "", f"{n}.grad"))
        trace = Trace(self.source, tuple(self.events), None if error is None else describe(error), tuple(names), rest)
        self._objects.clear()
        self._outputs.clear()
        self._live = []
        return trace


def describe(error: BaseException) -> str:
    """An error as one line: class and text."""
    return f"{type(error).__name__}: {error}".strip()
