"""`vmap`: a function of one example made one of a batch.

Note [One example and a batch]
    PyTorch runs the function once, on tensors that carry a hidden dimension, and needs a rule for every op.
    Here it runs on the first example, and a `Tape` notes the ops. As the function cannot look at the numbers
    of an example, the same ops give the results of the others: each of them runs once more, for all
    examples (`batching`). The gradients of a transform inside are ops too, by `create_graph`.

    Some things are not ops that can be repeated: a write in place, a random number, a custom Function, a
    hook, derivatives that are computed on arrays, numbers that the library reads
    (`modes.repeat_for_each`). The function then runs once for each example, and the results are stacked. That
    is right for everything, and slower; and prints and other effects happen for each example.

    What PyTorch cannot do with a tensor that depends on the example is refused here as well: to look at its
    numbers (`item()`, `if`), to write it into a tensor that does not, to return it where `out_dims` is None.
    A `Batch` observes the ops and marks the tensors for that (`_batched`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.functional import notify_observers
from ..core import F, modes
from ..core.guards import check_written_shape
from ..core.nested_passes import here
from ..core.public import public
from ..core.tensor_state import TensorBase, wrap
from ..ops.generator import default_generator
from ..ops.shapes import place
from . import pytree
from .batching import Tape
from .levels import transform_block
from .pytree import Dims, batch_arguments, check_out_dims, name_of, spread_out_dims


@public("function", out=None)
def vmap(
    func: Callable[..., Any], in_dims: Dims = 0, out_dims: Dims = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that maps `func` over a dimension of its arguments and stacks the results.

    `func` runs once, or once for each example. See Note [One example and a batch]. Calls can be nested.

    >>> import minigrad as torch
    >>> torch.vmap(torch.dot)(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.ones(2, 2))
    tensor([3., 7.])

    Args:
        func: takes one example of each argument and returns tensors. Keyword arguments are given whole.
        in_dims: the dimension of the arguments that counts the examples, or a structure of dimensions like
            that of the arguments. None gives an argument whole to each example.
        out_dims: where the results have the new dimension, or a structure like that of the results. None
            returns a result that does not depend on the example.
        randomness: whether `func` may draw random numbers: "error", "same" for all examples or "different".
        chunk_size: how many examples PyTorch takes together; it makes no difference here.

    Shape:
        Arguments (N, *) and results (N, *), if `in_dims` and `out_dims` are 0.

    Returns:
        A function with the parameters of `func`.

    Raises:
        ValueError: dimensions do not fit the arguments or results, or the sizes along them differ.
        RuntimeError: `func` does what depends on the numbers of one example, such as `item()`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.vmap.html
    """
    check_randomness(randomness)
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @notify_observers("vmap")
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        check_out_dims(func, out_dims)
        dims, leaves, spec, size = batch_arguments(func, in_dims, args)
        batch = Batch(size)

        def run(example: list[Any]) -> Any:
            return pytree.flatten_tree(func(*pytree.unflatten(example, spec), **kwargs))

        with transform_block("vmap"), batch, drawing(randomness):
            state = default_generator.get_state() if modes.state.randomness == "same" else None
            example = batch.examples(leaves, dims, 0)
            tape = Tape(batch, example, dims) if size > 1 and not modes.is_forward() else None
            with modes.Within(tape=tape or modes.state.tape):
                outputs, output_spec = run(example)
            found = [outputs]
            at_once = tape is not None and tape.knows(outputs)
            for i in range(1, 1 if at_once else size):
                if state is not None:
                    default_generator.set_state(state)
                outputs, structure = run(batch.examples(leaves, dims, i))
                if structure != output_spec:
                    raise ValueError(
                        f"vmap({name_of(func)}, ...): the structure of the outputs differs between examples."
                    )
                found.append(outputs)
        places = spread_out_dims(func, out_dims, output_spec)
        columns = [list(ts) for ts in zip(*found)]
        for ts, d in zip(columns, places):
            batch.check(func, ts, d)
        if tape is not None and at_once:
            batches = [t if d is None else move_dimension(t, d, 0) for t, d in zip(leaves, dims)]
            joined = zip(outputs, tape.replay(size, batches, outputs), places)
            result = [t if d is None else move_dimension(together, 0, d) for t, together, d in joined]
        else:
            result = [ts[0] if d is None else batch.join(ts, d) for ts, d in zip(columns, places)]
        return pytree.unflatten(result, output_spec)

    return wrapper


