"""Questions about a cell that its backward passes do not answer: leaves, shapes, errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..arithmetic.derivatives import label
from ..model.scene import Scene, Scenes
from ..model.stage import written
from ..trace.events import Failed, TensorState
from ..trace.explained import Explanation
from .question import LEAVES, RAISES, SHAPE, QuizQuestion, Said, Wrong, wrong

NAMED = (3, 12)  # variables of a cell of which the leaves are asked

# ── which are leaves, what is the shape ─────────────────────────────────────────────────────────────────────


def variables(scenes: Scenes) -> dict[str, TensorState]:
    """The variables of the cell at its end that are tensors, by name."""
    index = scenes.index
    return {name: index.last(id) for id, name in scenes.trace.names if id in index.at and name.isidentifier()}


def leaves(scenes: Scenes) -> Iterator[QuizQuestion]:
    """Which variables are leaves."""
    found = variables(scenes)
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
            yield wrong("quiz_shape_input", list(shape), x=label(scene, id), op=op)
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
    events = [e for e in scenes.trace.events if isinstance(e, Failed) and e.span and not e.span.origin]
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
        said: dict[str, object] = {"n": span.line, "code": written(span)}
        solution = solution if events else ("quiz_solution_silent", said)
        asked = QuizQuestion(
            RAISES, RAISES, bool(events), ("quiz_ask_raises", said), solution, call, begin,
            ("quiz_hint_raises", {}),
        )  # fmt: skip
        key = "quiz_raises_silent" if events else "quiz_raises_loud"
        yield asked._replace(wrong=(wrong(key, not events, **said),), choices=("yes", "no"))
