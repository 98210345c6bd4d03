"""Guards: functions that raise PyTorch's error, with PyTorch's text, unless arguments are as they must be.

Checks that several modules share are here; a check of a single op is beside that op. `check_…` raises the
error, `…_error` returns it. `refuse` raises that of a dtype, which `tables/dtypes.txt` has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from .. import tables
from . import dtypes
from .dtypes import dtype, kind_name, of
from .tensor_state import TensorBase

NUMBERS = (int, float, complex, np.generic)

# ─── The classes of arguments


def is_integer(x: Any) -> bool:
    """Return whether `x` is an integer, no bool."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def argument_error(function: str, name: str, position: int, wanted: str, value: Any) -> TypeError:
    """The error for an argument of another class than `wanted`."""
    return TypeError(
        f"{function}(): argument '{name}' (position {position}) must be {wanted}, not {kind_name(value)}"
    )


def invalid_arguments(name: str, /, *args: Any, **kwargs: Any) -> TypeError:
    """The error for arguments that none of a function's forms takes."""
    named = (f"{k}={kind_name(v)}" for k, v in kwargs.items())
    given = ", ".join([*map(kind_name, args), *named])
    if kwargs and not args:
        given += ", "  # as PyTorch writes it
    return TypeError(f"{name}() received an invalid combination of arguments - got ({given})")


def check_tensor(function: str, value: Any, position: int = 1, name: str = "input") -> None:
    """TypeError unless an argument is a tensor."""
    if not isinstance(value, TensorBase):
        raise argument_error(function, name, position, "Tensor", value)


def check_operands(op: Any, values: Iterable[Any], first: int = 1, name: str = "") -> None:
    """TypeError unless all `values` are tensors; `first` is the position of the first."""
    for at, (argument, value) in enumerate(zip(op.params, values), first):
        check_tensor(name or op.name, value, at, "input" if argument == "self" else argument)


def check_elements(tensors: Iterable[Any], argument: int = 0) -> None:
    """TypeError for an element of a list that is not a tensor."""
    for i, t in enumerate(tensors):
        if not isinstance(t, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument {argument}, but got {kind_name(t)}")


def check_bool(function: str, name: str, value: Any, position: int = 1) -> None:
    """TypeError unless an argument is a bool."""
    if not isinstance(value, bool):
        raise argument_error(function, name, position, "bool", value)


def check_real(function: str, name: str, value: Any, position: int) -> None:
    """TypeError unless an argument is a real number."""
    if not isinstance(value, (int, float, np.floating)):
        raise argument_error(function, name, position, "float", value)


def check_dtype(function: str, name: str, value: Any, position: int) -> None:
    """TypeError unless an argument is a dtype."""
    if not isinstance(value, dtypes.dtype):
        raise argument_error(function, name, position, "torch.dtype", value)


def check_integers(function: str, name: str, value: Any, position: int) -> None:
    """TypeError unless an argument is a list or tuple of integers."""
    if not isinstance(value, (list, tuple)):
        raise argument_error(function, name, position, "tuple of ints", value)
    if value and not is_integer(value[0]) and not isinstance(value[0], TensorBase):
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be tuple of ints, but found "
            f"element of type {kind_name(value[0])} at pos 0"
        )


def check_data(value: Any) -> None:
    """TypeError unless `value` can be the data of a Variable."""
    if not isinstance(value, TensorBase):
        raise TypeError(f"Variable data has to be a tensor, but got {kind_name(value)}")


def check_output(value: Any) -> None:
    """RuntimeError unless a transformed function returned a tensor."""
    if not isinstance(value, TensorBase):
        raise RuntimeError(f"Expected tensors, got unsupported type {type(value)}")


# ─── Dtypes and the numbers that they hold

EXPECTED_DTYPE = "expected scalar type {0.title} but found {1.title}"
MATRIX_DTYPE = "expected m1 and m2 to have the same dtype, but got: {0.c_name} != {1.c_name}"


def check_same_dtype(a: Any, b: Any, text: str = EXPECTED_DTYPE) -> None:
    """RuntimeError unless both arrays have one dtype; `{0}` and `{1}` in the text are the dtypes."""
    if a.dtype != b.dtype:
        raise RuntimeError(text.format(of(a), of(b)))


def check_difference(kinds: list[dtypes.dtype]) -> None:
    """RuntimeError for a difference of bools."""
    if all(kind.category == 0 for kind in kinds):
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if any(kind.category == 0 for kind in kinds):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or `logical_not()` operator instead."
        )


def overflow_error(kind: str) -> RuntimeError:
    """The error for a number that a type, by its name in C, cannot hold."""
    return RuntimeError(f"value cannot be converted to type {kind} without overflow")


def unpacking_error() -> ValueError:
    """The error for an integer of more than 64 bits."""
    return ValueError("Overflow when unpacking long long")


