"""Trace → questions: what a cell can be asked, and what its trace answers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ..arithmetic.derivatives import tensor_label
from ..flow.backward_pass import Flow, flow_of
from ..model.scene import Scene, Scenes
from ..model.schedule import Schedule
from ..model.views import quoted_span
from ..trace.events import CellFailed, TensorState
from ..trace.graph import Explanation
from .fading import ALL, last_questions
from .faulty_engines import Teller
from .gradient_questions import SMALL, can_answer, gradient, gradients, time_of
from .more_questions import gets, layers, passes, twice, updates
from .question import (
    GETS,
    GRAD,
    LEAVES,
    MEETS,
    MOVES,
    NEXT,
    PASSES,
    RAISES,
    SHAPE,
    SIZE,
    STORES,
    QuizQuestion,
    Said,
    Wrong,
    wrong,
)  # fmt: skip

# ─── Questions about a cell that its backward passes do not answer


NAMED = (3, 12)  # variables of a cell of which the leaves are asked

# ── which are leaves, what is the shape ─────────────────────────────────────────────────────────────────────


def tensor_variables(scenes: Scenes) -> dict[str, TensorState]:
    """The variables of the cell at its end that are tensors, by name."""
    index = scenes.index
    return {name: index.last(id) for id, name in scenes.trace.names if id in index.at and name.isidentifier()}


def leaf_question(scenes: Scenes) -> Iterator[QuizQuestion]:
    """Which variables are leaves."""
    found = tensor_variables(scenes)
    truth = sorted(name for name, state in found.items() if state.is_leaf)
    results = sorted(found.keys() - set(truth))
    if scenes.trace.roots is not None or not NAMED[0] <= len(found) <= NAMED[1] or not truth or not results:
        return
    others = [wrong("quiz_leaves_result", [name], names=name) for name in results]
    for name in truth:
        key = "quiz_leaves_missing" if found[name].requires_grad else "quiz_leaves_quiet"
        others.append(wrong(key, [name], names=name))
    prompt = "quiz_ask_leaves", {"names": ", ".join(found)}
    solution = "quiz_solution", {"formula": ", ".join(truth)}
    asked = QuizQuestion(
        LEAVES, LEAVES, truth, prompt, solution, scenes.calls[0], -1, ("quiz_hint_leaves", {})
    )
    yield asked._replace(wrong=tuple(others), choices=tuple(found))


def shapes(scene: Scene, all_of_them: bool = False) -> Iterator[QuizQuestion]:
    """What the shape of a result is, of those whose shape is none of their inputs'."""
    for place in scene.shown:
        event, state = place.event, place.states[0]
        name = scene.named.get(state.id)
        if event is None or name is None or state.value is None or len(place.states) > 1:
            continue
        sizes = {
            id: known.value.shape
            for id in event.inputs
            if id is not None and (known := scene.state(id)) is not None and known.value is not None
        }
        truth, subject = state.value.shape, f"{name}.shape"
        if not all_of_them and (truth in sizes.values() or not sizes):
            continue
        prompt = "quiz_ask_shape", {"name": name, "expr": place.expr or name}
        solution = "quiz_solution", {"formula": f"{subject} = {truth}"}
        asked = QuizQuestion(
            SHAPE, subject, list(truth), prompt, solution, scene.call, place.time, ("quiz_hint_shape", {})
        )
        others = wrong_shapes(scene, event.op, truth, sizes)
        yield asked._replace(tensor=state.id, wrong=tuple(others))


