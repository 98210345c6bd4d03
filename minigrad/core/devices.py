"""Devices, layouts and memory formats: `device`, `layout`, `memory_format`.

minigrad has one device, the CPU, and one layout, strided. All others raise an error that names them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "channels_last",
    "contiguous_format",
    "device",
    "layout",
    "memory_format",
    "preserve_format",
    "sparse_coo",
    "strided",
]

TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla",
    "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip


class device:
    """A device by type and number, such as `device("cpu")`. Only the CPU can hold tensors.

    RuntimeError for a text that names no device. `with device("cpu"):` is allowed and changes nothing.
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        if not isinstance(type, (str, int)):
            raise TypeError(
                f"device() received an invalid combination of arguments - got ({type.__class__.__name__})"
            )
        if isinstance(type, int):
            raise RuntimeError("Cannot access accelerator device when none is available.")
        kind, _, number = str(type).partition(":")
        if not type:
            raise RuntimeError("Device string must not be empty")
        if kind not in TYPES:
            raise RuntimeError(
                f"Expected one of {', '.join(TYPES)} device type at start of device string: {type}"
            )
        if number:
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}'")
            if index is not None:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed explicitly: {type}"
                )
            index = int(number)
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", index)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __reduce__(self) -> Any:
        return device, (str(self),)

    def __enter__(self) -> device:
        check_device(self)
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class NamedConstant:
    """A constant with a name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(NamedConstant):
    """How the elements of a tensor are stored, such as `minigrad.strided`."""

    __slots__ = ()


class memory_format(NamedConstant):
    """The order of the elements of a new tensor in memory, such as `minigrad.channels_last`."""

    __slots__ = ()


strided, sparse_coo = layout("strided"), layout("sparse_coo")
preserve_format, contiguous_format = memory_format("preserve_format"), memory_format("contiguous_format")
channels_last = memory_format("channels_last")

CPU = device("cpu")
NO_META = (
    "minigrad has no tensors without numbers; device 'meta' is not available. Leave out .to('meta') and "
    "device='meta': torch.func.functional_call replaces the parameters of its model, so that can stay on the "
    "CPU"
)


def check_device(place: Any) -> None:
    """Raise RuntimeError for any device except the CPU."""
    if place is None or place is CPU:
        return
    asked = place if isinstance(place, device) else device(place if isinstance(place, int) else str(place))
    if asked.type == "meta":
        raise RuntimeError(NO_META)
    if asked.type != "cpu":
        raise RuntimeError(f"minigrad runs on the CPU only; device {str(asked)!r} is not available")


def check_layout(layout: Any) -> None:
    """Raise RuntimeError for any layout except `strided`."""
    if layout is not None and layout is not strided:
        raise RuntimeError(f"minigrad has strided tensors only; layout {layout!r} is not available")


def zeros_in_format(shape: tuple[int, ...], dtype: Any, format: Any = None) -> np.ndarray:
    """Return zeros that lie in memory as `format` says: in row-major order, or with the channels last."""
    if format is not channels_last:
        return np.zeros(shape, dtype)
    if len(shape) != 4:
        raise RuntimeError("required rank 4 tensor to use channels_last format")
    return np.moveaxis(np.zeros((shape[0], *shape[2:], shape[1]), dtype), -1, 1)


def unfilled_like(array: Any, dtype: Any, format: Any = None) -> np.ndarray:
    """Return zeros in the shape of `array`, in its memory order unless `format` says otherwise."""
    if format is None or format is preserve_format:
        if not isinstance(array, np.ndarray) or 0 in array.strides:
            return np.zeros(array.shape, dtype)
        return np.zeros_like(array, dtype, order="K", subok=False)
    return zeros_in_format(array.shape, dtype, format)