class Batch(modes.Observer):
    """The examples of one call of `vmap`, as an observer that marks whatever is computed from them."""

    only_ops = True  # how backward runs makes no difference: see `modes.is_watched`

    def __init__(self, size: int) -> None:
        self.size = size
        self.open = False
        self.task = here.task  # the backward pass whose hook or Function calls `vmap`, if one does

    def __enter__(self) -> None:
        self.open = True
        modes.add_observer(self)

    def __exit__(self, *exc: object) -> None:
        self.open = False
        modes.remove_observer(self)

    def examples(self, leaves: list[Any], dims: list[Any], i: int) -> list[Any]:
        """Return the arguments of example number `i`."""
        return [t if d is None else self.example(t, d, i) for t, d in zip(leaves, dims)]

    def example(self, t: Any, dim: int, i: int) -> Any:
        """Return example number `i` of a tensor; of an empty batch one of zeros, to see what the function
        returns.
        """
        if self.size:
            result = F.select(t, dim, i)
        else:
            shape = t._data.shape[:dim] + t._data.shape[dim + 1 :]
            result = wrap(np.zeros(shape, t._data.dtype)[()])
            result._batched = t._batched
        self.mark(result)
        return result

    def mark(self, t: Any) -> None:
        """Note that a tensor depends on the example."""
        if not self.marked(t):
            t._batched = (*t._batched, self)

    def marked(self, t: Any) -> bool:
        """Return whether a tensor depends on the example."""
        return isinstance(t, TensorBase) and self in t._batched

    def any_marked(self, values: Any) -> bool:
        """Return whether one of the arguments of an op depends on the example."""
        for v in values:
            if isinstance(v, TensorBase):
                if self in v._batched:
                    return True
            elif isinstance(v, (list, tuple)) and self.any_marked(v):
                return True
        return False

    def forward(self, op: Any, inputs: Any, outputs: Any) -> None:
        """Mark the results of an op that ran."""
        if self.any_marked(inputs):
            for t in outputs if isinstance(outputs, (list, tuple)) else (outputs,):
                if isinstance(t, TensorBase):
                    self.mark(t)

    def detached(self, source: Any, result: Any, how: str) -> None:
        """Mark the result of `detach()` or `.data`."""
        if self.marked(source):
            self.mark(result)

    def mutated(self, op: Any, values: Any, version: Any, history: Any) -> None:
        """Mark the tensor that an op wrote into, `values[0]`."""
        if self.any_marked(values[1:]):
            self.mark(values[0])

    def before_write(self, op: Any, target: Any) -> None:
        """Raise RuntimeError if `target`, into which a tensor of one example is written, belongs to all.

        Writes of the library itself are not checked.
        """
        unobserved = self not in modes.state.observers or here.task is not self.task
        if unobserved or self.marked(target):
            return
        if op.name in ("add", "add_scaled"):
            shape = target._data.shape
            check_written_shape(shape, (self.size, *shape))
        raise RuntimeError(
            "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor "
            "`other` in extra_args that has more elements than `self`. This happened due to `other` being "
            "vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
            "operators instead of inplace arithmetic. If said operator is being called inside the PyTorch "
            "framework, please file a bug report instead."
        )

    def check(self, func: Any, outputs: list[Any], dim: int | None) -> None:
        """Raise PyTorch's errors for results that cannot have, or be without, the batch at `dim`."""
        name = name_of(func)
        if dim is None:
            if any(b is self or b.open for t in outputs if isinstance(t, TensorBase) for b in t._batched):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
                )
            return
        for t in outputs:
            if not isinstance(t, TensorBase):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(t)}. Did you mean "
                    "to set out_dims= to None for output?"
                )

    def join(self, outputs: list[Any], dim: int) -> Any:
        """Return the results of all examples as one, with the batch at `dim`."""
        result = F.stack(outputs, dim)
        return result if self.size else F.slice(result, dim % result._data.ndim, 0, 0, 1)


def move_dimension(t: Any, source: int, target: int) -> Any:
    """Return a tensor with one dimension at another place."""
    rank = t._data.ndim
    source, target = place(source, rank), place(target, rank)
    if source == target:
        return t
    order = [d for d in range(rank) if d != source]
    order.insert(target, source)
    return F.permute(t, tuple(order))


def drawing(randomness: str) -> modes.Within:
    """Return the block in which functions may draw random numbers as `randomness` says. An outer block that
    allows none stays in force.
    """
    return modes.Within(randomness="error" if modes.state.randomness == "error" else randomness)


def check_randomness(randomness: Any) -> None:
    """Raise RuntimeError unless it is one of PyTorch's three words."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
