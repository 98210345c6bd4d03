"""For all tests and notebooks; `tests/conftest.py` has the fixtures.

pytest loads this file for notebooks, too: `pytest notebooks/` does not load what is in `tests/`.
"""

from __future__ import annotations

import pytest

collect_ignore_glob = ["notebooks/ko/*"]  # their code and outputs are those of the English notebooks
pytest_plugins = ["sample", "passed", "quick", "tiers"]  # in `tests/`


def pytest_collectstart(collector: pytest.Collector) -> None:
    """nbval compares what a notebook prints, strictly, and not the pictures that stand beside it."""
    if hasattr(collector, "skip_compare"):
        pictures = ("image/svg+xml", "text/html", "application/vnd.jupyter.widget-view+json")
        collector.skip_compare = tuple(dict.fromkeys((*collector.skip_compare, *pictures)))
        collector.sanitize_patterns[r"\b0x[0-9a-f]+\b"] = "ADDRESS"  # <PowBackward0 object at 0x7f…>
