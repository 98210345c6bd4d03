"""How an op runs once for a batch of examples, and the tape of the ops that ran for one of them.

Note [Batching rules]
    A batched tensor has one more dimension than an example, the first. An op gets a rule here if it is
    common and a batch takes it as a tensor of one more dimension: by broadcasting, at the next dimension, or
    with another shape. Any other op runs once for each example, and its results are stacked. So a rule
    only saves time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..core import F, modes
from ..core.node import sequence_numbers
from ..core.op import Op
from ..core.tensor_state import TensorBase, Tensors
from ..ops.kernels import MEAN, NONE, SUM
from ..ops.products import matmul


class BatchedTensor(NamedTuple):
    """A tensor that holds all examples along its first dimension."""

    tensor: Any

    @property
    def rank(self) -> int:
        """The number of dimensions of an example."""
        return int(self.tensor._data.ndim) - 1


class NoRule(Exception):
    """A rule does not fit these arguments."""


def run(op: Op, args: list[Any], examples: tuple[Any, ...], size: int) -> list[Any]:
    """Return the results of an op for all `size` examples, one for each of those in `examples`."""
    try:
        result = rule_of(op)(op, args, examples[0]._data.shape, size)
        found = list(result) if isinstance(result, tuple) else [result]
        if all(fits(t, example, size) for t, example in zip(found, examples, strict=True)):
            return found
    except NoRule:
        pass
    return one_by_one(op, args, size)


def fits(t: Any, example: Any, size: int) -> bool:
    """Return whether a result has the shape and dtype of `size` examples; the promotion of dtypes depends on
    the number of dimensions.
    """
    return bool(t._data.shape == (size, *example._data.shape) and t._data.dtype == example._data.dtype)


def one_by_one(op: Op, args: list[Any], size: int) -> list[Any]:
    """Run an op for each example, and stack the results."""
    every = [op.call(*(example(v, i) for v in args)) for i in range(size)]
    rows = zip(*every) if op.several else [every]
    return [F.stack(list(ts), 0) for ts in rows]


def example(value: Any, i: int) -> Any:
    """Return the argument of one example."""
    if isinstance(value, BatchedTensor):
        return F.select(value.tensor, 0, i)
    if value.__class__ in (list, tuple, Tensors):
        return value.__class__([example(v, i) for v in value])
    return value


def rank_of(value: Any) -> int:
    """Return the number of dimensions of an example of an argument, 0 for a number."""
    if isinstance(value, BatchedTensor):
        return value.rank
    return int(value._data.ndim) if isinstance(value, TensorBase) else 0


def lift(value: Any, rank: int) -> Any:
    """Return an argument such that examples of `rank` dimensions broadcast with it."""
    if not isinstance(value, BatchedTensor) or value.rank == rank:
        return value.tensor if isinstance(value, BatchedTensor) else value
    size, *rest = value.tensor._data.shape
    return F.reshape(value.tensor, (size, *(1,) * (rank - value.rank), *rest))


def whole(value: Any, size: int) -> Any:
    """Return a tensor with the dimension of the batch, in which all examples may be the same."""
    if isinstance(value, BatchedTensor):
        return value.tensor
    return F.expand(value, (size, *value._data.shape)) if isinstance(value, TensorBase) else value


# ── the rules
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def elementwise(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Let the examples broadcast. A mean over the elements of an example is a sum, divided afterwards."""
    rank = max(map(rank_of, args))
    values = [lift(v, rank) for v in args]
    if "reduction" in op.params:
        place = op.params.index("reduction")
        if values[place] == MEAN:
            values[place] = SUM
            return F.div_scalar(op.call(*values), math.prod(shape))
    return op.call(*values)


