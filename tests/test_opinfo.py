"""Every op that minigrad shares with PyTorch's own table of ops, on the samples of that table."""

from __future__ import annotations

import pytest
from opinfo import entries, table
from opinfo_checks import CHECKS, quietly
from opinfo_deviations import DEVIATIONS
from ops_page import PAGE, page

if not table():
    pytest.skip("PyTorch's table of ops cannot be imported", allow_module_level=True)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("title", entries())
def test_as_in_pytorchs_table(torch, title, check):
    with quietly():
        found = list(CHECKS[check](entries()[title]))
    if found and (title, check) in DEVIATIONS:  # some deviate only beside other libraries for linear algebra
        pytest.xfail(DEVIATIONS[title, check])
    assert not found, "\n".join(["", *found[:5], f"{len(found)} in all"])


def test_what_deviates_is_in_the_table():
    assert {title for title, _ in DEVIATIONS} <= set(entries())


def test_the_page_of_the_docs_is_that_of_the_table():
    assert PAGE.read_text(encoding="utf-8") == page()
