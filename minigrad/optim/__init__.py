"""Optimizers and learning rate schedulers."""

from __future__ import annotations

from ..left_out import refusing as _refusing
from . import lr_scheduler
from .adagrad import Adadelta, Adagrad, RMSprop
from .adam import Adam, Adamax, AdamW, NAdam
from .lbfgs import LBFGS
from .optimizer import Optimizer
from .sgd import SGD

__getattr__ = _refusing("optim")
