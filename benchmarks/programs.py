"""The rows of learners' programs: every program of the three files, by the name of its row."""

from __future__ import annotations

from derivative_programs import DERIVATIVE_PROGRAMS
from network_programs import NETWORK_PROGRAMS
from tensor_programs import TENSOR_PROGRAMS
from workload import Workload, of_program

GROUP = "learners"  # the word that stands for all of them on the command line
PROGRAMS = [of_program(make) for make in (*TENSOR_PROGRAMS, *NETWORK_PROGRAMS, *DERIVATIVE_PROGRAMS)]
NAMES = [program.key for program in PROGRAMS]


def programs(small: bool) -> list[Workload]:
    """All of them. They are small as they are."""
    return PROGRAMS
