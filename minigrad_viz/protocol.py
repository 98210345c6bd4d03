"""The whole duck-typing contract: what the viewer reads of a tensor and of a backward node, minigrad's or
PyTorch's.

Tensors: `requires_grad`, `is_leaf`, `grad_fn`, `output_nr`, `grad`, `retains_grad`, `_version`, `shape`,
`dtype`, their numbers and, where a library tells, their hooks. Nodes: `name()`, `next_functions`,
`variable` (of an AccumulateGrad), `_saved_<name>` (or `saved_tensors` of a custom Function), `metadata`,
`register_hook` and `register_prehook`. Nothing else is touched, so every graph that offers these can be
drawn.
"""

from __future__ import annotations

import cmath
import functools
import math
import operator
import re
import sys
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad import observing

from .faults import pass_on
from .fields import Beyond, Count

# Numbers kept per snapshot: enough to draw a 3×3 matrix in full and to redo a small vjp by hand.
KEPT = 64
NAN = math.nan  # every NaN of a snapshot is this one, so that equal snapshots compare equal


class Value(NamedTuple):
    """A snapshot of a tensor's numbers.

    `items` holds all numbers in row-major order when there are at most `KEPT` of them, else None; `low`
    and `high` are the extremes of the finite numbers (None when there is none, or for complex numbers).
    `dtype` is the bare name ("float32"). `beyond` says what there is besides the finite numbers, where
    `items` does not: "nan" or "inf".
    """

    shape: tuple[Count, ...]
    dtype: str
    items: tuple[Any, ...] | None
    low: float | None = None
    high: float | None = None
    beyond: Beyond = ""

    @property
    def special(self) -> str:
        """ "nan" if one of the numbers is NaN, "inf" if one is infinite, "" if all are finite."""
        if self.items is None:
            return self.beyond
        total = sum(self.items)
        if total - total == 0:  # as it is of finite numbers, and fast to ask
            return ""
        odd = [n for n in self.items if isinstance(n, float) and not math.isfinite(n)]
        return "" if not odd else "nan" if any(n != n for n in odd) else "inf"

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def consistent(self) -> bool:
        """Whether its parts fit together, as those of a snapshot do and those of a damaged one may not."""
        numbers = range_of(self.dtype)
        if numbers is None or len(self.shape) > DIMENSIONS or self.size > LARGEST:
            return False
        cls, least, most = numbers
        ends = (self.low, self.high) if self.low is not None and self.high is not None else ()
        if not ends and self.low is not self.high:
            return False
        if ends and not least <= ends[0] <= ends[1] <= most:
            return False
        if self.items is None:
            return True
        if (
            len(self.items) != self.size
            or self.size > KEPT
            or any(n.__class__ is not cls for n in self.items)
        ):
            return False
        if cls is complex:
            return not ends and all(not cmath.isfinite(n) or abs(n) <= most for n in self.items)
        finite = [n for n in self.items if math.isfinite(n)]
        if not finite:
            return not ends
        low, high = min(finite), max(finite)
        return least <= low and high <= most and ends in ((), (low, high))


# What a snapshot can be of.
DIMENSIONS, LARGEST = 64, 2**63 - 1
DTYPE = re.compile(r"(bool|u?int|b?float|complex)\d{0,3}(_\w{1,16})?")
KINDS: dict[str, type] = {"b": bool, "u": int, "i": int, "f": float, "c": complex}


@functools.lru_cache(64)
def range_of(dtype: str) -> tuple[type, float, float] | None:
    """The class of the numbers of a dtype, and between which they are; None for what is no dtype. Those that
    NumPy lacks have no limits."""
    if DTYPE.fullmatch(dtype) is None:
        return None
    scalar = np.sctypeDict.get("float32" if dtype == "bfloat16" else dtype)
    if scalar is None:
        return KINDS["f" if dtype.startswith("bf") else dtype[0]], -math.inf, math.inf
    known = np.dtype(scalar)
    if known.kind == "b":
        return bool, False, True
    if known.kind in "iu":
        return int, int(np.iinfo(known).min), int(np.iinfo(known).max)
    return KINDS[known.kind], float(np.finfo(known).min), float(np.finfo(known).max)


def finite(value: Value | None) -> float | None:
    """The number that a snapshot is, if it is a single finite one."""
    items = () if value is None or value.items is None else value.items
    number = items[0] if len(items) == 1 else None
    return float(number) if isinstance(number, int | float) and math.isfinite(number) else None


def pytorch() -> ModuleType | None:
    """Return PyTorch if it is imported. `torch` may also be minigrad (`minigrad.install_as_torch()`)."""
    module = sys.modules.get("torch")
    return None if module is minigrad else module


