"""Whether a custom backward returned what the derivative of its forward is at the recorded input.

Note [When a backward is wrong]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
The class is read in the source, and an interpreter computes `forward` with the recorded inputs in double
precision, a little to both sides of each element. So nothing of the user's runs. That is done only where
forward is a function of its inputs: two evaluations give the same, and both steps the same slope. Many
backwards are meant to be otherwise. So nothing is said of a forward that returns its input or rounds, nor of
an element whose numerical derivative is 0 (straight-through estimators), nor of one for which backward
returned 0 (guided backpropagation).
"""

from __future__ import annotations

import ast
import contextlib
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import minigrad
from minigrad import Tensor

from ..isolation import pass_on
from ..model.scene import Scenes
from ..number_text import number
from ..protocol import Value
from ..replay.runs import isolated_run
from ..sources.pause import without_recording
from ..trace.events import Forward, NodeRan, NodeState
from ..trace.graph import CAUSE, Explanation
from .backward_errors import first_line, method, return_of
from .case import Case, Values
from .custom_functions import is_function
from .interpreter import CannotTry, Interpreter, numbers_of
from .syntax import last_part_of_name

STEP = 1e-4  # relative to the size of the number
ELEMENTS = 6  # of an input
ALIKE = 0.02  # that two gradients may differ, relative to the larger one
SMOOTH = 1e-3  # that two slopes may differ where a function has a derivative
ROUNDING = ("sign", "round", "floor", "ceil", "trunc", "heaviside", "argmax", "one_hot", "detach", "item")


class Wrong(NamedTuple):
    """An element of input `i` for which backward returned something else than the derivative."""

    i: int
    at: tuple[int, ...]
    returned: float
    numerical: float


def wrong_backwards(scenes: Scenes, lang: str | None = None) -> Iterator[Explanation]:
    """The notes about custom Functions whose backward disagrees with the numerical derivative of forward."""
    if scenes.trace.error:
        return
    seen = set[str]()
    for call in scenes.index.calls.values():
        started = call.started
        for ran in call.ran.values() if started is not None else ():
            node = scenes.index.nodes.get(ran.node)
            if started is None or node is None or node.code is None or node.name in seen:
                continue
            seen.add(node.name)
            case = Case(scenes, started.call, started.span, lang)
            event = application_of(case, node)
            wrong = (
                None
                if event is None or not isinstance(ran, NodeRan)
                else disagreement(case, node, event, ran)
            )
            if wrong is None or event is None:
                continue
            given = [id for id in event.inputs if id is not None]
            place = first_line(return_of(node) or node.code)
            values: Values = {"method": method(node), "place": place}
            name = case.name(given[wrong.i])
            values["name"] = f"{name}[{', '.join(map(str, wrong.at))}]" if wrong.at else name
            values |= {
                "returned": number(wrong.returned, digits=4),
                "numerical": number(wrong.numerical, digits=4),
            }
            marks = case.deck(node.id, CAUSE)
            yield case.note("wrong_gradient", "function_disagrees", "", marks, place, **values)


def application_of(case: Case, node: NodeState) -> Forward | None:
    """The call of `apply` that left a node."""
    for event in case.trace.events:
        if isinstance(event, Forward) and any(state.node == node.id for state in event.outputs):
            return event
    return None


def disagreement(case: Case, node: NodeState, event: Forward, ran: NodeRan) -> Wrong | None:
    """The first element whose gradient is another than numerically; None where there is none, or it is not
    known."""
    made = class_of(case, node.name.removesuffix("Backward"))
    given = [case.made(id) if id is not None else None for id in event.inputs]
    if made is None or rounds(made) or len([s for s in given if s is not None]) != len(ran.sent):
        return None
    try:
        inputs = [
            exact_numbers(state.value) if state is not None else constant(text)
            for state, text in zip(given, event.arguments, strict=True)
        ]
        upstream = [None if value is None else exact_numbers(value) for value in ran.received]
        returned = [None if value is None else exact_numbers(value) for value in ran.sent]
        with isolated_run(minigrad, draws=True):
            return without_recording(lambda: first_disagreement(case, made, inputs, upstream, returned))
    except CannotTry:
        return None
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError) as refused:
        pass_on(refused)
        return None


def class_of(case: Case, name: str) -> ast.ClassDef | None:
    """The custom Function of that name, if the source has one."""
    found = [part for part in case.syntax() if isinstance(part, ast.ClassDef) and part.name == name]
    return found[0] if len(found) == 1 and is_function(found[0]) else None


