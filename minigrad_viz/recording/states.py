"""Live tensors and nodes → data: what the recorder writes down about them, their ids, and which of them share
gradients and memory."""

from __future__ import annotations

import itertools
import operator
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np

import minigrad
from minigrad import Tensor, get_dialect, observing
from minigrad.observing import DIALECTS, retains_grad_unset

from ..isolation import pass_on
from ..protocol import (
    TENSORS,
    WITHOUT_VARIABLE,
    edge_of,
    edges_of,
    history_of,
    hooks_of,
    is_tensor,
    memory_of,
    method_code,
    node_name,
    notices,
    op_of,
    sequence_of,
    tangent_of,
    variable_of,
    version_of,
)
from ..saved_values import saved_of
from ..trace import notes
from ..trace.calls import Ref
from ..trace.events import (
    AGAIN,
    InPlaceWrite,
    NodeState,
    NumbersReturned,
    Snapshot,
    TensorCreated,
    TensorState,
)
from ..trace.graph_walk import chips, in_order, native_chips, state_of
from ..trace.ids import Ids
from ..trace.source_positions import Span
from .modules import parameters, tops, walk
from .tape import LARGE, Tape

# ─── Which tensor has which gradient, which numbers left the library, and what memory several tensors use


RETURNED = 1000  # gradients that `grad()` returned, after which those that are gone are forgotten


class GradState(NamedTuple):
    """A `.grad` as it was last seen: which object it was, its version, and what was taken of its numbers."""

    address: int
    version: int
    taken: Any


class Owners:
    """Which tensors of the trace have which `.grad`, so that a write into one is known for what it is."""

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.held: dict[str, GradState] = {}  # by the id of the tensor whose gradient it is
        self.aliases: dict[str, str] = {}  # of the gradient (`x.grad.data`), by their ids
        self.owners: dict[int, str] = {}  # of what was a `.grad`, by address, which another may have now
        # What `grad()` returned, by address: the object, the tensor whose gradient it is, and the call.
        self.results: dict[int, tuple[weakref.ref[Any], str, int]] = {}

    def hold(self, tensor: str, grad: Any, taken: Any) -> None:
        """The tensor's gradient is this one, with these numbers."""
        self.held[tensor] = GradState(id(grad), version_of(grad), taken)
        self.owners[id(grad)] = tensor

    def forget(self, first: int, calls: int) -> None:
        """Forget the tensors from number `first` on, and what calls after so many returned."""
        for name in [name for name in self.held if int(name[1:]) >= first]:
            del self.held[name]
        self.results = {at: kept for at, kept in self.results.items() if kept[2] <= calls}

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
        return self.owner_of(tensor) or "", 0

    def alias(self, source: Any, result: str) -> None:
        """`result` has the memory of `source`, be that a gradient or not."""
        tensor = self.owner_of(source)
        if tensor is not None:
            self.aliases[result] = tensor

    def owner_of(self, grad: Any) -> str | None:
        """The tensor whose gradient this object is."""
        name = self.owners.get(id(grad), "")
        owner = self.ids.alive(name)
        has = owner is not None and (owner.is_leaf or owner.retains_grad)  # else PyTorch warns
        return name if has and owner.grad is grad else None


OUT = 64  # how many times that numbers left are remembered, and items of a list that are looked at


class Out(NamedTuple):
    """Numbers that left: of which tensor (and its id, if it had one), how, at which place in the source, and
    what they were: a Python number or list, or a reference to the array that owns them."""

    tensor: weakref.ref[Any]
    name: str | None
    how: str
    value: Any
    span: Span | None


