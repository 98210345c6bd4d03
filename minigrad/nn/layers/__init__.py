"""Layers, activations and losses as modules, over the functions of `nn.functional`."""

from __future__ import annotations
