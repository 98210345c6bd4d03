"""A mistake of which no error tells is named once, however the program is cut into cells."""

from __future__ import annotations

import pytest
from split_cells import run_cells
from zoo.silent import MISTAKES


def in_cells(program: str, cut: str) -> list[str]:
    """A program as one cell, as two in two ways, or as three."""
    first, second, third = program.split("# %%\n")
    return {"1": [first + second + third], "2": [first + second, third], "two": [first, second + third]}.get(
        cut, [first, second, third]
    )


@pytest.mark.sample(8)
@pytest.mark.parametrize("cut", ["1", "2", "two", "3"])
@pytest.mark.parametrize("name", MISTAKES)
def test_it_is_named_once_and_its_cure_is_quiet(library, name, cut):
    mistake = MISTAKES[name]
    ran = run_cells(in_cells(mistake.broken, cut), library)
    ((number, one),) = ran.told
    assert (number, one.key) == (len(in_cells(mistake.broken, cut)), mistake.key)
    for part in (*mistake.why.split(" (line"), *mistake.fix.split(" (line")):
        assert part.strip(" 0123456789)") in one.why + one.fix, one
    cured = run_cells(in_cells(mistake.cured(one.fix), cut), library)
    assert (cured.error, cured.told) == ("", [])
