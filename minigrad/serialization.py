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


class Writer:
    """Takes a structure apart into arrays and what JSON can hold."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.places: dict[int, int] = {}
        self.kept: list[Any] = []  # so that no id is given twice

    def described(self, item: Any) -> Any:
        """What JSON has in the place of an item; TypeError for what cannot be saved."""
        if isinstance(item, PLAIN):
            return {"float": repr(item)} if isinstance(item, float) else item
        if isinstance(item, Tensor):
            return self.tensor(item)
        if isinstance(item, Mapping):
            pairs = [[self.described(key), self.described(value)] for key, value in item.items()]
            return {"ordered" if isinstance(item, OrderedDict) else "dict": pairs}
        if isinstance(item, tuple | list):
            return {type(item).__name__: [self.described(part) for part in item]}
        if isinstance(item, dtypes.dtype):
            return {"dtype": item.name}
        raise TypeError(
            f"save: an object of type {type(item).__name__} cannot be saved; save a state_dict, which has "
            "tensors, numbers and text only"
        )

    def tensor(self, t: Tensor) -> dict[str, Any]:
        """A tensor's place among the arrays; the same tensor is written once."""
        if id(t) not in self.places:
            self.places[id(t)] = len(self.arrays)
            self.kept.append(t)
            self.arrays.append(np.asarray(t.detach().resolve_conj().resolve_neg().numpy()))
        kind = "parameter" if isinstance(t, Parameter) else "tensor"
        return {kind: self.places[id(t)], "requires_grad": t.requires_grad and t.is_leaf}


@public("function", out=None)
def save(obj: Any, f: Any) -> None:
    """Write tensors, numbers and text, in dictionaries, lists and tuples, to a path or an open binary file.

    TypeError for anything else, such as a module: save its `state_dict()`.
    """
    writer = Writer()
    structure = writer.described(obj)
    with zipfile.ZipFile(f if hasattr(f, "write") else os.fspath(f), "w") as archive:
        archive.writestr(STRUCTURE, json.dumps(structure))
        for i, array in enumerate(writer.arrays):
            memory = io.BytesIO()
            np.save(memory, array, allow_pickle=False)
            archive.writestr(f"{i}.npy", memory.getvalue())


@public("function", out=None)
def load(f: Any, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Read what `save` wrote. ValueError for a file of another kind: those of PyTorch hold pickles, which are
    programs, and are not read.
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
