"""Learning rates that change from epoch to epoch: call `scheduler.step()` after the epoch's last
`optimizer.step()`."""

from __future__ import annotations

from typing import NoReturn as _NoReturn

from ...left_out import missing as _missing
from .composed import ChainedScheduler, SequentialLR
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


def __getattr__(name: str) -> _NoReturn:
    raise _missing("optim.lr_scheduler", name)