class Exits:
    """What is remembered of numbers that left (`out`), and the tensors whose memory others may use, too."""

    def __init__(self) -> None:
        self.out: deque[Out] = deque(maxlen=OUT)
        self.shared: list[weakref.ref[Any]] = []

    def source_of(self, tensor: Any) -> Out | None:
        """The array that had left whose memory a tensor uses that nobody reported: PyTorch does not report
        `from_numpy`. None for any other tensor."""
        memory = raw_array(tensor) if self.out and history_of(tensor) is None else None
        if memory is None:
            return None
        # What left after numbers of the tensor itself had left may be just these.
        before = list(itertools.takewhile(lambda out: out.tensor() is not tensor, self.out))
        for out in reversed(before):
            array = out.value() if isinstance(out.value, weakref.ref) else None
            known = out.name is not None or out.tensor() is not None
            if known and array is not None and overlap(memory, array):
                return out
        return None

    def forget(self, first: int) -> None:
        """Forget the ids of the tensors from number `first` on."""
        late = (out.name is not None and int(out.name[1:]) >= first for out in self.out)
        kept = [out._replace(name=None) if gone else out for out, gone in zip(self.out, late, strict=True)]
        self.out = deque(kept, maxlen=OUT)

    def share(self, *tensors: Any) -> None:
        """Note that others may use the memory of these tensors, too."""
        if len(self.shared) >= OUT:
            alive = {id(t): ref for ref in self.shared if (t := ref()) is not None}
            self.shared = list(alive.values())
        self.shared += map(weakref.ref, tensors)


def raw_array(tensor: Any) -> np.ndarray | None:
    """A tensor's memory as it lies there; None for a number that shares it with nobody, and where NumPy
    cannot show it without a copy."""
    if notices(tensor):
        return None
    try:
        data = observing.memory(tensor) if isinstance(tensor, minigrad.Tensor) else tensor.detach().numpy()
    except (RuntimeError, TypeError, NotImplementedError) as refused:
        pass_on(refused)
        return None
    return data if isinstance(data, np.ndarray) else None


