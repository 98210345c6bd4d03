"""Training 3: attention weights for a window of three places, made by a function that somebody wrote."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..answers import attempt, library_of, numbers, same

COUNT, REACH = 6, 2  # places, and how many before it each one sees
HINTS = {
    "right": (
        "Right. In such a window the work for a place stays the same, however long the text is.",
        "맞습니다. 이런 창을 쓰면 글이 아무리 길어도 한 자리에 드는 계산량이 늘지 않습니다.",
    ),
    "future": (
        "A place still sees letters after it: there are weights above the diagonal.",
        "뒤에 오는 글자가 아직 보입니다. 대각선 위에 0이 아닌 가중치가 있습니다.",
    ),
    "far": (
        "Nothing after a place is seen any more. But some see further back than two places.",
        "뒤에 오는 글자는 이제 보이지 않습니다. 그런데 두 자리보다 더 앞을 보는 자리가 있습니다.",
    ),
    "few": (
        "Too little is seen: a place sees itself and the two before it, so three in all.",
        "너무 적게 보입니다. 한 자리는 자기 자신과 바로 앞의 두 자리, 모두 세 자리를 봅니다.",
    ),
    "columns": (
        "The columns add up to 1. It should be the rows: a row holds the weights of one place.",
        "열의 합이 1입니다. 행의 합이 1이어야 합니다. 한 행이 한 자리의 가중치입니다.",
    ),
    "sums": (
        "The right places are 0, but the rows do not add up to 1. Fill in -inf first, then take softmax.",
        "0이 되어야 할 자리는 맞지만 행의 합이 1이 아닙니다. 먼저 -inf를 채우고 그다음 softmax를 계산하세요.",
    ),
    "nan": (
        "There is a nan: some row saw nothing at all. Each place sees at least itself.",
        "nan이 있습니다. 아무것도 보지 못하는 행이 있기 때문입니다. 모든 자리는 적어도 자기 자신을 봅니다.",
    ),
    "shape": (
        "What comes back should be a tensor of weights, as many rows and columns as the scores have.",
        "scores와 행과 열의 수가 같은 가중치 텐서를 돌려주어야 합니다.",
    ),
    "no_function": (
        "Write a function with one argument, the scores, and give its name, without brackets.",
        "scores 하나를 인자로 받는 함수를 쓰고, 그 이름을 괄호 없이 적으세요.",
    ),
    "other": (
        "The right places are 0, but these are not the weights that softmax makes of the scores.",
        "0이 되어야 할 자리는 맞지만, softmax가 scores로 만드는 가중치가 아닙니다.",
    ),
}


def window(library: Any, scores: Any) -> Any:
    """The weights of places that see themselves and those just before them."""
    places = library.arange(COUNT)
    back = places.unsqueeze(1) - places
    return scores.masked_fill((back < 0) | (back > REACH), -math.inf).softmax(-1)


def near(answer: object) -> str:
    """A function that makes weights of scores."""
    if not callable(answer) or isinstance(answer, type):
        return "no_function"
    library = library_of(answer)
    scores = library.arange(COUNT * COUNT).reshape(COUNT, COUNT).cos()
    weights, truth = numbers(attempt(answer, scores.clone())), window(library, scores)
    if weights is None or weights.shape != (COUNT, COUNT):
        return "shape"
    back = np.subtract.outer(np.arange(COUNT), np.arange(COUNT))
    seen, sums = weights != 0, [weights.sum(axis) for axis in (0, 1)]
    found = {
        "nan": np.isnan(weights).any(),
        "right": same(weights, truth),
        "future": seen[back < 0].any(),
        "far": seen[back > REACH].any(),
        "few": not seen[(back >= 0) & (back <= REACH)].all(),
        "columns": np.allclose(sums[0], 1),
        "sums": not np.allclose(sums[1], 1),
    }
    return next((name for name, holds in found.items() if holds), "other")


EXERCISES = {"": near}
