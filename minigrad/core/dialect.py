"""What PyTorch 1.4 and PyTorch 2 print differently. A dialect decides nothing else.

"2", the default, prints what PyTorch prints today (`LogBackward0`). "1.4" prints what material written for
PyTorch 1.4 shows: the node of an op has a digit only if the op has several derivative overloads
(`PowBackward0`, but `LogBackward`). The environment variable MINIGRAD_DIALECT chooses another default.
"""

from __future__ import annotations

import os

from . import user_warnings

DIALECTS = ("1.4", "2")
_current = os.environ.get("MINIGRAD_DIALECT", "2")
if _current not in DIALECTS:
    raise ValueError(f"MINIGRAD_DIALECT must be one of {', '.join(map(repr, DIALECTS))}, not {_current!r}")

# Ops with several derivative overloads: their digit is printed in both dialects.
_NUMBERED = frozenset((
    "Add", "All", "Any", "Clamp", "ClampMax", "ClampMin", "Copysign", "CountNonzero", "Div", "Eq",
    "Fill", "Fmod", "Ge", "Gt", "IndexFill", "Le", "Lerp", "Lt", "MaskedFill", "Max", "Mean", "Median",
    "Min", "Mul", "Nanmedian", "Ne", "Norm", "Normal", "Pow", "Prod", "Relu", "Remainder", "Round",
    "Rsub", "Scatter", "Sort", "SpecialXlog1Py", "SpecialXlog1py", "SpecialZeta", "Squeeze", "Sub",
    "Sum", "Xlogy",
))  # fmt: skip
_RENAMED = {
    "CopyBackwards": "CloneBackward",
    "FillBackward2": "FillBackward0",
    "FillBackward3": "FillBackward1",
    "SqueezeBackward4": "SqueezeBackward3",
    "ToCopyBackward0": "ToCopyBackward",
    "ViewBackward1": "ViewDtypeBackward",
}

# Nodes whose `name()` has a namespace that printing leaves out.
_NAMESPACE = "torch::autograd::"
_NAMESPACED = ("AccumulateGrad", "CopyBackwards", "CopySlices", "Error", "Identity", "NotImplemented")

_SECOND_BACKWARD = {
    "1.4": "Trying to backward through the graph a second time, but the buffers have already been freed. "
    "Specify retain_graph=True when calling backward the first time.",
    "2": "Trying to backward through the graph a second time (or directly access saved tensors after they "
    "have already been freed). Saved intermediate values of the graph are freed when you call .backward() "
    "or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time "
    "or if you need to access saved tensors after calling backward.",
}


def set_dialect(name: str) -> None:
    """Print as PyTorch `name` does: "2" (default) or "1.4". ValueError for any other name."""
    global _current
    if name not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, not {name!r}")
    _current = name


def get_dialect() -> str:
    """Return the current dialect."""
    return _current


def node_name(name: str) -> str:
    """Return how a node is printed; `name` is PyTorch 2's name."""
    if _current == "2":
        return name
    if name in _RENAMED:
        return _RENAMED[name]
    stem, digit = name[:-1], name[-1]
    if digit == "0" and stem.endswith("Backward") and stem.removesuffix("Backward") not in _NUMBERED:
        return stem
    return name


def full_name(name: str) -> str:
    """Return what `Node.name()` returns: the name with the namespace that printing leaves out."""
    printed = node_name(name)
    return _NAMESPACE + printed if printed in _NAMESPACED else printed


def origin_name(name: str) -> str:
    """Return the name of a node in the error about a modified value. PyTorch 2 shortens `MulBackward0` to
    `Mul`.
    """
    if _current == "1.4":
        return full_name(name)
    stem, _, digit = name.rpartition("Backward")
    return full_name(name) if not stem or digit not in ("", *"0123456789") else stem + digit.replace("0", "")


def anomaly_hint() -> str:
    """Return the hint at the end of the same error."""
    arguments = "True" if _current == "1.4" else "True, check_nan=False"
    return (
        "enable anomaly detection to find the operation that failed to compute its gradient, with "
        f"torch.autograd.set_detect_anomaly({arguments})."
    )


def retains_grad_unset() -> bool | None:
    """Return `retains_grad` of a tensor without a call of `retain_grad()`; 1.4 had no such attribute."""
    return None if _current == "1.4" else False


def second_backward_error() -> str:
    """Return the text of the error for saved values that were freed."""
    return _SECOND_BACKWARD[_current]


def warn_of_dialect(message: str) -> None:
    """Give a warning that only PyTorch 2 gives."""
    if _current == "2":
        user_warnings.warn(message)
