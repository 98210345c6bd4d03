"""Trainings of the course at a small size, in both libraries: the same losses from the same first weights."""

from __future__ import annotations

from typing import Any

import course
import numpy as np
import pytest

import minigrad


def two_moons(L: Any, epochs: int) -> tuple[list[float], float]:
    """A net with one hidden layer learns the moons: its losses, and its accuracy on unseen points."""
    cells = ("setup", "data", "model", "before", "train")
    its = course.ran("training_two_moons", L, *cells)
    losses = its["train"](its["model"], epochs)
    return losses, its["accuracy"](its["model"], its["test_points"], its["test_labels"])


def letters(L: Any, steps: int) -> tuple[list[float], str]:
    """A small transformer learns which letter comes next: its losses, and what it writes."""
    cells = ("setup", "text", "attention", "block", "model", "write", "train")
    its = course.ran("training_letters", L, *cells)
    losses = its["train"](its["model"], steps)
    return losses, its["write"](its["model"], "the ", 40)


@pytest.mark.full
@pytest.mark.quick
@pytest.mark.quick
def test_two_moons():
    losses, accuracy = two_moons(minigrad, 4)
    assert losses[-1] < 0.6 * losses[0] and accuracy > 0.8


def test_two_moons_as_in_pytorch(torch):
    (mine, accuracy), (theirs, accuracy_there) = two_moons(minigrad, 4), two_moons(torch, 4)
    np.testing.assert_allclose(mine, theirs, rtol=1e-5)
    assert accuracy == pytest.approx(accuracy_there)


def test_letters():
    losses, written = letters(minigrad, 30)
    assert losses[-1] < 0.6 * losses[0]
    assert len(written) == 44 and written.startswith("the ")


def test_letters_as_in_pytorch(torch):
    (mine, written), (theirs, written_there) = letters(minigrad, 30), letters(torch, 30)
    np.testing.assert_allclose(mine, theirs, rtol=1e-5)
    assert written == written_there
