"""Learning rates that change from epoch to epoch: call `scheduler.step()` after the epoch's last
`optimizer.step()`."""

from __future__ import annotations

from ...left_out import refusing as _refusing
from .cycles import CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .plateau import ReduceLROnPlateau
from .scheduler import LRScheduler
from .sequential import SequentialLR

__getattr__ = _refusing("optim.lr_scheduler")
