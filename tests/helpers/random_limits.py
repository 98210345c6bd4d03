"""What random programs leave out, because PyTorch has no right answer or NumPy lays memory out otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

import minigrad


def is_left_out(library: Any, kept: bool, kind: str, name: str, a: Any, b: Any) -> bool:
    """Whether an instruction on `a` and `b` is not run. `kept`: saved or other hooks of `a` know it."""
    x, y = raw(a), raw(b)
    if kind in ("unary", "binary", "function"):
        if not is_plain(name, x, y) or (name == "scale_" and overlaps(x)):
            return True
        # PyTorch takes what was packed and unpacked of a view outside the graph for a leaf.
        if kept and any(t.requires_grad and t.is_leaf and t._is_view() for t in (a, b)):
            return True
    if name == "sin":  # of a large argument the last digit decides
        return bool(np.max(np.abs(x), initial=0) > 1e3)
    if kind in ("binary", "in place") and (a.is_inference() or b.is_inference()) and a.shape != b.shape:
        return True  # of two errors another one comes first
    if name == "matmul" and (a.is_inference() or b.is_inference()):
        return True  # for the same reason
    if kind == "in place":
        return is_undefined(name, x, y, a is b)
    if kind == "retain":  # of an output with a number: then an in-place op fails an assert of PyTorch
        return bool(a.output_nr)
    return kind == "turn" and is_unturnable(library, kept, name, a)


def is_unturnable(library: Any, kept: bool, name: str, a: Any) -> bool:
    """Whether `a` must keep its shape: a gradient is kept for it (of which shape?), PyTorch fails an assert
    (`retain_grad` and then `detach_` or a new shape), hooks were registered (PyTorch adds later ones to what
    the tensor was before), or saved values keep it as it is.
    """
    if kept or (name == "detach_" and a.retains_grad) or (a.is_leaf and a.grad is not None):
        return True
    recording = library.is_grad_enabled() and not library.is_inference_mode_enabled()
    reshapes = name.startswith(("un", "sq", "t"))
    return reshapes and a.requires_grad and (a.is_leaf or a.retains_grad or not recording)


def raw(t: Any) -> np.ndarray:
    """The memory of a tensor as NumPy sees it."""
    return np.asarray(t._data) if isinstance(t, minigrad.Tensor) else t.detach().numpy()


def layout(a: np.ndarray) -> Any:
    """Where elements lie in memory; dimensions of size 1 have no stride to speak of."""
    return a.__array_interface__["data"][0], [(s, n) for s, n in zip(a.strides, a.shape) if n > 1]


def overlaps(a: np.ndarray) -> bool:
    """Whether several elements lie in one place, other than after `expand`."""
    if any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape)) or not (a.size and a.ndim):
        return False
    places = sum(index * step for index, step in zip(np.ogrid[tuple(map(slice, a.shape))], a.strides))
    return np.unique(places).size < a.size


def is_plain(name: str, *operands: np.ndarray) -> bool:
    """Whether the result of an op lies in memory in one way only. Else that is NumPy's or PyTorch's choice,
    and `view`, and the product that `matmul` or its gradient takes, depend on it.
    """
    orders = {a.flags.c_contiguous for a in operands if a.ndim > 1}
    dims = max(a.ndim for a in operands)
    if any(overlaps(a) for a in operands) or (name == "matmul" and dims > 2):
        return False
    return False not in orders or (orders == {False} and dims < 3 and name != "matmul")


def is_undefined(name: str, a: np.ndarray, b: np.ndarray, same: bool) -> bool:
    """Whether PyTorch has no right answer for `a.op_(b)`: it fills an expanded tensor but cannot run backward
    through that; and where operands overlap in a way that it does not look at, it reads what it has just
    written. Which ways it looks at depends on the strides of dimensions of size 1, which NumPy does not keep.
    """
    if not a.size:
        return False
    if any(s == 0 and n > 1 for s, n in zip(a.strides, a.shape)):
        return name in ("zero_", "fill_", "fill_ tensor")
    shared = same or bool(np.may_share_memory(a, b))
    if overlaps(a) or (shared and name.startswith(("set", "add to"))):
        return True
    return shared and not same and (layout(a) != layout(b) or 1 in a.shape + b.shape)
