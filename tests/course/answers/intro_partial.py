"""Answers to the exercise on partial derivatives, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([30, 9], "right"),
        ((30.0, 9.0), "right"),
        (minigrad.tensor([[30.0], [9.0]]), "right"),
        ([minigrad.tensor(30.0), minigrad.tensor(9.0)], "right"),
        ([9, 30], "swapped"),
        ([6, 1], "like_a_sum"),
        ([30, 3], "only_first"),
        ([6, 9], "only_second"),
        ([45, 45], "other"),
        (30, "not_two"),
        ([30, 9, 0], "not_two"),
        ("x", "not_two"),
        (["30", "9"], "not_two"),
        (None, "not_two"),
        (len, "not_two"),
    ]
}