def wrong_shapes(
    scene: Scene, op: str, truth: tuple[int, ...], sizes: dict[str, tuple[int, ...]]
) -> Iterator[Wrong]:
    """Shapes that somebody may name: that of an input, the sizes in another order, a dimension too many, the
    inner sizes of a product."""
    for id, shape in sizes.items():
        if shape != truth:
            yield wrong("quiz_shape_input", list(shape), x=tensor_label(scene, id), op=op)
    both = list(sizes.values())
    if len(both) == 2 and all(len(shape) == 2 for shape in both) and len(truth) == 2:
        inner = [both[0][1], both[1][0]]
        if tuple(inner) != truth:
            yield wrong("quiz_shape_inner", inner, n=inner[0])
    if truth[::-1] != truth:
        yield wrong("quiz_shape_reversed", list(truth[::-1]))
    if not truth:
        yield wrong("quiz_shape_one", [1])
        return
    for i in range(len(truth) + 1):
        yield wrong("quiz_shape_kept", [*truth[:i], 1, *truth[i:]])


# ── will it raise ───────────────────────────────────────────────────────────────────────────────────────────


def raises(scenes: Scenes, explained: Sequence[Explanation]) -> Iterator[QuizQuestion]:
    """Whether a line raises an error: of the line that did, or of a second backward call that did not."""
    events = [e for e in scenes.trace.of(CellFailed) if e.span and not e.span.origin]
    known = list(scenes.index.calls.values())
    well = [call for call in known if call.started is not None and call.error is None]
    second = well[1] if len(well) > 1 else None
    if events:
        event, call, span = events[-1], scenes.calls[-1], events[-1].span
        time = scenes.index.times[id(event)]
        begin = next((int(each.begin) for each in known if each.error is not None), time)
        why = next((each.why for each in explained if each.why), event.error)
        solution: Said = "quiz_solution_raises", {"error": event.error.partition(":")[0], "why": why}
    elif second is not None and second.started is not None:
        call, span, begin = second.number, second.started.span, int(second.begin)
    else:
        return
    if span is not None:
        said: dict[str, object] = {"n": span.line, "code": quoted_span(span)}
        solution = solution if events else ("quiz_solution_silent", said)
        asked = QuizQuestion(
            RAISES, RAISES, bool(events), ("quiz_ask_raises", said), solution, call, begin,
            ("quiz_hint_raises", {}),
        )  # fmt: skip
        key = "quiz_raises_silent" if events else "quiz_raises_loud"
        yield asked._replace(wrong=(wrong(key, not events, **said),), choices=("yes", "no"))


# ─── Trace → questions: what a cell can be asked, and what its trace answers


LEAST = 3  # questions about a cell
FEW = 3  # gradients that are asked in one backward call
CALLS = 6  # backward calls of a cell of which something is asked
ROUNDS = 2  # of those in one line; further rounds of a loop ask the same again


# Where a question is asked: before the step of its tensor, before that of its node, at the last forward step,
# about the whole picture, at the first backward step, or before the step of its update.
AT_TENSOR, AT_NODE, AT_WHOLE, AT_BACKWARD, AT_UPDATE = "tensor", "node", "whole", "backward", "update"


