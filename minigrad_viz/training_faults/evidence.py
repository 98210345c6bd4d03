"""What is known about a run: numbers, names, counts and places in the source; no tensors.

A rule is a function of an `Evidence` and of nothing else, so whoever can fill one in gets the same findings.
"""

from __future__ import annotations

import linecache
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A line of the user's code."""

    file: str
    line: int

    @property
    def text(self) -> str:
        """The line itself, without its indentation."""
        return linecache.getline(self.file, self.line).strip()


class OpRecord:
    """How a tensor was computed in a step that is watched op by op: the op, its line, what it was computed
    from. `cut` says how it lost its link to what needs gradients ("" if it did not)."""

    __slots__ = ("op", "place", "parents", "leaves", "cut", "carries", "spread", "larger", "needs")

    def __init__(self, op: str, place: Place | None) -> None:
        self.op, self.place = op, place
        self.parents: list[OpRecord] = []
        self.leaves: tuple[int, ...] = ()  # ids of the leaves that require gradients among its inputs
        self.cut = ""
        self.carries = False  # whether its numbers depend on a leaf that requires gradients
        self.spread: tuple[tuple[int, ...], tuple[int, ...]] | None = None  # n×1 met n here
        self.larger = False  # it is a part of a larger tensor
        self.needs = False  # requires gradients

    def upstream(self) -> Iterable[OpRecord]:
        """This and all it was computed from, nearest first."""
        seen, queue = {id(self)}, [self]
        for made in queue:
            yield made
            for parent in made.parents:
                if id(parent) not in seen:
                    seen.add(id(parent))
                    queue.append(parent)


class Cut(NamedTuple):
    """A path that was cut between a loss and the parameters with these ids."""

    how: str
    place: Place | None
    beyond: frozenset[int]
    backward: Place | None = None


class Sample(NamedTuple):
    """What was measured about a parameter at a step: rms of weight, gradient and update; the share of zeros
    in its gradient. nan where there is none."""

    step: int
    weight: float
    grad: float
    update: float
    zeros: float

    @property
    def ratio(self) -> float:
        """update ÷ weight."""
        return self.update / self.weight if self.weight > 0 else math.nan


class Series(list[Any]):
    """Samples of a run, thinned out when they become too many, so memory does not grow with the run."""

    LIMIT = 256

    def add(self, sample: Any) -> None:
        """Append; of too many, drop every second one but the first ones."""
        self.append(sample)
        if len(self) > self.LIMIT:
            self[8:-8] = self[8:-8:2]


@dataclass
class ParameterFacts:
    """A parameter, by the name that the user gives it."""

    key: int
    name: str
    shape: tuple[int, ...]
    order: int  # position in the model
    size: int = 0
    trains: bool = True  # requires_grad
    registered: bool = True  # belongs to a model that was called
    root: str = ""  # the model it belongs to
    is_parameter: bool = True
    samples: Series = field(default_factory=Series)
    reached: int = 0  # backward calls whose graph ended in it, among those that were looked at
    arrived: int = 0  # gradients that its AccumulateGrad node received in those calls
    got: int = 0  # sampled steps at which it had a gradient
    equal_rows: int = 0  # sampled steps, late ones, at which all rows of the weight were equal
    rows_in_part: bool = False  # only a part of the weight is known
    write: str = ""  # what filled it last, before the first step
    write_place: Place | None = None
    rewritten: bool = False  # after it had been created
    moved: bool = False  # changed although no optimizer stepped

    def values(self, name: str) -> list[float]:
        """The finite numbers of a column."""
        return [v for s in self.samples if math.isfinite(v := getattr(s, name))]

    def typical(self, name: str) -> float:
        """The median of a column; nan where there is nothing."""
        found = self.values(name)
        return median(found) if found else math.nan


@dataclass
class OptimizerFacts:
    """An optimizer and what happened to it."""

    number: int
    kind: str
    place: Place | None
    keys: tuple[int, ...] = ()
    steps: int = 0
    resets: int = 0
    idle: int = 0  # steps at which no parameter had a gradient
    idle_since: tuple[str, ...] = ()  # what had happened before the last such step
    mixed: int = 0  # steps that used gradients of an earlier step again
    mixed_place: Place | None = None  # the backward call that added to them
    first_had_backward: bool = True
    backward_place: Place | None = None  # the last backward call before a step
    step_place: Place | None = None
    reset_place: Place | None = None
    rates: list[float] = field(default_factory=list)  # first, smallest, largest, last
    rate_zero: int = 0
    rate_tiny: int = 0  # steps at which the rate was under 1/10,000 of its largest
    tiny_since: int = 0
    decay: float = 0.0


@dataclass
class ActivationFacts:
    """An activation function at one place of the model."""

    name: str
    kind: str
    place: Place | None = None
    samples: Series = field(default_factory=Series)  # (step, share): of dead units, or of flat elements
    units: int = 0
    since: int = 0  # the step at which more than half were dead for the first time
    last: bool = False  # its result goes into the loss
    runs: Any = None  # how many steps each unit has given only zeros


