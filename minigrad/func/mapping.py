"""`vmap`: a function of one example made one of a batch.

Note [A loop and a stack]
    PyTorch runs the function once, on tensors that carry a hidden dimension, and needs a rule for every op.
    Here it runs once for each example, and the results are stacked: right for every op, and slower. What can
    be seen of the difference: prints and other effects happen for each example, and inside the function an
    example of a tensor that requires grad does so too.

    What PyTorch cannot do with a tensor that depends on the example is refused here as well: to look at its
    numbers (`item()`, `if`), to write it into a tensor that does not, to return it where `out_dims` is None.
    A `Batch` observes the ops and marks the tensors for that (`_batched`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..core import F, modes
from ..core.generator import default_generator
from ..core.nested_passes import here
from ..core.public import public
from ..core.tensor_state import TensorBase, wrap
from . import pytree
from .levels import Transform

Dims = Any  # an int, or a nested structure of them and None


@public("function", out=None)
def vmap(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that maps `func` over dimension `in_dims` of its arguments and stacks its results along
    `out_dims`.

    Both are a number or a structure like that of arguments or results (a part of it may stand for all below);
    None in `in_dims` gives an argument whole to every example, None in `out_dims` returns a result that does
    not depend on the example. Keyword arguments are given whole. Calls can be nested. `chunk_size` (how many
    examples PyTorch takes together) makes no difference. `randomness` says whether random numbers may be
    drawn inside, and whether every example gets the same. See Note [A loop and a stack].
    """
    check_randomness(randomness)
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        check_out_dims(func, out_dims)
        dims, leaves, spec, size = batched(func, in_dims, args)
        batch = Batch(size)
        found: list[list[Any]] = []
        output_spec: Any = None
        with Transform("vmap"), batch, Randomness(randomness) as numbers:
            for i in range(max(size, 1)):
                numbers.begin_example()
                example = [t if d is None else batch.example(t, d, i) for t, d in zip(leaves, dims)]
                outputs, structure = pytree.flatten(func(*pytree.unflatten(example, spec), **kwargs))
                if found and structure != output_spec:
                    raise ValueError(
                        f"vmap({name_of(func)}, ...): the structure of the outputs differs between examples."
                    )
                found.append(outputs)
                output_spec = structure
        places = spread_out_dims(func, out_dims, output_spec)
        result = [batch.join(func, list(ts), d) for ts, d in zip(zip(*found), places)]
        return pytree.unflatten(result, output_spec)

    return wrapper


class Batch:
    """The examples of one call of `vmap`, as an observer that marks whatever is computed from them."""

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

    def example(self, t: Any, dim: int, i: int) -> Any:
        """Example number `i` of a tensor; of an empty batch one of zeros, to see what the function
        returns."""
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
        """Whether a tensor depends on the example."""
        return isinstance(t, TensorBase) and self in t._batched

    def any_marked(self, values: Any) -> bool:
        """Whether one of the arguments of an op does."""
        return any(self.any_marked(v) if isinstance(v, (list, tuple)) else self.marked(v) for v in values)

    def forward(self, op: Any, inputs: Any, outputs: Any) -> None:
        """An op ran."""
        if self.any_marked(inputs):
            for t in outputs if isinstance(outputs, (list, tuple)) else (outputs,):
                if isinstance(t, TensorBase):
                    self.mark(t)

    def detached(self, source: Any, result: Any, how: str) -> None:
        """`detach()` was called, or `.data`."""
        if self.marked(source):
            self.mark(result)

    def mutated(self, op: Any, values: Any, version: Any, history: Any) -> None:
        """An op wrote into `values[0]`."""
        if self.any_marked(values[1:]):
            self.mark(values[0])

    def before_write(self, op: Any, target: Any) -> None:
        """A tensor that depends on the example will be written into `target`: RuntimeError if that is one
        tensor for all examples. What the library does by itself is its own affair.
        """
        unobserved = self not in modes.state.observers or here.task is not self.task
        if unobserved or self.marked(target):
            return
        if op.name in ("add", "add_scaled"):
            shape = list(target._data.shape)
            raise RuntimeError(
                f"output with shape {shape} doesn't match the broadcast shape {[self.size, *shape]}"
            )
        raise RuntimeError(
            "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor "
            "`other` in extra_args that has more elements than `self`. This happened due to `other` being "
            "vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
            "operators instead of inplace arithmetic. If said operator is being called inside the PyTorch "
            "framework, please file a bug report instead."
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return nothing

    def join(self, func: Any, outputs: list[Any], dim: int | None) -> Any:
        """The results of all examples as one, the batch at `dim`; PyTorch's errors where that cannot be."""
        name = name_of(func)
        if dim is None:
            if any(b is self or b.open for t in outputs if isinstance(t, TensorBase) for b in t._batched):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
                )
            return outputs[0]
        for t in outputs:
            if not isinstance(t, TensorBase):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(t)}. Did you mean "
                    "to set out_dims= to None for output?"
                )
        result = F.stack(outputs, dim)
        return result if self.size else F.slice(result, dim % result._data.ndim, 0, 0, 1)


