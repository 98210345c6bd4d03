"""Modes, multi-grad hooks, Functions that write into an input and views of parts, as they are shown."""

from __future__ import annotations

import pytest
from cells import traced
from staged import build, frames_of

import minigrad
from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.steps.timeline import steps_text
from minigrad_viz.trace.events import HookRan, InPlaceWrite, ModeChanged

pytestmark = pytest.mark.usefixtures("names_of_today")

LEAF = "x = torch.tensor(2.0, requires_grad=True)\n"
INFERENCE = LEAF + "with torch.inference_mode():\n    y = x * 3\n    z = torch.log(y)\n"
ANOMALY = (
    "with torch.autograd.detect_anomaly():\n    x = torch.tensor(0.0, requires_grad=True)\n"
    "    w = torch.sqrt(x)\n    y = w * 0\n    y.backward()\n"
)
MULTI = LEAF + (
    "y = x * 3\nw = x ** 2\ndef look(grads):\n    pass\n"
    "torch.autograd.graph.register_multi_grad_hook([y, w], look)\nz = y * w\nz.backward()\n"
)
DIRTY = (
    "class Double(torch.autograd.Function):\n"
    "    @staticmethod\n    def forward(ctx, x):\n        ctx.mark_dirty(x)\n        return x.mul_(2)\n"
    "    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n"
    "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x * 3\nDouble.apply(y)\nz = y.sum()\n"
    "z.backward()\n"
)
PARTS = (
    "x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)\na, b = x.{how}\n"
    "y = (a * b).sum()\ny.backward()\n"
)
SLICED = (
    "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\ny = x * 2\nv = y[0]\nv *= 10\nz = y.sum()\n"
    "z.backward()\n"
)


def frames(trace, lang="en"):
    """The steps of the last call."""
    return frames_of(trace, build(trace), lang=lang)


def switches(trace):
    """The modes that were switched."""
    return [(e.mode, e.enabled) for e in trace.events if isinstance(e, ModeChanged)]


# ── modes ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_inference_mode(library):
    trace = traced(INFERENCE, library)
    assert ("inference", True) in switches(trace)
    graph = build(trace)
    assert graph.note == ("no_graph_inference", {"names": "y, z"})
    assert all(station.deck is None for station in graph.stations)
    assert outline(graph, "en").startswith("Computed in inference mode: y, z. Such tensors can never be")
    told = steps_text(frames(trace), "en")
    assert "x * 3 computes y = 6.; inference mode records nothing" in told and "inference mode" in told


def test_a_mode_that_was_on_before(library):
    with library.inference_mode():
        trace = traced("x = torch.tensor(2.0)\ny = x * 3\n", library)
    assert switches(trace) == [("inference", True)]
    with library.no_grad():
        trace = traced(LEAF + "y = x * 3\n", library)
    assert switches(trace) == [("grad", False)]
    assert build(trace).note == ("no_graph_no_grad", {"names": "y"})


def test_set_grad_enabled(library):
    cell = LEAF + "torch.set_grad_enabled(False)\ny = x * 3\ntorch.set_grad_enabled(True)\nz = x * 2\n"
    trace = traced(cell, library)
    assert switches(trace) == [("grad", False), ("grad", True)]
    told = steps_text(frames(trace), "en")
    assert "recording is off, so no node is created" in told


def test_anomaly_mode_points_to_the_forward_line(library):
    trace = traced(ANOMALY, library)
    assert trace.error is not None and "nan values" in trace.error
    assert ("anomaly", True) in switches(trace)
    last = frames(trace)[-1]
    graph = build(trace)
    (station,) = [s for s in graph.stations if s.deck is not None and s.deck.name == "SqrtBackward0"]
    assert graph.note == ("note_anomaly", {})
    assert "Anomaly mode: every gradient is checked for NaN." in Picture(graph, lang="en").svg()
    assert last.failed and last.marks == (f"{station.id}-d",)
    assert last.span == (3, 8, 3, 21), "torch.sqrt(x)"
    assert [line.text for line in last.lines][-2:] == ["SqrtBackward0 at w", "sqrt(x)"]


