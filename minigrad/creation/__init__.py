"""How tensors are made that no op makes."""

from __future__ import annotations

from .data import *
from .exchange import *
from .random import *
from .ranges import *
from .sized import *
