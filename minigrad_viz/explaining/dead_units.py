"""A note about gradients that are all zero, at the op that stopped them."""

from __future__ import annotations

from ..model.grad_ledger import is_zero
from ..model.naming import plain_name
from ..model.scene import Scenes
from ..numbers import number
from ..protocol import Value, op_of
from ..trace.events import Deposited, NodeRan
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .lost import Silent

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
    case = Silent(scenes, started.call, started.span, lang)
    for ran in calls[-1].ran.values():
        op = op_of(scenes.index.nodes[ran.node].name) if ran.node in scenes.index.nodes else ""
        stopped = op in (*FLAT, *SATURATED, *CUT_OFF) and stops(ran)
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


def told(case: Silent, ran: NodeRan, op: str, zero: list[str]) -> Explanation:
    """The note at one op."""
    place = case.stage.place_of(ran.node)
    span = None if place is None else getattr(case.trace.events[place.time], "span", None)
    given = [id for id in (place.inputs or () if place is not None else ()) if id is not None]
    state = case.state(given[0]) if given else None
    value = None if state is None else state.value
    names = list(dict.fromkeys(plain_name(case.name(id)) for id in zero))
    values = {
        "node": case.titled(ran.node),
        "op": op,
        "names": ", ".join(names[:4]) + ", …" * (len(names) > 4),
        "input": case.name(given[0]) if given else op,
        "low": "?" if value is None or value.low is None else number(value.low, value.dtype),
        "high": "?" if value is None or value.high is None else number(value.high, value.dtype),
    }
    marks = case.deck(ran.node, CAUSE, case.words("mark_zero"))
    if op in FLAT:
        why, fix = case.words("dead_flat_why", **values), case.words("dead_flat_fix", **values)
    elif op in CUT_OFF:
        why, fix = case.words("dead_relu_why", **values), case.words("dead_relu_fix", **values)
    else:
        why, fix = case.words("dead_saturated_why", **values), case.words("dead_saturated_fix", **values)
    return case.explain("dead_unit", why, fix, marks, span)
