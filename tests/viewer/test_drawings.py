"""Where every shape of a strip and of the doctor's page is, and what the doctor says of that run."""

from __future__ import annotations

import pytest
from drawings import FILE, drawings


@pytest.mark.quick
def test_every_shape_is_where_it_was_seen():
    assert drawings().splitlines() == FILE.read_text(encoding="utf-8").splitlines()
