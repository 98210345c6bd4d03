"""Where pickles of earlier versions look for layers, which are in `nn.modules`: each path leads there."""

from __future__ import annotations

import sys

from .. import modules

PATHS = """
activation attention cells class_losses convolution distance dropout embedding lazy linear loss norm padding
pooling pooling_parts rearranging recurrent resampling transformer transformer_layers
"""

sys.modules.update({f"{__name__}.{path}": modules for path in PATHS.split()})
