"""What nbval compares of a notebook's stored outputs: all that is printed, and not the pictures beside it."""

from __future__ import annotations

import pytest

PICTURES = (
    "image/svg+xml", "text/html", "application/vnd.jupyter.widget-view+json",
    "application/vnd.minigrad.trace+json",
)  # fmt: skip


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Set what nbval skips in a notebook, and which addresses it does not compare."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare = tuple(dict.fromkeys((*collector.skip_compare, *PICTURES)))
        collector.sanitize_patterns[r"\b0x[0-9a-f]+\b"] = "ADDRESS"  # <PowBackward0 object at 0x7f…>
