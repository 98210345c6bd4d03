"""The training of a cell for a player with a kernel: what stands in its pane, and what its buttons do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..numbers import number
from ..replay.landscape import movable, slice_of
from ..replay.live import Refused
from ..replay.training import Training
from ..words import templates

MOST = 100  # rounds that are asked for at once
TOLD = 6  # leaves whose values are shown
WORDS = (
    "training", "training_more", "training_ten", "training_lr", "training_rewind", "training_known",
    "live_pick", "training_at", "training_curve", "training_slice", "training_step", "live_slope",
    "live_stays",
)  # fmt: skip


class Coach:
    """Goes on with a `training` as a reader asks; without one it says `why` there is none."""

    def __init__(self, training: Training | None, name: str, why: str = "", lang: str | None = None) -> None:
        self.training, self.name, self.why, self.lang = training, name, why, lang
        self.leaf = ""  # along which the loss is shown

    def score(self) -> dict[str, Any]:
        """The part of a score for the training: {"words", "name" (of the root), "why" (not), "state"}."""
        state = None if self.training is None else self.state(self.training)
        return {"words": templates(WORDS, self.lang), "name": self.name, "why": self.why, "state": state}

    def state(self, training: Training) -> dict[str, Any]:
        """How the training stands: {"round", "cell" (the cell's last round), "lr", "rounds" to go back to,
        "losses": [[round, loss], …], "loss" as text, "values": [[name, text], …], "slice"}."""
        losses = [[i, loss] for i, loss in sorted(training.losses.items()) if math.isfinite(loss)]
        values = [[name, said(value)] for name, value in list(training.values().items())[:TOLD]]
        return {
            "round": training.round, "cell": training.cell, "lr": training.rate, "losses": losses,
            "rounds": list(training.rounds), "loss": number(training.loss), "values": values,
            "slice": self.slice(training),
        }  # fmt: skip

    def slice(self, training: Training) -> dict[str, Any] | None:
        """The loss when one number of a leaf moves: {"leaf", "leaves" that there are, "xs", "ys", "here" and
        "next": [x, root, slope], "grad": whether the slope stands in the leaf's `.grad`}."""
        leaves = list(movable(training))[:MOST]
        if not leaves:
            return None
        self.leaf = self.leaf if self.leaf in leaves else leaves[0]
        found = slice_of(training, self.leaf)
        if found is None:
            return None
        return {
            "leaf": self.leaf, "leaves": leaves, "xs": found.xs, "ys": [finite(y) for y in found.ys],
            "here": [finite(each) for each in found.here], "next": [finite(each) for each in found.next],
            "grad": math.isclose(found.here.slope, found.grad, rel_tol=1e-5),
        }  # fmt: skip

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What a kernel says when a reader asks for `more` rounds, with a rate `lr`, to `rewind`, or for
        another `leaf`."""
        training = self.training
        if training is None:
            return {"refused": self.why}
        try:
            if "leaf" in question:
                self.leaf = str(question["leaf"])
            elif "rewind" in question:
                training.rewind(int(question["rewind"]))
            else:
                training.more(min(MOST, int(question["more"])), question.get("lr"))
        except Refused as refused:
            return {"refused": str(refused), "training": self.state(training)}
        return {"training": self.state(training)}


def finite(value: float) -> float | None:
    """A number that JSON has."""
    return value if math.isfinite(value) else None


def said(value: Any) -> str:
    """The value of a leaf as text, shortened."""
    if isinstance(value, list):
        inner = [said(item) for item in value[:4]]
        return f"[{' '.join(inner)}{' …' if len(value) > 4 else ''}]"
    return number(value)
