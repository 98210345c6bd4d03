"""Questions about a cell that its backward passes do not answer: leaves, shapes, errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..arithmetic.derivatives import label
from ..model.scene import Scene, Scenes
from ..model.stage import written
from ..trace.events import Failed, TensorState
from ..trace.explained import Explanation
from .question import LEAVES, RAISES, SHAPE, QuizQuestion, Said, Wrong

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
    wrong = [Wrong("quiz_leaves_result", [name], ("quiz_leaves_result", {"names": name})) for name in results]
    for name in truth:
        key = "quiz_leaves_missing" if found[name].requires_grad else "quiz_leaves_quiet"
        wrong.append(Wrong(key, [name], (key, {"names": name})))
    prompt = "quiz_ask_leaves", {"names": ", ".join(found)}
    solution = "quiz_solution", {"formula": ", ".join(truth)}
    yield QuizQuestion(
        LEAVES,
        LEAVES,
        truth,
        prompt,
        ("quiz_hint_leaves", {}),
        solution,
        scenes.calls[0],
        -1,
        wrong=tuple(wrong),
        choices=tuple(found),
    )


def shapes(scene: Scene, all_of_them: bool = False) -> Iterator[QuizQuestion]:
    """What the shape of a result is, of those whose shape is none of their inputs'."""
    for place in scene.shown:
        event, state = place.event, place.states[0]
        name = scene.named.get(state.id)
        if event is None or name is None or state.value is None or len(place.states) > 1:
            continue
        inputs = {id: scene.state(id) for id in event.inputs if id is not None}
        sizes = {
            id: known.value.shape
            for id, known in inputs.items()
            if known is not None and known.value is not None
        }
        truth = state.value.shape
        if not all_of_them and (truth in sizes.values() or not sizes):
            continue
        wrong = tuple(wrong_shapes(scene, event.op, truth, sizes))
        said = {"name": name, "expr": place.expr or name}
        solution = "quiz_solution", {"formula": f"{name}.shape = {truth}"}
        yield QuizQuestion(
            SHAPE,
            f"{name}.shape",
            list(truth),
            ("quiz_ask_shape", said),
            ("quiz_hint_shape", {}),
            solution,
            scene.call,
            place.time,
            state.id,
            wrong=wrong,
        )


def wrong_shapes(
    scene: Scene, op: str, truth: tuple[int, ...], sizes: dict[str, tuple[int, ...]]
) -> Iterator[Wrong]:
    """Shapes that somebody may name: that of an input, the sizes in another order, a dimension too many, the
    inner sizes of a product."""
    for id, shape in sizes.items():
        if shape != truth:
            yield Wrong(
                "quiz_shape_input", list(shape), ("quiz_shape_input", {"x": label(scene, id), "op": op})
            )
    both = list(sizes.values())
    if len(both) == 2 and all(len(shape) == 2 for shape in both) and len(truth) == 2:
        inner = [both[0][1], both[1][0]]
        if tuple(inner) != truth:
            yield Wrong("quiz_shape_inner", inner, ("quiz_shape_inner", {"n": inner[0]}))
    if truth[::-1] != truth:
        yield Wrong("quiz_shape_reversed", list(truth[::-1]), ("quiz_shape_reversed", {}))
    if not truth:
        yield Wrong("quiz_shape_one", [1], ("quiz_shape_one", {}))
        return
    for i in range(len(truth) + 1):
        kept = [*truth[:i], 1, *truth[i:]]
        yield Wrong("quiz_shape_kept", kept, ("quiz_shape_kept", {}))


# ── will it raise ───────────────────────────────────────────────────────────────────────────────────────────


def raises(scenes: Scenes, explained: Sequence[Explanation]) -> Iterator[QuizQuestion]:
    """Whether a line raises an error: of the line that did, or of a second backward call that did not."""
    trace, failed = scenes.trace, None
    for time, event in enumerate(trace.events):
        if isinstance(event, Failed) and event.span is not None and not event.span.origin:
            failed = time, event
    calls = [seen for seen in scenes.index.calls.values() if seen.started is not None and seen.error is None]
    if failed is not None:
        time, event = failed
        assert event.span is not None
        why = next((each.why for each in explained if each.why), event.error)
        begin = next((int(c.begin) for c in scenes.index.calls.values() if c.error is not None), time)
        said: dict[str, object] = {"n": event.span.line, "code": written(event.span)}
        wrong = Wrong("quiz_raises_silent", False, ("quiz_raises_silent", said))
        solution: Said = "quiz_solution_raises", {"error": event.error.partition(":")[0], "why": why}
        yield QuizQuestion(
            RAISES,
            RAISES,
            True,
            ("quiz_ask_raises", said),
            ("quiz_hint_raises", {}),
            solution,
            scenes.calls[-1],
            begin,
            wrong=(wrong,),
            choices=("yes", "no"),
        )
    elif len(calls) > 1 and calls[1].started is not None and calls[1].started.span is not None:
        span = calls[1].started.span
        said = {"n": span.line, "code": written(span)}
        wrong = Wrong("quiz_raises_loud", True, ("quiz_raises_loud", said))
        solution = "quiz_solution_silent", said
        yield QuizQuestion(
            RAISES,
            RAISES,
            False,
            ("quiz_ask_raises", said),
            ("quiz_hint_raises", {}),
            solution,
            calls[1].number,
            int(calls[1].begin),
            wrong=(wrong,),
            choices=("yes", "no"),
        )
