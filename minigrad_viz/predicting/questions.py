"""Trace → questions: what a cell can be asked, and what its trace answers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..arithmetic.derivatives import label
from ..arithmetic.paths import path_lines
from ..model.scene import Scene, Scenes
from ..model.schedule import Schedule
from ..model.stage import written
from ..numbers import short
from ..protocol import Value
from ..snapshots import array_of
from ..trace.events import Deposited
from ..trace.explained import Explanation
from .backward_pass import Pass
from .cell_questions import leaves, raises, shapes
from .engine import ImaginedEngine
from .question import GRAD, LEAVES, NEXT, RAISES, QuizQuestion, Said, Wrong, wrong
from .telling import Teller
from .typed import equal
from .understood import arrival_of, faults_of, others_of, parts_of, plain

FEW = 3  # gradients that are asked in one backward call
CALLS = 6  # backward calls of a cell of which something is asked
ROUNDS = 2  # of those in one line; further rounds of a loop ask the same again
SMALL = 12  # numbers of a gradient that somebody types


def questions_of(
    scenes: Scenes, explained: Sequence[Explanation] = (), lang: str | None = None
) -> tuple[QuizQuestion, ...]:
    """What is asked of a cell, in the order in which its steps answer it."""
    found = [*leaves(scenes), *raises(scenes, explained)]
    for scene in scenes_asked(scenes):
        found += [*itertools.islice(shapes(scene), 1), *itertools.islice(queued(scene), 1)]
        found += itertools.islice(gradients(scene, lang), FEW)
    return tuple(sorted(found, key=lambda question: (question.call, question.time)))


def scenes_asked(scenes: Scenes) -> list[Scene]:
    """The backward calls of which something is asked."""
    found: list[Scene] = []
    lines: Counter[Any] = Counter()
    for scene in map(scenes.of, scenes.calls):
        line = None if scene.now.started is None else scene.now.started.span
        lines[line] += 1
        if lines[line] <= ROUNDS and len(found) < CALLS:
            found.append(scene)
    return found


def asked(
    scenes: Scenes, subject: str, explained: Sequence[Explanation] = (), lang: str | None = None
) -> QuizQuestion | None:
    """The question whose answer is called `subject`: `x.grad` (after the last backward call), `y.shape`,
    "leaves", "next", "raises"; None if the cell does not answer it."""
    name, _, what = subject.replace(" ", "").rpartition(".")
    known: Iterable[QuizQuestion | None]
    for scene in map(scenes.of, reversed(scenes.calls)):
        if what == "grad":
            walk = Pass(scene)
            known = (gradient(walk, leaf, lang, SMALL**2) for leaf in with_name(scene, name))
        elif what == "shape":
            known = (q for q in shapes(scene, all_of_them=True) if q.subject == f"{name}.shape")
        elif what == NEXT:
            known = queued(scene)
        else:
            known = iter({LEAVES: leaves, RAISES: lambda s: raises(s, explained)}.get(what, nothing)(scenes))
        found = next((question for question in known if question is not None), None)
        if found is not None:
            return found
    return None


def nothing(scenes: Scenes) -> Iterator[QuizQuestion]:
    """No question."""
    return iter(())


def with_name(scene: Scene, name: str) -> list[str]:
    """The tensors that a variable was."""
    return [id for id, known in scene.named.items() if known == name]


# ── what will be in .grad ───────────────────────────────────────────────────────────────────────────────────


def gradients(scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
    """What `.grad` of the leaves will be, those first that several paths lead to, and of tensors that keep
    their gradient."""
    walk = Pass(scene)
    if not answers(walk):
        return
    leaves = [id for id in scene.named if scene.asks(id) and scene.accumulators.get(id)]
    ends = {id: arrival_of(walk, id) for id in leaves}
    paths = {id: len(walk.leading(end)) if end else 0 for id, end in ends.items()}
    for tensor in [*sorted(leaves, key=lambda id: -paths[id]), *walk.retained.values()]:
        question = gradient(walk, tensor, lang, SMALL)
        if question is not None:
            yield question


def gradient(walk: Pass, leaf: str, lang: str | None, most: int) -> QuizQuestion | None:
    """What `.grad` of a leaf will be after the call; None where the trace does not tell."""
    scene, target = walk.scene, arrival_of(walk, leaf)
    if target is None or not answers(walk):
        return None
    engine = ImaginedEngine(walk).run()
    deposit = walk.deposit(target)
    computed = plain(engine.grads.get(leaf))
    recorded = plain_value(deposit.after) if deposit is not None else None
    reached = target in walk.order and (deposit is not None or scene.now.started is None)
    truth = recorded if deposit is not None else computed
    state = scene.state(leaf)
    if truth is None or size_of(truth) > most if reached else state is None or state.grad is not None:
        return None
    name = label(scene, leaf)
    others = list(faults_of(walk, target, truth))
    if reached and computed is not None and equal(computed, truth):
        others += others_of(walk, target, truth, engine)
    if not reached:
        truth = None
        others.append(wrong("quiz_zero_for_none", 0, x=name))
    prompt, solution = prompt_of(scene, name, deposit), shown_sum(scene, leaf, deposit, truth, lang)
    hint = hint_for(walk, target, name, again=deposit is not None and deposit.before is not None)
    seen = deposit if target in scene.now.deposits else scene.now.ran.get(target)
    time, subject, parts = time_of(scene, seen), f"{name}.grad", tuple(parts_of(walk, target, engine))
    asked = QuizQuestion(GRAD, subject, truth, prompt, solution, scene.call, time, hint, leaf, target)
    return asked._replace(wrong=tuple(others), parts=parts)


def prompt_of(scene: Scene, name: str, deposit: Deposited | None) -> Said:
    """What is asked of a gradient; of one that is added to another, with what is there."""
    span = scene.now.started.span if scene.now.started is not None else None
    said = {"x": name, "call": written(span) if span is not None else "backward()"}
    if scene.now.accumulators.keys() != {seen.tensor for seen in scene.now.deposits.values()} or idle(scene):
        return "quiz_ask_after", said  # the usual question would tell that a gradient comes
    if deposit is None or deposit.before is None:
        return "quiz_ask_grad", said
    return "quiz_ask_again", said | {"before": short(deposit.before)}


def hint_for(walk: Pass, target: str, name: str, again: bool) -> Said:
    """What helps to find a gradient: along how many paths it comes."""
    roots = walk.scene.now.roots or walk.scene.trace.roots or ()
    said: dict[str, Any] = {"x": name, "root": ", ".join(label(walk.scene, root) for root in roots)}
    if again:
        return "quiz_hint_again", said
    paths = Counter({target: 1})
    for node, i in reversed(walk.leading(target)):
        edge = walk.nodes[node].edges[i]
        paths[node] += paths[edge[0]] if edge is not None else 0
    count = sum(paths[walk.scene.node_at(root) or ""] for root in roots) if walk.leading(target) else 0
    if not count:
        return "quiz_hint_none", said
    return ("quiz_hint_path", said) if count == 1 else ("quiz_hint_paths", said | {"n": count})


def idle(scene: Scene) -> bool:
    """Whether a leaf gets no gradient in the call."""
    asking = {id for id in scene.named if scene.asks(id) and scene.accumulators.get(id)}
    return bool(asking - scene.now.accumulators.keys())


def answers(walk: Pass) -> bool:
    """Whether the call ended well, wrote into `.grad`, and is small enough to be followed."""
    now = walk.scene.now
    return walk.readable and (now.started is None or (now.started.kind != "grad" and now.error is None))


def shown_sum(scene: Scene, leaf: str, deposit: Deposited | None, truth: Any, lang: str | None) -> Said:
    """How the gradient comes about: the sum over its paths where that is short."""
    name = label(scene, leaf)
    if deposit is None:
        array = np.asarray(truth, np.float32) if truth is not None else None
        items = () if array is None else tuple(array.reshape(-1).tolist())
        value = "None" if array is None else short(Value(array.shape, "float32", items))
        return "quiz_solution", {"formula": f"{name}.grad = {value}"}
    after, added = short(deposit.after), short(deposit.added)
    if deposit.before is not None:
        return "quiz_solution", {"formula": f"{name}.grad = {short(deposit.before)} + {added} = {after}"}
    path = next(path_lines(scene, leaf, deposit.added, lang), None)
    return "quiz_solution", {"formula": path.text if path is not None else f"{name}.grad = {after}"}


def time_of(scene: Scene, event: Any) -> int:
    """When an event of the trace happened; when the call ended for one that never did."""
    if event is None:
        return int(min(scene.now.until, len(scene.trace.events)))
    return scene.index.times.get(id(event), 0)


def plain_value(value: Value) -> Any:
    """A snapshot as a number or nested lists; None if not all of it is known."""
    return plain(array_of(value))


def size_of(answer: Any) -> int:
    """How many numbers an answer has."""
    return sum(map(size_of, answer)) if isinstance(answer, list) else 1


# ── which node runs next ────────────────────────────────────────────────────────────────────────────────────


def queued(scene: Scene) -> Iterator[QuizQuestion]:
    """Which node runs next, at the first moment at which several are ready."""
    walk, schedule = Pass(scene), scene.schedule
    if schedule is None or not walk.readable or scene.now.started is None or scene.now.error is not None:
        return
    tell = Teller(walk)
    moments = [(n, m) for n, m in sorted(schedule.moments().items()) if n and len(m.ready) > 1]
    moments.sort(key=lambda pair: walk.nodes[pair[1].ready[0]].variable is not None)  # the telling ones first
    for ran, moment in moments:
        truth, last = moment.ready[0], schedule.order[ran - 1]
        said = {"node": tell.name(truth), "at": tell.made_by(truth)}
        leaf = walk.nodes[truth].variable is not None
        solution: Said = ("quiz_solution_leaf", said) if leaf else ("quiz_solution_next", said)
        names = choices(tell, moment.ready, moment.waiting)
        asks = {"node": tell.name(last), "at": tell.made_by(last), "names": ", ".join(names)}
        time, right = time_of(scene, scene.now.ran.get(truth)), called(tell, truth)
        asked = QuizQuestion(
            NEXT, NEXT, right, ("quiz_ask_next", asks), solution, scene.call, time, ("quiz_hint_next", {})
        )
        yield asked._replace(node=truth, wrong=tuple(wrong_next(walk, schedule, ran)), choices=names)


def choices(tell: Teller, ready: Sequence[str], waiting: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """The nodes among which one chooses, in the order of the alphabet, which tells nothing."""
    return tuple(sorted({called(tell, node) for node in (*ready, *(node for node, _ in waiting))}))


def called(tell: Teller, node: str) -> str:
    """A node as one types it: `LogBackward(a)`."""
    return f"{tell.name(node)}({tell.made_by(node)})"


def wrong_next(walk: Pass, schedule: Schedule, ran: int) -> Iterator[Wrong]:
    """The other nodes that somebody may name, each with the reason why it does not run now."""
    tell, moment = Teller(walk), schedule.moments({ran})[ran]
    edges = walk.nodes[schedule.order[ran - 1]].edges
    first = next((edge[0] for edge in edges if edge is not None), None)
    for node in moment.ready[1:]:
        key = "quiz_next_recursion" if node == first else "quiz_next_older"
        yield not_next(tell, node, key)
    for node, missing in moment.waiting:
        yield not_next(tell, node, "quiz_next_waits", n=missing)
    for node in schedule.order[:ran]:
        yield not_next(tell, node, "quiz_next_ran")


def not_next(tell: Teller, node: str, key: str, **more: Any) -> Wrong:
    """A node that does not run next, and why."""
    return wrong(key, called(tell, node), node=tell.name(node), at=tell.made_by(node), **more)
