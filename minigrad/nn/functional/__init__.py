"""Functions of layers and losses: PyTorch's `torch.nn.functional`."""

from __future__ import annotations

from ...left_out import refusing as _refusing
from ...ops.activations import prelu as prelu
from ...ops.products import linear as linear
from ...ops.sampling import pixel_shuffle as pixel_shuffle
from ...ops.sampling import pixel_unshuffle as pixel_unshuffle
from ...tensor.binder import attach_networks as _attach_networks
from .activations import *
from .convolution import *
from .embedding import *
from .losses import *
from .normalization import *
from .sampling import *

_attach_networks(globals())

__getattr__ = _refusing("nn.functional")
