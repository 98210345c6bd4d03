"""Where an op of PyTorch's table deviates, and why: by title and check."""

from __future__ import annotations

DEVIATIONS: dict[tuple[str, str], str] = {}
