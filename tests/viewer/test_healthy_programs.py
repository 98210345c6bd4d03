"""Nothing is explained of training programs that are right."""

from __future__ import annotations

import pytest
from cells import run
from healthy_programs import PROGRAMS
from split_cells import run_cells, split
from staged import explanations_of


@pytest.mark.quick(3)
@pytest.mark.sample(16)
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_explained_of_a_program_that_is_right(library, name):
    ran = run(PROGRAMS[name], library)
    assert ran.error is None
    assert explanations_of(ran.trace, "en") == ()


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_explained_of_its_cells(library, name):
    ran = run_cells(split(PROGRAMS[name], 3), library)
    assert (ran.error, ran.told) == ("", [])


def test_there_are_many():
    assert len(PROGRAMS) >= 69
