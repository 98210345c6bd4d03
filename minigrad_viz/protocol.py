"""The whole duck-typing contract: what the viewer reads of a tensor, of a backward node and of the user's
hooks, minigrad's or PyTorch's.

Tensors: `requires_grad`, `is_leaf`, `grad_fn`, `output_nr`, `grad`, `retains_grad`, `_version`, `shape`,
`dtype`, their numbers and, where a library tells, their hooks. Nodes: `name()`, `next_functions`,
`variable` (of an AccumulateGrad), `_saved_<name>` (or `saved_tensors` of a custom Function), `metadata`,
`register_hook` and `register_prehook`. Nothing else is touched, so every graph that offers these can be
drawn.
"""

from __future__ import annotations

import cmath
import functools
import itertools
import math
import operator
import re
import sys
from collections.abc import Iterable
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad import observing

from .fields import Beyond, Count
from .isolation import pass_on

# ─── The whole duck-typing contract


# Numbers kept per snapshot: enough to draw a 3×3 matrix in full and to redo a small vjp by hand.
KEPT = 64
WHOLE = 10_000  # numbers of a Jacobian that a gradcheck compared, which is kept whole
BINS = 16  # of the histogram of a tensor
SAMPLED = 4096  # numbers that it is made of
MANY = 2**18  # numbers, of which more are not all compared
NAN = math.nan  # every NaN of a snapshot is this one, so that equal snapshots compare equal


SIDE, CORNER, PLANES = 16, 256, 8  # of a corner: its sides at most, its numbers, and how many planes


class Corner(NamedTuple):
    """The first planes of a large tensor, for pictures of what it is: heads of an attention, channels of an
    image. A plane is the last two dimensions, of which every `down`-th row and every `across`-th column is
    kept: `rows` by `columns`; `items` has one plane after the other."""

    rows: Count
    columns: Count
    down: Count
    across: Count
    items: tuple[float, ...]


class Summary(NamedTuple):
    """What is kept of more than `KEPT` numbers: their root mean square, and of a sample of them, evenly
    spread over the tensor, the share of zeros, how many lie in each of `BINS` parts of the range, and `KEPT`
    numbers themselves, so that two snapshots of one tensor can be compared. Numbers that are not finite are
    left out. Of more than one dimension the `corner` is kept as well, as far as it is finite. Of a leaf of
    moderate size, data or a parameter, `numbers` are all of them in base64, as they are in memory: with them
    a small model is computed again (`whole_array`).
    """

    rms: float
    zeros: float
    bins: tuple[Count, ...]
    sample: tuple[float, ...]
    corner: Corner | None = None
    numbers: str = ""


