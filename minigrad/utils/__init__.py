"""Helpers: `utils.checkpoint` computes again what it did not keep, `utils.data` makes batches of examples."""

from __future__ import annotations

from typing import NoReturn as _NoReturn

from ..left_out import missing as _missing
from . import checkpoint, data

__all__ = ["checkpoint", "data"]


def __getattr__(name: str) -> _NoReturn:
    raise _missing("utils", name)
