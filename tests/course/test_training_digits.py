"""The digits that ship with the course, and its notebook that trains on them, run for two epochs with both
libraries."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import course
import numpy as np
import pytest

import minigrad
from minigrad_viz.course import digits


def trained(L: Any, epochs: int) -> tuple[list[float], list[float], int]:
    """The training and the test losses of so many epochs, and how many of 360 test images are read right."""
    its = course.ran("training_digits", L, "setup", "data", "model", "train")
    losses, test_losses = its["train"](its["model"], epochs)
    return losses, test_losses, its["count_right"]()


def test_the_digits():
    images, labels = digits()
    assert images.shape == (1797, 8, 8) and images.dtype == np.uint8
    assert labels.shape == (1797,) and labels.dtype == np.int64
    assert images.min() == 0 and images.max() == 16
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert labels[:10].tolist() == list(range(10))
    assert ["".join("#" if pixel > 7 else "." for pixel in row) for row in images[0]] == [
        "...##...",
        "..####..",
        "..#..##.",
        "..#..##.",
        "..#..##.",
        "..#..#..",
        "..#.##..",
        "...##...",
    ]


def test_their_source_and_licence_come_along():
    told = files("minigrad_viz.course").joinpath("data", "digits.txt").read_text(encoding="utf-8")
    for part in ("Alpaydin", "UCI Machine Learning Repository", "CC BY 4.0"):
        assert part in told


def test_every_call_reads_arrays_of_its_own():
    first, second = digits()[0], digits()[0]
    first[:] = 0
    assert second.any()


def test_it_learns():
    losses, _, right = trained(minigrad, 2)
    assert losses[1] < 0.4 < losses[0] and right > 0.9 * 360


def test_as_in_pytorch(torch):
    mine, theirs = trained(minigrad, 2), trained(torch, 2)
    np.testing.assert_allclose(mine[:2], theirs[:2], rtol=1e-5)
    assert mine[2] == pytest.approx(theirs[2], abs=1)
