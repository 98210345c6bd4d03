"""The zoo: every fault is found on its line, and no healthy program is accused. By default a sample of it,
with `--full` all of it; `tests/sample.py` says how many."""

from __future__ import annotations

import pytest

from doctor import faults, healthy
from doctor.zoo_run import run, verdict

FAULTY, HEALTHY = faults.programs(), healthy.programs()

# Found too rarely to count on: docs/doctor.md says why.
MISSED: set[str] = set()


@pytest.mark.sample(18)
@pytest.mark.quick(4)
@pytest.mark.parametrize("program", FAULTY, ids=lambda program: program.name)
def test_faults(program, torch):
    if program.name in MISSED:
        pytest.skip("known to be missed")
    assert verdict(program, run(program)) == ""


@pytest.mark.sample(10)
@pytest.mark.parametrize("program", HEALTHY, ids=lambda program: program.name)
def test_healthy_programs(program, torch):
    assert verdict(program, run(program)) == ""


def test_the_zoo_is_large_enough():
    assert len(FAULTY) >= 100 and len({program.fault.kind for program in FAULTY}) >= 40 and len(HEALTHY) >= 60


def test_a_third_is_put_aside():
    every = [*FAULTY, *HEALTHY]
    assert 0.25 < sum(map(faults.is_aside, every)) / len(every) < 0.42
