"""Findings that no threshold decides: a fact of the recording proves each of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .evidence import Cut, Evidence, OptimizerFacts, ParameterFacts, Place
from .findings import CERTAIN, LIKELY, Fact, Finding, list_names, plain

Values = dict[str, Any]  # what a sentence is filled with
ENOUGH = 0.8  # of all steps
PROVEN_LOSSES = ("mse_loss", "nll_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
TWICE = {
    "nll_loss": ("softmax", "sigmoid"),
    "binary_cross_entropy_with_logits": ("sigmoid", "softmax"),
}


def steppers(e: Evidence) -> list[OptimizerFacts]:
    return [optimizer for optimizer in e.optimizers if optimizer.steps]


# ─── The order of a step


def kept_gradient(e: Evidence) -> Iterator[Finding]:
    """Gradients of an earlier step were used again: nothing resets them."""
    for o in e.optimizers:
        if o.mixed >= 2:
            values = {"optimizer": o.kind, "n": o.mixed}
            facts = [Fact("doctor_fact_mixed", {"n": o.mixed, "steps": o.steps})]
            yield Finding("kept_gradient", CERTAIN, "doctor_kept_gradient", values, o.mixed_place, facts)


def idle_steps(e: Evidence) -> Iterator[Finding]:
    """An optimizer stepped when no parameter had a gradient, because of the order of the calls."""
    for o in steppers(e):
        if o.idle < 2 or o.idle < ENOUGH * (o.steps - 1):
            continue
        facts = [Fact("doctor_fact_idle", {"n": o.idle, "steps": o.steps})]
        values = {"optimizer": o.kind, "n": o.idle}
        if "backward" not in o.idle_since:
            continue
        if not o.first_had_backward:
            yield Finding("step_too_early", CERTAIN, "doctor_step_too_early", values, o.step_place, facts)
        elif "reset" in o.idle_since[last_of(o.idle_since, "backward") :]:
            yield Finding("reset_too_early", CERTAIN, "doctor_reset_too_early", values, o.reset_place, facts)


def last_of(calls: tuple[str, ...], name: str) -> int:
    return max((i for i, call in enumerate(calls) if call == name), default=0)


def no_step(e: Evidence) -> Iterator[Finding]:
    """Gradients are computed, and nothing ever changes the parameters."""
    stepping = {key for o in steppers(e) for key in o.keys}
    reached = [p for p in e.parameters.values() if p.arrived >= 2 and p.is_parameter and p.trains]
    still = [p for p in reached if p.key not in stepping and not p.moved]
    still.sort(key=lambda p: p.order)
    idle = [o for o in e.optimizers if not o.steps and o.keys]
    if not steppers(e):
        if reached and len(still) == len(reached):
            values: Values = {"n": e.backwards, "count": len(still)}
            place = e.backward_place
            yield Finding("no_step", CERTAIN, "doctor_no_step", values, place, [backward_fact(e)])
        return
    for o in idle:
        own = [p for p in still if p.key in o.keys]
        if own and o.resets:
            keys = set(o.keys)
            place = max(e.reached_by, key=lambda at: len(keys & e.reached_by[at]), default=None)
            values = {"optimizer": o.kind, "n": len(own), "names": list_names([p.name for p in own])}
            yield Finding(
                "no_step",
                CERTAIN,
                "doctor_no_step_of",
                values,
                place,
                [backward_fact(e)],
                subject=own[0].root,
            )


def backward_fact(e: Evidence) -> Fact:
    return Fact("doctor_fact_backwards", {"n": e.backwards, "steps": sum(o.steps for o in e.optimizers)})


CLIPPING = {"early": ("clip_early", "doctor_clip_early"), "late": ("clip_late", "doctor_clip_late")}


def clip_order(e: Evidence) -> Iterator[Finding]:
    """Gradients are clipped when there are none, or after they have been used."""
    total = sum(e.clips.values())
    for when, (key, words) in CLIPPING.items():
        if e.clips[when] >= 2 and e.clips[when] >= ENOUGH * total:
            facts = [Fact("doctor_fact_clips", {"n": e.clips[when], "total": total})]
            yield Finding(key, CERTAIN, words, {"n": e.clips[when]}, e.clip_place, facts)


def scheduler_order(e: Evidence) -> Iterator[Finding]:
    """The scheduler steps before the optimizer."""
    if e.schedule_first is not None and steppers(e) and e.schedules >= 2:
        yield Finding("scheduler_order", CERTAIN, "doctor_scheduler_order", {}, e.schedule_first)


# ─── What the optimizer holds


def lost_parameters(e: Evidence) -> list[ParameterFacts]:
    """Parameters that get gradients and that nothing changes."""
    known = {key for o in e.optimizers for key in o.keys}
    found = [p for p in e.parameters.values() if p.arrived >= 2 and p.is_parameter and p.trains]
    return sorted((p for p in found if p.key not in known and not p.moved), key=lambda p: p.order)


def other_parameters(e: Evidence) -> Iterator[Finding]:
    """Parameters get gradients, but no optimizer that steps holds them."""
    lost = lost_parameters(e)
    if not lost or not steppers(e):
        return
    reached = {p.key for p in e.parameters.values() if p.reached}
    hidden = [p for p in lost if not p.registered]
    names = list_names([p.name for p in lost])
    facts = [Fact("doctor_fact_unheld", {"n": len(lost), "names": names})]
    values: Values = {"n": len(lost), "names": names}
    if hidden:
        attribute = hidden[0].name.partition("[")[0]
        values = {"n": len(hidden), "attribute": attribute, "names": list_names([p.name for p in hidden])}
        place = e.listed.get(attribute)
        yield Finding("unregistered", CERTAIN, "doctor_unregistered", values, place, facts, subject=attribute)
        lost = [p for p in lost if p.registered]
        if not lost:
            return
    idle = [o for o in steppers(e) if not reached.intersection(o.keys)]
    shapes = sorted(p.shape for p in lost)
    for o in idle:
        own = [e.parameters[key] for key in o.keys if key in e.parameters]
        values |= {"optimizer": o.kind}
        stale = sorted(p.shape for p in own) == shapes
        key = "stale_optimizer" if stale else "other_parameters"
        words = "doctor_stale_optimizer" if stale else "doctor_other_parameters"
        yield Finding(key, CERTAIN, words, values, o.place or o.step_place, facts, subject=lost[0].root)
        return
    held = e.held()
    twice = [o for o in steppers(e) if all(len(held[key]) > 1 for key in o.keys)]
    if twice:
        o = twice[-1] if twice[-1].place is None else min(twice, key=lambda each: each.number)
        o = wrong_of(e, twice, lost) or o
        values |= {"optimizer": o.kind}
        place = o.place or o.step_place
        yield Finding(
            "other_parameters", CERTAIN, "doctor_other_parameters", values, place, facts, subject=lost[0].root
        )
        return
    roots = {e.parameters[key].root for o in steppers(e) for key in o.keys if key in e.parameters}
    part = [p for p in lost if p.root in roots and p.root]
    if part:
        o = steppers(e)[0]
        values = {"n": len(part), "names": list_names([p.name for p in part]), "optimizer": o.kind}
        place = o.place or o.step_place
        yield Finding(
            "other_parameters", CERTAIN, "doctor_part_of_model", values, place, facts, subject=part[0].name
        )


def wrong_of(e: Evidence, twice: list[OptimizerFacts], lost: list[ParameterFacts]) -> OptimizerFacts | None:
    """Of optimizers with the same parameters the one whose backward call reaches the parameters that are
    lost."""
    keys = {p.key for p in lost}
    fitting = [o for o in twice if keys & e.reached_by.get(o.backward_place, set())]
    return fitting[0] if len(fitting) == 1 else None


# ─── Paths that are cut


def unreached_parameters(e: Evidence) -> list[ParameterFacts]:
    """Parameters that a stepping optimizer holds, but that never got a gradient."""
    held = {key for o in steppers(e) for key in o.keys}
    found = [p for p in e.parameters.values() if p.key in held and p.trains]
    return [p for p in found if not p.got and not p.reached and p.samples]


CUT_WORDS = {
    "detach": "doctor_cut_detach",
    "data": "doctor_cut_data",
    "no_grad": "doctor_cut_no_grad",
    "numpy": "doctor_cut_numpy",
    "item": "doctor_cut_item",
    "tensor": "doctor_cut_tensor",
    "integer": "doctor_cut_integer",
}


def out_of_reach(e: Evidence) -> Iterator[Finding]:
    """A path is cut between the loss and parameters that should learn."""
    lost = {p.key: p for p in unreached_parameters(e)}
    if (
        not lost
        or e.rootless
        or any(not set(o.keys) - set(lost) and o.idle and idle_by_order(o) for o in steppers(e))
    ):
        return
    backward = {o.backward_place for o in steppers(e) if set(o.keys) & set(lost)}
    cuts = [cut for cut in e.cuts if cut.beyond & lost.keys()]
    cuts.sort(key=lambda cut: (cut.backward in backward, len(cut.beyond & lost.keys())), reverse=True)
    while cuts and lost:
        cut = cuts.pop(0)
        own = [lost.pop(key) for key in sorted(cut.beyond & lost.keys(), key=lambda k: lost[k].order)]
        if own:
            yield cut_finding(cut, own)
    ran = [p for p in lost.values() if was_called(e, p)]
    if ran:
        names = list_names([p.name for p in ran])
        values = {"n": len(ran), "names": names}
        facts = [Fact("doctor_fact_no_gradient", {"names": names, "n": len(e.sampled)})]
        place = e.backward_place
        yield Finding(
            "out_of_reach", CERTAIN, "doctor_result_unused", values, place, facts, subject=module_of(ran[0])
        )


def idle_by_order(o: OptimizerFacts) -> bool:
    """Whether an optimizer has no gradients because of the order of the calls."""
    order = o.idle_since
    return "backward" in order and (
        not o.first_had_backward or "reset" in order[last_of(order, "backward") :]
    )


def cut_finding(cut: Cut, own: list[ParameterFacts]) -> Finding:
    names = list_names([p.name for p in own])
    values = {"n": len(own), "names": names}
    facts = [Fact("doctor_fact_no_gradient", {"names": names, "n": len(own[0].samples)})]
    return Finding(
        "out_of_reach", CERTAIN, CUT_WORDS[cut.how], values, cut.place, facts, subject=module_of(own[-1])
    )


def module_of(p: ParameterFacts) -> str:
    return p.name.rpartition(".")[0] or p.name


def was_called(e: Evidence, p: ParameterFacts) -> bool:
    return module_of(p) in e.modules


def no_graph(e: Evidence) -> Iterator[Finding]:
    """A loss has no graph at all."""
    if e.rootless is None:
        return
    place, how, cause = e.rootless
    if how == "frozen":
        yield Finding("no_grad_fn", CERTAIN, "doctor_frozen", {}, cause or place)
    elif how == "data":
        yield Finding("no_grad_fn", CERTAIN, "doctor_no_graph", {}, place)
    else:
        code = cause.text if cause else ""
        yield Finding("no_grad_fn", CERTAIN, "doctor_no_graph_cut", {"code": code}, cause or place)


# ─── Modes


def eval_mode(e: Evidence) -> Iterator[Finding]:
    """The model is in evaluation mode while it is trained."""
    if e.evaluating and e.evaluated >= 2 and not e.trained_forwards and steppers(e):
        model, place = e.evaluating
        facts = [Fact("doctor_fact_evaluated", {"n": e.evaluated})]
        yield Finding(
            "eval_left_on", CERTAIN, "doctor_eval_mode", {"model": model}, place, facts, subject=model
        )


def train_mode(e: Evidence) -> Iterator[Finding]:
    """Results are measured in training mode."""
    if e.measured_in_training and e.trained_forwards:
        model, place = e.measured_in_training
        yield Finding("train_mode", CERTAIN, "doctor_train_mode", {"model": model}, place, subject=model)


# ─── Losses


def losses(e: Evidence) -> Iterator[Finding]:
    """Loss functions that get something other than they expect."""
    for place, facts in e.loss.items():
        op = "nll_loss" if facts.op.startswith("nll_loss") else facts.op
        values = {"loss": op, "before": facts.before}
        at = facts.before_place or place
        if facts.before in TWICE.get(op, ()):
            yield Finding("scores_twice", CERTAIN, "doctor_scores_twice", values, at)
        if facts.raw_scores:
            yield Finding(
                "no_log_softmax", CERTAIN, "doctor_no_log_softmax", values, place_of_loss(e, place) or at
            )
        if facts.over_batch:
            yield Finding(
                "softmax_batch",
                CERTAIN,
                "doctor_softmax_over_batch",
                values,
                facts.softmax_place or place_of_loss(e, place) or at,
            )
        if facts.negated and op in PROVEN_LOSSES and len(steppers(e)) == 1 and not moves_inputs(e):
            fell = e.losses and (e.losses[-1] != e.losses[-1] or e.losses[-1] < e.losses[0])
            yield Finding("ascent", CERTAIN if fell else LIKELY, "doctor_ascent", values, place)
        at_zero = facts.negative_targets or facts.before_zeros > 0.9
        if facts.before in ("relu", "clamp_min") and at_zero and not moves_inputs(e):
            certain = CERTAIN if facts.negative_targets else LIKELY
            yield Finding("relu_output", certain, "doctor_relu_output", values, at)


def moves_inputs(e: Evidence) -> bool:
    """Whether the optimizers hold no parameter of the model that runs, as where an image is optimized, or an
    attack on a model is."""
    held = [e.parameters[key] for o in steppers(e) for key in o.keys if key in e.parameters]
    return bool(e.modules and held) and not any(p.is_parameter for p in held)


def place_of_loss(e: Evidence, place: Place | None) -> Place | None:
    """The line of the loss function itself."""
    return e.loss[place].line


def broadcast_loss(e: Evidence) -> Iterator[Finding]:
    """A loss compares each prediction with each target."""
    for place, a, b in e.broadcasts[:1]:
        values = {"a": shape_text(a), "b": shape_text(b), "n": max(len(a), len(b)) and max(max(a), max(b))}
        yield Finding("broadcast_loss", CERTAIN, "doctor_broadcast_loss", values, place)


def shape_text(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


# ─── Rates, random numbers, data


def rates(e: Evidence) -> Iterator[Finding]:
    """The learning rate is 0, or a scheduler brings it there."""
    for o in steppers(e):
        if o.steps >= 2 and o.rate_zero == o.steps:
            facts = [Fact("doctor_fact_rate", {"n": o.steps})]
            subject = subject_of(e, o)
            yield Finding(
                "lr_zero",
                CERTAIN,
                "doctor_lr_zero",
                {"optimizer": o.kind},
                o.place or o.step_place,
                facts,
                subject=subject,
            )
        elif o.steps >= 10 and o.rate_tiny >= 0.5 * o.steps:
            values = {
                "first": plain(o.rates[2]),
                "last": plain(o.rates[3]),
                "n": o.steps,
                "step": o.tiny_since,
            }
            yield Finding(
                "lr_vanishes",
                CERTAIN,
                "doctor_lr_vanishes",
                values,
                e.schedule_place or o.step_place,
                step=o.tiny_since,
            )


def subject_of(e: Evidence, o: OptimizerFacts) -> str:
    """The model whose parameters an optimizer holds, if there are several."""
    roots = {e.parameters[key].root for key in o.keys if key in e.parameters}
    return roots.pop() if len(roots) == 1 and len(e.optimizers) > 1 else ""


def seed_in_loop(e: Evidence) -> Iterator[Finding]:
    """The same seed is set again in every step."""
    for (seed, place), count in e.seeds.items():
        if e.steps >= 4 and count >= ENOUGH * e.steps:
            values = {"seed": seed, "n": count}
            yield Finding("seed_in_loop", CERTAIN, "doctor_seed_in_loop", values, place)


def same_batch(e: Evidence) -> Iterator[Finding]:
    """Every step gets the same part of the data."""
    by_model: dict[str, list[tuple[object, ...]]] = {}
    for name, *rest in e.inputs:
        by_model.setdefault(str(name), []).append(tuple(rest))
    for rows in by_model.values():
        prints = {row[:3] for row in rows}
        renewed = sum(bool(row[3]) for row in rows) >= len(rows) // 2
        by_loader = e.loaders >= ENOUGH * e.steps and e.loader_batches > 1
        if len(rows) < 4 or len(prints) > 1 or not (by_loader or (e.input_parts >= 2 and renewed)):
            continue
        place = e.loader_place if by_loader else e.input_place
        values = {"n": len(rows), "shape": shape_text(rows[0][0])}  # type: ignore[arg-type]
        words = "doctor_same_batch_loader" if by_loader else "doctor_same_batch"
        yield Finding("same_batch", CERTAIN, words, values, place)
        return


# ─── Memory


def graphs_kept(e: Evidence) -> Iterator[Finding]:
    """Losses of earlier steps are kept with their graphs; or a graph grows with every step."""
    sizes = [size for _, size in e.graph_sizes]
    if len(sizes) >= 6 and all(a < b for a, b in pairwise(sizes)) and sizes[-1] >= 2 * sizes[0]:
        values = {"first": sizes[0], "last": sizes[-1], "step": e.graph_sizes[-1][0]}
        yield Finding("graph_growth", CERTAIN, "doctor_graph_growth", values, e.backward_place)
    elif e.kept_losses:
        yield Finding(
            "graph_kept", CERTAIN, "doctor_graph_kept", {"n": e.kept_losses}, e.kept_place or e.backward_place
        )


def equal_rows(e: Evidence) -> Iterator[Finding]:
    """All units of a layer are equal and stay so."""
    found = [p for p in e.weights() if p.equal_rows >= 2 and p.got]
    if not found:
        return
    first = found[0]
    zero = all(value == 0 for value in first.values("grad"))
    values = {"names": list_names([p.name for p in found]), "n": first.shape[0], "name": first.name}
    facts = [Fact("doctor_fact_equal", {"name": first.name, "n": first.equal_rows})]
    if zero:
        facts.append(Fact("doctor_fact_zero_gradient", {"name": first.name}))
    place = first.write_place if first.rewritten else None
    certain, words = CERTAIN, "doctor_symmetric"
    if first.rows_in_part:
        certain, words = LIKELY, "doctor_symmetric_in_part"
    yield Finding("equal_units", certain, words, values, place, facts, subject=module_of(first))


RULES = (
    no_graph, kept_gradient, idle_steps, no_step, other_parameters, out_of_reach, clip_order, scheduler_order,
    eval_mode, train_mode, losses, broadcast_loss, rates, seed_in_loop, same_batch, graphs_kept, equal_rows,
)  # fmt: skip