def test_without_it_the_call_is_marked(library):
    cell = LEAF + "y = torch.log(x)\ny.backward()\ny.backward()\n"
    last = frames(traced(cell, library))[-1]
    assert last.failed and last.span == (4, 0, 4, 12)


# ── hooks ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_multi_grad_hooks(library):
    trace = traced(MULTI, library)
    ran = [e for e in trace.events if isinstance(e, HookRan)]
    assert [(e.kind, len(ran)) for e in ran] == [("multi", 2), ("multi", 2)]
    if library is minigrad:
        assert [e.name for e in ran] == ["look", "look"]
        assert [v.items for v in ran[-1].before] == [(4.0,), (6.0,)], "all gradients, where the last arrives"
    graph = build(trace)
    watched = {card.name: station.deck.ran for station, card in graph.cards() if station.deck.ran}
    assert sorted(watched) == ["w", "y"], "a mark at each tensor that it watches"
    assert Picture(graph, lang="en").svg().count('class="hooks"') == 3, "and one in the legend"
    assert "multi-grad hook look" in steps_text(frames(trace), "en")


def test_the_first_of_several(library):
    trace = traced(MULTI.replace("look)\nz", "look, mode='any')\nz"), library)
    assert {e.kind for e in trace.events if isinstance(e, HookRan)} == {"multi"}


def test_calling_a_node(library):
    trace = traced(LEAF + "y = x ** 3\nz = y * 2\ng = y.grad_fn(torch.tensor(1.0))\nz.backward()\n", library)
    assert trace.error is None and "stores 24. in x.grad" in frames(trace)[-1].text


def test_a_backward_call_inside_a_hook_is_no_call_of_its_own(library):
    cell = LEAF + (
        "def inner(g):\n    t = torch.tensor(1.0, requires_grad=True)\n    (t * 2).backward()\n"
        "y = x * 3\ny.register_hook(inner)\nz = y * 2\nz.backward()\n"
    )
    trace = traced(cell, library)
    ended = [e for e in trace.events if type(e).__name__ == "BackwardEnded"]
    assert [e.call for e in ended] == [1]


# ── Functions and views ─────────────────────────────────────────────────────────────────────────────────────


def test_a_function_that_writes_into_its_input(library):
    trace = traced(DIRTY, library)
    graph = build(trace)
    assert [card.name for _, card in graph.cards()] == ["x", "y₁", "y₂", "z"], "each once"
    assert [s.deck.name for s in graph.stations][1:3] == ["MulBackward0", "DoubleBackward"]
    if library is minigrad:
        (event,) = [e for e in trace.events if isinstance(e, InPlaceWrite)]
        assert event.before != event.tensor.id
        told = "Double.apply(y) changes y₁ in place: y₂ = [6. 12.]"
        assert told in steps_text(frames(trace), "en") and event.op == "Double"


@pytest.mark.parametrize("how, node", [("unbind(0)", "UnbindBackward0"), ("split(1)", "SplitBackward0")])
def test_a_node_with_several_outputs_stands_under_all_of_them(library, how, node):
    graph = build(traced(PARTS.format(how=how), library))
    (station,) = [s for s in graph.stations if s.deck is not None and s.deck.name == node]
    assert [card.name for card in station.cards] == ["a", "b"]
    assert [card.grad.size for card in station.cards] == [2, 2], "each with its own gradient"
    assert f"a = x.{how}" in outline(graph, "en")
    svg = Picture(graph, lang="en").svg()
    assert svg.count(f">{node}</text>") == 1


def test_copy_slices_in_words(library):
    trace = traced(SLICED, library)
    told = steps_text(frames(trace), "en")
    assert (
        "the part under the view goes through the operation that wrote there; the rest passes to y₁ unchanged"
        in told
    )
    assert "CopySlices: ȳ₂ (3,) = [1 1 1] → ȳ₁ (3,) = [10 1 1]" in told


def test_the_words_in_korean(library):
    assert "inference 모드이므로 아무것도 기록하지 않음" in steps_text(
        frames(traced(INFERENCE, library), "ko"), "ko"
    )
    assert "만든 식" in steps_text(frames(traced(ANOMALY, library), "ko"), "ko")
    assert "제자리" in steps_text(frames(traced(SLICED, library), "ko"), "ko")
