"""State dictionaries in files, as NumPy archives: `save` and `load`. Nothing of a file is ever executed.

A file is a zip of arrays (`.npz`) and of one text, `structure.json`, which says how they are put together:
dictionaries, lists, tuples, numbers, text and None.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
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


def described(item: Any, tensors: dict[int, tuple[int, Tensor]]) -> Any:
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
        pairs = [[described(part, tensors) for part in pair] for pair in item.items()]
        return {"ordered" if isinstance(item, OrderedDict) else "dict": pairs}
    if isinstance(item, tuple | list):
        return {type(item).__name__: [described(part, tensors) for part in item]}
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
    structure = described(obj, tensors)
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
    Raises: pickle.UnpicklingError if the file holds anything else and `weights_only` is True.
    Source: torch.load

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save(torch.tensor([1, 2]), file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    tensor([1, 2])
    """
    try:
        with zipfile.ZipFile(f if hasattr(f, "read") else os.fspath(f)) as archive:
            structure = json.loads(archive.read(STRUCTURE))
            count = len(archive.namelist()) - 1
            arrays = [np.load(io.BytesIO(archive.read(f"{i}.npy")), allow_pickle=False) for i in range(count)]
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError("load: this is no file that minigrad's save wrote") from error
    return rebuilt(structure, arrays, {})


def rebuilt(item: Any, arrays: list[np.ndarray], made: dict[int, Tensor]) -> Any:
    """The structure, put together again."""
    if not isinstance(item, dict):
        return item
    (kind, content), *_ = item.items()
    if kind == "float":
        return float(content)
    if kind == "dtype":
        return next(dtype for dtype in dtypes.ALL if dtype.name == content)
    if kind in ("dict", "ordered"):
        pairs = [(rebuilt(key, arrays, made), rebuilt(value, arrays, made)) for key, value in content]
        return OrderedDict(pairs) if kind == "ordered" else dict(pairs)
    if kind in ("tuple", "list"):
        parts = [rebuilt(part, arrays, made) for part in content]
        return tuple(parts) if kind == "tuple" else parts
    if content not in made:
        data = tensor(arrays[content])
        made[content] = Parameter(data, item["requires_grad"]) if kind == "parameter" else data
        if kind == "tensor" and item["requires_grad"]:
            data.requires_grad_()
    return made[content]
