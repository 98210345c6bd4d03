"""Custom Functions whose backward returned nothing where a gradient was needed, or that cannot be used."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

import minigrad

from ..isolation import pass_on
from ..model.scene import Scenes
from ..replay.runs import isolated_run
from ..sources.pause import without_recording
from ..trace.events import Inside, NodeRan, NodeState
from ..trace.graph import CAUSE, Explanation
from ..trace.source_positions import Span
from .backward_errors import first_line, method, return_of
from .case import Case, Values, need, require, rule
from .interpreter import CannotTry, Interpreter
from .syntax import expression_of_span, span_at


def silent_functions(scenes: Scenes, lang: str | None = None) -> Iterator[Explanation]:
    """The notes about custom Functions whose backward passed None to an input that requires gradients, or a
    gradient of another shape, which was summed."""
    if scenes.trace.error:
        return
    told: set[tuple[str, str]] = set()
    for call in scenes.index.calls.values():
        started = call.started
        for ran in call.ran.values() if started is not None else ():
            node = scenes.index.nodes.get(ran.node)
            if started is None or node is None or node.code is None or not isinstance(ran, NodeRan):
                continue
            case = Case(scenes, started.call, started.span, lang)
            for i, (value, edge) in enumerate(zip(ran.sent, node.edges, strict=False)):
                source = None if edge is None else case.scene.tensor_of(edge)
                where = return_of(node) or node.code
                values: Values = {"method": method(node), "i": i + 1, "place": first_line(where) or ""}
                values["name"] = "" if source is None else case.name(source)
                summed = shape_before_sum(scenes, ran, node) if value is not None else None
                key = "function_none" if value is None else "function_summed"
                if edge is None or source is None or (key, node.name) in told:
                    continue
                if value is None or (summed is not None and summed != value.shape and len(node.edges) == 1):
                    told.add((key, node.name))
                    values |= {} if value is None else {"got": str(summed), "wanted": str(value.shape)}
                    marks = case.deck(node.id, CAUSE)
                    yield case.note("wrong_gradient", key, "", marks, where, **values)


def shape_before_sum(scenes: Scenes, ran: NodeRan, node: NodeState) -> tuple[int, ...] | None:
    """The shape of the result of the last op of a backward; None where that is not known."""
    inside = [event for event in scenes.trace.of(Inside) if event.node == ran.node and event.call == ran.call]
    last = inside[-1].output.shape if inside else created_shape(return_of(node))
    sent = next((value for value in ran.sent if value is not None), None)
    if last is None or sent is None or len(last) <= len(sent.shape):
        return None
    rest = zip(last[len(last) - len(sent.shape) :], sent.shape, strict=True)
    return last if all(m in (1, n) for n, m in rest) else None


def created_shape(span: Span | None) -> tuple[int, ...] | None:
    """The shape of a tensor that `return torch.ones(4, 3)` creates, which is not an op."""
    tree = expression_of_span(span)
    if not isinstance(tree, ast.Return) or not isinstance(tree.value, ast.Call):
        return None
    walk = Interpreter({}, {})
    try:
        with isolated_run(minigrad, draws=True):
            found = without_recording(lambda: walk.value(tree.value, walk.top))  # type: ignore[arg-type]
    except CannotTry:
        return None
    except (RuntimeError, TypeError, ValueError, AttributeError) as refused:
        pass_on(refused)
        return None
    return tuple(found.shape) if isinstance(found, minigrad.Tensor) else None


@rule(
    "function_methods",
    "must implement either the backward or vjp method",
    "Legacy autograd function with non-static",
)
def function_methods(case: Case) -> Explanation | None:
    """A custom Function without a backward, under another name, or with methods that are not static."""
    need(not case.by_hand)
    classes = [part for part in case.syntax() if isinstance(part, ast.ClassDef) and is_function(part)]
    if "Legacy" in case.error:
        named = [each for each in classes if case.span is not None and each.name in case.span.text]
        made = require(named[0] if len(named) == 1 else classes[0] if len(classes) == 1 else None)
        return case.explain("function_created", cause=span_at(case, made.body[0]), name=made.name)
    for made in classes:
        methods = [part for part in made.body if isinstance(part, ast.FunctionDef)]
        names = [part.name for part in methods]
        near = [part for part in methods if difflib.get_close_matches(part.name, ("backward",), 1, 0.75)]
        if "backward" not in names and len(near) == 1 and uses(case, made.name):
            values: Values = {"name": made.name, "near": near[0].name, "line": near[0].lineno}
            return case.explain("function_near", cause=span_at(case, near[0]), **values)
    without = [m for m in classes if "backward" not in [getattr(p, "name", "") for p in m.body]]
    made = require(without[0] if len(without) == 1 else None)
    return case.explain("function_without", cause=span_at(case, made.body[0]), name=made.name)


def is_function(part: ast.ClassDef) -> bool:
    """Whether a class is one of a custom Function."""
    return any(ast.unparse(base).rpartition(".")[2] == "Function" for base in part.bases)


def uses(case: Case, name: str) -> bool:
    """Whether a class is applied in the source."""
    calls = (part for part in case.syntax() if isinstance(part, ast.Attribute) and part.attr == "apply")
    return any(ast.unparse(part.value) == name for part in calls)
