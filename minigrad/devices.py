"""Where pickles of earlier versions look for devices and layouts, which are in `core.devices`."""

from __future__ import annotations

from .core.devices import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
    sparse_coo,
    sparse_csr,
    strided,
)

NAMES = (device, layout, memory_format, strided, sparse_coo, sparse_csr)
FORMATS = (channels_last, channels_last_3d, contiguous_format, preserve_format)