def check_holds_complex(kind: np.dtype) -> None:
    """TypeError unless this dtype has complex numbers (or bools, for which all serve)."""
    if kind.kind == "f":
        raise TypeError("must be real number, not complex")
    if kind.kind in "iu":
        raise TypeError("'complex' object cannot be interpreted as an integer")


def index_error() -> TypeError:
    """The error for a tensor that is not an index."""
    return TypeError("only integer tensors of a single element can be converted to an index")


def number_error() -> ValueError:
    """The error for a tensor that is not a number."""
    return ValueError("only one element tensors can be converted to Python scalars")


def check_probability(p: float) -> None:
    """ValueError unless `p` is a probability of dropout."""
    if p < 0 or p > 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


# ─── Dimensions and sizes


def dimension_error(dim: int, ndim: int) -> IndexError:
    """The error for a dimension that a tensor of `ndim` dimensions has not."""
    limit = ndim or 1
    return IndexError(
        f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})"
    )


def check_has_dimensions(ndim: int, dim: int = 0) -> None:
    """IndexError for an array without dimensions, of which `dim` was asked for."""
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


def check_not_number(x: Any, name: str) -> None:
    """RuntimeError for an array without dimensions, which cannot be cut."""
    if not x.ndim:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")


def check_not_empty(tensors: Any, name: str) -> None:
    """RuntimeError for a list without tensors."""
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


def check_length(length: int) -> None:
    """RuntimeError for a negative number of elements along a dimension."""
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")


def check_sizes(sizes: tuple[int, ...], name: str = "") -> tuple[int, ...]:
    """Return the sizes of a new tensor; RuntimeError for a negative one."""
    for n in sizes:
        if n < 0:
            if name == "zeros":
                raise RuntimeError("zeros: Dimension size must be non-negative.")
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(sizes)}")
    return sizes


def check_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """RuntimeError unless the shapes broadcast."""
    n = max(len(a), len(b))
    if len(a) == n and a[n - len(b) :] == b:
        return  # such as a bias
    for i in range(n - 1, -1, -1):
        x, y = (s[i - n + len(s)] if i - n + len(s) >= 0 else 1 for s in (a, b))
        if x != y and x != 1 and y != 1:
            raise RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton "
                f"dimension {i}"
            )


def broadcast(shape: tuple[int, ...], *others: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that the shapes broadcast to."""
    for other in others:
        check_broadcast(shape, other)
        shape = np.broadcast_shapes(shape, other)
    return shape


def check_written_shape(shape: Any, result: Any) -> None:
    """RuntimeError unless a result of the shape `result` can be written into memory of this shape."""
    if result != shape:
        raise RuntimeError(
            f"output with shape {list(shape)} doesn't match the broadcast shape {list(result)}"
        )


# ─── Layers: batches of samples, windows, classes


def check_images(x: Any, k: int, filled: int | None = None) -> None:
    """RuntimeError unless `x` is a sample with channels and `k` more dimensions, or a batch of them. The last
    `filled` sizes, by default all but that of the batch, must not be 0.
    """
    if x.ndim not in (k + 1, k + 2) or 0 in x.shape[x.ndim - (k + 1 if filled is None else filled) :]:
        raise RuntimeError(
            f"Expected {k + 1}D or {k + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(x.shape)}"
        )


def check_batch(x: Any, k: int, name: str, shape: Any) -> None:
    """The same for a layer or function `name`, which shows the `shape` in its own way."""
    if x.ndim not in (k + 1, k + 2):
        raise RuntimeError(
            f"Expected {k + 1}D (unbatched) or {k + 2}D (batched) input to {name}, but got input of "
            f"size: {shape}"
        )


def check_steps(padding: Any, **positive: Any) -> None:
    """RuntimeError unless no padding is negative, and the sizes and steps of windows are positive."""
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got {list(padding)}")
    for name, sizes in positive.items():
        if min(sizes) <= 0:
            raise RuntimeError(f"{name} should be greater than zero, but got {list(sizes)}")


def check_single_target(target: Any) -> None:
    """RuntimeError for more than one class for each sample."""
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")


# ─── Products of matrices


def check_vectors(a: Any, b: Any) -> None:
    """RuntimeError unless `a · b` is a product of two vectors."""
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    check_same_dtype(a, b, MATRIX_DTYPE)
    if a.shape != b.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(a.shape)} and src {list(b.shape)} to have the "
            f"same number of elements, but got {a.size} and {b.size} elements respectively"
        )


def check_matrix_and_vector(matrix: Any, vector: Any) -> None:
    """RuntimeError unless `matrix @ vector` is a product of such."""
    if matrix.ndim != 2 or vector.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {matrix.ndim}, {vector.ndim}")
    if matrix.shape[1] != vector.shape[0]:
        rows, columns = matrix.shape
        raise RuntimeError(
            f"size mismatch, got input ({rows}), mat ({rows}x{columns}), vec ({vector.shape[0]})"
        )
    check_same_dtype(matrix, vector, MATRIX_DTYPE)


def check_matrices(a: Any, b: Any) -> None:
    """RuntimeError unless `a @ b` is a product of two matrices."""
    if a.ndim != 2 or b.ndim != 2:
        raise RuntimeError(f"{'self' if a.ndim != 2 else 'mat2'} must be a matrix")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
            f"{b.shape[0]}x{b.shape[1]})"
        )
    check_same_dtype(a, b, MATRIX_DTYPE)


def check_added_product(added: Any, mat1: Any, mat2: Any) -> None:
    """RuntimeError unless `mat1` and `mat2` are matrices, of the dtype of what is added to their product."""
    if mat1.ndim == 2 == mat2.ndim and added.dtype == mat1.dtype == mat2.dtype:
        return
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {matrix.ndim}-D tensor")
    for name, other in (("self", added), ("mat1", mat1)):
        text = name + " and mat2 must have the same dtype, but got {0.title} and {1.title}"
        check_same_dtype(other, mat2, text)


def check_3d(batch1: Any, batch2: Any) -> None:
    """RuntimeError unless both shapes are those of batches of matrices."""
    for name, shape in (("batch1", batch1), ("batch2", batch2)):
        if len(shape) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")


def check_batch_sizes(a: Any, b: Any) -> None:
    """RuntimeError unless batches of matrices of these shapes can be multiplied."""
    if a[0] != b[0] or a[2] != b[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{a[0]}, {a[2]}] but got: "
            f"[{b[0]}, {b[1]}]."
        )


def check_matrix_input(x: Any, name: str) -> None:
    """RuntimeError unless `x` is a matrix or a batch of matrices."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")