def is_tensor(obj: Any) -> bool:
    """Whether `obj` is a tensor of minigrad or of PyTorch (or anything else that keeps the contract)."""
    cls = type(obj)
    if cls in PLAIN:
        return False
    try:
        has = hasattr(cls, "grad_fn") and hasattr(cls, "requires_grad") and hasattr(cls, "backward")
    except Exception as problem:  # what a metaclass of the user's raises
        pass_on(problem)
        return False
    return has and not hasattr(type(cls), "__getattr__")  # or the class has whatever is asked for


PLAIN = frozenset((int, float, bool, complex, str, type(None), tuple, list, dict))  # asked thousands of times


def variables(namespace: dict[Any, Any]) -> list[tuple[str, Any]]:
    """The variables of a namespace, as they are now, but for private ones and for keys that are no names."""
    return [(name, value) for name, value in list(namespace.items()) if type(name) is str and name[:1] != "_"]


def is_parameter(tensor: Any) -> bool:
    """Whether a tensor is an `nn.Parameter`."""
    return "Parameter" in map(operator.attrgetter("__name__"), type(tensor).__mro__)


def array_of(tensor: Any) -> Any:
    """The numbers of a tensor as NumPy data, to be read only; None where they cannot be had (a meta
    tensor, say).

    The tensor does not notice. bfloat16, which NumPy lacks, is widened to float32.
    """
    if isinstance(tensor, minigrad.Tensor):
        return observing.numbers(tensor)
    if notices(tensor):
        return None
    try:
        if not tensor.shape and hasattr(tensor, "item") and (number := getattr(np, dtype_name(tensor), None)):
            return number(tensor.item())  # a third of the time that an array takes
        return (tensor.detach() if tensor.requires_grad else tensor).numpy()
    except (RuntimeError, TypeError, NotImplementedError) as refused:
        pass_on(refused)
        return _array_by_detour(tensor)


def notices(tensor: Any) -> bool:
    """Whether a class of PyTorch's tensors handles each op on them, so that it would notice reading."""
    handler = getattr(type(tensor), "__torch_dispatch__", None)
    return handler is not None and handler.__name__ != "_disabled_torch_dispatch_impl"


def _array_by_detour(tensor: Any) -> Any:
    """The numbers of a tensor on another device, conjugated, negated, of a dtype that NumPy lacks, or inside
    a transform of `torch.func`, which wraps what it differentiates."""
    wraps = getattr(getattr(pytorch(), "_C", None), "_functorch", None)
    if wraps is not None and wraps.is_gradtrackingtensor(tensor):
        return _array_inside(tensor, wraps)
    if getattr(tensor, "is_nested", False):  # rows of several lengths; PyTorch warns of each use
        return None
    try:
        plain = tensor.detach().float() if dtype_name(tensor) == "bfloat16" else tensor
        return plain.numpy(force=True)
    except (RuntimeError, TypeError, NotImplementedError) as refused:
        pass_on(refused)
        return None


def _array_inside(tensor: Any, wraps: Any) -> Any:
    """The numbers of a tensor that `torch.func.grad` has wrapped, if they are few and not those of many
    examples at once. There is no memory to be seen, so they are copied one by one."""
    while wraps.is_gradtrackingtensor(tensor):
        tensor = wraps.get_unwrapped(tensor)
    if wraps.is_batchedtensor(tensor) or tensor.numel() > KEPT:
        return None
    try:
        return np.array(tensor.tolist(), dtype_name(tensor))[()]
    except TypeError as refused:  # a dtype that NumPy lacks
        pass_on(refused)
        return None


_dtype_names: dict[Any, str] = {}


def dtype_name(tensor: Any) -> str:
    """`float32` for minigrad.float32 and torch.float32."""
    return bare_name(getattr(tensor, "_data", tensor).dtype)  # NumPy's, which costs less to ask for


def bare_name(dtype: Any) -> str:
    """The name of a dtype without its library."""
    name = _dtype_names.get(dtype)
    if name is None:
        name = _dtype_names[dtype] = str(dtype).rpartition(".")[2]
    return name


def value_of(tensor: Any) -> Value:
    """A snapshot of a tensor's numbers."""
    data = array_of(tensor)
    dtype = dtype_name(tensor)
    return Value(shape_of(tensor), dtype, None) if data is None else value_from(data, dtype)


def shape_of(tensor: Any) -> tuple[int, ...]:
    """The shape of a tensor; () where it has none, as one of tensors of several shapes."""
    try:
        return tuple(tensor.shape)
    except RuntimeError as refused:
        pass_on(refused)
        return ()