class Randomness:
    """What the examples of one call of `vmap` may do with random numbers."""

    def __init__(self, wanted: str) -> None:
        self.wanted = "error" if modes.state.randomness == "error" else wanted
        self.state = default_generator.get_state() if self.wanted == "same" else None

    def __enter__(self) -> Randomness:
        self.before = modes.switch("randomness", self.wanted)
        return self

    def __exit__(self, *exc: object) -> None:
        modes.switch("randomness", self.before)

    def begin_example(self) -> None:
        """Let each example draw the same numbers if it shall."""
        if self.state is not None:
            default_generator.set_state(self.state)


def nothing(*args: Any) -> None:
    """What a `Batch` does when it is notified of anything else."""


# ── checks of the arguments
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def check_randomness(randomness: Any) -> None:
    """RuntimeError unless it is one of PyTorch's three words."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )


def name_of(func: Any) -> str:
    """How errors call a function."""
    if hasattr(func, "__name__"):
        return str(func.__name__)
    if isinstance(func, functools.partial):
        return f"functools.partial({name_of(func.func)}, ...)"
    return repr(func)


def check_out_dims(func: Any, out_dims: Dims) -> None:
    """ValueError unless `out_dims` is made of numbers and None."""
    for d in pytree.flatten(out_dims)[0]:
        if not (d is None or isinstance(d, int)):
            raise ValueError(
                f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a "
                "python collection of ints representing where in the outputs the vmapped dimension should "
                "appear."
            )


def batched(func: Any, in_dims: Dims, args: tuple[Any, ...]) -> tuple[list[Any], list[Any], Any, int]:
    """For each leaf of the arguments its batch dimension (or None); the leaves, their structure, and the size
    of the batch. ValueError with PyTorch's texts.
    """
    name = name_of(func)
    who = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{who}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
            f"inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
            "vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = pytree.flatten(args)
    dims = pytree.spread(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{who}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{pytree.flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    dims = [checked_dim(who, t, d) for t, d in zip(leaves, dims, strict=True)]
    sizes = [t._data.shape[d] for t, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(n != sizes[0] for n in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return dims, leaves, spec, sizes[0]


def checked_dim(who: str, leaf: Any, dim: Any) -> int | None:
    """One batch dimension, counted from the front."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{who}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(leaf, TensorBase):
        raise ValueError(
            f"{who}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    n = leaf._data.ndim
    if not -n <= dim < n:
        raise ValueError(
            f"{who}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {n} so "
            f"expected in_dim to satisfy -{n} <= in_dim < {n}."
        )
    return dim % n


def spread_out_dims(func: Any, out_dims: Dims, spec: Any) -> list[Any]:
    """The batch dimension of each leaf of the outputs; ValueError where the structures do not agree."""
    if spec == pytree.LEAF and isinstance(out_dims, tuple) and len(out_dims) == 1:
        return list(out_dims)
    dims = pytree.spread(out_dims, spec)
    if dims is None:
        refuse_out_dims(func, out_dims, spec)
    return dims


def refuse_out_dims(func: Any, out_dims: Dims, spec: Any) -> NoReturn:
    """PyTorch's error."""
    raise ValueError(
        f"vmap({name_of(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
        f"structure of `outputs`. out_dims has structure {pytree.flatten(out_dims)[1]} but outputs has "
        f"structure {spec}."
    )
