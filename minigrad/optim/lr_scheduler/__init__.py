"""Learning rates that change from epoch to epoch: call `scheduler.step()` after the epoch's last
`optimizer.step()`."""

from __future__ import annotations

from ...left_out import refusing as _refusing
from .cycles import *
from .factors import *
from .scheduler import *

__getattr__ = _refusing("optim.lr_scheduler")
