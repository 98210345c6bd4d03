"""Optimizers and learning rate schedulers."""

from __future__ import annotations

from typing import NoReturn as _NoReturn

from ..left_out import missing as _missing
from . import lr_scheduler
from .adagrad import Adadelta, Adagrad
from .adam import Adam, AdamW
from .adam_variants import Adamax, NAdam, RAdam
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .rmsprop import RMSprop
from .sgd import SGD


def __getattr__(name: str) -> _NoReturn:
    raise _missing("optim", name)
