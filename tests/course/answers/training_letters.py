"""Functions that make attention weights from scores, and the feedback that each receives."""

import math

import minigrad as torch


def weights(hidden):
    """A function that hides places, given how far back each of them is, and takes softmax."""

    def function(scores):
        return scores.masked_fill(hidden(back(scores)), -math.inf).softmax(-1)

    return function


def back(scores):
    places = torch.arange(scores.shape[-1])
    return places.unsqueeze(1) - places


def outside(far):
    return (far < 0) | (far > 2)


def by_triangles(scores):
    ones = torch.ones(scores.shape)
    return scores.masked_fill((ones.triu(1) + ones.tril(-3)).bool(), -math.inf).softmax(-1)


ANSWERS = {
    "": [
        (weights(outside), "right"),
        (by_triangles, "right"),
        (lambda scores: scores.softmax(-1), "future"),
        (lambda scores: scores, "future"),
        (weights(lambda far: far > 0), "future"),
        (weights(lambda far: far < 0), "far"),
        (weights(lambda far: (far < 0) | (far > 3)), "far"),
        (weights(lambda far: (far < 0) | (far > 1)), "few"),
        (weights(lambda far: far != 0), "few"),
        (weights(lambda far: (far <= 0) | (far > 2)), "nan"),
        (lambda scores: scores.masked_fill(outside(back(scores)), -math.inf).softmax(0), "columns"),
        (lambda scores: scores.softmax(-1).masked_fill(outside(back(scores)), 0), "sums"),
        (lambda scores: (-scores).masked_fill(outside(back(scores)), -math.inf).softmax(-1), "other"),
        (lambda scores: scores[0], "shape"),
        (lambda scores: None, "shape"),
        (lambda scores: torch.no_such_function(scores), "raised"),
        (lambda: None, "raised"),
        (len, "shape"),
        ("x", "no_function"),
        (None, "no_function"),
        ([1, 2], "no_function"),
        (int, "no_function"),
    ]
}
