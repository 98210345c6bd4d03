"""Data types and PyTorch's promotion rules.

Promotion puts operands into three classes, strongest first: tensors with dimensions, 0-dim tensors, Python
numbers. A weaker class changes the dtype of the result only if its category (bool < integer < floating <
complex) is higher than that of every stronger class. Python numbers then stand for the default dtype of their
category.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "bfloat16",
    "complex64",
    "complex128",
    "dtype",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "int8",
    "int16",
    "int32",
    "int64",
    "set_default_dtype",
    "uint8",
]

C_NAMES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "int8": "signed char",
    "int16": "short int", "int32": "int", "int64": "long int", "uint8": "unsigned char",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


class dtype:
    """A data type such as `torch.float32`, as it prints.

    `numpy` is the NumPy dtype. `category` is 0 for bool, 1 for integers, 2 for floating point, 3 for complex.
    `title` is the word that error messages use ("Float").
    """

    __slots__ = ("category", "name", "numpy", "title")

    def __init__(self, name: str, title: str) -> None:
        self.name = name
        self.title = title
        self.numpy = np.dtype(name)
        self.category = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}[self.numpy.kind]

    @property
    def is_floating_point(self) -> bool:
        """True for float16, float32 and float64."""
        return self.category == 2

    @property
    def is_complex(self) -> bool:
        """True for complex64 and complex128."""
        return self.category == 3

    @property
    def is_signed(self) -> bool:
        """False for uint8 and bool."""
        return self.numpy.kind in "ifc"

    @property
    def itemsize(self) -> int:
        """The number of bytes per element."""
        return self.numpy.itemsize

    @property
    def c_name(self) -> str:
        """The C++ name of the type, which some of PyTorch's errors use."""
        return C_NAMES.get(self.name, self.name)

    @property
    def type_name(self) -> str:
        """The name of a tensor of this dtype in PyTorch's errors."""
        return f"CPU{self.title}Type" if self.category == 3 else f"torch.{self.title}Tensor"

    def to_real(self) -> dtype:
        """Return the dtype of the real and imaginary parts; for a real dtype, the dtype itself."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self) -> dtype:
        """Return the complex dtype with parts of this dtype; for a complex dtype, the dtype itself."""
        if self.category == 3:
            return self
        return complex128 if self is float64 else complex64

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return "bool_" if self.name == "bool" else self.name  # its name in this module


float16, float32, float64 = dtype("float16", "Half"), dtype("float32", "Float"), dtype("float64", "Double")
int8, int16, int32, int64 = (
    dtype("int8", "Char"),
    dtype("int16", "Short"),
    dtype("int32", "Int"),
    dtype("int64", "Long"),
)
uint8, bool_ = dtype("uint8", "Byte"), dtype("bool", "Bool")


class UnsupportedDtype(dtype):
    """A dtype of PyTorch that NumPy lacks. It can be named and compared, but no tensor can have it."""

    __slots__ = ()

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title, self.category = name, title, 2

    @property
    def numpy(self) -> Any:  # type: ignore[override]
        """Always raises TypeError; every function that makes a tensor reads this attribute."""
        raise TypeError(f"minigrad has no {self.name}: NumPy has no such dtype; torch.float32 has its range")

    @property
    def is_signed(self) -> bool:
        """True."""
        return True

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return 2


bfloat16 = UnsupportedDtype("bfloat16", "BFloat16")
complex64, complex128 = dtype("complex64", "ComplexFloat"), dtype("complex128", "ComplexDouble")

ALL = (float16, float32, float64, int8, int16, int32, int64, uint8, bool_, complex64, complex128)
OF_NUMPY = {d.numpy: d for d in ALL}
DIFFERENTIABLE = frozenset(d.numpy for d in ALL if d.category >= 2)
# NumPy scalar types on which an op may work without any promotion: same type in, same type out.
FAST_SCALARS = frozenset((np.float32, np.float64))
FAST_ARRAYS = frozenset((np.dtype("float32"), np.dtype("float64")))


def kind_name(x: Any) -> str:
    """Return what PyTorch's errors call the type of an argument: `numpy.ndarray`, `torch.dtype`, `int`."""
    if isinstance(x, dtype):
        return "torch.dtype"
    kind = type(x)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


