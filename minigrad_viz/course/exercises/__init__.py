"""The exercises of the course as data, by the name that `check` is given: the notebook's, and behind a dot
that of one of several exercises."""

from __future__ import annotations

from ..exercise import Exercise
from . import functions, names, numbers, operations, quotients, trainings

TOPICS = (functions, names, numbers, operations, quotients, trainings)
EXERCISES: dict[str, Exercise] = {name: each for topic in TOPICS for name, each in topic.EXERCISES.items()}