class QuestionKind:
    """One kind of question: what it asks of a cell, and how the player asks it.

    `name` is what its questions have as their kind, and what their subject ends with: `x.grad`, `leaves`. Of
    one backward call at most `few` are asked, and one whose answer was asked before only if it is not `once`.
    They are asked at the place `asked_at`, and answered there by
    the `row` of the picture ("" for none). `label` is the key of the text before the input field, ""
    for the subject. See `docs/extending.md`.
    """

    name = ""
    few = 1
    once = False
    asked_at = AT_TENSOR
    row = ""
    label = ""

    def of_cell(self, scenes: Scenes, explained: Sequence[Explanation]) -> Iterator[QuizQuestion]:
        """Questions about the whole cell."""
        return iter(())

    def of_call(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        """Questions about one backward call and what led to it."""
        return iter(())

    def to_fill(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        """Questions about the call that are asked where a cell has fewer than `LEAST`, and none of this
        kind."""
        return iter(())

    def about(
        self, subject: str, scene: Scene, scenes: Scenes, explained: Sequence[Explanation], lang: str | None
    ) -> Iterator[QuizQuestion]:
        """The questions about one subject."""
        found = itertools.chain(self.of_cell(scenes, explained), self.of_call(scene, lang))
        return (question for question in found if question.subject == subject)


class LeafQuestions(QuestionKind):
    """Which tensors are leaves."""

    name, asked_at, label = LEAVES, AT_WHOLE, "quiz_label_leaves"

    def of_cell(self, scenes: Scenes, explained: Sequence[Explanation]) -> Iterator[QuizQuestion]:
        return leaf_question(scenes)


class ErrorQuestions(QuestionKind):
    """Whether a line raises an error."""

    name, asked_at, label = RAISES, AT_BACKWARD, "quiz_label_raises"

    def of_cell(self, scenes: Scenes, explained: Sequence[Explanation]) -> Iterator[QuizQuestion]:
        return raises(scenes, explained)

    def to_fill(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        return twice(scene)


class ShapeQuestions(QuestionKind):
    """What the shape of a result is, and of what the layers of a model return and pass back."""

    name, few, row = SHAPE, 1 + FEW, "value"

    def of_call(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        yield from itertools.islice(shapes(scene), 1)
        yield from itertools.islice(layers(scene), FEW)

    def about(
        self, subject: str, scene: Scene, scenes: Scenes, explained: Sequence[Explanation], lang: str | None
    ) -> Iterator[QuizQuestion]:
        return (question for question in shapes(scene, all_of_them=True) if question.subject == subject)


class QueueQuestions(QuestionKind):
    """Which node runs next."""

    name, asked_at, label = NEXT, AT_NODE, "quiz_label_next"

    def of_call(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        return queue_question(scene)


class GradientQuestions(QuestionKind):
    """What will be in `.grad`."""

    name, few, asked_at, row = GRAD, FEW, AT_NODE, "grad"

    def of_call(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        return gradients(scene, lang)

    def about(
        self, subject: str, scene: Scene, scenes: Scenes, explained: Sequence[Explanation], lang: str | None
    ) -> Iterator[QuizQuestion]:
        walk, name = flow_of(scene), subject.rpartition(".")[0]
        known = (gradient(walk, leaf, lang, SMALL**2) for leaf in with_name(scene, name))
        return (question for question in known if question is not None)


class NodeQuestions(QuestionKind):
    """What a node passes on."""

    name, once, asked_at, label = PASSES, True, AT_NODE, "quiz_label_passes"

    def of_call(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        walk = flow_of(scene)
        return passes(walk) if can_answer(walk) else iter(())


class SumQuestions(QuestionKind):
    """What a node receives where gradients meet: asked where steps are left to the reader."""

    name, asked_at, label = MEETS, AT_NODE, "quiz_label_meets"


class StoringQuestions(QuestionKind):
    """What is in `.grad` after a leaf's node ran: asked where steps are left to the reader."""

    name, asked_at, row = STORES, AT_NODE, "grad"


class ReceiverQuestions(QuestionKind):
    """Which tensors have a `.grad` after the call: of a training, and to fill."""

    name, asked_at, label = GETS, AT_BACKWARD, "quiz_label_gets"

    def of_call(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        trained = next(itertools.chain(updates(scene, lang), layers(scene)), None)
        return gets(scene) if trained is not None else iter(())

    def to_fill(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        return gets(scene)


class DirectionQuestions(QuestionKind):
    """Whether an update makes a number larger, where `UpdateQuestions` cannot ask more."""

    name, asked_at, label = MOVES, AT_UPDATE, "quiz_label_moves"

    def of_call(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        return (question for question in itertools.islice(updates(scene, lang), 1) if question.kind == MOVES)


class UpdateQuestions(QuestionKind):
    """What a number is after an update."""

    name, asked_at, label = SIZE, AT_UPDATE, "quiz_label_size"

    def of_call(self, scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
        return (question for question in itertools.islice(updates(scene, lang), 1) if question.kind == SIZE)


QUESTION_KINDS: list[QuestionKind] = [  # of questions at one moment the first is asked first
    LeafQuestions(), ErrorQuestions(), ShapeQuestions(), QueueQuestions(), GradientQuestions(),
    SumQuestions(), NodeQuestions(), StoringQuestions(), ReceiverQuestions(), DirectionQuestions(),
    UpdateQuestions(),
]  # fmt: skip
KINDS = {kind.name: kind for kind in QUESTION_KINDS}


def questions_of(
    scenes: Scenes, explained: Sequence[Explanation] = (), lang: str | None = None
) -> tuple[QuizQuestion, ...]:
    """What is asked of a cell, in the order in which its steps answer it."""
    found = [question for kind in KINDS.values() for question in kind.of_cell(scenes, explained)]
    for scene in scenes_asked(scenes):
        for kind in KINDS.values():
            asked = {(question.subject, str(question.truth)) for question in found if kind.once}
            new = (q for q in kind.of_call(scene, lang) if (q.subject, str(q.truth)) not in asked)
            found += itertools.islice(new, kind.few)
        for kind in reversed(KINDS.values()):
            if len(found) < LEAST and all(question.kind != kind.name for question in found):
                found += itertools.islice(kind.to_fill(scene, lang), kind.few)
    return tuple(sorted(found, key=lambda question: (question.call, question.time)))


def faded_questions(scenes: Scenes, steps: int | str, lang: str | None = None) -> tuple[QuizQuestion, ...]:
    """The questions that leave the last `steps` of each backward call to the reader, or all of them."""
    return tuple(
        question for scene in scenes_asked(scenes) for question in last_questions(scene, steps, lang)
    )


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


def question_about(
    scenes: Scenes, subject: str, explained: Sequence[Explanation] = (), lang: str | None = None
) -> QuizQuestion | None:
    """The question about `subject`: `x.grad` (after the last backward call), `y.shape`,
    "leaves", "next", "raises"; None if the cell does not answer it."""
    subject = subject.replace(" ", "")
    kind = KINDS.get(subject.rpartition(".")[2])
    for scene in map(scenes.of, reversed(scenes.calls)):
        known = kind.about(subject, scene, scenes, explained, lang) if kind is not None else ()
        others = (
            q for kind in KINDS.values() for ask in (kind.of_call, kind.to_fill) for q in ask(scene, lang)
        )
        named = (question for question in others if question.subject.replace(" ", "") == subject)
        left = (q for q in last_questions(scene, ALL, lang) if q.subject.replace(" ", "") == subject)
        found = next(itertools.chain(known, named, left), None)
        if found is not None:
            return found
    return None


def with_name(scene: Scene, name: str) -> list[str]:
    """The tensors that a variable was."""
    return [id for id, known in scene.named.items() if known == name]


# ── which node runs next ────────────────────────────────────────────────────────────────────────────────────


def queue_question(scene: Scene) -> Iterator[QuizQuestion]:
    """Which node runs next, at the first moment at which several are ready."""
    walk, schedule = flow_of(scene), scene.schedule
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
        time, right = time_of(scene, scene.now.ran.get(truth)), node_answer(tell, truth)
        asked = QuizQuestion(
            NEXT, NEXT, right, ("quiz_ask_next", asks), solution, scene.call, time, ("quiz_hint_next", {})
        )
        yield asked._replace(node=truth, wrong=tuple(wrong_next(walk, schedule, ran)), choices=names)


def choices(tell: Teller, ready: Sequence[str], waiting: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """The nodes among which one chooses, in the order of the alphabet, which tells nothing."""
    return tuple(sorted({node_answer(tell, node) for node in (*ready, *(node for node, _ in waiting))}))


def node_answer(tell: Teller, node: str) -> str:
    """A node as one types it: `LogBackward(a)`."""
    return f"{tell.name(node)}({tell.made_by(node)})"


def wrong_next(walk: Flow, schedule: Schedule, ran: int) -> Iterator[Wrong]:
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
    return wrong(key, node_answer(tell, node), node=tell.name(node), at=tell.made_by(node), **more)
