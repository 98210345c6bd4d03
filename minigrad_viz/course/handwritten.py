"""Handwritten digits to learn from. Who collected them, and their licence: `data/digits.txt`."""

from __future__ import annotations

from importlib.resources import files

import numpy as np


def digits() -> tuple[np.ndarray, np.ndarray]:
    """1,797 handwritten digits: images (1797, 8, 8), uint8 from 0 (paper) to 16 (ink), and labels, int64."""
    home = files(__package__).joinpath("data", "digits.npz")
    with home.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return stored["images"], stored["labels"].astype(np.int64)
