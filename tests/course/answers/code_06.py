"""Answers to Code 6's exercise, and the feedback that each receives."""

ANSWERS = {
    "": [
        ("abe", "right"),
        ("A, B, E", "right"),
        (["e", "b", "a"], "right"),
        ("", "nothing"),
        (None, "nothing"),
        ("abcde", "all"),
        ("cd", "turned"),
        ("abde", "exp"),
        ("abce", "square"),
        ("ae", "missing"),
        ("abx", "other"),
        (3, "other"),
        ([1, 2], "other"),
        (lambda x: x, "other"),
    ]
}
