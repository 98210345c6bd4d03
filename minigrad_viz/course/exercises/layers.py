"""The exercises of layers by hand: gradients that somebody's formulas give, beside those of autograd."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad

from ...predicting.question import answer_numbers
from ..exercise import Cases, Exercise, attempt, function, library_of

ROWS = ([1.0, 2.0, 0.0], [0.0, 1.0, -1.0], [2.0, 0.5, 1.0], [-1.0, 0.0, 0.5])
WEIGHTS = ([0.5, -0.5], [0.0, 0.5], [1.0, 0.0])
BIAS, CLASSES = [0.0, 0.5], [0, 1, 1, 0]

QUERIES = ([1.0, 0.5, 0.0], [0.0, -1.0, 2.0])
KEYS = ([1.0, 0.0, 1.0], [2.0, 1.0, -1.0], [0.0, 0.5, 0.5], [-1.0, 1.0, 0.0])
VALUES = ([1.0, 0.0], [3.0, -1.0], [0.5, 2.0], [0.0, 1.0])
ARRIVING = ([1.0, -2.0], [0.5, 1.0])

Gradients = tuple[np.ndarray | None, ...]


def layer(library: Any) -> tuple[Any, ...]:
    """X, W, b and the right classes."""
    return tuple(map(library.tensor, (ROWS, WEIGHTS, BIAS, CLASSES)))


def attention_inputs(library: Any) -> tuple[Any, ...]:
    """Q, K, V and the gradient that arrives at the output."""
    return tuple(map(library.tensor, (QUERIES, KEYS, VALUES, ARRIVING)))


def function_answer(count: int, inputs: Callable[[Any], tuple[Any, ...]]) -> Callable[[object], Gradients]:
    """How to read an answer that is a function: as the `count` gradients that it returns for the inputs of
    its library; None for what is not numbers."""

    def read(answer: object) -> Gradients:
        written = function(answer)
        given = attempt(written, *inputs(library_of(written)))
        whole = isinstance(given, tuple | list) and len(given) == count
        return tuple(map(answer_numbers, given)) if whole else (None,) * count

    return read


def by_hand() -> Cases:
    """What the right formulas give, and formulas that lack a part."""
    X, W, b, k = layer(minigrad)
    W.requires_grad_(), b.requires_grad_()
    minigrad.nn.functional.cross_entropy(minigrad.tanh(X @ W + b), k).backward()
    x, h = np.array(ROWS), np.tanh(np.array(ROWS) @ np.array(WEIGHTS) + np.array(BIAS))
    p = np.exp(h) / np.exp(h).sum(axis=1, keepdims=True)
    y, slope, n = np.eye(2)[CLASSES], 1 - h**2, len(ROWS)

    def through(gradient: np.ndarray) -> Callable[[Gradients], bool]:
        return lambda given: close(given, x.T @ gradient, gradient.sum(axis=0))

    gradient = (p - y) / n * slope
    return [
        ("exercise_nothing", lambda given: given[0] is None and given[1] is None),
        ("layer_by_hand_right", lambda given: close(given, np.array(W.grad), np.array(b.grad))),
        ("layer_by_hand_shape", lambda given: given[0] is None or given[0].shape != W.shape),
        ("layer_by_hand_bias", lambda given: given[1] is None or given[1].shape != b.shape),
        ("layer_by_hand_no_mean", through(gradient * n)),
        ("layer_by_hand_no_tanh", through((p - y) / n)),
        ("layer_by_hand_no_target", through(p / n * slope)),
        ("layer_by_hand_sign", through(-gradient)),
        ("layer_by_hand_only_weights", lambda given: np.allclose(given[0], np.array(W.grad), atol=1e-4)),
    ]


def of_attention() -> Cases:
    """What the right formulas of attention give, and formulas that lack a part."""
    *leaves, G = attention_inputs(minigrad)
    for leaf in leaves:
        leaf.requires_grad_()
    minigrad.nn.functional.scaled_dot_product_attention(*leaves).backward(gradient=G)
    right = [np.array(leaf.grad) for leaf in leaves]
    q, k, v, g = map(np.array, (QUERIES, KEYS, VALUES, ARRIVING))
    root = math.sqrt(q.shape[1])
    p = np.exp(q @ k.T / root)
    p /= p.sum(axis=1, keepdims=True)
    at_p = g @ v.T
    at_scores = p * (at_p - (p * at_p).sum(axis=1, keepdims=True))

    def through(scores: np.ndarray, scale: float) -> Callable[[Gradients], bool]:
        return lambda given: close(given, scores @ k / scale, scores.T @ q / scale, p.T @ g)

    return [
        ("exercise_nothing", lambda given: all(each is None for each in given)),
        ("attention_by_hand_right", lambda given: close(given, *right)),
        ("attention_by_hand_shape", lambda given: not fit(given, *right)),
        ("attention_by_hand_no_scale", through(at_scores, 1)),
        ("attention_by_hand_no_softmax", through(at_p, root)),
        ("attention_by_hand_no_mean", through(p * at_p, root)),
        ("attention_by_hand_only_values", lambda given: close(given[2:], right[2])),
    ]


def fit(given: Gradients, *wanted: np.ndarray) -> bool:
    """Whether gradients have the shapes of these."""
    return all(a is not None and a.shape == b.shape for a, b in zip(given, wanted))


def close(given: Gradients, *wanted: np.ndarray) -> bool:
    """Whether gradients are these."""
    pairs = zip(given, wanted)
    return all(a is not None and a.shape == b.shape and np.allclose(a, b, atol=1e-4) for a, b in pairs)


LAYER_EXERCISES = {
    "layer_by_hand": Exercise(by_hand, "layer_by_hand_other", read=function_answer(2, layer)),
    "attention_by_hand": Exercise(
        of_attention, "attention_by_hand_other", read=function_answer(3, attention_inputs)
    ),
}
