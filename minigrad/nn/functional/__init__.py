"""Functions of layers and losses: PyTorch's `torch.nn.functional`."""

from __future__ import annotations

from typing import NoReturn as _NoReturn

from ...left_out import missing as _missing
from ...tensor.elementary import prelu as prelu
from ...tensor.explained import attach_networks as _attach_networks
from .activations import *
from .attention import *
from .class_losses import *
from .convolution import *
from .distances import *
from .dropout import *
from .grids import *
from .in_place import *
from .losses import *
from .normalization import *
from .padding import *
from .pooling import *
from .products import *
from .resampling import *
from .softmaxes import *
from .tables import *

_attach_networks(globals())


def __getattr__(name: str) -> _NoReturn:
    raise _missing("nn.functional", name)
