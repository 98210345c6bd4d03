"""Numbers of parameters and outputs at sampled steps: norms, on the tensors' own device, read together.

The update of a parameter is the difference of its values before and after a step. Of large parameters only
every n-th value is compared, so at most `COPIED` values are copied, and only for the time of the step. The
values of all parameters lie behind each other in one tensor, so a step takes few operations, however many
parameters there are.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ..training_faults.evidence import Evidence, ModuleFacts, NotFinite, ParameterFacts, Sample
from .library import Library

COPIED = 2_000_000  # values of all parameters together
LATE = 4  # from this step on, equal rows of a weight are no start that training leaves behind


class ParameterGroup(NamedTuple):
    """The parameters of one device and dtype that a step is going to move."""

    facts: list[ParameterFacts]
    parameters: list[Any]
    values: Any  # every n-th value of each, behind each other
    sizes: list[int]  # how many of each


class Arrival(NamedTuple):
    """A gradient that an AccumulateGrad node received: its norm, on its device."""

    facts: ParameterFacts
    norm: Any
    root: float


class Measures:
    """Takes the samples."""

    def __init__(self, library: Library, evidence: Evidence) -> None:
        self.library, self.evidence = library, evidence
        self._stride = 1
        self._waiting: list[ParameterGroup] = []
        self._norms: dict[int, float] = {}
        self._outputs: list[tuple[ModuleFacts, Any, float, int]] = []
        self._arrivals: list[Arrival] = []

    def clear(self) -> None:
        """Forget tensors."""
        self._waiting.clear()
        self._norms.clear()
        self._arrivals.clear()

    # ── outputs of modules

    def output(self, facts: ModuleFacts, tensor: Any, step: int) -> None:
        """The rms of what a module returned; it is read with those of all modules, at the end of the step."""
        norm = self.library.norm(tensor)
        self._outputs.append((facts, norm, math.sqrt(max(1, tensor.numel())), step))

    def read_outputs(self) -> None:
        """Read what is waiting."""
        if not self._outputs:
            return
        with self.library.quiet():
            norms = self.library.floats([norm for _, norm, _, _ in self._outputs])
        for (facts, _, root, step), norm in zip(self._outputs, norms):
            facts.outputs.add((step, norm / root))
        self._outputs.clear()

    # ── gradients that arrive at leaves

    def arrived(self, facts: ParameterFacts, gradient: Any) -> None:
        """A gradient has arrived at a leaf, before it is added to what lies there."""
        self._arrivals.append(
            Arrival(facts, self.library.norm(gradient), math.sqrt(max(1, gradient.numel())))
        )

    def read_arrivals(self, step: int, held: set[int]) -> ParameterFacts | None:
        """Read the gradients that have arrived, at once; the first leaf whose gradient is not finite. A
        parameter that no optimizer is going to step has its sample here."""
        first = None
        norms = self.library.floats([arrival.norm for arrival in self._arrivals])
        for (facts, _, root), norm in zip(self._arrivals, norms):
            facts.arrived += 1
            if first is None and not math.isfinite(norm):
                first = facts
            if facts.key not in held and facts.samples and facts.samples[-1].step == step:
                facts.samples[-1] = facts.samples[-1]._replace(grad=norm / root)
        self._arrivals.clear()
        return first

    # ── steps

    def before(self, run: Any, every: list[Any], step: int) -> None:
        """Before a step: norms of weights and gradients, and a copy of some values."""
        held = [p for p in every if p.numel()]
        self._stride = max(1, math.ceil(sum(p.numel() for p in held) / COPIED))
        groups: dict[Any, list[Any]] = {}
        for parameter in held:
            groups.setdefault((parameter.device, parameter.dtype), []).append(parameter)
        self._waiting = [self._group(run, group, step) for group in groups.values()]

    def _group(self, run: Any, parameters: list[Any], step: int) -> ParameterGroup:
        library, stride = self.library, self._stride
        facts = [run.facts_of(p) for p in parameters]
        weights = [p.detach() for p in parameters]
        grads = [None if p.grad is None else library.dense(p.grad.detach()) for p in parameters]
        present = [(i, grad) for i, grad in enumerate(grads) if grad is not None and grad.numel()]
        numbers = library.floats([*library.norms(weights), *library.norms([grad for _, grad in present])])
        zeros = self._zeros([grad for _, grad in present])
        measured = dict(zip((i for i, _ in present), zip(numbers[len(weights) :], zeros)))
        for i, (each, parameter, norm) in enumerate(zip(facts, parameters, numbers)):
            each.trains = bool(parameter.requires_grad)
            root = math.sqrt(parameter.numel())
            grad, share = measured.get(i, (math.nan, math.nan))
            if i in measured:
                each.got += not math.isnan(grad)
                if not math.isfinite(grad) and self.evidence.not_finite is None:
                    self.evidence.not_finite = run.backward.suspect or NotFinite(
                        step, "gradient", "", each.name, self.evidence.backward_place, ""
                    )
            each.samples.add(Sample(step, norm / root, grad / root, math.nan, share))
            if step >= LATE and each.equal_rows >= 0 and each.trains:
                each.equal_rows = self._equal_rows(each, weights[i])
        values = library.joined([weight.reshape(-1)[::stride] for weight in weights])
        return ParameterGroup(facts, parameters, values, [-(-p.numel() // stride) for p in parameters])

    def _zeros(self, grads: list[Any]) -> list[float]:
        """The share of zeros in each gradient, of those values that are looked at."""
        if not grads:
            return []
        parts = [grad.reshape(-1)[:: self._stride] for grad in grads]
        zeros = (self.library.joined(parts) == 0).float()
        norms = self.library.norms(list(zeros.split([int(part.numel()) for part in parts])))
        counts = self.library.floats(norms)  # of zeros and ones the norm is the root of their number
        return [count * count / part.numel() for count, part in zip(counts, parts)]

    @staticmethod
    def _equal_rows(facts: ParameterFacts, weight: Any) -> int:
        """At how many sampled steps all rows were equal; -1 as soon as they are not."""
        if len(facts.shape) < 2 or facts.shape[0] < 2:
            return -1
        rows = weight.reshape(weight.shape[0], -1)
        same = float((rows - rows[:1]).abs().max().item()) == 0
        return facts.equal_rows + 1 if same else -1

    @property
    def waits(self) -> bool:
        """Whether a step that is sampled is going on."""
        return bool(self._waiting)

    def after(self) -> None:
        """After the step: how far the values moved."""
        library, stride = self.library, self._stride
        for facts, parameters, values, sizes in self._waiting:
            now = library.joined([p.detach().reshape(-1)[::stride] for p in parameters])
            norms = library.floats(library.norms(list((now - values).split(sizes))))
            for each, norm, size in zip(facts, norms, sizes):
                each.samples[-1] = each.samples[-1]._replace(update=norm / math.sqrt(max(1, size)))
        self._waiting = []

    def loose(self, run: Any, leaves: dict[int, Any], held: set[int], step: int) -> None:
        """Parameters that no optimizer holds: whether something else has changed them since the last time.
        The rms of their gradients comes when it arrives."""
        free = [leaf for key, leaf in leaves.items() if key not in held and leaf.numel()][:40]
        norms = self.library.floats(self.library.norms([leaf.detach() for leaf in free]))
        for leaf, norm in zip(free, norms):
            facts = run.facts_of(leaf)
            before = self._norms.get(facts.key)
            facts.moved = facts.moved or (before is not None and before != norm)
            self._norms[facts.key] = norm
            facts.samples.add(Sample(step, norm / math.sqrt(leaf.numel()), math.nan, math.nan, math.nan))
