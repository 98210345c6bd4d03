"""The other half of PyTorch's table of ops: see `test_opinfo`."""

import pytest
from opinfo import entries, table
from opinfo_checks import CHECKS, compare

if not table():
    pytest.skip("PyTorch's table of ops cannot be imported", allow_module_level=True)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("title", list(entries())[1::2])
def test_as_in_pytorchs_table(torch, title, check):
    compare(title, check)
