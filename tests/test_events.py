"""The events of a trace as data: into JSON and back, and made only when they are looked at."""

from __future__ import annotations

import copy
import json
import math
import pickle

import hypothesis.strategies as st
import pytest
from cells import CELLS, traced
from hypothesis import given, settings
from sample import examples

from minigrad_viz.protocol import NAN, Value
from minigrad_viz.trace import events
from minigrad_viz.trace.events import Later, NodeState, TensorState, Trace
from minigrad_viz.trace.graph import Saved
from minigrad_viz.trace.where import Span

# ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────

numbers = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats().map(lambda f: NAN if math.isnan(f) else f),
    st.complex_numbers(allow_nan=False),
)
texts = st.text(max_size=6)
finite = st.none() | st.floats(allow_nan=False, allow_infinity=False)
values = st.builds(
    Value,
    st.lists(st.integers(0, 9), max_size=3).map(tuple),
    texts,
    st.none() | st.lists(numbers, max_size=4).map(tuple),
    st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.booleans(),
    finite,
)
spans = st.builds(Span, *[st.integers(0, 99)] * 4, texts, st.integers(0, 3))
age = st.none() | st.integers(0, 9)
saved = st.builds(Saved, texts, st.none() | texts | values, age, st.booleans(), texts, age, age, age)


def tuples(strategy):
    """Tuples of any length."""
    return st.lists(strategy, max_size=3).map(tuple)


maybe, flags, count = st.none() | texts, st.booleans(), st.integers(0, 99)
states = st.builds(
    TensorState, texts, st.none() | values, st.none() | values, flags, flags, st.none() | flags, maybe, maybe,
    count, flags, st.none() | values,
)  # fmt: skip
nodes = st.builds(
    NodeState, texts, texts, tuples(saved), tuples(st.none() | st.tuples(texts, count)), maybe, count, count,
    st.none() | spans, tuples(st.tuples(texts, spans)), age,
)  # fmt: skip
given_values, span = tuples(st.none() | values), st.none() | spans
INSIDE = (count, texts, texts, tuples(values | texts), values, span)
inside = st.builds(events.Inside, *INSIDE)
compared = st.builds(events.Compared, values, values, *[st.floats(0, 1)] * 3)
numbered = tuples(st.tuples(texts, st.floats(allow_nan=False)))
states_before = tuples(st.tuples(texts, st.none() | values, st.none() | values))
steppings = st.builds(events.Stepping, texts, numbered, states_before)
EVENTS = {
    "Created": (states, span, maybe),
    "Forward": (
        texts, tuples(maybe), tuples(maybe), tuples(states), flags, span, maybe, count, texts, texts,
    ),
    "Called": (count, texts, texts, texts, tuples(st.tuples(texts, texts)), tuples(texts), span),
    "Returned": (count, tuples(texts)),
    "Detached": (texts, states, span, maybe, texts),
    "Left": (tuples(texts), texts, states, span, maybe, texts),
    "Gave": (texts, span),
    "Asked": (states, span),
    "Mutated": (texts, texts, states, tuples(maybe), span, count, tuples(states)),
    "OptimizerStepped": (texts, tuples(steppings), span),
    "Statement": (spans,),
    "ModeChanged": (texts, flags, span),
    "BackwardStarted": (
        count, texts, tuples(texts), given_values, tuples(maybe), flags, tuples(nodes), span,
        st.none() | tuples(texts), flags,
    ),
    "NodeRan": (count, texts, given_values, given_values, tuples(maybe)),
    "HookRan": (count, texts, texts, texts, count, given_values, given_values, st.none() | flags),
    "Inside": INSIDE,
    "Packed": (count, texts, texts, st.none() | values, texts),
    "Unpacked": (count, texts, texts, texts, st.none() | values),
    "Recomputed": (count, texts, tuples(inside)),
    "Deposited": (count, texts, texts, st.none() | values, values, values),
    "BackwardEnded": (count, maybe, tuples(texts), tuples(st.tuples(texts, st.none() | values)), maybe),
    "Snapshot": (texts, count, tuples(st.tuples(texts, states))),
    "GradSet": (texts, texts, st.none() | values, st.none() | values, span),
    "Failed": (texts, span, tuples(st.tuples(texts, states)), st.none() | compared),
}  # fmt: skip
PARTS = {"Compared", "NodeState", "Saved", "Span", "Stepping", "TensorState", "Value"}  # of events
any_event = st.one_of([st.builds(getattr(events, name), *fields) for name, fields in EVENTS.items()])
traces = st.builds(
    Trace,
    texts,
    tuples(any_event),
    maybe,
    tuples(st.tuples(texts, texts)),
    tuples(nodes),
    count,
    st.booleans(),
    tuples(st.tuples(texts, count)),
    rounds=tuples(finite),
    norms=tuples(finite),
)


def test_every_kind_of_event_is_generated():
    assert set(EVENTS) == set(events.KINDS) - PARTS


@settings(max_examples=examples(300), deadline=None)
@given(trace=traces)
def test_json_and_back(trace):
    again = Trace.from_json(trace.to_json())
    assert again == trace and repr(again) == repr(trace), "types as well: True is not 1, 1 is not 1.0"


@pytest.mark.parametrize("code", CELLS)
def test_recorded_cells_come_back(library, code):
    trace = traced(CELLS[code], library)
    again = Trace.from_json(trace.to_json())
    assert again == trace and repr(again.events) == repr(trace.events)


@pytest.mark.parametrize("data", [{}, {"events": 3}, {"events": [{"event": "Magic"}]}, [], None])
def test_what_is_no_trace(data):
    with pytest.raises(ValueError, match="this is no trace"):
        Trace.from_json(json.dumps(data))


def test_later():
    calls = []
    later = Later(lambda: calls.append(1) or [1, 2, 3])
    assert not calls
    assert later == (1, 2, 3) and later == (1, 2, 3) and later == Later(lambda: [1, 2, 3])
    assert later != (1, 2) and hash(later) == hash((1, 2, 3))
    assert (list(later), later[0], later[1:], len(later), repr(later)) == (
        [1, 2, 3],
        1,
        (2, 3),
        3,
        "(1, 2, 3)",
    )
    assert pickle.loads(pickle.dumps(later)) == copy.deepcopy(later) == later
    assert calls == [1], "made once"
