"""Findings that a threshold decides. The thresholds were set on the zoo of tests/doctor so that no healthy
program is accused; where they come from, docs/doctor.md says.

A statistic alone accuses nobody: each rule needs a measured cause and a symptom that fits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from .evidence import ActivationFacts, Evidence, ParameterFacts, Place, Sample
from .findings import CERTAIN, LIKELY, Fact, Finding, list_names, percent, plain
from .structural import module_of, steppers

LARGE, WIDE, SMALL = 0.1, 0.5, 1e-6  # update ÷ weight
DEAD, ALL_DEAD, FLAT = 0.5, 0.9, 0.8  # shares of a layer
VANISHING, EXPLODING = 1e-3, 70.0  # first ÷ last rms of the gradients of the weights
TINY_CLIP = 1e-3  # what clipping leaves of a gradient
DECAY = 10.0  # decay ÷ gradient
SCALE = 50.0  # mean or standard deviation of the inputs


def ratios(p: ParameterFacts, before: int = 10**9) -> list[float]:
    """update ÷ weight at the sampled steps before a step."""
    return [s.ratio for s in p.samples if s.step < before and math.isfinite(s.ratio)]


def end_of(e: Evidence) -> int:
    """The step at which the first value was not finite; a step behind the run if all were."""
    steps = [step for step in (e.not_finite_loss, e.not_finite.step if e.not_finite else 0) if step]
    return min(steps, default=10**9)


def rises(e: Evidence) -> bool:
    """Whether the loss diverges: at least twice its smallest value so far, and above where it began; or not
    finite."""
    found = e.finite_losses
    if len(found) < len(e.losses):
        return True
    if len(found) < 6:
        return False
    lowest = min(median(found[i : i + 5]) for i in range(len(found) - 4))
    return median(found[-5:]) > max(2 * abs(lowest), 1.2 * median(found[:3]))


def grows(e: Evidence) -> bool:
    """Whether the loss has grown tenfold, or is not finite."""
    return len(e.finite_losses) < len(e.losses) or median(e.losses[-5:]) > 10 * abs(median(e.losses[:3]))


def stuck(e: Evidence) -> bool:
    """Whether the loss does not fall: its last median is at least 95 % of its first one."""
    change = e.loss_change()
    return math.isnan(change) or change > 0.95


# ─── nan and inf


def not_finite(e: Evidence) -> Iterator[Finding]:
    """Where the first value that is not finite appeared."""
    found = e.not_finite
    if found is None:
        return
    values = {"step": found.step, "op": found.op, "module": found.module, "took": found.took}
    line = found.place or e.backward_place
    words = {
        "input": "doctor_nan_input",
        "forward": "doctor_nan_forward",
        "backward": "doctor_nan_backward",
        "weight": "doctor_nan_weight",
        "gradient": "doctor_nan_gradient",
    }[found.where]
    facts = (
        [Fact("doctor_fact_loss_nan", {"step": e.not_finite_loss}, e.not_finite_loss)]
        if e.not_finite_loss
        else []
    )
    symptom = (
        found.where in ("weight", "gradient")
        or (found.step > 1 and bool(large_steps(e)))
        or any(large_start(e))
    )
    yield Finding("first_nan", CERTAIN, words, values, line, facts, found.module, found.step, symptom)


# ─── How far a step moves


def large_steps(e: Evidence) -> list[tuple[ParameterFacts, Sample]]:
    """The weights that a step moved by more than a tenth of their size, not only in the first step, with the
    step that moved each of them most."""
    end = end_of(e)
    found: list[tuple[ParameterFacts, Sample]] = []
    if end <= 1:  # the run was lost before anything had moved
        return found
    for p in e.weights():
        own = [s for s in p.samples if s.step < end and (s.ratio > LARGE or math.isinf(s.update))]
        late = [s for s in own if s.step > 1] or ([] if end > 3 else own)
        if own and (len(late) >= 3 or end <= 12) and late:
            found.append((p, max(own, key=lambda s: s.ratio if math.isfinite(s.ratio) else 0.0)))
    return found


def lr_large(e: Evidence) -> Iterator[Finding]:
    """Steps are so large that the loss grows."""
    found = large_steps(e)
    dead = [a for a in e.activations.values() if is_dead(a, ALL_DEAD) and a.since > 1]
    wide = any(not sample.ratio < WIDE for _, sample in found)
    if not found or not ((rises(e) and (wide or grows(e))) or dead):
        return
    p, sample = max(found, key=lambda row: row[1].ratio if math.isfinite(row[1].ratio) else 0.0)
    rate = max((o.rates[2] for o in steppers(e) if o.rates and p.key in o.keys), default=math.nan)
    values = {"name": p.name, "ratio": plain(sample.ratio), "step": sample.step, "rate": plain(rate)}
    losses = e.losses
    facts = (
        [Fact("doctor_fact_loss", {"first": plain(losses[0]), "last": plain(losses[-1])})] if losses else []
    )
    facts.append(Fact("doctor_fact_moved", {"name": p.name, "ratio": plain(sample.ratio)}, sample.step))
    scale = e.input_scale
    if max(map(abs, scale)) > SCALE:
        words = {"mean": plain(scale[0]), "std": plain(scale[1]), **values}
        yield Finding(
            "input_scale",
            LIKELY,
            "doctor_input_scale",
            words,
            e.input_place,
            facts,
            module_of(p),
            sample.step,
        )
        return
    place = next((o.place or o.step_place for o in steppers(e) if p.key in o.keys), None)
    yield Finding("lr_large", LIKELY, "doctor_lr_large", values, place, facts, module_of(p), sample.step)


def small_steps(e: Evidence) -> Iterator[Finding]:
    """Steps are so small that nothing changes: because of clipping, or of the learning rate."""
    weights = [p for p in e.weights() if p.got >= 3 and ratios(p)]
    if not weights or e.steps < 5 or not any(p.typical("grad") > 0 for p in weights):
        return
    largest = max(median(ratios(p)) for p in weights)
    if not largest < SMALL or not (stuck(e) or largest < 1e-8):
        return
    cuts = [limit / norm for _, norm, limit in e.clip_norms if norm > 0]
    values = {"ratio": plain(largest), "n": e.steps}
    facts = [Fact("doctor_fact_ratio", {"ratio": plain(largest)})]
    if cuts and median(cuts) < TINY_CLIP:
        norms = median(norm for _, norm, _ in e.clip_norms)
        more = {"norm": plain(norms), "limit": plain(e.clip_norms[-1][2]), **values}
        yield Finding("clip_tiny", LIKELY, "doctor_clip_tiny", more, e.clip_place, facts)
        return
    o = steppers(e)[0]
    rate = o.rates[2] if o.rates else math.nan
    yield Finding(
        "lr_small",
        LIKELY,
        "doctor_lr_small",
        {"rate": plain(rate), **values},
        o.place or o.step_place,
        facts,
        symptom=False,
    )


def decay_large(e: Evidence) -> Iterator[Finding]:
    """Weight decay is stronger than the gradients and takes the weights to zero."""
    for o in steppers(e):
        own = [p for p in e.weights() if p.key in o.keys and len(p.samples) >= 5]
        if not o.decay or not own:
            continue
        shares = [o.decay * s.weight / s.grad for p in own for s in p.samples[:8] if s.grad > 0]
        shrunk = [p for p in own if p.samples[-1].weight < 0.3 * p.samples[0].weight]
        if shares and median(shares) > DECAY and len(shrunk) > len(own) / 2:
            first, last = shrunk[0].samples[0].weight, shrunk[0].samples[-1].weight
            values = {"decay": plain(o.decay), "share": plain(median(shares)), "name": shrunk[0].name}
            facts = [
                Fact(
                    "doctor_fact_shrunk", {"name": shrunk[0].name, "first": plain(first), "last": plain(last)}
                )
            ]
            yield Finding("decay_large", LIKELY, "doctor_decay_large", values, o.place or o.step_place, facts)


# ─── Activations


def is_dead(a: ActivationFacts, share: float) -> bool:
    """Whether this share of the units has given 0 for every sample of the last steps."""
    return a.kind == "dead" and len(a.samples) >= 4 and isinstance(a.runs, float) and a.runs >= share


def dead_units(e: Evidence) -> Iterator[Finding]:
    """Units that give 0 whatever they get: nothing behind them learns."""
    found = [a for a in e.activations.values() if is_dead(a, ALL_DEAD)]
    found = found or [a for a in e.activations.values() if is_dead(a, DEAD) and stuck(e)]
    if not found:
        return
    worst = max(found, key=lambda a: a.runs)
    since = worst.since or worst.samples[0][0]
    values = {"name": worst.name, "share": percent(worst.runs), "n": worst.units, "step": since}
    facts = [
        Fact("doctor_fact_dead", {"name": a.name, "share": percent(a.runs), "n": a.units}, a.since)
        for a in found[:3]
    ]
    silent = [p.name for p in e.weights() if p.got and not any(p.values("grad")[-3:])]
    if silent:
        facts.append(Fact("doctor_fact_silent", {"names": list_names(silent)}))
    certain = CERTAIN if worst.runs == 1 and silent else LIKELY
    subject = worst.name.rpartition(" ")[0] or worst.name
    place = filled_before(e, worst) if since <= 1 else None
    yield Finding(
        "dead_unit",
        certain,
        "doctor_dead_units",
        values,
        place or worst.place,
        facts,
        subject,
        since,
        since > 1,
    )


def filled_before(e: Evidence, a: ActivationFacts) -> Place | None:
    """The line that filled the parameters in front of an activation, after they had been created."""
    module = e.modules.get(a.name.rpartition(" ")[0])
    before = [m for m in e.modules.values() if module is None or m.order <= module.order]
    for m in sorted(before, key=lambda m: -m.order):
        own = [p for p in e.parameters.values() if module_of(p) == m.name]
        if own:
            written = [p.write_place for p in own if p.rewritten]
            return written[-1] if written else None
    return None


def saturated_activation(e: Evidence) -> Iterator[Finding]:
    """The curve of an activation is flat where most of its inputs lie."""
    for a in e.activations.values():
        shares = [share for _, share in a.samples]
        if (
            a.kind != "flat"
            or a.last
            or len(shares) < 4
            or median(shares) < FLAT
            or median(shares[-5:]) < FLAT
        ):
            continue
        values = {"name": a.name, "share": percent(median(shares))}
        facts = [Fact("doctor_fact_flat", {"name": a.name, "share": percent(shares[0])}, a.samples[0][0])]
        subject = a.name.rpartition(" ")[0] or a.name
        written = [p.write_place for p in e.weights() if p.rewritten and p.name.startswith(subject)]
        place = written[0] if written else a.place
        yield Finding("saturated", LIKELY, "doctor_saturated", values, place, facts, subject, symptom=True)
        return


# ─── Depth


def depth(e: Evidence) -> Iterator[Finding]:
    """Gradients that become smaller, or larger, from layer to layer on the way back."""
    roots: dict[str, list[ParameterFacts]] = {}
    for p in e.weights():
        if p.got >= 3 and p.typical("grad") > 0:
            roots.setdefault(p.root, []).append(p)
    for weights in roots.values():
        if len(weights) < 3:
            continue
        first, last = weights[0].typical("grad"), weights[-1].typical("grad")
        sizes = [p.typical("grad") for p in weights]
        values = {"first": weights[0].name, "last": weights[-1].name, "ratio": plain(first / last)}
        facts = [Fact("doctor_fact_depth", {"a": plain(first), "b": plain(last), **values})]
        rising = sum(a < b for a, b in pairwise(sizes)) >= 0.7 * (len(sizes) - 1)
        still = median(ratios(weights[0]) or [1.0]) < 1e-5
        if first / last < VANISHING and rising and (stuck(e) or still):
            yield Finding("vanishing", LIKELY, "doctor_vanishing", values, None, facts, module_of(weights[0]))
        elif first / last > EXPLODING and (rises(e) or stuck(e)):
            yield Finding("exploding", LIKELY, "doctor_exploding", values, None, facts, module_of(weights[0]))


def large_start(e: Evidence) -> Iterator[Finding]:
    """Weights that start many times larger than their number of inputs allows."""
    found = []
    weights = [p for p in e.weights() if p.samples and embeds(e, p) is False]
    for p in weights:
        usual = 1 / math.sqrt(math.prod(p.shape[1:]))
        if p.samples[0].step <= 2 and p.samples[0].weight > 8 * usual:
            found.append((p, p.samples[0].weight / usual))
    if not found or len(found) < len(weights) / 2 or not (rises(e) or stuck(e) or large_steps(e)):
        return
    p, times = found[0]
    values = {"name": p.name, "times": plain(times), "rms": plain(p.samples[0].weight)}
    facts = [
        Fact("doctor_fact_start", {"name": q.name, "rms": plain(q.samples[0].weight)}, 1)
        for q, _ in found[:3]
    ]
    place = p.write_place if p.rewritten else None
    yield Finding("exploding", LIKELY, "doctor_large_start", values, place, facts, module_of(p), 1)


def embeds(e: Evidence, p: ParameterFacts) -> bool:
    module = e.modules.get(module_of(p))
    return module is not None and "Embedding" in module.kind


def one_label(e: Evidence) -> Iterator[Finding]:
    """All labels of the run are the same."""
    for place, facts in e.loss.items():
        if len(facts.targets) == 1 and facts.labels > 1 and facts.of_linear and e.steps >= 5:
            label = int(next(iter(facts.targets)))
            values = {"label": label, "n": facts.labels}
            yield Finding("one_label", LIKELY, "doctor_one_label", values, facts.line or place)


def input_scale(e: Evidence) -> Iterator[Finding]:
    """Inputs are so large that the first layer overflows what follows."""
    mean, std = e.input_scale
    dead = [a for a in e.activations.values() if is_dead(a, ALL_DEAD)]
    if max(abs(mean), abs(std)) > SCALE and (rises(e) or dead) and not large_steps(e):
        values = {"mean": plain(mean), "std": plain(std)}
        yield Finding("input_scale", LIKELY, "doctor_input_scale", values, e.input_place)


RULES = (
    input_scale, large_start, decay_large, lr_large, small_steps, not_finite, dead_units,
    saturated_activation, depth, one_label,
)  # fmt: skip
