"""Questions about one node, one layer and one update: the chain rule, shapes, who gets a gradient, and where
an optimizer goes. A cell with a backward call is asked at least three."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import Any

from ..arithmetic.derivatives import tensor_label
from ..flow.backward_pass import Flow
from ..model.execution import ModuleCall, below
from ..model.scene import Scene
from ..model.updates import STEP, WRITTEN
from ..model.views import quoted_span
from ..number_text import number, one_line
from ..snapshots import array_of
from ..trace.graph import Change, Update
from ..words import text
from .faulty_engines import Teller, gradient_answer
from .question import (
    GETS,
    GRAD,
    LEAVES,
    MOVES,
    NEXT,
    PASSED_ON,
    PASSES,
    RAISES,
    SHAPE,
    SIZE,
    QuizQuestion,
    Said,
    Wrong,
    equal,
    wrong,
)  # fmt: skip

TYPED = 3  # numbers that somebody types for one node
NAMES = (2, 8)  # tensors of which is asked whether they get a gradient


# ── what a node passes on ───────────────────────────────────────────────────────────────────────────────────


def passes(walk: Flow) -> Iterator[QuizQuestion]:
    """What a node passes to the tensor before it, where that is more than to pass it on unchanged. What comes
    to a leaf is asked as its `.grad`."""
    tell, scene = Teller(walk), walk.scene
    for node in walk.order:
        event = scene.now.ran.get(node)
        if event is None or len(event.received) != 1 or event.received[0] is None:
            continue
        received = gradient_answer(array_of(event.received[0]))
        for i, (edge, sent) in enumerate(zip(walk.nodes[node].edges, event.sent, strict=False)):
            truth = gradient_answer(array_of(sent)) if sent is not None and sent.size <= TYPED else None
            target = None if edge is None else scene.tensor_of(edge)
            if truth is None or received is None or target is None or edge is None:
                continue
            if walk.nodes[edge[0]].variable is not None or equal(truth, received):
                continue
            said = {"node": tell.name(node), "at": tell.made_by(node), "to": tell.input((node, i))}
            said |= {"value": one_line(event.received[0])}
            solution = "quiz_solution_passes", said | {"sent": one_line(sent)} if sent is not None else said
            asked = QuizQuestion(
                PASSES, f"{said['node']}({said['at']})→{said['to']}", truth, ("quiz_ask_passes", said),
                solution, scene.call, scene.index.times.get(id(event), 0), ("quiz_hint_passes", said), target,
                node,
            )  # fmt: skip
            yield asked._replace(wrong=tuple(without_a_factor(truth, received, said)), answers=GRAD)
            break


def without_a_factor(truth: Any, received: Any, said: dict[str, Any]) -> Iterator[Wrong]:
    """The gradient that came in alone, and the derivative alone."""
    named = {"node": said["node"], "at": said["at"]}
    yield wrong("quiz_no_local", received, **named)
    if isinstance(truth, float) and isinstance(received, float) and received not in (0.0, 1.0):
        yield wrong("quiz_no_upstream", truth / received, **named)


# ── which tensors get a gradient, and whether the graph can be used again ───────────────────────────────────


def gets(scene: Scene) -> Iterator[QuizQuestion]:
    """Which tensors have a `.grad` after the call."""
    started = scene.now.started
    if started is None or scene.now.error is not None or started.kind == "grad":
        return
    known = {
        id: tensor_label(scene, id) for id in scene.named if "." not in scene.named[id].partition("[")[0]
    }
    held = scene.index.module_calls.parameters
    known |= {id: tensor_label(scene, id) for id in held if id in scene.accumulators and id in scene.at}
    known = {id: name for id, name in list(known.items())[: NAMES[1]] if name != "…" and " " not in name}
    having, others = [], []
    for id, name in known.items():
        state = scene.state(id)
        if state is None:
            continue
        if state.grad is not None:
            having.append(name)
            others.append(wrong("quiz_gets_missing", [name], names=name))
        else:
            key = "quiz_gets_quiet" if not state.requires_grad else "quiz_gets_result"
            key = "quiz_gets_cut" if state.requires_grad and state.is_leaf else key
            others.append(wrong(key, [name], names=name))
    if not having or len(having) == len(known) or len(known) < NAMES[0]:
        return
    call = quoted_span(started.span) if started.span is not None else "backward()"
    prompt = "quiz_ask_gets", {"names": ", ".join(known.values()), "call": call}
    solution = "quiz_solution", {"formula": ", ".join(having)}
    asked = QuizQuestion(
        GETS, GETS, sorted(having), prompt, solution, scene.call, int(scene.now.begin), ("quiz_hint_gets", {})
    )
    yield asked._replace(wrong=tuple(others), choices=tuple(known.values()), answers=LEAVES)


def twice(scene: Scene) -> Iterator[QuizQuestion]:
    """Whether the same call could come a second time."""
    started = scene.now.started
    if started is None or scene.now.ended is None or scene.now.error is not None or started.span is None:
        return
    freed = bool(scene.now.freed)
    said = {"call": quoted_span(started.span)}
    solution: Said = ("quiz_twice_yes" if freed else "quiz_twice_no", said)
    asked = QuizQuestion(
        RAISES, "twice", freed, ("quiz_ask_twice", said), solution, scene.call, int(scene.now.begin),
        ("quiz_hint_twice", {}),
    )  # fmt: skip
    yield asked._replace(
        wrong=(wrong("quiz_twice_freed" if freed else "quiz_twice_kept", not freed),), choices=("yes", "no")
    )


# ── the layers of a model ───────────────────────────────────────────────────────────────────────────────────


def layers(scene: Scene) -> Iterator[QuizQuestion]:
    """The shapes of what a layer with parameters returns, and of what it passes back."""
    calls = scene.index.module_calls.calls
    around = {id(call.around) for call in calls}
    for call in calls:
        if id(call) in around or len(call.outputs) != 1 or call.outputs[0] not in scene.at:
            continue
        place = scene.at[call.outputs[0]][0]
        if not scene.span[0] <= place.time <= scene.span[1] or not call.event.parameters:
            continue
        inward, outward = (value_shape(scene, id) for id in (call.event.inputs[:1], call.outputs))
        if inward is None or outward is None or inward == outward:
            continue
        yield from shapes_of_layer(scene, call, inward, outward)


def shapes_of_layer(
    scene: Scene, call: ModuleCall, inward: tuple[int, ...], outward: tuple[int, ...]
) -> Iterator[QuizQuestion]:
    """Of one layer: forward, and backward where a gradient goes on."""
    way = below(call.event.path, call.chain()[0].event.path) or call.event.path
    tensor, layer = call.outputs[0], f"{way} {call.event.kind}".strip()
    said = {"layer": layer, "inward": inward, "outward": outward}
    place = scene.at[tensor][0]
    asked = QuizQuestion(
        SHAPE, f"{layer}.output.shape", list(outward), ("quiz_ask_output", said),
        ("quiz_solution", {"formula": f"{layer}: {inward} → {outward}"}), scene.call, place.time,
        ("quiz_hint_shape", {}), tensor,
    )  # fmt: skip
    yield asked._replace(wrong=(wrong("quiz_shape_input", list(inward), x=layer, op=call.event.kind),))
    source = call.event.inputs[0]
    event = scene.now.ran.get(place.node or "")
    if event is not None and source is not None and scene.asks(source):
        asked = QuizQuestion(
            SHAPE, f"{layer}.passes.shape", list(inward), ("quiz_ask_layer_passes", said),
            ("quiz_solution_layer", said), scene.call, scene.index.times.get(id(event), 0),
            ("quiz_hint_layer", {}), tensor, PASSED_ON,
        )  # fmt: skip
        yield asked._replace(wrong=(wrong("quiz_layer_same", list(outward)),))


def value_shape(scene: Scene, ids: tuple[str | None, ...]) -> tuple[int, ...] | None:
    """The shape of the first of some tensors, where it is known."""
    state = scene.state(ids[0]) if ids and ids[0] is not None else None
    return None if state is None or state.value is None else tuple(state.value.shape)


# ── updates ─────────────────────────────────────────────────────────────────────────────────────────────────


def updates(scene: Scene, lang: str | None) -> Iterator[QuizQuestion]:
    """Where an update goes: of one number by plain gradient descent what comes out, else whether it grows."""
    for update in scene.updates:
        if update.kind not in (STEP, WRITTEN) or update.of_gradients:
            continue
        for change in update.changes:
            found = update_question(scene, update, change, lang)
            if found is not None:
                yield found
                break


def update_question(scene: Scene, update: Update, change: Change, lang: str | None) -> QuizQuestion | None:
    """What is asked of one line of an update; None where the trace does not answer it."""
    place, numbers = largest(change), None
    if place is not None:
        numbers = [float(value.items[place]) for value in (change.before, change.gradient, change.after)
                   if value is not None and value.items is not None]  # fmt: skip
    if numbers is None or place is None or len(numbers) != 3 or numbers[0] == numbers[2]:
        return None
    before, gradient, after = numbers
    name = change.name or tensor_label(scene, change.tensor)
    shape = change.before.shape if change.before is not None else ()
    if shape:
        name += f"[{', '.join(str(i) for i in position(place, shape))}]"
    said = {"source": update.title, "x": name, "before": number(before), "grad": number(gradient)}
    said |= {"after": number(after)}
    settings = {key: value for key, value in change.settings if value}
    rate = settings.get("lr")
    where = scene.call, update.times[0]
    about = change.tensor, f"{update.id}-{change.id}"
    solution: Said = ("quiz_solution_moves", said)
    if rate and settings.keys() == {"lr"} and isclose(after, before - rate * gradient, rel_tol=1e-5):
        said["lr"] = f"{rate:g}"
        asked = QuizQuestion(
            SIZE, f"{name} after {update.title}", after, ("quiz_ask_size", said), solution, *where,
            ("quiz_hint_size", said), *about,
        )  # fmt: skip
        return asked._replace(
            answers=GRAD,
            wrong=(
                wrong("quiz_moves_uphill", before + rate * gradient, x=name),
                wrong("quiz_size_rate", before - gradient, lr=said["lr"]),
                wrong("quiz_size_step", rate * gradient, x=name),
            ),
        )
    words = text("quiz_grows", lang), text("quiz_shrinks", lang)
    grows = after > before
    asked = QuizQuestion(
        MOVES, f"{name} after {update.title}", words[not grows], ("quiz_ask_moves", said), solution, *where,
        ("quiz_hint_moves", said), *about,
    )  # fmt: skip
    return asked._replace(
        wrong=(wrong("quiz_moves_uphill", words[grows], x=name),), choices=words, answers=NEXT
    )


def largest(change: Change) -> int | None:
    """The place of the number with the largest gradient; None if the numbers are not known."""
    gradient = change.gradient
    if gradient is None or not gradient.items or not isinstance(gradient.items[0], float):
        return None
    if change.before is None or change.after is None or not change.before.items or not change.after.items:
        return None
    return max(range(len(gradient.items)), key=lambda i: abs(gradient.items[i]))  # type: ignore[index]


def position(place: int, shape: tuple[int, ...]) -> list[int]:
    """The indices of a place in an array that is counted row by row."""
    found: list[int] = []
    for size in reversed(shape):
        place, at = divmod(place, size)
        found.insert(0, at)
    return found
