"""Exercises of the trainings: an optimizer, the gradient of a score, a window of attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import minigrad

from ...predicting.question import answer_numbers, same_answer
from ...protocol import is_tensor
from ..exercise import Cases, Exercise, attempt, function, library_of

# ── training_two_moons ──────────────────────────────────────────────────────────────────────────────────────

RATE = 0.1
WEIGHTS, SLOPES = ([1.0, -2.0], [0.5]), ([3.0, 4.0], [-5.0])  # of two parameters, and their gradients


class StepResult(NamedTuple):
    """Two parameters after a step, one list of numbers, and whether their gradients were reset."""

    weights: list[float]
    reset: bool


def take_step(answer: object) -> StepResult:
    """Two parameters after a step by a function of parameters and rate."""
    step = function(answer)
    library = library_of(step)
    parameters = [library.nn.Parameter(library.tensor(weights)) for weights in WEIGHTS]
    for parameter, slopes in zip(parameters, SLOPES):
        parameter.grad = library.tensor(slopes)
    attempt(step, list(parameters), RATE)
    weights = [number for parameter in parameters for number in parameter.detach().flatten().tolist()]
    return StepResult(weights, all(p.grad is None or not p.grad.any() for p in parameters))


def descends(rates: tuple[float, float]) -> Callable[[StepResult], bool]:
    """Whether each parameter went so many times its gradient downhill."""
    moved = zip(WEIGHTS, SLOPES, rates)
    wanted = [w - rate * s for weights, slopes, rate in moved for w, s in zip(weights, slopes)]
    return lambda mine: same_answer(mine.weights, wanted)


def descend() -> Cases:
    """A step of gradient descent, after which the gradients are reset."""
    right = descends((RATE, RATE))
    return [
        ("training_two_moons_right", lambda mine: right(mine) and mine.reset),
        ("training_two_moons_kept", right),
        ("training_two_moons_unmoved", descends((0.0, 0.0))),
        ("training_two_moons_uphill", descends((-RATE, -RATE))),
        ("training_two_moons_first_only", descends((RATE, 0.0))),
        ("training_two_moons_rate", descends((1.0, 1.0))),
    ]


# ── training_digits ─────────────────────────────────────────────────────────────────────────────────────────

DIGIT = 3


def small_model(torch: Any) -> Any:
    """A network whose scores are weighted sums of the squared pixels; no random numbers are drawn for it."""

    class Squares(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.sin(torch.arange(640.0)).reshape(64, 10))

        def forward(self, images: Any) -> Any:
            return images.flatten(1) ** 2 @ self.weight

    return Squares()


def image_of(torch: Any) -> Any:
    """An image of 8 × 8 pixels."""
    return (torch.arange(64.0).reshape(1, 1, 8, 8) + 1) / 64


def called_twice(answer: object) -> tuple[Any, Any]:
    """What a function of a model, an image and a digit gives when it is called twice with the same image."""
    torch = library_of(answer)
    model, image = small_model(torch), image_of(torch)
    first = attempt(answer, model, image, DIGIT)
    return first, attempt(answer, model, image, DIGIT) if is_tensor(first) else first


def sensitivity() -> Cases:
    """The gradient of the score of a digit with respect to the image."""
    image = image_of(minigrad).requires_grad_()
    scores = small_model(minigrad)(image)
    loss = minigrad.nn.functional.cross_entropy(scores, minigrad.tensor([DIGIT]))

    def returns(root: Any) -> Callable[[tuple[Any, Any]], bool]:
        (gradient,) = minigrad.autograd.grad(root, image, retain_graph=True)
        return lambda given: same_answer(given[0], gradient)

    right = returns(scores[0, DIGIT])
    return [
        ("training_digits_unfinished", lambda given: given[0] is None or given[0] is ...),
        ("exercise_tuple", lambda given: isinstance(given[0], tuple | list)),
        ("training_digits_other", lambda given: not is_tensor(given[0])),
        ("training_digits_shape", lambda given: tuple(given[0].shape) != (1, 1, 8, 8)),
        ("training_digits_right", lambda given: right(given) and right(given[1:])),
        ("training_digits_added", right),
        ("training_digits_all_scores", returns(scores.sum())),
        ("training_digits_loss", returns(loss)),
    ]


# ── training_letters ────────────────────────────────────────────────────────────────────────────────────────

COUNT, REACH = 6, 2  # places, and how many before it each one sees


def scores_of(library: Any) -> Any:
    """Scores of all pairs of places."""
    return library.arange(COUNT * COUNT).reshape(COUNT, COUNT).cos()


def weights_of(answer: object) -> np.ndarray:
    """The weights that a function makes of scores."""
    written = function(answer)
    weights = answer_numbers(attempt(written, scores_of(library_of(written))))
    return np.zeros(0) if weights is None else weights


def window_weights() -> Cases:
    """The weights of places that see themselves and those just before them."""
    back = np.subtract.outer(np.arange(COUNT), np.arange(COUNT))
    outside = minigrad.tensor((back < 0) | (back > REACH))
    truth = scores_of(minigrad).masked_fill(outside, -math.inf).softmax(-1)
    inside = (back >= 0) & (back <= REACH)
    return [
        ("training_letters_shape", lambda weights: weights.shape != back.shape),
        ("training_letters_nan", lambda weights: np.isnan(weights).any()),
        ("training_letters_right", truth),
        ("training_letters_future", lambda weights: weights[back < 0].any()),
        ("training_letters_far", lambda weights: weights[back > REACH].any()),
        ("training_letters_few", lambda weights: not weights[inside].all()),
        ("training_letters_columns", lambda weights: np.allclose(weights.sum(0), 1)),
        ("training_letters_sums", lambda weights: not np.allclose(weights.sum(1), 1)),
    ]


TRAINING_EXERCISES = {
    "training_two_moons": Exercise(descend, "training_two_moons_other", read=take_step),
    "training_digits": Exercise(
        sensitivity,
        "training_digits_other",
        read=called_twice,
        errors={
            "does not require grad": "training_digits_not_asked",
            "not have been used in the graph": "training_digits_not_asked",
            "can be implicitly created only for scalar": "training_digits_no_root",
        },
    ),
    "training_letters": Exercise(window_weights, "training_letters_other", read=weights_of),
}
