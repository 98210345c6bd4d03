"""Answers to the exercise of A convolution by hand, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([[7, 15], [2, 1, 6, 3]], "right"),
        ((minigrad.tensor([7.0, 15.0]), minigrad.tensor([2.0, 1.0, 6.0, 3.0])), "right"),
        ([[15, 7], [2, 1, 6, 3]], "reversed"),
        ([[6, 9], [2, 3, 3, 1]], "unweighted"),
        ([[7, 15], [1, 2, 3, 6]], "not_reversed"),
        ([[7, 15], [2, 3, 3, 1]], "kernel"),
        ([[6, 9], [2, 1, 6, 3]], "input"),
        ([[1, 2], [1, 2, 3, 4]], "other"),
        ([7, 15, 2, 1, 6, 3], "two"),
        ([[7, 15], None], "two"),
        (None, "two"),
    ]
}