def loss(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Reduce the losses of each example."""
    place = op.params.index("reduction")
    reduction, rank = args[place], max(map(rank_of, args))
    values = [lift(v, rank) for v in args]
    values[place] = NONE
    losses = op.call(*values)
    dims = tuple(range(1, rank + 1))
    if reduction == NONE or not dims:
        return losses
    return (F.mean_dim if reduction == MEAN else F.sum_dim)(losses, dims, False)


def keep_dimensions(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Run an op of one tensor that does not depend on its dimensions."""
    return op.call(args[0].tensor, *args[1:])


def reshape_examples(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Give each example its new shape."""
    return F.reshape(args[0].tensor, (size, *shape))


def expand_examples(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Expand each example."""
    return F.expand(lift(args[0], len(shape)), (size, *shape))


def of_all(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Reduce all dimensions of each example."""
    dims = tuple(range(1, args[0].rank + 1))
    if not dims:
        raise NoRule
    return getattr(F, op.name.replace("_all", "_dim"))(args[0].tensor, dims, False, *args[1:])


def along(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Run the op along the next dimension; sizes that are arguments begin with that of the batch."""
    tensors = [v for v in args if isinstance(v, (BatchedTensor, TensorBase))]
    rank = max(map(rank_of, tensors))
    rank_of_dims = len(sizes_in(op, args)) or rank
    if not rank_of_dims or any(rank_of(v) != rank for v in tensors):
        raise NoRule
    values = []
    for name, value in zip(op.params, args, strict=True):
        if name.startswith("dim"):
            value = next_dim(value, rank_of_dims)
        elif name == "input_sizes":
            value = (size, *value)
        values.append(whole(value, size))
    return op.call(*values)


def sizes_in(op: Op, args: list[Any]) -> Any:
    """Return the sizes that a derivative is given of its input, whose dimensions it counts."""
    return args[op.params.index("input_sizes")] if "input_sizes" in op.params else ()


def next_dim(dim: Any, rank: int) -> Any:
    """Return a dimension of an example, or several, as dimensions of the batch."""
    if dim is None or dim == ():
        return tuple(range(1, rank + 1))
    if isinstance(dim, int):
        return dim % rank + 1
    return tuple(d % rank + 1 for d in dim)


def permute_examples(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Permute the dimensions of each example."""
    return F.permute(args[0].tensor, (0, *next_dim(args[1], args[0].rank)))


def transpose_examples(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Transpose each example, which is a matrix or a vector."""
    batch = args[0]
    return F.transpose(batch.tensor, 1, 2) if batch.rank == 2 else batch.tensor


def product(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Multiply the matrices or vectors of each example."""
    a, b = (lift(v, v.rank) if isinstance(v, BatchedTensor) else v for v in args)
    if op.name == "dot":
        a = F.unsqueeze(a, -2)
    if op.name != "mm" and rank_of(args[1]) == 1:
        b = F.unsqueeze(b, -1)
        return F.reshape(matmul(a, b), (size, *shape))
    return matmul(a, b)


def sum_of_product(op: Op, args: list[Any], shape: Any, size: int) -> Any:
    """Add the products of matrices of each example to a tensor."""
    added, a, b, beta, alpha = args
    if beta != 1 or alpha != 1:
        raise NoRule
    return lift(added, 2) + product(F.mm.op, [a, b], shape, size)


Rule = Callable[[Op, list[Any], Any, int], Any]
RULES: dict[str, Rule] = {
    **dict.fromkeys(("view", "unsafe_view", "unsqueeze", "squeeze_result"), reshape_examples),
    **dict.fromkeys(("squeeze_dim", "squeeze_all"), reshape_examples),
    **dict.fromkeys(("clone", "zeros_like", "ones_like"), keep_dimensions),
    **dict.fromkeys(("sum_all", "mean_all"), of_all),
    **dict.fromkeys(("sum_dim", "mean_dim", "amax", "amin", "select", "slice", "cumsum", "transpose"), along),
    **dict.fromkeys(("select_backward", "slice_backward", "log_softmax", "softmax"), along),
    **dict.fromkeys(("_softmax_backward_data", "_log_softmax_backward_data"), along),
    **dict.fromkeys(("mm", "mv", "dot", "bmm"), product),
    **dict.fromkeys(("mse_loss", "smooth_l1_loss"), loss),
    "expand": expand_examples,
    "permute": permute_examples,
    "t": transpose_examples,
    "addmm": sum_of_product,
}
NOT_BROADCAST = ("copy", "fill", "fill_tensor", "fill_new_tensor", "zero")


def none(*_: Any) -> Any:
    """The rule of an op without one."""
    raise NoRule


def rule_of(op: Op) -> Rule:
    """Return the rule of an op."""
    if op.elementwise and op.name not in NOT_BROADCAST:
        return elementwise
    return RULES.get(op.name, none)


# ─── What `vmap` remembers of one example: the ops that ran, to run each of them once for all examples


# The argument of the first is a place in the memory of one example; the shapes of the others' results differ.
UNREPEATED = [getattr(F, name).op for name in ("as_strided", "masked_select", "unique2", "bincount")]
UNREPEATED += [F.nonzero.op, F._pack_padded_sequence.op]


class Slot(NamedTuple):
    """A value that depends on the example, by its number."""

    number: int


class Step(NamedTuple):
    """An op that ran: its arguments with slots, its results, the number of the first one's slot, and whether
    it was recorded for gradients.
    """

    op: Any  # an Op, or "detach"
    args: tuple[Any, ...]
    results: tuple[Any, ...]
    first: int
    graph: bool


class Tape:
    """The ops that ran on one example, in order, and which tensors they made.

    A tensor is known again by itself or, where a node saved it and rebuilds it, by its place in the graph;
    by its numbers where it has none any more, such as the leaf of a level that has ended.
    """

    def __init__(self, batch: Any, example: list[Any], dims: list[int | None]) -> None:
        self.batch = batch  # which marks tensors that depend on the example
        self.outer = modes.state.tape  # of a `vmap` around this one, which sees everything too
        self.complete = True  # whether running these ops again is all that the function does
        self.steps: list[Step] = []
        self.values: list[Any] = []  # by slot; they stay alive, so that no other gets the same id
        self.slots: dict[Any, int | None] = {}  # by the id of a tensor, and by its place in the graph
        self.arrays: dict[
            int, tuple[Any, int | None]
        ] = {}  # by the id of a tensor's numbers: they, and its slot
        self.constants: list[Any] = []  # what ops made that did not run on the example; they stay alive too
        self.start = next(sequence_numbers)
        self.inputs = [None if d is None else self.follow(t) for t, d in zip(example, dims)]

    def follow(self, t: Any) -> int:
        """Give a tensor that depends on the example a slot."""
        self.values.append(t)
        self.batch.mark(t)
        return self.alias(t, len(self.values) - 1)

    def alias(self, t: Any, number: int | None) -> Any:
        """Let a tensor stand for the value in a slot; None for a constant."""
        self.slots[id(t)] = number
        self.arrays[id(t._data)] = t._data, number
        if t._fn is not None:
            self.slots[id(t._fn), t._nr] = number
        return number

    def slot(self, t: Any) -> int | None:
        """Return the slot of a tensor; None if it is the same for all examples.

        It is not known whether it is where something other than an op made it from the example.
        """
        key = id(t)
        if key not in self.slots and t._fn is not None:
            key = id(t._fn), t._nr  # type: ignore[assignment]
            if key not in self.slots and t._fn._seq > self.start:
                self.complete = False
        if key not in self.slots and id(t._data) in self.arrays:
            return self.arrays[id(t._data)][1]
        if self.batch.marked(t) and self.slots.get(key) is None:
            self.complete = False
        return self.slots.get(key)

    def marked(self, value: Any) -> Any:
        """Return an argument of an op with slots instead of tensors that depend on the example."""
        if isinstance(value, TensorBase):
            number = self.slot(value)
            if number is not None:
                return Slot(number)
            self.arrays.setdefault(id(value._data), (value._data, None))
            return value
        if isinstance(value, Tensors):
            return Tensors([self.marked(v) for v in value])
        if value.__class__ in (list, tuple):
            return value.__class__([self.marked(v) for v in value])
        return value

    def record(self, op: Op | str, args: Any, result: Any) -> None:
        """Note an op that ran, if it ran on the example."""
        if self.outer is not None:
            self.outer.record(op, args, result)
        marked = tuple([self.marked(v) for v in args])
        results = result if isinstance(result, tuple) else (result,)
        if op in UNREPEATED:
            self.complete = False
        if not slots_of(marked):
            self.constants += results
            for t in results:
                self.alias(t, None)
            return
        graph = any(t.requires_grad for t in results)
        self.steps.append(Step(op, marked, results, len(self.values), graph))
        for t in results:
            self.follow(t)

    def enter(self, source: Any, leaf: Any, entry: Any) -> None:
        """Note that at a level an inner leaf stands for `source`, with what that depends on outside; and that
        a node which saved the leaf may rebuild it at `entry`.
        """
        if self.outer is not None:
            self.outer.enter(source, leaf, entry)
        self.slots[id(entry), 0] = self.alias(leaf, self.slot(source))
        self.constants += [leaf, entry]

    def rebuilt(self, data: Any) -> None:
        """Note that a node gets a constant, which has the numbers that it had saved of a tensor."""
        if id(data) not in self.arrays:
            self.complete = False
        if self.outer is not None:
            self.outer.rebuilt(data)

    def give_up(self) -> None:
        """Note that the function does something that must happen for each example."""
        self.complete = False
        if self.outer is not None:
            self.outer.give_up()

    def knows(self, outputs: list[Any]) -> bool:
        """Return whether running the ops again gives these outputs of the other examples."""
        for t in outputs:
            if isinstance(t, TensorBase):
                self.marked(t)
        return self.complete

    def needed(self, outputs: list[Any]) -> list[Step]:
        """Return the steps on which outputs depend."""
        wanted = {n for t in outputs if isinstance(t, TensorBase) and (n := self.slot(t)) is not None}
        steps = []
        for step in reversed(self.steps):
            made = range(step.first, step.first + len(step.results))
            if not wanted.isdisjoint(made):
                steps.append(step)
                wanted.update(slots_of(step.args))
        return steps[::-1]

    def replay(self, size: int, inputs: list[Any], outputs: list[Any]) -> list[Any]:
        """Return the outputs of all `size` examples along a new first dimension, from such inputs."""
        batches = {number: BatchedTensor(t) for number, t in zip(self.inputs, inputs) if number is not None}
        for op, args, results, first, graph in self.needed(outputs):
            given = [fill_slots_with_batches(v, batches) for v in args]
            with modes.Within(grad_enabled=graph and modes.is_grad_enabled()):
                if isinstance(op, str):  # "detach", which is no op
                    found = [given[0].tensor.detach()]
                else:
                    found = run(op, given, results, size)
            batches.update(zip(range(first, first + len(results)), map(BatchedTensor, found)))
        return [whole(fill_slots_with_batches(self.marked(t), batches), size) for t in outputs]


def slots_of(args: Any) -> list[int]:
    """Return the numbers of all slots in arguments."""
    found: list[int] = []
    for v in args:
        if isinstance(v, Slot):
            found.append(v.number)
        elif v.__class__ in (list, tuple, Tensors):
            found += slots_of(v)
    return found


def fill_slots_with_batches(value: Any, batches: dict[int, Any]) -> Any:
    """Return an argument with batches in its slots."""
    if isinstance(value, Slot):
        return batches[value.number]
    if value.__class__ in (list, tuple, Tensors):
        return value.__class__([fill_slots_with_batches(v, batches) for v in value])
    return value
