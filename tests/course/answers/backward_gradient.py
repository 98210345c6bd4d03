"""Answers to the exercise of backward(gradient=), and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([-12, -80], "right"),
        (minigrad.tensor([-12.0, -80.0]), "right"),
        ((-12.0, -80.0), "right"),
        ([-12, -8], "unweighted"),
        ([36, 810], "of_a"),
        ([12, 80], "sign"),
        ([-120, -8], "swapped"),
        ([-120, -80], "all_ten"),
        ([1, 2], "other"),
        (-92, "shape"),
        ([-12], "shape"),
        (None, "shape"),
        ("[-12, -80]", "quotes"),
        ([1, None], "shape"),
        (max, "shape"),
    ]
}
