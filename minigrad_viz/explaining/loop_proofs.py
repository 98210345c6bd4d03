"""What the notes and the source of a cell with a loop prove about its training: more of the evidence.

The notes of a cell have conditions of their own, which need its source and its numbers. What they have proved
is put into the evidence, and the rules of `training_faults` say it in the doctor's words. What a recording
has no event for (a scheduler, a seed) is read from the source: a statement beside the step ran in each round.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence

from ..model.provenance import upstream
from ..trace.events import (
    Event,
    Forward,
    GradSet,
    InPlaceWrite,
    ModuleCalled,
    NodeRan,
    OptimizerStepped,
    TensorCreated,
)
from ..trace.graph import Explanation
from ..training_faults.evidence import Cut, NotFinite, OptimizerFacts, ParameterFacts, Sample
from .case import Case
from .loop_evidence import LoopEvidence, op_name, rms_of
from .lost_paths import is_complete, lost_by
from .missed_updates import base_of_name, layer_lists
from .not_finite import Symptom, divergence_of, first_symptom
from .silent_mistakes import CLASSES, call_in, is_method, optimizers_of, paths_in, with_dots
from .syntax import assignments, last_name, node_at, span_at
from .training_rounds import is_clipping

MODES = {"inference": "no_grad"}  # cuts that the doctor calls otherwise
MEASURES = (
    "argmax", "mse_loss", "l1_loss", "cross_entropy", "nll_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "smooth_l1_loss", "topk", "log_softmax",
)  # fmt: skip
SCHEDULERS = ("LR", "ReduceLROnPlateau", "CosineAnnealingWarmRestarts", "SequentialLR")


def add_proofs(seen: LoopEvidence, notes: Sequence[Explanation]) -> None:
    """Put into the evidence what notes and source prove."""
    proved = {note.key: note for note in notes}
    add_held_parameters(seen)
    add_notes(seen, proved)
    add_idle_optimizers(seen)
    add_calls(seen)
    add_loaders(seen)
    add_clipping(seen)
    add_evaluation(seen)
    if "other_parameters" in proved:
        add_lists(seen)


def add_notes(seen: LoopEvidence, proved: dict[str, Explanation]) -> None:
    """The facts that notes have proved."""
    e = seen.evidence
    for when, key in (("early", "clip_early"), ("late", "clip_late")):
        if (note := proved.get(key)) is not None:
            e.clips[when], e.clip_place = e.steps, seen.place(note.cause)
    if (note := proved.get("eval_left_on")) is not None:
        called = [each.path for each in seen.case.trace.of(ModuleCalled) if each.path]
        e.evaluating, e.evaluated = (base_of_name(called[0]), seen.place(note.cause)), e.backwards
    if (note := proved.get("softmax_batch")) is not None:
        for facts in e.loss.values():
            facts.over_batch, facts.softmax_place = True, seen.place(note.cause)
    if (note := proved.get("graph_kept")) is not None:
        e.kept_losses, e.kept_place = e.backwards, seen.place(note.cause)
    if (note := proved.get("broadcast_loss")) is not None:
        for event in seen.case.trace.of(Forward):
            if event.span == note.cause and len(event.read) > 1 and not e.broadcasts:
                first, second = (seen.shape_of(id) for id in event.read[:2])
                e.broadcasts.append((seen.place(note.cause), first, second))
    if "first_nan" in proved and (symptom := first_symptom(seen.case.scenes)) is not None:
        if divergence_of(seen.case, symptom.origin.time) is not None:
            seen.diverges = True  # the note says that steps are too large, and what rate is better
        else:
            e.not_finite = not_finite_of(seen, symptom)
    if "stale_optimizer" in proved and len(e.optimizers) == 1:
        # The variable had another model when the optimizer got its parameters: nobody has recorded those.
        lost = [p for p in e.parameters.values() if p.arrived]
        older = {-1 - p.key: ParameterFacts(-1 - p.key, p.name, p.shape, p.order) for p in lost}
        e.parameters |= older
        e.optimizers[0].keys = tuple(older)


def not_finite_of(seen: LoopEvidence, symptom: Symptom) -> NotFinite:
    """The first value that is not finite, as evidence."""
    case, origin = seen.case, symptom.origin
    event = origin.event
    index = case.scene.index
    before = [each.call for each in index.started if index.times[id(each)] < origin.time]
    step = before[-1] if before and origin.backward else (before or [0])[-1] + 1
    if isinstance(event, InPlaceWrite) and event.op == "step":
        return NotFinite(step, "weight", "", case.plain(event.before), seen.place(event.span), "")
    if isinstance(event, TensorCreated | InPlaceWrite):
        return NotFinite(symptom.call, "input", "", "", seen.place(event.span), "")
    span = event.span if isinstance(event, Forward) else None
    given = [value for _, value in origin.inputs[:1]]
    op, path, where, took = "", "", "backward" if origin.backward else "forward", ""
    if isinstance(event, NodeRan):
        made = index.by_node.get(event.node)
        born = index.births.get(made.states[0].id) if made and made.states else None
        event, took = born, "0"
        span = None if born is None else born.span
    elif given and given[0].low is not None and given[0].high is not None:
        took = f"{given[0].low:.4g} … {given[0].high:.4g}"
    if isinstance(event, Forward):
        module = module_call_of(case, event)
        op, path = op_name(event), "" if module is None else module.path
    return NotFinite(step, where, op, path, seen.place(span), took)


def add_held_parameters(seen: LoopEvidence) -> None:
    """The parameters that an optimizer was given and that got no gradient, and where their paths are cut."""
    case, e = seen.case, seen.evidence
    given = {each.name: each for each in optimizers_of(case, indirect=True)}
    paths = {id: f"{path}.{name}" for id, (path, name) in case.scene.index.module_calls.parameters.items()}
    lost = lost_by(case) if given and is_complete(case) else {}
    for order, id in enumerate(paths):  # that of the model
        seen.facts_of(id).order = order
    e.parameters = dict(sorted(e.parameters.items(), key=lambda row: row[1].order))
    for name, o in seen.optimizers.items():
        if name not in given or not o.steps:
            continue
        still = [id for id in paths if given[name].holds(paths[id]) and seen.never_reached(id)]
        ends: dict[Cut, set[int]] = {}
        for id in still:
            facts = seen.facts_of(id)
            facts.name = paths[id]
            if facts.key not in o.keys:
                o.keys = (*o.keys, facts.key)
                facts.samples.add(
                    Sample(seen.step, rms_of(seen.values.get(id)), math.nan, math.nan, math.nan)
                )
            cut = lost[id].cut if id in lost else None
            if cut is not None and cut.how != "made":
                how = MODES.get(cut.how, cut.how)
                row = Cut(how, seen.place(cut.span), frozenset(), o.backward_place)
                ends.setdefault(row, set()).add(facts.key)
        e.cuts += [row._replace(beyond=frozenset(keys)) for row, keys in ends.items()]


def add_idle_optimizers(seen: LoopEvidence) -> None:
    """Optimizers that reset gradients and never take a step."""
    case, e = seen.case, seen.evidence
    resets = {ast.unparse(each.value) for each in case.executed(ast.Attribute) if each.attr == "zero_grad"}
    for name, part in assignments(case):
        call = part.value
        made = isinstance(call, ast.Call) and last_name(call) in CLASSES and call.args
        if not made or not isinstance(call, ast.Call) or name in seen.optimizers or name not in resets:
            continue
        paths = {with_dots(path) for path in paths_in(call.args[0])}
        own = [p.key for p in e.parameters.values() if any(p.name.startswith(f"{path}.") for path in paths)]
        place = seen.place(span_at(case, call))
        e.optimizers.append(
            OptimizerFacts(len(e.optimizers), last_name(call), place, tuple(own), resets=e.backwards)
        )


# ── what stands beside the step ─────────────────────────────────────────────────────────────────────────────


def add_calls(seen: LoopEvidence) -> None:
    """Schedulers that step before the optimizer, and seeds that each round sets again."""
    case, e = seen.case, seen.evidence
    schedulers = {name: part for name, part in assignments(case) if is_scheduler(part.value)}
    for calls in rounds_in_source(case):
        step = next((call for call in calls if is_step(call, seen)), None)
        if step is None:
            continue
        for call in calls:
            span = span_at(case, call)
            scheduler = schedulers.get(ast.unparse(call.func).removesuffix(".step"))
            if is_method(call, "step") and scheduler is not None:
                e.schedules, e.schedule_place = e.steps, seen.place(span_at(case, scheduler))
                if call.lineno < step.lineno:
                    e.schedule_first = seen.place(span)
            elif last_name(call) == "manual_seed" and call.args and isinstance(call.args[0], ast.Constant):
                e.seeds[call.args[0].value, seen.place(span)] = e.steps  # type: ignore[index]


def rounds_in_source(case: Case) -> Iterator[list[ast.Call]]:
    """The calls of each loop that computes gradients and takes a step."""
    loops: list[ast.For | ast.While] = [*case.executed(ast.For), *case.executed(ast.While)]
    for loop in loops:
        calls = [call for call in map(call_in, filter(case.ran, loop.body)) if call is not None]
        names = [last_name(call) for call in calls]
        if "backward" in names and "step" in names:
            yield calls


def is_step(call: ast.Call, seen: LoopEvidence) -> bool:
    """Whether a call is the step of one of the optimizers."""
    return ast.unparse(call.func) in {f"{name}.step" for name in seen.optimizers}


def add_loaders(seen: LoopEvidence) -> None:
    """Loaders of several batches that each round starts again, `next(iter(loader))`."""
    case, e = seen.case, seen.evidence
    values: dict[str, ast.expr | None] = {name: part.value for name, part in assignments(case)}
    loops: list[ast.For | ast.While] = [*case.executed(ast.For), *case.executed(ast.While)]
    for loop in loops:
        calls = [node for part in loop.body for node in ast.walk(part) if isinstance(node, ast.Call)]
        started = [call for call in calls if last_name(call) == "iter" and len(call.args) == 1]
        if len(started) != 1 or not any(is_step(call, seen) for call in calls):
            continue
        given = started[0].args[0]
        made = values.get(given.id) if isinstance(given, ast.Name) else given
        batches = 0 if made is None else batches_of(seen, made, values)
        if batches > 1:
            e.loaders, e.loader_batches = e.steps, batches
            e.loader_place = seen.place(span_at(case, started[0]))


def batches_of(seen: LoopEvidence, loader: ast.expr, values: dict[str, ast.expr | None]) -> int:
    """How many batches a loader has, of tensors that the cell has recorded; 0 where that is not known."""
    if not isinstance(loader, ast.Call) or last_name(loader) != "DataLoader" or not loader.args:
        return 0
    size = [each.value for each in loader.keywords if each.arg == "batch_size"] or loader.args[1:2]
    given = loader.args[0]
    data = values.get(given.id) if isinstance(given, ast.Name) else given
    if not isinstance(data, ast.Call) or last_name(data) != "TensorDataset" or not data.args:
        return 0
    name = ast.unparse(data.args[0])
    rows = next((seen.shape_of(id)[:1] for id, known in seen.case.trace.names if known == name), ())
    batch = size[0].value if size and isinstance(size[0], ast.Constant) else 1
    return math.ceil(rows[0] / batch) if rows and isinstance(batch, int) and batch > 0 else 0


def is_scheduler(value: ast.expr | None) -> bool:
    """Whether an expression creates a scheduler."""
    return isinstance(value, ast.Call) and last_name(value).endswith(SCHEDULERS)


def add_clipping(seen: LoopEvidence) -> None:
    """The norm of the gradients before and after each call that clipped them."""
    case, before, after = seen.case, dict[int, float](), dict[int, float]()
    step = 1
    for event in case.trace.events:
        if isinstance(event, OptimizerStepped):
            step += 1
        elif isinstance(event, GradSet) and event.how == "written" and event.before and event.after:
            if not is_clipping(node_at(case, event.span)):
                continue
            for sums, value in ((before, event.before), (after, event.after)):
                if value.rms is not None:
                    sums[step] = sums.get(step, 0.0) + value.size * value.rms**2
            seen.evidence.clip_place = seen.place(event.span)
    for number, norm in before.items():
        if norm > 0:
            row = (number, math.sqrt(norm), math.sqrt(after.get(number, 0.0)))
            seen.evidence.clip_norms.add(row)


# ── results that are measured in training mode ──────────────────────────────────────────────────────────────


def add_evaluation(seen: LoopEvidence) -> None:
    """Results that are measured without gradients while dropout is on or batch statistics change."""
    case, e = seen.case, seen.evidence
    random = [
        event for event in case.trace.of(Forward) if not event.grad_enabled and is_training(seen.case, event)
    ]
    trained = any(event.grad_enabled and is_training(seen.case, event) for event in case.trace.of(Forward))
    if not random or not trained:
        return
    made = {state.id: event for event in random for state in event.outputs}
    for event in case.trace.of(Forward):
        if event.op not in MEASURES or event.grad_enabled:
            continue
        behind = (id for id, _ in upstream(case.scene.index.births, list(event.read)))
        source = next((made[id] for id in behind if id in made), None)
        call = None if source is None else module_call_of(seen.case, source)
        if call is not None:
            e.trained_forwards += 1
            e.measured_in_training = (base_of_name(call.path), seen.place(event.span))
            return


def is_training(case: Case, event: Forward) -> bool:
    """Whether an op ran as dropout or batch norm does in training."""
    call = module_call_of(case, event)
    if call is None:
        return False
    if call.kind.startswith("Dropout"):
        return True
    return call.kind.startswith("BatchNorm") and "True" in event.arguments and bool(call.parameters)


def module_call_of(case: Case, event: Event) -> ModuleCalled | None:
    """The call of a module in which something happened."""
    index = case.scene.index
    call = index.module_calls.at(index.times[id(event)])
    return None if call is None else call.event


# ── modules in a list ───────────────────────────────────────────────────────────────────────────────────────


def add_lists(seen: LoopEvidence) -> None:
    """Parameters that no optimizer holds, because the only list of layers hides them from the model."""
    lists, e = [*layer_lists(seen.case)], seen.evidence
    if len(lists) != 1:
        return
    held = e.held()
    for facts in e.parameters.values():
        if facts.arrived and facts.is_parameter and facts.key not in held:
            facts.registered, facts.name = False, f"{lists[0].name}[…].{facts.name.partition('.')[2]}"
    e.listed[lists[0].name] = seen.place(span_at(seen.case, lists[0].part))
