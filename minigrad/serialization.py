"""State dictionaries in files, as NumPy archives: `save` and `load`. Nothing in a file is ever executed.

A file is a zip of arrays (`.npz`) and of one text, `structure.json`, which says how they are put together:
dictionaries, lists, tuples, numbers, text and None.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from .core import dtypes
from .core.public import public
from .creation import tensor
from .nn.parameter import Parameter
from .tensor import Tensor

STRUCTURE = "structure.json"
PLAIN = (bool, int, float, str, type(None))


def describe_item(item: Any, tensors: dict[int, tuple[int, Tensor]]) -> Any:
    """Return what JSON has instead of an item, and number its tensors, by id. TypeError for what cannot be
    saved.
    """
    if isinstance(item, PLAIN):
        return {"float": repr(item)} if isinstance(item, float) else item
    if isinstance(item, Tensor):
        place, _ = tensors.setdefault(id(item), (len(tensors), item))
        kind = "parameter" if isinstance(item, Parameter) else "tensor"
        return {kind: place, "requires_grad": item.requires_grad and item.is_leaf}
    if isinstance(item, Mapping):
        pairs = [[describe_item(part, tensors) for part in pair] for pair in item.items()]
        return {"ordered" if isinstance(item, OrderedDict) else "dict": pairs}
    if isinstance(item, tuple | list):
        return {type(item).__name__: [describe_item(part, tensors) for part in item]}
    if isinstance(item, dtypes.dtype):
        return {"dtype": item.name}
    raise TypeError(
        f"save: an object of type {type(item).__name__} cannot be saved; save a state_dict, which has "
        "tensors, numbers and text only"
    )


@public("function", out=None)
def save(obj: Any, f: Any) -> None:
    """Write an object with its tensors to a file.

    Args:
        obj: a tensor, or any object that can be pickled, such as a state dict.
        f: a path or an open binary file.
    Shape: none.
    Returns: None.
    Raises: what opening the file or pickling the object raises.
    Source: torch.save

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save(torch.tensor([1, 2]), file)
    >>> file.tell() > 0
    True
    """
    tensors: dict[int, tuple[int, Tensor]] = {}
    structure = describe_item(obj, tensors)
    with zipfile.ZipFile(f if hasattr(f, "write") else os.fspath(f), "w") as archive:
        archive.writestr(STRUCTURE, json.dumps(structure))
        for i, t in tensors.values():
            memory = io.BytesIO()
            np.save(memory, t.detach().resolve_conj().resolve_neg().numpy(), allow_pickle=False)
            archive.writestr(f"{i}.npy", memory.getvalue())


@public("function", out=None)
def load(f: Any, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Return the object that `save` wrote to a file.

    Args:
        f: a path or an open binary file.
        map_location: accepted; there is one device.
        weights_only: whether only tensors and plain containers are accepted.
    Shape: none.
    Returns: the object.
    Raises: ValueError for a file that `save` did not write or that is damaged; OSError if it cannot be read.
    Source: torch.load

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save(torch.tensor([1, 2]), file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    tensor([1, 2])
    """
    with contextlib.nullcontext(f) if hasattr(f, "read") else open(os.fspath(f), "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                structure = json.loads(content_of(archive, STRUCTURE))
                count = len(archive.namelist()) - 1
                arrays = [array_in(content_of(archive, f"{i}.npy")) for i in range(count)]
            return rebuilt(structure, arrays, {})
        except DAMAGE as error:
            raise ValueError("load: this is no file that minigrad's save wrote, or it is damaged") from error


# What zipfile, json, NumPy and the structure raise for bytes that `save` did not write.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, ArithmeticError, AttributeError, EOFError, LookupError,
    NotImplementedError, RuntimeError, SyntaxError, TypeError, ValueError, tokenize.TokenError,
)  # fmt: skip


def content_of(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return what a file of the archive holds. It is not compressed, so it is no larger than the archive."""
    entry = archive.getinfo(name)
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise ValueError(f"{name} is compressed")
    return archive.read(entry)


def array_in(content: bytes) -> np.ndarray:
    """Return the array in the content of a `.npy` file, whose header has to fit its length."""
    memory = io.BytesIO(content)
    if np.lib.format.read_magic(memory) != (1, 0):
        raise ValueError("this version of the format is not written")
    shape, _, dtype = np.lib.format.read_array_header_1_0(memory)
    if math.prod(shape) * dtype.itemsize != len(content) - memory.tell():
        raise ValueError("the header says another length")
    memory.seek(0)
    return np.load(memory, allow_pickle=False)


def rebuilt(item: Any, arrays: list[np.ndarray], made: dict[int, Tensor]) -> Any:
    """Return the structure, put together again. LookupError, TypeError or ValueError if it is not ours."""
    if isinstance(item, PLAIN):
        return item
    (kind, content), *more = item.items()
    if kind == "float":
        return float(content)
    if kind == "dtype":
        return {dtype.name: dtype for dtype in dtypes.ALL}[content]
    if kind in ("dict", "ordered"):
        pairs = [(rebuilt(key, arrays, made), rebuilt(value, arrays, made)) for key, value in content]
        return OrderedDict(pairs) if kind == "ordered" else dict(pairs)
    if kind in ("tuple", "list"):
        parts = [rebuilt(part, arrays, made) for part in content]
        return tuple(parts) if kind == "tuple" else parts
    if kind not in ("tensor", "parameter") or content not in range(len(arrays)):
        raise ValueError(f"{kind} {content} is not there")
    if content not in made:
        ((_, requires_grad),) = more
        data = tensor(arrays[content])
        made[content] = Parameter(data, requires_grad) if kind == "parameter" else data
        if kind == "tensor" and requires_grad:
            data.requires_grad_()
    return made[content]
