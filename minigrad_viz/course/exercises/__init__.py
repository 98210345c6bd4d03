"""The exercises of the course as data, by the name that `check` is given: the notebook's, and behind a dot
that of one of several exercises."""

from __future__ import annotations

from ..exercise import Exercise
from . import functions, layers, training, values

TOPICS = (
    functions.FUNCTION_EXERCISES,
    values.NAME_EXERCISES,
    values.NUMBER_EXERCISES,
    functions.CUSTOM_FUNCTION_EXERCISES,
    functions.QUOTIENT_EXERCISES,
    layers.LAYER_EXERCISES,
    training.TRAINING_EXERCISES,
)
EXERCISES: dict[str, Exercise] = {name: each for topic in TOPICS for name, each in topic.items()}
