"""What the notebooks of the course use: `table` prints what autograd knows about tensors, `check` looks at an
answer to an exercise, `digits` reads the handwritten digits that ship with the course."""

from __future__ import annotations

from .checking import check
from .facts import table
from .handwritten import digits

__all__ = ["check", "digits", "table"]
