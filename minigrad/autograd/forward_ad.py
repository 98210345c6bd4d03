"""Forward mode, as in `torch.autograd.forward_ad`: dual tensors carry a tangent, and every op hands it on.

with dual_level():
    result = f(make_dual(x, direction))
    value, derivative = unpack_dual(result)
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core import F, dtypes, modes
from ..core.guards import check_tensor
from ..core.tangents import fit_tangent as fitted
from ..core.tangents import forget, tangent_of
from ..core.tangents import put_tangent as put
from ..core.tangents import without_tangents as aside
from ..core.tensor_state import TensorBase
from .grad_mode import ModeContext, SwitchedAtOnce

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` gives: the tensor without its tangent, and the tangent or None."""

    primal: Any
    tangent: Any


def current_level() -> int:
    """Return 0 inside a level, -1 outside; there is one for all threads, as in PyTorch."""
    return modes.state.dual_level - 1


def __getattr__(name: str) -> int:
    """Return `_current_level`, which tells whether a level is open."""
    if name != "_current_level":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return current_level()


def enter_dual_level() -> int:
    """Open a level of forward mode, in which dual tensors can be made, and return its number, 0.

    RuntimeError if one is open: levels do not nest.
    """
    if modes.state.dual_level:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    modes.set_dual_level(1)
    modes.notify("mode_changed", "forward_ad", True)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level; all tangents are gone. RuntimeError if none is open or it is not `level`."""
    if level is None:
        level = current_level()
    if level != current_level():
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            "supported."
        )
    if level < 0:
        raise RuntimeError("Dual level must be a positive number.")
    forget()
    modes.set_dual_level(0)
    modes.notify("mode_changed", "forward_ad", False)


class dual_level(ModeContext):
    """A level of forward mode as a context manager or decorator; inside, `make_dual` makes dual tensors."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """Return a dual tensor: a view of `tensor` that carries `tangent`, its derivative along some direction.

    Both have one shape and are floating point or complex (ValueError for other dtypes, RuntimeError for other
    shapes). The tangent is kept as it is if it lies in memory as `tensor` does, else as a copy.
    """
    level = current_level() if level is None else level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(t, TensorBase):
            raise AttributeError(f"'{type(t).__name__}' object has no attribute 'is_floating_point'")
        if t._data.dtype not in dtypes.DIFFERENTIABLE:
            kind = str(dtypes.of(t._data)).replace("minigrad.", "torch.")
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {kind}")
    if level > 0:
        raise RuntimeError("Invalid level given to _make_dual")
    if tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 "
            "is not supported."
        )
    check_tangent_sizes(tensor, tangent)
    if tangent_of(tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."
        )
    with aside():
        dual = F.view(tensor, tensor._data.shape)
        put(dual, fitted(tensor, tangent, True))
    dual._tangent_base = False
    modes.notify("forward", make_dual, [tensor, tangent], dual)
    return dual


def check_tangent_sizes(tensor: Any, tangent: Any) -> None:
    """Raise RuntimeError with PyTorch's text unless a tangent has its tensor's sizes."""
    own, given = list(tensor._data.shape), list(tangent._data.shape)
    if own != given:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            f"this is not supported. Tensor is of size {own} while the given forward gradient is of size "
            f"{given}."
        )


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Return the pair (primal, tangent) of a tensor: a view of it that is not dual, and its tangent or None.

    Outside a level the tensor itself and None.
    """
    level = current_level() if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    check_tensor("_unpack_dual", tensor, name="dual")
    tangent = tangent_of(tensor)
    if level > 0 and tangent is not None:
        raise RuntimeError("Invalid level given to _fw_primal")
    with aside():
        primal = F.fw_primal(tensor)
    primal._tangent_base = False
    pair = UnpackedDualTensor(primal, tangent)
    modes.notify("forward", unpack_dual, [tensor], [t for t in pair if t is not None])
    return pair


def _is_fwd_grad_enabled() -> bool:
    """Return whether ops of this thread compute tangents, when a level is open."""
    return modes.state.forward_grad and not modes.state.inference


class _set_fwd_grad_enabled(SwitchedAtOnce):
    """Switches the tangents of this thread off or on, at once; as a context manager until the block ends."""

    name = "forward_grad"