def rounds(made: ast.ClassDef) -> bool:
    """Whether forward uses a function that has no useful derivative: then backward is meant to be another."""
    forward = [part for part in made.body if getattr(part, "name", "") == "forward"]
    return any(last_part_of_name(part) in ROUNDING for each in forward for part in ast.walk(each))


def exact_numbers(value: Value | None) -> Any:
    """The numbers of a snapshot, all of them."""
    if (
        value is None
        or value.items is None
        or value.special
        or not value.dtype.startswith(("float", "bfloat"))
    ):
        raise CannotTry
    return np.array(numbers_of(value), dtype=float).reshape(value.shape)


def constant(text: str | None) -> Any:
    """An argument that is not a tensor."""
    try:
        return ast.literal_eval(text or "")
    except (ValueError, SyntaxError) as unknown:
        raise CannotTry from unknown


def first_disagreement(
    case: Case, made: ast.ClassDef, inputs: Sequence[Any], upstream: Sequence[Any], returned: Sequence[Any]
) -> Wrong | None:
    """The first element of the returned gradients that is not as the differences of forward say."""
    forward = forward_of(case, made, [isinstance(each, np.ndarray) for each in inputs])

    def value(arguments: Sequence[Any]) -> float:
        pairs = zip(forward(arguments), upstream, strict=True)
        return float(sum((out * g).sum() for out, g in pairs if g is not None))

    outputs = forward(inputs)
    arrays = [each for each in inputs if isinstance(each, np.ndarray)]
    if any(np.array_equal(out, each) for out in outputs for each in arrays) or value(inputs) != value(inputs):
        return None
    positions = [k for k, each in enumerate(inputs) if isinstance(each, np.ndarray)]
    for i, (k, gradient) in enumerate(zip(positions, returned, strict=True)):
        if gradient is None or gradient.shape != inputs[k].shape:
            continue
        for index in list(np.ndindex(gradient.shape))[:ELEMENTS]:
            slopes = [slope(value, inputs, k, index, step) for step in (STEP, STEP / 2)]
            got, wanted = float(gradient[index]), slopes[1]
            size = max(abs(got), abs(wanted))
            smooth = abs(slopes[0] - wanted) <= SMOOTH * max(abs(wanted), 1e-6)
            if (
                smooth
                and min(abs(got), abs(wanted)) > 1e-6 * max(size, 1.0)
                and abs(got - wanted) > ALIKE * size
            ):
                return Wrong(i, index, got, wanted)
    return None


def slope(
    value: Callable[[Sequence[Any]], float],
    inputs: Sequence[Any],
    k: int,
    index: tuple[int, ...],
    step: float,
) -> float:
    """The difference quotient in one element of input `k`."""
    h = step * max(1.0, abs(float(inputs[k][index])))
    ends = []
    for side in (h, -h):
        moved = inputs[k].copy()
        moved[index] += side
        ends.append(value([*inputs[:k], moved, *inputs[k + 1 :]]))
    return (ends[0] - ends[1]) / (2 * h)


def forward_of(case: Case, made: ast.ClassDef, needs: Sequence[bool]) -> Callable[[Sequence[Any]], list[Any]]:
    """The forward of a custom Function, on arrays."""
    walk = Interpreter({}, {})
    tree = case.source.tree
    for statement in () if tree is None else tree.body:  # what forward may use
        plain = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
        if plain or isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef):
            with contextlib.suppress(CannotTry):  # what forward uses must be known, and nothing else
                walk.statement(statement, walk.top)
    methods = {part.name: part for part in made.body if isinstance(part, ast.FunctionDef)}
    function = walk.function(methods["forward"], walk.top)
    context = () if "setup_context" in methods else (context_of(needs),)

    def run(arguments: Sequence[Any]) -> list[Any]:
        tensors = [minigrad.tensor(each) if isinstance(each, np.ndarray) else each for each in arguments]
        with minigrad.no_grad():
            result = function(*context, *tensors)
        outputs = result if isinstance(result, tuple) else (result,)
        if not all(isinstance(out, Tensor) for out in outputs):
            raise CannotTry
        return [np.array(out.numpy(), dtype=float) for out in outputs]

    return run


def context_of(needs: Sequence[bool]) -> types.SimpleNamespace:
    """What forward gets as its first argument: nothing that is saved there is needed here."""
    ignored = (
        "save_for_backward",
        "save_for_forward",
        "mark_dirty",
        "mark_non_differentiable",
        "set_materialize_grads",
    )
    methods = dict.fromkeys(ignored, lambda *values: None)
    return types.SimpleNamespace(needs_input_grad=tuple(needs), **methods)
