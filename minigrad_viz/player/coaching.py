"""The training of a cell for a player with a kernel: what stands in its pane, and what its buttons do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..numbers import number
from ..replay.live import Refused
from ..replay.training import Training
from ..words import text

MOST = 100  # rounds that are asked for at once
TOLD = 6  # leaves whose values are shown
WORDS = ("training", "training_more", "training_ten", "training_lr", "training_rewind", "training_known")


class Coach:
    """Goes on with a `training` as a reader asks; without one it says `why` there is none."""

    def __init__(self, training: Training | None, name: str, why: str = "", lang: str | None = None) -> None:
        self.training, self.name, self.why, self.lang = training, name, why, lang

    def score(self) -> dict[str, Any]:
        """The part of a score for the training: {"words", "name" (of the root), "why" (not), "state"}."""
        words = {key: text(key, self.lang) for key in WORDS}
        words["training_at"] = text("training_at", self.lang, round="{round}", name="{name}", loss="{loss}")
        words["training_curve"] = text("training_curve", self.lang, name="{name}")
        state = None if self.training is None else self.state(self.training)
        return {"words": words, "name": self.name, "why": self.why, "state": state}

    def state(self, training: Training) -> dict[str, Any]:
        """How the training stands: {"round", "cell" (the cell's last round), "lr", "rounds" to go back to,
        "losses": [[round, loss], …], "loss" as text, "values": [[name, text], …]}."""
        losses = [[i, loss] for i, loss in sorted(training.losses.items()) if math.isfinite(loss)]
        values = [[name, said(value)] for name, value in list(training.values().items())[:TOLD]]
        return {
            "round": training.round, "cell": training.cell, "lr": training.rate, "losses": losses,
            "rounds": list(training.rounds), "loss": number(training.loss), "values": values,
        }  # fmt: skip

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What a kernel says when a reader asks for `more` rounds, with a rate `lr`, or to `rewind`."""
        training = self.training
        if training is None:
            return {"refused": self.why}
        try:
            if "rewind" in question:
                training.rewind(int(question["rewind"]))
            else:
                training.more(min(MOST, int(question["more"])), question.get("lr"))
        except Refused as refused:
            return {"refused": str(refused), "training": self.state(training)}
        return {"training": self.state(training)}


def said(value: Any) -> str:
    """The value of a leaf as text, shortened."""
    if isinstance(value, list):
        inner = [said(item) for item in value[:4]]
        return f"[{' '.join(inner)}{' …' if len(value) > 4 else ''}]"
    return number(value)
