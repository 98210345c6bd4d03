"""What a recorded cell with a training loop shows about the run: the second source of `training_faults`.

The doctor takes the same evidence from a run that nobody records (`training_runs`). A cell has more numbers
of fewer rounds: of a long loop the first ones are only counted. Its steps are numbered by its backward calls.
"""

from __future__ import annotations

import ast
import math
import statistics
from collections import Counter
from collections.abc import Iterator

from ..model.grad_ledger import is_zero
from ..protocol import Value
from ..trace.events import (
    BackwardStarted,
    Event,
    Forward,
    GradAccumulated,
    GradSet,
    InPlaceWrite,
    ModuleCalled,
    ModuleReturned,
    OptimizerStepped,
    Snapshot,
    Stepping,
    TensorCreated,
)
from ..trace.source_positions import Span
from ..training_faults.evidence import (
    ActivationFacts,
    Evidence,
    LossFacts,
    ModuleFacts,
    OptimizerFacts,
    ParameterFacts,
    Place,
    Sample,
)
from ..training_faults.vocabulary import CURVES, LOSSES, REDUCTIONS, VIEWS
from .case import Case
from .missed_updates import base_of_name
from .silent_mistakes import learners, loop_of, optimizers_of
from .syntax import span_at

PARTS = ("index", "index_select", "narrow", "select", "slice", "getitem")
COMPARED = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


