"""The data of a run: fingerprints of the batches, loaders, seeds."""

from __future__ import annotations

import math
from typing import Any

from .hub import Listener, user_place


class Batches(Listener):
    """Watches what models are given."""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self.seen_input: dict[str, int] = {}  # the id of the last batch, by model
        self.suspect_input: tuple[str, int] | None = None  # the model and step of one that is not finite

    def note_batch(self, module: Any, args: Any) -> None:
        """A fingerprint of the batch that a model is given."""
        first = next((each for each in args if self.library.is_tensor(each)), None)
        if first is None or len(self.evidence.inputs) >= 64 or first.numel() > 5_000_000 or not first.numel():
            return
        name = self.run.names.modules.get(id(module), "")
        with self.library.quiet():
            values = first.detach().reshape(-1).float()
            picked = values[:: max(1, values.shape[0] // 4096)]
            weighted = (picked * self._ramp(picked)).sum()
            total, mixed = self.library.floats([picked.sum(), weighted])
            if not self.evidence.inputs and self.library.is_float(first):
                mean, std = self.library.floats(
                    [values.mean(), values.std() if values.shape[0] > 1 else values.mean()]
                )
                self.evidence.input_scale = (mean, std)
        made = self.run.trace.of(first)
        if made is not None:
            self.evidence.input_parts += made.larger
            self.evidence.input_place = made.place
        fresh = self.seen_input.get(name) != id(first)
        self.seen_input[name] = id(first)
        self.evidence.inputs.append((name, tuple(first.shape), total, mixed, fresh))
        if not math.isfinite(total) and self.evidence.not_finite is None:
            self.suspect_input = (name, self.evidence.steps + 1)

    def _ramp(self, like: Any) -> Any:
        return self.library.torch.linspace(0.5, 1.5, like.shape[0], dtype=like.dtype, device=like.device)

    def before_loader(self, args: Any, kwargs: Any) -> None:
        self.evidence.loaders += 1
        self.evidence.loader_place = user_place()
        try:
            self.evidence.loader_batches = len(args[0])
        except TypeError:  # of a stream
            self.evidence.loader_batches = 0

    def after_from_numpy(self, args: Any, kwargs: Any, result: Any) -> None:
        if self.run.tracing:
            self.run.trace.record("from_numpy", args, result)

    def before_seed(self, args: Any, kwargs: Any) -> None:
        if not self.run.backward.depth and (args or kwargs):
            seed = args[0] if args else kwargs["seed"]
            if isinstance(seed, int):
                self.evidence.seeds[(seed, user_place())] += 1
