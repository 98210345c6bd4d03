"""What a trace tells of the inside of a backward call: hooks, frees, custom Functions, calls inside calls."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.quick