class LoopEvidence:
    """Reads a trace once, event by event."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.created = {each.name: each for each in optimizers_of(case, indirect=True)}
        self.evidence = Evidence(library=case.trace.library)
        self.spans: dict[Place, Span] = {}
        self.values: dict[str, Value] = {}  # of leaves, as they are now
        self.grads: dict[str, Value] = {}
        self.used: set[str] = set()  # leaves whose gradient a step has used
        self.mixed: dict[str, int] = {}  # leaves that got another one since then, with the call
        self.calls: dict[int, Place | None] = {}
        self.modules: list[ModuleCalled] = []  # that run
        self.step = 0  # the number of the last backward call
        self.known: dict[tuple[str, Span | None], OptimizerFacts] = {}
        self.optimizers: dict[str, OptimizerFacts] = {}  # by their variables
        self.diverges = False  # a note says that updates made a tensor grow until it was not finite
        self.first: dict[str, Value] = {}  # of leaves that the cell made, as they were
        self.lost: dict[str, list[int]] = {}  # of activations, how long each unit has given zeros
        self.reached = learners(case)
        for event in case.trace.events:
            self._read(event)
        self._finish()

    def place(self, span: Span | None) -> Place | None:
        """A line, as evidence names it."""
        if span is None:
            return None
        place = Place(f"<source {span.origin}>", span.line)
        self.spans.setdefault(place, span)
        return place

    def never_reached(self, id: str) -> bool:
        """Whether no gradient has come to a leaf that requires one, also in rounds that were only counted:
        then its values are those that it was made with."""
        state = self.case.made(id)
        if state is None or not state.requires_grad or id in self.reached:
            return False
        light = self.case.trace.skipped > 0
        return not light or (id in self.first and self.first[id] == self.values.get(id))

    def shape_of(self, id: str) -> tuple[int, ...]:
        """The shape of a tensor; () where it is not known."""
        state = self.case.made(id)
        return () if state is None or state.value is None else state.value.shape

    # ── one event

    def _read(self, event: Event) -> None:
        match event:
            case TensorCreated() | InPlaceWrite():
                self._value(event)
            case GradAccumulated():
                self._accumulated(event)
            case GradSet():
                self._set(event)
            case Snapshot():
                for state in event.states:
                    if state.is_leaf and state.value is not None:
                        self.values[state.id] = state.value
            case BackwardStarted() if event.kind == "backward":
                self._backward(event)
            case OptimizerStepped():
                self._stepped(event)
            case Forward():
                self._activation(event)
            case ModuleCalled():
                self._called(event)
            case ModuleReturned() if self.modules:
                self.modules.pop()

    def _value(self, event: TensorCreated | InPlaceWrite) -> None:
        id = event.tensor.id if isinstance(event, TensorCreated) else event.before
        value = event.tensor.value
        before = self.values.get(id)
        facts = self.evidence.parameters.get(tensor_number(id))
        if value is None:
            return
        if (
            isinstance(event, InPlaceWrite)
            and event.op == "step"
            and facts is not None
            and before is not None
        ):
            last = facts.samples[-1] if facts.samples else None
            if last is not None and last.step == self.step:
                facts.samples[-1] = last._replace(update=distance(before, value))
        if event.tensor.is_leaf or id in self.values:
            self.values[id] = value
            if isinstance(event, TensorCreated):
                self.first[id] = value

    def _accumulated(self, event: GradAccumulated) -> None:
        facts = self.facts_of(event.tensor)
        facts.reached += 1
        facts.arrived += 1
        self.evidence.reached_by.setdefault(self.calls.get(event.call), set()).add(facts.key)
        self.grads[event.tensor] = event.after
        if event.tensor in self.used and event.before is not None and not is_zero(event.before):
            self.mixed[event.tensor] = event.call
        self.used.discard(event.tensor)

    def _set(self, event: GradSet) -> None:
        if event.after is None or is_zero(event.after):
            self.used.discard(event.tensor)
            self.mixed.pop(event.tensor, None)
            self.grads.pop(event.tensor, None)
        else:
            self.grads[event.tensor] = event.after

    def _backward(self, event: BackwardStarted) -> None:
        self.step = event.call
        place = self.calls[event.call] = self.place(event.span)
        self.evidence.backwards += 1
        self.evidence.backward_place = place
        self.evidence.sampled.append(event.call)
        self.evidence.graph_sizes.append((event.call, len(event.nodes)))
        if len(event.roots) == 1:
            facts = loss_facts(self, event.roots[0])
            self.evidence.loss.setdefault(place, facts)
            known = self.evidence.loss[place]
            known.targets |= facts.targets
            known.raw_scores |= facts.raw_scores
            known.negative_targets |= facts.negative_targets

    def _stepped(self, event: OptimizerStepped) -> None:
        o = self.known.get((event.kind, event.span))
        if o is None:
            o = self.known[event.kind, event.span] = self._optimizer(event)
            self.evidence.optimizers.append(o)
        o.steps += 1
        o.idle += not event.rows
        o.keys = tuple(dict.fromkeys((*o.keys, *(tensor_number(row.tensor) for row in event.rows))))
        o.backward_place = self.evidence.backward_place
        mixed = [self.mixed.pop(row.tensor) for row in event.rows if row.tensor in self.mixed]
        if mixed:
            o.mixed += 1
            o.mixed_place = o.backward_place
        if event.rows:
            note_rates(o, event.rows)
        for row in event.rows:
            self.used.add(row.tensor)
            weight, grad = self.values.get(row.tensor), self.grads.get(row.tensor)
            facts = self.facts_of(row.tensor)
            facts.got += grad is not None
            rms = rms_of(grad)
            zeros = 1.0 if grad is not None and is_zero(grad) else 0.0
            facts.samples.add(Sample(self.step, rms_of(weight), rms, math.nan, zeros))
            facts.equal_rows += weight is not None and has_equal_rows(weight)
            facts.rows_in_part |= weight is not None and not is_known_whole(weight)

    def _optimizer(self, event: OptimizerStepped) -> OptimizerFacts:
        """The facts of an optimizer. The order of the calls in its loop is that of the source: the first
        rounds of a long loop are only counted."""
        name = (event.span.text if event.span is not None else "").partition(".step")[0]
        created, loop = self.created.get(name), loop_of(self.case, name) if name else None
        place = None if created is None else self.place(span_at(self.case, created.call))
        o = OptimizerFacts(len(self.known), event.kind, place, step_place=self.place(event.span))
        rates = [] if created is None else [k.value for k in created.call.keywords if k.arg == "lr"]
        if rates and isinstance(rates[0], ast.Constant) and isinstance(rates[0].value, int | float):
            o.rates = [float(rates[0].value)] * 4  # the one of the first round
        self.optimizers.setdefault(name, o)
        if loop is not None and loop.backward is not None:
            o.first_had_backward = loop.backward.lineno < loop.step.lineno
            calls = [("backward", loop.backward)]
            if loop.reset is not None:
                calls.append(("reset", loop.reset))
                o.reset_place = self.place(span_at(self.case, loop.reset))
            calls.sort(key=lambda call: (call[1].lineno < loop.step.lineno, call[1].lineno))
            o.idle_since = tuple(called for called, _ in calls)
        return o

    def facts_of(self, id: str) -> ParameterFacts:
        """The facts of a leaf."""
        key = tensor_number(id)
        facts = self.evidence.parameters.get(key)
        if facts is None:
            name, state = self.case.plain(id), self.case.made(id)
            value = None if state is None else state.value
            shape = () if value is None else value.shape
            facts = ParameterFacts(key, name, shape, key, math.prod(shape), root=base_of_name(name))
            facts.is_parameter = state is not None and state.parameter
            self.evidence.parameters[key] = facts
        return facts

    # ── modules and activations

    def _called(self, event: ModuleCalled) -> None:
        if event.path and event.path not in self.evidence.modules:
            order = len(self.evidence.modules)
            self.evidence.modules[event.path] = ModuleFacts(event.path, event.kind, order)
        if not self.modules and event.inputs:
            self._batch(event)
        self.modules.append(event)

    def _batch(self, event: ModuleCalled) -> None:
        """A fingerprint of the batch that a model is given."""
        id = event.inputs[0]
        born, state = self.case.scene.index.births.get(id), self.case.made(id)
        value = None if state is None else state.value
        if value is None or len(self.evidence.inputs) >= 64:
            return
        part = isinstance(born, Forward) and born.op in PARTS
        if part and isinstance(born, Forward):  # most of the data is no batch of it
            part = math.prod(self.shape_of(born.read[0])) >= 2 * value.size
        self.evidence.input_parts += part
        if born is not None and part:
            self.evidence.input_place = self.place(born.span)
        numbers = known_numbers(value)
        if numbers and not self.evidence.inputs and value.dtype.startswith("float"):
            self.evidence.input_scale = (math.fsum(numbers) / len(numbers), statistics.pstdev(numbers))
        rows = (value.items or (), value.summary)
        self.evidence.inputs.append((event.path, value.shape, hash(rows), value.rms, True))

    def _activation(self, event: Forward) -> None:
        kind = CURVES.get(event.op)
        value = event.outputs[0].value if kind else None
        if kind is None or value is None or len(value.shape) != 2 or not event.outputs[0].requires_grad:
            return
        path = self.modules[-1].path if self.modules else ""
        name = f"{path} {event.op}".strip()
        facts = self.evidence.activations.setdefault(
            name, ActivationFacts(name, kind, self.place(event.span))
        )
        given = known_numbers(value)
        if kind == "dead":
            self._dead(facts, value)
        elif event.op == "tanh" and given:
            share = sum(x * x > 0.99 for x in given) / len(given)
            facts.samples.add((self.step + 1, share))
        elif event.op == "sigmoid" and given:
            share = sum(x * (1 - x) < 0.01 for x in given) / len(given)
            facts.samples.add((self.step + 1, share))

    def _dead(self, facts: ActivationFacts, value: Value) -> None:
        """Count for how many rounds each unit has given only zeros. Of many numbers only the extremes are
        known: then a unit is silent where all are."""
        units, items = value.shape[1], value.items
        if items is None:
            silent = [value.low == value.high == 0 and not value.special] * units
        else:
            silent = [not any(items[unit::units]) for unit in range(units)]
        runs = self.lost.get(facts.name, [0] * units)
        if len(runs) != units:
            runs = [0] * units
        self.lost[facts.name] = [(run + 1) * quiet for run, quiet in zip(runs, silent)]
        share, facts.units = sum(silent) / max(1, units), units
        facts.samples.add((self.step + 1, share))
        facts.since = 0 if share <= 0.5 else facts.since or self.step + 1

    # ── the end

    def _finish(self) -> None:
        e, trace = self.evidence, self.case.trace
        places = Counter(self.calls.values())
        main = places.most_common(1)[0][0] if places else None
        losses = [math.nan if loss is None else loss for loss in trace.rounds]
        if len(places) > 1:
            kept = [call for call, place in self.calls.items() if place == main]
            losses = [losses[call - 1] for call in kept if call <= len(losses)]
        e.losses = losses
        e.not_finite_loss = next((i for i, loss in enumerate(losses, 1) if not math.isfinite(loss)), 0)
        if len(places) == 1:  # each round that was only counted had a step
            rounds = e.backwards = trace.skipped + e.backwards
            for o in e.optimizers:
                o.idle = min(rounds, o.idle + trace.skipped) if o.idle == o.steps else o.idle
                o.rate_zero += trace.skipped if o.rates and not o.rates[2] else 0
                o.steps = min(rounds, o.steps + trace.skipped)
                o.rate_zero = min(o.rate_zero, o.steps)
                o.tiny_since += trace.skipped if o.tiny_since else 0
        e.steps = max((o.steps for o in e.optimizers), default=0)
        for name, runs in self.lost.items():
            facts = e.activations[name]
            needed = min(10, max(3, len(facts.samples)))
            facts.runs = sum(run >= needed for run in runs) / max(1, len(runs))


def tensor_number(id: str) -> int:
    """The number of a tensor: t12 is 12."""
    return int(id[1:])


def is_known_whole(value: Value) -> bool:
    """Whether a snapshot tells each number: it holds them all, or all are between equal extremes."""
    return value.items is not None or (value.low == value.high and not value.special and not value.skimmed)


def has_equal_rows(value: Value) -> bool:
    """Whether all rows of a matrix are equal; of a large one those that are known, spread over all of it."""
    if len(value.shape) != 2 or value.shape[0] < 2 or value.special:
        return False
    if value.items is not None:
        items, columns = value.items, value.shape[1]
    elif value.summary is not None and value.summary.corner is not None:
        corner = value.summary.corner
        if corner.rows < 2 or len({*value.summary.sample}) > value.shape[1]:
            return False
        items, columns = corner.items, corner.columns
    else:
        return False
    return all(items[k] == items[k % columns] for k in range(len(items)))


def rms_of(value: Value | None) -> float:
    """The root mean square of a snapshot; nan where it is not known, or where not all of it is finite."""
    rms = None if value is None or value.special else value.rms
    return math.nan if rms is None else rms


def known_numbers(value: Value) -> tuple[float, ...]:
    """The numbers of a snapshot; of many a sample."""
    if value.items is not None:
        return value.items
    return () if value.summary is None else value.summary.sample


def distance(before: Value, after: Value) -> float:
    """The rms of what a step added."""
    pairs = list(zip(known_numbers(before), known_numbers(after)))
    return math.sqrt(sum((a - b) ** 2 for a, b in pairs) / len(pairs)) if pairs else math.nan


def note_rates(o: OptimizerFacts, rows: tuple[Stepping, ...]) -> None:
    """The learning rate and the weight decay of a step."""
    settings = [dict(row.settings) for row in rows]
    rates = [each["lr"] for each in settings if "lr" in each]
    o.decay = max((each.get("weight_decay", 0.0) for each in settings), default=0.0)
    if not rates:
        return
    rate = max(rates)
    if not o.rates:
        o.rates = [rate, rate, rate, rate]
    o.rates[1:] = [min(o.rates[1], rate), max(o.rates[2], rate), rate]
    o.rate_zero += rate == 0
    if rate < 1e-4 * o.rates[2]:
        o.rate_tiny += 1
        o.tiny_since = o.tiny_since or o.steps


def behind(evidence: LoopEvidence, id: str) -> Iterator[Forward]:
    """The ops behind a result, each of the first input of the one before."""
    births = evidence.case.scene.index.births
    for _ in range(24):
        event = births.get(id)
        if not isinstance(event, Forward) or not event.read:
            return
        yield event
        id = event.read[0]


def op_name(event: Forward) -> str:
    """The op of an event by the name of its node."""
    return event.op.removesuffix("_forward").removesuffix("_all")


def loss_facts(evidence: LoopEvidence, root: str) -> LossFacts:
    """How a loss was computed."""
    facts, before = LossFacts(), None
    for event in behind(evidence, root):
        op = op_name(event)
        if before is None:
            if op in LOSSES or op == "cross_entropy":  # which is nll_loss of log_softmax
                whole = op == "cross_entropy"
                facts.op, before = "nll_loss" if whole else op, event
                facts.line = evidence.place(event.span)
                given_to_loss(evidence, facts, event)
                if whole:
                    facts.softmax_place, facts.raw_scores = facts.line, False
            elif op == "neg":
                facts.negated = not facts.negated
            elif op not in REDUCTIONS and op not in VIEWS:
                break
        elif op not in VIEWS:
            if not facts.before and op == "log_softmax" and facts.op.startswith("nll_loss"):
                facts.softmax_place, facts.raw_scores = evidence.place(event.span), False
                continue
            facts.before, facts.before_place = op, evidence.place(event.span)
            facts.of_linear = facts.softmax_place is not None and op in ("addmm", "mm", "linear", "add")
            if op in ("relu", "clamp_min") and (value := event.outputs[0].value) is not None:
                given = known_numbers(value)
                facts.before_zeros = sum(x == 0 for x in given) / max(1, len(given))
            break
    return facts


def given_to_loss(evidence: LoopEvidence, facts: LossFacts, event: Forward) -> None:
    """What the scores and the targets of a loss are."""
    states = [evidence.case.made(id) for id in event.read[:2]]
    scores, target = (state.value if state is not None else None for state in (*states, None, None)[:2])
    if scores is not None and target is not None and facts.op in COMPARED:
        note_broadcast(evidence, facts, scores, target)
    if facts.op.startswith("nll_loss"):
        facts.labels = scores.shape[-1] if scores is not None and scores.shape else 0
        facts.raw_scores = scores is not None and scores.high is not None and scores.high > 0
        if target is not None and target.size >= 8 and target.low is not None and target.high is not None:
            facts.targets = {target.low, target.high}
    elif target is not None:
        given = known_numbers(target)
        facts.negative_targets = sum(x < 0 for x in given) > 0.05 * len(given)


def note_broadcast(evidence: LoopEvidence, facts: LossFacts, scores: Value, target: Value) -> None:
    """Note a loss of n×1 and n: it compares each prediction with each target."""
    short, long = sorted((scores.shape, target.shape), key=len)
    if len(short) == 1 and short[0] > 1 and long == (short[0], 1):
        row = (facts.line, scores.shape, target.shape)
        if row not in evidence.evidence.broadcasts:
            evidence.evidence.broadcasts.append(row)
