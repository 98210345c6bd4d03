"""Answers to Code 16's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (minigrad.ones(3) / 3, "right"),
        ([1 / 3, 1 / 3, 1 / 3], "right"),
        ([0.333, 0.333, 0.333], "right"),
        (minigrad.ones(3), "sum"),
        ([10, 15, 25], "values"),
        (50 / 3, "values"),
        (1 / 3, "shape"),
        ([1 / 3], "shape"),
        ([[1, 1, 1]], "shape"),
        (None, "shape"),
        ("1/3", "quotes"),
        ([1, "x", None], "shape"),
        (max, "shape"),
        ([5 / 3, 0, 0], "only_here"),
        ([3, 3, 3], "other"),
        ([float("nan")] * 3, "other"),
    ]
}
