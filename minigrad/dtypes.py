"""Where pickles of earlier versions look for dtypes, which are in `core.dtypes`."""

from __future__ import annotations

from .core.dtypes import *  # noqa: F403
from .core.dtypes import bool_ as bool_
