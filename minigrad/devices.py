"""Where pickles of earlier versions look for devices and layouts, which are in `core.devices`."""

from __future__ import annotations

from .core.devices import *  # noqa: F403
