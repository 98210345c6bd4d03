"""What a model predicts for a few examples, round by round: for each, the probabilities of the classes,
beside its image or the letters before.

    examples  {"kind": "bars", "images" or "letters", "names": [class, …], "rounds": [round or null, …]}
    round     [example, …], each [the right class, [probability of each class, …], what is seen]

What is seen of an image is [columns, "0123…"], its pixels row by row from white to black, of letters their
text, of other examples "". Each round has its own examples: those of its batch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..protocol import Value
from ..snapshots import whole_array
from ..trace.statements import parse_source
from .fits import CLASSIFIED, Fit, above

EXAMPLES = 4
CLASSES = 30
SMALLEST = 3  # pixels of an image
SHADES = 9
DIGITS = 5
CONTEXT = 8  # letters


def examples(fits: Sequence[Fit | None], source: str) -> dict[str, Any] | None:
    """What a player shows of examples of these rounds; None where that is not known for at least two."""
    some = [fit for fit in fits if fit is not None]
    if len(some) < 2 or not all(fit.op.startswith(CLASSIFIED) for fit in some):
        return None
    letters = letters_of(some[-1], source)
    rounds = [None if fit is None else round_of(fit, letters) for fit in fits]
    if not has_news(rounds):
        return None
    seen = [what for each in rounds if each for _, _, what in each]
    kind = "letters" if letters else "images" if all(isinstance(what, list) for what in seen) else "bars"
    return {"kind": kind, "names": letters, "rounds": rounds}


def has_news(rounds: Sequence[Any]) -> bool:
    """Whether there is something to see in at least two rounds."""
    return sum(one is not None for one in rounds) > 1


def rounded_numbers(values: Any) -> list[float]:
    """Numbers as they are stored."""
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else 0.0 for value in np.ravel(values)]


def round_of(fit: Fit, letters: Sequence[str]) -> list[Any] | None:
    """The first examples of a round of which all is known; None without any."""
    scores, target = rows_of(fit.values.get(fit.prediction)), fit.values.get(fit.target)
    labels = whole_array(target) if target is not None and len(target.shape) == 1 else None
    if not scores or labels is None or len(next(iter(scores.values()))) > CLASSES:
        return None
    seen: dict[int, Any] = dict.fromkeys(scores, "")
    if letters:
        contexts = contexts_of(fit) or ()
        seen = {i: "".join(letters[n] for n in each[-CONTEXT:]) for i, each in enumerate(contexts)}
    elif images := images_of(fit.values.get(fit.data)):
        seen = dict(images)
    known = [i for i in scores if i in seen][:EXAMPLES]
    return [[int(labels[i]), rounded_numbers(shares_of(fit, scores[i])), seen[i]] for i in known] or None


def shares_of(fit: Fit, scores: Any) -> Any:
    """The probabilities of the classes of an example."""
    powers = np.exp(scores - (0.0 if fit.op.startswith(CLASSIFIED[0]) else scores.max()))
    return powers if fit.op.startswith(CLASSIFIED[0]) else powers / powers.sum()


def rows_of(value: Value | None) -> dict[int, Any]:
    """The rows of a table that are known whole, by their numbers."""
    if value is None or len(value.shape) != 2:
        return {}
    if value.items is not None:
        return dict(enumerate(np.array(value.items, float).reshape(value.shape)))
    corner = None if value.summary is None else value.summary.corner
    if corner is None or corner.across > 1:
        return {}
    rows = np.array(corner.items).reshape(-1, corner.columns)[: corner.rows]
    return {i * corner.down: row for i, row in enumerate(rows)}


# ─── Images


def images_of(data: Value | None) -> dict[int, list[Any]]:
    """The images that are known, by the number of their example; of several channels the first."""
    if data is None or len(data.shape) not in (3, 4) or min(data.shape[-2:]) < SMALLEST:
        return {}
    corner = None if data.summary is None else data.summary.corner
    rows, columns = data.shape[-2:] if corner is None else (corner.rows, corner.columns)
    items = data.items if corner is None else corner.items
    if items is None:
        return {}
    planes = np.array(items, float).reshape(-1, rows, columns)
    channels = data.shape[1] if len(data.shape) == 4 else 1
    low, high = planes.min(), planes.max()
    shades = np.rint((planes - low) / (high - low or 1.0) * SHADES).astype(int)
    return {
        i // channels: [columns, "".join(map(str, shades[i].ravel().tolist()))]
        for i in range(0, len(planes), channels)
    }


# ─── Letters


def letters_of(fit: Fit, source: str) -> list[str]:
    """What letter each class is; [] where the classes are none. The letters are those of a text of the
    source in which what comes after each context is what the targets say."""
    target, before, prediction = fit.values.get(fit.target), contexts_of(fit), fit.values.get(fit.prediction)
    labels = whole_array(target)
    if before is None or prediction is None or labels is None:
        return []
    pairs = {(int(context[-1]), int(after)) for context, after in zip(before, labels.ravel())}
    count = prediction.shape[-1]
    if len(pairs) < 2 or any(not 0 <= each < count for pair in pairs for each in pair):
        return []
    texts = list(strings_and_words(source))
    known = {pair for each in texts for pair in pairwise(each)}
    for each in texts:
        for letters in (sorted(set(each)), list(dict.fromkeys(each))):
            if len(letters) == count and all((letters[a], letters[b]) in known for a, b in pairs):
                return letters
    return []


def strings_and_words(source: str) -> Iterator[str]:
    """The texts of a program, and its words with a stop around each."""
    tree = parse_source(source)
    nodes = ast.walk(tree) if tree is not None else ()
    found = [
        n.value
        for n in nodes
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and len(n.value) > 1
    ]
    yield from found
    for words in (found, *(each.split() for each in found)):
        yield f".{'.'.join(words)}."


def contexts_of(fit: Fit) -> list[Any] | None:
    """The indices behind each prediction, from which it was made; None where they are not known."""
    prediction = fit.values.get(fit.prediction)
    for id in above(fit.prediction, fit.ops):
        value = fit.values.get(id)
        if value is None or not value.dtype.startswith("int") or prediction is None:
            continue
        rows, indices = prediction.shape[0], whole_array(value)
        if indices is not None and value.size == rows:
            return indices.reshape(-1, 1).tolist()
        if indices is not None and len(value.shape) == 2 and value.shape[0] == rows:
            return indices.tolist()
    return None