@dataclass
class ModuleFacts:
    """A module that was called."""

    name: str
    kind: str
    order: int
    calls: int = 0
    outputs: Series = field(default_factory=Series)  # (step, rms of the output)
    grads: Series = field(default_factory=Series)  # (step, rms of the gradients of its own parameters)
    leaf: bool = True
    shape: tuple[int, ...] = ()


class NotFinite(NamedTuple):
    """The first value that was not finite."""

    step: int
    where: str  # "input", "forward", "backward", "weight"
    op: str
    module: str
    place: Place | None
    took: str  # what the op was given, in words


@dataclass
class LossFacts:
    """How a loss was computed: read from its graph and from the calls of the first steps."""

    place: Place | None = None
    op: str = ""  # of the loss function: "nll_loss"
    line: Place | None = None  # of the loss function
    softmax_place: Place | None = None
    negated: bool = False
    before: str = ""  # the op whose result the loss function got
    before_place: Place | None = None
    before_zeros: float = 0.0
    over_batch: bool = False
    raw_scores: bool = False
    negative_targets: bool = False
    targets: set[float] = field(default_factory=set)  # labels seen, at most three
    labels: int = 0
    of_linear: bool = False


@dataclass
class Evidence:
    """All that a run has shown."""

    library: str = ""
    steps: int = 0
    backwards: int = 0
    backward_place: Place | None = None
    numbers: int = 0
    sampled: list[int] = field(default_factory=list)
    parameters: dict[int, ParameterFacts] = field(default_factory=dict)
    optimizers: list[OptimizerFacts] = field(default_factory=list)
    modules: dict[str, ModuleFacts] = field(default_factory=dict)
    activations: dict[str, ActivationFacts] = field(default_factory=dict)
    losses: list[float] = field(default_factory=list)
    loss: dict[Place | None, LossFacts] = field(default_factory=dict)
    reached_by: dict[Place | None, set[int]] = field(default_factory=dict)  # backward calls by line
    cuts: list[Cut] = field(default_factory=list)
    broadcasts: list[tuple[Place | None, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)
    rootless: tuple[Place | None, str, Place | None] | None = None  # backward line, why, line of the cause
    clips: Counter[str] = field(default_factory=Counter)
    clip_place: Place | None = None
    clip_norms: Series = field(default_factory=Series)  # (step, norm, limit)
    schedules: int = 0
    schedule_first: Place | None = None
    schedule_place: Place | None = None
    seeds: Counter[tuple[int, Place | None]] = field(default_factory=Counter)
    evaluating: tuple[str, Place | None] | None = (
        None  # all modules whose behavior depends on it, while training
    )
    evaluated: int = 0
    trained_forwards: int = 0
    measured_in_training: tuple[str, Place | None] | None = None
    inputs: list[tuple[Any, ...]] = field(default_factory=list)  # fingerprints of batches
    input_place: Place | None = None
    input_parts: int = 0  # steps at which a batch was cut out of a larger tensor
    input_scale: tuple[float, float] = (0.0, 0.0)  # mean and std of the first batch
    loaders: int = 0
    loader_place: Place | None = None
    loader_batches: int = 0
    not_finite: NotFinite | None = None
    not_finite_loss: int = 0
    kept_losses: int = 0
    kept_place: Place | None = None
    graph_sizes: list[tuple[int, int]] = field(default_factory=list)
    listed: dict[str, Place | None] = field(default_factory=dict)  # attributes that hide modules in a list
    frozen_place: Place | None = None
    error: str = ""
    compiled: list[str] = field(default_factory=list)  # what torch.compile has compiled
    unwatched: list[str] = field(default_factory=list)
    seconds: float = 0.0
    overhead: float = 0.0

    # ── what several rules ask

    def held(self) -> dict[int, list[OptimizerFacts]]:
        """The optimizers that hold a parameter, by its key."""
        found: dict[int, list[OptimizerFacts]] = {}
        for optimizer in self.optimizers:
            for key in optimizer.keys:
                found.setdefault(key, []).append(optimizer)
        return found

    def name(self, key: int) -> str:
        """A parameter's name."""
        return self.parameters[key].name if key in self.parameters else "?"

    @property
    def finite_losses(self) -> list[float]:
        return [loss for loss in self.losses if math.isfinite(loss)]

    def loss_change(self) -> float:
        """The median of the last five losses ÷ that of the first five, both from their smallest possible
        value if that is 0; nan for fewer than ten."""
        found = self.losses
        if len(found) < 10:
            return math.nan
        first, last = median(found[:5]), median(found[-5:])
        if not math.isfinite(last):
            return math.inf
        return last / first if first > 0 else math.nan

    def weights(self) -> list[ParameterFacts]:
        """The matrices and kernels that an optimizer trains, in the order of the model."""
        held = self.held()
        found = [p for p in self.parameters.values() if p.key in held and p.trains and len(p.shape) > 1]
        return sorted(found, key=lambda p: p.order)
