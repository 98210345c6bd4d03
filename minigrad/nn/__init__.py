"""Layers, losses and initialization, written in the public API."""

from __future__ import annotations

from typing import NoReturn as _NoReturn

from ..left_out import missing as _missing
from . import functional, init, modules, parallel, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Parameter, UninitializedBuffer, UninitializedParameter


def __getattr__(name: str) -> _NoReturn:
    raise _missing("nn", name)
