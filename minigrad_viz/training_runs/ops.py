"""The first steps are watched op by op: which op a tensor came from, on which line, and where its link to the
parameters was cut.

Only ids, names and lines are kept, and only until the step has ended.
"""

from __future__ import annotations

import weakref
from typing import Any

from ..training_faults.evidence import OpRecord, Place
from .hub import user_place
from .library import UNTOLD, Library

COPIES = ("tensor", "as_tensor", "asarray", "from_numpy")
EXITS = ("item", "tolist", "numpy", "__float__", "__array__", "__int__", "__bool__")
PARTS = ("__getitem__", "index", "index_select", "narrow", "select", "slice")
DIFFERENCES = (
    "sub",
    "__sub__",
    "__rsub__",
    "subtract",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
)
SQUARES = ("pow", "pow_scalar", "__pow__", "square", "abs", "__abs__", "absolute", "mul", "__mul__")
MEASURES = (
    "argmax", "mse_loss", "l1_loss", "cross_entropy", "nll_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "smooth_l1_loss", "topk", "log_softmax",
)  # fmt: skip
ADDITIONS = ("add", "add_", "__add__", "__iadd__", "__radd__")


class OpTrace:
    """What is known about the tensors of one step."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.known: dict[int, tuple[weakref.ref[Any], OpRecord]] = {}
        self.exits: list[tuple[int, OpRecord]] = []  # numbers that left: how many, from where
        self.lines: list[tuple[int, Place | None]] = []  # by the sequence number of a node
        self.broadcasts: list[OpRecord] = []
        self.outputs: dict[
            int, OpRecord
        ] = {}  # of a model that runs without gradients, by the id of its tensor
        self.measured: Place | None = None
        self.sums: list[tuple[list[weakref.ref[Any]], Place | None]] = []  # additions that need gradients
        self.roots: list[weakref.ref[Any]] = []  # of the last backward calls
        self.sums_of_roots: dict[Place | None, int] = {}
        self.grad_off: Place | None = None  # the line that switched gradients off
        self.writes: dict[int, tuple[int, str, Place | None]] = {}  # of leaves: how many, the last one

    def clear(self) -> None:
        """Forget the step."""
        self.known.clear()
        self.exits.clear()
        self.lines.clear()
        self.broadcasts.clear()
        self.outputs.clear()
        self.sums.clear()
        self.grad_off = None

    def of(self, tensor: Any) -> OpRecord | None:
        """What the step has shown of a tensor."""
        found = self.known.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def record(self, op: str, args: Any, result: Any) -> None:
        """After an op."""
        if op in UNTOLD or op.endswith("_like") or op.startswith("new_"):
            return
        if op in ("_set_grad_enabled", "set_grad_enabled"):
            self.grad_off = user_place(2) if args and args[0] is False else None
            return
        library = self.library
        if op in EXITS:
            source: Any = args[0] if args else None
            if library.is_tensor(source):
                made = self._made(op, [source])
                self.exits.append((source.numel(), made))
                del self.exits[:-2000]
            return
        tensors = [result] if library.is_tensor(result) else [
            each for each in result if library.is_tensor(each)
        ] if isinstance(result, list | tuple) else []  # fmt: skip
        if not tensors:
            return
        inputs = [each for arg in args for each in flat(arg, library)]
        made = self._made(op, inputs)
        first = tensors[0]
        made.needs = bool(first.requires_grad)
        if op.endswith("_") and not op.endswith("__") and first.is_leaf and first.requires_grad:
            count = self.writes.get(id(first), (0, "", None))[0]
            self.writes[id(first)] = (count + 1, op, made.place)
            return
        if op in COPIES:
            self._copied(made, first, args)
        elif made.carries and not made.needs:
            made.cut = self._how(op, first, inputs)
            if made.cut == "no_grad" and self.grad_off is not None:
                made.place = self.grad_off
        if op in PARTS and inputs and 2 * first.numel() <= inputs[0].numel():  # most of the data is no batch
            made.larger = True
        if op in DIFFERENCES and len(inputs) > 1:
            self._differ(made, inputs)
        if op in SQUARES and inputs and (before := self.of(inputs[0])) is not None and before.spread:
            self.broadcasts.append(before)
        if op in ADDITIONS and made.needs and first.numel() == 1:
            self._sum(inputs, made.place)
        trained = any(each.requires_grad for each in inputs)  # a probe on features: it is no evaluation
        if self.outputs and op in MEASURES and self.measured is None and not trained:
            reached = {id(each) for each in made.upstream()}
            if any(id(output) in reached for output in self.outputs.values()):
                self.measured = made.place
        node = first.grad_fn if made.needs else None
        if node is not None:
            self.lines.append((library.seq_of(node), made.place))
        for tensor in tensors:
            self.known[id(tensor)] = (weakref.ref(tensor), made)

    def _sum(self, inputs: list[Any], place: Place | None) -> None:
        """Note an addition to a loss that has been the root of a backward call, or that may become one."""
        if any(root() is each for root in self.roots for each in inputs):
            self.sums_of_roots[place] = self.sums_of_roots.get(place, 0) + 1
        else:
            self.sums.append(([weakref.ref(each) for each in inputs], place))

    def rooted(self, root: Any) -> None:
        """A backward call begins at this tensor."""
        self.roots = [*self.roots[-3:], weakref.ref(root)]
        for inputs, place in self.sums:
            if any(each() is root for each in inputs):
                self.sums_of_roots[place] = self.sums_of_roots.get(place, 0) + 1

    def _made(self, op: str, inputs: list[Any]) -> OpRecord:
        made = OpRecord(op, user_place(3))
        leaves = []
        for each in inputs:
            parent = self.of(each)
            if parent is not None:
                made.parents.append(parent)
                made.carries = made.carries or parent.carries
            if each.requires_grad:
                made.carries = True
                if each.is_leaf:
                    leaves.append(id(each))
        made.leaves = tuple(leaves)
        return made

    def _copied(self, made: OpRecord, result: Any, args: Any) -> None:
        """A tensor was created of data: of the numbers that have left last, if there are as many."""
        count = result.numel()
        if made.carries and not made.needs:
            made.cut = "tensor"
            return
        for size, source in reversed(self.exits):
            if size == count and source.carries:
                made.parents.append(source)
                made.carries = True
                made.cut = "numpy" if source.op == "numpy" else "item"
                return

    def _how(self, op: str, result: Any, inputs: list[Any]) -> str:
        """How a result lost its link."""
        if op in ("detach", "detach_", "data", "clone_detached"):
            return "detach" if op != "data" else "data"
        if not self.library.is_float(result):
            return "integer"
        if not self.library.grad_enabled():
            return "no_grad"
        return "" if not any(each.requires_grad for each in inputs) else "no_grad"

    def _differ(self, made: OpRecord, inputs: list[Any]) -> None:
        """Note a difference of n×1 and n, of which one is computed from parameters."""
        a, b = tuple(inputs[0].shape), tuple(inputs[1].shape)
        pair = sorted((a, b), key=len)
        if len(pair[0]) != 1 or len(pair[1]) != 2 or pair[0][0] < 2 or pair[1] != (pair[0][0], 1):
            return
        if inputs[0].requires_grad == inputs[1].requires_grad:
            return
        made.spread = (a, b)
        if made.op.endswith("_loss"):
            self.broadcasts.append(made)


def flat(value: Any, library: Library) -> list[Any]:
    """The tensors in an argument."""
    if library.is_tensor(value):
        return [value]
    if isinstance(value, list | tuple):
        return [each for part in value[:64] for each in flat(part, library)]
    return []


def cuts_of(made: OpRecord) -> list[OpRecord]:
    """The nearest cuts behind a result: where links to what it was computed from were lost."""
    found, seen, queue = [], {id(made)}, [made]
    for each in queue:
        if each.cut:
            found.append(each)
            continue
        for parent in each.parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                queue.append(parent)
    return found


def beyond(cut: OpRecord) -> frozenset[int]:
    """The leaves that only lead to a result through this cut, by id."""
    return frozenset(leaf for each in cut.upstream() for leaf in each.leaves)
