"""Losses that were given probabilities where they take scores or logarithms."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model.execution import ModuleCall
from ..model.provenance import op_behind
from ..number_text import number
from ..trace.events import Forward, ModuleCalled
from ..trace.graph import Explanation
from ..trace.source_positions import Span
from .case import Case, Fix, Values
from .edits import constructor, rewritten
from .failed_call import layer_name
from .syntax import last_name, node_at, span_at

TWICE = {"softmax": ("log_softmax", "cross_entropy"), "sigmoid": ("binary_cross_entropy_with_logits",)}
LOGARITHMS = ("nll_loss", "nll_loss_forward", "kl_div")  # losses of log-probabilities
PROBABILITIES = "binary_cross_entropy"  # takes probabilities, which a linear layer does not give
LINEAR = ("addmm", "linear")
CLASSES = ("NLLLoss", "KLDivLoss")
ROUNDED = 0.01  # by how much the logarithm of a probability may be above 0


def scores_twice(case: Case) -> Iterator[Explanation]:
    """A loss that applies softmax or sigmoid itself was given the result of one; or one that takes
    log-probabilities was given probabilities."""
    born, found = case.scene.index.births, dict[object, Explanation]()
    for event in case.trace.of(Forward):
        source = op_behind(born, next(iter(event.read), None))
        if source is None:
            continue
        if event.op in TWICE.get(source.op, ()) and event.span != source.span:
            found[event.span] = applied_twice(case, event, source)
        elif event.op in LOGARITHMS and is_probability(source):
            found[event.span] = no_logarithm(case, event, source)
        elif event.op in LOGARITHMS and (high := above_zero(source)) is not None:
            found[event.span] = of_scores(case, event, source, high)
        elif event.op == PROBABILITIES and source.op in LINEAR:
            values: Values = {"call": event.span, "source": source.span}
            found[event.span] = case.note(
                "scores_twice", "sigmoid_missing", cause=event.span, of_cell=True, **values
            )
    for event in case.trace.of(Forward):  # minigrad computes kl_div by several operations
        tree = node_at(case, event.span) if event.op == "mul" and event.span not in found else None
        if isinstance(tree, ast.Call) and last_name(tree) == "kl_div" and len(event.read) == 2:
            source = op_behind(born, event.read[1])
            if source is not None and is_probability(source):
                found[event.span] = no_logarithm(case, event, source)
            elif source is not None and (high := above_zero(source)) is not None:
                found[event.span] = of_scores(case, event, source, high)
    for call in case.scene.index.module_calls.calls:
        source = op_behind(born, next(iter(call.event.inputs), None))
        if call.event.kind not in CLASSES or source is None or call.event.span in found:
            continue
        if is_probability(source):
            found[call.event.span] = no_logarithm(case, call.event, source)
        elif (high := above_zero(source)) is not None:
            found[call.event.span] = of_scores(case, call.event, source, high)
    yield from (told._replace(span=span) for span, told in found.items() if isinstance(span, Span | None))


def of_scores(case: Case, event: Forward | ModuleCalled, source: Forward, high: float) -> Explanation:
    """The note about a loss of log-probabilities that was given scores: only for classes another loss takes
    scores."""
    why = "logarithm_missing_divergence" if is_divergence(case, event) else "logarithm_missing_scores"
    values: Values = {"call": event.span, "high": number(high), "source": source.span}
    return case.note("scores_twice", why, cause=event.span, of_cell=True, **values)


def is_divergence(case: Case, event: Forward | ModuleCalled) -> bool:
    """Whether a loss is a divergence: an op of that name, a layer, or the call of `kl_div` around an op."""
    if isinstance(event, ModuleCalled) or event.op == "kl_div":
        return isinstance(event, Forward) or event.kind == "KLDivLoss"
    tree = node_at(case, event.span)
    return isinstance(tree, ast.Call) and last_name(tree) == "kl_div"


def is_probability(source: Forward) -> bool:
    """Whether the result of an op may be probabilities: numbers above 0, which logarithms of probabilities
    never are."""
    value = source.outputs[0].value
    positive = value is not None and value.low is not None and value.low > 0 and not value.special
    return source.op in ("softmax", "sigmoid") and positive


def above_zero(source: Forward) -> float | None:
    """The largest number in the result of an op, if it is above 0 by more than rounding: then the result is
    not logarithms of probabilities."""
    value = source.outputs[0].value
    high = None if value is None or value.special else value.high
    return high if high is not None and high > ROUNDED else None


def layer_of(case: Case, event: Forward) -> ModuleCall | None:
    """The layer of the library that an op is, as `nn.Softmax`."""
    call = case.scene.index.module_calls.at(case.scene.index.times[id(event)])
    return call if call is not None and call.event.kind.lower() == event.op else None


def applied_twice(case: Case, event: Forward, source: Forward) -> Explanation:
    """The note about a loss that applies the function itself."""
    layer, values = layer_of(case, source), Values(call=event.span, function=source.op)
    values["source"] = source.span
    place, fix = source.span, without_call(case, source)
    if layer is not None:
        made = constructor(case, layer.event.kind, layer.event.path, ())
        inner = layer.around is not None and layer.around.event.kind == "Sequential"
        place = made.span if inner and made is not None else source.span
        values |= {"layer": layer_name(layer), "place": place}
        fix = None if inner else fix
        why = "scores_twice_layer"
        told = "scores_twice_fix_layer" if fix is None else fix.text
        return case.note("scores_twice", why, told, cause=place, of_cell=True, **values)
    told = "scores_twice.fix" if fix is None else fix.text
    return case.note("scores_twice", "scores_twice", told, cause=place, of_cell=True, **values)


def without_call(case: Case, source: Forward) -> Fix | None:
    """What to do: the statement that applies the function, without that."""
    node = node_at(case, source.span)
    if not isinstance(node, ast.Call) or not node.args:
        return None
    inner = node.args[0]
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("softmax", "sigmoid"):
        plain = isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "F")
        inner = inner if plain or "functional" in ast.unparse(node.func.value) else node.func.value
    code = rewritten(case, node, {node: ast.unparse(inner)})
    if code is None:
        return None
    return Fix(case.words("scores_twice_fix_code", code=code, line=node.lineno), span_at(case, node))


def no_logarithm(case: Case, event: object, source: Forward) -> Explanation:
    """The note about a loss of log-probabilities that was given probabilities."""
    values: Values = {"call": getattr(event, "span", None), "source": source.span}
    key = "logarithm_missing" if source.op == "softmax" else "logarithm_missing_sigmoid"
    return case.note("scores_twice", key, cause=source.span, of_cell=True, **values)
