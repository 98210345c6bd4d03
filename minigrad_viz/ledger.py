"""Live tensors and nodes → data: what the recorder writes down of them, and by which ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .events import Created, Event, Forward, Mutated, NodeState, Snapshot, TensorState
from .ids import Ids
from .protocol import (
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
from .walk import chips, in_order

ADOPTED = 5000  # nodes of an older graph that are taken in


class Ledger:
    """The events of a cell whose variables are in `namespace`.

    `calls` counts the backward calls; `call` is the number of the one that is running, 0 outside.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.events: list[Event] = []
        self.ids = Ids()
        self.call = 0
        self.calls = 0
        self.frozen: set[str] = set()  # nodes that were written down

    def id_of(self, tensor: Any) -> str:
        """The id of a tensor. One that was never seen came from before the cell, or from where no source
        sees."""
        known = self.ids.known(tensor)
        if known is not None:
            return known
        before = self.ids.object(tensor)
        if tensor.grad_fn is not None and before is None:
            self.adopt([tensor.grad_fn], tensors=[tensor])
            known = self.ids.known(tensor)
            if known is not None:
                return known
        known = self.ids.new(tensor)
        state = self.state_of(tensor, known)
        if before is not None:  # its memory was written to through a view
            self.events.append(Mutated("", before, state, (before,), None))
        else:
            self.events.append(Created(state, None, None))
        return known

    def state_of(self, tensor: Any, name: str) -> TensorState:
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

    def adopt(self, roots: list[Any], tensors: Iterable[Any] = (), users: Iterable[Any] = ()) -> None:
        """Give ids to what the nodes `roots` and those before them made, inputs first, where nobody has yet.

        The tensors are looked for among `tensors`, the cell's variables, and what the new nodes and
        `users` saved; a result that nobody has any more is known by its node alone.
        """
        order, _ = in_order(roots, ADOPTED, lambda node: self.ids.output(node) is not None)
        strange = [node for node in order if variable_of(node) is None]
        if not strange:
            return
        found: dict[Any, dict[int, Any]] = {node: {0: None} for node in strange}
        for node in (*strange, *users):
            for target, nr in edges_of(node):
                found.get(target, {}).setdefault(nr, None)
        kept = (k.value for node in (*strange, *users) for k in saved_of(node))
        for tensor in (*tensors, *(t for _, t in self.variables()), *kept):
            outputs = found.get(tensor.grad_fn) if is_tensor(tensor) else None
            if outputs is not None and outputs.get(tensor.output_nr) is None:
                outputs[tensor.output_nr] = tensor
        for node in order:
            variable = variable_of(node)
            if variable is None:
                self.adopt_node(node, found[node])
            else:
                self.id_of(variable)

    def adopt_node(self, node: Any, outputs: dict[int, Any]) -> None:
        """Write down the outputs of a node that was found by walking; inside a call, as the op that it
        must have been."""
        states = []
        for nr in range(max(outputs) + 1):
            tensor = outputs.get(nr)
            name = self.ids.unseen(node, nr) if tensor is None else self.ids.new(tensor)
            if tensor is not None:
                states.append(self.state_of(tensor, name))
            else:
                made_by = node_name(node), self.ids.node(node)
                states.append(TensorState(name, None, None, True, False, None, *made_by, 0))
        if not self.call:
            self.events += [Created(state, None, None) for state in states]
            return
        title = node_name(node).rstrip("0123456789").removesuffix("Backward").lower()
        inputs = [None if n is None else self.source_of(n, nr) for n, nr in edges_of(node)]
        others = [str(k.value) for k in saved_of(node) if not k.freed and not is_tensor(k.value)]
        ids = (*inputs, *(None for _ in others))
        arguments = (*(None if i else "…" for i in inputs), *others)
        self.events.append(Forward(title, ids, arguments, tuple(states), True, None, None, self.call))

    def source_of(self, node: Any, nr: int) -> str | None:
        """The tensor whose gradient goes to output `nr` of `node`."""
        variable = variable_of(node)
        return self.ids.output(node, nr) if variable is None else self.id_of(variable)

    def walk(self, roots: list[Any]) -> Iterator[tuple[str, Any]]:
        """Every node that can be reached and was taken in, roots first, each once; never recursive."""
        stack, seen = list(reversed(roots)), set()
        while stack:
            node = stack.pop()
            name = self.ids.node(node)
            if name in seen or (self.ids.output(node) is None and variable_of(node) is None):
                continue
            seen.add(name)
            yield name, node
            stack.extend(n for n, _ in reversed(edges_of(node)) if n is not None)

    def freeze(self, name: str, node: Any) -> NodeState:
        """A node as it stands now."""
        self.frozen.add(name)
        variable = variable_of(node)
        saved = chips(saved_of(node))
        edges = tuple(None if n is None else (self.ids.node(n), nr) for n, nr in edges_of(node))
        made = self.ids.alive(self.ids.output(node)) if variable is None else None
        hooks = hooks_of(node, () if made is None else (made,))
        leaf = None if variable is None else self.id_of(variable)
        return NodeState(name, node_name(node), saved, edges, leaf, hooks)

    # ── moments ─────────────────────────────────────────────────────────────────────────────────────────────

    def variables(self) -> list[tuple[str, Any]]:
        """The variables of the namespace that are tensors."""
        return [(name, t) for name, t in self.namespace.items() if name[:1] != "_" and is_tensor(t)]

    def named(self) -> list[tuple[str, Any]]:
        """The variables that are tensors of this trace, in the order in which the tensors came; and
        `.grad` of one where it has become a tensor of the trace itself."""
        known = [(int(id[1:]), name, t) for name, t in self.variables() if (id := self.ids.known(t))]
        found: list[tuple[str, Any]] = []
        for _, name, tensor in sorted(known, key=lambda entry: entry[0]):
            found.append((name, tensor))
            grad = tensor.grad if tensor.grad_fn is None else None
            if grad is not None and self.ids.known(grad):
                found.append((f"{name}.grad", grad))
        return found

    def parameters(self) -> Iterator[tuple[str, Any]]:
        """The parameters of the modules among the variables, with names like `layer.weight`."""
        todo = [(name, value) for name, value in self.namespace.items() if name[:1] != "_"]
        for name, value in todo:  # grows while it is read
            inside = getattr(value, "__dict__", None)
            if isinstance(inside, dict) and "_parameters" in inside and "_modules" in inside:
                members = [*inside["_parameters"].items(), *inside["_modules"].items()]
                yield from ((f"{name}.{key}", t) for key, t in members if is_tensor(t))
                todo += [(f"{name}.{key}", module) for key, module in inside["_modules"].items()]

    def snapshot(self, when: str) -> None:
        """Write down every named tensor."""
        rows = tuple((name, self.state_of(t, self.ids.known(t) or "")) for name, t in self.named())
        self.events.append(Snapshot(when, self.calls, rows))
