"""Where pickles of earlier versions look for containers, which are in `nn.modules.container`."""

from __future__ import annotations

from .modules.container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