class Value(NamedTuple):
    """A snapshot of a tensor's numbers.

    `items` holds all numbers in row-major order when there are at most `KEPT` of them, else None; `low`
    and `high` are the extremes of the finite numbers (None when there is none, or for complex numbers).
    `dtype` is the bare name ("float32"). `beyond` says what there is besides the finite numbers, where
    `items` does not: "nan" or "inf"; `summary` describes real numbers that `items` does not hold. Of a
    `skimmed` one the extremes are those of a sample.
    """

    shape: tuple[Count, ...]
    dtype: str
    items: tuple[Any, ...] | None
    low: float | None = None
    high: float | None = None
    beyond: Beyond = ""
    summary: Summary | None = None
    skimmed: bool = False

    @property
    def rms(self) -> float | None:
        """The root mean square of the numbers that are finite; None where they are not known or not real."""
        if self.summary is not None:
            return self.summary.rms
        return None if self.items is None else rms_of(self.items)

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

    def base64_length(self) -> int:
        """How many letters all its numbers take in base64; -1 if NumPy lacks the dtype."""
        kind = memory_dtype(self.dtype)
        return -1 if kind is None else 4 * math.ceil(self.size * kind.itemsize / 3)

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
            return self.summary is None or (
                len(self.summary.bins) == BINS
                and len(self.summary.sample) <= KEPT
                and self.summary.rms >= 0
                and (self.summary.corner is None or is_corner(self.summary.corner))
                and (not self.summary.numbers or len(self.summary.numbers) == self.base64_length())
            )
        if (
            len(self.items) != self.size
            or self.size > WHOLE
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


@functools.lru_cache(64)
def memory_dtype(dtype: str) -> Any:
    """How NumPy keeps numbers of a dtype in the memory of a snapshot; None if it lacks the dtype."""
    scalar = np.sctypeDict.get("float32" if dtype == "bfloat16" else dtype)
    return None if scalar is None else np.dtype(scalar).newbyteorder("<")


def is_corner(corner: Corner) -> bool:
    """Whether the parts of a corner fit together."""
    plane = corner.rows * corner.columns
    within = (
        0 < plane <= SIDE**2
        and corner.rows <= SIDE
        and corner.columns <= SIDE
        and min(corner.down, corner.across) > 0
    )
    return within and len(corner.items) in range(plane, CORNER + 1, plane)


# What a snapshot can be of.
DIMENSIONS, LARGEST = 64, 2**63 - 1
DTYPE = re.compile(r"(bool|u?int|b?float|complex)\d{0,3}(_\w{1,16})?")
KINDS: dict[str, type] = {"b": bool, "u": int, "i": int, "f": float, "c": complex}


@functools.lru_cache(64)
def range_of(dtype: str) -> tuple[type, float, float] | None:
    """The class of the numbers of a dtype, and between which they are; None for anything but a dtype. Those
    that NumPy lacks have no limits."""
    if DTYPE.fullmatch(dtype) is None:
        return None
    known = memory_dtype(dtype)
    if known is None:
        return KINDS["f" if dtype.startswith("bf") else dtype[0]], -math.inf, math.inf
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
    if cls in TENSORS:
        return True
    if cls in PLAIN:
        return False
    try:
        has = hasattr(cls, "grad_fn") and hasattr(cls, "requires_grad") and hasattr(cls, "backward")
    except Exception as problem:  # what a metaclass of the user's raises
        pass_on(problem)
        return False
    has = has and not hasattr(type(cls), "__getattr__")  # or the class has whatever is asked for
    if has and (cls.__module__, cls.__name__) in OF_TORCH:
        TENSORS.add(cls)
    return has


# Is asked thousands of times, mostly of these.
NUMBERS = frozenset((int, float, bool))
PLAIN = frozenset((int, float, bool, complex, str, type(None), tuple, list, dict))
TENSORS: set[type] = {minigrad.Tensor}  # and those of PyTorch, once they were met
OF_TORCH = ("torch", "Tensor"), ("torch.nn.parameter", "Parameter")


def variables(namespace: dict[Any, Any]) -> list[tuple[str, Any]]:
    """The variables of a namespace, as they are now, except private ones and keys that are not names."""
    return [(name, value) for name, value in list(namespace.items()) if type(name) is str and name[:1] != "_"]


def is_parameter(tensor: Any) -> bool:
    """Whether a tensor is an `nn.Parameter`."""
    kind = type(tensor)
    if kind in TENSORS:
        return kind.__name__ == "Parameter"
    return "Parameter" in map(operator.attrgetter("__name__"), kind.__mro__)


def number_of(tensor: Any) -> Any:
    """The number that a plain tensor of PyTorch without dimensions is, as NumPy has it; None for any other
    tensor. To ask so takes a third of the time that an array takes."""
    if type(tensor) not in TENSORS or tensor.__class__ is minigrad.Tensor:
        return None
    try:
        kind = None if tensor.shape else SCALARS[tensor.dtype]
        return None if kind is None else kind(tensor.item())
    except (
        RuntimeError,
        TypeError,
        NotImplementedError,
    ) as refused:  # on the meta device, nested, or wrapped
        pass_on(refused)
        return None


def array_of(tensor: Any) -> Any:
    """The numbers of a tensor as NumPy data, to be read only; None where they cannot be had (a meta
    tensor, say).

    The tensor does not notice. bfloat16, which NumPy lacks, is widened to float32.
    """
    number = number_of(tensor)
    return number if number is not None else numbers_inside(tensor)


def numbers_inside(tensor: Any) -> Any:
    """The same of one that is not a plain number."""
    if isinstance(tensor, minigrad.Tensor):
        return observing.numbers(tensor)
    if type(tensor) not in TENSORS and notices(tensor):
        return None
    if getattr(tensor, "is_nested", False):
        return _array_by_detour(tensor)  # PyTorch warns of whatever else is done with it
    try:
        return (tensor.detach() if tensor.requires_grad else tensor).numpy()
    except (RuntimeError, TypeError, NotImplementedError) as refused:
        pass_on(refused)
        return _array_by_detour(tensor)


def notices(tensor: Any) -> bool:
    """Whether a class of PyTorch's tensors handles each op on them, so that it would notice reading."""
    if type(tensor) in TENSORS:
        return False
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
    examples at once. Their memory is not visible, so they are copied one by one."""
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
    data = tensor._data if isinstance(tensor, minigrad.Tensor) else tensor
    return bare_name(data.dtype)  # NumPy's, which costs less to ask for


def bare_name(dtype: Any) -> str:
    """The name of a dtype without its library."""
    name = _dtype_names.get(dtype)
    if name is None:
        name = _dtype_names[dtype] = str(dtype).rpartition(".")[2]
    return name


class Scalars(dict[Any, Any]):
    """NumPy's classes of numbers by dtype; None where it has none (bfloat16)."""

    def __missing__(self, dtype: Any) -> Any:
        found = getattr(np, bare_name(dtype), None)
        known = isinstance(found, type) and issubclass(found, np.generic)
        self[dtype] = found if known else None
        return self[dtype]


SCALARS = Scalars()


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


def value_from(data: Any, dtype: str, exact: bool = True) -> Value:
    """A snapshot of NumPy data. Of many numbers the extremes are those of a sample, if not `exact`."""
    if not exact and data.size > MANY and (skimmed := skimmed_value(data, dtype)) is not None:
        return skimmed
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
    known = items is None and low is not None and data.dtype.kind in "fiu"
    summary = summary_of(data, low, high, plain) if known else None
    return Value(data.shape, dtype, items, low, high, beyond, summary)


def skimmed_value(data: Any, dtype: str) -> Value | None:
    """A snapshot of many numbers that is made in one pass over them; None where that does not tell whether
    all of them are finite, and where a sample shows no two that differ."""
    if data.dtype.kind != "f" or data.dtype.itemsize < 4 or not is_dense(data):
        return None
    flat = data.ravel("K")
    squares = float(np.dot(flat, flat))
    numbers = evenly(data, SAMPLED)
    low, high = numbers.min().item(), numbers.max().item()
    if not math.isfinite(squares) or low == high or max(-low, high) < 1e-15:
        return None
    summary = summary_of(numbers, low, high, True)._replace(rms=math.sqrt(squares / data.size))
    return Value(data.shape, dtype, None, low, high, "", summary, True)


def value_of_view(taken: Value, data: Any) -> Value:
    """The snapshot of `data`, which has the numbers of which `taken` is one, its axes in another order."""
    if taken.shape == data.shape or taken.summary is None:
        return taken._replace(shape=data.shape)
    sample = evenly(evenly(data, SAMPLED), KEPT).tolist() if taken.summary.sample else []
    return taken._replace(shape=data.shape, summary=taken.summary._replace(sample=tuple(sample)))


def summary_of(data: Any, low: float, high: float, plain: bool) -> Summary:
    """What is kept of many real numbers between `low` and `high`, all of them finite if `plain`. No copy of
    all of them is made."""
    numbers = evenly(data, SAMPLED).astype(np.float64)
    numbers = numbers if plain else numbers[np.isfinite(numbers)]
    flat = data.ravel("K") if plain and data.dtype.kind == "f" and is_dense(data) else None
    largest = max(abs(low), abs(high))
    if flat is not None and 1e-15 < largest < 1e15 and data.dtype.itemsize >= 4:  # whose squares are in range
        rms = math.sqrt(max(0.0, float(np.dot(flat, flat))) / data.size)
    else:
        rms = (
            largest * math.sqrt(float(np.mean((numbers / largest) ** 2))) if largest and numbers.size else 0.0
        )
    if low == high:
        bins = (*[0] * (BINS // 2), numbers.size, *[0] * (BINS - BINS // 2 - 1))
    else:
        share = (numbers / largest - low / largest) / (
            high / largest - low / largest
        )  # no range is too large
        bins = tuple(np.bincount(np.clip(share * BINS, 0, BINS - 1).astype(np.intp), minlength=BINS).tolist())
    zeros = float((numbers == 0).mean()) if numbers.size else 0.0
    sample = evenly(numbers, KEPT).tolist() if plain else []
    return Summary(rms, zeros, bins, tuple(sample), corner_of(data) if plain and data.ndim > 1 else None)


def corner_of(data: Any) -> Corner:
    """The first planes of an array of at least two dimensions. No copy of all of it is made."""
    high, wide = data.shape[-2:]
    down, across = -(-high // SIDE), -(-wide // SIDE)
    rows, columns = -(-high // down), -(-wide // across)
    count = min(PLANES, max(1, CORNER // (rows * columns)))
    if data.flags.c_contiguous:
        planes = data.reshape(-1, high, wide)[:count, ::down, ::across]
    else:
        leading = itertools.islice(np.ndindex(data.shape[:-2]), count)
        planes = np.stack([data[index][::down, ::across] for index in leading])
    return Corner(rows, columns, down, across, tuple(planes.astype(np.float64).ravel().tolist()))


def is_dense(data: Any) -> bool:
    """Whether the numbers of an array fill one piece of memory, so that they can be read without a copy."""
    return bool(data.flags.c_contiguous or data.flags.f_contiguous)


def evenly(data: Any, most: int) -> Any:
    """At most `most` numbers of an array, evenly spread over its axes."""
    while data.size > most:
        axis = max(range(data.ndim), key=data.shape.__getitem__)
        step = min(-(-data.size // most), max(2, data.shape[axis] // 16))
        data = data[(slice(None),) * axis + (slice(step // 2, None, step),)]
    return data.reshape(-1)


def rms_of(numbers: Iterable[Any]) -> float | None:
    """The root mean square of numbers, except those that are not finite; None where one is not real."""
    found = list(numbers)
    if not found or any(n.__class__ is complex or n.__class__ is bool for n in found):
        return None
    finite = [float(n) for n in found if math.isfinite(n)]
    return math.hypot(*finite) / math.sqrt(len(finite)) if finite else None


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
    """The memory that a tensor uses: what distinguishes it from all other memory at this time, and its size
    in bytes; None where that is not known. A part of a tensor uses, and keeps, the memory of the whole."""
    data = tensor._data if isinstance(tensor, minigrad.Tensor) else None
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
    """The array whose memory NumPy data uses: itself, if it is not a view."""
    while True:
        base = data.base
        if base is not None and not isinstance(base, np.ndarray) and hasattr(base, "__array_interface__"):
            base = getattr(base, "array", getattr(base, "base", None))  # what minigrad and NumPy put between
        if not isinstance(base, np.ndarray):
            return data
        data = base


def versions_of(tensors: Iterable[Any]) -> list[int]:
    """`version_of` each of several."""
    try:
        return [tensor._version for tensor in tensors]
    except RuntimeError as refused:
        pass_on(refused)
        return [version_of(tensor) for tensor in tensors]


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


def is_native(node: Any) -> bool:
    """Whether a node is one of PyTorch's own, which is written in C++."""
    kind = type(node)
    if kind in NATIVE:
        return True
    native = kind.__base__ is object and kind.__module__ == "builtins"
    if native and hasattr(kind, "next_functions"):
        NATIVE.add(kind)
    return native


NATIVE: set[type] = set()  # the classes of those, once they were met


def edge_of(root: Any) -> tuple[Any, int] | None:
    """The node and the output number of a GradientEdge, where a backward call may begin or end as well as at
    a tensor; None for a tensor."""
    return None if is_tensor(root) else (root.node, root.output_nr)


# Classes of PyTorch's nodes that are no AccumulateGrad: to ask one for its variable takes an error each time.
WITHOUT_VARIABLE: set[type] = set()
WITH_VARIABLE: set[type] = set()  # that of its AccumulateGrads, once one was met


def variable_of(node: Any) -> Any:
    """The leaf of an AccumulateGrad, or None for another node."""
    if type(node) in WITHOUT_VARIABLE:
        return None
    if type(node) in WITH_VARIABLE:
        return node.variable
    variable = getattr(node, "variable", None)  # first, since few nodes have one and names take longer
    if variable is None and is_native(node) and not hasattr(type(node), "variable"):
        WITHOUT_VARIABLE.add(type(node))
    if variable is None or node_name(node) != "AccumulateGrad":
        return None
    if is_native(node):
        WITH_VARIABLE.add(type(node))
    return variable


def tangent_of(tensor: Any) -> Any:
    """The tangent of a dual tensor (forward mode); None for any other tensor."""
    if isinstance(tensor, minigrad.Tensor):
        return observing.tangent(tensor)
    forward = sys.modules.get("torch.autograd.forward_ad")
    if forward is None or forward._current_level < 0 or not type(tensor).__module__.startswith("torch"):
        return None
    try:
        return forward.unpack_dual(tensor).tangent
    except RuntimeError as refused:  # one of many examples at once, inside `torch.func.vmap`
        pass_on(refused)
        return None


# ─── What the libraries tell of the user's own code


def multi_hook(hook: Any) -> Any:
    """The function of a multi-grad hook, of which `hook` is the part at one tensor; None for any other."""
    inner = getattr(getattr(hook, "func", None), "__self__", hook)
    if type(inner).__module__ == "minigrad.autograd.graph":
        return getattr(inner, "fn", None)
    code = getattr(hook, "__code__", None)
    if code is None or not code.co_qualname.startswith("register_multi_grad_hook"):
        return None
    names = code.co_freevars
    return hook.__closure__[names.index("fn")].cell_contents if "fn" in names else hook


def hook_name(hook: Any) -> str:
    """A hook's own name, else that of its class."""
    name = getattr(hook, "__name__", None)
    return name if isinstance(name, str) else type(hook).__name__


def hooks_of(node: Any, tensors: Iterable[Any] = ()) -> int:
    """How many hooks of the user run with `node`, as far as the library tells.

    minigrad tells all of a node. PyTorch tells those of a tensor, so its results are counted where they
    are at hand (`tensors`); what was registered on one of its nodes itself is not known.
    """
    leaf = variable_of(node)
    native = is_native(node)
    extra = None if native else getattr(node, "_extra", None)
    count = 0
    if extra is not None:
        own = (extra.pre, extra.post, *extra.tensor_hooks.values())
        count += sum(len(hooks) for hooks in own if hooks)
    elif native or not hasattr(node, "_extra"):
        for tensor in tensors if leaf is None else (leaf,):
            count += len(getattr(tensor, "_backward_hooks", None) or ())
    if leaf is None:
        return count
    for name in ("_post_accumulate", "_post_accumulate_grad_hooks"):
        count += len(getattr(leaf, name, None) or ())
    return count


def function_of(node: Any) -> Any:
    """The class of the custom Function that made a node; None for any other node, and for that of compiled
    code."""
    if is_native(node):
        return None
    kind = type(node)
    function = getattr(kind, "function", None) or getattr(kind, "_forward_cls", None)
    return None if str(getattr(function, "__module__", "")).startswith("torch._functorch.") else function


def method_code(node: Any, name: str) -> CodeType | None:
    """The code of a method of a custom Function, as "backward"; None where it has none of its own, and of
    another node."""
    function = function_of(node)
    if function is None:
        return None
    method = getattr(function, name, None)
    if str(getattr(method, "__module__", "")).startswith(("torch.autograd.", "minigrad.autograd.")):
        return None
    return getattr(getattr(method, "__wrapped__", method), "__code__", None)


def text_of(value: Any) -> str:
    """An argument that is not a tensor, as text: its own if it is data, else its class, for the text of an
    object of the user's may be anything."""
    kind = type(value)
    if kind in NUMBERS:
        return str(value)
    if kind in (list, tuple):
        inner = [text_of(item) for item in value]
        comma = "," if kind is tuple and len(inner) == 1 else ""
        return f"[{', '.join(inner)}]" if kind is list else f"({', '.join(inner)}{comma})"
    if is_tensor(value):
        return "…"
    if callable(value):
        return hook_name(value)
    module = kind.__module__.partition(".")[0]
    plain = module in TOLD and not isinstance(value, dict | set)  # in which anything may stand
    told = str(value) if plain or (module == "torch" and kind.__name__ in TORCH) else ""
    return told if told and " at 0x" not in told else kind.__name__


TOLD = ("builtins", "numpy", "minigrad")
TORCH = ("dtype", "device", "Size", "layout", "memory_format")  # the text of a storage is all its numbers