def overlap(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    """Whether two arrays that are there lie in the same memory."""
    return a is not None and b is not None and bool(np.may_share_memory(a, b))


# ─── Live tensors and nodes → data


Edges = tuple[tuple[Any, int], ...]
ADOPTED = 5000  # nodes of an older graph that are taken in
NEAREST = 1000  # of one that the cell itself built, after its ops were only counted


def has_own_memory(tensor: Any) -> bool:
    """Whether a result certainly shares its memory with no other tensor."""
    if isinstance(tensor, Tensor):  # without its methods, as this is asked of every result
        return tensor._view is None and not tensor._inference
    return not (tensor._is_view() or tensor.is_inference())


def is_plain_leaf(tensor: Any) -> bool:
    """Whether a tensor of minigrad has no history and no rare attributes."""
    alone = tensor._fn is None and tensor._view is None and tensor._tangent is None
    return alone and not (tensor._bits or tensor._apart)


class States:
    """The tensors and nodes of a cell: their ids in a recorder, and their state.

    `frozen` are the keys of the nodes that were written down, in this order, `contracted` those of nodes that
    stand for others as well, see Note [Counted calls].
    """

    def __init__(self, tape: Tape) -> None:
        self.tape, self.ids, self.notes = tape, tape.ids, tape.notes
        self.owners, self.exits = Owners(tape.ids), Exits()
        self.brought: set[str] = set()  # tensors that were read before the cell ran
        self.ways: list[tuple[str, weakref.ref[Any]]] = []  # `c.h` and `hs[1]` among them
        self.adopted: set[str] = set()  # what was computed before, and found by its node
        self.frozen: dict[Any, None] = {}
        self.contracted: set[Any] = set()
        self.keep: Callable[[Any, str], None]  # who copies the numbers of a large tensor that comes in
        self.titles: dict[str, dict[type, str]] = {name: {} for name in DIALECTS}  # of minigrad's nodes

    def id_of(self, tensor: Any) -> str:
        """The id of a tensor. One that was never seen came from before the cell, or from where no source
        sees."""
        known = self.ids.known(tensor)
        if known is not None:
            return known
        out = self.exits.source_of(tensor)
        if out is not None:
            return self.came_back(tensor, out)
        fn = history_of(tensor)
        before = self.ids.object(tensor) or self.ids.overwritten(fn)
        if fn is not None and before is None:
            self.adopt([fn], tensors=[tensor])
            known = self.ids.known(tensor)
            if known is not None:
                return known
        elif fn is not None:  # written to by what no source sees, which may have been several
            self.adopt([n for n, _ in edges_of(fn) if n is not None], users=[fn])
        known = self.ids.new(tensor)
        state = self.state_of(tensor, known)
        if before is not None:  # its memory was written to through a view
            self.notes.append(InPlaceWrite("", before, state, (before,), None))
        else:
            self.keep(tensor, known)
            self.notes.append(TensorCreated(state, None, None, *self.owners.origin(tensor)))
        return known

    def came_back(self, tensor: Any, out: Out) -> str:
        """A fresh id for a tensor that uses the memory of an array that had left."""
        source = out.name or self.id_of(out.tensor())
        self.exits.share(tensor)
        known = self.ids.new(tensor)
        state = self.state_of(tensor, known)
        self.notes.append(NumbersReturned((source,), out.how, state, None, None, source))
        return known

    def state_of(self, tensor: Any, name: str) -> TensorState:
        """A tensor as it is now, for a note: numbers as they were taken, and the key of the node."""
        if tensor.__class__ in TENSORS and tensor.__class__ is not Tensor and tangent_of(tensor) is None:
            return self.native_state(tensor, name)
        if tensor.__class__ is Tensor and is_plain_leaf(tensor):
            return self.leaf_state(tensor, name)
        state = state_of(tensor, name, self.ids.key, self.tape.taken)
        if state.grad is not None:
            self.owners.hold(name, tensor.grad, state.grad)
        return state

    def leaf_state(self, tensor: Any, name: str) -> TensorState:
        """The same of a plain tensor of minigrad's without history. See Note [Fast notes] in `notes`."""
        data, grad, kept = tensor._data, tensor._grad, None
        small = isinstance(data, np.generic) or data.nbytes <= LARGE
        value = self.tape.numbers.take(data) if small else self.tape.taken(tensor)
        if grad is not None:
            kept = self.tape.taken(grad)
            self.owners.hold(name, grad, kept)
        how = tensor.requires_grad, True, retains_grad_unset(), None, None, version_of(tensor), False
        return TensorState(name, value, kept, *how)

    def native_state(self, tensor: Any, name: str) -> TensorState:
        """The same of a plain tensor of PyTorch's, which is not asked for what only others have."""
        fn, take = history_of(tensor), self.tape.native_taken
        key: Any  # becomes a name when the recording ends
        if fn is None:
            needed, retains, title, key = tensor.requires_grad, tensor.retains_grad, None, None
            grad, parameter = tensor.grad, type(tensor).__name__ == "Parameter"
        else:
            needed, retains, title, key = True, tensor.retains_grad, node_name(fn), self.ids.key(fn)
            grad, parameter = tensor.grad if retains else None, False
        value, kept = take(tensor), None
        if grad is not None:
            kept = self.tape.taken(grad)
            self.owners.hold(name, grad, kept)
        version = version_of(tensor)
        return TensorState(name, value, kept, needed, fn is None, retains, title, key, version, parameter)

    def result(self, tensor: Any) -> notes.Row:
        """The result of an op in its present state. A plain result is not asked for what only others have,
        and one of minigrad's not through its properties (see Note [Fast notes] in `notes`)."""
        if tensor.__class__ is not Tensor:
            return self.native_result(tensor)
        fn = tensor._fn
        shares = fn is not None and (tensor._view is not None or tensor._storage is not None)
        if fn is None or shares or tensor._tangent is not None:
            return self.state_of(tensor, self.ids.claim(tensor))
        outputs, key, data = self.ids.outputs, fn._seq, tensor._data
        place = (key, tensor._nr) if tensor._nr else key
        name = outputs.get(place)
        if name is None:
            name = outputs[place] = f"t{next(self.ids.tensors)}"
        title = self.titles[get_dialect()].get(fn.__class__) or self.title_of(fn)
        value = data if isinstance(data, np.generic) else self.tape.numbers.take(data)
        return (name, value, None, True, False, retains_grad_unset(), title, key, 0, False, None)

    def native_result(self, tensor: Any) -> notes.Row:
        """The same of another library's."""
        ids, fn = self.ids, history_of(tensor) if tensor.__class__ in TENSORS else None
        if fn is None or tensor.retains_grad or tangent_of(tensor) is not None:
            return self.state_of(tensor, ids.claim(tensor))
        key, nr = ids.key(fn), tensor.output_nr
        place = (key, nr) if nr else key
        name = ids.outputs.get(place) or ids.new(tensor, place)
        value, version = self.tape.native_taken(tensor), tensor._version
        return (name, value, None, True, False, False, node_name(fn), key, version, False, None)

    def title_of(self, node: Any) -> str:
        """The name of a node of minigrad in the dialect in force, found once for each class."""
        name = self.titles[get_dialect()][type(node)] = node_name(node)
        return name

    def rebase(self, view: Any) -> None:
        """Take in what a write through a view gave a new history as well: its base, where a variable holds
        that, and the nodes behind the view."""
        fn = view.grad_fn
        behind = [node for node, _ in (edges_of(fn) if fn is not None else ()) if node is not None]
        strange = {n for n in behind if variable_of(n) is None and self.ids.output(n) is None}
        if strange:
            for name, tensor in self.tape.variables():
                if tensor.grad_fn in strange:
                    known = int(self.id_of(tensor)[1:])
                    self.tape.more -= 1
                    self.notes.append(notes.CallNote("names", None, answer={name: Ref(known)}))
            self.adopt(list(strange), users=[fn])

    def edges(self, node: Any) -> Edges:
        """The edges of a node; of one that stands for others those that leave them, each once."""
        if not self.contracted or self.ids.key(node) not in self.contracted:
            return edges_of(node)
        found: dict[tuple[Any, int], None] = {}
        stack, seen = [node], {node}
        while stack:
            for target, nr in edges_of(stack.pop()):
                if target is None:
                    continue
                if variable_of(target) is not None or self.ids.output(target) is not None:
                    found[target, nr] = None
                elif target not in seen:
                    seen.add(target)
                    stack.append(target)
        return tuple(found)

    def take_in(self, node: Any, most: int) -> None:
        """Take in what is behind a node whose output nobody knows yet: its inner nodes, or where they are
        more than `most`, what these lead to."""
        if node is None:
            return
        order, _ = in_order([node], ADOPTED, lambda each: self.ids.output(each) is not None)
        inner = [each for each in order if variable_of(each) is None]
        if len(inner) <= most:
            self.adopt([n for n, _ in edges_of(node) if n is not None], users=[node])
            return
        self.contracted.add(self.ids.key(node))
        for target, _ in self.edges(node):
            if variable_of(target) is not None:
                self.id_of(variable_of(target))

    def adopt(self, roots: list[Any], tensors: Iterable[Any] = (), users: Iterable[Any] = ()) -> None:
        """Give ids to what the nodes `roots` and those before them made, inputs first, where nobody has yet.

        The tensors are looked for among `tensors`, the cell's variables, what a running call has computed,
        and what the new nodes and `users` saved; a result that nobody has any more is known by its node
        alone. Of a large graph those nearest to the roots are taken in.
        """
        most = NEAREST if self.tape.rest.passed else ADOPTED
        order, _ = in_order(roots, most, lambda node: self.ids.output(node) is not None, whole=False)
        strange = [node for node in order if variable_of(node) is None]
        if not strange:
            return
        found: dict[Any, dict[int, Any]] = {node: {0: None} for node in strange}
        for node in (*strange, *users):
            for target, nr in edges_of(node):
                found.get(target, {}).setdefault(nr, None)
        kept = (k.value for node in (*strange, *users) for k in saved_of(node))
        built, self.tape.built = self.tape.built, []
        for tensor in (*tensors, *(t for _, t in self.tape.variables()), *built, *kept):
            outputs = found.get(history_of(tensor)) if is_tensor(tensor) else None
            if outputs is not None and outputs.get(tensor.output_nr) is None:
                outputs[tensor.output_nr] = tensor
        for node in order:
            variable = variable_of(node)
            if variable is None:
                self.adopt_node(node, found[node])
            else:
                self.id_of(variable)
        # What the engine adds up is part of the graph only when the last gradient has arrived.
        self.tape.built += [t for t in built if history_of(t) is not None and self.ids.known(t) is None]

    def adopt_node(self, node: Any, outputs: dict[int, Any]) -> None:
        """Write down the outputs of a node that was found by walking; inside a call, as the op that it
        must have been."""
        states = []
        for nr in range(max(outputs) + 1):
            tensor = outputs.get(nr)
            name = self.ids.unseen(node, nr) if tensor is None else self.ids.new(tensor)
            states.append(self.gone(name, node) if tensor is None else self.state_of(tensor, name))
        if not self.tape.call:
            self.notes += [TensorCreated(state, None, None) for state in states]
            self.adopted.update(state.id for state in states)
            return
        title = op_of(node_name(node))
        inputs = [None if n is None else self.source_of(n, nr) for n, nr in edges_of(node)]
        others = [str(k.value) for k in saved_of(node) if k.value is not None and not is_tensor(k.value)]
        given = (*(i or ("…",) for i in inputs), *((text,) for text in others))
        how = tuple(states), True, notes.NOWHERE, self.tape.call
        self.notes.append(notes.OpNote(title, given, *how))

    def source_of(self, node: Any, nr: int) -> str | None:
        """The tensor whose gradient goes to output `nr` of `node`."""
        variable = variable_of(node)
        return self.ids.output(node, nr) if variable is None else self.id_of(variable)

    def end_of(self, root: Any) -> str:
        """The id of a tensor, or of the one at a GradientEdge."""
        edge = edge_of(root)
        if edge is None:
            return self.id_of(root)
        self.adopt([edge[0]])
        known = self.source_of(*edge)
        if known is None:
            known = self.ids.unseen(*edge)
            self.notes.append(TensorCreated(self.gone(known, edge[0]), None, None))
        return known

    def gone(self, name: str, node: Any) -> TensorState:
        """A tensor that nobody has any more: a result of `node`."""
        key: Any = self.ids.key(node)
        return TensorState(name, None, None, True, False, None, node_name(node), key, 0)

    def walk(self, roots: list[Any], left_out: Iterable[Any] = ()) -> Iterator[tuple[Any, Any, Edges]]:
        """The key of every node that can be reached and was taken in, roots first, each once, with the node
        and its edges; without those `left_out`, by key, and what is behind them. Never recursive."""
        stack, seen = list(reversed(roots)), set(left_out)
        outputs, key_of = self.ids.outputs, self.ids.key
        while stack:
            node = stack.pop()
            key = key_of(node)
            if key in seen or (key not in outputs and variable_of(node) is None):
                continue
            seen.add(key)
            ends = self.edges(node)
            yield key, node, ends
            stack += [n for n, _ in reversed(ends) if n is not None]

    def freeze(self, key: Any, node: Any, ends: Edges | None = None) -> NodeState:
        """A node with these edges as it is now, for a note: with numbers as they were taken."""
        if type(node) in WITHOUT_VARIABLE:
            return self.freeze_native(key, node, self.edges(node) if ends is None else ends)
        variable = variable_of(node)
        saved = chips(saved_of(node), node, take=self.tape.taken)
        ends = self.edges(node) if ends is None else ends
        edges = tuple([None if n is None else (self.ids.node(n), nr) for n, nr in ends])
        made = self.ids.alive(self.ids.outputs.get(key)) if variable is None else None
        hooks = hooks_of(node, () if made is None else (made,))
        if variable is None:
            state = NodeState(self.ids.name(key), node_name(node), saved, edges, None, hooks)
            return self.with_code(state, node)
        memory = memory_of(variable)
        leaf = self.id_of(variable), hooks
        number = None if memory is None else memory[0]
        return NodeState(self.ids.name(key), node_name(node), saved, edges, *leaf, memory=number)

    def freeze_native(self, key: Any, node: Any, ends: Edges) -> NodeState:
        """The same of a node of PyTorch's own that is not an AccumulateGrad. See Note [Fast notes]."""
        name, key_of = self.ids.name(key), cast(Callable[[Any], str], self.ids.key)  # texts on PyTorch
        edges = tuple([None if n is None else (key_of(n), nr) for n, nr in ends])
        made = self.ids.alive(self.ids.outputs.get(key))
        hooks = 0 if made is None else len(getattr(made, "_backward_hooks", None) or ())
        return NodeState(name, node_name(node), native_chips(node, self.tape.taken), edges, None, hooks)

    def with_code(self, state: NodeState, node: Any) -> NodeState:
        """The state of a node; of a custom Function also the places of its methods."""
        code = method_code(node, "backward")
        if code is None:
            return state
        definition = self.tape.locator.definition
        others = [(name, method_code(node, name)) for name in ("forward", "setup_context")]
        spans = [(name, definition(code)) for name, code in others if code is not None]
        known = tuple((name, span) for name, span in spans if span is not None)
        return state._replace(code=definition(code), methods=known)

    def freeze_all(self, roots: list[Any]) -> tuple[list[Any], list[Any]]:
        """The nodes that can be reached, and for a `BackwardStartNote` their state."""
        live = list(self.walk(roots))
        frozen = [(key, sequence_of(node), self.freeze(key, node, ends)) for key, node, ends in live]
        return [node for _, node, _ in live], frozen

    # ── moments ─────────────────────────────────────────────────────────────────────────────────────────────

    def named(self) -> list[tuple[str, Any]]:
        """The variables that are tensors of this trace, in the order in which the tensors came; and
        `.grad` of one where it has become a tensor of the trace itself."""
        return [(name, tensor) for name, tensor, _ in self.named_with_ids()]

    def named_with_ids(self) -> list[tuple[str, Any, str]]:
        """The same with their ids."""
        known = [(int(id[1:]), name, t, id) for name, t in self.tape.variables() if (id := self.ids.known(t))]
        found: list[tuple[str, Any, str]] = []
        for _, name, tensor, id in sorted(known, key=operator.itemgetter(0)):
            found.append((name, tensor, id))
            grad = tensor.grad if tensor.grad_fn is None else None
            if grad is not None and (its := self.ids.known(grad)):
                found.append((f"{name}.grad", grad, its))
        return found

    def parameters(self) -> Iterator[tuple[str, Any]]:
        """The parameters of the modules among the variables, with names like `layer.weight`."""
        for name, top in tops(self.tape.namespace):
            for way, module in walk(top):
                start = f"{name}.{way}" if way else name
                yield from ((f"{start}.{key}", t) for key, t in parameters(module))

    def snapshot(self, when: str, ahead: bool = False) -> None:
        """Write down the state of every named tensor; after a gap (AGAIN) the parameters of modules as well,
        at the end those that were `brought`. `ahead`: it belongs to the next backward call."""
        rows = self.named_with_ids()
        inner: dict[str, tuple[str, Any, str]] = {}
        for name, t in self.parameters() if when == AGAIN or self.brought else ():
            id = self.ids.known(t)
            if id and (when == AGAIN or id in self.brought):
                inner.setdefault(id, (name, t, id))
        for way, ref in self.ways:
            t = ref()
            id = None if t is None else self.ids.known(t)
            if id:
                inner.setdefault(id, (way, t, id))
        states = tuple([(name, self.state_of(t, id)) for name, t, id in (*rows, *inner.values())])
        self.notes.append(Snapshot(when, self.tape.calls + ahead, states))
