"""The rows of learners' programs: every program of the four files, by the name of its row."""

from __future__ import annotations

from derivative_programs import DERIVATIVE_PROGRAMS
from network_programs import NETWORK_PROGRAMS
from tensor_programs import TENSOR_PROGRAMS
from training_programs import TRAINING_PROGRAMS
from workload import Workload, of_program

GROUP = "learners"  # the word that stands for all of them on the command line
MAKERS = [*TENSOR_PROGRAMS, *NETWORK_PROGRAMS, *TRAINING_PROGRAMS, *DERIVATIVE_PROGRAMS]
PROGRAMS = [of_program(make) for make in MAKERS]
NAMES = [program.key for program in PROGRAMS]


def programs(small: bool) -> list[Workload]:
    """All of them. They are small as they are."""
    return PROGRAMS
