"""What a backward call was asked for: `inputs`, several roots, GradientEdges, batched gradients; told and
drawn alike for minigrad and PyTorch."""

from __future__ import annotations

import re

import pytest
from cells import traced
from staged import build, frames_of

import minigrad
from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.picture import Picture
from minigrad_viz.steps.timeline import steps_text
from minigrad_viz.trace.events import BackwardEnded, BackwardStarted

pytestmark = pytest.mark.usefixtures("names_of_today")

LEAVES = "x = torch.tensor(2.0, requires_grad=True)\nw = torch.tensor(3.0, requires_grad=True)\n"
INPUTS = LEAVES + "a = x * w\nb = torch.exp(x)\nz = a + b\nz.backward(inputs=[w])\n"
RESULT = LEAVES + "a = x * w\nz = a ** 2\ng, = torch.autograd.grad(z, a)\n"
ROOTS = (
    "x = torch.tensor(2.0, requires_grad=True)\na = x * 3\nb = torch.tensor([1.0, 2.0]) * x\n"
    "torch.autograd.backward([a, b], [torch.tensor(1.0), torch.tensor([1.0, 10.0])])\n"
)
EDGES = (
    "x = torch.tensor(2.0, requires_grad=True)\ny = x * 3\nz = y ** 2\n"
    "edge = torch.autograd.graph.get_gradient_edge\n"
    "g, = torch.autograd.grad(z, edge(y), retain_graph=True)\n"
    "torch.autograd.backward(edge(z), inputs=[edge(x)])\n"
)
LOST_ROOT = (
    "x = torch.tensor(2.0, requires_grad=True)\n"
    "e = torch.autograd.graph.get_gradient_edge((x * 3) ** 2)\n"
    "torch.autograd.backward(e)\n"
)
BATCHED = (
    "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x ** 2\n"
    "J, = torch.autograd.grad(y, x, torch.tensor([[1.0, 0.0], [0.0, 1.0]]), is_grads_batched=True)\n"
)
FAILS = LEAVES + "z = torch.log(x) * w\nz.backward(inputs=[x], retain_graph=False)\nz.backward(inputs=[x])\n"


def started(trace):
    """The backward calls of a trace."""
    return [event for event in trace.events if isinstance(event, BackwardStarted)]


def named(trace, ids):
    """The names of tensors."""
    names = dict(trace.names)
    return [names.get(id) for id in ids]


def steps(trace, lang="en"):
    """The steps of the last call as text."""
    return steps_text(frames_of(trace, build(trace), lang=lang), lang)


def decks(graph):
    """The decks of a graph by the name above them."""
    return {card.name: station.deck for station, card in graph.cards()}


def test_inputs_of_backward(library):
    trace = traced(INPUTS, library)
    (call,) = started(trace)
    assert call.kind == "backward" and named(trace, call.wanted) == ["w"] and not call.batched
    graph = build(trace)
    assert [card.name for _, card in graph.cards() if card.asked] == ["w"]
    assert [name for name, deck in decks(graph).items() if deck.skipped] == ["x", "b"]
    shown = outline(graph, "en")
    assert "w   3.   leaf   requested   grad 2." in shown
    assert "ExpBackward0   (skipped: not requested)   result 7.3891" in shown
    told = steps(trace)
    assert re.search(r"requested +only the gradients of w", told)
    assert "stores 2. in w.grad" in told and "x.grad" not in told and "ExpBackward0 at b" not in told


def test_without_inputs_nothing_is_marked(library):
    trace = traced(INPUTS.replace("inputs=[w]", ""), library)
    assert started(trace)[0].wanted is None
    graph = build(trace)
    assert not any(card.asked for _, card in graph.cards())
    assert not any(deck.skipped for deck in decks(graph).values())
    assert "requested" not in outline(graph, "en") + steps(trace)
    assert 'class="asked"' not in Picture(graph, lang="en").svg()


def test_the_picture_marks_what_was_asked_for_and_what_was_left_out(library):
    svg = Picture(build(traced(INPUTS, library)), lang="en").svg()
    assert svg.count('<g class="asked" transform=') == 2, "w and the legend"
    assert svg.count('<g class="deck skipped" id=') == 2, "x and b"
    assert "skipped: its gradient was not requested" in svg and "gradient requested here" in svg


def test_a_result_that_grad_was_asked_for(library):
    trace = traced(RESULT, library)
    (call,) = started(trace)
    assert call.kind == "grad" and named(trace, call.wanted) == ["a"]
    graph = build(trace)
    assert [card.name for _, card in graph.cards() if card.asked] == ["a"]
    assert [name for name, deck in decks(graph).items() if deck.skipped] == ["x", "w"], "a is where it ends"
    assert "autograd.grad returns 12. for a" in steps(trace)


def test_several_roots(library):
    trace = traced(ROOTS, library)
    (call,) = started(trace)
    assert named(trace, call.roots) == ["a", "b"] and call.wanted is None
    told = steps(trace)
    assert "the gradient of a with respect to itself is 1." in told
    assert "the gradient of b is given: [1. 10.]" in told
    assert "x.grad = 21. (through b) + 3. (through a) = 24." in told


def test_edges_as_roots_and_inputs(library):
    trace = traced(EDGES, library)
    first, second = started(trace)
    assert (named(trace, first.roots), named(trace, first.wanted)) == (["z"], ["y"])
    assert (named(trace, second.roots), named(trace, second.wanted)) == (["z"], ["x"])
    ended = [event for event in trace.events if isinstance(event, BackwardEnded)]
    assert [(named(trace, [id]), value.items) for id, value in ended[0].captured] == [(["y"], (12.0,))]
    assert "x   2.   leaf   requested   grad 36." in outline(build(trace), "en")


def test_an_edge_whose_tensor_is_gone(library):
    trace = traced(LOST_ROOT, library)
    assert len(started(trace)) == 1
    graph = build(trace)
    roots = [station.deck.name for station, card in graph.cards() if card.role == "root"]
    assert roots == ["PowBackward0"]
    assert "stores 36. in x.grad" in steps(trace)


def test_batched_gradients(library):
    trace = traced(BATCHED, library)
    calls = started(trace)
    assert calls and all(call.batched and named(trace, call.wanted) == ["x"] for call in calls)
    assert "nan" not in steps(trace)
    if library is minigrad:  # which runs one call for each
        assert [call.gradients[0].items for call in calls] == [(1.0, 0.0), (0.0, 1.0)]
    else:  # one for all, of whose numbers only the shape is known
        assert calls[0].gradients[0].items is None
        assert "several gradients at once; shapes are those of one of them" in steps(trace)


def test_a_call_that_fails_knows_what_it_was_asked_for(library):
    trace = traced(FAILS, library)
    *_, second = started(trace)
    assert named(trace, second.wanted) == ["x"]
    told = frames_of(trace, build(trace), lang="en")
    assert told[-1].failed and "MulBackward0 at z" in told[-1].lines[-1].text


def test_the_words_in_korean(library):
    trace = traced(INPUTS, library)
    assert "w   3.   잎(leaf)   요청함   grad 2." in outline(build(trace), "ko")
    assert "w의 변화도만" in steps(trace, "ko")