def value_from(data: Any, dtype: str) -> Value:
    """A snapshot of NumPy data."""
    if not data.shape:
        number = data.item()
        if number.__class__ is complex:
            return Value((), dtype, (number,))
        if not math.isfinite(number):
            return Value((), dtype, (number if number == number else NAN,))
        return Value((), dtype, (number,), number, number)
    low, high, plain = extremes(data)
    items: tuple[Any, ...] | None = None
    if data.size <= KEPT:
        numbers = data.reshape(-1).tolist()
        items = tuple(numbers) if plain else tuple(n if n == n else NAN for n in numbers)
    beyond = ""
    if not plain and items is None and data.dtype.kind == "f":
        beyond = "nan" if np.isnan(data).any() else "inf"
    return Value(data.shape, dtype, items, low, high, beyond)


def extremes(data: Any) -> tuple[Any, Any, bool]:
    """Return the minimum and the maximum of the finite numbers, and whether all numbers are finite. Both are
    None for complex numbers, and where there are no finite numbers."""
    kind = data.dtype.kind
    if not data.size or kind not in "fiub":
        return None, None, kind != "c"
    low, high = data.min().item(), data.max().item()
    if kind != "f" or (math.isfinite(low) and math.isfinite(high)):  # a NaN comes out as both
        return low, high, True
    finite = data[np.isfinite(data)]
    return (finite.min().item(), finite.max().item(), False) if finite.size else (None, None, False)


def has_history(tensor: Any) -> bool:
    """Whether `grad_fn` can be read. It is refused for a view that was made in one grad mode, or in a custom
    Function, and whose memory was written to since."""
    try:
        tensor.grad_fn  # noqa: B018  (to read it is the question)
    except RuntimeError as refused:
        pass_on(refused)
        return False
    return True


def history_of(tensor: Any) -> Any:
    """`grad_fn`; None also where that cannot be read."""
    try:
        return tensor.grad_fn
    except RuntimeError as refused:
        pass_on(refused)
        return None


def memory_of(tensor: Any) -> tuple[int, int] | None:
    """The memory that a tensor uses: what tells it from all other memory at this time, and its size in bytes;
    None where that is not known. A part of a tensor uses, and keeps, the memory of the whole."""
    data = getattr(tensor, "_data", None)
    if isinstance(data, (np.ndarray, np.generic)):
        whole = owner_of(data)
        return id(whole), whole.nbytes
    try:
        storage = tensor.untyped_storage()
        return storage._cdata, storage.nbytes()
    except (AttributeError, RuntimeError, NotImplementedError) as refused:
        pass_on(refused)
        return None  # sparse, or wrapped by a transform


def owner_of(data: Any) -> Any:
    """The array whose memory NumPy data uses: itself, if it is no view."""
    while True:
        base = data.base
        if base is not None and not isinstance(base, np.ndarray) and hasattr(base, "__array_interface__"):
            base = getattr(base, "array", getattr(base, "base", None))  # what minigrad and NumPy put between
        if not isinstance(base, np.ndarray):
            return data
        data = base


def version_of(tensor: Any) -> int:
    """How often the memory of a tensor was written to; 0 where nobody counts (inference tensors)."""
    try:
        return tensor._version
    except RuntimeError as refused:
        pass_on(refused)
        return 0


def node_name(node: Any) -> str:
    """The node's name without a namespace."""
    name = node.name()
    return name.rpartition("::")[2] if ":" in name else name


def op_of(name: str) -> str:
    """The op of a node, by the node's name in either dialect: `log` of `LogBackward0`, in lower case."""
    return name.rstrip("0123456789").removesuffix("Backward").lower()


def sequence_of(node: Any) -> int:
    """A node's sequence number: the engine runs the ready node with the highest number first."""
    number = getattr(node, "_sequence_nr", None)
    return 0 if number is None else number()


def edges_of(node: Any) -> tuple[tuple[Any, int], ...]:
    """`next_functions` of a node."""
    return node.next_functions


def edge_of(root: Any) -> tuple[Any, int] | None:
    """The node and the output number of a GradientEdge, where a backward call may begin or end as well as at
    a tensor; None for a tensor."""
    return None if is_tensor(root) else (root.node, root.output_nr)


def variable_of(node: Any) -> Any:
    """The leaf of an AccumulateGrad, or None for another node."""
    variable = getattr(node, "variable", None)  # first, since few nodes have one and names take longer
    return variable if variable is not None and node_name(node) == "AccumulateGrad" else None


def tangent_of(tensor: Any) -> Any:
    """The tangent of a dual tensor (forward mode); None for any other tensor."""
    if isinstance(tensor, minigrad.Tensor):
        return observing.tangent(tensor)
    forward = pytorch() and sys.modules.get("torch.autograd.forward_ad")
    if forward is None or forward._current_level < 0 or not type(tensor).__module__.startswith("torch"):
        return None
    try:
        return forward.unpack_dual(tensor).tangent
    except RuntimeError as refused:  # one of many examples at once, inside `torch.func.vmap`
        pass_on(refused)
        return None
