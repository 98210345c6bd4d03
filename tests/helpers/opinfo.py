"""PyTorch's own table of ops, `OpInfo`, with its samples: what an op is, and which arguments matter.

`entries()` is the part of the table that minigrad has, by name. `Sample` is one set of arguments, which can
be had for either library.
"""

from __future__ import annotations

import functools
import itertools
import types
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad

DTYPES = (
    *("float32", "float64", "float16", "complex64", "complex128"),
    *("int64", "int32", "int16", "int8", "uint8", "bool"),
)
SAMPLES = 12  # of an op and dtype, spread over the table's
# What `left_out.txt` says of arguments: modes and arguments, by op.
MODES = {
    "nn.functional.interpolate": ("area", "bicubic", "lanczos", "nearest-exact"),
    "nn.functional.pad": ("circular",),
    "nn.functional.grid_sample": ("bicubic", "reflection"),
    "nn.functional.embedding_bag": ("max",),
}
ARGUMENTS = {
    "nn.functional.interpolate": ("antialias",),
    "nn.functional.embedding_bag": ("per_sample_weights",),
    "unique": ("dim",),
    "scatter": ("reduce",),
}


@functools.cache
def table() -> list[Any]:
    """All entries of PyTorch's table; empty where it cannot be imported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch import cuda, mtia, xpu
            from torch.testing._internal import common_utils
            from torch.testing._internal.common_methods_invocations import op_db
            from torch.testing._internal.opinfo import core
    except ImportError:
        return []
    # For each list of samples PyTorch would read the source of every frame, in search of a unittest.TestCase,
    # and for each seed it would keep a traceback for every kind of device that is not there.
    common_utils.extract_test_fn = core.extract_test_fn = lambda: None
    cuda.random._lazy_call = xpu.random._lazy_call = mtia._lazy_call = lambda call, **how: None
    return list(op_db)


def named(name: str) -> Any:
    """minigrad's function, or method, of the name that the table has; None if there is none."""
    for root in (minigrad, minigrad.Tensor):
        found: Any = root
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return found
    return getattr(minigrad.Tensor, name + "_", None)  # `uniform` of the table is `uniform_`


def ours(entry: Any) -> Any:
    """What an entry calls, in minigrad. A function of the table's own is run with minigrad as its `torch`."""
    op = entry.op
    if isinstance(op, types.FunctionType) and op.__module__.startswith("torch.testing."):
        inside = op.__globals__ | {"torch": minigrad}
        return types.FunctionType(op.__code__, inside, op.__name__, op.__defaults__, op.__closure__)
    if isinstance(op, types.MethodDescriptorType):
        return getattr(minigrad.Tensor, op.__name__)
    return named(entry.name)


def title(entry: Any) -> str:
    return f"{entry.name} {entry.variant_test_name}".strip()


@functools.cache
def entries() -> dict[str, Any]:
    """The entries that minigrad has, by title."""
    return {title(entry): entry for entry in table() if named(entry.name) is not None and is_kept(entry)}


def is_kept(entry: Any) -> bool:
    """Whether this is no variant of an op for a mode that was left out."""
    modes = (*MODES.get(entry.name, ()), "bicubic", "lanczos", "antialias")
    return not any(mode in entry.variant_test_name for mode in modes)


@dataclass(frozen=True)
class Sample:
    """The arguments of one call, as PyTorch's table has them."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def of(self, library: Any) -> Sample:
        """The same for a library, in new leaves."""
        args, kwargs = converted((self.args, self.kwargs), library)
        return Sample(args, kwargs)

    def leaves(self) -> list[Any]:
        """The tensors that require gradients."""
        return [t for t in tensors((self.args, self.kwargs)) if t.requires_grad]

    def __str__(self) -> str:
        return f"{described(self.args)} {described(self.kwargs)}"


def samples(entry: Any, dtype: str, requires_grad: bool = False, limit: int = SAMPLES) -> list[Sample]:
    """Some of the table's samples, spread evenly."""
    import torch

    kind = getattr(torch, dtype)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = list(itertools.islice(entry.sample_inputs("cpu", kind, requires_grad=requires_grad), 400))
    every = [s for s in every if not asks_for_left_out(entry.name, s)]
    step = max(1, len(every) // limit)
    return [Sample((s.input, *s.args), dict(s.kwargs)) for s in every[::step]][:limit]


def asks_for_left_out(name: str, sample: Any) -> bool:
    """Whether a sample of an op has an argument, or is of a mode, that was left out."""
    texts = [x for x in (*sample.args, *sample.kwargs.values()) if isinstance(x, str)]
    given = [sample.kwargs.get(key) for key in ARGUMENTS.get(name, ())]
    has_argument = any(value is not None and value is not False for value in given)
    return has_argument or any(mode in texts for mode in MODES.get(name, ()))


def converted(x: Any, library: Any) -> Any:
    """What PyTorch's table has as an argument, for a library."""
    import torch

    if isinstance(x, torch.Tensor):
        return of_tensor(x, library)
    if isinstance(x, (list, tuple)) and not isinstance(x, torch.Size):
        return type(x)(converted(item, library) for item in x)
    if isinstance(x, dict):
        return {key: converted(item, library) for key, item in x.items()}
    if library is torch:
        return x
    if isinstance(x, torch.Size):
        return tuple(x)
    if isinstance(x, (torch.dtype, torch.layout, torch.memory_format)):
        return getattr(library, str(x).removeprefix("torch."))
    if isinstance(x, torch.device):
        return str(x)
    return x


def of_tensor(x: Any, library: Any) -> Any:
    """A new leaf with the numbers of a tensor of PyTorch's."""
    data = x.detach().resolve_conj().resolve_neg()
    made = data.clone() if library is not minigrad else minigrad.tensor(data.numpy())
    return made.requires_grad_() if x.requires_grad else made


def tensors(x: Any) -> list[Any]:
    """The tensors in nested lists, tuples and dicts, in order."""
    if hasattr(x, "requires_grad"):
        return [x]
    if isinstance(x, dict):
        x = list(x.values())
    return [t for item in x for t in tensors(item)] if isinstance(x, (list, tuple)) else []


def described(x: Any) -> str:
    if hasattr(x, "requires_grad"):
        return f"{str(x.dtype).rpartition('.')[2]}{list(x.shape)}"
    if isinstance(x, (list, tuple)):
        return f"({', '.join(map(described, x))})"
    return f"{ {k: described(v) for k, v in x.items()} }" if isinstance(x, dict) else repr(x)


def call(entry: Any, library: Any, sample: Sample) -> Any:
    """The op on a sample; what it returns, as a list of tensors (and other things, as they are)."""
    function = entry.op if library is not minigrad else ours(entry)
    library.manual_seed(42)  # as the table does for PyTorch before each op that draws random numbers
    result = function(*sample.args, **sample.kwargs)
    parts = list(result) if isinstance(result, (list, tuple)) else [result]
    return [item for part in parts for item in (part if isinstance(part, tuple) else (part,))]


def numbers(x: Any) -> np.ndarray:
    """The numbers of a tensor of either library."""
    return np.asarray(x.detach().resolve_conj().resolve_neg().numpy(force=True))
