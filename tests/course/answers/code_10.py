"""Answers to Code 10's exercise, and the feedback that each receives."""

from math import log

import minigrad

ANSWERS = {
    "": [
        (1 + log(5), "right"),
        (2.61, "right"),
        (minigrad.tensor(2.6094), "right"),
        (1, "base"),
        (1.0, "base"),
        (1.6094, "exponent"),
        (0.6 + log(5), "exponent_three"),
        (8.047, "multiplied_z"),
        (3125 * 2.6094, "without_log"),
        (0.6, "other"),
        (3, "other"),
        ((1, 1.6094), "other"),
        ([2.6094], "other"),
        ("2.6094", "quotes"),
        (True, "other"),
        (None, "number"),
        (print, "number"),
    ]
}
