"""Layers, activations and losses as modules, over the functions of `nn.functional`.

The files have the names that PyTorch's have, so `torch.nn.modules.loss` and its like can be imported.
"""

from __future__ import annotations

from .activation import *
from .batchnorm import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .fold import *
from .instancenorm import *
from .lazy import *
from .linear import *
from .loss import *
from .module import *
from .normalization import *
from .padding import *
from .pixelshuffle import *
from .pooling import *
from .rnn import *
from .sparse import *
from .transformer import *
from .upsampling import *
