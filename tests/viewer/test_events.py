"""The events of a trace as data: into JSON and back, and made only when they are looked at."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Sequence

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from tiers import examples

from minigrad_viz.fields import OneOf
from minigrad_viz.protocol import NAN, Value, value_from
from minigrad_viz.trace import events
from minigrad_viz.trace.events import Later, NodeState, TensorState, Trace
from minigrad_viz.trace.graph import SavedChip
from minigrad_viz.trace.json_format import InvalidTrace, TraceReader, hints
from minigrad_viz.trace.source_positions import Span

# ── JSON ────────────────────────────────────────────────────────────────────────────────────────────────────

NUMBERS = {
    "bool": st.booleans(),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats().map(lambda f: NAN if math.isnan(f) else f),
    "complex128": st.complex_numbers(allow_nan=False, max_magnitude=1e300),
}
texts = st.text(max_size=6)
finite = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def drawn_values(draw):
    """Snapshots of arrays of any dtype, and of some whose numbers are not known."""
    dtype = draw(st.sampled_from(sorted(NUMBERS)))
    items = draw(st.lists(NUMBERS[dtype], max_size=4))
    shape = draw(st.sampled_from([(len(items),), (1, len(items)), (len(items), 1)]))
    value = value_from(np.array(items, dtype).reshape(shape), dtype)
    return draw(st.sampled_from([value, value._replace(items=None), Value(shape, "bfloat16", None)]))


values = drawn_values()
positions = st.lists(st.tuples(st.integers(1, 99), st.integers(0, 99)), min_size=2, max_size=2).map(sorted)
spans = st.builds(lambda ends, *said: Span(*ends[0], *ends[1], *said), positions, texts, st.integers(0, 3))
age = st.none() | st.integers(0, 9)
saved = st.builds(SavedChip, texts, st.none() | texts | values, age, st.booleans(), texts, age, age, age)


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
compared = st.builds(events.GradcheckComparison, values, values, *[st.floats(0, 1)] * 3)
numbered = tuples(st.tuples(texts, st.floats(allow_nan=False)))
states_before = tuples(st.tuples(texts, st.none() | values, st.none() | values))
steppings = st.builds(events.Stepping, texts, numbered, states_before)
EVENTS = {
    "Created": (states, span, maybe),
    "Forward": (
        texts, tuples(maybe), tuples(maybe), tuples(states), flags, span, maybe, count, texts, texts, count,
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
    "Failed": (texts, span, tuples(st.tuples(texts, states)), st.none() | compared, tuples(spans)),
}  # fmt: skip
PARTS = {"Compared", "NodeState", "SavedChip", "Span", "Stepping", "TensorState", "Value"}  # of events


def words(kind):
    """Strategies for the fields of a record that are one of some words."""
    limits = {name: getattr(hint, "__metadata__", ())[:1] for name, hint in hints(kind).items()}
    return {
        name: st.sampled_from(one[0].words)
        for name, one in limits.items()
        if one and isinstance(one[0], OneOf)
    }


def fitting(event):
    """The same with parts that fit together."""
    if isinstance(event, events.BackwardStarted):
        none = (None,) * len(event.roots)
        return event._replace(gradients=none, gradient_ids=none, nodes=event.nodes[:1])
    if isinstance(event, events.NodeRan):
        return event._replace(sent_ids=(None,) * len(event.sent))
    if isinstance(event, events.Forward):
        return event._replace(inputs=event.arguments, outputs=event.outputs[:1])
    return event


def built(name, fields):
    """A strategy for events of one class."""
    kind = events.KINDS[name]
    chosen = {**dict(zip(kind._fields, fields)), **words(kind)}
    made = st.builds(kind, **chosen).map(fitting)
    return made.filter(lambda event: not hasattr(event, "consistent") or event.consistent())


any_event = st.one_of([built(name, fields) for name, fields in EVENTS.items()])
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
    roots=st.none() | tuples(texts),
    omitted=count,
    counted=count,
    light=count,
    library=st.sampled_from(["", "torch"]),
    passed=count,
    rounds=tuples(finite),
    norms=tuples(finite),
).filter(Trace.consistent)


@pytest.mark.quick
def test_every_kind_of_event_is_generated():
    assert set(EVENTS) == set(events.KINDS) - PARTS


class AnyIds(TraceReader):
    """A reader that takes ids for any text: those here refer to nothing."""

    def whole(self, record, found):
        return self._reader(record)(found)

    def _id(self, read, limit):
        return read


@settings(max_examples=examples(300), deadline=None)
@given(trace=traces)
def test_json_and_back(trace):
    reader = AnyIds(Sequence[events.Event], events.KINDS, ())
    again = reader.whole(Trace, json.loads(trace.to_json()))
    assert again == trace and repr(again) == repr(trace), "types as well: True is not 1, 1 is not 1.0"


@pytest.mark.parametrize("data", [{}, {"events": 3}, {"events": [{"event": "Magic"}]}, [], None])
def test_what_is_no_trace(data):
    with pytest.raises(InvalidTrace):
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