# ─── Dtypes that kernels refuse. A line of the table has the name of an op, or that of a kernel; the refused
# dtypes, as letters of NumPy's kinds or names; and words. Without words, or for a kernel's name in quotes,
# the error says that the kernel is not implemented. Other words are the error's own text; it is a
# RuntimeError unless they begin with its class.

ERRORS: dict[str, type[Exception]] = {
    error.__name__: error for error in (NotImplementedError, RuntimeError, TypeError)
}


class Refusal(NamedTuple):
    """The error for a dtype: `{title}` and `{c_name}` in the text are its names. It is about a kernel, or
    about the op.
    """

    kind: type[Exception]
    text: str
    is_of_kernel: bool

    def error(self, refused: dtype) -> Exception:
        """Return the error for a dtype."""
        return self.kind(self.text.format(title=refused.title, c_name=refused.c_name))


def refusal(key: str, words: str) -> Refusal:
    """What a line of the table says."""
    if not words or words[0] == '"':
        return Refusal(NotImplementedError, (words or f'"{key}"') + " not implemented for '{title}'", True)
    name, _, text = words.partition(": ")
    return Refusal(ERRORS[name], text, False) if name in ERRORS else Refusal(RuntimeError, words, False)


def is_named(kind: np.dtype, refused: str) -> bool:
    """Whether a dtype is among those of a line: letters of kinds and, after commas, names."""
    kinds, *names = refused.split(",")
    return kind.kind in kinds or kind.name in names


def read() -> dict[str, dict[np.dtype, Refusal]]:
    """Return the table: by op or kernel, and by dtype."""
    found: dict[str, dict[np.dtype, Refusal]] = {}
    for line in tables.lines("dtypes.txt"):
        key, refused, *words = line.split("\t")
        says = refusal(key, *words or ("",))
        found.setdefault(key, {}).update({k: says for k in dtypes.OF_NUMPY if is_named(k, refused)})
    return found


REFUSED = read()


def refuse(x: Any, name: str) -> None:
    """Raise PyTorch's error for an array of a dtype that an op or kernel refuses."""
    refused = REFUSED[name].get(x.dtype)
    if refused is not None:
        raise refused.error(dtypes.of(x))


def refuse_dtype(kind: dtype, name: str) -> None:
    """The same for a dtype that the user asks for."""
    refused = REFUSED[name].get(kind.numpy)
    if refused is not None:
        raise refused.error(kind)


def check_of(name: str) -> Callable[[list[dtype]], None] | None:
    """Return the check of the dtypes of an op's operands, None if it refuses none. A kernel refuses the
    strongest of them, the op any.
    """
    if name not in REFUSED:
        return None
    refused = REFUSED[name]

    def check(kinds: list[dtype]) -> None:
        for kind in kinds:
            one = refused.get(kind.numpy)
            if one is not None and not one.is_of_kernel:
                raise one.error(kind)
        strongest = max(kinds, key=lambda kind: kind.category)
        last = refused.get(strongest.numpy)
        if last is not None:
            raise last.error(strongest)

    return check
