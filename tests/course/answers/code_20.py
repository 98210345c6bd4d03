"""Answers to Code 20's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (lambda f, x, eps: (f(x + eps) - f(x - eps)) / (2 * eps), "right"),
        (lambda f, x, eps: (f(x + eps) - f(x - eps)) / eps / 2, "right"),
        (lambda f, x, eps: minigrad.tensor((f(x + eps) - f(x - eps)) / (2 * eps)), "right"),
        (lambda f, x, eps: (f(x + eps) - f(x)) / eps, "one_sided"),
        (lambda f, x, eps: (f(x) - f(x - eps)) / eps, "one_sided"),
        (lambda f, x, eps: (f(x + eps) - f(x - eps)) / eps, "half_distance"),
        (lambda f, x, eps: (f(x - eps) - f(x + eps)) / (2 * eps), "sign"),
        (lambda f, x, eps: (f(x + eps) - f(x - eps)) / 2 * eps, "brackets"),
        (lambda f, x, eps: f(x + eps) - f(x - eps), "difference"),
        (lambda f, x, eps: ..., "unfinished"),
        (lambda f, x, eps: None, "unfinished"),
        (lambda f, x, eps: 75.0, "other"),
        (lambda f, x, eps: "75", "other"),
        (lambda f, x, eps: (f(x) + f(x)) / eps, "other"),
        (lambda f, x, eps: f, "other"),
        (lambda f, x: f(x), "raised"),
        (lambda f, x, eps: f(x) / 0, "raised"),
        (lambda f, x, eps: f.shape, "raised"),
        (int, "raised"),
        (75.0, "no_function"),
        ("numerical", "no_function"),
        ([1, 2], "no_function"),
        (None, "no_function"),
    ]
}
