"""A note about gradients that are all zero, at the op that stopped them."""

from __future__ import annotations

from ..model.grad_ledger import is_zero
from ..model.scene import Scenes
from ..numbers import number
from ..protocol import Value, op_of
from ..trace.events import Deposited, NodeRan
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .case import Case, Values

FLAT = ("round", "floor", "ceil", "trunc", "sign", "heaviside", "step")  # whose derivative is 0 everywhere
SATURATED = ("sigmoid", "tanh", "hardtanh", "hardsigmoid")
CUT_OFF = ("relu", "threshold", "relu6")
MANY = 4  # elements; that fewer are all cut off is no wonder


def dead_units(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """The note, if all gradients of a leaf are zero in all calls that were kept, because an op passes nothing
    on."""
    deposits: dict[str, list[Value]] = {}
    for event in scenes.trace.events:
        if isinstance(event, Deposited):
            deposits.setdefault(event.tensor, []).append(event.added)
    zero = [id for id, values in deposits.items() if all(map(is_zero, values))]
    calls = [call for call in scenes.index.calls.values() if call.started and call.ended]
    if not zero or not calls or scenes.trace.error or calls[-1].started is None:
        return []
    started = calls[-1].started
    case = Case(scenes, started.call, started.span, lang)
    for ran in calls[-1].ran.values():
        op = op_of(scenes.index.nodes[ran.node].name) if ran.node in scenes.index.nodes else ""
        stopped = op in TOLD and stops(ran)
        if stopped and (len(zero) == len(deposits) or size_of(ran) >= MANY):
            return [told(case, ran, op, zero)]
    return []


def stops(ran: NodeRan) -> bool:
    """Whether a node received something and passed on only zeros."""
    came = [value for value in ran.received if value is not None]
    sent = [value for value in ran.sent if value is not None]
    return bool(sent) and not all(map(is_zero, came)) and all(map(is_zero, sent))


def size_of(ran: NodeRan) -> int:
    """How many elements a node received."""
    return max((value.size for value in ran.received if value is not None), default=0)


def told(case: Case, ran: NodeRan, op: str, zero: list[str]) -> Explanation:
    """The note at one op."""
    place = case.stage.place_of(ran.node)
    span = None if place is None else place.span
    given = [id for id in (place.inputs or () if place is not None else ()) if id is not None]
    state = case.state(given[0]) if given else None
    value = None if state is None else state.value
    low, high = ("?", "?") if value is None or value.low is None else map(number, (value.low, value.high))
    marks = case.deck(ran.node, CAUSE, case.words("mark_zero"))
    values: Values = {
        "node": case.titled(ran.node),
        "op": op,
        "names": case.names(zero),
        "low": low,
        "high": high,
    }
    values["input"] = case.name(given[0]) if given else op
    return case.note("dead_unit", *TOLD[op], marks, span, **values)


TOLD = {
    **dict.fromkeys(FLAT, ("dead_flat_why", "dead_flat_fix")),
    **dict.fromkeys(CUT_OFF, ("dead_relu_why", "dead_relu_fix")),
    **dict.fromkeys(SATURATED, ("dead_saturated_why", "dead_saturated_fix")),
}
