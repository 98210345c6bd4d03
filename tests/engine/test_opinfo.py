"""Every op that minigrad shares with PyTorch's own table of ops, on the samples of that table: every other
entry here, the rest in `test_opinfo_rest`, so that two processes can share them.
"""

import pytest
from opinfo import entries, table
from opinfo_checks import CHECKS, compare
from opinfo_deviations import DEVIATIONS
from ops_page import PAGE, page

if not table():
    pytest.skip("PyTorch's table of ops cannot be imported", allow_module_level=True)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("title", list(entries())[::2])
def test_as_in_pytorchs_table(torch, title, check):
    compare(title, check)


def test_what_deviates_is_in_the_table():
    assert {title for title, _ in DEVIATIONS} <= set(entries())


def test_the_page_of_the_docs_is_that_of_the_table():
    assert PAGE.read_text(encoding="utf-8") == page()
