"""Answers to Code 4's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([1, 0.125, 1.5], "right"),
        ((1.0, 1 / 8, 3 / 2), "right"),
        ([minigrad.tensor(1.0), minigrad.tensor(0.125), minigrad.tensor(1.5)], "right"),
        (minigrad.tensor([1.0, 0.125, 1.5]), "right"),
        ([1, 0.008, 0.6], "old"),
        ([1.5, 0.125, 1], "order"),
        ([0.125, 12, 1.5], "root"),
        ([1, 0.5, 6], "inner"),
        ([1, 8, 96], "second"),
        ([1, 0.125, 12], "local"),
        ([1, 0.125, 0.125], "third"),
        ([1, 0.125, float("nan")], "third"),
        ([0.125, 1.5], "three"),
        (1.5, "three"),
        ([1, "x", None], "three"),
        ("x", "three"),
        (None, "three"),
        (len, "three"),
    ]
}
