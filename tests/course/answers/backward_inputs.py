"""Answers to the exercise on inputs=, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([[72, 162], [-12, -8]], "right"),
        (([72.0, 162.0], [-12.0, -8.0]), "right"),
        ([minigrad.tensor([72.0, 162.0]), minigrad.tensor([-12.0, -8.0])], "right"),
        (minigrad.tensor([[72.0, 162.0], [-12.0, -8.0]]), "right"),
        ([[36, 81], [-12, -8]], "replaced"),
        ([[72, 162], [-24, -16]], "both_twice"),
        ([[72, 162], None], "no_b"),
        ([[72, 162], [0, 0]], "no_b"),
        ([[36, 81], None], "first_call"),
        ([[-12, -8], [72, 162]], "swapped"),
        ([[1, 2], [3, 4]], "other"),
        ([None, None], "other"),
        ([72, 162, -12, -8], "no_pair"),
        ([72, -12], "no_pair"),
        ([[72, 162], "b"], "no_pair"),
        (([72, 162], [-12]), "no_pair"),
        (72, "no_pair"),
        (None, "no_pair"),
        ("x", "no_pair"),
        (print, "no_pair"),
    ]
}
