"""A pytest plugin: tests get the markers of their tiers. CONTRIBUTING.md describes the tiers.

The markers `quick` and `browser` are given elsewhere: by `quick.txt`, and in the files of `browser/`.
"""

from __future__ import annotations

import pytest

# By marker, how the ids of its tests begin. Tests with hypothesis are of the tier fuzz as well.
TIERS = {
    "course": ("notebooks/", "tests/test_course", "tests/browser/test_course"),
    "peers": ("tests/test_benchmarks",),
    "fuzz": (
        "tests/test_both_loops",
        "tests/test_checkpoint_random",
        "tests/test_forward_random",
        "tests/test_func_random",
        "tests/test_mutated",
        "tests/test_random_families",
        "tests/test_random_programs",
        "tests/test_repeated_passes",
        "tests/test_unnoticed",
    ),
}


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for marker, beginnings in TIERS.items():
            if item.nodeid.startswith(beginnings):
                item.add_marker(marker)
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("fuzz")
