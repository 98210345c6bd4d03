"""How tensors are made that no op makes."""

from __future__ import annotations

from .data import *
from .factories import *
from .random import *
