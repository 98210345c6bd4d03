"""Building blocks of models, in the public API only."""

from __future__ import annotations

from . import functional, init, modules, utils
from .modules import *
from .parameter import Parameter, UninitializedBuffer, UninitializedParameter