_default = float32
_default_complex = complex64


def get_default_dtype() -> dtype:
    """Return the dtype of tensors that are made from Python floats."""
    return _default


def as_dtype(kind: Any) -> Any:
    """Return the dtype that a dtype or Python type stands for; return anything else unchanged."""
    found = {bool: bool_, int: int64, float: float64, complex: complex128}
    return found.get(kind, kind) if isinstance(kind, type) else kind


def set_default_dtype(d: dtype) -> None:
    """Set the dtype of tensors that are made from Python floats. TypeError unless it is a floating-point
    dtype.
    """
    global _default, _default_complex
    if not isinstance(d, dtype) or d.category != 2:
        raise TypeError("only floating-point types are supported as the default type")
    _default, _default_complex = d, complex128 if d is float64 else complex64


def of(data: Any) -> dtype:
    """Return the dtype of a NumPy array or scalar; TypeError where PyTorch has no such dtype."""
    try:
        return OF_NUMPY[data.dtype]
    except KeyError:
        raise TypeError(
            f"can't convert np.ndarray of type {data.dtype.type.__module__}.{data.dtype.type.__name__}. The "
            "only supported types are: float64, float32, float16, complex64, complex128, int64, int32, "
            "int16, int8, uint8, and bool."
        ) from None


def of_number(value: Any) -> dtype:
    """Return the dtype of a tensor that is made from one Python number."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    return _default_complex if isinstance(value, complex) else _default


def _combine(a: np.dtype | None, b: np.dtype) -> np.dtype:
    """Return the dtype for two operands of one class: the one with the higher category (int64 with float16
    gives float16, as in PyTorch), or the smallest dtype that holds both.
    """
    if a is None or a == b:
        return b
    ca, cb = OF_NUMPY[a].category, OF_NUMPY[b].category
    if ca != cb and max(ca, cb) >= 2 and min(ca, cb) < 2:
        return a if ca > cb else b
    return np.promote_types(a, b)


def result_type(*operands: Any) -> np.dtype:
    """Return the NumPy dtype in which an op works on these operands: arrays, NumPy scalars (0-dim tensors) or
    Python numbers.
    """
    by_rank: list[np.dtype | None] = [None, None, None]
    for x in operands:
        if isinstance(x, bool | int | float | complex) and not isinstance(x, np.generic):
            rank, t = 2, of_number(x).numpy
        else:
            rank, t = (0 if x.ndim else 1), x.dtype
        by_rank[rank] = _combine(by_rank[rank], t)
    result: np.dtype | None = None
    for found in by_rank:
        if found is not None and (result is None or OF_NUMPY[found].category > OF_NUMPY[result].category):
            result = found if result is None else _lift(result, found)
    assert result is not None
    return result


def _lift(strong: np.dtype, weak: np.dtype) -> np.dtype:
    """Return `weak` if its category is higher. A complex number keeps the precision of the floats."""
    if OF_NUMPY[weak].category == 3 and OF_NUMPY[strong].category == 2:
        return np.dtype("complex128" if strong == np.float64 else "complex64")
    return weak


def is_integer_dtype(number: Any, t: np.dtype) -> Any:
    """Return a Python number in the integer dtype `t` (or as bool), wrapped around if it does not fit."""
    return t.type(number) if t.kind == "b" else np.array(int(number)).astype(t)[()]


def floating(t: np.dtype) -> np.dtype:
    """Return the dtype of the result of a floating-point op (log, division) on dtype `t`."""
    return t if OF_NUMPY[t].category >= 2 else _default.numpy
