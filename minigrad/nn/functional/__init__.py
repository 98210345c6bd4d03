"""Functions of layers and losses: PyTorch's `torch.nn.functional`."""

from __future__ import annotations

from ...left_out import refusing as _refusing
from ...ops.resampling import pixel_shuffle as pixel_shuffle
from ...ops.resampling import pixel_unshuffle as pixel_unshuffle
from ...tensor.binary import prelu as prelu
from ...tensor.explained import attach_networks as _attach_networks
from ...tensor.products import linear as linear
from .activations import *
from .class_losses import *
from .convolution import *
from .distances import *
from .dropout import *
from .losses import *
from .normalization import *
from .pooling import *
from .sampling import *
from .softmaxes import *
from .tables import *

_attach_networks(globals())

__getattr__ = _refusing("nn.functional")
