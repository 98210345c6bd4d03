"""What will be in `.grad` of the leaves that a backward call reaches, and of tensors that keep a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arithmetic.derivatives import tensor_label
from ..arithmetic.sums import path_lines
from ..flow.backward_pass import Flow, flow_of
from ..flow.engine import BackwardEngine
from ..model.scene import Scene
from ..model.views import quoted_span
from ..number_text import one_line
from ..protocol import Value
from ..snapshots import array_of
from ..trace.events import GradAccumulated
from .faulty_engines import arrival_of, faults_of, gradient_answer, others_of, parts_of
from .question import GRAD, QuizQuestion, Said, equal, wrong

SMALL = 12  # numbers of a gradient that somebody types


def gradients(scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
    """What `.grad` of the leaves will be, those first that several paths lead to, and of tensors that keep
    their gradient."""
    walk = flow_of(scene)
    if not can_answer(walk):
        return
    leaves = [id for id in scene.named if scene.asks(id) and scene.accumulators.get(id)]
    ends = {id: arrival_of(walk, id) for id in leaves}
    paths = {id: len(walk.leading(end)) if end else 0 for id, end in ends.items()}
    for tensor in [*sorted(leaves, key=lambda id: -paths[id]), *walk.retained.values()]:
        question = gradient(walk, tensor, lang, SMALL)
        if question is not None:
            yield question


def gradient(walk: Flow, leaf: str, lang: str | None, most: int) -> QuizQuestion | None:
    """What `.grad` of a leaf will be after the call; None where the trace does not tell."""
    scene, target = walk.scene, arrival_of(walk, leaf)
    if target is None or not can_answer(walk):
        return None
    engine = BackwardEngine(walk).run()
    deposit = walk.deposit(target)
    computed = gradient_answer(engine.grads.get(leaf))
    recorded = plain_value(deposit.after) if deposit is not None else None
    reached = target in walk.order and (deposit is not None or scene.now.started is None)
    truth = recorded if deposit is not None else computed
    state = scene.state(leaf)
    if truth is None or answer_size(truth) > most if reached else state is None or state.grad is not None:
        return None
    name = tensor_label(scene, leaf)
    others = list(faults_of(walk, target, truth))
    if reached and computed is not None and equal(computed, truth):
        others += others_of(walk, target, truth, engine)
    if not reached:
        truth = None
        others.append(wrong("quiz_zero_for_none", 0, x=name))
    # Of mistakes that give one number the first is named: one that forgets a factor comes before one that
    # forgets its node.
    others.sort(key=lambda each: each.key not in ("quiz_no_upstream", "quiz_no_upstream_all"))
    prompt, solution = prompt_of(scene, name, deposit), shown_sum(scene, leaf, deposit, truth, lang)
    hint = hint_for(walk, target, name, again=deposit is not None and deposit.before is not None)
    seen = deposit if target in scene.now.deposits else scene.now.ran.get(target)
    time, subject, parts = time_of(scene, seen), f"{name}.grad", tuple(parts_of(walk, target, engine))
    asked = QuizQuestion(GRAD, subject, truth, prompt, solution, scene.call, time, hint, leaf, target)
    return asked._replace(wrong=tuple(others), parts=parts)


def prompt_of(scene: Scene, name: str, deposit: GradAccumulated | None) -> Said:
    """What is asked of a gradient; of one that is added to another, with what is there."""
    span = scene.now.started.span if scene.now.started is not None else None
    said = {"x": name, "call": quoted_span(span) if span is not None else "backward()"}
    if scene.now.accumulators.keys() != {
        seen.tensor for seen in scene.now.deposits.values()
    } or leaf_without_gradient(scene):
        return "quiz_ask_after", said  # the usual question would tell that a gradient comes
    if deposit is None or deposit.before is None:
        return "quiz_ask_grad", said
    return "quiz_ask_again", said | {"before": one_line(deposit.before)}


def hint_for(walk: Flow, target: str, name: str, again: bool) -> Said:
    """What helps to find a gradient: along how many paths it comes."""
    roots = walk.scene.now.roots or walk.scene.trace.roots or ()
    said: dict[str, Any] = {"x": name, "root": ", ".join(tensor_label(walk.scene, root) for root in roots)}
    if again:
        return "quiz_hint_again", said
    count = walk.count_paths(target)
    if not count:
        return "quiz_hint_none", said
    return ("quiz_hint_path", said) if count == 1 else ("quiz_hint_paths", said | {"n": count})


def leaf_without_gradient(scene: Scene) -> bool:
    """Whether a leaf gets no gradient in the call."""
    asking = {id for id in scene.named if scene.asks(id) and scene.accumulators.get(id)}
    return bool(asking - scene.now.accumulators.keys())


def can_answer(walk: Flow) -> bool:
    """Whether the call ended well, wrote into `.grad`, and is small enough to be followed."""
    now = walk.scene.now
    return walk.readable and (now.started is None or (now.started.kind != "grad" and now.error is None))


def shown_sum(scene: Scene, leaf: str, deposit: GradAccumulated | None, truth: Any, lang: str | None) -> Said:
    """How the gradient comes about: the sum over its paths where that is short."""
    name = tensor_label(scene, leaf)
    if deposit is None:
        array = np.asarray(truth, np.float32) if truth is not None else None
        items = () if array is None else tuple(array.reshape(-1).tolist())
        value = "None" if array is None else one_line(Value(array.shape, "float32", items))
        return "quiz_solution", {"formula": f"{name}.grad = {value}"}
    after, added = one_line(deposit.after), one_line(deposit.added)
    if deposit.before is not None:
        return "quiz_solution", {"formula": f"{name}.grad = {one_line(deposit.before)} + {added} = {after}"}
    path = next(path_lines(scene, leaf, deposit.added, lang), None)
    return "quiz_solution", {"formula": path.text if path is not None else f"{name}.grad = {after}"}


def time_of(scene: Scene, event: Any) -> int:
    """When an event of the trace happened; when the call ended for one that never did."""
    if event is None:
        return int(min(scene.now.until, len(scene.trace.events)))
    return scene.index.times.get(id(event), 0)


def plain_value(value: Value) -> Any:
    """A snapshot as a number or nested lists; None if not all of it is known."""
    return gradient_answer(array_of(value))


def answer_size(answer: Any) -> int:
    """How many numbers an answer has."""
    return sum(map(answer_size, answer)) if isinstance(answer, list) else 1
